//! How the model server behaves, as data that a test writes down.
//!
//! Nothing here runs: the persona's habits, the window, the faults and where the logs go.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::script::CheckpointHabit;

/// Everything that can be set about the model server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerScript {
    /// Port on loopback; 0 lets the system choose.
    pub port: u16,
    /// Tokens that one request can hold.
    pub window: u64,
    /// Whether the answer that a request allows must fit as well, as Messages and Chat Completions have it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub counts_answer: bool,
    /// In which form the Responses API tells that a request is too long.
    pub window_error: WindowError,
    /// How the worker behaves.
    pub persona: PersonaOptions,
    /// What goes wrong, and where.
    pub faults: Vec<Fault>,
    /// Where the truth is written, one JSON line per request; keep it outside the work tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth_log: Option<PathBuf>,
    /// How long a model call takes before its first byte.
    pub latency_ms: u64,
    /// The key that agents were given; the truth log tells when a request came with another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Keep the body of every model call, for tests that compare what an agent sent.
    pub keep_bodies: bool,
}

impl Default for ServerScript {
    fn default() -> Self {
        Self {
            port: 0,
            window: 200_000,
            counts_answer: false,
            window_error: WindowError::Http,
            persona: PersonaOptions::default(),
            faults: Vec::new(),
            truth_log: None,
            latency_ms: 0,
            key: None,
            keep_bodies: false,
        }
    }
}

/// How the Responses API tells that a request is too long; the other APIs have one form only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowError {
    /// HTTP 400 with the code `context_length_exceeded`.
    Http,
    /// A stream that ends in `response.failed` with that code; a request without a stream gets HTTP 400.
    Stream,
}

/// How the worker behaves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PersonaOptions {
    /// Named in the command of each step as `SEGUE_STEP_LOG`; without it the agent's own environment decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_log: Option<PathBuf>,
    /// Steps per answer, as so many tool calls; 0 and 1 mean one.
    pub parallel: u32,
    /// How a checkpoint request is answered; `refuse_error` answers with a refusal in words.
    pub checkpoint: CheckpointHabit,
    /// What sort of worker it is.
    #[serde(skip_serializing_if = "is_plain")]
    pub manner: Manner,
    /// What it says in the middle of its prose, by the step before which it says so; a checkpoint of its own holds all of
    /// it that stands in the conversation.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<u32, Vec<String>>,
    /// Files that it reads between its steps, one after the other, by their paths from the work tree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub looks: Vec<String>,
    /// How many of them before each step.
    pub looks_per_step: u32,
    /// How many of them at a time; 0 and 1 mean one.
    pub abreast: u32,
    /// Before every so many steps it changes the file that it read last; 0 means never.
    pub edit_every: u32,
    /// What it does before its first step, one call each, whatever comes of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chores: Vec<Chore>,
    /// Whether it keeps its list with the CLI's own tool, where there is one.
    pub keeps_list: bool,
    /// How a step is done.
    pub every: StepHabit,
    /// Steps that are done in another way, by number.
    pub steps: BTreeMap<u32, StepHabit>,
}

impl Default for PersonaOptions {
    fn default() -> Self {
        Self {
            step_log: None,
            parallel: 1,
            checkpoint: CheckpointHabit::Answer,
            manner: Manner::Plain,
            facts: BTreeMap::new(),
            looks: Vec::new(),
            looks_per_step: 0,
            abreast: 1,
            edit_every: 0,
            chores: Vec::new(),
            keeps_list: false,
            every: StepHabit::default(),
            steps: BTreeMap::new(),
        }
    }
}

impl PersonaOptions {
    /// How this step is done.
    pub fn habit(&self, step: u32) -> StepHabit {
        self.steps.get(&step).copied().unwrap_or(self.every)
    }
}

/// One call of a tool, for tests of what an agent may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chore {
    /// It reads a file.
    Read(String),
    /// It replaces the first text in a file by the second, with the CLI's own tool where there is one.
    Edit(String, String, String),
    /// It writes a new file with this text, with the CLI's own tool where there is one.
    Write(String, String),
    /// It runs a command.
    Run(String),
}

