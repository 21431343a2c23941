//! Where a run stands, as one document: `segue status --json` writes it, `segue status` renders it for people.
//! It is made from a view and the time; it looks nothing up.

mod text;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use segue_machine::policy::Worth;
use segue_machine::{
    AgentFailure, CheckpointBy, Circuit, Doing, GateChange, GateSpec, Limits, Millis, Outcome, Phase,
    RunSpec, SessionReason, SessionView, Source, State, Verdict, View, WaitRules, Waiting, worth_words,
};
use serde::Serialize;
use serde_json::Value;

use crate::stream::{dollars, number};
use crate::{ForecastFields, GateTime, Time, terminal};

pub use text::render;

const NOTES_SHOWN: usize = 5;

/// Where a run stands. What is unknown is `null`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StatusDoc {
    /// The version of this document.
    pub schema: u32,
    /// The run's id.
    pub run: String,
    /// The first line of its task.
    pub task: Option<String>,
    /// The policy's name.
    pub policy: Option<String>,
    /// The work tree.
    pub workdir: Option<String>,
    /// Where it stands.
    pub phase: Phase,
    /// How it ended; null while it runs.
    pub verdict: Option<VerdictDoc>,
    /// The end of the last message by an agent at work, at most ten lines; null when it said nothing.
    pub last_message: Option<String>,
    /// What the agent changed of what gates run, or what could not be checked of it.
    pub gate_changes: Vec<GateChange>,
    /// The session at work.
    pub session: Option<SessionDoc>,
    /// Sessions started.
    pub sessions: u32,
    /// Sessions that were replaced.
    pub handoffs: u32,
    /// Fresh sessions after a full window.
    pub restarts: u32,
    /// Overflow answers that agents really met.
    pub overflows: u32,
    /// Tokens sent, over all sessions.
    pub tokens_in: Option<u64>,
    /// Tokens received, over all sessions.
    pub tokens_out: Option<u64>,
    /// Dollars, over all sessions.
    pub cost_usd: Option<f64>,
    /// The gates in the order in which they run.
    pub gates: Vec<GateDoc>,
    /// Branches that were rewritten, moved or deleted during the run, in words.
    pub branch_changes: Vec<String>,
    /// The last checkpoint.
    pub checkpoint: Option<CheckpointDoc>,
    /// The worker's last notes, oldest first.
    pub notes: Vec<NoteDoc>,
    /// The limits and what is used of them.
    pub limits: Option<LimitsDoc>,
    /// When the run was asked for.
    pub started: Option<Time>,
    /// When it ended.
    pub finished: Option<Time>,
    /// Time from the request to the end, or until the moment of asking.
    pub elapsed_ms: Option<u64>,
    /// What it waits for; null while it does not.
    pub waiting: Option<WaitingDoc>,
    /// Accounts that failed and have not worked since.
    pub circuits: Vec<CircuitDoc>,
    /// Its process is gone although it did not end; null otherwise.
    pub crashed: Option<CrashDoc>,
}

/// A run whose process is gone although it did not end.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CrashDoc {
    /// The last sign of life.
    pub since: Time,
    /// Processes of it that are still there.
    pub alive: Vec<u32>,
    #[serde(skip)]
    ago: String,
}

/// What a run waits for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WaitingDoc {
    /// The agent.
    pub agent: String,
    /// What is wrong with it.
    pub failure: AgentFailure,
    /// What the wait is for, in words.
    pub why: String,
    /// When it ends.
    pub until: Time,
    #[serde(skip)]
    clock: String,
    #[serde(skip)]
    left: String,
}

/// An account that failed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CircuitDoc {
    /// The account, or the agent's name where it has none.
    pub account: String,
    /// How it failed last.
    pub failure: AgentFailure,
    /// How often in a row.
    pub failures: u32,
    /// Whether it is held back; else its next session is a trial.
    pub open: bool,
    /// When it may be tried again; null until a person has mended it.
    pub until: Option<Time>,
    #[serde(skip)]
    words: String,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VerdictDoc {
    /// The verdict in one word.
    pub verdict: Verdict,
    /// Why, in one sentence.
    pub reason: String,
    /// What to do next.
    pub advice: Option<String>,
    /// Whether `resume` has something to go on with.
    pub resumable: bool,
}

