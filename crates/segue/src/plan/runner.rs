//! The runner of a plan: starts what can begin, waits, and hands each end to `ending.rs`. The only loop of the plan level.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitStatus;

use segue_plans::report::Report;
use segue_plans::{Budget, Phase, Plan, Status, estimate, fill_gates};
use segue_redact::Redactor;
use segue_report::{Outer, PhaseFields, PhaseStatus, RunStarted};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::board::{Board, Claims, Next, is_part};
use super::child::{self, Child, Heard, How, What};
use super::claims::Claim;
use super::handoff::{self, Found};
use super::job::{Desk, Errand, Job};
use super::kept::Kept;
use super::landing::Stepped;
use super::outcome::{self, End, Facts};
use super::purse::{Purse, Shared};
use super::state::{PhaseState, Splitting, Stage, State};
use super::voice::Voice;
use super::{Disk, PlanError, sizes};
use crate::config::Retention;
use crate::prompt::Prompts;
use crate::store::Store;

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
    /// Files that segue itself writes into a work tree for people.
    pub(crate) left_out: Vec<String>,
    /// Where checkpoints are kept, and for how long.
    pub(crate) keeps: (PathBuf, Retention),
    /// What all phases together may spend.
    pub(crate) shared: Shared,
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
    hears: (mpsc::UnboundedSender<Heard>, mpsc::UnboundedReceiver<Heard>),
    /// Steps of merging that are being taken.
    pub(super) steps: JoinSet<(String, Stepped)>,
    /// The processes of gates that run for a merge.
    pub(super) checks: BTreeMap<String, u32>,
    /// Phases that are done and not in the plan's branch yet.
    pub(super) queued: BTreeSet<String>,
    /// The one that is being brought there.
    pub(super) merging: Option<String>,
    /// What was known about it while its work tree was there.
    pub(super) gathered: BTreeMap<String, Option<Facts>>,
    /// Phases that wait for a provider.
    pub(super) waiting: BTreeSet<String>,
    pub(super) purse: Purse,
    /// How often a phase's process was lost.
    pub(super) lost: BTreeMap<String, u32>,
    /// Nothing more is begun.
    pub(super) stopping: bool,
    /// Everything is to end as soon as it can.
    pub(super) interrupted: bool,
    /// The exit code so far.
    pub(super) exit: u8,
    pub(super) told: BTreeSet<String>,
}

