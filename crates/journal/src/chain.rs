//! The hash chain over the events of a run: each link covers its event and, through the link before it, all earlier ones.
//!
//! A chain shows that something was changed, not by whom. What keeps somebody from computing a new one is that a link of the
//! old one was put down elsewhere.

use std::fmt::Write;

use crate::row::{Entry, RunRow};

/// The first words of what is hashed: another format begins with others.
const FORMAT: &[u8] = b"segue journal 1";

/// What tells a state in the chain from an event.
const STATE: &[u8] = b"segue journal state";

/// A link of the chain, after the event with this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The number of the last event that it covers; 0 covers only the run's row.
    pub seq: u64,
    /// Its hash.
    pub hash: [u8; 32],
}

impl Link {
    /// The link before the first event: the run's own row, without what changes in it.
    pub(crate) fn first(run: &RunRow) -> Self {
        let mut hash = blake3::Hasher::new();
        hash.update(FORMAT);
        for text in [&run.id, &run.task, &run.agent, &run.policy] {
            add(&mut hash, text);
        }
        hash.update(&run.created_at.to_le_bytes());
        Self { seq: 0, hash: *hash.finalize().as_bytes() }
    }

    /// The link after one more event.
    pub(crate) fn next(&self, entry: &Entry<'_>) -> Self {
        let mut hash = blake3::Hasher::new();
        hash.update(&self.hash);
        hash.update(&entry.seq.to_le_bytes());
        hash.update(&entry.at.to_le_bytes());
        add(&mut hash, entry.event);
        add(&mut hash, entry.effects);
        Self { seq: entry.seq, hash: *hash.finalize().as_bytes() }
    }

    /// The link after the state was stored that these events lead to: what follows covers it, too.
    pub(crate) fn with_state(&self, version: &str, state: &[u8]) -> Self {
        let mut hash = blake3::Hasher::new();
        hash.update(&self.hash);
        hash.update(STATE);
        add(&mut hash, version);
        hash.update(blake3::hash(state).as_bytes());
        Self { seq: self.seq, hash: *hash.finalize().as_bytes() }
    }

    /// The hash in hexadecimal.
    #[must_use]
    pub fn hex(&self) -> String {
        self.hash.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// What a look at the whole chain has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Integrity {
    /// Every link fits; this is the last one.
    Whole(Link),
    /// Something does not fit.
    Broken {
        /// At which event.
        seq: u64,
        /// What does not.
        what: &'static str,
    },
}

// With its length, so that no two lists of texts are hashed alike.
fn add(hash: &mut blake3::Hasher, text: &str) {
    hash.update(&(text.len() as u64).to_le_bytes());
    hash.update(text.as_bytes());
}