/// The session at work.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SessionDoc {
    /// The session: "s1", "s2" and so on.
    pub session: String,
    /// Its number.
    pub n: u32,
    /// Its agent.
    pub agent: String,
    /// Its model.
    pub model: Option<String>,
    /// Why it was started.
    pub reason: SessionReason,
    /// What it is doing.
    pub doing: Doing,
    /// What it is doing, more exactly: thinking, tool, silent_tool, permission, retrying, silent, gone, or as `doing`.
    pub state: Option<String>,
    /// The same in words, with figures.
    pub state_text: Option<String>,
    /// Cores in use at the last look; null when unknown or when it was not quiet.
    pub cores: Option<f64>,
    /// Processes at the last look.
    pub processes: Option<u32>,
    /// Tokens of the last call.
    pub tokens: Option<u64>,
    /// Tokens that the next call will carry.
    pub projected: Option<u64>,
    /// Tokens the model can hold.
    pub window: Option<u64>,
    /// Where the agent itself would compact, block or fail.
    pub ceiling: Option<u64>,
    /// The larger of `tokens` and `projected`, in percent of the ceiling.
    pub percent: Option<f64>,
    /// How good the number is.
    pub source: Source,
    /// Model calls so far.
    pub calls: u32,
    /// Tool calls so far.
    pub tools: u32,
    /// When its window will be full; null while there is no forecast.
    pub forecast: Option<ForecastFields>,
    /// What handing over at this moment is worth; null where no price is known or it would not pay.
    pub handoff: Option<WorthDoc>,
    /// Titles of the tools that run now.
    pub running: Vec<String>,
    /// When it was asked for.
    pub started: Time,
}

/// What handing over is worth.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WorthDoc {
    /// Dollars for a call as the session stands.
    pub call_usd: f64,
    /// Dollars for the same call in a fresh session.
    pub fresh_usd: f64,
    /// Calls after which the handoff has paid for itself.
    pub pays_back_calls: u32,
    #[serde(skip)]
    words: String,
}

/// A gate and its last result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GateDoc {
    /// Its name.
    pub gate: String,
    /// A person decides.
    pub manual: bool,
    /// Whether it passed; null before it ran.
    pub passed: Option<bool>,
    /// Its exit code.
    pub exit: Option<i32>,
    /// How long it took.
    pub ms: Option<u64>,
    /// Before the work or after it.
    pub when: Option<GateTime>,
    /// It did not end within its time-out.
    pub timed_out: bool,
}

/// A checkpoint that was taken.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CheckpointDoc {
    /// Its id.
    pub checkpoint: String,
    /// The session it is about.
    pub session: String,
    /// Who wrote it.
    pub by: CheckpointBy,
    /// Where it lies, below the work tree.
    pub path: String,
}

/// A note that the worker left.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NoteDoc {
    /// When.
    pub at: Time,
    /// In which session.
    pub session: String,
    /// Its words.
    pub text: String,
}

/// One limit: how much there may be and how much there is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Use<T> {
    /// The limit; null when there is none.
    pub max: Option<T>,
    /// What is used of it; null when unknown.
    pub used: Option<T>,
}

/// The limits of the run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LimitsDoc {
    /// Wall time of the whole run.
    pub deadline_ms: Use<u64>,
    /// Fresh sessions after a full window.
    pub restarts: Use<u32>,
    /// Handoffs in a row without progress.
    pub handoffs_without_progress: Use<u32>,
    /// Rounds of gates.
    pub gate_rounds: Use<u32>,
    /// Money.
    pub cost_usd: Use<f64>,
    /// Tokens sent and received.
    pub tokens: Use<u64>,
    /// Sessions of the run.
    pub sessions: Use<u32>,
    /// What all runs spent in the day, as the run last heard; null when nobody keeps a book.
    pub day: Option<DayDoc>,
}

