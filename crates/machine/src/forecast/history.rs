//! What the sessions of one repository grew by, kept from run to run.

use serde::{Deserialize, Serialize};

use super::sketch::Sketch;

/// Growth per model call of sessions that are over, each call counted once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Growth {
    calls: u64,
    sketch: Sketch,
}

/// Calls from which on the oldest half is given away.
const MOST: u64 = 20_000;

impl Growth {
    /// Counts a call.
    pub fn count(&mut self, grown: u64) {
        self.calls = self.calls.saturating_add(1);
        self.sketch.add(grown, 1);
    }

    /// Adds another session.
    pub fn merge(&mut self, other: &Self) {
        self.sketch.merge(&other.sketch);
        self.calls = self.calls.saturating_add(other.calls);
        if self.calls > MOST {
            self.sketch.fade(2);
            self.calls = self.sketch.total();
        }
    }

    /// How many calls it rests on.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// The calls by size.
    pub fn sketch(&self) -> &Sketch {
        &self.sketch
    }
}
