//! What can be known about a run from its events: the part of the machine that everyone may look at.

use std::collections::{BTreeMap, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Life, Reread, State};
use crate::forecast::{Basis, CallsLeft, Forecast, Growth};
use crate::gauge::Gauge;
use crate::ledger::Ledger;
use crate::policy::Worth;
use crate::{
    AgentFailure, AgentSpent, Capabilities, CheckpointBy, Circuit, DaySpent, GateChange, GateResult,
    ListItem, Millis, Opening, Outcome, RunSpec, SessionReason, Spent,
};

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Nothing has happened.
    New,
    /// The gates run for the first time.
    GatesBefore,
    /// A session works, starts or ends.
    Working,
    /// No process runs: an agent's provider is waited for.
    Waiting,
    /// The agent says that it is done, and running the gates.
    Gating,
    /// The work is being saved for the last time.
    Saving,
    /// It is over.
    Finished,
}

/// Why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// Its work was done.
    Finished,
    /// Another session takes over.
    Replaced,
    /// Its window overflowed.
    Overflow,
    /// The agent failed.
    Failed,
    /// It fell silent.
    Stalled,
    /// The run was stopped.
    Stopped,
    /// segue itself died.
    Lost,
}

/// What comes after a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HandoffKind {
    /// The same session goes on.
    Continue,
    /// Same agent, fresh window.
    Restart,
    /// Another agent.
    Fallback,
    /// A short second opinion.
    Helper,
    /// There was no time to choose.
    Forced,
    /// Several smaller tasks.
    Split,
    /// Nothing: the run ends.
    Stop,
}

/// Tokens and money. `None` is unknown, never nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Tokens sent.
    pub tokens_in: Option<u64>,
    /// Tokens received.
    pub tokens_out: Option<u64>,
    /// Millionths of a dollar, as far as known; see [`Totals::cost`].
    pub cost_musd: Option<u64>,
    /// Tokens whose cost is not known.
    pub unpriced: u64,
}

impl Totals {
    /// Adds what another part spent.
    pub fn add(&mut self, other: Self) {
        self.tokens_in = sum(self.tokens_in, other.tokens_in);
        self.tokens_out = sum(self.tokens_out, other.tokens_out);
        self.cost_musd = sum(self.cost_musd, other.cost_musd);
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
    }

    /// What it cost, in millionths of a dollar; `None` when the cost of any part is unknown.
    pub fn cost(self) -> Option<u64> {
        self.cost_musd.filter(|_| self.unpriced == 0)
    }

    /// Tokens in both directions, as far as known.
    pub fn tokens(self) -> u64 {
        self.tokens_in.unwrap_or(0).saturating_add(self.tokens_out.unwrap_or(0))
    }
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    }
}

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// The process starts and opens a conversation.
    Starting,
    /// The agent works on a prompt.
    Working,
    /// The agent waits for a prompt.
    Idle,
    /// The agent was asked for a checkpoint.
    Asked,
    /// It is being ended.
    Ending,
}

/// One session as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionView {
    /// Its number in the run, from 1.
    pub n: u32,
    /// Its agent.
    pub agent: String,
    /// Its model, if known.
    pub model: Option<String>,
    /// Why it was started.
    pub reason: SessionReason,
    /// What it is doing.
    pub doing: Doing,
    /// The agent's own name for the conversation.
    pub conversation: Option<String>,
    /// Process id and start time.
    pub pid: Option<(u32, u64)>,
    /// What its agent can do.
    pub can: Capabilities,
    /// How full its window is.
    pub gauge: Gauge,
    /// How it will fill.
    pub forecast: Forecast,
    /// Tools that run now, by the agent's id, with their titles.
    pub tools: BTreeMap<String, String>,
    /// Tokens and money so far.
    pub spent: Totals,
    /// When it was asked for.
    pub started_at: Millis,
    /// What shows that it lives.
    pub life: Life,
}

impl SessionView {
    /// Takes in a result or message that the next call will carry.
    pub(super) fn pending(&mut self, chars: u64) {
        self.gauge.add(chars);
        self.forecast.add_pending(self.gauge.ratio().tokens(chars));
    }

    /// Takes in what the agent says.
    pub(super) fn said(&mut self, chars: u64) {
        self.gauge.add(chars);
        self.forecast.add_said(self.gauge.ratio().tokens(chars));
    }

    /// When its window will be full; `None` while there is no forecast or no ceiling.
    pub fn outlook(&self) -> Option<Outlook> {
        let room = self.gauge.ceiling()?.saturating_sub(self.gauge.tokens()?);
        let forecast = &self.forecast;
        forecast.is_there().then(|| {
            let calls = forecast.calls_left(room);
            let left_ms = forecast.pace_ms().map(|pace| pace.saturating_mul(u64::from(calls.middle)));
            Outlook { calls, left_ms, basis: forecast.basis(), seen: forecast.counted().calls() }
        })
    }
}

