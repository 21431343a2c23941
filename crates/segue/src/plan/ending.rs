//! What follows the end of a phase: its report, a hand-over, a split, the next phase, or the end of the plan.

use segue_plans::ids::same;
use segue_plans::report::Recommendation;
use segue_plans::split::{Part, asked_for, proposed};
use segue_plans::{Past, Phase, Plan, Status, estimate, letters};
use segue_report::{Outer, PhaseStatus, RunFinished};
use serde_json::{Value, json};

use super::board::Board;
use super::outcome::{self, End, Facts, Settled};
use super::runner::{Runner, fields};
use super::state::{Spent, Splitting, Standing, State};
use super::{PlanError, handoff, sizes, stored};
use crate::clock;

/// How often a phase is taken up whose process was killed while the plan's was not.
const LOST: u32 = 2;

/// A phase that is likely to take more of a session's budget than this is split, in percent.
const WHOLE: u64 = 100;

impl Runner {
    /// A phase's process has ended.
    pub(super) fn ended(&mut self, id: &str, exit: Option<i32>) -> Result<(), PlanError> {
        let board = Board::new(&self.plan, self.kept.state(), self.set.force);
        let known = self.kept.state().phase(id).cloned().unwrap_or_default();
        let run = known.run.unwrap_or_default();
        let facts = outcome::look(&self.set.store, &run)?;
        let settled = outcome::settle(exit, facts.as_ref());
        // A phase may be taken out of the plan while it is at work.
        let gone = Phase { title: String::new(), ..Phase::new(id) };
        let phase = board.plan.phases.iter().find(|phase| same(&phase.id, id)).unwrap_or(&gone).clone();
        let code = exit.and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
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
            End::Completed { claimed } => {
                self.learn(&phase, facts.as_ref());
                self.finished(&phase, &run, &settled, facts.as_ref(), Status::Completed, claimed)
            }
            End::NeedsPerson => {
                self.finished(&phase, &run, &settled, facts.as_ref(), Status::NeedsPerson, false)?;
                self.voice.say(&format!("segue: `segue plan accept {id}` says that phase {id} is done"));
                self.after_trouble(id, 3, &settled)
            }
            End::Split | End::TooLarge | End::Failed => {
                self.not_done(&phase, &run, &settled, facts.as_ref(), code)
            }
        }
    }

    fn was_lost(&mut self, phase: &Phase, run: &str) -> Result<(), PlanError> {
        let times = self.lost.entry(phase.id.clone()).or_default();
        *times += 1;
        if *times <= LOST && !self.stopping {
            let text = format!("the process of phase {} was killed: its run is taken up", phase.id);
            self.warn("phase_lost", &text)?;
            return if outcome::look(&self.set.store, run)?.is_some() {
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
        self.voice.say(&format!("phase {}: its gates are green; one round over what is there", phase.id));
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
        let large = settled.end != End::Failed || crowded;
        let parts = if large { self.parts(phase, settled) } else { Vec::new() };
        let is_part = self.kept.state().whole_of(&phase.id).is_some();
        let why = settled
            .report
            .split_details
            .as_ref()
            .map_or(settled.why.as_str(), |details| details.reason.as_str());
        if parts.len() > 1 && !is_part && self.splitting() == Splitting::Auto {
            self.report(phase, run, settled, facts)?;
            return self.split(phase, parts, why);
        }
        if parts.len() > 1 && !is_part && self.splitting() == Splitting::Propose {
            let list: Vec<String> =
                parts.iter().map(|part| format!("{} (tasks {})", part.id, part.tasks.join(", "))).collect();
            let text = format!(
                "phase {} is too large ({why}); it could be split into {}: `segue resume --split auto` does that, or edit the plan",
                phase.id,
                list.join("; ")
            );
            self.warn("split_proposed", &text)?;
        }
        let asks = settled.end == End::Split;
        let status = if asks { Status::NeedsPerson } else { Status::Failed };
        self.hand_over(phase, settled, facts)?;
        self.finished(phase, run, settled, facts, status, false)?;
        self.after_trouble(&phase.id, if asks { 3 } else { code.max(1) }, settled)
    }

    /// The parts of a phase: as the agent asks for them, as the estimate has them, or in halves.
    fn parts(&self, phase: &Phase, settled: &Settled) -> Vec<Part> {
        if let Some(details) = &settled.report.split_details {
            return asked_for(phase, details);
        }
        let by_estimate = self.estimated_parts(phase);
        if by_estimate.len() > 1 {
            return by_estimate;
        }
        let open: Vec<&segue_plans::Task> =
            phase.tasks.iter().filter(|task| !task.status.is_over()).collect();
        let half = open.len().div_ceil(2).max(1);
        let part = |(at, tasks): (usize, &[&segue_plans::Task])| Part {
            id: format!("{}{}", phase.id, letters(at)),
            title: tasks.first().map(|task| task.title.clone()).unwrap_or_default(),
            tasks: tasks.iter().map(|task| task.id.clone()).collect(),
            files: Vec::new(),
        };
        open.chunks(half).enumerate().map(part).collect()
    }

    fn estimated_parts(&self, phase: &Phase) -> Vec<Part> {
        let plan = Plan { gates: self.plan.gates.clone(), phases: vec![phase.clone()], ..Plan::default() };
        let history = sizes::known(self.set.store.workdir());
        let estimate = estimate(&plan, self.set.budget, &history, &self.disk());
        estimate.phases.first().map(|cost| proposed(phase, &cost.split)).unwrap_or_default()
    }

    /// Splits a phase before it begins, when it does not fit into a session; whether it did.
    pub(super) fn split_by_estimate(&mut self, plan: &Plan, at: usize) -> Result<bool, PlanError> {
        let phase = &plan.phases[at];
        let state = self.kept.state();
        let tried = state.phase(&phase.id).is_some_and(|known| known.tries > 0);
        if tried || state.whole_of(&phase.id).is_some() || self.splitting() == Splitting::Off {
            return Ok(false);
        }
        let alone = Plan { gates: plan.gates.clone(), phases: vec![phase.clone()], ..Plan::default() };
        let history = sizes::known(self.set.store.workdir());
        let estimate = estimate(&alone, self.set.budget, &history, &self.disk());
        let Some(cost) = estimate.phases.first() else { return Ok(false) };
        let parts = proposed(phase, &cost.split);
        let percent = cost.percent.unwrap_or(0);
        if parts.len() < 2 || percent <= WHOLE || self.splitting() != Splitting::Auto {
            return Ok(false);
        }
        let phase = phase.clone();
        self.split(&phase, parts, &format!("it is likely to take {percent} % of a session"))?;
        Ok(true)
    }

    fn split(&mut self, phase: &Phase, mut parts: Vec<Part>, why: &str) -> Result<(), PlanError> {
        let redactor = &self.set.redactor;
        parts.iter_mut().for_each(|part| part.title = redactor.text(&part.title).text.into_owned());
        let count = parts.len();
        let how =
            if self.set.policy == "observe" { ", launching in parallel..." } else { ", one after the other" };
        let text = format!("Phase {} too large ({why}). Splitting into {count} sub-phases{how}", phase.id);
        self.kept.change(|state| {
            let known = state.phase_mut(&phase.id);
            known.status = Status::InProgress;
            known.parts = parts;
            known.why = format!("split: {why}");
        })?;
        self.warn("split", &text)?;
        self.tell(Outer::PhaseFinished(fields(
            phase,
            Some(PhaseStatus::Split),
            self.kept.state().phase(&phase.id),
        )))
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
        Ok(())
    }

    fn part_reports(&self, id: &str) -> Vec<Value> {
        let state = self.kept.state();
        let parts = state.phase(id).map(|phase| phase.parts.clone()).unwrap_or_default();
        let one = |part: &Part| {
            let known = state.phase(&part.id);
            let report = stored::read(&self.kept.phase_dir(&part.id));
            json!({ "phase": part.id, "title": part.title, "status": known.map(|known| known.status), "report": report })
        };
        parts.iter().map(one).collect()
    }

    fn finished(
        &mut self,
        phase: &Phase,
        run: &str,
        settled: &Settled,
        facts: Option<&Facts>,
        status: Status,
        claimed: bool,
    ) -> Result<(), PlanError> {
        self.report(phase, run, settled, facts)?;
        if status == Status::Completed {
            let _ = std::fs::remove_file(self.kept.phase_dir(&phase.id).join(handoff::NAME));
        }
        let digest = digest(phase);
        self.kept.change(|state| {
            let known = state.phase_mut(&phase.id);
            (known.status, known.claimed) = (status, claimed);
            known.why.clone_from(&settled.why);
            known.digest = (status == Status::Completed).then_some(digest);
        })?;
        let word = if claimed { "completed, as far as the agent says" } else { word(status) };
        self.voice.say(&format!("phase {} {word}: {}", phase.id, settled.why));
        self.told.insert(phase.id.clone());
        self.tell(Outer::PhaseFinished(fields(
            phase,
            Some(outer(status)),
            self.kept.state().phase(&phase.id),
        )))?;
        self.settle_whole(&phase.id)
    }

    // A phase in parts is completed when all of them are, and failed when one is and none is left.
    fn settle_whole(&mut self, part: &str) -> Result<(), PlanError> {
        let state = self.kept.state();
        let Some(whole) = state.whole_of(part).map(str::to_owned) else { return Ok(()) };
        let parts = state.phase(&whole).map(|known| known.parts.clone()).unwrap_or_default();
        let status = |part: &Part| state.phase(&part.id).map(|known| known.status).unwrap_or_default();
        let open = parts.iter().any(|part| matches!(status(part), Status::Pending | Status::InProgress));
        if open {
            return Ok(());
        }
        let bad: Vec<&str> =
            parts.iter().filter(|part| !status(part).is_over()).map(|part| part.id.as_str()).collect();
        let person = parts.iter().all(|part| status(part).is_over() || status(part) == Status::NeedsPerson);
        let (end, status, why) = match (bad.is_empty(), person) {
            (true, _) => {
                let claimed =
                    parts.iter().any(|part| state.phase(&part.id).is_some_and(|known| known.claimed));
                (End::Completed { claimed }, Status::Completed, "all of its parts are completed".to_owned())
            }
            (false, true) => {
                (End::NeedsPerson, Status::NeedsPerson, format!("a person must look at {}", bad.join(", ")))
            }
            (false, false) => (End::Failed, Status::Failed, format!("not completed: {}", bad.join(", "))),
        };
        let claimed = end == End::Completed { claimed: true };
        let phase = self.plan.phases.iter().find(|phase| same(&phase.id, &whole)).cloned();
        let phase = phase.unwrap_or_else(|| Phase::new(whole.clone()));
        let settled = outcome::of_parts(end, why);
        self.finished(&phase, "", &settled, None, status, claimed)
    }

    // The parts of one phase do not need one another; anything else stops at the first trouble.
    fn after_trouble(&mut self, id: &str, code: u8, settled: &Settled) -> Result<(), PlanError> {
        self.exit = if self.exit == 0 { code } else { self.exit };
        let state = self.kept.state();
        let whole = state.whole_of(id).and_then(|whole| state.phase(whole));
        let siblings = whole.is_some_and(|whole| whole.status == Status::InProgress);
        if !siblings || settled.report.recommendation == Recommendation::Halt && settled.by_agent {
            self.stopping = true;
        }
        Ok(())
    }

    fn stop_with(&mut self, code: u8) {
        self.stopping = true;
        self.exit = if self.exit == 0 { code } else { self.exit };
    }

    fn learn(&self, phase: &Phase, facts: Option<&Facts>) {
        let Some(facts) = facts else { return };
        let plan = Plan { gates: self.plan.gates.clone(), phases: vec![phase.clone()], ..Plan::default() };
        let estimated = estimate(&plan, None, &[], &self.disk()).tokens;
        sizes::learn(self.set.store.workdir(), Past { estimated, actual: facts.fill });
    }

    /// Says what was edited in phases that are completed.
    pub(super) fn tell_changes(&mut self) -> Result<(), PlanError> {
        let state = self.kept.state();
        let mut texts: Vec<String> = Vec::new();
        for (id, known) in state.phases.iter().filter(|(id, _)| state.whole_of(id).is_none()) {
            match self.plan.phases.iter().find(|phase| same(&phase.id, id)) {
                None => texts.push(format!("phase {id} is not in the plan any more; what it did stays")),
                Some(phase) if known.status == Status::Completed && known.parts.is_empty() => {
                    let changed = known.digest.as_ref().is_some_and(|was| *was != digest(phase));
                    if changed {
                        texts.push(format!(
                            "phase {id} was changed after it was completed and is not run again; --phase {id} --force does that"
                        ));
                    }
                }
                Some(_) => {}
            }
        }
        for text in texts {
            if self.told.insert(text.clone()) {
                self.warn("plan_edited", &text)?;
            }
        }
        Ok(())
    }

    /// Ends the plan's own part: what was not begun is blocked, and everything is said once more.
    pub(super) fn close(mut self) -> Result<(u8, State), PlanError> {
        let board = Board::new(&self.plan, self.kept.state(), self.set.force);
        let open = board.open();
        let any = |wanted: Status| self.kept.state().phases.values().any(|phase| phase.status == wanted);
        let standing = match self.exit {
            _ if open.is_empty() => Standing::Completed,
            130 => Standing::Stopped,
            _ if any(Status::Failed) => Standing::Failed,
            _ if any(Status::NeedsPerson) => Standing::NeedsPerson,
            _ => Standing::Stopped,
        };
        if open.is_empty() {
            self.exit = 0;
        } else if self.exit == 0 && self.set.only.is_none() {
            // Nothing failed and nothing can begin: what is left waits for a person, or for something that never comes.
            self.exit = 3;
        }
        for at in &open {
            let waits = board.waits_for(*at);
            let phase = &board.plan.phases[*at];
            if !waits.is_empty() && board.status(*at) == Status::Pending && self.exit != 130 {
                self.voice.say(&format!("phase {} is blocked: it needs {}", phase.id, waits.join(", ")));
                self.tell(Outer::PhaseFinished(fields(phase, Some(PhaseStatus::Blocked), None)))?;
            }
        }
        self.kept.change(|state| state.status = standing)?;
        if standing == Standing::Completed {
            self.kept.forget_flags();
        }
        let (finished, words) = self.last_words(&board, standing);
        self.tell(Outer::RunFinished(finished))?;
        self.voice.say(&format!("\n{words}"));
        Ok((self.exit, self.kept.state().clone()))
    }

    fn last_words(&self, board: &Board, standing: Standing) -> (RunFinished, String) {
        use segue_machine::Verdict;
        let state = self.kept.state();
        let total: Spent = state.phases.values().fold(Spent::default(), |sum, phase| sum.plus(phase.spent));
        let (all, open) = (board.plan.phases.len(), board.open().len());
        let claimed = state.phases.values().any(|phase| phase.status == Status::Completed && phase.claimed);
        let verdict = match standing {
            Standing::Completed if claimed => Verdict::Claimed,
            Standing::Completed => Verdict::Verified,
            Standing::Failed => Verdict::Failed,
            Standing::NeedsPerson => Verdict::NeedsPerson,
            Standing::Stopped | Standing::Running => Verdict::Stopped,
        };
        let reason = format!("{} of {all} phases are completed", all - open);
        let advice = (open > 0).then(|| format!("`segue resume {}` goes on", state.id));
        let words = match &advice {
            Some(advice) => format!("plan {}: {reason}; {advice}", standing.word()),
            None => format!("plan completed: {reason}"),
        };
        let began = state.began.map_or(0, |began| began.0);
        let finished = RunFinished {
            verdict,
            reason,
            sessions: total.sessions,
            handoffs: total.handoffs,
            overflows: total.overflows,
            redacted: total.redacted,
            tokens_in: total.tokens_in,
            tokens_out: total.tokens_out,
            cost_usd: total.cost_musd.map(|cost| cost as f64 / 1e6),
            ms: clock::now().saturating_sub(began),
            advice,
            limit: None,
            exit_code: self.exit,
            until: None,
        };
        (finished, words)
    }
}

/// A phase in few characters: the same for the same phase, wherever it stands.
fn digest(phase: &Phase) -> String {
    let mut phase = Plan { phases: vec![phase.clone()], ..Plan::default() }.content();
    // Ticking what is done is no change of what was to be done.
    for phase in &mut phase.phases {
        phase.status = Status::Pending;
        for task in &mut phase.tasks {
            task.status = Status::Pending;
            task.steps.iter_mut().for_each(|step| step.done = false);
        }
    }
    let text = serde_json::to_vec(&phase).unwrap_or_default();
    blake3::hash(&text).to_hex().chars().take(16).collect()
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Completed => "completed",
        Status::Failed => "failed",
        Status::NeedsPerson => "needs a person",
        Status::Blocked => "is blocked",
        Status::Pending | Status::InProgress | Status::Skipped => "is not done",
    }
}

fn outer(status: Status) -> PhaseStatus {
    match status {
        Status::Completed | Status::Skipped => PhaseStatus::Completed,
        Status::NeedsPerson => PhaseStatus::NeedsPerson,
        Status::Blocked => PhaseStatus::Blocked,
        Status::Failed | Status::Pending | Status::InProgress => PhaseStatus::Failed,
    }
}