/// The day's budget, over all runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DayDoc {
    /// The local day.
    pub day: String,
    /// Money.
    pub cost_usd: Use<f64>,
    /// Tokens sent and received.
    pub tokens: Use<u64>,
    /// Sessions started.
    pub sessions: Use<u32>,
    /// Wall time of the runs, added up.
    pub wall_ms: Use<u64>,
}

impl StatusDoc {
    /// The document for a run at a moment.
    pub fn new(run_id: impl Into<String>, view: &View, now: Millis) -> Self {
        let spec = view.spec.as_deref();
        let spent = view.spent();
        let elapsed = spec.map(|_| view.finished_at.unwrap_or(now).saturating_sub(view.started_at));
        Self {
            schema: crate::SCHEMA,
            run: run_id.into(),
            task: spec.map(|s| terminal::title(&s.task.text)),
            policy: spec.map(|s| s.policy.name.clone()),
            workdir: spec.map(|s| s.workdir.clone()),
            phase: view.phase,
            last_message: view.last_message.clone(),
            gate_changes: view.gate_changes.clone(),
            verdict: view.outcome.as_ref().map(verdict),
            session: view
                .session
                .as_ref()
                .map(|s| SessionDoc { handoff: view.worth.map(worth), ..session(s, view.state(now)) }),
            sessions: view.sessions,
            handoffs: view.handoffs,
            restarts: view.restarts,
            overflows: view.overflows,
            tokens_in: spent.tokens_in,
            tokens_out: spent.tokens_out,
            cost_usd: spent.cost().map(dollars),
            gates: spec.map(|s| gates(s, view)).unwrap_or_default(),
            branch_changes: view.branch_changes.clone(),
            checkpoint: view.checkpoint.as_ref().map(|c| CheckpointDoc {
                checkpoint: c.id.clone(),
                session: format!("s{}", c.session),
                by: c.by,
                path: c.path.clone(),
            }),
            notes: notes(view),
            limits: spec.map(|s| LimitsDoc { day: day(s, view, now), ..limits(&s.limits, view, elapsed) }),
            started: spec.map(|_| Time(view.started_at)),
            finished: view.finished_at.map(Time),
            elapsed_ms: elapsed,
            waiting: view.waiting.as_ref().map(|wait| waiting(wait, view, now)),
            circuits: view.circuits.iter().map(|circuit| circuit_doc(circuit, view, now)).collect(),
            crashed: None,
        }
    }

    /// The same for a run whose process is gone although it did not end: nothing of it is going on.
    #[must_use]
    pub fn crashed(mut self, since: Millis, alive: Vec<u32>, now: Millis) -> Self {
        self.elapsed_ms = self.started.map(|started| since.saturating_sub(started.0));
        self.waiting = None;
        if let Some(session) = self.session.as_mut() {
            (session.state, session.state_text) = (Some("lost".to_owned()), Some("lost".to_owned()));
            session.running.clear();
            session.cores = None;
            session.processes = None;
        }
        let ago = terminal::duration(now.saturating_sub(since));
        self.crashed = Some(CrashDoc { since: Time(since), alive, ago });
        self
    }
}

/// The JSON Schema of the document.
pub fn schema() -> Value {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<StatusDoc>()
        .to_value()
}

fn verdict(outcome: &Outcome) -> VerdictDoc {
    VerdictDoc {
        verdict: outcome.verdict,
        reason: outcome.reason.clone(),
        advice: outcome.advice.clone(),
        resumable: outcome.resumable(),
    }
}

fn rules(view: &View) -> WaitRules {
    view.spec.as_ref().map(|spec| spec.wait.clone()).unwrap_or_default()
}

fn waiting(wait: &Waiting, view: &View, now: Millis) -> WaitingDoc {
    WaitingDoc {
        agent: wait.agent.clone(),
        failure: wait.failure,
        why: wait.why.clone(),
        until: Time(wait.until),
        clock: rules(view).clock(wait.until, now),
        left: terminal::duration(wait.until.saturating_sub(now)),
    }
}

