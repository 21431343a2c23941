//! The fields of each outer event. What is unknown is `null`, never 0 and never left out; fields that only some
//! presets have are left out elsewhere. Names here are a public promise: add, do not rename.

use schemars::JsonSchema;
use segue_machine::forecast::Basis;
use segue_machine::{
    AgentFailure, CheckpointBy, Claims, Considered, Continued, Depth, EndReason, GateChange, GateWhen,
    HandoffKind, Limit, ListItem, Outlook, SessionReason, Source, Verdict, WordsSource,
};
use serde::{Deserialize, Serialize};

use crate::Time;

/// A run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunStarted {
    /// The version of this contract.
    pub schema: u32,
    /// The task in the user's words.
    pub task: String,
    /// The first agent.
    pub agent: Option<String>,
    /// The policy's name.
    pub policy: String,
    /// The work tree.
    pub workdir: String,
}

/// A session takes prompts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStarted {
    /// The session: "s1", "s2" and so on.
    pub session: String,
    /// Its number.
    pub n: u32,
    /// Its agent.
    pub agent: String,
    /// Its model.
    pub model: Option<String>,
    /// Tokens the model can hold.
    pub window: Option<u64>,
    /// Where the agent itself would compact, block or fail.
    pub ceiling: Option<u64>,
    /// Why it was started.
    pub reason: SessionReason,
}

/// The gauge moved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GaugeRead {
    /// The session.
    pub session: String,
    /// The model call, counted in the session from 1; 0 before the first.
    pub call: u32,
    /// True: the call's own usage, once per call. False: a new projection after a tool result.
    pub r#final: bool,
    /// Tokens of the last call.
    pub tokens: Option<u64>,
    /// Tokens that the next call will carry.
    pub projected: Option<u64>,
    /// Tokens the model can hold.
    pub window: Option<u64>,
    /// Where the agent itself would compact, block or fail.
    pub ceiling: Option<u64>,
    /// The larger of `tokens` and `projected`, in percent of the ceiling.
    pub percent: Option<f64>,
    /// How good the number is.
    pub source: Source,
    /// Tool calls of the session so far.
    #[serde(default)]
    pub tools: u32,
    /// When the window will be full; null while there is no forecast.
    #[serde(default)]
    pub forecast: Option<ForecastFields>,
    /// The same as `percent`, by the name that users of the `loop` preset know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_pct: Option<f64>,
}

/// When a window will be full, as its session goes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ForecastFields {
    /// Model calls until the ceiling.
    pub calls_left: CallsLeft,
    /// Time until then at the session's own pace.
    pub ms_left: Option<u64>,
    /// What it rests on.
    pub basis: ForecastBasis,
    /// Model calls of this session that it rests on.
    pub session_calls: u64,
    /// Model calls of earlier sessions in this repository that it rests on; 0 while there are too few.
    pub repository_calls: u64,
}

/// A number of calls as a range: eight times in ten it lies in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallsLeft {
    /// Seldom fewer.
    pub low: u32,
    /// The best guess.
    pub middle: u32,
    /// Seldom more.
    pub high: u32,
}

/// What a forecast rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForecastBasis {
    /// This session, and measured sessions of others.
    Session,
    /// This session, and earlier ones in this repository.
    Repository,
}

impl From<Outlook> for ForecastFields {
    fn from(outlook: Outlook) -> Self {
        let (basis, repository_calls) = match outlook.basis {
            Basis::Session => (ForecastBasis::Session, 0),
            Basis::Repository(calls) => (ForecastBasis::Repository, calls),
        };
        let calls = outlook.calls;
        Self {
            calls_left: CallsLeft { low: calls.low, middle: calls.middle, high: calls.high },
            ms_left: outlook.left_ms,
            basis,
            session_calls: outlook.seen,
            repository_calls,
        }
    }
}

/// The agent said something in its main thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentSaid {
    /// The session.
    pub session: String,
    /// Its words, without secrets; a long message is cut in the middle.
    pub text: String,
}

