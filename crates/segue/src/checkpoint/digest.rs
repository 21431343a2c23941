//! Which sentences of long prose are worth passing on when not all of it fits: those with words that stand nowhere else.
//!
//! What an agent says along the way repeats itself ("I look at the next file"); what it found out has names, numbers and
//! words of its own. No word is looked for, only how rare each is among everything that was said.

use std::collections::{BTreeMap, BTreeSet};

/// Longer sentences are listings and logs.
const LONGEST: usize = 600;
/// A word that is longer is a piece of data, or writing without spaces.
const LONGEST_WORD: usize = 64;
/// What a sentence costs beside its own characters, so that the shortest do not win by being short.
const OVERHEAD: usize = 40;

/// The sentences of `texts` that say most, in their order, in at most so many characters. Words are counted in `texts` and
/// in `quoted`, what is passed on anyway.
pub(super) fn digest<'a>(texts: &[&'a str], quoted: &[&str], room: usize) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    let elsewhere: Vec<BTreeSet<String>> =
        quoted.iter().flat_map(|text| sentences(text)).filter(|s| seen.insert(*s)).map(words).collect();
    let mut candidates: Vec<Candidate<'a>> = Vec::new();
    for (at, text) in texts.iter().flat_map(|text| sentences(text)).enumerate() {
        if text.len() <= LONGEST && seen.insert(text) {
            let size = text.chars().count();
            candidates.push(Candidate { at, text, size, words: words(text) });
        }
    }
    let mut known = BTreeMap::<String, u32>::new();
    for word in elsewhere.iter().chain(candidates.iter().map(|candidate| &candidate.words)).flatten() {
        *known.entry(word.clone()).or_default() += 1;
    }
    // A word that is passed on already adds nothing the second time.
    known.retain(|word, _| !elsewhere.iter().any(|words| words.contains(word)));
    let mut kept: Vec<(usize, &str)> = Vec::new();
    let mut left = room;
    while let Some(best) = best(&candidates, &known, left) {
        let candidate = candidates.swap_remove(best);
        left = left.saturating_sub(candidate.cost());
        known.retain(|word, _| !candidate.words.contains(word));
        kept.push((candidate.at, candidate.text));
    }
    kept.sort_unstable();
    kept.into_iter().map(|(_, text)| text).collect()
}

struct Candidate<'a> {
    at: usize,
    text: &'a str,
    size: usize,
    words: BTreeSet<String>,
}

impl Candidate<'_> {
    // With the marks of a quoted line.
    fn cost(&self) -> usize {
        self.size + 3
    }

    fn worth(&self, known: &BTreeMap<String, u32>) -> f64 {
        let rare: f64 =
            self.words.iter().filter_map(|word| known.get(word)).map(|n| 1.0 / f64::from(*n)).sum();
        rare / f64::from(u32::try_from(self.size + OVERHEAD).unwrap_or(u32::MAX))
    }
}

// Of equals the newest.
fn best(candidates: &[Candidate<'_>], known: &BTreeMap<String, u32>, room: usize) -> Option<usize> {
    let fitting = candidates.iter().enumerate().filter(|(_, candidate)| candidate.cost() <= room);
    let ranked = fitting.map(|(n, candidate)| (n, candidate.worth(known), candidate.at));
    ranked
        .filter(|(_, worth, _)| *worth > 0.0)
        .max_by(|a, b| a.1.total_cmp(&b.1).then(a.2.cmp(&b.2)))
        .map(|best| best.0)
}

/// The end of a text, from the beginning of a sentence on, in at most so many characters.
pub(super) fn tail(text: &str, room: usize) -> &str {
    let mut from = text.len();
    for sentence in sentences(text).collect::<Vec<_>>().into_iter().rev() {
        let start = sentence.as_ptr().addr() - text.as_ptr().addr();
        if text[start..].chars().count() > room {
            break;
        }
        from = start;
    }
    &text[from..]
}

// A line ends one, and a mark with a space after it, or such a mark of writing without spaces.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    let pieces = std::iter::from_fn(move || {
        let ends = |(at, c): &(usize, char)| match c {
            '\n' | '。' | '！' | '？' => true,
            '.' | '!' | '?' => rest[at + 1..].starts_with(char::is_whitespace),
            _ => false,
        };
        let end = rest.char_indices().find(ends).map_or(rest.len(), |(at, c)| at + c.len_utf8());
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece.trim())
    });
    pieces.filter(|piece| !piece.is_empty())
}

// What stands between spaces, and its parts: a path and each of its names. Where words are not parted, each pair of characters.
fn words(sentence: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for token in sentence.split_whitespace() {
        let token = token.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let parts =
            token.split(|c: char| !c.is_alphanumeric() && c != '_').map(|part| part.trim_matches('_'));
        for part in parts.chain([token.as_str()]) {
            let spaced = part.chars().all(|c| u32::from(c) < 0x2E80);
            let chars: Vec<char> = part.chars().collect();
            if !spaced {
                words.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
            } else if (2..=LONGEST_WORD).contains(&chars.len()) {
                words.insert(part.to_owned());
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c9_sentences_with_words_of_their_own_are_kept_before_what_is_said_again_and_again() {
        let files = ["parser", "reader", "writer", "cursor"];
        let chatter = |n: usize| {
            format!("I look at the {} in line {} now. It reads well enough. ", files[n % 4], n * 7 % 50)
        };
        let many = |n: usize| (0..n).map(chatter).collect::<String>();
        for found in [
            "Amounts are kept in tenths of a cent because of Oslo.",
            "金额以十分之一分为单位保存。",
            "See src/io/feed.rs:118.",
        ] {
            let text = format!("{} {found} {}", many(9), many(100));
            let kept = digest(&[&text], &[], 100);
            assert!(kept.contains(&found), "{kept:?}");
            assert!(kept.iter().map(|s| s.chars().count() + 3).sum::<usize>() <= 100);
        }
    }

    #[test]
    fn c9_what_is_passed_on_anyway_or_was_kept_already_is_not_kept_again() {
        let texts = ["Port 7411 is taken. The port 7411 is taken already. Oslo bills tenths."];
        assert_eq!(digest(&texts, &[], 1_000), ["The port 7411 is taken already.", "Oslo bills tenths."]);
        assert_eq!(
            digest(&texts, &["The port 7411 is taken already, as I said."], 1_000),
            ["Oslo bills tenths."]
        );
    }

    #[test]
    fn sentences_stay_in_order_and_dots_inside_words_end_none() {
        let text = "Use v1.2 of a.rs here.\nThen: port 7411! Größer geht nicht? 好。行。";
        let all: Vec<&str> = sentences(text).collect();
        assert_eq!(all, ["Use v1.2 of a.rs here.", "Then: port 7411!", "Größer geht nicht?", "好。", "行。"]);
        assert_eq!(digest(&[text], &[], 1_000), all[..3]);
        assert_eq!(tail(text, 26), "Größer geht nicht? 好。行。");
        assert_eq!((tail(text, 1), tail(text, 1_000)), ("", text));
    }
}