/// What sort of worker it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Manner {
    /// It does what it is told and keeps no to-do list.
    #[default]
    Plain,
    /// At any mention of its context, its window or a checkpoint it writes its checkpoint and ends the turn.
    Eager,
    /// It never answers a request for a checkpoint.
    Silent,
    /// Its checkpoint calls the next step done.
    Lying,
    /// Its checkpoint says every item in other words; it drops, swaps and reuses the items' ids.
    Paraphrasing,
    /// It takes a call that still runs for interrupted, and its checkpoint says so.
    BelievesInterruption,
    /// It answers a question beside the conversation with its next tool call.
    ToolAnswering,
}

fn is_plain(manner: &Manner) -> bool {
    *manner == Manner::Plain
}

/// How one step is done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StepHabit {
    /// Characters that the command prints besides its own line.
    pub output_chars: u64,
    /// How long the command sleeps.
    pub sleep_ms: u64,
    /// Characters of prose that the model says before it calls the tool, if that is more than its usual sentence and the
    /// facts of the step.
    pub say_chars: u64,
    /// Tokens that the model thinks before it says anything; they count as output and are never sent back.
    pub think_tokens: u64,
    /// A sub-agent does the step, where the CLI has them.
    pub subagent: bool,
}

/// Something that goes wrong. Only main-thread model calls have faults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// From this main-thread model call on, counted from 1 with the failed ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_request: Option<u64>,
    /// When the answer would run this step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_step: Option<u32>,
    /// When a checkpoint is asked for.
    #[serde(default)]
    pub at_checkpoint: bool,
    /// What goes wrong.
    pub kind: FaultKind,
    /// How often; the largest number stands for: until the faults are cleared.
    #[serde(default = "once")]
    pub times: u32,
}

fn once() -> u32 {
    1
}

/// What can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// 429.
    RateLimit {
        /// Seconds in the `retry-after` header, or in the `RetryInfo` of the Gemini API, if there is to be one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<u64>,
        /// With the headers that tell limits, what remains, and when it is reset; the Gemini API names the limit in
        /// the body.
        #[serde(default)]
        headers: bool,
    },
    /// 529 on Messages, 503 on the others.
    Overloaded,
    /// 401.
    Unauthorized,
    /// 403.
    Forbidden,
    /// 500.
    ServerError,
    /// The money is spent: 400 on Messages, 429 with `insufficient_quota` on Responses and Chat Completions, 429 with a
    /// limit per day on Gemini.
    Quota,
    /// The connection ends in the middle of the answer.
    CutStream,
    /// No bytes in the middle of the answer for so long; then the rest.
    Stall {
        /// How long.
        ms: u64,
    },
    /// No byte at all.
    Hang,
    /// The request is refused as too long, whatever its size.
    Overflow,
}

impl FaultKind {
    /// The name in the truth log.
    pub fn name(self) -> &'static str {
        match self {
            Self::RateLimit { .. } => "rate_limit",
            Self::Overloaded => "overloaded",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::ServerError => "server_error",
            Self::Quota => "quota",
            Self::CutStream => "cut_stream",
            Self::Stall { .. } => "stall",
            Self::Hang => "hang",
            Self::Overflow => "overflow",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_as_it_is_written_and_a_wrong_key_is_refused() {
        let text = r#"{"window": 500, "window_error": "stream", "persona": {"parallel": 3,
            "steps": {"4": {"output_chars": 9000, "subagent": true}}},
            "faults": [{"at_step": 2, "kind": {"rate_limit": {"retry_after": 1}}, "times": 2},
                       {"at_request": 7, "kind": "hang"}]}"#;
        let script: ServerScript = serde_json::from_str(text).unwrap();
        assert_eq!((script.window, script.window_error), (500, WindowError::Stream));
        assert!(script.persona.habit(4).subagent && !script.persona.habit(3).subagent);
        assert_eq!(script.faults[0].kind, FaultKind::RateLimit { retry_after: Some(1), headers: false });
        assert_eq!((script.faults[1].at_request, script.faults[1].times), (Some(7), 1));
        let again: ServerScript = serde_json::from_str(&serde_json::to_string(&script).unwrap()).unwrap();
        assert_eq!(again, script);
        assert!(serde_json::from_str::<ServerScript>(r#"{"windw": 5}"#).is_err());
    }
}
