//! How windows grow, as data: what was measured on real sessions, and draws that follow it.

use super::dice::Dice;

/// A distribution given by points of it: the share of values at or below, and the value. Between two points the value
/// grows geometrically as the share above shrinks by factors, which is how the tails of such measurements look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quantiles(pub &'static [(f64, f64)]);

/// Shares above are not looked at below this one: it is the last point's.
const LAST: f64 = 1e-5;

impl Quantiles {
    /// The value that this share of all values stays below.
    pub(crate) fn at(&self, share: f64) -> f64 {
        let depth = |share: f64| -(1.0 - share).max(LAST).ln();
        let wanted = depth(share);
        let Some(after) = self.0.iter().position(|(share, _)| depth(*share) >= wanted) else {
            return self.0.last().map_or(0.0, |(_, value)| *value);
        };
        let (share, value) = self.0[after];
        let Some((before_share, before)) = after.checked_sub(1).and_then(|before| self.0.get(before)) else {
            return value;
        };
        let (from, to) = (depth(*before_share), depth(share));
        let part = if to > from { (wanted - from) / (to - from) } else { 1.0 };
        before * (value / before).powf(part)
    }

    /// One draw.
    pub(crate) fn draw(&self, dice: &mut Dice) -> f64 {
        self.at(dice.share())
    }

    /// The mean, by evenly spread shares.
    pub(crate) fn mean(&self) -> f64 {
        const PARTS: u32 = 20_000;
        let sum: f64 = (0..PARTS).map(|n| self.at((f64::from(n) + 0.5) / f64::from(PARTS))).sum();
        sum / f64::from(PARTS)
    }
}

/// How the sessions of one kind of agent grow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Growth {
    /// What it is called on the command line.
    pub(crate) name: &'static str,
    /// Tokens that a call adds to the one before: results that it carries, and its own answer.
    pub(crate) per_call: Quantiles,
    /// Tokens of a session's first call.
    pub(crate) first: Quantiles,
}

/// Claude Code, 28,598 calls. Measured are the points from the median on; below it there is only "small".
pub(crate) const CLAUDE: Growth = Growth {
    name: "claude",
    per_call: Quantiles(&[
        (0.0, 30.0),
        (0.5, 611.0),
        (0.9, 2_876.0),
        (0.983_2, 10_000.0),
        (0.99, 13_479.0),
        (0.995_7, 20_000.0),
        (0.998_7, 30_000.0),
        (0.999, 31_519.0),
        (0.999_75, 50_000.0),
        (1.0, 78_006.0),
    ]),
    first: Quantiles(&[(0.0, 30_000.0), (0.5, 39_800.0), (0.9, 45_700.0), (1.0, 60_000.0)]),
};

/// Codex, 6,888 calls.
pub(crate) const CODEX: Growth = Growth {
    name: "codex",
    per_call: Quantiles(&[
        (0.0, 30.0),
        (0.5, 482.0),
        (0.9, 4_435.0),
        (0.99, 14_237.0),
        (0.999, 26_479.0),
        (1.0, 35_683.0),
    ]),
    first: Quantiles(&[(0.0, 8_000.0), (0.5, 12_900.0), (0.9, 27_600.0), (1.0, 40_000.0)]),
};

/// The weight of a tool result (`segue_machine::gauge::weigh`) for each of its tokens: as docs/gauge.md measures it, for a
/// vocabulary that takes 15 % more tokens than the one that the weights were fitted to. The ends are drawn a little further.
pub(crate) const WEIGHT_PER_TOKEN: Quantiles =
    Quantiles(&[(0.0, 2.6), (0.01, 2.92), (0.05, 3.08), (0.5, 3.48), (0.95, 3.86), (0.99, 4.19), (1.0, 4.5)]);

/// Tokens of an answer: words, tool input, thoughts. A part of the growth per call that nobody sees coming.
pub(crate) const ANSWER: Quantiles =
    Quantiles(&[(0.0, 20.0), (0.5, 350.0), (0.9, 1_100.0), (0.99, 3_000.0), (1.0, 8_000.0)]);

/// This project's own recordings of five CLIs (`crates/agents/cassettes`): 105 calls of a scripted model, so small and even.
pub(crate) const RECORDINGS: Growth = Growth {
    name: "recordings",
    per_call: Quantiles(&[
        (0.0, 11.0),
        (0.1, 33.0),
        (0.5, 216.0),
        (0.9, 844.0),
        (0.99, 2_036.0),
        (1.0, 3_061.0),
    ]),
    first: Quantiles(&[(0.0, 8_080.0), (0.5, 9_453.0), (0.9, 12_560.0), (1.0, 21_043.0)]),
};

/// Every growth there is, the default first.
pub(crate) const ALL: [Growth; 3] = [CLAUDE, CODEX, RECORDINGS];

#[cfg(test)]
#[path = "growth_tests.rs"]
mod tests;
