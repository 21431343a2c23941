//! The runner of a plan: starts what can begin, waits, and hands each end to `ending.rs`. The only loop of the plan level.
//!
//! One phase is at work at a time; nothing but [`MOST`] says so.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitStatus;

use segue_plans::report::Report;
use segue_plans::{Budget, Phase, Plan, Status, estimate, fill_gates};
use segue_redact::Redactor;
use segue_report::{Outer, PhaseFields, PhaseStatus, RunStarted};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;

use super::board::{Board, Next, is_part};
use super::child::{self, Child, How, What};
use super::handoff::{self, Found};
use super::job::{Desk, Errand};
use super::kept::Kept;
use super::outcome::{self, End};
use super::state::{PhaseState, Splitting, State};
use super::voice::Voice;
use super::{Disk, PlanError, sizes};
use crate::prompt::Prompts;
use crate::store::Store;

/// How many phases are at work at a time.
const MOST: usize = 1;

/// What a plan is run with.
#[derive(Debug)]
pub(crate) struct Setting {
    /// The work tree.
    pub(crate) store: Store,
    /// Where the plan's name was typed.
    pub(crate) dir: PathBuf,
    /// JSON instead of words.
    pub(crate) json: bool,
    /// This program.
    pub(crate) program: PathBuf,
    /// The words that agents are given.
    pub(crate) prompts: Prompts,
    /// What takes secrets out.
    pub(crate) redactor: Redactor,
    /// Gates that the configuration knows by name.
    pub(crate) gates: BTreeMap<String, segue_plans::KnownGate>,
    /// What a session may use.
    pub(crate) budget: Option<Budget>,
    /// The first agent.
    pub(crate) agent: Option<String>,
    /// The policy's name.
    pub(crate) policy: String,
    /// Flags for runs that are taken up.
    pub(crate) take_up: Vec<String>,
    /// Only this phase.
    pub(crate) only: Option<String>,
    /// What the plan calls completed is not.
    pub(crate) force: bool,
    /// Makes ids of runs.
    pub(crate) new_id: fn() -> String,
}

/// A plan that is being run.
#[derive(Debug)]
pub(crate) struct Runner {
    pub(super) set: Setting,
    pub(super) kept: Kept,
    pub(super) voice: Voice,
    pub(super) plan: Plan,
    running: JoinSet<(String, std::io::Result<ExitStatus>)>,
    at_work: BTreeMap<String, u32>,
    /// How often a phase's process was lost.
    pub(super) lost: BTreeMap<String, u32>,
    /// Nothing more is begun.
    pub(super) stopping: bool,
    /// The exit code so far.
    pub(super) exit: u8,
    pub(super) told: BTreeSet<String>,
}

impl Runner {
    /// A runner for a plan whose state is kept there.
    pub(crate) fn new(set: Setting, kept: Kept) -> Result<Self, PlanError> {
        let voice = Voice { json: set.json, plan: kept.state().id.clone(), redactor: set.redactor.clone() };
        let (running, at_work, lost, told) = Default::default();
        let plan = Plan::default();
        let mut runner =
            Self { set, kept, voice, plan, running, at_work, lost, stopping: false, exit: 0, told };
        runner.plan = runner.read()?;
        Ok(runner)
    }

    /// Runs the plan as far as it goes and returns the exit code.
    pub(crate) async fn drive(mut self) -> Result<(u8, State), PlanError> {
        let listen = |kind| signal(kind).map_err(|source| PlanError::System { what: "signals", source });
        let mut interrupt = listen(SignalKind::interrupt())?;
        let mut terminate = listen(SignalKind::terminate())?;
        let mut hang_up = listen(SignalKind::hangup())?;
        self.open()?;
        loop {
            if !self.stopping {
                self.begin_what_can()?;
            }
            if self.at_work.is_empty() {
                break;
            }
            tokio::select! {
                biased;
                _ = interrupt.recv() => self.stop_asked(),
                _ = terminate.recv() => self.stop_asked(),
                _ = hang_up.recv() => self.stop_asked(),
                Some(done) = self.running.join_next() => {
                    let (id, status) = done.map_err(|error| PlanError::System { what: "a phase", source: error.into() })?;
                    self.at_work.remove(&id);
                    let status = status.map_err(|source| PlanError::System { what: "a phase", source })?;
                    self.ended(&id, status.code())?;
                }
            }
        }
        self.close()
    }

