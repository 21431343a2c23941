//! How a run ends, and the exit code that says so.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Limit, Millis};

/// The word for how a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The gates say that the work is done.
    Verified,
    /// The agent says so, and there was no gate to ask.
    Claimed,
    /// It cannot be finished as things are.
    Failed,
    /// A limit or a person stopped it; it can go on later.
    Stopped,
    /// A person must decide something.
    NeedsPerson,
}

/// How a run ended: the verdict, and what a person needs to go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The verdict in one word.
    pub verdict: Verdict,
    /// Why, in one sentence.
    pub reason: String,
    /// What to do next, when there is something to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// The limit that stopped it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// A person asked for the stop.
    #[serde(default)]
    pub interrupted: bool,
    /// When going on is worth a try, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Millis>,
}

impl Outcome {
    /// A verdict with its reason and nothing else to say.
    pub fn new(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self { verdict, reason: reason.into(), advice: None, limit: None, interrupted: false, until: None }
    }

    /// The same outcome with advice.
    #[must_use]
    pub fn advise(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }

    /// The same outcome, blamed on a limit.
    #[must_use]
    pub fn because_of(self, limit: Limit) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// The process exit code for this outcome.
    pub fn exit_code(&self, require_verified: bool) -> u8 {
        match self.verdict {
            Verdict::Verified => 0,
            Verdict::Claimed if require_verified => 3,
            Verdict::Claimed => 0,
            Verdict::Failed => 1,
            Verdict::NeedsPerson => 3,
            Verdict::Stopped if self.interrupted => 130,
            Verdict::Stopped if self.limit == Some(Limit::Wait) => 75,
            Verdict::Stopped => 4,
        }
    }

    /// Whether `resume` has something to go on with.
    pub fn resumable(&self) -> bool {
        !matches!(self.verdict, Verdict::Verified | Verdict::Claimed)
    }
}
