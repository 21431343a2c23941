//! A telling name and what it is given: `.env`, shells, YAML, JSON, TOML, XML, code, flags, query strings, plain words.

use crate::{
    names::{Telling, may_be_password, telling},
    spelling::{after_spaces, escape, quote, random, run, starts_word},
    values::{Tie, read, secret, whole},
};

/// The most bytes of a name on each side of where it was noticed.
const LONGEST_NAME: usize = 96;

/// Where a name is.
pub(crate) struct Name {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Which bytes are parts of names.
const NAME: [bool; 256] = {
    let mut parts = [false; 256];
    let mut b = 0;
    while b < 256 {
        parts[b] = (b as u8).is_ascii_alphanumeric() || matches!(b as u8, b'_' | b'-' | b'.');
        b += 1;
    }
    parts
};

/// The whole name around the part of it at `at`.
pub(crate) fn name_around(text: &[u8], at: usize) -> Name {
    let part = |b: u8| NAME[usize::from(b)];
    let low = at.saturating_sub(LONGEST_NAME);
    let mut start = at;
    while start > low && part(text[start - 1]) {
        start -= 1;
    }
    // Inside a run of letters and digits a word starts only after an escape or a colour code.
    let marks = |b: &u8| matches!(b, b'\\' | b'%' | b'[' | b';');
    if start < at && text[start.saturating_sub(12)..start].iter().any(marks) {
        let later = (start + 1..at.min(start + 12)).rev();
        let mut later = later.filter(|i| text[*i - 1].is_ascii_alphanumeric() && starts_word(text, *i));
        start = later.next().unwrap_or(start);
    }
    if start >= 1 && text[start - 1] == b'\\' && b"ntr".contains(&text[start]) && start < at {
        start += 1;
    }
    let high = text.len().min(at + LONGEST_NAME);
    let mut end = at;
    while end < high && part(text[end]) {
        end += 1;
    }
    while end > at && matches!(text[end - 1], b'.' | b'-') {
        end -= 1;
    }
    Name { start, end }
}

/// How telling a name is: `key` is with `api ` before it, or in the query of an address.
pub(crate) fn tells(text: &[u8], name: &Name) -> Telling {
    let word = &text[name.start..name.end];
    let alone = telling(word);
    if !matches!(alone, Telling::No | Telling::Weak) {
        return alone;
    }
    if alone == Telling::Weak && matches!(before(text, name.start), b'?' | b'&') {
        return Telling::Key;
    }
    let low = name.start.saturating_sub(20);
    let Some((b' ', line)) = text[low..name.start].split_last() else { return alone };
    let size = line.iter().rev().take_while(|b| b.is_ascii_alphanumeric()).count();
    if size == 0 || size == line.len() && low > 0 {
        return alone;
    }
    match telling(&text[name.start - 1 - size..name.end]) {
        Telling::No => alone,
        both @ (Telling::Weak | Telling::Key | Telling::Password) => both,
    }
}

/// The secret that a name is given, if the name is that telling.
pub(crate) fn find(text: &[u8], name: &Name) -> Option<(usize, usize, Telling)> {
    let word = &text[name.start..name.end];
    let capitals = word.iter().all(|b| !b.is_ascii_lowercase());
    let (at, tie) = tied(text, name, capitals)?;
    let at = after_type(text, after_scheme(text, after_spaces(text, at + run(text, at, |b| b == b'*'))));
    let value = read(text, at, tie)?;
    let start = if value.quoted { after_scheme(text, value.start) } else { value.start };
    let given = text.get(start..value.end)?;
    // What most names are given cannot be a secret: the name itself is looked at last.
    let code = tie == Tie::Beside && value.quoted && before(text, value.start) == b'`';
    if code
        || given.len() < if tie == Tie::Beside && !value.quoted { 16 } else { 4 }
        || text[..name.start].ends_with(b"[redacted:")
    {
        return None;
    }
    if !may_be_password(word) && !random(given) {
        return None;
    }
    let telling = tells(text, name);
    secret(given, telling, value.quoted, tie).then(|| (start, whole(text, &value), telling))
}

/// The position of the value and how it is tied to the name.
fn tied(text: &[u8], name: &Name, capitals: bool) -> Option<(usize, Tie)> {
    let mut at = name.end;
    let closed = quote(text, at);
    if let Some((_, _, after)) = closed {
        at = after;
    }
    at += run(text, at, |b| matches!(b, b']' | b'?' | b'!'));
    let tight = at;
    at = after_spaces(text, at);
    let rest = &text[at..];
    if rest.starts_with(b"==") || rest.starts_with(b"!=") {
        return Some((at + run(text, at, |b| matches!(b, b'=' | b'!')), Tie::Literal));
    }
    let signs = ["||=", "??=", "//=", "=>", ":=", "?=", "->", "<-", "→", "⇒", "←"];
    let second = |b: &u8| matches!(b, b'|' | b'?' | b'/' | b'>' | b'=' | b'-' | 0x86 | 0x87);
    if rest.get(1).is_some_and(second)
        && let Some(sign) = signs.iter().find(|sign| rest.starts_with(sign.as_bytes()))
    {
        return Some((at + sign.len(), Tie::Given));
    }
    if rest.starts_with(b"::") {
        return None;
    }
    if closed.is_none() && [b"%3D".as_slice(), b"%3d"].iter().any(|sign| rest.starts_with(sign)) {
        return Some((at + 3, Tie::Given));
    }
    match rest.first() {
        Some(b'=') => {
            let shell = capitals && at == tight && closed.is_none() && rest.get(1) != Some(&b' ');
            Some((at + 1, if shell { Tie::Shell } else { Tie::Given }))
        }
        Some(b':') => Some((block(text, at + 1), Tie::Given)),
        Some(b'>') if before(text, name.start) == b'<' => Some((at + 1, Tie::Given)),
        Some(b'(') if closed.is_none() => Some((at + 1, Tie::Literal)),
        _ => pair(text, at, closed.is_some()).or_else(|| spoken(text, name, at, tight)),
    }
}

fn before(text: &[u8], at: usize) -> u8 {
    at.checked_sub(1).and_then(|i| text.get(i)).copied().unwrap_or(0)
}

/// `name: |` and the value on the next line, also where that is written `\n`.
fn block(text: &[u8], at: usize) -> usize {
    let sign = after_spaces(text, at);
    let after = sign + run(text, sign, |b| matches!(b, b'|' | b'>' | b'-'));
    if after == sign || text[sign] == b'-' {
        return at;
    }
    if text.get(after) == Some(&b'\n') {
        return after_spaces(text, after + 1);
    }
    let written = escape(text, after);
    if written > 0 { after_spaces(text, after + written) } else { at }
}

/// `{"name": "DB_PASSWORD", "value": "…"}` and `("DB_PASSWORD", "…")`.
fn pair(text: &[u8], at: usize, closed: bool) -> Option<(usize, Tie)> {
    let mut next = at;
    for _ in 0..4 {
        next += run(text, next, |b| b.is_ascii_whitespace() || b == b',');
        next += escape(text, next);
    }
    let (label, comma) =
        (quote(text, next).map_or(next, |(_, _, after)| after), next > at && text[at] == b',');
    if text[label..].len() > 5 && text[label..label + 5].eq_ignore_ascii_case(b"value") {
        let after = quote(text, label + 5).map_or(label + 5, |(_, _, after)| after);
        let sign = after_spaces(text, after);
        return matches!(text.get(sign), Some(b':' | b'=')).then_some((sign + 1, Tie::Given));
    }
    (closed && comma && next < at + 4).then_some((next, Tie::Listed))
}

/// `--password value`, "the password is value", "token value", `login me password value`.
fn spoken(text: &[u8], name: &Name, at: usize, tight: usize) -> Option<(usize, Tie)> {
    if at == tight {
        return None;
    }
    let dashes = text[name.start..].starts_with(b"-");
    let line = &text[name.start.saturating_sub(120)..name.start];
    if dashes || line.windows(7).any(|w| w == b" login ") && line.windows(8).any(|w| w == b"machine ") {
        return Some((at, Tie::Given));
    }
    for word in [b"is ".as_slice(), b"is: ", b"to ", b"was ", b"are "] {
        if text[at..].starts_with(word) {
            return Some((at + word.len(), Tie::Said));
        }
    }
    let mut at = at;
    if text[at..].starts_with(b"--") {
        at += run(text, at, |b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'='));
    } else if text[at..].starts_with(b"| ") {
        at += 2;
    }
    Some((at, Tie::Beside))
}