    fn open(&mut self) -> Result<(), PlanError> {
        let first = self.kept.state().lines == 0;
        if first {
            let started = RunStarted {
                schema: segue_report::SCHEMA,
                task: self.plan.title.clone(),
                agent: self.set.agent.clone(),
                policy: self.set.policy.clone(),
                workdir: self.set.store.workdir().display().to_string(),
            };
            self.tell(Outer::RunStarted(started))?;
        }
        let (id, title) = (self.kept.state().id.clone(), self.plan.title.clone());
        self.voice.say(&format!("plan {title} ({id})"));
        let disk = self.disk();
        let history = sizes::known(self.set.store.workdir());
        let estimate = estimate(&self.plan, self.set.budget, &history, &disk);
        self.voice.show(&super::estimate_words(&estimate));
        if self.voice.json {
            for warning in &estimate.warnings {
                self.tell(Voice::warning("estimate", warning))?;
            }
        }
        self.tell_changes()
    }

    /// A line of the contract; it is numbered before it is written.
    pub(super) fn tell(&mut self, event: Outer) -> Result<(), PlanError> {
        self.kept.change(|state| state.lines += 1)?;
        self.voice.line(self.kept.state().lines, event);
        Ok(())
    }

    /// Something that a person should know, in either form.
    pub(super) fn warn(&mut self, code: &str, text: &str) -> Result<(), PlanError> {
        self.voice.say(&format!("segue: {text}"));
        if self.voice.json { self.tell(Voice::warning(code, text)) } else { Ok(()) }
    }

    pub(super) fn disk(&self) -> Disk {
        Disk::new(&self.set.dir, self.set.store.workdir())
    }

    fn read(&self) -> Result<Plan, PlanError> {
        let name = &self.kept.state().plan;
        let bad = |why: String| PlanError::Plan { plan: name.clone(), why };
        let plan = self.disk().plan(name).map_err(|error| bad(error.to_string()))?;
        let mut plan = plan.map_err(|error| bad(error.to_string()))?;
        fill_gates(&mut plan, &self.set.gates);
        Ok(plan)
    }

