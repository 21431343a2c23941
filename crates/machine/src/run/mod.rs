//! The run machine: one run from the request to a verdict.
//!
//! Feed every record once and in order, `RunStarted` first. The time of a record is the only time there is. Effects
//! are returned in the order in which they are to be carried out; their outcomes come back as later records. Events
//! of a session that is over are ignored, so late news does no harm.

mod agent;
mod brake;
mod budget;
mod circles;
mod claims;
mod continuing;
mod economy;
mod ending;
mod failing;
mod futile;
mod gating;
mod handoff;
mod helper;
mod life;
mod limit_use;
mod moment;
mod next;
mod progress;
mod prose;
mod resume;
mod session;
mod side;
mod spending;
mod stages;
mod stall;
mod state;
mod stated;
mod turn;
mod view;
mod waiting;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::forecast::Growth;
use crate::gauge::Ratio;
use crate::policy::{Lines, Policy};
use crate::{
    Activity, Asked, Effect, Event, GateResult, Limit, Limits, Millis, Notice, Outcome, Record, RunSpec,
    SessionReason, TaskPart, Timer, Verdict,
};

pub use economy::{Reread, worth_words};
pub use life::{Life, OwnRetry};
use progress::Progress;
use spending::Spending;
pub use state::State;
pub use view::{
    Allowance, CheckpointRef, Doing, EndReason, HandoffKind, Message, Note, Outlook, Phase, SessionView,
    ToolDone, Totals, View, Waiting,
};

