//! How far the work tree of a phase is, as values: what is on disk before each step is taken.

use serde::{Deserialize, Serialize};

/// The work tree of a phase that runs beside others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Work {
    /// The commit that it began with.
    pub(crate) base: String,
    /// The paths that no phase beside it is given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) claims: Vec<String>,
    /// Nothing runs beside it, but parts of the same phase.
    #[serde(skip_serializing_if = "crate::plan::state::is_default")]
    pub(crate) alone: bool,
    /// How far it is.
    pub(crate) stage: Stage,
    /// The run that mends a conflict, or what fails together with others' work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mend: Option<String>,
    /// The head of the plan's branch that it is merged with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) onto: Option<String>,
    /// Its own head before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) own: Option<String>,
    /// Files in conflict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) conflicts: Vec<String>,
    /// What the plan's branch is brought forward to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<String>,
    /// How often it was merged: the branch may move meanwhile.
    #[serde(skip_serializing_if = "crate::plan::state::is_default")]
    pub(crate) rounds: u32,
}

/// How far the work tree of a phase is, in this order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    /// It is being made.
    #[default]
    Making,
    /// The phase is worked on in it.
    Working,
    /// The phase is done and queued.
    Done,
    /// It is merged with the plan's branch, and the gates run.
    Merging,
    /// An agent mends what came of that.
    Mending,
    /// A person must.
    Stuck,
    /// The plan's branch goes forward to it.
    Landing,
    /// Its work is in the plan's branch.
    Landed,
    /// It was split; its parts begin with what it left.
    Split,
}

impl Stage {
    /// Whether an agent works in it.
    pub(crate) fn is_worked_on(self) -> bool {
        matches!(self, Self::Working | Self::Mending)
    }

    /// In words.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Making => "its work tree is being created",
            Self::Working => "running",
            Self::Done => "done, waiting to be merged",
            Self::Merging => "is being merged",
            Self::Mending => "an agent resolves the conflicts",
            Self::Stuck => "needs your merge",
            Self::Landing | Self::Landed => "is being merged into the branch",
            Self::Split => "was split",
        }
    }
}
