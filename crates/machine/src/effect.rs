//! What is to be done. Effects are imperative; the driver carries each one out after the event that caused it is
//! durable, and tells the outcome as an event.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::claims::Judged;
use crate::{
    AgentFailure, Asked, CheckpointBy, Circuit, EndReason, GateResult, GateWhen, HandoffKind, Limit, Millis,
    Outcome, SessionReason, WordsSource,
};

/// One thing for the driver to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Effect {
    /// Run every gate that is not manual.
    RunGates {
        /// Before the work or after it.
        when: GateWhen,
        /// 0 before the work, then counted from 1.
        round: u32,
    },
    /// Start an agent.
    StartSession {
        /// The session's number in the run.
        session: u32,
        /// The agent's name.
        agent: String,
        /// Why.
        reason: SessionReason,
        /// A conversation to take up again instead of opening a new one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conversation: Option<String>,
    },
    /// Give the agent something to do.
    SendPrompt {
        /// The session's number in the run.
        session: u32,
        /// What.
        prompt: Prompt,
    },
    /// Ask the agent for a checkpoint, inside the conversation and without breaking a running tool.
    AskCheckpoint {
        /// The session's number in the run.
        session: u32,
        /// What for.
        asked: Asked,
    },
    /// Ask the agent something beside its work, which goes on undisturbed.
    AskSide {
        /// The session's number in the run.
        session: u32,
        /// The question's id, unique in the run.
        id: String,
        /// What the checkpoint is for; `None` asks for a status line.
        asked: Option<Asked>,
    },
    /// Tell the agent something that needs no answer.
    TellAgent {
        /// The session's number in the run.
        session: u32,
        /// What.
        text: String,
    },
    /// Answer a permission request.
    AnswerPermission {
        /// The session's number in the run.
        session: u32,
        /// The agent's id for the request.
        request: String,
        /// Yes or no.
        allow: bool,
    },
    /// Answer an agent that asks whether it may go on.
    AnswerBrake {
        /// The driver's id for the question.
        request: String,
        /// Whether it has to stop here.
        stop: bool,
    },
    /// Gather the facts, write the checkpoint, and put the work into git.
    TakeCheckpoint {
        /// The session it is about.
        session: u32,
        /// What for.
        asked: Asked,
        /// Whose words it holds.
        by: CheckpointBy,
        /// The agent's answer, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
        /// Commit on the branch too, where the configuration commits there.
        commit: bool,
        /// What is to follow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<NextStep>,
        /// Where the answer comes from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<WordsSource>,
    },
    /// Hold the agent's last words against the repository and the gates.
    JudgeWords {
        /// The session's number in the run.
        session: u32,
        /// What it said.
        text: String,
        /// Say also which files there are.
        #[serde(default)]
        tree: bool,
    },
    /// Put the work into git.
    SaveWork {
        /// The word for the state of the work, for the commit message.
        status: String,
        /// Commit on the branch too, where the configuration commits there.
        commit: bool,
    },
    /// Write the hand-over file that the policy promises.
    WriteHandoffFile {
        /// Why the work stopped.
        reason: String,
    },
    /// End the session and everything it started.
    EndSession {
        /// The session's number in the run.
        session: u32,
        /// Gently or at once.
        how: EndHow,
    },
    /// Tell me when this time comes; replaces a timer of the same kind.
    SetTimer {
        /// Which.
        timer: Timer,
        /// When.
        at: Millis,
    },
    /// Forget a timer.
    ClearTimer {
        /// Which.
        timer: Timer,
    },
    /// Tell other runs what was learned about an account.
    KeepCircuit {
        /// The account.
        account: String,
        /// What is wrong with it; `None` when it is fine again.
        #[serde(default)]
        circuit: Option<Circuit>,
    },
    /// Let everyone who looks know.
    Announce(Notice),
    /// The run is over.
    Finish(Outcome),
}

/// What is to follow a checkpoint, as far as it is decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextStep {
    /// What.
    pub kind: NextKind,
    /// By whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// What can follow a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NextKind {
    /// The session goes on.
    Continue,
    /// The gates run.
    Gates,
    /// A fresh session of the same agent.
    Restart,
    /// A session of another agent.
    Fallback,
    /// A session that there was no time to choose.
    Forced,
    /// A short second opinion.
    Helper,
    /// A part of the task.
    Split,
    /// The run was taken up again.
    Resume,
    /// The run ends.
    Stop,
}

/// How to end a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndHow {
    /// Close the conversation, then signal, then kill.
    Gently,
    /// Kill.
    AtOnce,
}

/// A timer by purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timer {
    /// The run's deadline.
    Deadline,
    /// The answer to a checkpoint request.
    Ask,
    /// A look at whether the agent is still alive.
    Idle,
    /// The last tool before a session is ended.
    End,
    /// The end of a wait.
    Wait,
    /// The answer to a side question.
    Side,
}

/// How much a checkpoint holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// What is needed to go on at once.
    Emergency,
    /// The state in a few lines.
    Brief,
    /// Everything the next session must know.
    Full,
}

impl Depth {
    /// The next smaller form; `None` when there is none.
    pub fn smaller(self) -> Option<Self> {
        match self {
            Self::Full => Some(Self::Brief),
            Self::Brief => Some(Self::Emergency),
            Self::Emergency => None,
        }
    }

    /// Tokens of room that asking for it takes.
    pub fn room(self) -> u64 {
        match self {
            Self::Emergency => 500,
            Self::Brief => 1_500,
            Self::Full => 4_000,
        }
    }
}

