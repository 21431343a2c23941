//! Prompt caching, simulated: what a request shares with an earlier one from its beginning on was cached, where both name
//! the same key.

use std::collections::VecDeque;

use super::conversation::Conversation;
use super::count::{Meter, fingerprint};

/// How many requests are remembered.
const DEPTH: usize = 64;

/// The prompts that were seen, each with its key.
#[derive(Debug, Default)]
pub(super) struct Cache {
    seen: VecDeque<(Option<String>, Vec<u64>)>,
}

impl Cache {
    /// Tokens of this prompt that were seen before; it is remembered.
    pub(super) fn read(&mut self, conversation: &Conversation, meter: &mut Meter) -> u64 {
        if !conversation.caches {
            return 0;
        }
        let prompt: Vec<u64> = conversation.pieces.iter().map(|piece| fingerprint(&piece.text)).collect();
        let shared = |(key, earlier): &(Option<String>, Vec<u64>)| {
            let same = *key == conversation.cache_key;
            if same { prompt.iter().zip(earlier).take_while(|(a, b)| a == b).count() } else { 0 }
        };
        let longest = self.seen.iter().map(shared).max().unwrap_or(0);
        self.seen.push_back((conversation.cache_key.clone(), prompt));
        if self.seen.len() > DEPTH {
            self.seen.pop_front();
        }
        meter.prompt(&conversation.pieces[..longest])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_beginning_that_was_seen_is_cached() {
        let mut cache = Cache::default();
        let of = |texts: &[&str]| {
            let mut talk = Conversation { caches: true, ..Conversation::default() };
            texts.iter().for_each(|text| talk.text(text));
            talk
        };
        let mut meter = Meter::default();
        let mut read = |talk: &Conversation| cache.read(talk, &mut meter);
        assert_eq!(read(&of(&["tools...", "task"])), 0);
        assert_eq!(read(&of(&["other"])), 0);
        assert_eq!(read(&of(&["tools...", "task", "more"])), 3);
        assert_eq!(read(&of(&["tools...", "new task", "more"])), 2);
        assert_eq!(read(&of(&["changed", "task", "more"])), 0);
        assert_eq!(read(&Conversation { caches: false, ..of(&["tools...", "task"]) }), 0);
        let keyed = |key: &str| Conversation { cache_key: Some(key.to_owned()), ..of(&["tools...", "task"]) };
        assert_eq!((read(&keyed("a")), read(&keyed("b")), read(&keyed("a"))), (0, 0, 3));
    }
}
