//! How full a session's window is: the last main-thread call, and an estimate of what came after it.

mod ratio;
mod weight;

use serde::{Deserialize, Serialize};

use crate::policy::Percent;
use crate::{Reading, Scope, Source};

pub use ratio::Ratio;
pub use weight::weigh;

/// Tokens as people write them: `200000`, `200k`, `1M`, `1.5m`, `200_000`.
pub fn parse_tokens(text: &str) -> Option<u64> {
    let plain: String = text.trim().chars().filter(|c| *c != '_' && *c != ',').collect();
    let (number, unit) = match plain.char_indices().last()? {
        (i, 'k' | 'K') => (&plain[..i], 1_000.0),
        (i, 'm' | 'M') => (&plain[..i], 1_000_000.0),
        _ => (plain.as_str(), 1.0),
    };
    if unit > 1.0 {
        let value: f64 = number.trim().parse().ok()?;
        let tokens = value * unit;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be in range"
        )]
        return (tokens.is_finite() && (0.0..1e15).contains(&tokens)).then_some(tokens.round() as u64);
    }
    number.parse().ok()
}

/// What became of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It is the gauge's new value; the number tells the call, counted from 1.
    Call(u32),
    /// The same call again.
    Again,
    /// It is the new value, and so far below the last one that the context must have been cut.
    Fell(u32),
    /// It is more than the window holds; a second one like it will be believed.
    Doubted,
    /// It says nothing about this window: a side call, or all zero.
    Ignored,
}

/// How full one session's window is. Starts empty with each session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gauge {
    window: Option<u64>,
    ceiling: Option<u64>,
    budget: Option<u64>,
    last: Option<u64>,
    last_call: Option<String>,
    doubted: Option<u64>,
    source: Source,
    pending_chars: u64,
    /// The squares of the texts that they are made of, added up.
    pending_squares: u128,
    added_since: bool,
    ratio: Ratio,
    calls: u32,
    tools: u32,
    blind: bool,
}

impl Gauge {
    /// An empty gauge. A window or ceiling of 0 is unknown; `budget` lowers the ceiling.
    pub fn new(window: Option<u64>, ceiling: Option<u64>, budget: Option<u64>, ratio: Ratio) -> Self {
        Self {
            window: window.filter(|w| *w > 0),
            ceiling: ceiling.filter(|c| *c > 0),
            budget: budget.filter(|b| *b > 0),
            last: None,
            last_call: None,
            doubted: None,
            source: Source::None,
            pending_chars: 0,
            pending_squares: 0,
            added_since: false,
            ratio,
            calls: 0,
            tools: 0,
            blind: false,
        }
    }

    /// Takes one model call's usage.
    pub fn read(&mut self, reading: &Reading) -> Taken {
        if reading.scope == Scope::Side {
            return Taken::Ignored;
        }
        if let Some(window) = reading.window.filter(|w| *w > 0) {
            self.window = Some(window);
        }
        if let Some(ceiling) = reading.ceiling.filter(|c| *c > 0) {
            self.ceiling = Some(ceiling);
        }
        let fill = reading.fill();
        if fill == 0 {
            return Taken::Ignored;
        }
        if self.is_doubtful(fill) && !self.confirms_doubt(fill) {
            self.doubted = Some(fill);
            return Taken::Doubted;
        }
        let same = match (&reading.call, &self.last_call) {
            (Some(now), Some(before)) => now == before,
            (None, None) => self.last.is_some() && !self.added_since,
            _ => false,
        };
        let fell = self.last.is_some_and(|last| fill < last / 10 * 6);
        if let Some(grown) = self.last.and_then(|last| fill.checked_sub(last)) {
            let alike = u64::try_from(self.pending_squares.isqrt()).unwrap_or(u64::MAX);
            self.ratio.learn(self.pending_chars.saturating_sub(reading.chars_after), alike, grown);
        }
        self.last = Some(fill);
        self.blind = false;
        self.last_call.clone_from(&reading.call);
        self.doubted = None;
        self.source = reading.source;
        self.pending_chars = reading.chars_after;
        self.pending_squares = square(reading.chars_after);
        self.added_since = reading.chars_after > 0;
        if same {
            return Taken::Again;
        }
        self.calls += 1;
        if fell { Taken::Fell(self.calls) } else { Taken::Call(self.calls) }
    }

    /// Takes in text that the next call will carry.
    pub fn add(&mut self, chars: u64) {
        self.pending_chars = self.pending_chars.saturating_add(chars);
        self.pending_squares = self.pending_squares.saturating_add(square(chars));
        self.added_since = true;
        if self.last.is_none() && self.window.is_some() {
            self.source = Source::Estimated;
        }
    }