/// The machine of one run. It can be written down and read back anywhere between two records.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Run {
    view: View,
    now: Millis,
    progress: Progress,
    gates: Gates,
    /// The agent was asked for a checkpoint and has not answered.
    ask: Option<Pending>,
    /// The agent was asked beside its work and has not answered.
    side: Option<side::SideQuestion>,
    /// Side questions that were put in this run.
    sides: u32,
    /// The agent was asked ahead of time in this session.
    asked_early: bool,
    /// The agent's newest account of its work in this session.
    words: Option<side::Words>,
    /// Tools that ended in this session.
    tools_ended: u64,
    /// Messages of the run that had been said when the model was last given something: the ones after them may be missing in
    /// a conversation that is looked at while its tools run.
    given: u64,
    /// Hooks that asked whether the agent may go on and wait for an answer.
    hooks: Vec<String>,
    /// A checkpoint is being written.
    taking: Option<Then>,
    /// The session is being ended, or will be when its tool has ended.
    ending: Option<Ending>,
    /// Stages that fired in this session, by place in the policy.
    fired: BTreeSet<usize>,
    /// Results that the agent asked about and that have not come through its own stream, in characters.
    held: BTreeMap<String, u64>,
    /// Denied permission requests by kind.
    denials: BTreeMap<String, u32>,
    /// Warnings that are given once a session.
    warned: BTreeSet<String>,
    /// Something was completed since the last tool began.
    completed: bool,
    /// The agent was told of the soft line in this session.
    told: bool,
    /// The lines of a `forecast` stage, once there is a forecast in this session.
    lines: Option<Lines>,
    /// Where handing over pays.
    thrift: economy::Thrift,
    /// Model calls of the sessions that are over.
    calls_before: u64,
    /// What calls added in this repository, as far as it is known.
    growth: Growth,
    /// What is known of tool calls that are about to end, by the agent's id.
    described: BTreeMap<String, prose::Described>,
    /// The characters of what is kept of the agent's words.
    prose_chars: usize,
    /// Messages that the checkpoint which is being written stands for.
    covered: u64,
    /// The agent's answer that is being written down.
    answer: Option<String>,
    /// The agent wrote anything in this session.
    spoke: bool,
    /// segue wrote a checkpoint that the agent may still answer; it was told to go on meanwhile.
    unanswered: bool,
    /// Nothing has happened in the work since the last checkpoint.
    checkpoint_is_current: bool,
    /// No tool has run since the work was last put into git.
    work_is_saved: bool,
    agent: usize,
    fallback: Option<usize>,
    trim: u32,
    ratio: Ratio,
    /// How often in this session a tool was started while none ran: results of one answer come together.
    rounds: u32,
    /// The agent, by its place in the list, that told no usage in its last session.
    blind: Option<usize>,
    conversation: Option<String>,
    /// The conversation of the session before.
    last_talk: Option<continuing::Talk>,
    /// Why a conversation that is to be continued was interrupted.
    continues: Option<String>,
    /// How many calls this session had made when it was continued last.
    continued_at: Option<u32>,
    stop_asked: bool,
    /// What the agent said when it said that it was done.
    last_words: String,
    /// What waits for those words to be judged.
    judging: Option<stated::Judging>,
    /// The agent was asked for a status line and has not been given work since.
    status_asked: bool,
    /// The id of the side question for one.
    status_side: Option<String>,
    /// What the agent asked through its own mechanism and nobody answered.
    question: Option<String>,
    /// The agent takes one prompt and ends.
    one_shot: bool,
    /// A tool has ended since the agent last said that work is left.
    worked: bool,
    /// Turns in a row that ended with work left and without progress.
    unfinished: u32,
    /// What somebody answers to the agent, for its next prompt.
    user_answer: Option<String>,
    /// How often the agent was told that its words are not so.
    corrections: u32,
    /// Why the session that is waited for starts.
    held_back: Option<SessionReason>,
    /// When an allowance that this session has used up is full again.
    full_until: Option<Millis>,
    /// What was seen of each agent, by name.
    standings: BTreeMap<String, next::Standing>,
    circles: circles::Circles,
    /// The agent of this session failed.
    present_failed: bool,
    /// Characters of this session's first prompt.
    prompt_chars: u64,
    /// Characters of the agent's last checkpoint.
    checkpoint_chars: usize,
    /// The part of the task that is worked on; `None` is all of it.
    part: Option<TaskPart>,
    /// The agent says that its part is done: the next session is given the next one.
    part_is_done: bool,
    /// The agent whose tokens the ratio was learned from.
    ratio_of: String,
    helper: Option<helper::Helper>,
    /// A helper that changed files is not called again.
    helper_is_off: bool,
    /// Second opinions that sent the work back.
    objections: u32,
    /// What the last of them found missing, for the next prompt.
    missing: Option<String>,
    /// The account of the session at work.
    spending: Spending,
    /// Limits that were told to be near.
    near: BTreeSet<Limit>,
    /// The agent was told that its report is missing.
    report_asked: bool,
    /// Rounds in a row in which no tool was run.
    idle_rounds: u32,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Gates {
    pending: BTreeSet<String>,
    green_before: bool,
    asked_again: bool,
    failed: Vec<GateResult>,
    /// The work tree that the gates run on, until their round is settled.
    tree: Option<String>,
    /// Work trees that they failed on.
    failed_on: BTreeSet<String>,
    /// Failed rounds without progress.
    counted: u32,
    /// A gate passed in this round for the first time.
    newly_green: bool,
    /// The end that is near because of a limit, while the gates look at the work a last time.
    last_look: Option<Outcome>,
}

/// A checkpoint request that the agent has not answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Pending {
    asked: Asked,
    then: Then,
    /// It was put to the agent; else its turn is being stopped for it.
    sent: bool,
    /// Tokens of its own words, which the room that was kept for it includes.
    words: u64,
    /// The tool that was running, if any, has ended.
    tool_over: bool,
    /// The agent has stopped its work: what it does from here on is its answer.
    answering: bool,
    since: Millis,
}

/// What follows a checkpoint.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Then {
    GoOn,
    Gate,
    Replace(Replace),
    Start(SessionReason),
    /// The provider failed: the same agent again, perhaps later, or another one.
    Recover(String),
    Finish(Outcome, EndReason),
    /// Somebody else looks at the work before this is the verdict.
    Verify(Outcome),
}

