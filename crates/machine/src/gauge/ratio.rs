//! Weight per token, learned from what calls grew by, and how far texts of this session were denser than that.

use serde::{Deserialize, Serialize};

/// A running ratio. Starts a quarter above what [`weigh`](super::weigh) says, because vocabularies differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ratio {
    chars: u64,
    tokens: u64,
    /// Weight that the spread rests on; a long text counts as much as one of [`MOST_WEIGHT`].
    weight: u64,
    /// By how much calls grew more than was expected: thousandths, squared, times their weight.
    squares: u64,
}

/// A sixteenth more or less, as if four long results had shown it: with [`WIDTH`] a fifth, above which the weight of one in a
/// hundred texts lies (docs/gauge.md).
const PRIOR: Ratio =
    Ratio { chars: 3_200, tokens: 1_000, weight: 4 * MOST_WEIGHT, squares: 4 * MOST_WEIGHT * 60 * 60 };
const LEAST_SAMPLE: u64 = 400;
const MEMORY: u64 = 200_000;
const MOST_WEIGHT: u64 = 10_000;
const SPREAD_MEMORY: u64 = 64 * MOST_WEIGHT;
/// No text counts as more than this many thousandths denser than expected.
const MOST_RESIDUAL: u64 = 1_500;
/// What a call may hold that nobody is shown (a reminder, a picture), in tokens: it says nothing of how dense texts are.
const UNSEEN: u64 = 600;
/// What is expected of a call from which its texts' density can be told, in tokens.
const LEAST_SHOWN: u64 = 2_000;
/// No session's texts are more alike than this, in thousandths.
const LEAST_SPREAD: u64 = 70;
/// How many tenths of the spread a bound lies above what is expected.
const WIDTH: u64 = 35;

impl Default for Ratio {
    fn default() -> Self {
        PRIOR
    }
}

impl Ratio {
    /// Learns from one call: this much text came in, and the call grew by so many tokens. `alike` is the length of one text
    /// that varies as much as all of it together.
    pub fn learn(&mut self, chars: u64, alike: u64, tokens: u64) {
        let plausible = tokens > 0 && (tokens..=tokens.saturating_mul(8)).contains(&chars);
        if chars < LEAST_SAMPLE || !plausible {
            return;
        }
        self.learn_spread(chars, alike.clamp(1, chars), tokens);
        self.chars = self.chars.saturating_add(chars);
        self.tokens = self.tokens.saturating_add(tokens);
        while self.chars > MEMORY {
            self.chars = (self.chars / 2).max(1);
            self.tokens = (self.tokens / 2).max(1);
        }
    }

    // Several texts even each other out, so what is seen of all of them is less than what one would show.
    fn learn_spread(&mut self, chars: u64, alike: u64, tokens: u64) {
        let expected = self.tokens(chars).max(1);
        if expected < LEAST_SHOWN {
            return;
        }
        let more = tokens.saturating_sub(expected + UNSEEN).saturating_mul(1_000) / expected;
        let residual = (more.saturating_mul(chars) / alike).min(MOST_RESIDUAL);
        let weight = chars.min(MOST_WEIGHT);
        self.weight = self.weight.saturating_add(weight);
        self.squares = self.squares.saturating_add(residual * residual * weight);
        while self.weight > SPREAD_MEMORY {
            self.weight = (self.weight / 2).max(1);
            self.squares /= 2;
        }
    }

    /// How many tokens more than expected a text of this length may be.
    pub fn spread(self, chars: u64) -> u64 {
        let thousandths = (self.squares / self.weight.max(1)).isqrt().max(LEAST_SPREAD);
        let tokens = u128::from(self.tokens(chars)) * u128::from(thousandths) * u128::from(WIDTH) / 10_000;
        u64::try_from(tokens).unwrap_or(u64::MAX)
    }

    /// How many tokens so much text is, rounded up.
    pub fn tokens(self, chars: u64) -> u64 {
        let tokens = (u128::from(chars) * u128::from(self.tokens)).div_ceil(u128::from(self.chars.max(1)));
        u64::try_from(tokens).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_near_the_truth_within_a_few_calls() {
        let mut ratio = Ratio::default();
        for _ in 0..4 {
            ratio.learn(20_000, 20_000, 5_000);
        }
        let error = ratio.tokens(40_000).abs_diff(10_000);
        assert!(error <= 400, "{error}");
    }

    #[test]
    fn a_call_that_grew_for_other_reasons_teaches_nothing() {
        let mut ratio = Ratio::default();
        ratio.learn(1_000, 1_000, 50_000);
        ratio.learn(500_000, 500_000, 3);
        ratio.learn(10, 10, 5);
        assert_eq!(ratio, Ratio::default());
    }

    #[test]
    fn the_bound_shrinks_with_results_that_are_alike_and_widens_with_dense_ones() {
        let mut ratio = Ratio::default();
        let at_first = ratio.tokens(28_000) + ratio.spread(28_000);
        assert!(at_first >= 28_000 / 3, "{at_first}");
        for _ in 0..20 {
            ratio.learn(28_000, 28_000, 7_100);
        }
        let bound = ratio.tokens(28_000) + ratio.spread(28_000);
        assert!((7_100..=9_600).contains(&bound), "{bound}");
        for _ in 0..4 {
            ratio.learn(20_000, 20_000, 11_000);
        }
        let after = ratio.tokens(28_000) + ratio.spread(28_000);
        assert!(after > bound * 3 / 2, "{after}");
    }
}