fn circuit_doc(circuit: &Circuit, view: &View, now: Millis) -> CircuitDoc {
    CircuitDoc {
        account: circuit.account.clone(),
        failure: circuit.failure,
        failures: circuit.failures,
        open: circuit.is_open(now),
        until: circuit.until.map(Time),
        words: circuit.words(now, &rules(view)),
    }
}

fn session(session: &SessionView, state: Option<State>) -> SessionDoc {
    let gauge = &session.gauge;
    SessionDoc {
        session: format!("s{}", session.n),
        n: session.n,
        agent: session.agent.clone(),
        model: session.model.clone(),
        reason: session.reason,
        doing: session.doing,
        state: state.as_ref().map(|state| state.name().to_owned()),
        state_text: state.as_ref().map(ToString::to_string),
        cores: session.life.cores.map(|cores| f64::from(cores) / 100.0),
        processes: session.life.procs,
        tokens: gauge.tokens(),
        projected: gauge.projected(),
        window: gauge.window(),
        ceiling: gauge.ceiling(),
        percent: gauge.percent().map(number),
        source: gauge.source(),
        calls: gauge.calls(),
        tools: gauge.tools(),
        forecast: session.outlook().map(Into::into),
        handoff: None,
        running: session.tools.values().cloned().collect(),
        started: Time(session.started_at),
    }
}

fn worth(worth: Worth) -> WorthDoc {
    WorthDoc {
        call_usd: dollars(worth.call_musd),
        fresh_usd: dollars(worth.fresh_musd),
        pays_back_calls: worth.pays_back,
        words: worth_words(worth),
    }
}

fn gates(spec: &RunSpec, view: &View) -> Vec<GateDoc> {
    let doc = |gate: &GateSpec| {
        let result = view.gates.get(&gate.name);
        GateDoc {
            gate: gate.name.clone(),
            manual: gate.manual,
            passed: result.map(|r| r.passed),
            exit: result.and_then(|r| r.exit),
            ms: result.map(|r| r.ms),
            when: result.map(|r| r.when.into()),
            timed_out: result.is_some_and(|r| r.timed_out),
        }
    };
    spec.gates.iter().map(doc).collect()
}

fn notes(view: &View) -> Vec<NoteDoc> {
    let last = view.notes.len().saturating_sub(NOTES_SHOWN);
    let doc = |note: &segue_machine::Note| NoteDoc {
        at: Time(note.at),
        session: format!("s{}", note.session),
        text: note.text.clone(),
    };
    view.notes.iter().skip(last).map(doc).collect()
}

fn day(spec: &RunSpec, view: &View, now: Millis) -> Option<DayDoc> {
    let (limits, told, today) = (&spec.budget.day, view.day.as_ref()?, view.today(now)?);
    let cost = (today.unpriced == 0).then(|| dollars(today.cost_musd));
    Some(DayDoc {
        day: told.day.clone(),
        cost_usd: Use { max: limits.cost_musd.map(dollars), used: cost },
        tokens: Use { max: limits.tokens, used: Some(today.tokens) },
        sessions: Use { max: limits.sessions, used: Some(today.sessions) },
        wall_ms: Use { max: limits.wall_ms, used: Some(today.wall_ms) },
    })
}

fn limits(limits: &Limits, view: &View, elapsed: Option<u64>) -> LimitsDoc {
    let spent = view.spent();
    let tokens = spent.tokens_in.or(spent.tokens_out).map(|_| spent.tokens());
    LimitsDoc {
        deadline_ms: Use { max: limits.deadline_ms, used: elapsed },
        restarts: Use { max: limits.max_restarts, used: Some(view.restarts) },
        handoffs_without_progress: Use {
            max: Some(limits.max_handoffs_without_progress),
            used: Some(view.without_progress),
        },
        gate_rounds: Use { max: Some(limits.gate_rounds), used: Some(view.round) },
        cost_usd: Use { max: limits.cost_musd.map(dollars), used: spent.cost().map(dollars) },
        tokens: Use { max: limits.tokens, used: tokens },
        sessions: Use { max: limits.sessions, used: Some(view.sessions) },
        day: None,
    }
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
