//! Secrets that are told by the layout around them: lines of base64 near the header of a private key, however they are
//! prefixed, the private numbers of a JWK, and the data of a Secret of Kubernetes.

use crate::spelling::{distinct, escape, mixed, quote, run};

pub(crate) type Parts = Vec<(usize, usize)>;

/// What need not be looked at again: names before `skip`, and text before `floor`.
pub(crate) struct Seen {
    pub(crate) skip: usize,
    pub(crate) floor: usize,
}

/// What may still be read beyond the end of a window.
const OVERLAP: usize = 512;

impl Seen {
    fn window(start: usize, high: usize) -> Self {
        Self { skip: start + 64, floor: high.saturating_sub(OVERLAP) }
    }
}

/// The most lines of a key, and the most bytes that are looked at.
const MOST_LINES: usize = 400;
const WINDOW: usize = 4096;

fn base64(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')
}

/// Where the line that starts at `at` ends, and where the next one starts; written line ends count.
fn line(text: &[u8], at: usize) -> (usize, usize) {
    let mut end = at;
    let limit = text.len().min(at + WINDOW);
    while end < limit && text[end] != b'\n' {
        let size = match text[end] {
            b'\\' => escape(text, end),
            b'%' if text[end..].starts_with(b"%0A") || text[end..].starts_with(b"%0a") => 3,
            _ => 0,
        };
        if size > 0 {
            return (end, end + size);
        }
        end += 1;
    }
    (end, text.len().min(end + usize::from(end < limit)))
}

/// The runs of base64 in a line that are at least this long.
fn runs(text: &[u8], start: usize, end: usize, least: usize) -> Parts {
    let mut out = Vec::new();
    let mut at = start;
    while at < end {
        let size = run(&text[..end], at, base64);
        let part = &text[at..at + size];
        if size >= least && mixed(part) && distinct(part) >= 5 {
            out.push((at, at + size));
        }
        at += size.max(1);
    }
    out
}

/// The lines of a key after its header, which ends at `at`.
fn key_after(text: &[u8], at: usize) -> Parts {
    let text = &text[..text.len().min(at + 16 * WINDOW)];
    let mut out = Vec::new();
    let mut missed = 0;
    let (_, mut from) = line(text, at);
    for _ in 0..MOST_LINES {
        if from >= text.len() {
            break;
        }
        let (end, next) = line(text, from);
        let whole = &text[from..end];
        let long = runs(text, from, end, 40);
        let last = |parts: &Parts| !parts.is_empty() && whole.len() < 160;
        if whole.windows(4).any(|w| w == b"END " || w == b"END%") {
            break;
        } else if long.is_empty() {
            let short = runs(text, from, end, 6);
            if !out.is_empty() && last(&short) && !whole.contains(&b' ') {
                out.extend(short);
            }
            missed += 1;
            if missed > 4 || !out.is_empty() {
                break;
            }
        } else {
            out.extend(long);
        }
        from = next;
    }
    out
}

/// The lines of a key after a header from `start` to `end` of whatever form. Another header on its line has the same lines.
pub(crate) fn key_named(text: &[u8], start: usize, end: usize, _: usize) -> (Parts, Seen) {
    let parts = if text[..start].ends_with(b"END ") { Vec::new() } else { key_after(text, end) };
    (parts, Seen { skip: line(text, end).0, floor: 0 })
}

/// The lines of a key before its footer at `at` and not before `floor`.
pub(crate) fn key_before(text: &[u8], at: usize, floor: usize) -> Parts {
    let mut low = at.saturating_sub(16 * WINDOW).max(floor);
    let mut starts = Vec::new();
    while low < at {
        starts.push(low);
        low = line(text, low).1;
    }
    let mut out: Parts = Vec::new();
    for (n, start) in starts.iter().rev().take(MOST_LINES).enumerate() {
        let end = line(text, *start).0.min(at);
        let least = if n < 2 { 12 } else { 40 };
        let found = runs(text, *start, end, least);
        if found.is_empty() && n > 0 {
            break;
        }
        out.extend(found);
    }
    if out.iter().any(|(start, end)| end - start >= 40) { out } else { Vec::new() }
}

/// The private numbers of the JWK that has its `kty` at `at`.
pub(crate) fn jwk(text: &[u8], at: usize, _: usize, floor: usize) -> (Parts, Seen) {
    let mut out = Vec::new();
    let high = text.len().min(at + WINDOW);
    let low = at.saturating_sub(WINDOW).max(floor).min(high);
    if quote(text, at + 3).is_none() {
        return (out, Seen { skip: at, floor });
    }
    let names = [b"d".as_slice(), b"p", b"q", b"dp", b"dq", b"qi", b"k"];
    for i in low..high {
        if !matches!(text[i], b'"' | b'\'') {
            continue;
        }
        let size = run(text, i + 1, |b| b.is_ascii_lowercase());
        if !names.contains(&&text[i + 1..i + 1 + size]) {
            continue;
        }
        let Some((_, _, mut next)) = quote(text, i + 1 + size) else { continue };
        next += run(text, next, |b| matches!(b, b' ' | b':'));
        let Some((_, _, start)) = quote(text, next) else { continue };
        let size = run(text, start, |b| base64(b) || matches!(b, b'-' | b'_'));
        if size >= 16 {
            out.push((start, start + size));
        }
    }
    (out, Seen::window(at, high))
}

/// The values of the `data` of a Secret of Kubernetes whose `kind` is at `at`.
pub(crate) fn kubernetes(text: &[u8], at: usize, _: usize, floor: usize) -> (Parts, Seen) {
    let high = text.len().min(at + WINDOW);
    let low = at.saturating_sub(WINDOW).max(floor.min(at));
    let near = &text[low..high];
    let low = low + near[..at - low].windows(4).rposition(|w| w == b"\n---").unwrap_or(0);
    let high = at + text[at..high].windows(4).position(|w| w == b"\n---").unwrap_or(high - at);
    let mut out = Vec::new();
    let mut from = low;
    while let Some(found) = text[from..high].windows(4).position(|w| w == b"data" || w == b"Data") {
        let start = from + found + 4;
        from = start;
        let after = start + quote(text, start).map_or(0, |(_, _, after)| after - start);
        let sign = after + run(text, after, |b| b == b' ');
        if text.get(sign) != Some(&b':') || text[..start].ends_with(b"metadata") {
            continue;
        }
        let mut i = sign + 1;
        while i < high && text[i] != b'}' {
            let indented =
                text[i] == b'\n' && !matches!(text.get(i + 1), Some(b' ' | b'\t' | b'\n' | b'}') | None);
            if indented {
                break;
            }
            let size = run(&text[..high], i, base64);
            let value = &text[i..i + size];
            let given = text[..i].trim_ascii_end().ends_with(b":")
                || text[..i].ends_with(b"\"") && text[sign..i].iter().rev().take(6).any(|b| *b == b':');
            if size >= 8 && given && distinct(value) > 3 && text.get(i + size) != Some(&b':') {
                out.push((i, i + size));
            }
            i += size.max(1);
        }
        from = i.min(high);
    }
    (out, Seen::window(at, high))
}
