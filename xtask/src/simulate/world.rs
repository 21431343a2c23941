//! The world of a simulated run: how its windows grow, when there is a good moment, whether there is a brake.

use super::dice::Dice;
use super::growth::{ANSWER, CODEX, Growth, WEIGHT_PER_TOKEN};

/// What is the same for every run of a simulation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct World {
    /// Tokens that the model can hold.
    pub(crate) window: u64,
    /// Where the agent blocks.
    pub(crate) ceiling: u64,
    /// How sessions grow.
    pub(crate) growth: Growth,
    /// Whether the agent asks after each tool if it may go on.
    pub(crate) brake: bool,
    /// Calls that fill a window of nothing, on average.
    calls: f64,
}

/// What Claude Code keeps free below its window.
const KEPT_FREE: u64 = 23_000;
/// Chance of a call that adds a large part of the window at once, besides its growth.
const JUMPS: f64 = 0.000_5;
/// Such a call adds from a tenth to six tenths of the window.
const JUMP: (f64, f64) = (0.1, 0.6);
/// Calls from one good moment to the next.
const STEP: (u64, u64) = (3, 12);
/// The work of a run, in windows.
const WORK: (f64, f64) = (1.2, 4.7);
/// The first call after a compaction, in first calls of a session: 53k of 39.8k.
const AFTER_COMPACTION: f64 = 1.33;
/// From here on most jumps are several results at once.
const LARGE: u64 = 30_000;
/// Tokens of the longest result.
const MOST_TOKENS: u64 = 31_000;

/// What one answer of the model leads to: the results of its tools, and the answer to them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Batch {
    /// Tokens and characters of each result.
    pub(crate) results: Vec<(u64, u64)>,
    /// Tokens of the answer of the next call.
    pub(crate) answer: u64,
}

impl World {
    /// A window of this many tokens that grows so, with a brake.
    pub(crate) fn new(window: u64, growth: Growth) -> Self {
        let ceiling =
            if growth.name == CODEX.name { window / 10 * 9 } else { window.saturating_sub(KEPT_FREE) };
        let mean = growth.per_call.mean() + JUMPS * f64::midpoint(JUMP.0, JUMP.1) * unit(window);
        Self { window, ceiling, growth, brake: true, calls: unit(ceiling) / mean }
    }

    /// The same without a brake.
    #[must_use]
    pub(crate) fn without_brake(self) -> Self {
        Self { brake: false, ..self }
    }

    /// How many calls each step of a run takes; a step that is finished is a good moment.
    pub(crate) fn steps(&self, dice: &mut Dice) -> Vec<u64> {
        let windows = WORK.0 + (WORK.1 - WORK.0) * dice.share();
        let mut calls = whole(windows * self.calls);
        let mut steps = Vec::new();
        while calls > 0 {
            let step = dice.between(STEP.0, STEP.1);
            steps.push(step);
            calls = calls.saturating_sub(step);
        }
        steps
    }

    /// Tokens of a session's first call.
    pub(crate) fn first_fill(&self, dice: &mut Dice) -> u64 {
        whole(self.growth.first.draw(dice))
    }

    /// Tokens that are left when the agent has compacted its own context, on average.
    pub(super) fn after_compaction(&self) -> f64 {
        AFTER_COMPACTION * self.growth.first.at(0.5)
    }

    /// The growth of one call: what comes before it, result by result, and its own answer.
    pub(crate) fn batch(&self, dice: &mut Dice) -> Batch {
        let mut growth = self.growth.per_call.draw(dice);
        if dice.chance(JUMPS) {
            growth += unit(self.window) * (JUMP.0 + (JUMP.1 - JUMP.0) * dice.share());
        }
        let growth = whole(growth);
        let answer = whole(ANSWER.draw(dice)).min(growth);
        let mut left = growth - answer;
        let tools = parallel(growth, dice);
        let mut results = Vec::new();
        for after in (0..tools).rev() {
            let tokens =
                if after == 0 { left } else { whole(unit(left) / unit(after + 1) * 2.0 * dice.share()) };
            let tokens = tokens.min(left);
            left -= tokens;
            results.push((tokens, whole(unit(tokens) * WEIGHT_PER_TOKEN.draw(dice))));
        }
        Batch { results, answer }
    }
}

// Most calls have one result; of the large jumps 27 in 37 have three or more. No result was longer than 88,600
// characters, so what is larger comes in several.
fn parallel(growth: u64, dice: &mut Dice) -> u64 {
    let share = dice.share();
    let tools = match share {
        _ if growth >= LARGE && share < 0.73 => dice.between(3, 6),
        _ if growth >= LARGE => dice.between(1, 2),
        share if share < 0.70 => 1,
        share if share < 0.88 => 2,
        _ => dice.between(3, 5),
    };
    tools.max(growth / MOST_TOKENS + 1)
}

#[expect(clippy::cast_precision_loss, reason = "tokens are far below 2^52")]
fn unit(tokens: u64) -> f64 {
    tokens as f64
}

/// The nearest whole number of tokens.
pub(super) fn whole(tokens: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the range before"
    )]
    let whole = tokens.round().clamp(0.0, 1e15) as u64;
    whole
}
