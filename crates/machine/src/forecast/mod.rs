//! How a session's window will fill: learned from what its calls added so far, from this repository's earlier
//! sessions where there were enough, and from measured sessions until then.
//!
//! Whole numbers and a fixed amount of work for each call: the same readings always give the same forecast.

mod calibration;
mod history;
mod prior;
mod sketch;
mod sums;
mod trend;

use serde::{Deserialize, Serialize};

use calibration::Calibration;
pub use history::Growth;
pub use sketch::Sketch;
use sketch::{Fit, Mixture, WHOLE};
use sums::{Known, Pending, Sums};
use trend::{Hint, Trend};

/// Calls that an interval of growth looks ahead.
pub const AHEAD: u32 = 5;

/// Calls that a session must have grown by before there is a forecast of its own.
pub const LEAST_CALLS: u32 = 10;

/// Calls of this repository from which on its history is used.
pub const LEAST_HISTORY: u64 = 200;

/// A call of this session weighs so much in its sketch…
const CALL: u32 = 4_096;
/// …and loses this part of it with each later one: half after 166 calls.
const FADE: u32 = 240;
/// What is known from elsewhere weighs as much as so many calls of this session.
const BASE_CALLS: u64 = 24;
/// Where a line is drawn from it, more than in an interval that is to be short.
const FAR_CALLS: u64 = 80;

/// The ends of an interval before it is calibrated, in 1/1,000. Growth has a long tail to one side only: the shortest
/// interval that holds nine times in ten leaves almost nothing out below.
const LOW: u32 = 2;
const HIGH: u32 = 936;

/// Growth in tokens: where it lies nine times in ten, and its middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// It is seldom less.
    pub low: u64,
    /// As often more as less.
    pub middle: u64,
    /// It is seldom more.
    pub high: u64,
}

/// Calls until the ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallsLeft {
    /// Seldom fewer.
    pub low: u32,
    /// The best guess.
    pub middle: u32,
    /// Seldom more.
    pub high: u32,
}

/// What a forecast rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// This session, and measured sessions of others.
    Session,
    /// This session, and so many calls of earlier sessions in this repository.
    Repository(u64),
}

/// What one session's calls add, and how fast they come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forecast {
    base: Sketch,
    base_five: Sketch,
    /// Calls of the repository that `base` holds; 0 for measured sessions.
    history: u64,
    /// What one call added, what it added beside known results, what four and five in a row did.
    each: Sketch,
    rest: Sketch,
    four: Sketch,
    five: Sketch,
    /// The last four calls, newest last.
    last: [u64; 4],
    /// Tokens of results that calls usually carry, and what all calls added.
    usual: u64,
    sum: u64,
    trend: Trend,
    /// Every call of this session once, for the repository's history.
    counted: Growth,
    calibration: Calibration,
    pending: u64,
    said: u64,
    /// What the first call of this context held.
    first: Option<u64>,
    read_at: Option<u64>,
    pace_ms: Option<u64>,
}

impl Forecast {
    /// A forecast for a new session, with what is known of its repository.
    pub fn new(history: Option<&Growth>) -> Self {
        let history = history.filter(|growth| growth.calls() >= LEAST_HISTORY);
        let base = history.map_or_else(prior::measured, |growth| growth.sketch().clone());
        Self {
            base_five: sums::of_five(&base),
            base,
            history: history.map_or(0, Growth::calls),
            each: Sketch::default(),
            rest: Sketch::default(),
            four: Sketch::default(),
            five: Sketch::default(),
            last: [0; 4],
            usual: 0,
            sum: 0,
            trend: Trend::default(),
            counted: Growth::default(),
            calibration: Calibration::default(),
            pending: 0,
            said: 0,
            first: None,
            read_at: None,
            pace_ms: None,
        }
    }

    /// Results and messages that the next call will carry, in estimated tokens.
    pub fn add_pending(&mut self, tokens: u64) {
        self.pending = self.pending.saturating_add(tokens);
    }

    /// What the agent has said since its last reading, in estimated tokens.
    pub fn add_said(&mut self, tokens: u64) {
        self.said = self.said.saturating_add(tokens);
    }

