//! Decides what a run does next. Its other half is the driver in the `segue` crate, which does what is decided here.
//!
//! [`Run::handle`] takes one [`Record`] and returns the [`Effect`]s it causes. The same records always give the
//! same effects: there is no clock, file, environment, randomness or task in this crate, and lints keep it so.

pub mod amounts;
pub mod checkpoint;
pub mod claims;
pub mod forecast;
pub mod gauge;
pub mod ledger;
pub mod parts;
pub mod policy;
pub mod statement;

mod agent_event;
mod budget;
mod circuit;
mod effect;
mod event;
mod limits;
mod permission;
mod price;
mod run;
mod spec;
mod usage;
mod verdict;
mod wait_rules;

pub use agent_event::{AgentEvent, AgentFailure, Capabilities, ItemState, ListItem, Retry, TurnEnd};
pub use budget::{AgentBudget, AgentSpent, BudgetSpec, DayLimits, DaySpent, Opening, Spent};
pub use circuit::Circuit;
pub use effect::{
    Choice, Considered, Continued, Depth, Effect, EndHow, NextKind, NextStep, Notice, Prompt, TaskPart, Timer,
};
pub use event::{
    Activity, Asked, ChangeHow, ChangedFile, CheckpointBy, CheckpointHow, Claims, Event, GateChange,
    GateResult, GateWhen, MODEL_CALL, Millis, Record, SessionReason, StopHow, WordsSource, WorkState,
};
pub use limits::{Limit, Limits};
pub use permission::Subject;
pub use price::{LongPrompt, Price, Rates};
pub use run::{
    Allowance, CheckpointRef, Doing, EndReason, HandoffKind, Life, Message, Note, Outlook, OwnRetry, Phase,
    Reread, Run, SessionView, State, ToolDone, Totals, View, Waiting, worth_words,
};
pub use spec::{AgentSpec, CommitMode, GateSpec, GitSpec, LastWords, NextSpec, RoleSpec, RunSpec, Task};
pub use usage::{Reading, Scope, Source};
pub use verdict::{Outcome, Verdict};
pub use wait_rules::{OnRateLimit, WaitRules};
