//! One point on the gauge and what is done there, as it is written in `segue.toml`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Depth;
use crate::policy::{Lines, Percent};

/// A point on the gauge and what to do there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// The point.
    pub at: At,
    /// What to do, in order.
    pub actions: Vec<Action>,
}

impl Stage {
    /// Whether it replaces the session or ends the run.
    pub fn replaces(&self) -> bool {
        self.actions
            .iter()
            .any(|a| matches!(a, Action::Restart | Action::Handoff | Action::Split | Action::Stop))
    }

    /// The checkpoint that belongs to it, if any: the one that it names, or a full one when it replaces.
    pub fn depth(&self) -> Option<Depth> {
        let named =
            self.actions.iter().find_map(|a| if let Action::Checkpoint(d) = a { Some(*d) } else { None });
        named.or_else(|| self.replaces().then_some(Depth::Full))
    }
}

/// A point on the gauge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum At {
    /// A share of the ceiling.
    Percent(Percent),
    /// This many tokens.
    Used(u64),
    /// This many tokens below the ceiling.
    Left(u64),
    /// This many tool calls in the session.
    Tools(u32),
    /// Where the forecast says.
    Forecast,
}

impl At {
    /// The share of the ceiling that this point stands for, if it is one.
    pub fn percent(self, lines: Lines) -> Option<Percent> {
        match self {
            Self::Percent(at) => Some(at),
            Self::Forecast => Some(lines.hard),
            Self::Used(_) | Self::Left(_) | Self::Tools(_) => None,
        }
    }
}

/// What to do at a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Action {
    /// Say so to the person.
    Warn,
    /// Say so to the agent.
    Tell,
    /// Take a checkpoint.
    Checkpoint(Depth),
    /// Decide now who would be next.
    ChooseFallback,
    /// Fresh session of the same agent.
    Restart,
    /// Fresh session of the next agent.
    Handoff,
    /// Several smaller tasks.
    Split,
    /// End the run.
    Stop,
}

/// A stage that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadStage {
    /// Not a point on the gauge.
    #[error(
        "{0:?} is no point on the gauge; write \"90%\", \"160k used\", \"20k left\", \"100 tools\" or \"forecast\""
    )]
    At(String),
    /// Not an action.
    #[error(
        "{0:?} is no action; one of warn, tell, checkpoint:brief, checkpoint:full, checkpoint:emergency, choose-fallback, restart, handoff, split, stop"
    )]
    Action(String),
}

impl FromStr for At {
    type Err = BadStage;

    fn from_str(text: &str) -> Result<Self, BadStage> {
        let bad = || BadStage::At(text.to_owned());
        let trimmed = text.trim();
        if trimmed == "forecast" {
            return Ok(Self::Forecast);
        }
        if let Some(number) = trimmed.strip_suffix('%') {
            let value: f64 = number.trim().parse().map_err(|_| bad())?;
            return if value.is_finite() && value > 0.0 {
                Ok(Self::Percent(Percent::from_f64(value)))
            } else {
                Err(bad())
            };
        }
        if let Some(number) = trimmed.strip_suffix("tools").or_else(|| trimmed.strip_suffix("tool")) {
            return number.trim().parse().ok().filter(|n| *n > 0).map(Self::Tools).ok_or_else(bad);
        }
        if let Some(used) = trimmed.strip_suffix("used") {
            return crate::gauge::parse_tokens(used).filter(|n| *n > 0).map(Self::Used).ok_or_else(bad);
        }
        let left = trimmed.strip_suffix("left").ok_or_else(bad)?.trim();
        crate::gauge::parse_tokens(left).map(Self::Left).ok_or_else(bad)
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percent(at) => at.fmt(f),
            Self::Used(tokens) => write!(f, "{} used", in_thousands(*tokens)),
            Self::Left(tokens) => write!(f, "{} left", in_thousands(*tokens)),
            Self::Tools(tools) => write!(f, "{tools} tools"),
            Self::Forecast => f.write_str("forecast"),
        }
    }
}

fn in_thousands(tokens: u64) -> String {
    if tokens > 0 && tokens.is_multiple_of(1_000) {
        format!("{}k", tokens / 1_000)
    } else {
        tokens.to_string()
    }
}

impl FromStr for Action {
    type Err = BadStage;

    fn from_str(text: &str) -> Result<Self, BadStage> {
        Ok(match text.trim() {
            "warn" => Self::Warn,
            "tell" => Self::Tell,
            "checkpoint" | "checkpoint:full" => Self::Checkpoint(Depth::Full),
            "checkpoint:brief" => Self::Checkpoint(Depth::Brief),
            "checkpoint:emergency" => Self::Checkpoint(Depth::Emergency),
            "choose-fallback" => Self::ChooseFallback,
            "restart" => Self::Restart,
            "handoff" => Self::Handoff,
            "split" => Self::Split,
            "stop" => Self::Stop,
            _ => return Err(BadStage::Action(text.to_owned())),
        })
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warn => "warn",
            Self::Tell => "tell",
            Self::Checkpoint(Depth::Full) => "checkpoint:full",
            Self::Checkpoint(Depth::Brief) => "checkpoint:brief",
            Self::Checkpoint(Depth::Emergency) => "checkpoint:emergency",
            Self::ChooseFallback => "choose-fallback",
            Self::Restart => "restart",
            Self::Handoff => "handoff",
            Self::Split => "split",
            Self::Stop => "stop",
        })
    }
}

impl TryFrom<String> for At {
    type Error = BadStage;

    fn try_from(text: String) -> Result<Self, BadStage> {
        text.parse()
    }
}

impl From<At> for String {
    fn from(at: At) -> Self {
        at.to_string()
    }
}

impl TryFrom<String> for Action {
    type Error = BadStage;

    fn try_from(text: String) -> Result<Self, BadStage> {
        text.parse()
    }
}

impl From<Action> for String {
    fn from(action: Action) -> Self {
        action.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_read_and_written_the_same() {
        for text in
            ["90%", "87.5%", "160k used", "1234 used", "20k left", "1500 left", "100 tools", "forecast"]
        {
            let at: At = text.parse().unwrap();
            assert_eq!(at.to_string(), text);
        }
    }

    #[test]
    fn nonsense_is_refused_with_the_forms_that_work() {
        for text in ["", "%", "-3%", "0%", "NaN%", "90", "0 tools", "x left", "left", "0 used", "used"] {
            let said = text.parse::<At>().unwrap_err().to_string();
            assert!(said.contains("20k left"), "{said}");
        }
    }
}
