//! Phases that are too large: how they are split, what is said about it, and what becomes of the whole.

use std::collections::BTreeMap;

use segue_plans::ids::same;
use segue_plans::split::{Answers, Asked, Part, asked_for, expanded, proposed};
use segue_plans::{Phase, Plan, Status, estimate, letters};
use segue_report::{Outer, PhaseStatus};
use serde_json::{Value, json};

use super::beside::Claim;
use super::outcome::{self, End, Settled};
use super::runner::{Runner, fields};
use super::state::Splitting;
use super::{PlanError, sizes, stored};
use crate::git::Repo;

/// A phase that is likely to take more of a session's budget than this is split, in percent.
const WHOLE: u64 = 100;

impl Runner {
    /// The parts of what is left of a phase: as the agent asks for them, as the estimate has them, or in halves.
    pub(super) fn parts(&self, phase: &Phase, settled: &Settled) -> Asked {
        if let Some(details) = &settled.report.split_details {
            return asked_for(phase, details);
        }
        let by_estimate = self.estimated_parts(phase);
        if by_estimate.len() > 1 {
            return Asked { parts: by_estimate, notes: Vec::new() };
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
        Asked { parts: open.chunks(half).enumerate().map(part).collect(), notes: Vec::new() }
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
        self.split(&phase, parts, &format!("it will probably use {percent} % of a session"))?;
        Ok(true)
    }

    pub(super) fn split(&mut self, phase: &Phase, mut parts: Vec<Part>, why: &str) -> Result<(), PlanError> {
        let redactor = &self.set.redactor;
        parts.iter_mut().for_each(|part| part.title = redactor.text(&part.title).text.into_owned());
        let count = parts.len();
        let alone = self.why_not_in_parallel(phase, &parts);
        let how = match &alone {
            None => "in parallel".to_owned(),
            Some(why) if why.is_empty() => "one after another".to_owned(),
            Some(why) => format!("one after another ({why})"),
        };
        let text = format!(
            "Phase {} too large ({why}). Splitting into {count} sub-phases, launching {how}...",
            phase.id
        );
        let beside = self.kept.state().options.beside();
        self.kept.change(|state| {
            let known = state.phase_mut(&phase.id);
            known.status = Status::InProgress;
            known.parts_in_parallel = alone.is_none() && !beside;
            known.parts = parts;
            known.why = format!("split: {why}");
        })?;
        self.warn("split", &text)?;
        if self.voice.screen.is_none() {
            self.voice.screen = self.new_screen();
        }
        self.tell(Outer::PhaseFinished(fields(
            phase,
            Some(PhaseStatus::Split),
            self.kept.state().phase(&phase.id),
        )))
    }

    // Parts run side by side wherever that can be merged again without touching what is not committed.
    fn why_not_in_parallel(&self, phase: &Phase, parts: &[Part]) -> Option<String> {
        let options = &self.kept.state().options;
        if options.beside() {
            return None;
        }
        if options.parallel.is_some() {
            return Some(String::new());
        }
        let split = BTreeMap::from([(phase.id.clone(), parts.to_vec())]);
        let alone = Plan { phases: vec![phase.clone()], ..Plan::default() };
        let pieces = expanded(&alone, &split, |_| Answers::None).phases;
        let claims: Vec<Claim> = pieces.iter().map(|part| Claim::of(part, Some(&phase.id))).collect();
        let pairs = || (0..pieces.len()).flat_map(|at| (at + 1..pieces.len()).map(move |other| (at, other)));
        if pairs().all(|(at, other)| pieces[other].needs.contains(&pieces[at].id)) {
            return Some("they depend on each other".to_owned());
        }
        let apart = |at: usize, other: usize| {
            !claims[at].excludes(&claims[other]) && !pieces[other].needs.contains(&pieces[at].id)
        };
        if !pairs().any(|(at, other)| apart(at, other)) {
            return Some("they change the same files".to_owned());
        }
        if !self.set.may_merge {
            return Some("that needs git and commits".to_owned());
        }
        let own = self.plan.files.iter().map(|file| self.path_from_top(&file.name));
        let repo = Repo::find(self.set.store.workdir()).ok()?;
        let repo = repo.leaving_out(self.set.left_out.iter().cloned().chain(own));
        match (repo.head().is_some() && repo.cannot_merge().is_ok_and(|old| old.is_none()), repo.is_dirty()) {
            (false, _) => Some("that needs a first commit and git 2.38".to_owned()),
            (true, Ok(false)) => None,
            (true, _) => Some("there are changes that are not committed".to_owned()),
        }
    }

    pub(super) fn part_reports(&self, id: &str) -> Vec<Value> {
        let state = self.kept.state();
        let parts = state.phase(id).map(|phase| phase.parts.clone()).unwrap_or_default();
        let one = |part: &Part| {
            let known = state.phase(&part.id);
            let report = stored::read(&self.kept.phase_dir(&part.id));
            json!({ "phase": part.id, "title": part.title, "status": known.map(|known| known.status), "report": report })
        };
        parts.iter().map(one).collect()
    }

    // A phase in parts is completed when all of them are, and failed when one is and none is left.
    pub(super) fn settle_whole(&mut self, part: &str) -> Result<(), PlanError> {
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
        let person = parts.iter().all(|part| status(part).is_over() || status(part) == Status::NeedsInput);
        let (end, status, why) = match (bad.is_empty(), person) {
            (true, _) => {
                let unverified =
                    parts.iter().any(|part| state.phase(&part.id).is_some_and(|known| known.unverified));
                (
                    End::Completed { unverified },
                    Status::Completed,
                    "all of its parts are completed".to_owned(),
                )
            }
            (false, true) => {
                (End::NeedsInput, Status::NeedsInput, format!("{} needs your input", bad.join(", ")))
            }
            (false, false) => (End::Failed, Status::Failed, format!("not completed: {}", bad.join(", "))),
        };
        let unverified = end == End::Completed { unverified: true };
        let phase = self.plan.phases.iter().find(|phase| same(&phase.id, &whole)).cloned();
        let phase = phase.unwrap_or_else(|| Phase::new(whole.clone()));
        let settled = outcome::of_parts(end, why);
        self.finished(&phase, "", &settled, None, status, unverified)
    }
}
