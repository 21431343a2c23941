//! What stands near a telling name without being tied to it in a known way: on the same line, or alone on the next one.
//! Only what no word, number, path or identifier looks like is taken for a secret here.

use std::collections::VecDeque;

use crate::{
    assignment::Name,
    names::{Telling, near_by},
    spelling::{escape, starts_word, strong},
    values::{marked, placeholder},
};

/// How far is looked, after the name and before it.
const AFTER: usize = 160;
const BEFORE: usize = 96;
/// The most bytes of a name.
const LONGEST: usize = 256;
/// The fewest bytes of a random word.
const SHORTEST: usize = 10;

/// What of a text need not be looked at.
#[derive(Default)]
pub(crate) struct Barren {
    /// There is no random word before this.
    until: usize,
    /// Up to here the words were weighed, and which of them, of the last ones, may be random.
    weighed: usize,
    rich: VecDeque<(usize, usize)>,
}

impl Barren {
    /// Whether a word that may be random is near enough to a name. Each byte is looked at once for all names.
    pub(crate) fn near(&mut self, text: &[u8], name: &Name) -> bool {
        let (low, high) = (name.start.saturating_sub(BEFORE), text.len().min(name.end + AFTER));
        self.weighed = self.weighed.max(low);
        while self.weighed < high {
            let start = self.weighed;
            // Words that are too short are passed over from behind.
            let near = &text[start..text.len().min(start + SHORTEST)];
            if let Some(gap) = near.iter().rposition(|b| !part(*b)) {
                self.weighed = start + gap + 1;
                continue;
            }
            let (mut at, mut kinds, mut digits) = (start, 0_u8, 0_usize);
            while let Some(kind) = text.get(at).map(|b| KINDS[usize::from(*b)]).filter(|kind| *kind != 0) {
                kinds |= kind;
                digits += usize::from(kind == DIGIT);
                at += 1;
            }
            // What `strong` asks for at least.
            let size = at - start;
            if size >= SHORTEST && (digits >= 2 || size >= 16 && (kinds & !QUIET).count_ones() >= 3) {
                self.rich.push_back((start, at));
            }
            self.weighed = at + 1;
        }
        let low = low.max(self.until);
        while self.rich.front().is_some_and(|(_, end)| end + LONGEST < low) {
            self.rich.pop_front();
        }
        self.rich.iter().any(|(start, end)| *start < high && *end > low)
    }
}

const DIGIT: u8 = 4;
const QUIET: u8 = 16;

/// What a byte is in a word: a small letter, a capital, a digit, a sign, another part of a word, or none.
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut b = 0;
    while b < 256 {
        kinds[b] = match b as u8 {
            b'a'..=b'z' => 1,
            b'A'..=b'Z' => 2,
            b'0'..=b'9' => DIGIT,
            b'!' | b'#' | b'%' | b'*' | b'~' | b'^' | b'$' | b'+' => 8,
            b'_' | b'-' | b'.' | b'/' | b'=' => QUIET,
            _ => 0,
        };
        b += 1;
    }
    kinds
};

/// The random words around a telling name. There are none before `barren`, which moves on if there are none here.
pub(crate) fn around(text: &[u8], name: &Name, telling: Telling, barren: &mut Barren) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    if text[..name.start].ends_with(b"[redacted:")
        || telling == Telling::No
        || telling == Telling::Weak && !near_by(&text[name.start..name.end])
    {
        return found;
    }
    let high = text.len().min(name.end + AFTER);
    let after = line_after(text, name.end, high);
    // What is there already is what was near: a second cleaning takes no more.
    let from = name.end.max(barren.until).min(after);
    if text[name.end..after].contains(&b'[') && text[name.end..after].windows(10).any(|w| w == b"[redacted:")
    {
        return found;
    }
    found.extend(words(text, from, after, true));
    let low = name.start.saturating_sub(BEFORE);
    let low = line_before(text, low, name.start).max(barren.until).min(name.start);
    found.extend(words(text, low, name.start, false));
    if found.is_empty() {
        barren.until = after;
    }
    found
}

