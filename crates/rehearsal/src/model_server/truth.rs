//! What the server really saw: one line per request, to hold an agent's gauge against.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::answer::{Kind, Thread};
use super::conversation::{Conversation, Turn};
use super::script::FaultKind;

/// One request and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TruthLine {
    /// Counts all requests from 1, in the order in which they came in.
    pub n: u64,
    /// When it came in, in milliseconds since 1970.
    pub at_ms: u64,
    /// Which API it was sent to.
    pub api: Api,
    /// The main thread has the user's conversation. A request is on the side when its task starts with the sub-agent
    /// mark, when it asks for a title, a summary, a count or an answer in a given shape, or when it carries neither tools
    /// nor a list. A question beside the main thread is a fork: Claude Code says that it is one, elsewhere it is a new
    /// session that begins with an old conversation and a request for a checkpoint.
    pub thread: Thread,
    /// What it asked for.
    pub kind: Kind,
    /// The session that the client named.
    pub session: Option<String>,
    /// The model that the client named.
    pub model: String,
    /// Tokens of the request: all that the model would see, 4 characters to a token or as the server's vocabulary counts.
    pub input_tokens: u64,
    /// How many of them were cached.
    pub cached: u64,
    /// Tokens of the answer; 0 when it was refused.
    pub output_tokens: u64,
    /// Both together: what an exact gauge reads after this call.
    pub occupancy: u64,
    /// Whether the answer was to come as a stream.
    pub stream: bool,
    /// The HTTP status; 0 when no byte was sent.
    pub status: u16,
    /// The error's own type or code.
    pub error: Option<String>,
    /// The fault that was injected.
    pub fault: Option<String>,
    /// The steps that the answer runs.
    pub steps: Vec<u32>,
    /// The tools that the answer calls.
    pub calls: Vec<String>,
    /// The tools on offer, when they are others than in the request before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// The request came with a key that is not the one in the script; its value is kept nowhere.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub other_key: bool,
}

impl TruthLine {
    /// Reads a log; a last line that is not finished is left out.
    pub fn parse(text: &str) -> Vec<Self> {
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Whether this is a main-thread model call whose answer arrived whole: what a gauge must have read.
    pub fn is_reading(&self) -> bool {
        let whole = self.fault.as_deref() != Some(FaultKind::CutStream.name());
        self.thread == Thread::Main && self.status == 200 && self.error.is_none() && whole
    }

    /// Whether the request was longer than the window.
    pub fn is_overflow(&self) -> bool {
        self.error.as_deref().is_some_and(|error| error == TOO_LONG)
    }
}

/// The first request of a conversation: what the model knows before it says anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// Its number among all requests.
    pub n: u64,
    /// The session that the client named.
    pub session: Option<String>,
    /// The user's words in it.
    pub prompt: String,
    /// All of its words, instructions and reminders included.
    pub text: String,
}

impl Opening {
    /// The opening of a conversation in which the model has said nothing yet.
    pub(super) fn of(n: u64, talk: &Conversation) -> Option<Self> {
        let (mut prompt, mut text) = (String::new(), String::new());
        for turn in &talk.turns {
            match turn {
                Turn::Agent(_) | Turn::Call(..) | Turn::Result(_) => return None,
                Turn::User(words) => prompt += &format!("{words}\n"),
                Turn::System(_) => {}
            }
            if let Turn::User(words) | Turn::System(words) = turn {
                text += &format!("{words}\n");
            }
        }
        Some(Self { n, session: talk.session.clone(), prompt, text })
    }
}

/// The error in the log when a request is longer than the window, whatever the API calls it.
pub(super) const TOO_LONG: &str = "too_long";

/// An API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// Messages.
    Anthropic,
    /// Responses.
    OpenAi,
    /// Chat Completions.
    Chat,
    /// Gemini.
    Gemini,
}

/// The lines so far, in memory and on disk.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) lines: Vec<TruthLine>,
    pub(super) openings: Vec<Opening>,
    file: Option<File>,
    last_tools: Option<Vec<String>>,
}

impl Log {
    pub(super) fn open(path: Option<&Path>) -> io::Result<Self> {
        let open = |path: &Path| {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            OpenOptions::new().create(true).append(true).open(path)
        };
        Ok(Self { file: path.map(open).transpose()?, ..Self::default() })
    }

    pub(super) fn add(&mut self, mut line: TruthLine) -> io::Result<()> {
        if line.tools == self.last_tools {
            line.tools = None;
        } else if line.tools.is_some() {
            self.last_tools.clone_from(&line.tools);
        }
        let text = serde_json::to_string(&line)?;
        self.lines.push(line);
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(format!("{text}\n").as_bytes()))
    }
}
