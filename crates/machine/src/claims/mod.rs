//! What an agent says that it did, and whether that is so.
//!
//! [`claims`] reads an agent's words, [`judge`] holds each claim against [`Evidence`] that did not come from the agent,
//! and [`strike`] takes what is not so out of the words. Nothing here looks at the world: evidence is handed in.

mod evidence;
mod fields;
mod judge;
mod lookup;
mod paths;
mod read;
mod report;
mod statements;
mod strike;
mod words;

use serde::{Deserialize, Serialize};

pub use evidence::{Evidence, GateFact};
pub use judge::{count, judge, wants_gate};
pub use read::claims;
pub use strike::strike;

/// One thing that an agent said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// What it is about.
    pub kind: ClaimKind,
    /// The list item or sentence, as said.
    pub text: String,
    /// The heading that it stood below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
}

/// What a claim is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ClaimKind {
    /// Something is finished.
    Done,
    /// A file was changed.
    File {
        /// As the agent named it.
        path: String,
        /// In which way.
        change: Change,
    },
    /// Tests, or another check, pass.
    TestsPass {
        /// Which check was named: a kind such as `tests` or `lint`, a name, or a command; `None` means all of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gate: Option<String>,
    },
    /// Work is in git's history.
    Committed {
        /// The hash, as far as it was said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        what: Option<String>,
    },
    /// How much was done, as a number.
    Count {
        /// What was counted.
        of: Counted,
        /// How many.
        number: u64,
    },
    /// Something was decided.
    Decision,
    /// Something that must hold.
    Constraint,
    /// Something that was tried and does not work.
    DeadEnd,
    /// A failing test or an open error.
    Failure,
    /// Something that is left to do.
    Remaining,
    /// Something that must not be done again.
    DoNotRedo,
    /// A rule that a person gave.
    Rule,
}

/// What an agent counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// Commits.
    Commits,
    /// Files that were changed in any way.
    Files,
}

/// In which way a file was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It is new.
    Created,
    /// It was there and is different.
    Modified,
    /// It is gone.
    Deleted,
    /// It is new or different.
    Touched,
    /// It is there in the end, changed or not.
    There,
}

/// What the evidence says about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// It agrees.
    Confirmed,
    /// It disagrees.
    Contradicted,
    /// It says nothing.
    Unknown,
}

/// A claim with what was found about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// What was said.
    pub claim: Claim,
    /// What the evidence says.
    pub finding: Finding,
    /// The evidence, in one short sentence.
    #[serde(default)]
    pub evidence: String,
}

impl ClaimKind {
    /// Whether there can be evidence for or against it.
    pub fn checkable(&self) -> bool {
        matches!(
            self,
            Self::File { .. } | Self::TestsPass { .. } | Self::Committed { .. } | Self::Count { .. }
        )
    }
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;