/// A session that is to be replaced.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Replace {
    kind: HandoffKind,
    reason: String,
    end: EndReason,
    /// A full window is the cause, so it counts against `max_restarts`.
    counts: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Ending {
    reason: EndReason,
    after: After,
    sent: bool,
    /// An answer is coming in that may start a tool: it is heard out for a moment.
    hears_out: bool,
    /// What tools did after the work was saved is saved too before the run ends.
    save: bool,
}

/// What follows the end of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum After {
    Start(SessionReason),
    Finish(Outcome),
    /// The helper begins, or has said what it had to say.
    Helper,
}

impl Run {
    /// What is known about the run.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The same run at the same point under another policy: for asking what that would decide from here on.
    #[must_use]
    pub fn under(&self, policy: &Policy, limits: &Limits) -> Self {
        let mut other = self.clone();
        if let Some(spec) = other.view.spec.as_mut() {
            spec.policy = policy.clone();
            spec.limits = limits.clone();
        }
        other
    }

    /// Takes in one record and says what is to be done about it.
    pub fn handle(&mut self, record: &Record) -> Vec<Effect> {
        let mut out = Vec::new();
        self.now = record.at;
        let over = self.view.phase == Phase::Finished;
        if !over {
            self.view.at = record.at;
        }
        match &record.event {
            Event::RunStarted { spec } => self.start(spec, &mut out),
            Event::RunResumed { spec, same_session, orphans, at, now, circuits, answer } => {
                self.user_answer.clone_from(answer);
                self.learn(circuits, *now);
                self.resume(spec.as_deref(), *same_session, *orphans, at.as_ref(), &mut out);
            }
            Event::DaySpent(day) => self.day_spent(day, &mut out),
            _ if over || self.view.spec.is_none() => {}
            Event::SessionSpawned { session, pid, pid_start } => {
                if let Some(s) = self.session_mut(*session) {
                    s.pid = Some((*pid, *pid_start));
                }
            }
            Event::SessionNotStarted { session, why } => self.session_not_started(*session, why, &mut out),
            Event::Agent { session, event } => self.agent_event(*session, event, &mut out),
            Event::PromptSent { session, chars } => self.prompt_sent(*session, *chars),
            Event::SessionExited { session, exit, orphans } => {
                self.session_exited(*session, *exit, *orphans, &mut out);
            }
            Event::GatesBegan { tree, .. } => self.gates_began(tree.as_ref()),
            Event::GateFinished(result) => self.gate_finished(result, &mut out),
            Event::GateSwapped { .. } => {}
            Event::GateRestored { kept, .. } => Self::tell_kept(kept, &mut out),
            Event::GateChanged(change) => self.view.gate_changes.push(change.clone()),
            Event::CheckpointTaken { checkpoint, session, by, path, work, judged, .. } => {
                self.remember(checkpoint, *session, judged, &mut out);
                let (id, path) = (checkpoint.clone(), path.clone());
                self.checkpoint_stands(CheckpointRef { id, path, session: *session, by: *by, ledger: None });
                self.checkpoint_taken(work, &mut out);
            }
            Event::CheckpointFailed { session, why, work, .. } => {
                self.checkpoint_failed(*session, why, work, &mut out);
            }
            Event::PromptFailed { session, why } => self.prompt_failed(*session, why, &mut out),
            Event::WordsJudged { session, judged, tree, trouble } => {
                self.not_checked(trouble.as_deref(), &mut out);
                self.words_judged(*session, judged, tree.as_deref(), &mut out);
            }
            Event::WorkSaved { work } => self.work_saved(work, &mut out),
            Event::NoteLeft { text } | Event::DoneClaimed { text } => self.note(text),
            Event::BrakeAsked { session, request, tool, chars } => {
                self.brake(*session, request, tool, *chars, &mut out);
            }
            Event::SecretsRedacted { count, kinds } => self.redacted(*count, kinds, &mut out),
            Event::TimerFired { timer, quiet_ms, activity } => {
                self.timer_fired(*timer, *quiet_ms, activity.as_ref(), &mut out);
            }
            Event::StopAsked { how } => self.stop(*how, &mut out),
            Event::TryAsked => self.try_now(&mut out),
            Event::BaseMoved { text, .. } => Self::warn("base_moved", text.clone(), &mut out),
            Event::ModelPriced { session, model, price, quality } => {
                self.thrift.quality = *quality;
                self.model_priced(*session, model.as_deref(), price.as_ref(), &mut out);
            }
        }
        out
    }

