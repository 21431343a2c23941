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
    /// The agent says so, and there was no gate to ask. Schema 1 said `claimed`.
    #[serde(alias = "claimed")]
    Unverified,
    /// It cannot be finished as things are.
    Failed,
    /// A limit or a person stopped it; it can go on later.
    Stopped,
    /// A person must decide or answer something. Schema 1 said `needs_person`.
    #[serde(alias = "needs_person")]
    NeedsInput,
}

impl Verdict {
    /// The word for it, as it is stored and shown to programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Unverified => "unverified",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::NeedsInput => "needs_input",
        }
    }

    /// Whether a run that ended so has nothing left to do.
    pub fn is_success(self) -> bool {
        matches!(self, Self::Verified | Self::Unverified)
    }

    /// Whether a stored word is that of a success, also one that schema 1 wrote.
    pub fn word_is_success(word: &str) -> bool {
        matches!(word, "verified" | "unverified" | "claimed")
    }
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
            Verdict::Unverified if require_verified => 3,
            Verdict::Unverified => 0,
            Verdict::Failed => 1,
            Verdict::NeedsInput => 3,
            Verdict::Stopped if self.interrupted => 130,
            Verdict::Stopped if self.limit == Some(Limit::Wait) => 75,
            Verdict::Stopped => 4,
        }
    }

    /// Whether `resume` has something to go on with.
    pub fn resumable(&self) -> bool {
        !self.verdict.is_success()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth2_the_words_of_verdicts_and_those_that_older_journals_hold() {
        let words = [
            (Verdict::Verified, "verified", "verified"),
            (Verdict::Unverified, "unverified", "claimed"),
            (Verdict::Failed, "failed", "failed"),
            (Verdict::Stopped, "stopped", "stopped"),
            (Verdict::NeedsInput, "needs_input", "needs_person"),
        ];
        for (verdict, word, old) in words {
            assert_eq!(serde_json::to_value(verdict).ok(), Some(word.into()));
            assert_eq!(verdict.word(), word);
            for read in [word, old] {
                assert_eq!(serde_json::from_value::<Verdict>(read.into()).ok(), Some(verdict), "{read}");
                assert_eq!(Verdict::word_is_success(read), verdict.is_success(), "{read}");
            }
        }
    }
}