impl Runner {
    /// A runner for a plan whose state is kept there.
    pub(crate) fn new(set: Setting, kept: Kept) -> Result<Self, PlanError> {
        let voice = Voice { json: set.json, plan: kept.state().id.clone(), redactor: set.redactor.clone() };
        let mut runner = Self {
            set,
            kept,
            voice,
            plan: Plan::default(),
            running: JoinSet::new(),
            at_work: BTreeMap::new(),
            hears: mpsc::unbounded_channel(),
            steps: JoinSet::new(),
            checks: BTreeMap::new(),
            queued: BTreeSet::new(),
            merging: None,
            gathered: BTreeMap::new(),
            waiting: BTreeSet::new(),
            purse: Purse::default(),
            lost: BTreeMap::new(),
            stopping: false,
            interrupted: false,
            exit: 0,
            told: BTreeSet::new(),
        };
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
            self.merge_what_can()?;
            if self.at_work.is_empty() && self.steps.is_empty() {
                break;
            }
            tokio::select! {
                biased;
                _ = interrupt.recv() => self.stop_asked(),
                _ = terminate.recv() => self.stop_asked(),
                _ = hang_up.recv() => self.stop_asked(),
                Some((id, line)) = self.hears.1.recv() => self.heard(&id, &line)?,
                Some(done) = self.steps.join_next() => {
                    let (id, came) = done.map_err(|error| PlanError::System { what: "a merge", source: error.into() })?;
                    self.stepped(&id, came)?;
                }
                Some(done) = self.running.join_next() => {
                    let (id, status) = done.map_err(|error| PlanError::System { what: "a phase", source: error.into() })?;
                    self.at_work.remove(&id);
                    self.waiting.remove(&id);
                    while let Ok((id, line)) = self.hears.1.try_recv() {
                        self.heard(&id, &line)?;
                    }
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
        while self.has_room() && !self.stopping {
            let board = Board::new(&self.plan, self.kept.state(), self.set.force);
            let busy = self.at_work.keys().chain(&self.queued).cloned().collect();
            let state = self.kept.state();
            let wanted =
                |phase: &Phase| self.set.only.as_ref().is_none_or(|only| is_part(phase, only, state));
            let of = |phase: &Phase| Claim::of(phase, state.whole_of(&phase.id));
            let claims = Claims { taken: self.taken(), of: &of };
            let Some(next) = board.next(&busy, wanted, &claims) else { return Ok(()) };
            match next {
                Next::TakeUp(at) => self.take_up(&board.plan, at)?,
                Next::Begin(_) if self.used_up()? => return Ok(()),
                Next::Begin(at) => {
                    if !self.split_by_estimate(&board.plan, at)? {
                        self.begin(&board.plan, at)?;
                    }
                }
            }
        }
        Ok(())
    }

    // One that waits for a provider leaves its place to another, but not to any number of them.
    fn has_room(&self) -> bool {
        let most = self.kept.state().options.most();
        let at_work = self.at_work.len();
        at_work - self.waiting.len().min(at_work) < most && at_work < most * 2
    }

    /// Whether a process works on a phase.
    pub(super) fn is_at_work(&self, id: &str) -> bool {
        self.at_work.contains_key(id)
    }

    pub(super) fn ids_at_work(&self) -> impl Iterator<Item = &String> {
        self.at_work.keys()
    }

    fn begin(&mut self, plan: &Plan, at: usize) -> Result<(), PlanError> {
        let phase = &plan.phases[at];
        let run = (self.set.new_id)();
        let work = self.new_work(phase)?;
        self.kept.change(|state| {
            let known = state.phase_mut(&phase.id);
            (known.status, known.run, known.quality) = (Status::InProgress, Some(run.clone()), false);
            known.tries += 1;
            known.why.clear();
            (known.work, known.landed) = (work, None);
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
        if let Some(stage) = known.work.map(|work| work.stage).filter(|stage| *stage > Stage::Working) {
            return self.go_on_merging(&phase.id.clone(), stage);
        }
        let facts = outcome::look(&self.store_of(&phase.id), &run)?;
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
        if !self.make_tree(phase)? {
            return Ok(());
        }
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
        let job = Job { beside: known.work.is_some(), ..desk.job(plan, phase, run, errand)? };
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

    /// How the processes of a phase are started.
    pub(super) fn how(&self, id: &str) -> How {
        let own = self.work(id).is_some();
        How {
            program: self.set.program.clone(),
            dir: if own { self.tree(id).folder(&self.set.dir) } else { self.set.dir.clone() },
            plan: self.kept.state().id.clone(),
            json: self.set.json,
            beside: own,
            flags: self.flags(),
        }
    }

    pub(super) fn spawn(&mut self, id: &str, what: &What) -> Result<(), PlanError> {
        let child = Child::start(&self.how(id), what)
            .map_err(|source| PlanError::System { what: "a phase could not be started", source })?;
        self.at_work.insert(id.to_owned(), child.pid());
        let (id, heard) = (id.to_owned(), self.hears.0.clone());
        self.running.spawn(async move {
            let status = child.attend(&id, heard).await;
            (id, status)
        });
        Ok(())
    }

    fn stop_asked(&mut self) {
        self.exit = 130;
        self.interrupt();
    }

    /// Ends everything that is at work as soon as it can end well.
    pub(super) fn interrupt(&mut self) {
        (self.stopping, self.interrupted) = (true, true);
        self.at_work.values().chain(self.checks.values()).for_each(|pid| child::interrupt(*pid));
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
