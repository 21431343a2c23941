//! What tokens cost. Prices come in from outside, with each session's model: the machine knows no vendor, and a replay
//! needs no price list.

use serde::{Deserialize, Serialize};

use crate::Reading;

/// Rates in millionths of a dollar per million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rates {
    /// Prompt tokens that no cache knew.
    pub input: u64,
    /// Prompt tokens read from a cache.
    pub cache_read: u64,
    /// Prompt tokens written to a cache, for minutes.
    pub cache_write: u64,
    /// Prompt tokens written to a cache, for an hour.
    pub cache_write_1h: u64,
    /// Tokens of the answer.
    pub output: u64,
}

/// Rates of their own for long prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongPrompt {
    /// A prompt of more tokens than this is long, cached ones included.
    pub over: u64,
    /// What every token of such a call costs.
    pub rates: Rates,
}

/// The price of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// What tokens cost.
    pub rates: Rates,
    /// What they cost in a call with a long prompt, where that is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongPrompt>,
    /// When the price was looked up.
    #[serde(default)]
    pub date: String,
    /// Where it was looked up.
    #[serde(default)]
    pub source: String,
}

impl Price {
    /// What a call cost, in millionths of a dollar. Where only a total is known, all of it counts as fresh input.
    pub fn of(&self, reading: &Reading) -> u64 {
        let prompt = reading.prompt().or(reading.total).unwrap_or(0);
        let rates =
            self.long.as_ref().filter(|long| prompt > long.over).map_or(&self.rates, |long| &long.rates);
        let for_an_hour = reading.cache_write_1h.min(reading.cache_write);
        let parts = match reading.input {
            Some(input) => vec![
                (input, rates.input),
                (reading.cache_read, rates.cache_read),
                (reading.cache_write - for_an_hour, rates.cache_write),
                (for_an_hour, rates.cache_write_1h),
                (reading.output.unwrap_or(0), rates.output),
            ],
            None => vec![(prompt, rates.input)],
        };
        let millionths = parts
            .iter()
            .fold(0_u128, |sum, (tokens, rate)| sum.saturating_add(u128::from(*tokens) * u128::from(*rate)));
        u64::try_from(millionths.saturating_add(500_000) / 1_000_000).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price() -> Price {
        let rates = Rates {
            input: 3_000_000,
            cache_read: 300_000,
            cache_write: 3_750_000,
            cache_write_1h: 6_000_000,
            output: 15_000_000,
        };
        Price { rates, long: None, date: String::new(), source: String::new() }
    }

    #[test]
    fn each_part_of_a_call_has_its_own_rate() {
        let price = price();
        let of = |input, read, write, output| price.of(&Reading::exact(input, read, write, output));
        assert_eq!(of(1_000_000, 0, 0, 0), 3_000_000);
        assert_eq!(of(0, 1_000_000, 0, 0), 300_000);
        assert_eq!(of(0, 0, 1_000_000, 0), 3_750_000);
        assert_eq!(of(0, 0, 0, 1_000_000), 15_000_000);
        assert_eq!(of(100, 20_000, 1_000, 400), 300 + 6_000 + 3_750 + 6_000);
        let hour = Reading { cache_write_1h: 400, ..Reading::exact(0, 0, 1_000, 0) };
        assert_eq!(price.of(&hour), 600 * 3_750 / 1_000 + 400 * 6);
    }

    #[test]
    fn a_long_prompt_is_charged_at_its_own_rates_cached_tokens_included() {
        let long = LongPrompt { over: 200_000, rates: Rates { cache_read: 600_000, ..price().rates } };
        let price = Price { long: Some(long), ..price() };
        assert_eq!(price.of(&Reading::exact(0, 200_000, 0, 0)), 60_000);
        assert_eq!(price.of(&Reading::exact(0, 200_001, 0, 0)), 120_001);
    }

    #[test]
    fn a_total_counts_as_fresh_input_and_absurd_counts_do_not_wrap() {
        assert_eq!(price().of(&Reading::reported(10_000, None)), 30_000);
        assert_eq!(price().of(&Reading::exact(u64::MAX, u64::MAX, u64::MAX, u64::MAX)), u64::MAX);
    }
}