    /// A call was read: it holds `tokens`, the one before held `before`. `after` tokens came after it already.
    pub fn read(&mut self, call: u32, before: Option<u64>, tokens: u64, after: u64, at: u64) {
        if let Some(before) = before {
            self.learn(tokens.saturating_sub(before));
        }
        if let Some(last) = self.read_at {
            // A pause of a day is no pace: one call moves it by at most its fourfold.
            let took = at.saturating_sub(last);
            let pace = self.pace_ms.unwrap_or(took);
            let took = took.min(pace.saturating_mul(4).max(1));
            self.pace_ms = Some(if self.pace_ms.is_some() { pace / 8 * 7 + took / 8 } else { took });
        }
        self.read_at = Some(at);
        self.first = self.first.or(Some(tokens));
        (self.pending, self.said) = (after, 0);
        self.calibration.settle(call, tokens);
        let told = self.growth();
        self.calibration.promise(call, tokens, told);
    }

    fn learn(&mut self, grown: u64) {
        for sketch in [&mut self.each, &mut self.rest, &mut self.four, &mut self.five] {
            sketch.fade(FADE);
        }
        let three = self.last[1..].iter().fold(grown, |sum, call| sum.saturating_add(*call));
        self.each.add(grown, CALL);
        if let Pending::Usual(known) = self.known() {
            self.rest.add(grown.saturating_sub(known), CALL);
        }
        self.usual =
            if self.counted.calls() == 0 { self.pending } else { self.usual / 16 * 15 + self.pending / 16 };
        self.sum = self.sum.saturating_add(grown);
        self.trend.learn(self.pending, grown);
        self.counted.count(grown);
        if self.counted.calls() >= 4 {
            self.four.add(three, CALL);
        }
        if self.counted.calls() >= 5 {
            self.five.add(three.saturating_add(self.last[0]), CALL);
        }
        self.last.rotate_left(1);
        self.last[3] = grown;
    }

    /// The context was cut.
    pub fn cut(&mut self) {
        self.calibration.forget();
        self.first = None;
        (self.pending, self.said) = (0, 0);
    }

    /// Whether enough was seen to go by: some calls of this session, or this repository's history.
    pub fn is_there(&self) -> bool {
        self.history > 0 || self.counted.calls() >= u64::from(LEAST_CALLS)
    }

    /// What it rests on.
    pub fn basis(&self) -> Basis {
        if self.history > 0 { Basis::Repository(self.history) } else { Basis::Session }
    }

    /// What the first call of this context held: instructions, tools and the prompt.
    pub fn first(&self) -> Option<u64> {
        self.first
    }

    /// The calls of this session.
    pub fn counted(&self) -> &Growth {
        &self.counted
    }

    /// What the next five calls add, with what is already known to be in the first.
    pub fn growth(&self) -> Interval {
        self.calibration.stretch(self.raw())
    }

    /// The same for another number of calls, at most 12: they are taken to be independent of each other.
    pub fn growth_of(&self, calls: u32) -> Interval {
        if calls == AHEAD {
            return self.growth();
        }
        let (each, rest) = (self.mix(&self.base, &self.each), self.mix(&self.base, &self.rest));
        let known =
            (self.pending > 0 || self.said > 0).then(|| Known { pending: self.known(), said: self.said });
        let sums = Sums::independent(calls.clamp(1, 12), known, &each, &rest);
        self.calibration.stretch(sums.interval())
    }

    /// What one call adds on average, as far as this session and what is known from elsewhere tell.
    pub fn mean(&self) -> u64 {
        self.mix(&self.base, &self.each).moments(u64::MAX).0
    }

    /// What one call adds at most, but for `missed` calls in 10,000.
    pub fn largest(&self, missed: u32) -> u64 {
        let part = WHOLE - missed.min(10_000) * (WHOLE / 10_000);
        // A quiet session may still read a large file: the base is taken as it is.
        Mixture::new(&self.base, self.base_weight(), Fit::NONE, &self.each).quantile(part)
    }

    /// What the next five calls add at most, but for `missed` times in 1,000. One long session more or less hardly moves
    /// it.
    pub fn far(&self, missed: u32) -> u64 {
        let weight = FAR_CALLS * u64::from(CALL);
        let five = Mixture::new(&self.base_five, weight, Fit::NONE, &self.five);
        five.quantile(WHOLE - missed.min(1_000) * (WHOLE / 1_000))
    }

