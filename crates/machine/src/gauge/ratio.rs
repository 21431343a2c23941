//! Characters per token, learned from what calls grew by.

/// A running ratio. Starts at what tool results of real sessions measure (2.5 characters a token), not at the usual
/// 4, which underestimates them by 40 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    chars: u64,
    tokens: u64,
}

const PRIOR: Ratio = Ratio { chars: 2_500, tokens: 1_000 };
const LEAST_SAMPLE: u64 = 400;
const MEMORY: u64 = 200_000;

impl Default for Ratio {
    fn default() -> Self {
        PRIOR
    }
}

impl Ratio {
    /// Learns from one call: this much text came in, and the call grew by so many tokens.
    pub fn learn(&mut self, chars: u64, tokens: u64) {
        let plausible = tokens > 0 && (tokens..=tokens.saturating_mul(8)).contains(&chars);
        if chars < LEAST_SAMPLE || !plausible {
            return;
        }
        self.chars = self.chars.saturating_add(chars);
        self.tokens = self.tokens.saturating_add(tokens);
        while self.chars > MEMORY {
            self.chars = (self.chars / 2).max(1);
            self.tokens = (self.tokens / 2).max(1);
        }
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
            ratio.learn(20_000, 5_000);
        }
        let error = ratio.tokens(40_000).abs_diff(10_000);
        assert!(error <= 400, "{error}");
    }

    #[test]
    fn a_call_that_grew_for_other_reasons_teaches_nothing() {
        let mut ratio = Ratio::default();
        ratio.learn(1_000, 50_000);
        ratio.learn(500_000, 3);
        ratio.learn(10, 5);
        assert_eq!(ratio, Ratio::default());
    }
}