/// The agent's own list changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemsSeen {
    /// The session.
    pub session: String,
    /// Items that are not done.
    pub open: u32,
    /// Items that are done or given up.
    pub closed: u32,
    /// The items in the agent's order; empty where it only counts them.
    pub items: Vec<ListItem>,
}

/// The gauge passed a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StageReached {
    /// The session.
    pub session: String,
    /// The stage as configured.
    pub stage: String,
    /// What is done there, as configured.
    pub r#do: Vec<String>,
    /// Tokens, projected ones included.
    pub tokens: Option<u64>,
    /// Percent of the ceiling.
    pub percent: Option<f64>,
    /// The same as `percent`, by the name that users of the `loop` preset know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_pct: Option<f64>,
    /// The line that users of the preset know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Who would take over, where the stage chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// Why there, where that is not the window: the price of a call, or the model's own limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The agent was asked for a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointRequested {
    /// The session.
    pub session: String,
    /// How much it should hold.
    pub depth: Depth,
    /// When segue writes it itself; null while a tool runs.
    pub deadline: Option<Time>,
    /// By a side question, which does not interrupt the work.
    #[serde(default)]
    pub side: bool,
}

/// A checkpoint is on disk and the work is saved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointTaken {
    /// The checkpoint's id.
    pub checkpoint: String,
    /// The session it is about.
    pub session: String,
    /// Who wrote it.
    pub by: CheckpointBy,
    /// How much it holds.
    pub depth: Depth,
    /// The stage that asked for it; null when a person or a limit did.
    pub stage: Option<String>,
    /// Percent of the ceiling at that moment.
    pub percent: Option<f64>,
    /// Where it lies, below the work tree.
    pub path: String,
    /// How many claims were found true, false, or neither.
    pub claims: Claims,
    /// How long it took.
    pub ms: u64,
    /// Where its words come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<WordsSource>,
}

/// A checkpoint could not be written; the one before it still stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointFailed {
    /// The id that it was to have.
    pub checkpoint: String,
    /// The session it is about.
    pub session: String,
    /// Whose words it was to hold.
    pub by: CheckpointBy,
    /// How much it was to hold.
    pub depth: Depth,
    /// Why.
    pub why: String,
}

/// The words of a prompt could not be made, so nothing was sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptFailed {
    /// The session.
    pub session: String,
    /// Why.
    pub why: String,
}

/// What comes after a session was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HandoffDecided {
    /// The session that ends.
    pub from: String,
    /// Its agent.
    pub from_agent: String,
    /// The next agent; null when there is none.
    pub to_agent: Option<String>,
    /// What kind of handoff.
    pub kind: HandoffKind,
    /// Why.
    pub reason: String,
    /// The checkpoint that crosses.
    pub checkpoint: Option<String>,
    /// Every agent that was looked at, in order, with what was found.
    #[serde(default)]
    pub considered: Vec<Considered>,
    /// Percent of the ceiling, by the name that users of the `loop` preset know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_pct: Option<f64>,
    /// The line that users of the preset know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A conversation is continued after a failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionContinued {
    /// The session.
    pub session: String,
    /// In the same process or in a new one.
    pub how: Continued,
    /// The failure or crash.
    pub after: String,
}

/// A session is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionEnded {
    /// The session.
    pub session: String,
    /// Why.
    pub reason: EndReason,
    /// Its exit code; null when a signal ended it.
    pub exit: Option<i32>,
    /// Tokens in the window at the end.
    pub fill: Option<u64>,
    /// Tokens sent.
    pub tokens_in: Option<u64>,
    /// Tokens received.
    pub tokens_out: Option<u64>,
    /// Dollars.
    pub cost_usd: Option<f64>,
    /// Processes that outlived it and were ended.
    pub orphans: u32,
    /// Tokens that it read again of what the sessions before it had read; absent where that cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reread_tokens: Option<u64>,
}