    // The plan may have been edited since the last phase.
    fn begin_what_can(&mut self) -> Result<(), PlanError> {
        self.plan = self.read()?;
        self.tell_changes()?;
        while self.at_work.len() < MOST && !self.stopping {
            let board = Board::new(&self.plan, self.kept.state(), self.set.force);
            let busy = self.at_work.keys().cloned().collect();
            let state = self.kept.state();
            let wanted =
                |phase: &Phase| self.set.only.as_ref().is_none_or(|only| is_part(phase, only, state));
            let Some(next) = board.next(&busy, wanted) else { return Ok(()) };
            match next {
                Next::TakeUp(at) => self.take_up(&board.plan, at)?,
                Next::Begin(at) => {
                    if !self.split_by_estimate(&board.plan, at)? {
                        self.begin(&board.plan, at)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self, plan: &Plan, at: usize) -> Result<(), PlanError> {
        let phase = &plan.phases[at];
        let run = (self.set.new_id)();
        self.kept.change(|state| {
            let known = state.phase_mut(&phase.id);
            (known.status, known.run, known.quality) = (Status::InProgress, Some(run.clone()), false);
            known.tries += 1;
            known.why.clear();
        })?;
        self.started(phase)?;
        self.launch(plan, phase, &run)
    }

    fn started(&mut self, phase: &Phase) -> Result<(), PlanError> {
        let title = if phase.title.is_empty() { String::new() } else { format!(" - {}", phase.title) };
        self.voice.say(&format!("\n== phase {}{title}", phase.id));
        self.tell(Outer::PhaseStarted(fields(phase, None, self.kept.state().phase(&phase.id))))
    }

    // What was cut off: ended meanwhile, never begun, or to be gone on with.
    fn take_up(&mut self, plan: &Plan, at: usize) -> Result<(), PlanError> {
        let phase = &plan.phases[at];
        let known = self.kept.state().phase(&phase.id).cloned().unwrap_or_default();
        let Some(run) = known.run else { return self.begin(plan, at) };
        let facts = outcome::look(&self.set.store, &run)?;
        self.started(phase)?;
        let Some(facts) = facts else { return self.launch(plan, phase, &run) };
        let over = facts.outcome.is_some() && outcome::settle(None, Some(&facts)).end != End::Stopped;
        if over {
            let code = facts.outcome.as_ref().map(|outcome| i32::from(outcome.exit_code(false)));
            return self.ended(&phase.id.clone(), code);
        }
        self.go_on(&phase.id, &run)
    }

    /// Takes a run up in a new process.
    pub(super) fn go_on(&mut self, id: &str, run: &str) -> Result<(), PlanError> {
        self.spawn(id, &What::TakeUp(run.to_owned(), self.set.take_up.clone()))
    }

    /// Starts a run in a new process.
    pub(super) fn launch(&mut self, plan: &Plan, phase: &Phase, run: &str) -> Result<(), PlanError> {
        let known = self.kept.state().phase(&phase.id).cloned().unwrap_or_default();
        let dir = self.kept.phase_dir(&phase.id);
        let rest = if known.quality { Found::Missing } else { self.earlier(phase) };
        let issues = super::stored::read(&dir).map_or_else(Vec::new, |report: Report| report.issues);
        let errand = match &rest {
            _ if known.quality => Errand::Quality(&issues),
            Found::Rest(handoff) => {
                self.voice.say(&format!("segue: goes on from {}", dir.join(handoff::NAME).display()));
                Errand::Rest(handoff)
            }
            Found::Missing => Errand::Whole,
            Found::Damaged(why) => {
                let text = format!(
                    "the HANDOFF.md of phase {} cannot be used ({why}): the whole phase is run",
                    phase.id
                );
                self.warn("handoff_damaged", &text)?;
                Errand::Whole
            }
        };
        let roots = vec![self.set.store.workdir().to_owned(), self.set.dir.clone(), self.plan_dir()];
        let desk = Desk { program: &self.set.program, prompts: &self.set.prompts, roots };
        let job = desk.job(plan, phase, run, errand)?;
        self.spawn(&phase.id, &What::New(Box::new(job)))
    }

    // What an earlier try left, in the phase's own folder or beside the plan.
    fn earlier(&self, phase: &Phase) -> Found {
        let own = handoff::read(&self.kept.phase_dir(&phase.id), phase);
        if own != Found::Missing {
            return own;
        }
        match handoff::read(&self.plan_dir(), phase) {
            found @ Found::Rest(_) => found,
            // One that lies there may be about another phase.
            Found::Missing | Found::Damaged(_) => Found::Missing,
        }
    }

    fn plan_dir(&self) -> PathBuf {
        let path = self.set.dir.join(&self.kept.state().plan);
        if path.is_dir() { path } else { path.parent().map(PathBuf::from).unwrap_or_default() }
    }

    fn spawn(&mut self, id: &str, what: &What) -> Result<(), PlanError> {
        let state = self.kept.state();
        let how = How {
            program: self.set.program.clone(),
            dir: self.set.dir.clone(),
            plan: state.id.clone(),
            json: self.set.json,
            flags: self.kept.flags(),
        };
        let child = Child::start(&how, what)
            .map_err(|source| PlanError::System { what: "a phase could not be started", source })?;
        self.at_work.insert(id.to_owned(), child.pid());
        let id = id.to_owned();
        self.running.spawn(async move { (id, child.attend().await) });
        Ok(())
    }

    fn stop_asked(&mut self) {
        self.stopping = true;
        self.exit = 130;
        self.at_work.values().for_each(|pid| child::interrupt(*pid));
    }

    /// What is done about a phase that is too large.
    pub(super) fn splitting(&self) -> Splitting {
        let observes = self.set.policy == "observe";
        let usual = if observes { Splitting::Auto } else { Splitting::Propose };
        self.kept.state().options.split.unwrap_or(usual)
    }
}

/// What the contract says about a phase.
pub(super) fn fields(phase: &Phase, status: Option<PhaseStatus>, known: Option<&PhaseState>) -> PhaseFields {
    PhaseFields {
        phase: phase.id.clone(),
        status,
        report: known.filter(|_| status.is_some()).and_then(|known| known.report.clone()),
        title: Some(phase.title.clone()).filter(|title| !title.is_empty()),
        phase_run: known.and_then(|known| known.run.clone()),
    }
}
