//! What the persona answers, before it is put into an API's words, and what it costs.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::conversation::{chars, tokens};

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Which conversation of the agent it belongs to.
    pub thread: Thread,
    /// What was asked for.
    pub kind: Kind,
    /// What the model says.
    pub text: String,
    /// The tools it calls.
    pub calls: Vec<Call>,
    /// The steps that those calls do.
    pub steps: Vec<u32>,
    /// Tokens that it thinks before it says anything; the client does not get to see them.
    pub reasoning: u64,
}

impl Answer {
    /// Words only.
    pub fn words(thread: Thread, kind: Kind, text: impl Into<String>) -> Self {
        Self { thread, kind, text: text.into(), calls: Vec::new(), steps: Vec::new(), reasoning: 0 }
    }

    /// Tokens of the answer: its text, and name and input of each call, 4 characters each, rounded up once, and the
    /// reasoning.
    pub fn tokens(&self) -> u64 {
        let calls: u64 = self.calls.iter().map(|call| chars(&call.name) + chars(&call.input.text())).sum();
        tokens(chars(&self.text) + calls) + self.reasoning
    }
}

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool's name.
    pub name: String,
    /// What it is given.
    pub input: Input,
}

/// What a tool is given.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// An object.
    Object(Value),
    /// Free text.
    Text(String),
}

impl Input {
    /// As it goes over the wire.
    pub fn text(&self) -> String {
        match self {
            Self::Object(value) => value.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// Which conversation of the agent a request belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thread {
    /// The one with the user.
    Main,
    /// A sub-agent's, or a request that the CLI makes for itself.
    Side,
    /// A question beside the one with the user, answered from it: a side question, or a fork of the conversation.
    Fork,
}

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The next move of the worker.
    Work,
    /// A checkpoint.
    Checkpoint,
    /// A summary in place of the conversation.
    Compact,
    /// A title for the conversation.
    Title,
    /// A question that the CLI puts for itself: who speaks next, which model is to answer.
    Check,
    /// Whether the server is there and the key is good.
    Probe,
    /// How many tokens a request would have.
    Count,
    /// The list of models.
    Models,
    /// Anything else; it was refused.
    Unknown,
}
