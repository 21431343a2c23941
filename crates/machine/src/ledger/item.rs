//! One thing that the ledger keeps, where it came from, and what became of it.

use serde::{Deserialize, Serialize};

use crate::Millis;

/// What an item is. The order is the ranking: what comes first is the last to be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// A rule that a person gave.
    Rule,
    /// Something that must hold.
    Constraint,
    /// Something that was decided.
    Decision,
    /// A failing test or an open error.
    Failure,
    /// Something that was tried and does not work.
    DeadEnd,
    /// Something that is left to do.
    Remaining,
    /// Something that must not be done again.
    DoNotRedo,
    /// Something that is done.
    Done,
}

impl Category {
    /// All of them, in the order of the ranking.
    pub const ALL: [Self; 8] = [
        Self::Rule,
        Self::Constraint,
        Self::Decision,
        Self::Failure,
        Self::DeadEnd,
        Self::Remaining,
        Self::DoNotRedo,
        Self::Done,
    ];
}

/// Where something was said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The checkpoint's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// The session's number; 0 is the user.
    #[serde(default)]
    pub session: u32,
    /// The agent.
    #[serde(default)]
    pub agent: String,
    /// When.
    #[serde(default)]
    pub at: Millis,
}

/// What became of an item. `by` names what did it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum State {
    /// It holds.
    #[default]
    Open,
    /// An agent says that it is done; nothing confirms it.
    SaidDone {
        /// Who said so.
        by: String,
    },
    /// It is done, or fails no more, and there is evidence.
    Closed {
        /// The evidence.
        by: String,
    },
    /// Something newer or better founded stands in its place.
    Superseded {
        /// That item's id, or what happened.
        by: String,
    },
    /// It is not so.
    Contradicted {
        /// The evidence.
        by: String,
    },
}

/// One thing that the ledger keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Made of its category and words: the same thing has the same id in every run.
    pub id: String,
    /// What it is.
    pub category: Category,
    /// As it was said; of several wordings the fullest.
    pub text: String,
    /// Where it was said first, as a position in the ledger's list of origins.
    pub origin: u32,
    /// Where it was said last, likewise.
    pub seen: u32,
    /// In how many checkpoints it was said.
    pub times: u32,
    /// What it rests on: 0 an agent's word, 1 something that segue saw, 2 git or a gate, 3 the user.
    #[serde(default)]
    pub weight: u8,
    /// The evidence in words; empty when there is only an agent's word.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    /// What became of it.
    #[serde(default)]
    pub state: State,
    /// The gate that it is about, for failures that a gate reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    /// What it is found by, when that is not its text: a gate or command, whatever it says this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The remaining item that it closes, as a position in the ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closes: Option<u32>,
    /// What it took the place of, in that item's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
}

/// Two things that cannot both hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// When it was noticed.
    pub at: Millis,
    /// The item that stands.
    pub kept: String,
    /// The item that does not.
    pub dropped: String,
    /// Why, in one phrase: by evidence, or by age.
    pub resolved: String,
}