/// When a gate ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateTime {
    /// Before the first session.
    Before,
    /// After the agent said that it was done.
    After,
    /// Because a checkpoint claims what only the gate can tell.
    Checkpoint,
}

impl From<GateWhen> for GateTime {
    fn from(when: GateWhen) -> Self {
        match when {
            GateWhen::Before => Self::Before,
            GateWhen::After => Self::After,
            GateWhen::Checkpoint => Self::Checkpoint,
        }
    }
}

/// A gate ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateFinished {
    /// Its name.
    pub gate: String,
    /// Whether its exit code was 0.
    pub passed: bool,
    /// Its exit code; null when a signal or the time-out ended it.
    pub exit: Option<i32>,
    /// How long it took.
    pub ms: u64,
    /// Before the work or after it.
    pub when: GateTime,
    /// Where its output is kept, below the work tree.
    pub output: Option<String>,
    /// It did not end within its time-out and was ended.
    #[serde(default)]
    pub timed_out: bool,
}

/// How a phase of a plan ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhaseStatus {
    /// Its gates passed.
    Completed,
    /// It cannot be finished as things are.
    Failed,
    /// A phase that it needs is not done.
    Blocked,
    /// A person must decide something. Schema 1 said `needs_person`.
    #[serde(alias = "needs_person")]
    NeedsInput,
    /// It became several smaller ones.
    Split,
}

/// A phase of a plan began or ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseFields {
    /// The phase's id in the plan.
    pub phase: String,
    /// How it ended; null while it runs.
    pub status: Option<PhaseStatus>,
    /// Where its report lies.
    pub report: Option<String>,
    /// What it is called.
    #[serde(default)]
    pub title: Option<String>,
    /// The run that works on it.
    #[serde(default)]
    pub phase_run: Option<String>,
}

/// Waiting began or ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitFields {
    /// What for.
    pub why: String,
    /// Until when.
    pub until: Option<Time>,
    /// The agent that is waited for.
    #[serde(default)]
    pub agent: Option<String>,
    /// What is wrong with it.
    #[serde(default)]
    pub failure: Option<AgentFailure>,
}

/// A limit was reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitReached {
    /// Which.
    pub limit: Limit,
    /// Its value.
    pub value: String,
}

/// Something a person should know and that changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// A short, stable name for it.
    pub code: String,
    /// The sentence.
    pub text: String,
}

/// A run is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunFinished {
    /// The verdict in one word.
    pub verdict: Verdict,
    /// Why, in one sentence.
    pub reason: String,
    /// Sessions started.
    pub sessions: u32,
    /// Sessions that were replaced.
    pub handoffs: u32,
    /// Overflow answers that agents really met.
    pub overflows: u32,
    /// Secrets that were taken out of what is kept and shown.
    pub redacted: u64,
    /// Tokens sent.
    pub tokens_in: Option<u64>,
    /// Tokens received.
    pub tokens_out: Option<u64>,
    /// Dollars.
    pub cost_usd: Option<f64>,
    /// From the request to the verdict.
    pub ms: u64,
    /// What to do next; null when there is nothing to do.
    pub advice: Option<String>,
    /// The limit that stopped it; null when none did.
    pub limit: Option<Limit>,
    /// The exit code of the process that ran it.
    pub exit_code: u8,
    /// When going on is worth a try, where a provider said so.
    #[serde(default)]
    pub until: Option<Time>,
    /// What the agent changed of what the gates run, and tests that are gone, emptied or skipped.
    #[serde(default)]
    pub gate_changes: Vec<GateChange>,
    /// Branches that were rewritten, moved or deleted during the run, in words.
    #[serde(default)]
    pub branch_changes: Vec<String>,
    /// The end of the agent's last message, at most ten lines; null when it said nothing.
    #[serde(default)]
    pub last_message: Option<String>,
}
