//! One module per agent: how it is driven, what its bytes mean, what to write to it.
//!
//! Pure: an [`Adapter`] is a protocol without a process. The driver in the `segue` crate owns the process, gives the
//! adapter each line that comes out of it and writes what the adapter wants written.

pub mod acp;
pub mod claude;
pub mod codex;
pub mod command;
pub mod gemini;
pub mod opencode;
pub mod prices;
pub mod quality;
pub mod windows;

mod edits;
mod failure;
mod lines;
mod retry;

use segue_machine::gauge::weigh;
use segue_machine::{AgentEvent, ItemState, ListItem};

pub use edits::{Edit, edits};
pub use failure::classify;
use failure::failure_of;
pub use lines::{Lines, MAX_LINE};

/// Something the driver wants from an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Work on this.
    Prompt(String),
    /// Stop at the next good point and answer this; the running tool is not to be broken.
    Ask(String),
    /// Take note of this; no answer is needed.
    Tell(String),
    /// Answer this from the conversation as it stands, beside the work and without running a tool. The answer comes back
    /// as [`AgentEvent::SideAnswered`] or [`AgentEvent::SideFailed`] with the same id, and never as part of a turn.
    SideQuestion {
        /// The driver's id for the question, unique in the session.
        id: String,
        /// The question.
        text: String,
    },
    /// The answer to a permission request.
    Permission {
        /// The request's id, as the event had it.
        request: String,
        /// Yes or no.
        allow: bool,
    },
    /// The agent's own hook was told to stop it before its next call.
    Braked,
    /// The session is over.
    Close,
}

/// What an adapter wants done after it was given something.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Io {
    /// Bytes for the agent's standard input.
    pub write: Vec<u8>,
    /// What happened, in order.
    pub events: Vec<AgentEvent>,
    /// Nothing more will be written.
    pub close: bool,
    /// What the agent's own hook is to add to the next tool's result.
    pub hook_context: Option<String>,
}

/// What is added to an agent's command and environment.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Extras {
    /// Arguments.
    pub args: Vec<String>,
    /// Variables.
    pub env: Vec<(String, String)>,
    /// Files of segue's own that it is started with, by path.
    pub files: Vec<(String, String)>,
    /// How long it may take to end by itself after its input was closed, if not as long as others.
    pub grace_ms: Option<u64>,
}

/// A file to be read along: the one below a folder of the agent's own that has this ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// The variable that moves the agent's own folder…
    pub home: &'static str,
    /// …where that lies below what the variable names…
    pub below: &'static str,
    /// …and where it lies below the user's home without it.
    pub fallback: &'static str,
    /// The folder in it.
    pub folder: &'static str,
    /// How the file's name ends.
    pub ends_with: String,
}

/// The weight of every text in a JSON value: what a tool's result adds to a prompt, near enough.
pub fn text_weight(value: &serde_json::Value) -> u64 {
    use serde_json::Value;
    match value {
        Value::String(text) => weigh(text),
        Value::Array(items) => items.iter().map(text_weight).sum(),
        Value::Object(fields) => fields.values().map(text_weight).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// A time in milliseconds that an agent gave as any number.
fn whole_ms(ms: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time, clamped")]
    let whole = ms.clamp(0.0, 1e15).round() as u64;
    whole
}

/// What is known of a tool call that has just ended; `None` when there is nothing to tell beside its title.
fn described(tool: &str, reads: bool, ok: bool, exit: Option<i64>, output: &str) -> Option<AgentEvent> {
    let exit = exit.and_then(|code| i32::try_from(code).ok());
    let last = output.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let last_line = last.filter(|_| !ok).map(str::to_owned);
    let told = reads || exit.is_some_and(|code| code != 0) || last_line.is_some();
    told.then(|| AgentEvent::ToolDescribed { tool: tool.to_owned(), reads, exit, last_line })
}

/// One step of a list, in the words that agents have for how far it is.
fn list_item(id: String, text: &str, state: &str) -> ListItem {
    let state = match state {
        "in_progress" | "inProgress" | "in-progress" => ItemState::InProgress,
        "completed" | "done" => ItemState::Completed,
        "cancelled" | "canceled" => ItemState::Cancelled,
        _ => ItemState::Pending,
    };
    ListItem { id, text: text.to_owned(), state }
}

/// A list as a JSON array: the text below the first of `texts` that an item has, its state below `status`.
fn list(items: &serde_json::Value, texts: &[&str]) -> Option<AgentEvent> {
    let items = items.as_array()?.iter().enumerate().map(|(place, item)| {
        let text = texts.iter().find_map(|name| item[*name].as_str()).unwrap_or_default();
        let id = item["id"].as_str().map_or_else(|| (place + 1).to_string(), str::to_owned);
        list_item(id, text, item["status"].as_str().unwrap_or_default())
    });
    Some(AgentEvent::list(items))
}

/// A message of the main thread.
fn said(text: &str, io: &mut Io) {
    if !text.trim().is_empty() {
        io.events.push(AgentEvent::Said { text: text.to_owned() });
    }
}

/// What an agent without side questions answers to one.
fn no_side_question(id: String, io: &mut Io) {
    io.events.push(AgentEvent::SideFailed { id, why: "this agent takes no side questions".to_owned() });
}

/// What happened, without what is told beside it for checkpoints: that has tests of its own.
#[cfg(test)]
fn without_words(io: &mut Io) -> Vec<AgentEvent> {
    let beside =
        |event: &AgentEvent| matches!(event, AgentEvent::Said { .. } | AgentEvent::ToolDescribed { .. });
    std::mem::take(&mut io.events).into_iter().filter(|event| !beside(event)).collect()
}

/// A line that is not understood: its beginning, made readable.
fn readable(line: &[u8]) -> AgentEvent {
    let head = &line[..line.len().min(200)];
    AgentEvent::Unrecognised { text: String::from_utf8_lossy(head).into_owned(), bytes: line.len() as u64 }
}

/// An agent's protocol. Call [`open`](Adapter::open) once, then [`line`](Adapter::line) for every line in order, and
/// [`exited`](Adapter::exited) once at the end.
pub trait Adapter: Send {
    /// The process runs, or would run if this agent started before its first prompt.
    fn open(&mut self, io: &mut Io);

    /// One line of standard output, without its newline; never split, however long.
    fn line(&mut self, line: &[u8], io: &mut Io);

    /// One line of the file that [`tail`](Adapter::tail) names.
    fn tailed(&mut self, _line: &[u8], _io: &mut Io) {}

    /// A file that the agent writes beside its output and that has to be read along with it, once it is known.
    fn tail(&self) -> Option<Tail> {
        None
    }

    /// Does what the driver wants.
    fn act(&mut self, act: Act, io: &mut Io);

    /// The process is gone and all its output was read.
    fn exited(&mut self, exit: Option<i32>, io: &mut Io);

    /// Flags and variables that this conversation needs beside the configured command.
    fn extras(&self) -> Extras {
        Extras::default()
    }

    /// The agent takes its prompt when it is started, so there is no process before the first prompt.
    fn starts_with_prompt(&self) -> bool {
        false
    }
}
