//! What stops a run that would otherwise go on for ever.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The limits of one run. `None` means that there is no such limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Wall time for the whole run, over all its sessions.
    pub deadline_ms: Option<u64>,
    /// Maximum number of fresh sessions after a full context.
    pub max_restarts: Option<u32>,
    /// Handoffs in a row that may pass without progress.
    pub max_handoffs_without_progress: u32,
    /// How often failed gates go back to the agent.
    pub gate_rounds: u32,
    /// Money, in millionths of a dollar.
    pub cost_musd: Option<u64>,
    /// Tokens sent and received, over all sessions.
    pub tokens: Option<u64>,
    /// How long there may be no sign of life at all while no tool runs.
    pub idle_ms: u64,
    /// How long a tool may run without a byte of the agent's, however busy it is.
    pub tool_ms: u64,
    /// How long the agent may take to answer a checkpoint request, counted from the end of the running tool.
    pub ask_timeout_ms: u64,
    /// Denied permission requests of one kind before a person is asked.
    pub same_denials: u32,
    /// How long the agent may think without a byte, however busy its processes are.
    pub thinking_ms: u64,
    /// How long there may be no sign of life at all while a tool runs.
    pub tool_idle_ms: u64,
    /// After how long without a byte it is told that a tool still runs.
    pub tool_warning_ms: u64,
    /// How long the agent may not go on after a permission was not given.
    pub permission_ms: u64,
    /// How long the agent's own retries may go on.
    pub retry_ms: u64,
    /// Sessions that may be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline_ms: None,
            max_restarts: None,
            max_handoffs_without_progress: 3,
            gate_rounds: 5,
            cost_musd: None,
            tokens: None,
            idle_ms: 10 * 60_000,
            tool_ms: 4 * 60 * 60_000,
            ask_timeout_ms: 30_000,
            same_denials: 3,
            thinking_ms: 30 * 60_000,
            tool_idle_ms: 30 * 60_000,
            tool_warning_ms: 30 * 60_000,
            permission_ms: 10 * 60_000,
            retry_ms: 15 * 60_000,
            sessions: None,
        }
    }
}

/// A limit by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Wall time of the whole run.
    Deadline,
    /// Fresh sessions after a full window.
    MaxRestarts,
    /// Handoffs in a row without progress.
    NoProgress,
    /// Rounds of failed gates.
    GateRounds,
    /// Money.
    Cost,
    /// Tokens.
    Tokens,
    /// Silence of the agent.
    Stall,
    /// Denied permissions.
    Permissions,
    /// A fresh session that starts above the line.
    Futile,
    /// A wait that is not wanted or would be too long.
    Wait,
    /// Failures of providers in a row, without progress.
    Failures,
    /// The same failure again and again.
    SameError,
    /// Two agents failing in turn.
    Oscillation,
    /// Sessions of the run.
    Sessions,
    /// Money of one agent.
    AgentCost,
    /// Money that cannot be counted.
    UnknownCost,
    /// Money of the day.
    DayCost,
    /// Tokens of the day.
    DayTokens,
    /// Sessions of the day.
    DaySessions,
    /// Wall time of the day.
    DayTime,
}

impl Limit {
    /// Every limit there is.
    pub const ALL: [Self; 20] = [
        Self::Deadline,
        Self::MaxRestarts,
        Self::NoProgress,
        Self::GateRounds,
        Self::Cost,
        Self::Tokens,
        Self::Stall,
        Self::Permissions,
        Self::Futile,
        Self::Wait,
        Self::Failures,
        Self::SameError,
        Self::Oscillation,
        Self::Sessions,
        Self::AgentCost,
        Self::UnknownCost,
        Self::DayCost,
        Self::DayTokens,
        Self::DaySessions,
        Self::DayTime,
    ];
}
