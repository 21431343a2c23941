//! The machine's timers, on the wall clock: a deadline means the same after the computer has slept.

use std::collections::BTreeMap;
use std::time::Duration;

use segue_machine::{Millis, Timer};

use crate::clock;

/// How long to sleep at most before the clock is looked at again.
const LONGEST: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(super) struct Timers {
    set: BTreeMap<Timer, Millis>,
}

impl Timers {
    pub(super) fn set(&mut self, timer: Timer, at: Millis) {
        self.set.insert(timer, at);
    }

    pub(super) fn clear(&mut self, timer: Timer) {
        self.set.remove(&timer);
    }

    /// Waits for the next timer to run out and forgets it. Safe to drop and call again.
    pub(super) async fn next(&mut self) -> Timer {
        loop {
            let next = self.set.iter().min_by_key(|(_, at)| **at).map(|(timer, at)| (*timer, *at));
            let Some((timer, at)) = next else { std::future::pending().await };
            let left = Duration::from_millis(at.saturating_sub(clock::now()));
            if left.is_zero() {
                self.set.remove(&timer);
                return timer;
            }
            tokio::time::sleep(left.min(LONGEST)).await;
        }
    }
}
