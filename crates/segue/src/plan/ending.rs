//! What follows the end of a phase: its report, a hand-over, a split, the next phase, or the end of the plan.

use segue_plans::handoff::Handoff;
use segue_plans::ids::same;
use segue_plans::report::{
    FailureCategory, Recommendation, Report, SUMMARY_CHARS, TEXT_CHARS, TaskOutcome, TaskReport,
};
use segue_plans::split::Asked;
use segue_plans::{Past, Phase, Plan, Status, Task, estimate, task_told};
use segue_report::{Outer, PhaseStatus};

use super::beside::Stage;
use super::board::Board;
use super::closing::digest;
use super::handoff::Found;
use super::outcome::{self, End, Facts, Settled};
use super::runner::{Runner, fields};
use super::state::Splitting;
use super::{PlanError, handoff, sizes, stored};

/// So many tasks are named in a sentence.
const NAMED: usize = 12;

/// How often a phase is taken up whose process was killed while the plan's was not.
const LOST: u32 = 2;

impl Runner {
    /// A phase's process has ended.
    pub(super) fn ended(&mut self, id: &str, exit: Option<i32>) -> Result<(), PlanError> {
        if self.work(id).is_some_and(|work| work.stage == Stage::Mending) {
            return self.mended(id, exit);
        }
        // What its agent wrote into the plan counts.
        self.read_again()?;
        let board = Board::new(&self.plan, self.kept.state(), self.set.force);
        let known = self.kept.state().phase(id).cloned().unwrap_or_default();
        let run = known.run.unwrap_or_default();
        let facts = outcome::look(&self.store_of(id), &run)?;
        let mut settled = outcome::settle(exit, facts.as_ref());
        stored::name_tasks(&self.kept.phase_dir(id), &mut settled.report);
        // A phase may be taken out of the plan while it is at work.
        let gone = Phase { title: String::new(), ..Phase::new(id) };
        let phase = board.plan.phases.iter().find(|phase| same(&phase.id, id)).unwrap_or(&gone).clone();
        let code = exit.and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
        match settled.end {
            End::Split | End::TooLarge | End::Failed => self.take_in_handoff(&phase, &mut settled),
            End::Completed { .. } => self.take_in_earlier(&phase, &mut settled),
            End::NeedsInput | End::Stopped | End::Lost | End::Refused => {}
        }
        if let End::Completed { unverified } = settled.end
            && !known.quality
            && !known.accepted
        {
            let left = self.left_open(&phase, &settled, unverified);
            if !left.is_empty() {
                self.take_in_handoff(&phase, &mut settled);
                return self.partly_done(&phase, &run, &settled, facts.as_ref(), &left);
            }
        }
        match settled.end {
            End::Lost => self.was_lost(&phase, &run),
            End::Stopped | End::Refused => {
                self.voice.say(&format!("phase {id} was stopped: {}", settled.why));
                self.stop_with(if code == 0 { 4 } else { code });
                self.kept.change(|state| state.phase_mut(id).why.clone_from(&settled.why))?;
                Ok(())
            }
            End::Completed { .. } if self.wants_quality(id) => {
                self.report(&phase, &run, &settled, facts.as_ref())?;
                self.quality_round(&board.plan, &phase)
            }
            End::Completed { .. } if self.work(id).is_some() => self.queue(id),
            End::Completed { unverified } => {
                self.learn(&phase, facts.as_ref());
                self.finished(&phase, &run, &settled, facts.as_ref(), Status::Completed, unverified)
            }
            End::NeedsInput => {
                self.finished(&phase, &run, &settled, facts.as_ref(), Status::NeedsInput, false)?;
                self.voice.say(&format!("segue: `segue plan accept {id}` says that phase {id} is done"));
                self.after_trouble(id, 3, &settled)
            }
            End::Split | End::TooLarge | End::Failed => {
                self.not_done(&phase, &run, &settled, facts.as_ref(), code)
            }
        }
    }

    fn was_lost(&mut self, phase: &Phase, run: &str) -> Result<(), PlanError> {
        if self.may_take_up(&phase.id) {
            let text = format!("the process of phase {} was killed: resuming its run", phase.id);
            self.warn("phase_lost", &text)?;
            return if outcome::look(&self.store_of(&phase.id), run)?.is_some() {
                self.go_on(&phase.id, run)
            } else {
                let board = Board::new(&self.plan, self.kept.state(), self.set.force);
                self.launch(&board.plan, phase, run)
            };
        }
        self.voice.say(&format!("phase {} was stopped: its process was killed", phase.id));
        self.stop_with(130);
        Ok(())
    }

    /// Whether a phase whose process was killed is taken up once more.
    pub(super) fn may_take_up(&mut self, id: &str) -> bool {
        let times = self.lost.entry(id.to_owned()).or_default();
        *times += 1;
        *times <= LOST && !self.interrupted
    }

