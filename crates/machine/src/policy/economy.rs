//! Where a session stops paying, beside where its window ends.
//!
//! Every call reads the whole conversation again, so from some point on a fresh session is cheaper; some providers charge
//! more for long prompts; and models lose track of very long ones. Whole numbers only: the same session always gets
//! the same lines.

use serde::{Deserialize, Serialize};

use crate::Price;
use crate::price::Rates;

/// Where a line lies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Where prices, growth and the model's table put it.
    #[default]
    Auto,
    /// Nowhere.
    Off,
    /// At so many tokens.
    At(u64),
}

/// The lines that do not come from the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Economy {
    /// Where a fresh session is cheaper.
    #[serde(default)]
    pub price: Place,
    /// Where the model begins to lose track.
    #[serde(default)]
    pub quality: Place,
    /// No session is used further than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u64>,
}

/// What put a line where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// A fresh session is cheaper.
    Price,
    /// Longer prompts cost more for each token.
    Step,
    /// The model loses track of longer prompts.
    Quality,
    /// Somebody set it.
    Set,
}

/// Two lines in tokens: between them a handoff waits for a good moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bound {
    pub(crate) soft: u64,
    pub(crate) hard: u64,
    pub(crate) cause: Cause,
}

/// What is known about a session and the handoff that would end it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Costs<'a> {
    /// What its model costs.
    pub(crate) price: Option<&'a Price>,
    /// Where its model begins to lose track.
    pub(crate) quality: Option<u64>,
    pub(crate) window: u64,
    /// Where the window itself ends the session.
    pub(crate) ends: u64,
    pub(crate) ceiling: u64,
    /// Tokens of its last call.
    pub(crate) fill: u64,
    /// Tokens of its first call.
    pub(crate) first: u64,
    /// Tokens that a call adds on average.
    pub(crate) growth: u64,
    /// Tokens that a successor reads again of what its predecessor had read.
    pub(crate) reread: u64,
    /// Calls until the work is done, where that can be told.
    pub(crate) to_go: Option<u64>,
}

/// What a handoff is worth at this moment, in millionths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worth {
    /// A call as the session stands.
    pub call_musd: u64,
    /// The same call in a fresh session.
    pub fresh_musd: u64,
    /// Calls after which the handoff has paid for itself.
    pub pays_back: u32,
}

/// Windows up to this size are used to the end unless a handoff saves much…
const SMALL_WINDOW: u64 = 272_000;
/// …which is this share of what the session costs, in 1/1,000…
const SAVES_MUCH: u128 = 250;
/// …and even then up to this share of the ceiling, in percent: each handoff is a risk too.
const LEAST_OF_SMALL: u64 = 60;
/// Where nothing is known about a model.
const QUALITY: u64 = 256_000;
/// A line that is set waits for a good moment in this last share before it, in percent.
const WAITS: u64 = 15;
/// Lines whose cost is within this of the cheapest are as good, in 1/1,000.
const AS_GOOD: u128 = 30;
/// Tokens of a checkpoint's text: the agent writes them, and its successor is sent them.
const CHECKPOINT: u64 = 1_500;
/// Re-read files come in calls of so many tokens each.
const READ_AT_ONCE: u64 = 8_000;
/// A session must come to some work, whatever that costs.
const LEAST_CALLS: u64 = 12;
/// Lines are compared from so many calls above what a successor begins with.
const FIRST_TRIED: u64 = 4;
const LEAST_WORK: u64 = 20_000;
/// Lines that are compared.
const TRIED: u64 = 64;

impl Economy {
    /// The nearest of the lines.
    pub(crate) fn bound(&self, costs: &Costs) -> Option<Bound> {
        let set = |tokens: u64, cause| Bound { soft: tokens / 100 * (100 - WAITS), hard: tokens, cause };
        let price = match self.price {
            Place::Off => None,
            Place::At(tokens) => Some(set(tokens, Cause::Price)),
            Place::Auto => costs.cheapest(),
        };
        let quality = match self.quality {
            Place::Off => None,
            Place::At(tokens) => Some(set(tokens, Cause::Quality)),
            Place::Auto => Some(set(costs.quality.unwrap_or(QUALITY), Cause::Quality)),
        };
        let most = self.most.map(|tokens| set(tokens, Cause::Set));
        let nearest = [price, quality, most].into_iter().flatten().min_by_key(|bound| bound.hard)?;
        Some(costs.with_some_work(nearest)).filter(|bound| bound.hard < costs.ends)
    }
}