/// The position after `Bearer `, `Basic ` and the like.
fn after_scheme(text: &[u8], at: usize) -> usize {
    let from = after_spaces(text, at);
    if !text.get(from).is_some_and(|b| matches!(b | 32, b'a' | b'b' | b't')) {
        return at;
    }
    let schemes = [b"bearer ".as_slice(), b"basic ", b"token ", b"apikey ", b"bot "];
    let fits = |scheme: &&[u8]| {
        text.len() >= from + scheme.len() && text[from..from + scheme.len()].eq_ignore_ascii_case(scheme)
    };
    schemes.iter().find(|scheme| fits(scheme)).map_or(at, |scheme| from + scheme.len())
}

/// The position after a type and its `=`, as in `let token: &str = "…"`.
fn after_type(text: &[u8], at: usize) -> usize {
    let from = after_spaces(text, at);
    let size = run(&text[..text.len().min(from + 42)], from, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'&' | b'\'' | b'<' | b'>' | b'_' | b' ' | b':' | b'|')
    });
    let looks =
        size > 1 && size <= 40 && text.get(from + size) == Some(&b'=') && text[from + size - 1] == b' ';
    if looks && text.get(from + size + 1) == Some(&b' ') { from + size + 1 } else { at }
}

/// The password after SQL's `IDENTIFIED BY ` that ends at `at`.
pub(crate) fn identified(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let value = read(text, at, Tie::Literal)?;
    let given = &text[value.start..value.end];
    secret(given, Telling::Password, true, Tie::Literal).then_some((value.start, value.end))
}