    /// Takes over what is known of a conversation that is continued.
    pub fn carry(&mut self, from: &Self) {
        self.window = self.window.or(from.window);
        self.ceiling = self.ceiling.or(from.ceiling);
        self.last = from.last;
        self.last_call.clone_from(&from.last_call);
        self.source = from.source;
        self.pending_chars = from.pending_chars;
        self.pending_squares = from.pending_squares;
        self.added_since = true;
        self.tools = from.tools;
        self.blind &= self.last.is_none();
    }

    /// Counts a tool call.
    pub fn count_tool(&mut self) {
        self.tools = self.tools.saturating_add(1);
    }

    /// The context was cut: nothing is known until the next call.
    pub fn reset(&mut self) {
        self.last = None;
        self.doubted = None;
        self.pending_chars = 0;
        self.pending_squares = 0;
        self.source = Source::None;
    }

    /// Tokens of the last call.
    pub fn tokens(&self) -> Option<u64> {
        self.last
    }

    /// Tokens that the next call will carry, as far as can be told.
    pub fn projected(&self) -> Option<u64> {
        let added = self.ratio.tokens(self.pending_chars);
        match self.last {
            Some(last) => Some(last.saturating_add(added)),
            None => (self.source == Source::Estimated).then(|| added.saturating_add(self.unseen())),
        }
    }

    /// Tokens that the next call can carry at most, with texts that the gauge does not know of, in characters. One text may
    /// be denser than those of the session so far; several are never all so dense.
    pub fn at_most(&self, more: impl Iterator<Item = u64>) -> Option<u64> {
        let (mut chars, mut squares) = (self.pending_chars, self.pending_squares);
        for text in more {
            chars = chars.saturating_add(text);
            squares = squares.saturating_add(square(text));
        }
        let alike = u64::try_from(squares.isqrt()).unwrap_or(u64::MAX);
        let denser = self.ratio.spread(alike);
        let known = self.projected()?.max(self.last.unwrap_or(0).saturating_add(self.ratio.tokens(chars)));
        Some(known.saturating_add(denser))
    }

    /// The larger of the two: what stages are compared with.
    pub fn fill(&self) -> Option<u64> {
        self.tokens().max(self.projected())
    }

    /// Tokens the model can hold.
    pub fn window(&self) -> Option<u64> {
        self.window
    }

    /// Where the agent itself would compact, block or fail; lower while there is nothing but an estimate.
    pub fn ceiling(&self) -> Option<u64> {
        let wall = self.wall()?;
        Some(if self.blind { wall - wall / 5 } else { wall })
    }

    fn wall(&self) -> Option<u64> {
        let wall = match (self.ceiling, self.window) {
            (Some(ceiling), Some(window)) => Some(ceiling.min(window)),
            (ceiling, window) => ceiling.or(window),
        };
        match (wall, self.budget) {
            (Some(wall), Some(budget)) => Some(wall.min(budget)),
            (wall, budget) => wall.or(budget),
        }
    }

    /// The agent tells no usage: what can be seen is all there is to go by, so the line is drawn lower. A reading ends it.
    pub fn go_blind(&mut self) {
        self.blind = self.last.is_none();
    }

    // Instructions and tools that are sent with every call and seen by nobody: the agents that were measured send 8,000 to
    // 20,000 tokens of them. In a small window they cannot be that many.
    fn unseen(&self) -> u64 {
        const MOST: u64 = 20_000;
        if self.blind { self.wall().map_or(0, |wall| MOST.min(wall / 4)) } else { 0 }
    }

    /// The fill as a share of the ceiling.
    pub fn percent(&self) -> Option<Percent> {
        Percent::of(self.fill()?, self.ceiling()?)
    }

    /// How good the number is.
    pub fn source(&self) -> Source {
        self.source
    }

    /// Model calls so far.
    pub fn calls(&self) -> u32 {
        self.calls
    }

    /// Tool calls so far.
    pub fn tools(&self) -> u32 {
        self.tools
    }

    /// What was learned about characters and tokens; the next session starts with it.
    pub fn ratio(&self) -> Ratio {
        self.ratio
    }

    // What a window can hold may be so, however sudden: waiting for a second reading has overflowed. What it cannot hold
    // is a sum over calls, or another window than the one that is known.
    fn is_doubtful(&self, fill: u64) -> bool {
        self.window.or(self.ceiling).is_some_and(|window| fill > window)
    }

    fn confirms_doubt(&self, fill: u64) -> bool {
        self.doubted.is_some_and(|before| fill.abs_diff(before) <= before / 5)
    }
}

fn square(chars: u64) -> u128 {
    u128::from(chars) * u128::from(chars)
}

#[cfg(test)]
#[path = "gauge_tests.rs"]
mod tests;
