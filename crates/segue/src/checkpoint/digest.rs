//! Which sentences of long prose are worth passing on when not all of it fits: those with words that stand nowhere else.
//!
//! What an agent says along the way repeats itself ("I look at the next file"); what it found out has names, numbers and
//! words of its own. No word is looked for, only how rare each is among everything that was said.

use std::collections::{BTreeMap, BTreeSet};

/// Longer sentences are listings and logs.
const LONGEST: usize = 400;
/// A word that is longer is an id or a piece of data.
const LONGEST_WORD: usize = 24;
const SHORTEST_WORD: usize = 3;
/// What a sentence costs beside its own characters, so that the shortest do not win by being short.
const OVERHEAD: usize = 40;

/// The sentences of `texts` that say most, in their order, in at most so many characters; `about` is everything that
/// words are counted in.
pub(super) fn digest<'a>(texts: &[&'a str], about: &[&str], room: usize) -> Vec<&'a str> {
    let mut sentences_with = BTreeMap::<String, u32>::new();
    let mut known = BTreeSet::new();
    for sentence in about.iter().flat_map(|text| sentences(text)).filter(|s| known.insert(*s)) {
        for word in words(sentence) {
            *sentences_with.entry(word).or_default() += 1;
        }
    }
    let mut seen = BTreeSet::new();
    let candidates = texts.iter().flat_map(|text| sentences(text)).enumerate();
    let mut ranked: Vec<(f64, usize, &str)> = candidates
        .filter(|(_, sentence)| sentence.len() <= LONGEST && seen.insert(*sentence))
        .map(|(at, sentence)| {
            let counted = words(sentence).into_iter().filter_map(|word| sentences_with.get(&word).copied());
            let rare: f64 = counted.map(|sentences| 1.0 / f64::from(sentences)).sum();
            let cost = u32::try_from(sentence.len() + OVERHEAD).unwrap_or(u32::MAX);
            (rare / f64::from(cost), at, sentence)
        })
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    let mut used = 0;
    ranked.retain(|(_, _, sentence)| {
        let size = sentence.chars().count() + 3;
        let fits = used + size <= room;
        used += if fits { size } else { 0 };
        fits
    });
    ranked.sort_by_key(|(_, at, _)| *at);
    ranked.into_iter().map(|(_, _, sentence)| sentence).collect()
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let ends = |(at, c): &(usize, char)| {
        *c == '\n' || (matches!(c, '.' | '!' | '?') && text[at + 1..].starts_with(char::is_whitespace))
    };
    let mut cuts: Vec<usize> = text.char_indices().filter(ends).map(|(at, _)| at + 1).collect();
    cuts.push(text.len());
    let starts = std::iter::once(0).chain(cuts.clone());
    let pieces: Vec<&str> = starts.zip(cuts).map(|(from, to)| text[from..to].trim()).collect();
    pieces.into_iter().filter(|piece| !piece.is_empty())
}

fn words(sentence: &str) -> BTreeSet<String> {
    let plain = |word: &str| word.trim_matches('_').to_lowercase();
    let fits = |word: &String| (SHORTEST_WORD..=LONGEST_WORD).contains(&word.chars().count());
    let words = sentence.split(|c: char| !c.is_alphanumeric() && c != '_').map(plain);
    words.filter(fits).collect()
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
        let found = "Amounts are kept in tenths of a cent because of Oslo.";
        let text = format!("{} {found} {}", many(9), many(100));
        let kept = digest(&[&text], &[&text], 300);
        assert!(kept.contains(&found), "{kept:?}");
        assert!(kept.iter().map(|s| s.chars().count() + 3).sum::<usize>() <= 300);
    }

    #[test]
    fn sentences_stay_in_order_and_dots_inside_words_end_none() {
        let text = "Use v1.2 of a.rs here.\nThen: port 7411! Größer geht nicht?";
        let all: Vec<&str> = sentences(text).collect();
        assert_eq!(all, ["Use v1.2 of a.rs here.", "Then: port 7411!", "Größer geht nicht?"]);
        assert_eq!(digest(&[text], &[text], 1_000), all);
    }
}
