//! How good the forecast of a window's growth is: what it says about the next five calls held against what they added,
//! beside two forecasts that anyone could make. What forecasts is the machine of real runs.

mod cases;
mod regimes;
mod score;

use segue_machine::AgentEvent;

pub(crate) use regimes::Regime;
pub(crate) use score::Score;

use crate::simulate::Dice;
use cases::{Case, cases};

/// Seeds that were used while constants were chosen are below this one.
pub(crate) const FITTING_SEEDS: u64 = crate::simulate::FITTING_SEEDS;

/// Scores the forecast on generated sessions.
pub(crate) fn generated(regime: Regime, sessions: u64, seed: u64) -> Score {
    let cases = (0..sessions).flat_map(|n| cases(&regime.session(&mut Dice::new(seed, n))));
    Score::of(regime.name(), cases.collect())
}

/// Scores the forecast on recorded sessions.
pub(crate) fn recorded(sessions: &[Vec<AgentEvent>]) -> Score {
    Score::of("this project's recordings", sessions.iter().flat_map(|events| cases(events)).collect())
}

#[cfg(test)]
#[path = "accuracy_tests.rs"]
mod tests;
