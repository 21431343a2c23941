//! What is left of a text when only its meaning counts: enough to find the same thing in other words.
//!
//! Two texts are *surely the same* when one says every word of the other (apart from filler words and endings), they share
//! at least 80 % of their words, deny or affirm alike, and name the same numbers, paths and identifiers. A word
//! that was replaced by another one makes a different thing: `port 8080` is not `port 8081`.

use super::Category;

/// The share of words, in percent, that two wordings of one thing must have in common.
pub(super) const SAME: usize = 80;

/// A text, reduced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sketch {
    /// All its words in order, with its category: equal only for equal texts.
    pub(super) key: u64,
    /// Its telling words, the rarest first, each once.
    pub(super) tokens: Vec<u64>,
    /// Its numbers, paths and identifiers, as one number.
    pub(super) hard: u64,
    /// Whether it denies.
    pub(super) negated: bool,
    /// Its telling words without category and denial: equal for a thing and its opposite.
    pub(super) bare: u64,
    /// For `name is value`: the part before the value.
    pub(super) shape: Option<u64>,
}

/// Reduces a text.
pub(super) fn sketch(category: Category, text: &str) -> Sketch {
    let mut made = Sketch {
        key: mix(SEED, category as u64),
        tokens: Vec::with_capacity(12),
        hard: 0,
        negated: false,
        bare: 0,
        shape: None,
    };
    let (mut before, mut equals) = (made.key, false);
    for raw in text.split(|c: char| c.is_whitespace() || c == '`' || c == '*') {
        let word = raw.trim_matches(|c: char| !c.is_alphanumeric());
        if word.is_empty() {
            equals |= raw == "=" || raw == ":";
            continue;
        }
        made.shape = equals.then_some(before);
        equals = raw.ends_with([':', '=']);
        let (token, whole, kind) = token(word);
        before = mix(made.key, 1);
        made.key = mix(made.key, whole);
        match kind {
            Kind::Filler => {}
            Kind::Equals => equals = true,
            Kind::Denial => made.negated = !made.negated,
            Kind::Plain => made.tokens.push(token),
            Kind::Hard => {
                made.hard = made.hard.wrapping_add(whole);
                made.tokens.push(token);
            }
        }
        if made.shape.is_some() {
            before = made.key;
        }
    }
    made.tokens.sort_unstable();
    made.tokens.dedup();
    made.bare = made.tokens.iter().fold(SEED, |all, t| mix(all, *t));
    made
}

impl Sketch {
    /// The words under which it is filed: two texts that share enough words share one of these.
    pub(super) fn filed(&self) -> &[u64] {
        let n = self.tokens.len();
        &self.tokens[..n.min(n + 1 - (n * SAME).div_ceil(100).min(n))]
    }

    /// Whether both surely say the same.
    pub(super) fn same(&self, other: &Self) -> bool {
        let (few, many) = if self.tokens.len() <= other.tokens.len() { (self, other) } else { (other, self) };
        self.negated == other.negated
            && self.hard == other.hard
            && few.tokens.len() * 100 >= many.tokens.len() * SAME
            && few.within(many)
    }

    /// Whether `other` says every telling word of this one.
    pub(super) fn within(&self, other: &Self) -> bool {
        let mut rest = other.tokens.iter();
        !self.tokens.is_empty() && self.tokens.iter().all(|t| rest.by_ref().any(|o| o == t))
    }
}

enum Kind {
    Filler,
    Equals,
    Denial,
    Plain,
    Hard,
}

const SEED: u64 = 0xCBF2_9CE4_8422_2325;

const fn mix(all: u64, next: u64) -> u64 {
    let mixed = (all ^ next).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 29)
}

const fn hash(word: &[u8]) -> u64 {
    let (mut all, mut at) = (SEED, 0);
    while at < word.len() {
        all = (all ^ word[at].to_ascii_lowercase() as u64).wrapping_mul(0x0100_0000_01B3);
        at += 1;
    }
    all ^ (all >> 32)
}

const FILLER: [&str; 40] = [
    "a", "an", "the", "to", "of", "for", "in", "on", "at", "and", "or", "with", "by", "as", "it", "its",
    "this", "that", "be", "been", "has", "have", "had", "was", "were", "will", "i", "we", "so", "then",
    "now", "also", "from", "into", "all", "always", "please", "must", "do", "does",
];
const EQUALS: [&str; 3] = ["is", "are", "equals"];
const DENIAL: [&str; 9] = ["not", "never", "no", "cannot", "without", "don't", "doesn't", "isn't", "won't"];

const fn hashes<const N: usize>(words: [&str; N]) -> [u64; N] {
    let (mut all, mut at) = ([0; N], 0);
    while at < N {
        all[at] = hash(words[at].as_bytes());
        at += 1;
    }
    all
}

const FILLER_HASHES: [u64; 40] = hashes(FILLER);
const EQUALS_HASHES: [u64; 3] = hashes(EQUALS);
const DENIAL_HASHES: [u64; 9] = hashes(DENIAL);

// The first number sorts rare words (identifiers, long words) first; the second stands for the whole word.
fn token(word: &str) -> (u64, u64, Kind) {
    let bytes = word.as_bytes();
    let whole = hash(bytes);
    let hard = bytes.iter().any(|b| b.is_ascii_digit() || matches!(b, b'_' | b'/' | b'.' | b':'));
    let kind = if bytes.len() <= 8 && FILLER_HASHES.contains(&whole) {
        Kind::Filler
    } else if EQUALS_HASHES.contains(&whole) {
        Kind::Equals
    } else if bytes.len() <= 8 && DENIAL_HASHES.contains(&whole) {
        Kind::Denial
    } else if hard {
        Kind::Hard
    } else {
        Kind::Plain
    };
    let stem = if hard { bytes } else { stem(bytes) };
    let common = 127_u64.saturating_sub(stem.len() as u64) + if hard { 0 } else { 128 };
    ((common << 56) | (hash(stem) >> 8), whole, kind)
}

fn stem(word: &[u8]) -> &[u8] {
    for ending in [&b"ing"[..], b"ed", b"es", b"s", b"e"] {
        if let Some(stem) = word.strip_suffix(ending).filter(|s| s.len() >= 3) {
            return stem;
        }
    }
    word
}
