//! Prompt caching, simulated: what a request shares with an earlier one from its beginning on was cached.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::conversation::{Conversation, chars};

/// How many requests are remembered.
const DEPTH: usize = 64;

/// The prompts that were seen.
#[derive(Debug, Default)]
pub(super) struct Cache {
    seen: VecDeque<Vec<u64>>,
}

impl Cache {
    /// Tokens of this prompt that were seen before; it is remembered.
    pub(super) fn read(&mut self, conversation: &Conversation) -> u64 {
        if !conversation.caches {
            return 0;
        }
        let prompt: Vec<u64> = conversation.pieces.iter().map(|piece| fingerprint(piece)).collect();
        let shared = |earlier: &Vec<u64>| prompt.iter().zip(earlier).take_while(|(a, b)| a == b).count();
        let longest = self.seen.iter().map(shared).max().unwrap_or(0);
        self.seen.push_back(prompt);
        if self.seen.len() > DEPTH {
            self.seen.pop_front();
        }
        conversation.pieces.iter().take(longest).map(|piece| chars(piece)).sum::<u64>() / 4
    }
}

fn fingerprint(piece: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    piece.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_beginning_that_was_seen_is_cached() {
        let mut cache = Cache::default();
        let of = |texts: &[&str]| {
            let pieces = texts.iter().map(|text| (*text).to_owned()).collect();
            Conversation { caches: true, pieces, ..Conversation::default() }
        };
        assert_eq!(cache.read(&of(&["tools...", "task"])), 0);
        assert_eq!(cache.read(&of(&["other"])), 0);
        assert_eq!(cache.read(&of(&["tools...", "task", "more"])), 3);
        assert_eq!(cache.read(&of(&["tools...", "new task", "more"])), 2);
        assert_eq!(cache.read(&of(&["changed", "task", "more"])), 0);
        assert_eq!(cache.read(&Conversation { caches: false, ..of(&["tools...", "task"]) }), 0);
    }
}
