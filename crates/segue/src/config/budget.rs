//! What may be spent beside the limits of a run, and what models cost by the user's own account.

use std::collections::BTreeMap;

use segue_machine::{DayLimits, Price, Rates};

use crate::config::key::KeyPath;
use crate::config::layers::{Entry, Layers};
use crate::config::problem::{ConfigErrors, Problem, Trouble};
use crate::config::resolve::{count, millis, money, names_in, text, tokens, yes};
use crate::config::settings::BudgetSettings;
use crate::config::value::Value;

/// Everything about spending that is no limit of a run.
pub(crate) fn resolve(layers: &Layers, problems: &mut Vec<Problem>) -> BudgetSettings {
    let of_agent = |name: &str| money(layers.values().get(&KeyPath::named("agent", name, "max_cost")));
    let agents = names_in(layers.values(), "agent");
    BudgetSettings {
        day: day(layers),
        unkept: false,
        allow_unknown_cost: yes(layers.get("budget.allow_unknown_cost")),
        agents: agents.into_keys().filter_map(|name| Some((name.to_owned(), of_agent(name)?))).collect(),
        prices: prices(layers, problems),
    }
}

/// The limits of a day.
pub(crate) fn day(layers: &Layers) -> DayLimits {
    DayLimits {
        cost_musd: money(layers.get("budget.day.cost_usd")),
        tokens: tokens(layers.get("budget.day.tokens")),
        sessions: count(layers.get("budget.day.sessions")),
        wall_ms: millis(layers.get("budget.day.wall")),
    }
}

/// What models cost by the configuration.
///
/// # Errors
/// A price of which a part is missing.
pub(crate) fn configured_prices(layers: &Layers) -> Result<BTreeMap<String, Price>, ConfigErrors> {
    let mut problems = Vec::new();
    let found = prices(layers, &mut problems);
    ConfigErrors::check(problems)?;
    Ok(found)
}

fn prices(layers: &Layers, problems: &mut Vec<Problem>) -> BTreeMap<String, Price> {
    let mut prices = BTreeMap::new();
    for (model, first) in names_in(layers.values(), "prices") {
        let get = |leaf| layers.values().get(&KeyPath::named("prices", model, leaf));
        let (Some(input), Some(output)) = (rate(get("input")), rate(get("output"))) else {
            let missing = if rate(get("input")).is_none() { "input" } else { "output" };
            let key = KeyPath::dotted("prices").child(model).to_string();
            let why =
                format!("{missing} is missing; for example: {missing} = 3.0, in dollars per million tokens");
            problems.push(Problem::at(&first.from, Trouble::BadValue { key, why }));
            continue;
        };
        let cache_write = rate(get("cache_write")).unwrap_or(input);
        let rates = Rates {
            input,
            cache_read: rate(get("cache_read")).unwrap_or(input),
            cache_write,
            cache_write_1h: rate(get("cache_write_1h")).unwrap_or(cache_write),
            output,
        };
        let date = text(get("date")).unwrap_or_default();
        prices
            .insert(model.to_owned(), Price { rates, long: None, date, source: "configuration".to_owned() });
    }
    prices
}

fn rate(entry: Option<&Entry>) -> Option<u64> {
    match entry.map(|entry| &entry.value) {
        Some(Value::Price(rate)) => Some(*rate),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::layers::Source;
    use crate::config::{Flags, resolve as whole};

    fn layers(text: &str) -> Layers {
        let source = Source { name: "segue.toml".to_owned(), bytes: text.as_bytes().to_vec() };
        Layers::from_sources(Ok(None), Ok(Some(source)), [], &Flags::default()).unwrap()
    }

    #[test]
    fn prices_days_and_agents_are_read_as_people_write_them() {
        let text = "agents = [\"claude\"]\n[budget.day]\ncost_usd = 20\ntokens = \"5M\"\nsessions = 9\nwall = \"8h\"\n\
                    [agent.claude]\nmax_cost = 2.5\n[prices.\"gpt-5.6\"]\ninput = 3\noutput = \"15.00\"\ncache_read = 0\n\
                    date = \"2026-11-16\"\n[limits]\nsessions = 4\n";
        let settings = whole(&layers(text)).unwrap();
        let budget = &settings.budget;
        assert_eq!((budget.day.cost_musd, budget.day.tokens), (Some(20_000_000), Some(5_000_000)));
        assert_eq!((budget.day.sessions, budget.day.wall_ms), (Some(9), Some(8 * 3_600_000)));
        assert_eq!((budget.agents["claude"], settings.limits.sessions), (2_500_000, Some(4)));
        let price = &budget.prices["gpt-5.6"];
        let rates = price.rates;
        assert_eq!((rates.input, rates.cache_read, rates.output), (3_000_000, 0, 15_000_000));
        assert_eq!((rates.cache_write, rates.cache_write_1h), (3_000_000, 3_000_000));
        assert_eq!((price.date.as_str(), budget.allow_unknown_cost), ("2026-11-16", false));
    }

    #[test]
    fn a_price_without_its_output_is_told_where_it_stands() {
        let error = whole(&layers("agents = [\"claude\"]\n[prices.x]\ninput = 3\n")).unwrap_err().to_string();
        assert!(
            error.contains("segue.toml:3")
                && error.contains("prices.x")
                && error.contains("output is missing"),
            "{error}"
        );
    }
}
