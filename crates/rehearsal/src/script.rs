//! How the scripted agent behaves, as data that a test or the demo writes down.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Everything that can be set about the scripted agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// Tokens that one model call can hold.
    pub window: u64,
    /// Tokens that every call carries before any text: system prompt and tool descriptions.
    pub system_tokens: u64,
    /// How long one model call takes.
    pub think_ms: u64,
    /// How long the command of one step sleeps.
    pub step_ms: u64,
    /// Characters of one tool result; a shorter output is padded.
    pub step_output_chars: u64,
    /// Whether it tells how full its window is.
    pub report_usage: bool,
    /// What a second prompt does while a turn runs.
    pub steer: Steer,
    /// How it answers a checkpoint request.
    pub checkpoint: CheckpointHabit,
    /// It compacts its own context from this share of the window on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact_at_percent: Option<u32>,
    /// It asks for permission before each tool.
    pub permissions: bool,
    /// It takes notes while it works.
    pub notes: bool,
    /// It goes on with its turn, and does not exit, when its input ends.
    pub ignore_eof: bool,
    /// What it adds to its checkpoint, by session; one string of Markdown each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// What it says when its list is done, time after time; the last of them from then on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub last_words: Vec<String>,
    /// What it answers at once, without any work, to a prompt that holds certain words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<Reply>,
    /// What stands in the output of every step beside its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_output: Option<String>,
    /// What every tool call is called, instead of its command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_title: Option<String>,
    /// It says its words in pieces of this many characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub piece_chars: Option<u32>,
    /// What goes wrong, and where.
    pub faults: Vec<Fault>,
    /// Steps run in a session of their own, out of reach of a signal to the agent's process group.
    pub detach_tools: bool,
    /// Where conversations are kept; without it none can be loaded again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_dir: Option<PathBuf>,
    /// Where the truth is written; without it the file that `SEGUE_STEP_LOG` names, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_log: Option<PathBuf>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            window: 100_000,
            system_tokens: 10_000,
            think_ms: 0,
            step_ms: 0,
            step_output_chars: 400,
            report_usage: true,
            steer: Steer::Supersede,
            checkpoint: CheckpointHabit::Answer,
            compact_at_percent: None,
            permissions: false,
            notes: false,
            ignore_eof: false,
            remarks: Vec::new(),
            last_words: Vec::new(),
            replies: Vec::new(),
            step_output: None,
            tool_title: None,
            piece_chars: None,
            faults: Vec::new(),
            detach_tools: false,
            state_dir: None,
            step_log: None,
        }
    }
}

/// What a second prompt does while a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steer {
    /// The running tool finishes, the first turn ends as cancelled, the second prompt is answered.
    Supersede,
    /// It is refused.
    CancelOnly,
}

/// How a checkpoint request is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointHabit {
    /// With a tagged block.
    Answer,
    /// With the same text and no tags.
    NoTags,
    /// Not at all: it goes on with its list.
    Ignore,
    /// With an error.
    RefuseError,
}

/// An answer that is given at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// Words of the prompt.
    pub when: String,
    /// The answer.
    pub say: String,
}

/// Something that goes wrong when a step is about to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The step.
    pub at_step: u32,
    /// Only in this session, counted from 1 through the step log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u32>,
    /// What goes wrong.
    pub kind: FaultKind,
}

/// What can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The tool never ends.
    Hang,
    /// The agent exits with 101.
    Crash,
    /// 50 MB of message text in many lines.
    Flood,
    /// Lines that are no JSON, no UTF-8, two objects, and a batch.
    BrokenJson,
    /// The step is claimed, with a file that does not exist, and not done.
    Lie,
    /// Half a line, then exit with 1.
    HalfLineExit,
    /// Nothing more comes, and nothing is answered.
    Silent,
    /// One line of 3 MB.
    HugeLine,
    /// The model call before the step is refused.
    Provider {
        /// In which way.
        says: Refusal,
        /// For so long after the first time, and the refusal says so; else every time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resets_in_ms: Option<u64>,
        /// At most so often, over all sessions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        times: Option<u32>,
    },
}

/// How a provider refuses a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// It has too much to do.
    Overloaded,
    /// Too many requests.
    RateLimited,
    /// Nothing left to spend.
    Quota,
    /// The key is not valid.
    Unauthorised,
    /// There is no such model.
    BadModel,
    /// It cannot be reached.
    Network,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_as_it_is_written_and_a_wrong_key_is_refused() {
        let text = r#"{"window": 500, "steer": "cancel_only", "checkpoint": "no_tags",
            "faults": [{"at_step": 2, "kind": "half_line_exit"}]}"#;
        let script: Script = serde_json::from_str(text).unwrap();
        assert_eq!((script.window, script.report_usage, script.steer), (500, true, Steer::CancelOnly));
        assert_eq!(script.faults, [Fault { at_step: 2, session: None, kind: FaultKind::HalfLineExit }]);
        let again: Script = serde_json::from_str(&serde_json::to_string(&script).unwrap()).unwrap();
        assert_eq!(again, script);
        assert!(serde_json::from_str::<Script>(r#"{"windw": 5}"#).is_err());
    }
}
