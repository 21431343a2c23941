//! A sentence as words, with what Markdown and punctuation put around them.

use super::paths::paths;

/// One word as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<'t>(pub(super) &'t str);

/// The words of a text.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    text.split_whitespace().map(Word).collect()
}

impl Word<'_> {
    /// Without marks around it.
    pub(super) fn bare(self) -> String {
        let word = self.0.trim_matches(|c: char| !c.is_alphanumeric());
        word.to_lowercase().replace('’', "'")
    }

    /// The one path that it is, if it is nothing else.
    pub(super) fn path(self) -> Option<String> {
        match paths(self.0).as_slice() {
            [path] => Some(path.clone()),
            _ => None,
        }
    }

    /// The hash that it is.
    pub(super) fn hash(self) -> Option<String> {
        let word = self.bare();
        let hex = (7..=40).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_hexdigit());
        let mixed = word.bytes().any(|b| b.is_ascii_digit());
        (hex && mixed && (word.bytes().any(|b| b.is_ascii_alphabetic()) || self.0.contains('`')))
            .then_some(word)
    }

    /// Whether a part of the sentence ends with it.
    pub(super) fn closes(self) -> bool {
        self.0.trim_end_matches(['*', '`', '"']).ends_with([',', ';', ':', '.', ')', '!'])
    }
}

/// Whether something in a text denies, doubts, plans or asks.
pub(super) fn hedged(text: &str) -> bool {
    const HEDGES: &str = "not had no none never cannot without if unless until once would should could will may might \
        must need needs needed plan planned want to-do todo next later still remaining instead \
        try tried except but unchanged untouched reverted undid undone removed skipped failed \
        fails fail failing only earlier previously already temporarily temporary upstream \
        separately";
    let doubt = |word: &Word<'_>| {
        let bare = word.bare();
        bare.ends_with("n't") || HEDGES.split(' ').any(|hedge| hedge == bare)
    };
    text.trim_end().ends_with('?') || words(text).iter().any(doubt)
}
