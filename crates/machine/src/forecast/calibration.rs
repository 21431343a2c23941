//! Whether intervals hold as often as they say. Each one is looked at again five calls later, and the next ones are
//! drawn a little wider where it was missed and a little narrower where it was not: so they come to hold nine times
//! in ten whatever the session does.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::Interval;

const UNIT: u64 = 1_024;
const LEAST: u64 = UNIT / 8;
const MOST: u64 = UNIT * 8;

/// How much an end moves: out after a miss, in after a hit. The two balance at the share that may be missed.
#[derive(Debug, Clone, Copy)]
struct Step {
    out: u64,
    back: u64,
}

const ABOVE: Step = Step { out: 44, back: 4 };
const BELOW: Step = Step { out: 24, back: 1 };

/// How far an interval is stretched to either side, and those whose time has not come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Calibration {
    above: u64,
    below: u64,
    open: VecDeque<Open>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Open {
    call: u32,
    from: u64,
    interval: Interval,
}

impl Default for Calibration {
    fn default() -> Self {
        Self { above: UNIT, below: UNIT, open: VecDeque::new() }
    }
}

impl Calibration {
    /// The interval as it is to be told.
    pub(super) fn stretch(&self, raw: Interval) -> Interval {
        let up = (raw.high - raw.middle).saturating_mul(self.above) / UNIT;
        let down = (raw.middle - raw.low).saturating_mul(self.below) / UNIT;
        Interval {
            low: raw.middle.saturating_sub(down),
            middle: raw.middle,
            high: raw.middle.saturating_add(up),
        }
    }

    /// Remembers what was told about the five calls after this one.
    pub(super) fn promise(&mut self, call: u32, from: u64, interval: Interval) {
        if self.open.len() >= 16 {
            self.open.pop_front();
        }
        self.open.push_back(Open { call, from, interval });
    }

    /// A call was read: learns from the promise that was about it.
    pub(super) fn settle(&mut self, call: u32, tokens: u64) {
        while let Some(open) = self.open.front().filter(|open| open.call + super::AHEAD <= call) {
            if open.call + super::AHEAD == call {
                let grown = tokens.saturating_sub(open.from);
                self.above = moved(self.above, ABOVE, grown > open.interval.high);
                self.below = moved(self.below, BELOW, grown < open.interval.low);
            }
            self.open.pop_front();
        }
    }

    /// The context was cut: what was promised about it is void.
    pub(super) fn forget(&mut self) {
        self.open.clear();
    }
}

fn moved(stretch: u64, step: Step, missed: bool) -> u64 {
    let to = if missed { stretch + stretch * step.out / UNIT } else { stretch - stretch * step.back / UNIT };
    to.clamp(LEAST, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_that_are_missed_get_wider_and_others_slowly_narrower() {
        let raw = Interval { low: 500, middle: 1_000, high: 2_000 };
        let mut calibration = Calibration::default();
        for call in 0..60 {
            calibration.promise(call, 0, raw);
            calibration.settle(call, 3_000);
        }
        assert!(calibration.stretch(raw).high > 3_000);
        let mut calibration = Calibration::default();
        for call in 0..60 {
            calibration.promise(call, 0, raw);
            calibration.settle(call, 1_000);
        }
        let told = calibration.stretch(raw);
        assert!(told.low > 500 && told.high < 2_000 && told.middle == 1_000, "{told:?}");
    }
}
