//! What models cost, for agents that do not say so themselves.
//!
//! The figures are data (`prices.json`), each with the day and the place where it was looked up. A model that is not in
//! it has an unknown price: nothing is guessed from a name that looks alike, and unknown is never 0.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use segue_machine::{LongPrompt, Price, Rates};
use serde::Deserialize;

use crate::windows::plain_name;

const DATA: &str = include_str!("prices.json");

static TABLE: LazyLock<BTreeMap<String, Price>> = LazyLock::new(|| read(DATA).unwrap_or_default());

/// Dollars per million tokens as they are written down.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Written {
    input: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    cache_write_1h: Option<f64>,
    output: f64,
}

#[derive(Debug, Deserialize)]
struct Row {
    models: Vec<String>,
    #[serde(flatten)]
    usual: Written,
    long: Option<Long>,
    date: String,
    source: String,
}

#[derive(Debug, Deserialize)]
struct Long {
    over: u64,
    #[serde(flatten)]
    written: Written,
}

/// The prices that segue knows, by the model's name.
pub fn table() -> &'static BTreeMap<String, Price> {
    &TABLE
}

/// The price of a model by its name, which may carry a provider before it and a date after it. What the user configured
/// comes first.
pub fn find(model: &str, configured: &BTreeMap<String, Price>) -> Option<Price> {
    let name = plain_name(model);
    let of_user = configured.get(model).or_else(|| configured.get(&name));
    of_user.or_else(|| TABLE.get(&name)).cloned()
}

/// Rates from dollars per million tokens. Where the price of a cache is not known it is that of fresh input, so that a
/// sum is rather too high than too low.
pub fn rates(
    input: u64,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    cache_write_1h: Option<u64>,
    output: u64,
) -> Rates {
    let cache_write = cache_write.unwrap_or(input);
    Rates {
        input,
        cache_read: cache_read.unwrap_or(input),
        cache_write,
        cache_write_1h: cache_write_1h.unwrap_or(cache_write),
        output,
    }
}

impl Written {
    fn rates(self) -> Rates {
        rates(
            millionths(self.input),
            self.cache_read.map(millionths),
            self.cache_write.map(millionths),
            self.cache_write_1h.map(millionths),
            millionths(self.output),
        )
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a price of our own list")]
fn millionths(dollars: f64) -> u64 {
    (dollars * 1e6).round() as u64
}

fn read(data: &str) -> Result<BTreeMap<String, Price>, serde_json::Error> {
    let rows: Vec<Row> = serde_json::from_str(data)?;
    let priced = rows.into_iter().flat_map(|row| {
        let long = row.long.map(|long| LongPrompt { over: long.over, rates: long.written.rates() });
        let price = Price { rates: row.usual.rates(), long, date: row.date, source: row.source };
        row.models.into_iter().map(move |model| (model, price.clone()))
    });
    Ok(priced.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_can_be_read_and_every_price_has_a_date_and_a_source() {
        let table = read(DATA).unwrap();
        assert!(table.len() >= 20, "{}", table.len());
        for (model, Price { rates, long, date, source }) in &table {
            assert!(date.starts_with("2026-") && !source.is_empty(), "{model}");
            assert!(
                rates.input > 0 && rates.cache_read < rates.input && rates.output > rates.input,
                "{model}"
            );
            assert!(rates.cache_write_1h >= rates.cache_write && rates.cache_write >= rates.input, "{model}");
            let dearer =
                long.is_none_or(|l| l.rates.input > rates.input && l.rates.cache_read > rates.cache_read);
            assert!(dearer, "{model}");
        }
    }

    #[test]
    fn a_model_is_found_with_its_provider_and_date_and_a_look_alike_is_not() {
        let none = BTreeMap::new();
        for name in
            ["claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5", "Claude-Sonnet-4-5@20250929"]
        {
            assert_eq!(find(name, &none).unwrap().rates.input, 3_000_000, "{name}");
        }
        assert_eq!(find("claude-opus-5-5[1m]", &none).unwrap().rates.cache_read, 200_000);
        for name in
            ["", "scripted", "gpt-5.5-mini", "claude-opus-5-9", "claude-sonnet-4-5[1m]", "qwen3-coder-plus"]
        {
            assert_eq!(find(name, &none), None, "{name}");
        }
    }

    #[test]
    fn what_the_user_configured_comes_first() {
        let price = Price {
            rates: rates(7, None, None, None, 9),
            long: None,
            date: String::new(),
            source: String::new(),
        };
        let mine =
            BTreeMap::from([("gpt-5.5".to_owned(), price.clone()), ("house".to_owned(), price.clone())]);
        assert_eq!(find("openai/gpt-5.5-2026-03-01", &mine), Some(price.clone()));
        assert_eq!(find("house", &mine), Some(price.clone()));
        assert_eq!((price.rates.cache_read, price.rates.cache_write, price.rates.cache_write_1h), (7, 7, 7));
    }
}
