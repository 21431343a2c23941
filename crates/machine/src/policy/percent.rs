//! Percentages as hundredths of a percent, so that a line is crossed at an exact token and not near one.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A share of the ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Percent(u32);

impl Percent {
    /// A whole number of percent.
    pub const fn whole(percent: u32) -> Self {
        Self(percent.saturating_mul(100))
    }

    /// The nearest hundredth of a percent.
    pub fn from_f64(percent: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to the range before"
        )]
        Self((percent * 100.0).round().clamp(0.0, f64::from(u32::MAX)) as u32)
    }

    /// What share `part` is of `whole`; `None` when there is no whole.
    pub fn of(part: u64, whole: u64) -> Option<Self> {
        let hundredths = (u128::from(part) * 10_000).checked_div(u128::from(whole))?;
        Some(Self(u32::try_from(hundredths).unwrap_or(u32::MAX)))
    }

    /// Whether `part` of `whole` is at or past this share.
    pub fn reached(self, part: u64, whole: u64) -> bool {
        whole > 0 && u128::from(part) * 10_000 >= u128::from(self.0) * u128::from(whole)
    }

    /// This share of `whole`, rounded down.
    pub fn part_of(self, whole: u64) -> u64 {
        u64::try_from(u128::from(whole) * u128::from(self.0) / 10_000).unwrap_or(u64::MAX)
    }

    /// Hundredths of a percent.
    pub fn hundredths(self) -> u32 {
        self.0
    }

    /// Moved in the proportion in which `from` moves to `to`.
    #[must_use]
    pub fn scale(self, from: Self, to: Self) -> Self {
        let scaled = (u64::from(self.0) * u64::from(to.0)).checked_div(u64::from(from.0));
        scaled.and_then(|s| u32::try_from(s).ok()).map_or(self, Self)
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 100, self.0 % 100);
        match (rest, rest % 10) {
            (0, _) => write!(f, "{whole}%"),
            (_, 0) => write!(f, "{whole}.{}%", rest / 10),
            _ => write!(f, "{whole}.{rest:02}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m7_the_line_is_crossed_at_an_exact_token() {
        let line = Percent::whole(70);
        assert!(line.reached(140_000, 200_000));
        assert!(!line.reached(139_999, 200_000));
        for (tokens, crossed) in [(89_000, false), (89_999, false), (90_000, true), (91_000, true)] {
            assert_eq!(Percent::whole(90).reached(tokens, 100_000), crossed, "{tokens}");
        }
    }

    #[test]
    fn m4_more_than_the_whole_reads_more_than_a_hundred() {
        assert_eq!(Percent::of(250_000, 200_000).map(|p| p.to_string()).as_deref(), Some("125%"));
        assert_eq!(Percent::of(1, 0), None);
        assert!(!Percent::whole(70).reached(5, 0));
    }
}
