//! The runner of a plan: starts what can begin, waits, and hands each end to `ending.rs`. The only loop of the plan level.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use segue_plans::{Budget, Extra, Phase, Plan, estimate_with};
use segue_redact::Redactor;
use segue_report::{Outer, PhaseFields, PhaseStatus, RunStarted};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::beside::Stepped;
use super::child::{self, Heard};
use super::kept::Kept;
use super::outcome::Facts;
use super::purse::{Purse, Shared};
use super::state::{PhaseState, Splitting, State};
use super::voice::Voice;
use super::{Disk, PlanError, sizes};
use crate::config::Retention;
use crate::notify::NotifySettings;
use crate::prompt::Prompts;
use crate::store::Store;

/// How often what is shown of phases side by side is drawn anew.
const TICK: Duration = Duration::from_millis(100);

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
    /// Only these phases.
    pub(crate) only: Option<Vec<String>>,
    /// What the plan calls completed is not.
    pub(crate) force: bool,
    /// Files that segue itself writes into a work tree for people.
    pub(crate) left_out: Vec<String>,
    /// Where checkpoints are kept, and for how long.
    pub(crate) keeps: (PathBuf, Retention),
    /// The repository's name in what the user has allowed.
    pub(crate) trust: String,
    /// What all phases together may spend.
    pub(crate) shared: Shared,
    /// Whether work may be merged as commits: git is used, and commits are allowed.
    pub(crate) may_merge: bool,
    /// Whether the phases are committed on the branch.
    pub(crate) commits: bool,
    /// Who is told of the plan's end.
    pub(crate) notify: NotifySettings,
    /// The variables of the environment that they do not get.
    pub(crate) kept_from_others: Vec<OsString>,
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
    pub(super) running: JoinSet<(String, std::io::Result<ExitStatus>)>,
    pub(super) at_work: BTreeMap<String, u32>,
    pub(super) hears: (mpsc::UnboundedSender<Heard>, mpsc::UnboundedReceiver<Heard>),
    /// Steps of merging that are being taken.
    pub(super) steps: JoinSet<(String, Stepped)>,
    /// The processes of gates that run for a merge.
    pub(super) checks: BTreeMap<String, u32>,
    /// Phases that are done and not in the plan's branch yet.
    pub(super) queued: BTreeSet<String>,
    /// Those of them that an agent is to mend, once there is room for one.
    pub(super) to_mend: BTreeSet<String>,
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
        let plan = kept.state().id.clone();
        let voice = Voice { json: set.json, plan, redactor: set.redactor.clone(), screen: None };
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
            to_mend: BTreeSet::new(),
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
        runner.voice.screen = runner.new_screen();
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
            self.begin_what_mends()?;
            if !self.stopping {
                self.begin_what_can()?;
            }
            self.merge_what_can()?;
            self.begin_what_mends()?;
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
                () = tokio::time::sleep(TICK), if self.voice.screen.is_some() => self.show_what_is_held(),
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
        let extra = Extra { quality: self.kept.state().options.quality, force: self.set.force };
        let estimate = estimate_with(&self.plan, self.set.budget, &history, &disk, extra);
        self.voice.show(&super::estimate_words(&estimate));
        if self.voice.json {
            for warning in &estimate.warnings {
                self.tell(Voice::warning("estimate", warning))?;
            }
        }
        self.tell_changes()?;
        self.write_back()
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
        Disk::new(&self.set.dir, self.set.store.workdir()).reading(self.kept.state().options.format)
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