/// When a window will be full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outlook {
    /// Model calls until then.
    pub calls: CallsLeft,
    /// Time until then at the session's own pace.
    pub left_ms: Option<u64>,
    /// What this rests on.
    pub basis: Basis,
    /// Calls of this session that it rests on.
    pub seen: u64,
}

/// A note that the worker left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// When.
    pub at: Millis,
    /// In which session.
    pub session: u32,
    /// Its words.
    pub text: String,
}

/// A checkpoint that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointRef {
    /// Its id.
    pub id: String,
    /// Where it lies, below the work tree.
    pub path: String,
    /// The session it is about.
    pub session: u32,
    /// Who wrote it.
    pub by: CheckpointBy,
    /// What was remembered when it was taken, where somebody goes back to it or begins from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Box<Ledger>>,
}

/// How much of a provider's allowance is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// How much of it is used.
    pub used_percent: u32,
    /// When it is full again.
    pub resets_at: Option<Millis>,
}

/// A wait for an agent's provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// The agent.
    pub agent: String,
    /// What is wrong with it.
    pub failure: AgentFailure,
    /// What the wait is for, in words.
    pub why: String,
    /// When it ends.
    pub until: Millis,
    /// When it began.
    pub since: Millis,
}

/// A tool call that ended, for checkpoints that segue writes itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDone {
    /// In which session.
    pub session: u32,
    /// What it did, in the agent's words.
    pub title: String,
    /// Whether it worked.
    pub ok: bool,
    /// It only read something.
    pub reads: bool,
    /// The exit code of its command, where that is known.
    pub exit: Option<i32>,
    /// The last line of its output, where it failed.
    pub last_line: Option<String>,
}

/// Something that the agent said in its main thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Its place among all messages of the run, from 1.
    pub n: u64,
    /// In which session.
    pub session: u32,
    /// Its words, as far as they are kept.
    pub text: String,
}

/// Everything that can be known about a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Where it stands.
    pub phase: Phase,
    /// What it is to do.
    pub spec: Option<Box<RunSpec>>,
    /// The session at work.
    pub session: Option<SessionView>,
    /// Sessions started.
    pub sessions: u32,
    /// Sessions that were replaced.
    pub handoffs: u32,
    /// Fresh sessions after a full window.
    pub restarts: u32,
    /// Overflow answers that agents really met.
    pub overflows: u32,
    /// Handoffs in a row without progress.
    pub without_progress: u32,
    /// Tokens and money of the sessions that are over; see [`View::spent`].
    pub past: Totals,
    /// The last result of each gate.
    pub gates: BTreeMap<String, GateResult>,
    /// When each of these results was taken.
    pub gates_at: BTreeMap<String, Millis>,
    /// The work tree that they are about, where it is known.
    pub gates_tree: Option<String>,
    /// A tool has run since the gates did, so that their results may be out of date.
    pub gates_stale: bool,
    /// What was found changed of what the gates run, in the last round.
    pub gate_changes: Vec<GateChange>,
    /// Branches that were rewritten, moved or deleted during the run, in words.
    pub branch_changes: Vec<String>,
    /// What the run remembers.
    #[serde(with = "crate::ledger::whole")]
    pub ledger: Ledger,
    /// Rounds of gates after the work.
    pub round: u32,
    /// The worker's notes.
    pub notes: Vec<Note>,
    /// The last tool calls, oldest first; at most [`View::TOOLS_KEPT`].
    pub tools_done: Vec<ToolDone>,
    /// Tool calls that ended after the last checkpoint was begun, so that it cannot hold them.
    pub tools_since: Vec<ToolDone>,
    /// The agent's own list: open and closed items.
    pub items: Option<(u32, u32)>,
    /// The items of that list, where the agent tells them.
    pub list: Vec<ListItem>,
    /// Tools that were running when the last session ended, until the next one is told.
    pub cut: Vec<String>,
    /// Why a run that was taken up again had ended, until its session is told.
    pub interrupted: Option<String>,
    /// What the agent said since its last checkpoint, oldest first; at most [`View::PROSE_KEPT`] characters.
    pub prose: VecDeque<Message>,
    /// Messages of the agent in the whole run.
    pub messages: u64,
    /// The last checkpoint that an agent wrote.
    pub checkpoint_by_agent: Option<CheckpointRef>,
    /// The provider's allowances, by name, as last told.
    pub allowances: BTreeMap<String, Allowance>,
    /// What the calls of the session that ended last added.
    pub grown: Growth,
    /// Secrets that were taken out of what is kept.
    pub redacted: u64,
    /// The last checkpoint.
    pub checkpoint: Option<CheckpointRef>,
    /// The end of the last message by an agent at work, at most [`View::MESSAGE_LINES`] lines.
    pub last_message: Option<String>,
    /// A newer checkpoint than that could not be written.
    pub checkpoint_failed: bool,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// When the run was asked for.
    pub started_at: Millis,
    /// When it ended.
    pub finished_at: Option<Millis>,
    /// The time of the last event before its end.
    pub at: Millis,
    /// What the run waits for.
    pub waiting: Option<Waiting>,
    /// Accounts that failed and have not worked since.
    pub circuits: Vec<Circuit>,
    /// Failures of providers in a row, without progress.
    pub failures: u32,
    /// The commit that was checked out when the work was last looked at.
    pub head: Option<String>,
    /// What the sessions that are over spent, by agent.
    pub by_agent: BTreeMap<String, AgentSpent>,
    /// What the first calls of each session took, with its agent, oldest first.
    pub openings: Vec<(String, Opening)>,
    /// The day's book as last told.
    pub day: Option<DaySpent>,
    /// What a handoff of the session at work is worth.
    pub worth: Option<Worth>,
    /// What each session read again of what the ones before it had read.
    pub rereads: Vec<Reread>,
    /// What the session at work read again, at most [`Reread::FILES`].
    pub read_again: Vec<String>,
}

