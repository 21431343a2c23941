//! When to do something about a window that fills, and what.
//!
//! A [`Policy`] is only values; presets are named policies (see [`preset`]).

pub mod preset;

mod economy;
mod line;
mod percent;
mod stage;

use serde::{Deserialize, Serialize};

pub(crate) use economy::{Bound, Costs};
pub use economy::{Cause, Economy, Place, Worth};
pub(crate) use line::{Room, forecast_lines};
pub use percent::Percent;
pub use stage::{Action, At, BadStage, Stage};

/// A list of stages, with the habits that go with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// The preset it came from, or "custom".
    pub name: String,
    /// Points on the gauge and what to do there, in the order in which they are reached.
    pub stages: Vec<Stage>,
    /// The two lines that a `forecast` stage uses while there is no forecast.
    pub lines: Lines,
    /// Which of the two a forecast moves; `None` in runs from before there was one, which decide as they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moves: Option<Moves>,
    /// The agent may be told how full its window is.
    #[serde(default = "yes")]
    pub tell: bool,
    /// Replacing was switched off by a threshold of 100 % or more: run on past the line.
    #[serde(default)]
    pub replacing_off: bool,
    /// The longest text of a checkpoint that is passed on, in characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_chars: Option<u32>,
    /// Write `HANDOFF.md` when the agent gives up.
    #[serde(default)]
    pub handoff_file: bool,
    /// Where handing over pays, beside where the window ends; `None` looks at the window alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub economy: Option<Economy>,
    /// Leave compaction to the agent and keep the transcript from before it.
    #[serde(default)]
    pub native: bool,
}

/// Between `soft` and `hard` a handoff waits for a good moment; at `hard` it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lines {
    /// From here on a good moment is enough.
    pub soft: Percent,
    /// From here on any moment will do.
    pub hard: Percent,
}

impl Default for Lines {
    fn default() -> Self {
        Self { soft: Percent::whole(80), hard: Percent::whole(88) }
    }
}

/// Which of the two lines a forecast moves. What somebody set stays where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moves {
    /// The soft line.
    pub soft: bool,
    /// The hard line.
    pub hard: bool,
}

impl Default for Moves {
    fn default() -> Self {
        Self { soft: true, hard: true }
    }
}

fn yes() -> bool {
    true
}

/// A threshold that cannot be meant as written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BadThreshold {
    /// Looks like a fraction.
    #[error("{0} is a very low threshold: percent? write {1} for {1} %")]
    Fraction(f64, f64),
    /// Not a number that can be a threshold.
    #[error("{0} is not a percentage above 0")]
    NotPercent(f64),
}

impl Policy {
    /// Whether any stage replaces the session.
    pub fn replaces(&self) -> bool {
        !self.replacing_off && self.stages.iter().any(Stage::replaces)
    }

    /// Whether any stage tells the agent how full its window is.
    pub fn hints(&self) -> bool {
        self.tell && self.stages.iter().any(|stage| stage.actions.contains(&Action::Tell))
    }

    /// Moves the stage that replaces the session to `percent`; earlier percentage stages scale with it.
    /// 100 or more switches replacing off.
    ///
    /// # Errors
    /// A fraction such as 0.9 is refused: it would hand over at every call.
    pub fn set_threshold(&mut self, percent: f64) -> Result<(), BadThreshold> {
        if !percent.is_finite() || percent <= 0.0 {
            return Err(BadThreshold::NotPercent(percent));
        }
        if percent <= 1.5 {
            return Err(BadThreshold::Fraction(percent, (percent * 100.0).round()));
        }
        let to = Percent::from_f64(percent);
        self.replacing_off = percent >= 100.0;
        let replacing = self.stages.iter().filter(|s| s.replaces());
        let Some(from) = replacing.filter_map(|s| s.at.percent(self.lines)).next() else { return Ok(()) };
        self.lines = Lines { soft: self.lines.soft.scale(from, to), hard: self.lines.hard.scale(from, to) };
        if let Some(moves) = self.moves.as_mut() {
            moves.hard = false;
        }
        self.no_other_lines();
        for stage in &mut self.stages {
            if let At::Percent(at) = &mut stage.at {
                *at = at.scale(from, to);
            }
        }
        Ok(())
    }