    // The run ended well, and not everything is done: the rest is tried again for as long as it gets less.
    fn partly_done(
        &mut self,
        phase: &Phase,
        run: &str,
        settled: &Settled,
        facts: Option<&Facts>,
        left: &[String],
    ) -> Result<(), PlanError> {
        self.hand_over(phase, settled, facts)?;
        let before = self.kept.state().phase(&phase.id).and_then(|known| known.left);
        let open = phase.tasks.iter().filter(|task| !task.status.is_over()).count();
        let names = left.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        if left.len() < before.unwrap_or(open) && !self.stopping {
            self.report(phase, run, settled, facts)?;
            let text =
                format!("phase {}: tasks {names} were not reported as done; running them again", phase.id);
            self.warn("tasks_left", &text)?;
            self.kept.change(|state| {
                let known = state.phase_mut(&phase.id);
                (known.status, known.left) = (Status::Pending, Some(left.len()));
            })?;
            return Ok(());
        }
        let mut settled = settled.clone();
        settled.why = format!("tasks {names} were not reported as done by their ids");
        self.finished(phase, run, &settled, facts, Status::NeedsInput, false)?;
        self.voice
            .say(&format!("segue: `segue plan accept {}` says that phase {} is done", phase.id, phase.id));
        self.after_trouble(&phase.id, 3, &settled)
    }

    fn wants_quality(&self, id: &str) -> bool {
        let state = self.kept.state();
        state.options.quality && !self.stopping && !state.phase(id).is_some_and(|phase| phase.quality)
    }

    fn quality_round(&mut self, plan: &Plan, phase: &Phase) -> Result<(), PlanError> {
        let run = (self.set.new_id)();
        self.kept.change(|state| {
            let known = state.phase_mut(&phase.id);
            (known.run, known.quality) = (Some(run.clone()), true);
        })?;
        self.voice.say(&format!("phase {}: its gates pass; one more review round", phase.id));
        self.launch(plan, phase, &run)
    }

    // Failed, too large, or asked to be split.
    fn not_done(
        &mut self,
        phase: &Phase,
        run: &str,
        settled: &Settled,
        facts: Option<&Facts>,
        code: u8,
    ) -> Result<(), PlanError> {
        let crowded = settled.report.wants_split(facts.and_then(|facts| facts.percent));
        let exhausted = settled.report.failure == Some(FailureCategory::ContextExhaustion);
        let large = settled.end != End::Failed || crowded || exhausted;
        let rest = handoff::rest(phase, &settled.report, facts);
        let Asked { parts, notes } = if large { self.parts(&rest, settled) } else { Asked::default() };
        for note in notes {
            self.warn("split_tasks", &format!("phase {}: {note}", phase.id))?;
        }
        let is_part = self.kept.state().whole_of(&phase.id).is_some();
        let why = settled
            .report
            .split_details
            .as_ref()
            .map_or(settled.why.as_str(), |details| details.reason.as_str());
        if parts.len() > 1 && !is_part && self.splitting() == Splitting::Auto {
            self.report(phase, run, settled, facts)?;
            self.hand_over(phase, settled, facts)?;
            self.leave_to_parts(&phase.id)?;
            return self.split(phase, parts, why);
        }
        if parts.len() > 1 && !is_part && self.splitting() == Splitting::Propose {
            let list: Vec<String> =
                parts.iter().map(|part| format!("{} (tasks {})", part.id, part.tasks.join(", "))).collect();
            let text = format!(
                "phase {} is too large ({why}) and could be split into {}: run `segue resume --split auto`, or edit the plan",
                phase.id,
                list.join("; ")
            );
            self.warn("split_proposed", &text)?;
        }
        let asks = settled.end == End::Split;
        let status = if asks { Status::NeedsInput } else { Status::Failed };
        self.hand_over(phase, settled, facts)?;
        self.keep_failed(&phase.id)?;
        self.finished(phase, run, settled, facts, status, false)?;
        self.after_trouble(&phase.id, if asks { 3 } else { code.max(1) }, settled)
    }

    // What the agent wrote into a HANDOFF.md of its own counts as if its report said so.
    fn take_in_handoff(&self, phase: &Phase, settled: &mut Settled) {
        self.take_in_earlier(phase, settled);
        let Some(handoff) = self.agents_handoff(phase) else { return };
        let report = &mut settled.report;
        add_done(phase, &handoff, "as its HANDOFF.md says", report);
        let text = format!("{}\n{}", report.summary, handoff.partial());
        report.summary = text.trim().chars().take(SUMMARY_CHARS).collect();
    }

    /// What earlier tries left as done counts as if the report of the last one said so.
    pub(super) fn take_in_earlier(&self, phase: &Phase, settled: &mut Settled) {
        if let Found::Rest(earlier) = self.earlier(phase) {
            add_done(phase, &earlier, "in an earlier try", &mut settled.report);
        }
    }