/// The random words on the line of a command that is given secrets.
pub(crate) fn command(text: &[u8], start: usize, end: usize, barren: &mut Barren) -> Vec<(usize, usize)> {
    let name = Name { start, end };
    if barren.near(text, &name) { around(text, &name, Telling::Password, barren) } else { Vec::new() }
}

/// Where the line of a name ends, or the next one if nothing but signs stands between.
fn line_after(text: &[u8], start: usize, high: usize) -> usize {
    let mut at = start;
    let mut empty = true;
    while at < high {
        let size = escape(text, at);
        if size > 0 || text[at] == b'\n' {
            if !empty {
                return at;
            }
            empty = false;
            at += size.max(1);
            continue;
        }
        // The name of another value in JSON.
        if text[at] == b'"' && text.get(at + 1) == Some(&b':') && at > start + 1 {
            return at.min(high);
        }
        let sign = text[at] <= b' '
            || matches!(text[at], b':' | b'=' | b'\\' | b'|' | b'>' | b'-' | b'"' | b'\'' | b'`' | b'*');
        empty &= sign;
        at += 1;
    }
    high
}

fn line_before(text: &[u8], low: usize, end: usize) -> usize {
    let mut at = end;
    while at > low {
        let here = text[at - 1];
        let written = matches!(here, b'n' | b'r') && at >= 2 && text[at - 2] == b'\\';
        if here == b'\n' || written || here == b':' && at >= 2 && text[at - 2] == b'"' {
            return at;
        }
        at -= 1;
    }
    if at == 0 {
        return 0;
    }
    at + text[at..end].iter().take_while(|b| part(**b)).count()
}

/// The first random word of a part of a line, or the last. What cleaning left ends the search, so that cleaning again
/// finds no more.
fn words(text: &[u8], from: usize, to: usize, forward: bool) -> Option<(usize, usize)> {
    let mut found = None;
    let mut at = from;
    while at < to {
        if text[at] == b'[' && text[at..].starts_with(b"[redacted:") {
            found = None;
        }
        let size = text[at..].iter().take(4096).take_while(|b| part(**b)).count();
        if size >= SHORTEST {
            let mut start = at;
            if at > 0 && text[at - 1] == b'\\' && b"ntr".contains(&text[at]) {
                start += 1;
            }
            start += text[start..at + size].iter().take_while(|b| **b == b'=').count();
            let mut end = at + size;
            while end > start && matches!(text[end - 1], b'.' | b'-') {
                end -= 1;
            }
            let word = &text[start..end];
            let inside = start == from && from > 0 && part(text[from - 1]);
            let beyond = !forward && end >= to;
            if !inside
                && !beyond
                && starts_word(text, start)
                && strong(word)
                && !id(word)
                && !shaped(text, start, word)
            {
                found = Some((start, end));
                if forward {
                    return found;
                }
            }
        }
        at += size.max(1);
    }
    found
}

/// Whether a word belongs to an address, a path or a name, or is what cleaning left.
fn shaped(text: &[u8], start: usize, word: &[u8]) -> bool {
    let before = |n: usize| start.checked_sub(n).and_then(|i| text.get(i)).copied().unwrap_or(b' ');
    let slashes = word.iter().filter(|b| **b == b'/').count();
    let path = slashes > 0
        && (word.len() < 30 || word[0] == b'/' || word.contains(&b'.') || slashes * 10 > word.len());
    let address = before(1) == b':' && text.get(start..start + 2) == Some(b"//") || before(1) == b'$';
    let hash =
        [b"sha256-".as_slice(), b"sha512-", b"sha384-", b"sha1-"].iter().any(|kind| word.starts_with(kind))
            || word.starts_with(b"AAAA");
    path || address || hash || marked(word) || placeholder(word)
}

/// `toolu_01Ab…`, `req-…`: the kind of a thing and its number.
fn id(word: &[u8]) -> bool {
    let kind = word.iter().take_while(|b| b.is_ascii_lowercase()).count();
    (2..=9).contains(&kind) && matches!(word.get(kind), Some(b'_' | b'-'))
}

fn part(b: u8) -> bool {
    KINDS[usize::from(b)] != 0
}
