//! What is left of a text when only its meaning counts: enough to find the same thing in other words.
//!
//! Two texts are *surely the same* when one says every word of the other (apart from filler words, endings and the tense of
//! verbs), they share most of their words, deny or affirm alike, and name the same numbers, paths and identifiers. A word
//! that was replaced by another one makes a different thing: `port 8080` is not `port 8081`.

use serde::{Deserialize, Serialize};

use super::Category;

/// The share of words, in percent, that two wordings of one thing must have in common. Work is told with more words once it
/// is done.
const fn same_share(category: Category) -> usize {
    if matches!(category, Category::Remaining | Category::Done) { 60 } else { 80 }
}

/// What two texts that name no file must have in common to be perhaps the same, in percent of the shorter one's words.
const LIKE: usize = 50;
/// A word that is neither number, path nor identifier has this bit.
const PLAIN: u64 = 1 << 63;

/// A text, reduced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sketch {
    /// All its words in order, with its category: equal only for equal texts.
    pub(super) key: u64,
    /// Its telling words, the rarest first, each once.
    pub(super) tokens: Vec<u64>,
    /// Its numbers, paths and identifiers, as one number.
    pub(super) hard: u64,
    /// Its paths.
    files: Vec<u64>,
    share: usize,
    /// Whether it denies.
    pub(super) negated: bool,
    /// Its telling words without category and denial: equal for a thing and its opposite.
    pub(super) bare: u64,
    /// For `name is value`: the part before the value.
    pub(super) shape: Option<u64>,
}

/// The key of a text's sketch, without the rest of it.
pub(super) fn key(category: Category, text: &str) -> u64 {
    words(text).fold(mix(SEED, category as u64), |all, (_, word)| mix(all, hash(word.as_bytes())))
}

// Each piece between white space, with what is left of it without marks.
fn words(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = text.split(|c: char| c == ' ' || c == '`' || c == '*' || c.is_whitespace());
    parts.map(|raw| (raw, bare(raw))).filter(|(raw, word)| !word.is_empty() || matches!(*raw, "=" | ":"))
}

fn bare(raw: &str) -> &str {
    raw.trim_matches(|c: char| !(c.is_ascii_alphanumeric() || c.is_alphanumeric()))
}

/// Reduces a text.
pub(super) fn sketch(category: Category, text: &str) -> Sketch {
    let mut made = Sketch {
        key: mix(SEED, category as u64),
        tokens: Vec::with_capacity(12),
        hard: 0,
        files: Vec::new(),
        share: same_share(category),
        negated: false,
        bare: 0,
        shape: None,
    };
    let mut equals = false;
    for (raw, word) in words(text) {
        made.shape = equals.then_some(made.key);
        // "Decision: x" names no value of its own; "retry limit: 3" does.
        equals = word.is_empty() || raw.ends_with('=') || (raw.ends_with(':') && !made.tokens.is_empty());
        let (token, whole, kind) = token(word);
        made.key = mix(made.key, whole);
        match kind {
            Kind::Filler => {}
            Kind::Equals => equals = true,
            Kind::Denial => made.negated = !made.negated,
            Kind::Plain => made.tokens.push(token),
            Kind::Hard => {
                made.hard = made.hard.wrapping_add(whole);
                if is_path(word) && !made.files.contains(&whole) {
                    made.files.push(whole);
                }
                made.tokens.push(token);
            }
        }
    }
    made.tokens.sort_unstable();
    made.tokens.dedup();
    made.files.sort_unstable();
    made.bare = made.tokens.iter().fold(SEED, |all, t| mix(all, *t));
    made
}

impl Sketch {
    /// The words under which it is filed: two texts that share enough words share one of these.
    pub(super) fn filed(&self) -> &[u64] {
        let n = self.tokens.len();
        &self.tokens[..n.min(n + 1 - (n * self.share).div_ceil(100).min(n))]
    }

    /// Whether both surely say the same.
    pub(super) fn same(&self, other: &Self) -> bool {
        let (few, many) = if self.tokens.len() <= other.tokens.len() { (self, other) } else { (other, self) };
        self.negated == other.negated
            && self.hard == other.hard
            && few.tokens.len() * 100 >= many.tokens.len() * self.share
            && few.within(many)
    }