/// The value in `"value": "…", "name": "DB_PASSWORD"`, where the name comes last and the label of the value is at `label`.
pub(crate) fn value_before(text: &[u8], name: &Name, label: usize) -> Option<(usize, usize, Telling)> {
    if label + 300 < name.start || label + 5 > name.start {
        return None;
    }
    let line = &text[name.start.saturating_sub(16)..name.start];
    if !line.windows(4).any(|w| w.eq_ignore_ascii_case(b"name") || w.eq_ignore_ascii_case(b"key\"")) {
        return None;
    }
    let after = label + 5;
    let after = quote(text, after).map_or(after, |(_, _, after)| after);
    let sign = after_spaces(text, after);
    text.get(sign).filter(|b| matches!(b, b':' | b'='))?;
    let value = read(text, sign + 1, Tie::Given)?;
    let close = value.end < name.start && text[value.end..name.start].len() < 40 && value.quoted;
    let telling = tells(text, name);
    let given = &text[value.start..value.end];
    (close && secret(given, telling, true, Tie::Given)).then_some((value.start, value.end, telling))
}

/// The words of a recovery phrase that follows its name.
pub(crate) fn phrase(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let start =
        at + run(text, at, |b| matches!(b, b' ' | b':' | b'=' | b'"' | b'\'' | b'\\' | b'`' | b'(' | b','));
    let near = &text[..text.len().min(start + 300)];
    let size = run(near, start, |b| b.is_ascii_lowercase() || matches!(b, b' ' | b','));
    let words: Vec<&[u8]> =
        text[start..start + size].split(|b| matches!(b, b' ' | b',')).filter(|w| !w.is_empty()).collect();
    let fits = words.len() >= 8 && words.iter().all(|word| (3..=8).contains(&word.len()));
    let end = start + text[start..start + size].trim_ascii_end().len();
    (start > at && fits).then_some((start, end))
}

/// The signature of an address after its `sig=` that ends at `at`.
pub(crate) fn signature(text: &[u8], at: usize) -> Option<(usize, usize)> {
    at.checked_sub(5).and_then(|i| text.get(i)).filter(|b| matches!(b, b'&' | b'?' | b';'))?;
    let value = read(text, at, Tie::Given)?;
    let given = &text[value.start..value.end];
    let fits = given.len() >= 20 && secret(given, Telling::Key, false, Tie::Given);
    fits.then_some((value.start, value.end))
}