/// What an agent is told to do. The driver makes the words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Prompt {
    /// The task, for the first time.
    Task,
    /// The checkpoint and the task, in a fresh window.
    Continuation {
        /// The checkpoint to go on from; `None` when there is none yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checkpoint: Option<String>,
        /// Which fresh window this is.
        restart: u32,
        /// How hard to cut: 0 is the whole checkpoint, each step halves it.
        trim: u32,
        /// Gates that failed last.
        #[serde(default)]
        failed: Vec<GateResult>,
        /// Only this part of the task's list; the rest follows later.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<TaskPart>,
        /// What a second opinion says is missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missing: Option<String>,
        /// What somebody answers to what the agent asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
    },
    /// Gates failed: what they said.
    GatesFailed {
        /// Which round this is.
        round: u32,
        /// Of how many.
        of: u32,
        /// The failed gates.
        failed: Vec<GateResult>,
    },
    /// What the agent said last is not so.
    ClaimsWrong {
        /// Which round this is.
        round: u32,
        /// Of how many.
        of: u32,
        /// What it said and what was found.
        claims: Vec<Judged>,
    },
    /// The gates were green before the work began, so green now shows nothing.
    GreenBefore {
        /// List items that are still open.
        open: u32,
    },
    /// The checkpoint is written; go on.
    GoOn,
    /// The agent stated that work is left: continue with it.
    NotDone {
        /// What is left, in its words; empty when it did not say.
        left: String,
    },
    /// The agent stopped without a status line: ask for it.
    AskStatus,
    /// What somebody answers to what the agent asked for.
    Answered {
        /// The answer.
        answer: String,
    },
    /// The conversation was interrupted and is continued.
    Continue {
        /// What interrupted it.
        after: String,
        /// Tools that were running then and may be half done.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        cut: Vec<String>,
    },
    /// Read the work and say whether it is done; change nothing.
    Verify,
}

/// How a conversation is continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Continued {
    /// The process that holds it is still there.
    Alive,
    /// A new process took it up.
    Resumed,
}

/// A part of a task: items of its list, by their place among the open ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskPart {
    /// The first of them, from 1.
    pub first: u32,
    /// The last of them.
    pub last: u32,
    /// Of how many.
    pub of: u32,
}

/// Something that was decided or noticed and that people may want to see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "notice", rename_all = "snake_case")]
pub enum Notice {
    /// The gauge passed a stage.
    StageReached {
        /// The session's number in the run.
        session: u32,
        /// The stage as configured.
        stage: String,
        /// What is done there, as configured.
        actions: Vec<String>,
        /// Tokens, projected ones included.
        tokens: Option<u64>,
        /// Hundredths of a percent of the ceiling.
        percent: Option<u32>,
        /// Who would take over, where the stage chooses.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fallback: Option<String>,
        /// Why there, where that is not the window: price, or the model's own limits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// The agent is asked for a checkpoint.
    CheckpointRequested {
        /// The session's number in the run.
        session: u32,
        /// How much it should hold.
        depth: Depth,
        /// When segue writes it itself; `None` while a tool runs.
        deadline: Option<Millis>,
        /// By a side question, which does not interrupt the work.
        #[serde(default)]
        side: bool,
    },
    /// What comes after this session.
    HandoffDecided {
        /// The session that ends.
        from: u32,
        /// Its agent.
        from_agent: String,
        /// The next agent, if any.
        to_agent: Option<String>,
        /// What kind of handoff.
        kind: HandoffKind,
        /// Why.
        reason: String,
        /// The checkpoint that crosses.
        checkpoint: Option<String>,
        /// Every agent that was looked at, in order, with what was found.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        considered: Vec<Considered>,
    },
    /// A session is over.
    SessionEnded {
        /// The session's number in the run.
        session: u32,
        /// Why.
        reason: EndReason,
        /// Its exit code.
        exit: Option<i32>,
        /// Tokens in the window at the end.
        fill: Option<u64>,
        /// Tokens sent.
        tokens_in: Option<u64>,
        /// Tokens received.
        tokens_out: Option<u64>,
        /// Millionths of a dollar.
        cost_musd: Option<u64>,
        /// Processes that outlived it and were ended.
        orphans: u32,
        /// Tokens that it read again of what the sessions before it had read; `None` where that cannot be told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reread: Option<u64>,
    },
    /// A limit was reached.
    LimitReached {
        /// Which.
        limit: Limit,
        /// Its value.
        value: String,
    },
    /// The conversation of a session is continued after a failure.
    SessionContinued {
        /// The session's number in the run.
        session: u32,
        /// In the same process or in a new one.
        how: Continued,
        /// What interrupted it.
        after: String,
    },
    /// The run waits for an agent's provider. A process whose conversation is to be continued may be kept meanwhile.
    WaitStarted {
        /// The agent.
        agent: String,
        /// What is wrong with it.
        failure: AgentFailure,
        /// What the wait is for, in words.
        why: String,
        /// When it ends.
        until: Millis,
    },
    /// The wait is over, by time or because someone asked.
    WaitEnded {
        /// The agent.
        agent: String,
        /// What was wrong with it.
        failure: AgentFailure,
        /// What the wait was for, in words.
        why: String,
        /// When it was to end.
        until: Millis,
    },
    /// Something a person should know and that changes nothing.
    Warned {
        /// A short, stable name for it.
        code: String,
        /// The sentence.
        text: String,
    },
}

/// One agent that was looked at when it was decided who goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Considered {
    /// Its name.
    pub agent: String,
    /// What came of it.
    pub verdict: Choice,
    /// Why.
    pub why: String,
}

/// What came of looking at an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// It goes on.
    Chosen,
    /// It could, but another comes before it.
    Possible,
    /// It cannot.
    Skipped,
}