    // Written on exhaustion and failure; a phase that is done needs none.
    fn hand_over(
        &mut self,
        phase: &Phase,
        settled: &Settled,
        facts: Option<&Facts>,
    ) -> Result<(), PlanError> {
        let dir = self.kept.phase_dir(&phase.id);
        let go_on = format!("segue resume {}", self.kept.state().id);
        let none = Facts::default();
        let left = handoff::Left {
            phase,
            report: &settled.report,
            facts: facts.unwrap_or(&none),
            reason: &settled.why,
            go_on: &go_on,
        };
        let written = handoff::write(&dir, &left, &self.set.redactor);
        match written {
            Ok(path) => self.voice.say(&format!("segue: wrote {}", self.set.store.shown(&path))),
            Err(error) => self.warn("handoff", &format!("HANDOFF.md could not be written: {error}"))?,
        }
        Ok(())
    }

    fn report(
        &mut self,
        phase: &Phase,
        run: &str,
        settled: &Settled,
        facts: Option<&Facts>,
    ) -> Result<(), PlanError> {
        let dir = self.kept.phase_dir(&phase.id);
        let parts = self.part_reports(&phase.id);
        let path = stored::write(&dir, phase, run, settled, facts, &parts, &self.set.redactor)
            .map_err(|source| PlanError::System { what: "a report could not be written", source })?;
        let shown = self.set.store.shown(&path);
        let spent = facts.map(|facts| facts.spent).unwrap_or_default();
        self.kept.change(|state| {
            let known = state.phase_mut(&phase.id);
            known.report = Some(shown);
            known.spent = known.spent.plus(spent);
        })?;
        self.purse.forget(run);
        Ok(())
    }

    pub(super) fn finished(
        &mut self,
        phase: &Phase,
        run: &str,
        settled: &Settled,
        facts: Option<&Facts>,
        status: Status,
        unverified: bool,
    ) -> Result<(), PlanError> {
        self.report(phase, run, settled, facts)?;
        if status == Status::Completed {
            let _ = std::fs::remove_file(self.kept.phase_dir(&phase.id).join(handoff::NAME));
        }
        let digest = digest(phase);
        self.kept.change(|state| {
            let known = state.phase_mut(&phase.id);
            (known.status, known.unverified) = (status, unverified);
            known.why.clone_from(&settled.why);
            known.digest = (status == Status::Completed).then_some(digest);
            known.left = None;
        })?;
        let word = if unverified { "completed, according to the agent" } else { word(status) };
        self.voice.say(&format!("phase {} {word}: {}", phase.id, settled.why));
        self.write_back()?;
        self.told.insert(phase.id.clone());
        self.show_standing(&phase.id);
        self.tell(Outer::PhaseFinished(fields(
            phase,
            Some(outer(status)),
            self.kept.state().phase(&phase.id),
        )))?;
        self.settle_whole(&phase.id)
    }

    // The parts of one phase do not need one another; anything else stops at the first trouble.
    fn after_trouble(&mut self, id: &str, code: u8, settled: &Settled) -> Result<(), PlanError> {
        self.exit = if self.exit == 0 { code } else { self.exit };
        let state = self.kept.state();
        let whole = state.whole_of(id).and_then(|whole| state.phase(whole));
        let siblings = whole.is_some_and(|whole| whole.status == Status::InProgress);
        let halt = settled.report.recommendation == Recommendation::Halt && settled.by_agent;
        if !siblings || halt {
            self.trouble(code, halt);
        }
        Ok(())
    }

    pub(super) fn stop_with(&mut self, code: u8) {
        self.stopping = true;
        self.exit = if self.exit == 0 { code } else { self.exit };
    }

    pub(super) fn learn(&self, phase: &Phase, facts: Option<&Facts>) {
        let Some(facts) = facts else { return };
        let plan = Plan { gates: self.plan.gates.clone(), phases: vec![phase.clone()], ..Plan::default() };
        let estimated = estimate(&plan, None, &[], &self.disk()).tokens;
        sizes::learn(self.set.store.workdir(), Past { estimated, actual: facts.fill });
    }
}

fn add_done(phase: &Phase, handoff: &Handoff, note: &str, report: &mut Report) {
    let tasks: Vec<&Task> = phase.tasks.iter().collect();
    for id in handoff.done() {
        let is_told = |told: &TaskReport| task_told(&tasks, told).is_some_and(|task| same(&task.id, id));
        if !report.tasks.iter().any(is_told) {
            let task = tasks.iter().find(|task| same(&task.id, id));
            let title = task.map(|task| task.title.chars().take(TEXT_CHARS).collect());
            let (id, note, title) = (id.clone(), note.to_owned(), title.unwrap_or_default());
            report.tasks.push(TaskReport { id, title, note, status: TaskOutcome::Completed });
        }
    }
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Completed => "completed",
        Status::Failed => "failed",
        Status::NeedsInput => "needs input",
        Status::Blocked => "is blocked",
        Status::Pending | Status::InProgress | Status::Skipped => "is not done",
    }
}

fn outer(status: Status) -> PhaseStatus {
    match status {
        Status::Completed | Status::Skipped => PhaseStatus::Completed,
        Status::NeedsInput => PhaseStatus::NeedsInput,
        Status::Blocked => PhaseStatus::Blocked,
        Status::Failed | Status::Pending | Status::InProgress => PhaseStatus::Failed,
    }
}
