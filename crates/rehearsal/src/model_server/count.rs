//! How many tokens a text has: 4 characters each, or as a vocabulary counts them that the caller brings along.
//!
//! A conversation is sent again with every request, so what a piece counts is remembered by its fingerprint: a request
//! costs as much as the text that is new in it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::answer::Answer;
use super::conversation::{Piece, chars, tokens};

/// Counts the tokens of one text.
pub type Count = fn(&str) -> u64;

/// Counts, and remembers.
#[derive(Debug, Default)]
pub(super) struct Meter {
    count: Option<Count>,
    known: HashMap<u64, u64>,
}

impl Meter {
    pub(super) fn new(count: Option<Count>) -> Self {
        Self { count, known: HashMap::new() }
    }

    /// Tokens of these pieces together. By characters it is rounded up once, at the end.
    pub(super) fn prompt(&mut self, pieces: &[Piece]) -> u64 {
        let fixed: u64 = pieces.iter().filter_map(|piece| piece.worth).sum();
        let texts = pieces.iter().filter(|piece| piece.worth.is_none());
        match self.count {
            None => fixed + tokens(texts.map(|piece| chars(&piece.text)).sum()),
            Some(count) => fixed + texts.map(|piece| self.piece(count, &piece.text)).sum::<u64>(),
        }
    }

    /// Tokens of an answer: its text, and name and input of each call, and the reasoning.
    pub(super) fn answer(&self, answer: &Answer) -> u64 {
        let Some(count) = self.count else { return answer.tokens() };
        let calls: u64 =
            answer.calls.iter().map(|call| count(&format!("{}{}", call.name, call.input.text()))).sum();
        count(&answer.text) + calls + answer.reasoning
    }

    fn piece(&mut self, count: Count, text: &str) -> u64 {
        *self.known.entry(fingerprint(text)).or_insert_with(|| count(text))
    }
}

/// What tells one text from another.
pub(super) fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    static COUNTED: AtomicU64 = AtomicU64::new(0);

    fn words(text: &str) -> u64 {
        COUNTED.fetch_add(chars(text), Ordering::SeqCst);
        u64::try_from(text.split_whitespace().count()).unwrap_or(0)
    }

    #[test]
    fn a_request_costs_as_much_as_the_text_that_is_new_in_it() {
        let mut meter = Meter::new(Some(words));
        let piece = |text: &str| Piece { text: text.to_owned(), worth: None };
        let mut pieces =
            vec![piece("a task of six words here"), Piece { text: "picture".to_owned(), worth: Some(640) }];
        assert_eq!(meter.prompt(&pieces), 6 + 640);
        let after_one = COUNTED.load(Ordering::SeqCst);
        pieces.push(piece("two more"));
        assert_eq!(meter.prompt(&pieces), 8 + 640);
        assert_eq!(COUNTED.load(Ordering::SeqCst) - after_one, 8);
        assert_eq!(Meter::default().prompt(&pieces), (24_u64 + 8).div_ceil(4) + 640);
    }
}
