//! How far models keep track of what they were told, as far as somebody published it.
//!
//! A table kept as data, with its date. A model that is not in it is unknown; the machine has a value for that.

use crate::windows::plain_name;

/// The day on which the table was last looked through.
pub const AS_OF: &str = "2026-11-19";

/// What is known of models whose names begin alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// How the names begin.
    pub models: &'static str,
    /// Tokens up to which most is found again.
    pub tokens: u64,
    /// Where the number comes from.
    pub source: &'static str,
}

const OPUS: &str = "Anthropic for Claude Opus 4.6: MRCR v2 with 8 needles, 93 % at 256k and 76 % at 1M";
const GEMINI: &str =
    "Google for Gemini 2.5 Pro: MRCR v2 with 8 needles, 58 % up to 128k and 16 % at 1M; nothing between";

/// The table.
pub const TABLE: &[Entry] = &[
    Entry { models: "claude-opus-4-6", tokens: 256_000, source: OPUS },
    Entry { models: "claude-opus-4-8", tokens: 256_000, source: OPUS },
    Entry { models: "claude-opus-5", tokens: 256_000, source: OPUS },
    Entry { models: "gemini-2.5-pro", tokens: 200_000, source: GEMINI },
];

/// Where a model begins to lose track, by its name.
pub fn find(model: &str) -> Option<u64> {
    let name = plain_name(model);
    TABLE.iter().find(|entry| name.starts_with(entry.models)).map(|entry| entry.tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_found_with_its_provider_and_date_and_others_are_unknown() {
        assert_eq!(find("anthropic/claude-opus-5-5[1m]"), Some(256_000));
        assert_eq!(find("google/gemini-2.5-pro"), Some(200_000));
        assert_eq!(find("gpt-6.1-sol"), None);
        assert!(TABLE.iter().all(|entry| !entry.source.is_empty()) && AS_OF.starts_with("2026-"));
    }
}