impl View {
    /// How many finished tool calls are remembered.
    pub const TOOLS_KEPT: usize = 200;
    /// How many characters of what the agent said are remembered.
    pub const PROSE_KEPT: usize = 160_000;

    /// How many lines of the agent's last message are kept.
    pub const MESSAGE_LINES: usize = 10;

    /// Keeps the end of what an agent said, if it said anything.
    pub(super) fn keep_message(&mut self, text: &str) {
        const COLUMNS: usize = 400;
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        let kept = lines.iter().skip(lines.len().saturating_sub(Self::MESSAGE_LINES));
        let kept: Vec<String> = kept.map(|line| line.chars().take(COLUMNS).collect()).collect();
        if !kept.is_empty() {
            self.last_message = Some(kept.join("\n"));
        }
    }

    /// Tokens and money of the whole run so far.
    pub fn spent(&self) -> Totals {
        let mut spent = self.past;
        if let Some(session) = &self.session {
            spent.add(session.spent);
        }
        spent
    }

    /// Tokens, money and sessions of one agent so far.
    pub fn spent_by(&self, agent: &str) -> AgentSpent {
        let mut spent = self.by_agent.get(agent).copied().unwrap_or_default();
        if let Some(session) = self.session.as_ref().filter(|s| s.agent == agent) {
            spent.totals.add(session.spent);
            spent.sessions += 1;
        }
        spent
    }

    /// What all runs together have spent in the day that was last told of.
    pub fn today(&self, now: Millis) -> Option<Spent> {
        let day = self.day.as_ref()?;
        let own = Spent::of(self.spent(), self.sessions).less(day.before);
        let wall_ms = self.finished_at.unwrap_or(now).saturating_sub(day.since);
        Some(day.others.plus(Spent { wall_ms, ..own }))
    }
}

impl View {
    /// What the session at work does at this moment, as far as it can be told apart.
    pub fn state(&self, now: Millis) -> Option<State> {
        let limits = &self.spec.as_ref()?.limits;
        self.session.as_ref().map(|session| session.state(limits, now))
    }
}

impl Default for View {
    fn default() -> Self {
        Self {
            phase: Phase::New,
            spec: None,
            session: None,
            sessions: 0,
            handoffs: 0,
            restarts: 0,
            overflows: 0,
            without_progress: 0,
            past: Totals::default(),
            gates: BTreeMap::new(),
            gates_at: BTreeMap::new(),
            gates_tree: None,
            gates_stale: false,
            gate_changes: Vec::new(),
            branch_changes: Vec::new(),
            ledger: Ledger::default(),
            round: 0,
            notes: Vec::new(),
            tools_done: Vec::new(),
            tools_since: Vec::new(),
            cut: Vec::new(),
            interrupted: None,
            items: None,
            list: Vec::new(),
            prose: VecDeque::new(),
            messages: 0,
            checkpoint_by_agent: None,
            allowances: BTreeMap::new(),
            grown: Growth::default(),
            redacted: 0,
            checkpoint: None,
            last_message: None,
            checkpoint_failed: false,
            outcome: None,
            started_at: 0,
            finished_at: None,
            at: 0,
            waiting: None,
            circuits: Vec::new(),
            failures: 0,
            head: None,
            by_agent: BTreeMap::new(),
            openings: Vec::new(),
            day: None,
            worth: None,
            rereads: Vec::new(),
            read_again: Vec::new(),
        }
    }
}
