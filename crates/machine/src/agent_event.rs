//! What agents say and do, in words that fit every agent, and what each of them can.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Millis, Reading, Subject};

/// What an agent said or did, in words that fit every agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AgentEvent {
    /// The conversation is open and takes prompts.
    Ready {
        /// The agent's own name for the conversation.
        conversation: String,
        /// The model, if it says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The window, if it says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window: Option<u64>,
        /// Where the agent itself would compact, block or fail, if that is below the window.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ceiling: Option<u64>,
        /// What it can do.
        can: Capabilities,
    },
    /// A model call was made.
    UsageRead(Reading),
    /// It wrote text: an answer, a thought, tool input.
    TextSaid {
        /// Its weight, about four for each token.
        chars: u64,
    },
    /// It said something in its main thread: one whole message. What is stored of it is bounded.
    Said {
        /// Its words.
        text: String,
    },
    /// A tool began to run.
    ToolStarted {
        /// The agent's id for the call.
        tool: String,
        /// What it does, in the agent's words.
        title: String,
    },
    /// A tool ended.
    ToolEnded {
        /// The agent's id for the call.
        tool: String,
        /// What it did, in the agent's words.
        title: String,
        /// Whether it worked.
        ok: bool,
        /// The weight of its result, which the next call will carry: about four for each token.
        chars: u64,
    },
    /// What is known of a tool call that is about to end, beside its title.
    ToolDescribed {
        /// The agent's id for the call.
        tool: String,
        /// It only read something: files, a search, a page.
        #[serde(default)]
        reads: bool,
        /// The exit code of the command that it ran.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit: Option<i32>,
        /// The last line of its output, where it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_line: Option<String>,
    },
    /// The agent's own list of steps changed.
    ItemsSeen {
        /// Steps not yet done.
        open: u32,
        /// Steps done.
        closed: u32,
        /// The steps themselves, in the agent's order, where it tells them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        items: Vec<ListItem>,
    },
    /// The provider says how much of an allowance is used.
    AllowanceSeen {
        /// The allowance, in the provider's words.
        name: String,
        /// How much of it is used.
        used_percent: u32,
        /// When it is full again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resets_at: Option<Millis>,
    },
    /// The agent was asked for its own idea of the fill, as a cross-check.
    CrossChecked {
        /// What the last reading said.
        reading: u64,
        /// What the agent says.
        agent: u64,
    },
    /// The agent compacted its own context.
    Compacted,
    /// The agent wants to be allowed something. The driver answers as the machine says.
    PermissionAsked {
        /// The agent's id for the request.
        request: String,
        /// The kind of tool.
        kind: String,
        /// What it wants to do.
        title: String,
        /// The command or the files that it is about.
        #[serde(default, skip_serializing_if = "Subject::is_empty")]
        subject: Subject,
    },
    /// The checkpoint request was answered.
    Answered {
        /// The whole answer.
        text: String,
    },
    /// The checkpoint request could not be put to the agent, or failed.
    NotAnswered {
        /// Why.
        why: String,
    },
    /// A side question was answered; the work went on meanwhile.
    SideAnswered {
        /// The driver's id for the question.
        id: String,
        /// The whole answer.
        text: String,
    },
    /// A side question could not be put, or was not answered.
    SideFailed {
        /// The driver's id for the question.
        id: String,
        /// Why.
        why: String,
    },
    /// The agent stopped working on the prompt.
    TurnEnded(TurnEnd),
    /// The agent tries a call again by itself.
    Retrying {
        /// Which retry this is, from 1.
        attempt: u32,
        /// Of how many.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<u32>,
        /// Why, in its own words.
        why: String,
        /// What kind of failure it is.
        failure: AgentFailure,
        /// How long it waits before the next try.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay_ms: Option<u64>,
        /// When the next try is due.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next_at: Option<Millis>,
    },
    /// A line that the decoder does not know. It never ends a run.
    Unrecognised {
        /// The beginning of the line, made readable.
        text: String,
        /// The whole length in bytes.
        bytes: u64,
    },
}

/// One step of an agent's own list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListItem {
    /// The agent's id for it, or its place in the list, from 1.
    pub id: String,
    /// What it says.
    pub text: String,
    /// How far it is.
    pub state: ItemState,
}

/// How far a step of an agent's list is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// Not begun.
    Pending,
    /// Begun and not done.
    InProgress,
    /// Done.
    Completed,
    /// Given up.
    Cancelled,
}

impl ItemState {
    /// Whether nothing is left to do about it.
    pub fn is_closed(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled)
    }
}

impl AgentEvent {
    /// The longest list and the longest step that are stored.
    const LIST: usize = 200;
    const ITEM_CHARS: usize = 400;

    /// A list as it is now; the counts are of all of it, however long it is.
    pub fn list(items: impl IntoIterator<Item = ListItem>) -> Self {
        let (mut open, mut closed, mut kept) = (0_u32, 0_u32, Vec::new());
        for mut item in items {
            *(if item.state.is_closed() { &mut closed } else { &mut open }) += 1;
            if kept.len() < Self::LIST {
                item.text = crate::checkpoint::cut_chars(&item.text, Self::ITEM_CHARS);
                kept.push(item);
            }
        }
        Self::ItemsSeen { open, closed, items: kept }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum TurnEnd {
    /// By itself: the agent says that it is done.
    Finished {
        /// Its last words.
        text: String,
    },
    /// It was cancelled, by us or by the agent.
    Cancelled,
    /// The context did not fit into the window any more.
    Overflow {
        /// The agent's or API's message.
        message: String,
    },
    /// Something else went wrong.
    Failed {
        /// Which kind of thing.
        failure: AgentFailure,
        /// The agent's or API's message.
        message: String,
        /// When to come back, as the agent or the API says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry: Option<Retry>,
    },
}

impl TurnEnd {
    /// A failure that says nothing about when to come back.
    pub fn failed(failure: AgentFailure, message: impl Into<String>) -> Self {
        Self::Failed { failure, message: message.into(), retry: None }
    }
}

/// When an agent may be tried again, as it was told: adapters have no clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// At this moment.
    At(Millis),
    /// So many milliseconds after it was told.
    After(u64),
}

/// Why an agent cannot go on. Each has an action of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentFailure {
    /// The provider has too much to do.
    Overloaded,
    /// Too many requests for now.
    RateLimited,
    /// Nothing left to spend.
    Quota,
    /// Not logged in, or not allowed.
    Unauthorised,
    /// The model does not exist or may not be used.
    BadModel,
    /// The provider cannot be reached.
    Network,
    /// The agent refuses to work on this.
    Refused,
    /// Anything else.
    Other,
}

/// What an agent can do, as far as the decisions depend on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// It can be asked for a checkpoint inside the conversation.
    pub ask: bool,
    /// It takes several prompts in one conversation.
    pub follow_up: bool,
    /// It is expected to report usage while a turn runs.
    pub usage: bool,
    /// It asks before a call that follows tool results, and can be stopped there.
    #[serde(default)]
    pub brake: bool,
    /// It can be told something while it works, without being disturbed.
    #[serde(default = "could_always")]
    pub tell: bool,
    /// It answers questions from its conversation while it works, without being disturbed.
    #[serde(default)]
    pub side: bool,
    /// Its conversation can be continued after a failure, also by another process.
    #[serde(default)]
    pub resume: bool,
}

// Runs from before this was asked told every agent.
fn could_always() -> bool {
    true
}