    fn start(&mut self, spec: &RunSpec, out: &mut Vec<Effect>) {
        if self.view.spec.is_some() {
            return;
        }
        self.view.spec = Some(Box::new(spec.clone()));
        self.view.started_at = self.now;
        self.growth = spec.growth.clone().unwrap_or_default();
        self.view.circuits.clone_from(&spec.circuits);
        if let Some(from) = &spec.from {
            self.adopt(from);
        }
        self.view.ledger.rules(&spec.task.text);
        self.progress.base(
            spec.git.base_tree.as_deref(),
            spec.git.base_secrets.as_deref(),
            spec.git.base.as_deref(),
        );
        self.view.head.clone_from(&spec.git.base);
        self.view.day.clone_from(&spec.budget.today);
        self.set_deadline(out);
        if spec.agents.is_empty() {
            return self.finish_now(Outcome::new(Verdict::Failed, "no agent was given"), out);
        }
        self.gates_before(out);
    }

    fn set_deadline(&self, out: &mut Vec<Effect>) {
        if let Some(at) = self.deadline() {
            out.push(Effect::SetTimer { timer: Timer::Deadline, at });
        }
    }

    fn deadline(&self) -> Option<Millis> {
        self.limits().deadline_ms.map(|limit| self.view.started_at.saturating_add(limit))
    }

    fn note(&mut self, text: &str) {
        let session = self.view.sessions;
        self.remember_note(text);
        self.view.notes.push(Note { at: self.now, session, text: text.to_owned() });
        self.completed = true;
    }

    fn timer_fired(
        &mut self,
        timer: Timer,
        quiet_ms: u64,
        activity: Option<&Activity>,
        out: &mut Vec<Effect>,
    ) {
        match timer {
            Timer::Deadline => self.deadline_passed(out),
            Timer::Ask if self.helper_works() => self.helper_silent("it did not answer in time", out),
            Timer::Ask => self.ask_timed_out(out),
            Timer::Idle => self.look_for_stall(quiet_ms, activity, out),
            Timer::End => self.end_timed_out(out),
            Timer::Wait => self.wait_over(out),
            Timer::Side => self.side_timed_out(out),
        }
    }

    fn warn(code: &str, text: impl Into<String>, out: &mut Vec<Effect>) {
        out.push(Effect::Announce(Notice::Warned { code: code.to_owned(), text: text.into() }));
    }

    fn warn_once(&mut self, code: &'static str, text: impl Into<String>, out: &mut Vec<Effect>) {
        if self.warned.insert(code.to_owned()) {
            Self::warn(code, text, out);
        }
    }

    // A machine without a spec ignores everything but `RunStarted`, so this default is never acted upon.
    fn limits(&self) -> Limits {
        self.view.spec.as_ref().map(|s| s.limits.clone()).unwrap_or_default()
    }

    fn agent_name(&self, index: usize) -> String {
        self.view.spec.as_ref().and_then(|s| s.agents.get(index)).map(|a| a.name.clone()).unwrap_or_default()
    }

    fn session_mut(&mut self, n: u32) -> Option<&mut SessionView> {
        self.view.session.as_mut().filter(|s| s.n == n)
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
