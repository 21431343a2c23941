//! Assignments in base64, on one line or folded over several: what a telling word looks like in base64 is searched for, and
//! only what stands around it is decoded. This file does not judge what it decodes.

use std::collections::VecDeque;

use crate::spelling::escape;

/// Words one of which is in most texts that give a secret, as they are written.
pub(crate) const WORDS: [&str; 17] = [
    "PASS", "Pass", "pass", "PWD=", "pwd=", "SECRET", "Secret", "secret", "TOKEN", "Token", "token", "_KEY",
    "_key", "Key\":", "ApiKey", "apiKey", "apikey",
];

/// The most characters that are decoded on each side of such a word.
const LONGEST: usize = 16 * 1024;
/// A line that goes on in the next one is at least this long.
const FOLDED: usize = 40;
/// Fewer characters have no room for an assignment.
const LEAST: usize = 20;

/// What was found around a word.
pub(crate) struct Encoded {
    pub(crate) text: Vec<u8>,
    /// Where it stands, one part for each line.
    pub(crate) parts: Vec<(usize, usize)>,
}

/// The text around a word that begins at `at` with its `shift`, and not before `floor`; and where the search ended.
pub(crate) fn around(text: &[u8], at: usize, shift: usize, floor: usize) -> (Option<Encoded>, usize) {
    let mut places = VecDeque::new();
    let end = after(text, at, &mut places);
    before(text, at, floor, &mut places);
    let word = places.iter().position(|place| *place == at).unwrap_or(0);
    let group = word.saturating_sub([0, 2, 3][shift % 3]);
    let digit = |n: usize| places.get(n).and_then(|place| value(text[*place]));
    let three = |n: usize| {
        let word = (0..4).fold(0_u32, |sum, i| sum << 6 | u32::from(digit(n + i).unwrap_or(0)));
        let size = (0..4).filter(|i| digit(n + i).is_some()).count().saturating_sub(1);
        let bytes = [(word >> 16) as u8, (word >> 8) as u8, word as u8];
        (size > 0 && bytes[..size].iter().all(|b| printable(*b))).then_some((bytes, size))
    };
    let mut first = group;
    while first >= 4 && three(first - 4).is_some() {
        first -= 4;
    }
    let (mut out, mut last) = (Vec::new(), first);
    while let Some((bytes, size)) = three(last) {
        out.extend_from_slice(&bytes[..size]);
        last = places.len().min(last + 4);
    }
    if last - first < LEAST {
        return (None, end);
    }
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for place in places.range(first..last) {
        match parts.last_mut() {
            Some((_, end)) if *end == *place => *end += 1,
            _ => parts.push((*place, place + 1)),
        }
    }
    if let Some((_, end)) = parts.last_mut() {
        *end += text[*end..].iter().take(2).take_while(|b| **b == b'=').count();
    }
    (Some(Encoded { text: out, parts }), end)
}

fn after(text: &[u8], at: usize, places: &mut VecDeque<usize>) -> usize {
    let (mut end, mut line) = (at, at);
    while end < text.len() && places.len() < LONGEST {
        if value(text[end]).is_some() {
            places.push_back(end);
            end += 1;
            continue;
        }
        let next = end + line_end(text, end);
        let more = text.get(next).is_some_and(|b| value(*b).is_some());
        if next == end || !more || line > at && end - line < FOLDED {
            break;
        }
        (end, line) = (next, next);
    }
    end
}

fn before(text: &[u8], at: usize, floor: usize, places: &mut VecDeque<usize>) {
    let low = floor.max(at.saturating_sub(LONGEST));
    let mut start = at;
    while start > low {
        if value(text[start - 1]).is_some() {
            start -= 1;
            places.push_front(start);
            // What is written `\n` belongs to no line.
            if start > low && text[start - 1] == b'\\' && matches!(text[start], b'n' | b'r' | b't') {
                places.pop_front();
            }
            continue;
        }
        let gap =
            text[low..start].iter().rev().take(4).take_while(|b| matches!(b, b'\n' | b'\r' | b' ' | b'\\'));
        let end = start - gap.count();
        let size = text[low..end].iter().rev().take_while(|b| value(**b).is_some()).count();
        if end == start || size < FOLDED {
            break;
        }
        start = end;
    }
}

/// The size of a line end with the spaces after it.
fn line_end(text: &[u8], at: usize) -> usize {
    let size = match text.get(at) {
        Some(b'\n') => 1,
        Some(b'\r') if text.get(at + 1) == Some(&b'\n') => 2,
        Some(b'\\') => escape(text, at),
        _ => return 0,
    };
    size + text[at + size..].iter().take(16).take_while(|b| **b == b' ').count()
}

fn printable(b: u8) -> bool {
    matches!(b, b' '..=b'~' | b'\n' | b'\r' | b'\t')
}

fn value(b: u8) -> Option<u8> {
    match b {
        b'A'..=b'Z' => Some(b - b'A'),
        b'a'..=b'z' => Some(b - b'a' + 26),
        b'0'..=b'9' => Some(b - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}
