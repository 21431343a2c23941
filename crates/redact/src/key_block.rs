//! Private key blocks, whole or cut off at either end, over lines of a file, of a diff, of a listing with line numbers,
//! of code, or with `\n` written out. Quotes between lines stay, so that JSON remains JSON.

use crate::spelling::{LONGEST_RUN, escape, run};

/// The most bytes of one block.
const LONGEST: usize = 64 * 1024;
/// A line of a block's body has at least this many characters, the last ones apart.
const LINE: usize = 16;

/// What stands between `-----BEGIN ` and `-----`, if it is about a private key.
fn label(text: &[u8], at: usize) -> Option<usize> {
    let size = run(text, at, |b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' ');
    let words = &text[at..at + size];
    let private = words.windows(11).any(|w| w == b"PRIVATE KEY") || words.starts_with(b"OpenVPN Static key");
    (private && size < 60 && text[at + size..].starts_with(b"-----")).then_some(at + size + 5)
}

/// The parts of the block whose `-----BEGIN ` starts at `at`.
pub(crate) fn from_start(text: &[u8], at: usize) -> Option<Vec<(usize, usize)>> {
    let mut body = label(text, at + 11)?;
    let mut parts = Vec::new();
    let mut start = at;
    let limit = text.len().min(at + LONGEST);
    let text = &text[..limit];
    let mut end = body;
    loop {
        body = past_line_start(text, body);
        if text[body..].starts_with(b"-----END ") {
            end = label(text, body + 9).unwrap_or_else(|| {
                body + 9 + run(text, body + 9, |b| b.is_ascii_uppercase() || b == b' ' || b == b'-')
            });
            break;
        }
        let size = line_of_body(text, body);
        if size > 0 {
            body += size;
            end = body;
            continue;
        }
        let Some(next) = next_literal(text, body) else { break };
        parts.push((start, end));
        start = next;
        body = next;
        end = next;
    }
    if end > start {
        parts.push((start, end));
    }
    (parts.iter().map(|(start, end)| end - start).sum::<usize>() > 0).then_some(parts)
}

/// The part of a block whose start was cut off, before the `-----END ` at `at` and not before `floor`.
pub(crate) fn to_end(text: &[u8], at: usize, floor: usize) -> Option<(usize, usize)> {
    let end = label(text, at + 9)?;
    let low = at.saturating_sub(LONGEST).max(floor);
    let body = |b: u8| base64(b) || b.is_ascii_whitespace() || b == b'\\';
    let mut start = at;
    while start > low && body(text[start - 1]) {
        start -= 1;
    }
    let first = text[start..at].iter().position(|b| b.is_ascii_whitespace() || *b == b'\\').unwrap_or(0);
    if first < LINE && text[start..at].iter().filter(|b| base64(**b)).count() < 2 * LINE {
        start = at;
    }
    let long = long_line_from(text, start, at);
    Some((long, end))
}

/// The first position from which on only lines of a body come.
fn long_line_from(text: &[u8], start: usize, at: usize) -> usize {
    let mut from = at;
    let mut line_end = at;
    for i in (start..at).rev() {
        let cut = text[i].is_ascii_whitespace() || text[i] == b'\\';
        if cut || i == start {
            let begin = if cut { i + 1 } else { i };
            let begin = if cut && text[i] == b'\\' && begin < line_end { begin + 1 } else { begin };
            let size = line_end.saturating_sub(begin);
            if size >= LINE || size > 0 && from == at {
                from = begin;
            } else if size > 0 {
                break;
            }
            line_end = i;
        }
    }
    from
}

fn base64(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_')
}

/// Skips line ends, written out or not, and what a diff, a listing or a comment puts before a line.
fn past_line_start(text: &[u8], mut at: usize) -> usize {
    loop {
        let from = at;
        at += run(text, at, |b| b.is_ascii_whitespace());
        at += escape(text, at);
        if at == from {
            break;
        }
        let prefix = run(text, at, |b| {
            b.is_ascii_digit()
                || b.is_ascii_whitespace()
                || matches!(b, b'+' | b'|' | b'>' | b'#' | b'*' | b':')
        });
        let arrow = at + prefix;
        let arrow = arrow + if text[arrow..].starts_with("→".as_bytes()) { 3 } else { escape(text, arrow) };
        let minus = usize::from(text.get(arrow) == Some(&b'-') && !text[arrow..].starts_with(b"-----E"));
        let minus = minus + usize::from(text[arrow + minus..].starts_with(b" ") && minus > 0);
        if arrow + minus > at
            && (line_of_body(text, arrow + minus) > 0 || text[arrow + minus..].starts_with(b"-----END"))
        {
            at = arrow + minus;
        }
    }
    at
}

/// How long the line of the body at `at` is; 0 if it is none.
fn line_of_body(text: &[u8], at: usize) -> usize {
    let size = run(text, at, base64);
    let after = text.get(at + size).copied().unwrap_or(b'\n');
    let ends = size == LONGEST_RUN
        || after.is_ascii_whitespace()
        || matches!(after, b'\\' | b'"' | b'\'' | b'`' | b',' | b'<');
    let line = &text[at..at + size];
    if line.starts_with(b"-----") {
        return 0;
    }
    if size >= LINE && ends {
        return size;
    }
    if size > 0 && after == b':' && size < 24 {
        return run(text, at, |b| b >= b' ' && !matches!(b, b'\\' | b'"' | b'\'' | b'`'));
    }
    let last = size > 0
        && ends
        && (line.ends_with(b"=")
            || line.starts_with(b"=")
            || at + size == text.len()
            || ends_block(text, at + size));
    if last { size } else { 0 }
}

fn ends_block(text: &[u8], at: usize) -> bool {
    let skip =
        run(text, at, |b| b.is_ascii_whitespace() || matches!(b, b'\\' | b'n' | b'r' | b'+' | b'"' | b','));
    text[at + skip..].starts_with(b"-----END")
}

/// The start of the next string literal with more of the block: `…\n" +` and a line end and `"`.
fn next_literal(text: &[u8], at: usize) -> Option<usize> {
    let mut next = at;
    let mut quoted = false;
    while next < text.len().min(at + 64) {
        let step = match text[next] {
            b'"' | b'\'' | b'`' => {
                quoted = true;
                1
            }
            b'\\' => escape(text, next).max(1),
            b' ' | b'\t' | b'\r' | b'\n' | b'+' | b',' | b'.' | b'(' | b')' | b'&' => 1,
            _ => break,
        };
        next += step;
    }
    let more = || line_of_body(text, next) >= LINE || text[next..].starts_with(b"-----END");
    (quoted && more()).then_some(next)
}
