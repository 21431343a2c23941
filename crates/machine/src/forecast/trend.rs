//! How much what is known to be waiting says about what the next call adds: a straight line through this session's calls.
//! Lengths are a poor measure of tokens, so in a session of even calls they say little, and the line is nearly flat.

use serde::{Deserialize, Serialize};

/// Calls after which the line counts by half.
const DOUBT: i128 = 8;

/// A line that explains less than so many calls' worth of variance may be there by chance.
const BY_CHANCE: i128 = 6;

/// Sums over the calls of a session, for a line from what was waiting to what was added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Trend {
    calls: i128,
    waiting: i128,
    grown: i128,
    both: i128,
    squares: i128,
    squares_grown: i128,
}

/// What is known about the next call beside its mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Hint {
    /// How much more or less than the mean it should add.
    pub(super) shift: i64,
    /// How much of the variance of one call that explains.
    pub(super) explained: u128,
}

impl Trend {
    /// Takes in a call.
    pub(super) fn learn(&mut self, waiting: u64, grown: u64) {
        // Far beyond any window; keeps the sums of squares in their range.
        const MOST: u64 = 1 << 24;
        let (waiting, grown) = (i128::from(waiting.min(MOST)), i128::from(grown.min(MOST)));
        self.calls += 1;
        self.waiting += waiting;
        self.grown += grown;
        self.both += waiting * grown;
        self.squares += waiting * waiting;
        self.squares_grown += grown * grown;
    }

    /// What this much waiting says about the next call.
    pub(super) fn hint(&self, waiting: u64) -> Hint {
        let along = self.calls * self.both - self.waiting * self.grown;
        let spread = self.calls * self.squares - self.waiting * self.waiting;
        let spread_grown = self.calls * self.squares_grown - self.grown * self.grown;
        if self.calls < 3 || along <= 0 || spread <= 0 || spread_grown <= 0 {
            return Hint::default();
        }
        // The share of the variance that the line explains, in 1/1,024; what chance would explain is no trend.
        let share = along * 1_024 / spread * along / spread_grown;
        if share * self.calls < BY_CHANCE * 1_024 {
            return Hint::default();
        }
        let slope = (along * 1_024 / spread).min(1_024) * self.calls / (self.calls + DOUBT);
        let off = i128::from(waiting) - self.waiting / self.calls;
        let shift = (slope * off / 1_024).clamp(i128::from(i64::MIN), i128::from(i64::MAX));
        let explained = slope * (along / (self.calls * self.calls)) / 1_024;
        Hint { shift: i64::try_from(shift).unwrap_or(0), explained: u128::try_from(explained).unwrap_or(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_counts_as_far_as_it_counted_before() {
        let mut all = Trend::default();
        let mut noise = Trend::default();
        for n in 0..200_u64 {
            all.learn(100 * (n % 7), 50 + 100 * (n % 7));
            noise.learn(100 * (n % 7), 300 + 10 * (n % 3));
        }
        assert!((270..=300).contains(&all.hint(600).shift), "{:?}", all.hint(600));
        assert!(noise.hint(600).shift.abs() < 5, "{:?}", noise.hint(600));
        assert_eq!(Trend::default().hint(9_000), Hint::default());
    }

    #[test]
    fn sizes_beyond_any_window_do_no_harm() {
        let mut trend = Trend::default();
        (0..10).for_each(|n| trend.learn(u64::MAX, u64::MAX - n));
        assert_eq!(trend.hint(u64::MAX), Hint::default());
        trend.learn(0, 0);
        assert!(trend.hint(u64::MAX).shift > 0);
    }
}