    /// Calls until `room` tokens are used up.
    pub fn calls_left(&self, room: u64) -> CallsLeft {
        const DEVIATIONS_16THS: u64 = 24;
        let mean = self.mix(&self.base, &self.each).moments(room.max(1)).0;
        let (_, of_five) = self.mix(&self.base_five, &self.five).moments(room.max(1).saturating_mul(2));
        let spread = isqrt(of_five / u128::from(AHEAD)) * DEVIATIONS_16THS / 16;
        let room = room.saturating_sub(self.pending.max(self.said));
        let calls = |sign: i32| until(room, mean.max(1), spread, sign);
        CallsLeft { low: calls(1), middle: calls(0), high: calls(-1) }
    }

    /// Time between two calls.
    pub fn pace_ms(&self) -> Option<u64> {
        self.pace_ms
    }

    fn raw(&self) -> Interval {
        if let Some(even) = self.even() {
            return even;
        }
        let found = if self.pending == 0 && self.said == 0 {
            let five = self.mix(&self.base_five, &self.five);
            let part = |per_mille: u32| five.quantile(WHOLE / 1_000 * per_mille);
            Interval { low: part(LOW), middle: part(500), high: part(HIGH) }
        } else {
            let known = Known { pending: self.known(), said: self.said };
            let (four, rest) = (self.mix(&self.base_five, &self.four), self.mix(&self.base, &self.rest));
            let sums = Sums::new(known, &four, &rest);
            sums.interval()
        };
        // Three calls in a row may be the beginning of a new pace.
        let pace = self.last[1..].iter().min().copied().unwrap_or(0).saturating_mul(10);
        Interval { high: found.high.max(pace), ..found }
    }

    // Calls that are all alike add up as their mean and deviation say, which is closer than any count of sums.
    fn even(&self) -> Option<Interval> {
        let calls = self.counted.calls();
        if calls < u64::from(LEAST_CALLS) {
            return None;
        }
        let (mean, variance) = self.each_alone().moments(u64::MAX);
        let total = self.sum / calls.max(1);
        let uneven = variance * 16 > u128::from(mean) * u128::from(mean) || mean.abs_diff(total) > total / 8;
        let large = matches!(self.known(), Pending::Large(waiting) if waiting > total.saturating_mul(2));
        if uneven || large {
            return None;
        }
        let hint = if self.pending == 0 { Hint::default() } else { self.trend.hint(self.pending) };
        let five = self.sum.saturating_mul(u64::from(AHEAD)) / calls.max(1);
        let middle = five.saturating_add_signed(hint.shift);
        // The mean itself is known the less the fewer calls it comes from.
        let doubt = variance * u128::from(AHEAD * AHEAD) / u128::from(calls);
        let wide = isqrt((variance * u128::from(AHEAD) + doubt).saturating_sub(hint.explained)) * 28 / 16;
        Some(Interval { low: middle.saturating_sub(wide), middle, high: middle.saturating_add(wide) })
    }

    fn each_alone(&self) -> Mixture {
        Mixture::new(&Sketch::default(), 0, Fit::NONE, &self.each)
    }

    // How many tokens a text is can only be estimated, so small differences tell little: a usual amount is drawn to the
    // middle, and a quarter of it is left to what is learned about the rest.
    fn known(&self) -> Pending {
        if self.pending > self.usual.saturating_mul(3) {
            return Pending::Large(self.pending);
        }
        let near = self.pending.abs_diff(self.usual) <= self.usual / 3;
        let drawn = if near { self.pending.midpoint(self.usual) } else { self.pending };
        Pending::Usual(drawn / 4 * 3)
    }

    fn mix(&self, base: &Sketch, seen: &Sketch) -> Mixture {
        let fit = Fit::new(base, seen, seen.total() / u64::from(CALL));
        Mixture::new(base, self.base_weight(), fit, seen)
    }

    fn base_weight(&self) -> u64 {
        BASE_CALLS * u64::from(CALL)
    }
}

// The n with n·mean ± spread·√n = room, as a quadratic in √n; sixteenths keep it whole.
fn until(room: u64, mean: u64, spread: u64, sign: i32) -> u32 {
    let (room, mean, spread) = (u128::from(room), u128::from(mean), u128::from(spread));
    let root = u128::from(isqrt(256 * (spread * spread + 4 * mean * room)));
    let side = 16 * spread;
    let root = match sign {
        1 => root.saturating_sub(side),
        0 => u128::from(isqrt(256 * 4 * mean * room)),
        _ => root + side,
    };
    let calls = root * root / (4 * 256 * mean * mean);
    u32::try_from(calls).unwrap_or(u32::MAX).min(9_999)
}

fn isqrt(n: u128) -> u64 {
    u64::try_from(n.isqrt()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "forecast_tests.rs"]
mod tests;