impl Costs<'_> {
    /// What a successor holds when it has what its predecessor had.
    fn base(&self) -> u64 {
        self.first.saturating_add(self.reread)
    }

    fn growth(&self) -> u64 {
        self.growth.max(1)
    }

    /// What the handoff itself costs, in tokens times rate: its text, the new prompt and what is read again.
    fn handoff(&self, price: &Price) -> u128 {
        let rates = &price.rates;
        let reads = self.reread.div_ceil(READ_AT_ONCE);
        let cost = |tokens: u64, rate: u64| u128::from(tokens) * u128::from(rate);
        cost(CHECKPOINT, rates.output)
            + cost(self.base().saturating_add(CHECKPOINT), rates.cache_write)
            + cost(self.first, rates.cache_read) * u128::from(reads)
    }

    /// What reading the conversation costs in `calls` calls that begin at `from`, in tokens times rate.
    fn reading(&self, price: &Price, from: u64, calls: u64) -> u128 {
        let over = price.long.as_ref().map_or(u64::MAX, |long| long.over);
        let below = over.saturating_sub(from).div_ceil(self.growth()).min(calls);
        let part = |from: u64, calls: u64, rates: &Rates| {
            let (from, calls, growth) = (u128::from(from), u128::from(calls), u128::from(self.growth()));
            let read = from * calls + growth * calls * calls.saturating_sub(1) / 2;
            read * u128::from(rates.cache_read) + growth * calls * u128::from(rates.cache_write)
        };
        let long = price.long.as_ref().map_or(&price.rates, |long| &long.rates);
        let reached = from.saturating_add(below.saturating_mul(self.growth()));
        part(from, below, &price.rates) + part(reached, calls - below, long)
    }

    /// What a call costs on average, in thousandths of tokens times rate, when sessions are used up to a line.
    fn per_call(&self, price: &Price, line: u64) -> u128 {
        let calls = (line.saturating_sub(self.base()) / self.growth()).max(1);
        // The question for the checkpoint reads the conversation once more.
        let asks = self.reading(price, line, 1);
        (self.reading(price, self.base(), calls) + asks + self.handoff(price)) * 1_000 / u128::from(calls)
    }

    /// The lines between which a call costs about as little as it can.
    fn cheapest(&self) -> Option<Bound> {
        let price =
            self.price.filter(|price| price.rates.cache_read > 0 && !self.ends_before_it_pays(price))?;
        let least = self.base().saturating_add(FIRST_TRIED * self.growth());
        let step = price.long.as_ref().map(|long| long.over).filter(|over| *over < self.ends);
        let room = self.ends.checked_sub(least)?;
        let grid = (0..=TRIED).map(|n| least + room * n / TRIED);
        let lines =
            grid.chain(step.filter(|over| *over > least)).map(|line| (self.per_call(price, line), line));
        let lines: Vec<(u128, u64)> = lines.collect();
        let (best, at) = *lines.iter().min()?;
        let small = self.window <= SMALL_WINDOW;
        let at_the_end = self.per_call(price, self.ends);
        if small && at_the_end - best < at_the_end * SAVES_MUCH / 1_000 {
            return None;
        }
        let as_good =
            lines.iter().filter(|(cost, _)| *cost <= best + best * AS_GOOD / 1_000).map(|(_, line)| *line);
        let (soft, hard) = as_good.fold((at, at), |(low, high), line| (low.min(line), high.max(line)));
        let at_step = step.filter(|over| at <= *over && hard.saturating_add(self.growth()) >= *over);
        if let Some(over) = at_step {
            let hard = over.saturating_sub(self.growth()).max(least);
            return Some(Bound { soft: soft.min(hard), hard, cause: Cause::Step });
        }
        let floor = if small { self.ceiling / 100 * LEAST_OF_SMALL } else { 0 };
        Some(Bound { soft: soft.max(floor), hard: hard.max(floor), cause: Cause::Price })
    }

    /// The work is done before a handoff has paid for itself.
    fn ends_before_it_pays(&self, price: &Price) -> bool {
        self.to_go.is_some_and(|calls| {
            let fresh = self.reading(price, self.base(), calls) + self.handoff(price);
            self.reading(price, self.fill, calls) <= fresh + self.reading(price, self.fill, 1)
        })
    }

    fn with_some_work(&self, bound: Bound) -> Bound {
        let room = self.ceiling.saturating_sub(self.first);
        let work = LEAST_WORK.max(LEAST_CALLS * self.growth()).min(room / 2);
        let least = self.first.saturating_add(work);
        Bound { soft: bound.soft.max(least).min(bound.hard.max(least)), hard: bound.hard.max(least), ..bound }
    }

    /// What a handoff at this moment is worth; `None` where no price is known or it would never pay.
    pub(crate) fn worth(&self) -> Option<Worth> {
        let price = self.price?;
        let now = self.reading(price, self.fill, 1);
        let fresh = self.reading(price, self.base(), 1);
        let saved = now.checked_sub(fresh).filter(|saved| *saved > 0)?;
        let handoff = self.handoff(price) + now;
        let musd = |cost: u128| u64::try_from(cost / 1_000_000).unwrap_or(u64::MAX);
        let pays_back = u32::try_from(handoff.div_ceil(saved)).unwrap_or(u32::MAX);
        Some(Worth { call_musd: musd(now), fresh_musd: musd(fresh), pays_back })
    }
}

#[cfg(test)]
#[path = "economy_tests.rs"]
mod tests;
