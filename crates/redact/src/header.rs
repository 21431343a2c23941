//! HTTP headers that carry secrets: `Authorization`, `Cookie`, and `Bearer` wherever it stands.

use crate::{
    spelling::{after_spaces, distinct, escape, quote, random, run, starts_word, strong},
    values::{marked, placeholder},
};

/// The most bytes that are looked at to tell whether a header carries a secret.
const LONGEST: usize = 512;

/// The credentials of an `Authorization` header whose name ends at `at`.
pub(crate) fn authorization(text: &[u8], at: usize) -> Option<(usize, usize)> {
    if left_by_cleaning(&text[..at]) {
        return None;
    }
    let mut start = after_separator(text, at)?;
    let scheme = run(text, start, |b| b.is_ascii_alphabetic() || b == b'-');
    if scheme > 0 && scheme < 20 && text.get(start + scheme) == Some(&b' ') {
        start = after_spaces(text, start + scheme);
    } else if scheme > 0 && scheme < 20 {
        let end = start + scheme;
        let folded = escape(text, end).max(usize::from(text.get(end) == Some(&b'\n')));
        let next = after_spaces(text, end + folded);
        start = if folded > 0 && next > end + folded { next } else { start };
    }
    let size = run(near(text, start), start, credential);
    let value = &text[start..start + size];
    let enough = size >= 8
        && (random(value)
            || scheme == 0
            || size >= 16 && distinct(value) > 6 && value.iter().any(u8::is_ascii_digit));
    let fine = !enough || marked(value) || placeholder(value);
    (!fine).then(|| (start, start + size + rest(text, start, size, credential)))
}

/// The token after `Bearer` and a space that ends at `at`.
pub(crate) fn bearer(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let start = after_spaces(text, at);
    let size = run(near(text, start), start, credential);
    let value = &text[start..start + size];
    let fits = size >= 12 && random(value) && !marked(value) && !placeholder(value);
    fits.then(|| (start, start + size + rest(text, start, size, credential)))
}

/// The user and password in base64 after `Basic ` that ends at `at`.
pub(crate) fn basic(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let start = after_spaces(text, at);
    let inside = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    let size = run(near(text, start), start, inside);
    let fits = size >= 12 && strong(&text[start..start + size]);
    fits.then(|| (start, start + size + rest(text, start, size, inside)))
}

/// The answer of a `Digest` after its `response=` that ends at `at`.
pub(crate) fn digest(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let start = quote(text, at).map_or(at, |(_, _, after)| after);
    let size = run(near(text, start), start, credential);
    let value = &text[start..start + size];
    let hex = value.iter().all(u8::is_ascii_hexdigit) && (size == 32 || size == 64);
    let fits = hex || size >= 24 && strong(value);
    fits.then(|| (start, start + size + rest(text, start, size, credential)))
}

/// Everything a cookie header whose name ends at `at` carries.
pub(crate) fn cookie(text: &[u8], at: usize, name: usize) -> Option<(usize, usize)> {
    if !starts_word(text, name) || left_by_cleaning(&text[..at]) {
        return None;
    }
    let start = after_separator(text, at)?;
    text[start..text.len().min(start + 128)].iter().position(|b| *b == b'=')?;
    let inside = |b: u8| b >= b' ' && !matches!(b, b'"' | b'\'' | b'`' | b'\\');
    let size = run(near(text, start), start, inside);
    let value = &text[start..start + size];
    let equals = value.iter().position(|b| *b == b'=')?;
    let named = equals > 0
        && value[..equals].iter().all(|b| b.is_ascii_graphic() && !matches!(b, b'(' | b'{' | b'$'));
    let telling = value.split(|b| *b == b';').any(|pair| {
        let given = pair.splitn(2, |b| *b == b'=').nth(1).unwrap_or_default();
        given.len() >= 6 && random_enough(given)
    });
    (named && telling && !marked(value)).then(|| (start, start + size + rest(text, start, size, inside)))
}

/// What is looked at to tell whether there is a secret: no more, however far it goes.
fn near(text: &[u8], start: usize) -> &[u8] {
    &text[..text.len().min(start + LONGEST)]
}

/// How much more of a secret there is.
fn rest(text: &[u8], start: usize, size: usize, inside: impl Fn(u8) -> bool) -> usize {
    if size == LONGEST { run(text, start + size, inside) } else { 0 }
}

/// Whether the name of a header is that of a kind in what an earlier cleaning put there.
fn left_by_cleaning(text: &[u8]) -> bool {
    [b"[redacted:authorization".as_slice(), b"[redacted:cookie"].iter().any(|mark| text.ends_with(mark))
}

fn random_enough(given: &[u8]) -> bool {
    !placeholder(given) && (random(given) || given.len() >= 12 && given.iter().any(u8::is_ascii_digit))
}

fn after_separator(text: &[u8], at: usize) -> Option<usize> {
    let at = quote(text, at).map_or(at, |(_, _, after)| after);
    let at = after_spaces(text, at + run(text, at, |b| b == b']'));
    let sign = run(text, at, |b| matches!(b, b':' | b'=' | b',' | b'>'));
    let at = after_spaces(text, at + sign);
    (sign > 0).then(|| quote(text, at).map_or(at, |(_, _, after)| after))
}

fn credential(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'+' | b'/' | b'=' | b'~' | b':' | b'|')
}