    /// Hands over at so many tokens; earlier percentage stages scale with it.
    pub fn set_threshold_tokens(&mut self, tokens: u64) {
        self.no_other_lines();
        if self.stages.iter().any(|s| s.replaces() && s.at == At::Forecast) {
            self.economy.get_or_insert_default().most = Some(tokens);
        }
        let replacing = self.stages.iter().find(|s| s.replaces() && matches!(s.at, At::Percent(_)));
        let Some(At::Percent(last)) = replacing.map(|s| s.at) else { return };
        for stage in &mut self.stages {
            if let At::Percent(at) = stage.at {
                let part =
                    u128::from(tokens) * u128::from(at.hundredths()) / u128::from(last.hundredths().max(1));
                stage.at = At::Used(u64::try_from(part).unwrap_or(u64::MAX));
            }
        }
    }

    // Whoever says where to hand over does not want it earlier.
    fn no_other_lines(&mut self) {
        if let Some(economy) = self.economy.as_mut() {
            for place in [&mut economy.price, &mut economy.quality] {
                if *place == Place::Auto {
                    *place = Place::Off;
                }
            }
        }
    }

    /// Moves, adds or removes the stage that counts tool calls; it does what the replacing stage does.
    pub fn set_tool_threshold(&mut self, tools: u32) {
        let actions = self
            .stages
            .iter()
            .find(|s| s.replaces())
            .map_or_else(|| vec![Action::Restart], |s| s.actions.clone());
        self.stages.retain(|s| !matches!(s.at, At::Tools(_)));
        if tools > 0 {
            self.stages.push(Stage { at: At::Tools(tools), actions });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_moves_the_replacing_stage_and_scales_the_earlier_ones() {
        let mut staged = preset::find("staged").unwrap().policy;
        staged.set_threshold(49.0).unwrap();
        let at: Vec<String> = staged.stages.iter().map(|s| s.at.to_string()).collect();
        assert_eq!(at, ["40%", "45%", "47.5%", "49%"]);
    }

    #[test]
    fn for_auto_the_threshold_is_the_hard_line() {
        let mut auto = preset::find("auto").unwrap().policy;
        auto.set_threshold(44.0).unwrap();
        assert_eq!(auto.lines, Lines { soft: Percent::whole(40), hard: Percent::whole(44) });
    }

    #[test]
    fn a_threshold_in_tokens_holds_for_every_preset_and_scales_the_earlier_stages() {
        let mut staged = preset::find("staged").unwrap().policy;
        staged.set_threshold_tokens(98_000);
        let at: Vec<String> = staged.stages.iter().map(|s| s.at.to_string()).collect();
        assert_eq!(at, ["80k used", "90k used", "95k used", "98k used"]);
        let mut auto = preset::find("auto").unwrap().policy;
        auto.set_threshold_tokens(160_000);
        let economy = auto.economy.unwrap();
        assert_eq!((economy.most, economy.price, economy.quality), (Some(160_000), Place::Off, Place::Off));
    }

    #[test]
    fn a_fraction_is_asked_back() {
        let mut policy = preset::find("seamless").unwrap().policy;
        let said = policy.set_threshold(0.9).unwrap_err().to_string();
        assert!(said.contains("percent?") && said.contains("90"), "{said}");
        assert!(policy.set_threshold(f64::NAN).is_err());
        assert!(policy.set_threshold(-3.0).is_err());
    }

    #[test]
    fn t5_a_hundred_or_more_switches_replacing_off() {
        let mut policy = preset::find("seamless").unwrap().policy;
        policy.set_threshold(100.0).unwrap();
        assert!(!policy.replaces());
    }
}
