//! What a run may spend beside its own limits, and what was spent: the words of it. The decisions are in `run/budget.rs`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Millis, Totals};

/// What bounds the spending of a run beside its limits, and what is known about it from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetSpec {
    /// A money or token limit that cannot be enforced stops the run instead of being ignored.
    #[serde(default)]
    pub strict: bool,
    /// What all runs of a day may spend together.
    #[serde(default)]
    pub day: DayLimits,
    /// What is known about each agent, by name.
    #[serde(default)]
    pub agents: BTreeMap<String, AgentBudget>,
    /// The day as it stood when the run was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub today: Option<DaySpent>,
}

/// The limits of one day, over all runs. `None` means that there is no such limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayLimits {
    /// Money, in millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_musd: Option<u64>,
    /// Tokens sent and received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Sessions started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u32>,
    /// Wall time of the runs, added up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ms: Option<u64>,
}

impl DayLimits {
    /// Whether there is any.
    pub fn any(&self) -> bool {
        self.cost_musd.is_some() || self.tokens.is_some() || self.sessions.is_some() || self.wall_ms.is_some()
    }
}

/// The budget of one agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentBudget {
    /// Money that it may spend in this run, in millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_musd: Option<u64>,
    /// It says after each call what it has cost, whatever the model.
    #[serde(default)]
    pub tells_cost: bool,
    /// What its sessions usually spend before they have done anything, from earlier runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual: Option<Opening>,
}

/// What the first calls of a session took: nobody gets a session for less.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// Tokens sent and received.
    pub tokens: u64,
    /// Millionths of a dollar; `None` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_musd: Option<u64>,
}

/// An amount of everything that can be spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Millionths of a dollar, as far as known.
    #[serde(default)]
    pub cost_musd: u64,
    /// Tokens whose cost is not known.
    #[serde(default)]
    pub unpriced: u64,
    /// Tokens sent and received.
    #[serde(default)]
    pub tokens: u64,
    /// Sessions started.
    #[serde(default)]
    pub sessions: u32,
    /// Wall time.
    #[serde(default)]
    pub wall_ms: u64,
}

impl Spent {
    /// What sessions spent; their time is kept elsewhere.
    pub fn of(totals: Totals, sessions: u32) -> Self {
        Self {
            cost_musd: totals.cost_musd.unwrap_or(0),
            unpriced: totals.unpriced,
            tokens: totals.tokens(),
            sessions,
            wall_ms: 0,
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            cost_musd: self.cost_musd.saturating_add(other.cost_musd),
            unpriced: self.unpriced.saturating_add(other.unpriced),
            tokens: self.tokens.saturating_add(other.tokens),
            sessions: self.sessions.saturating_add(other.sessions),
            wall_ms: self.wall_ms.saturating_add(other.wall_ms),
        }
    }

    /// What is left when the other part is taken away.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        Self {
            cost_musd: self.cost_musd.saturating_sub(other.cost_musd),
            unpriced: self.unpriced.saturating_sub(other.unpriced),
            tokens: self.tokens.saturating_sub(other.tokens),
            sessions: self.sessions.saturating_sub(other.sessions),
            wall_ms: self.wall_ms.saturating_sub(other.wall_ms),
        }
    }
}

/// What is known about a day beside what this process spends in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaySpent {
    /// The local day, as `2026-11-16`.
    pub day: String,
    /// What other runs spent in it, and the time that this run took in earlier lives.
    pub others: Spent,
    /// What this run had spent when the day began.
    #[serde(default)]
    pub before: Spent,
    /// From when on this run's time counts.
    pub since: Millis,
}

/// What one agent spent in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSpent {
    /// Tokens and money.
    pub totals: Totals,
    /// Sessions that are over.
    pub sessions: u32,
}