    /// How much speaks for both being about one thing: 0 when nothing does, more for a file that both name.
    pub(super) fn likeness(&self, other: &Self) -> usize {
        const FILE: usize = 1_000;
        if self.negated != other.negated || self.disagrees(other) {
            return 0;
        }
        let shared = self.tokens.iter().filter(|t| other.tokens.binary_search(t).is_ok()).count();
        let few = self.tokens.len().min(other.tokens.len());
        let same_file = !self.files.is_empty() && self.files == other.files;
        if same_file {
            return FILE + shared;
        }
        if shared >= 2 && shared * 100 >= few * LIKE { shared * 100 / few.max(1) } else { 0 }
    }

    /// Whether each names a number, path or identifier that the other does not.
    pub(super) fn disagrees(&self, other: &Self) -> bool {
        let lacks = |one: &Self, of: &Self| {
            of.tokens.iter().any(|t| t & PLAIN == 0 && one.tokens.binary_search(t).is_err())
        };
        lacks(self, other) && lacks(other, self)
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

/// Two numbers as one.
pub(super) const fn mix(all: u64, next: u64) -> u64 {
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

// Most words are none of these, which one look shows.
const MAYBE: [bool; 256] = {
    let (mut maybe, mut at) = ([false; 256], 0);
    while at < FILLER_HASHES.len() {
        maybe[(FILLER_HASHES[at] & 255) as usize] = true;
        if at < EQUALS_HASHES.len() {
            maybe[(EQUALS_HASHES[at] & 255) as usize] = true;
        }
        if at < DENIAL_HASHES.len() {
            maybe[(DENIAL_HASHES[at] & 255) as usize] = true;
        }
        at += 1;
    }
    maybe
};

// The first number sorts rare words (identifiers, long words) first; the second stands for the whole word.
fn token(word: &str) -> (u64, u64, Kind) {
    let bytes = word.as_bytes();
    let whole = hash(bytes);
    if bytes.is_empty() {
        return (0, whole, Kind::Filler);
    }
    let hard = bytes.iter().any(|b| b.is_ascii_digit() || matches!(b, b'_' | b'/' | b'.' | b':'));
    let kind = if !MAYBE[(whole & 255) as usize] {
        if hard { Kind::Hard } else { Kind::Plain }
    } else if FILLER_HASHES.contains(&whole) {
        Kind::Filler
    } else if EQUALS_HASHES.contains(&whole) {
        Kind::Equals
    } else if DENIAL_HASHES.contains(&whole) {
        Kind::Denial
    } else if hard {
        Kind::Hard
    } else {
        Kind::Plain
    };
    let stem = if hard { bytes } else { stem(present(bytes)) };
    let common = 127_u64.saturating_sub(stem.len() as u64) + if hard { 0 } else { 128 };
    ((common << 56) | (hash(stem) >> 8), whole, kind)
}

fn stem(word: &[u8]) -> &[u8] {
    let endings = [&b"ing"[..], b"ed", b"es", b"s", b"e"];
    let bare = endings.iter().find_map(|ending| word.strip_suffix(*ending).filter(|s| s.len() >= 3));
    let bare = bare.unwrap_or(word);
    // "stopping" and "stop", "adding" and "add".
    let doubled = matches!(bare, [_, .., a, b] if a == b);
    &bare[..bare.len() - usize::from(doubled)]
}

const IRREGULAR: [(&str, &str); 22] = [
    ("wrote", "write"),
    ("written", "write"),
    ("built", "build"),
    ("made", "make"),
    ("ran", "run"),
    ("did", "do"),
    ("done", "do"),
    ("kept", "keep"),
    ("sent", "send"),
    ("found", "find"),
    ("chose", "choose"),
    ("chosen", "choose"),
    ("took", "take"),
    ("taken", "take"),
    ("gave", "give"),
    ("given", "give"),
    ("held", "hold"),
    ("broke", "break"),
    ("broken", "break"),
    ("drew", "draw"),
    ("threw", "throw"),
    ("tore", "tear"),
];

fn present(word: &[u8]) -> &[u8] {
    let known = IRREGULAR.iter().find(|(form, _)| word.eq_ignore_ascii_case(form.as_bytes()));
    known.map_or(word, |(_, present)| present.as_bytes())
}

fn is_path(word: &str) -> bool {
    let named =
        |(name, end): (&str, &str)| !name.is_empty() && end.starts_with(|c: char| c.is_ascii_alphabetic());
    word.contains('/') || word.rsplit_once('.').is_some_and(named)
}
