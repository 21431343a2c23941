//! The user's rules, read from the task: they are kept for ever and come first.

use super::merge::Entry;
use super::{Category, Ledger, Origin};
use crate::checkpoint::sentences;

const RULES: [&str; 13] = [
    "never ",
    "always ",
    "must not ",
    "do not ",
    "don't ",
    "may not ",
    "must never ",
    "under no circumstances",
    "shall not ",
    "must always ",
    "not allowed",
    "must be ",
    "must ",
];

impl Ledger {
    /// Takes the user's rules in: sentences and list items that say never, always, must, do not.
    pub fn rules(&mut self, task: &str) {
        self.index.catch_up(&self.items);
        let origin = self.from(&Origin { agent: "user".to_owned(), ..Origin::default() });
        for text in sentences(task) {
            if is_rule(&text) {
                let entry =
                    Entry { category: Category::Rule, text: &text, weight: 3, evidence: "the user's task" };
                self.take_in(&entry, origin);
            }
        }
    }
}

fn is_rule(text: &str) -> bool {
    let words = format!(" {} ", text.to_lowercase().replace('’', "'").replace("**", ""));
    let starts = |at: usize| !words[..at].ends_with(char::is_alphanumeric);
    !text.ends_with('?') && RULES.iter().any(|r| words.match_indices(r).any(|(at, _)| starts(at)))
}
