//! Phases that are done, on their way into the plan's branch: one at a time, in the order of the plan.
//!
//! Every step is on disk before it is taken, and is taken again when it was cut off. A phase that waits for a provider does
//! not keep those behind it from going first.

use segue_machine::GateResult;
use segue_plans::ids::same;
use segue_plans::{Phase, Status};

use super::merge::{self, Landing, Prepared};
use super::trees::{Tree, TreeError};
use super::{Stage, Work, mend};
use crate::plan::PlanError;
use crate::plan::board::Board;
use crate::plan::child::{Child, What};
use crate::plan::outcome::{self, End};
use crate::plan::runner::Runner;
use crate::plan::state::PhaseState;
use crate::plan::stored;

/// How often a phase is merged anew because the branch has moved.
const ROUNDS: u32 = 5;

/// What a step of merging came to.
#[derive(Debug)]
pub(in crate::plan) enum Stepped {
    /// Merged, in no work tree yet.
    Prepared(Prepared),
    /// In the phase's work tree.
    Spread,
    /// The gates ran; nothing when their process did not live to say so.
    Checked(Option<Vec<GateResult>>),
    /// Mended: one commit, or the files that still hold markers.
    Settled(Result<String, Vec<String>>),
    /// The branch.
    Landed(Landing),
    /// The work tree is given up; or why not.
    Cleared(Option<String>),
    /// It could not be done.
    Trouble(String),
}

impl Runner {
    /// Whether a phase has a work tree to itself, or would be given one.
    pub(in crate::plan) fn beside(&self, id: &str) -> bool {
        let state = self.kept.state();
        state.options.beside()
            || state.parallel_whole_of(id).is_some()
            || state.phase(id).is_some_and(|known| known.work.is_some())
    }

    /// The work tree of a phase.
    pub(in crate::plan) fn tree(&self, id: &str) -> Tree {
        Tree::of(&self.set.store, &self.kept.state().id, id, &self.set.left_out)
    }

    pub(in crate::plan) fn work(&self, id: &str) -> Option<&Work> {
        self.kept.state().phase(id).and_then(|known| known.work.as_ref())
    }

    pub(in crate::plan) fn set_work(
        &mut self,
        id: &str,
        change: impl FnOnce(&mut Work),
    ) -> Result<(), PlanError> {
        self.kept.change(|state| change(state.phase_mut(id).work.get_or_insert_default()))?;
        self.show_standing(id);
        Ok(())
    }

    /// A phase is done in its work tree and queued.
    pub(in crate::plan) fn queue(&mut self, id: &str) -> Result<(), PlanError> {
        self.set_work(id, |work| work.stage = Stage::Done)?;
        self.queued.insert(id.to_owned());
        Ok(())
    }

    /// Goes on with merging, if nothing is being merged and somebody has his turn.
    pub(in crate::plan) fn merge_what_can(&mut self) -> Result<(), PlanError> {
        if self.merging.is_some() || self.interrupted {
            return Ok(());
        }
        let Some(id) = self.whose_turn() else { return Ok(()) };
        self.merging = Some(id.clone());
        self.advance(&id)
    }

    // The first in the order of the plan, once nobody before it is at work.
    fn whose_turn(&self) -> Option<String> {
        let board = Board::new(&self.plan, self.kept.state(), self.set.force);
        let first = |id: &&&str| {
            if self.is_at_work(id) { !self.waiting.contains(**id) } else { self.queued.contains(**id) }
        };
        let mut order = board.order();
        // What was taken out of the plan while it was at work comes last.
        order.extend(self.queued.iter().map(String::as_str).filter(|id| !board.order().contains(id)));
        let id = order.iter().find(first).copied()?;
        (!self.is_at_work(id)).then(|| id.to_owned())
    }

    /// Takes the step that a phase is at.
    pub(in crate::plan) fn advance(&mut self, id: &str) -> Result<(), PlanError> {
        let work = self.work(id).cloned().unwrap_or_default();
        // What is on its way into the branch gets there; anything before that can wait.
        if self.interrupted && !matches!(work.stage, Stage::Landing | Stage::Landed) {
            self.merging = None;
            return Ok(());
        }
        let (tree, message) = (self.tree(id), self.merge_words(id));
        match (work.stage, work.commit) {
            (Stage::Merging, Some(commit)) => {
                let others: Vec<Phase> = self.came_since(id).iter().map(|id| self.phase_of(id)).collect();
                self.step(id, move || merge::spread(&tree, &commit, &others).map(|()| Stepped::Spread));
            }
            (Stage::Landing, Some(commit)) => {
                self.step(id, move || merge::land(&tree, &commit).map(Stepped::Landed));
            }
            (Stage::Landed, _) => {
                let phase = self.phase_of(id);
                self.step(id, move || Ok(Stepped::Cleared(clear(&tree, &phase))));
            }
            (Stage::Mending | Stage::Stuck, _) if work.onto.is_some() => {
                let work = self.work(id).cloned().unwrap_or_default();
                self.step(id, move || merge::settle(&tree, &work, &message).map(Stepped::Settled));
            }
            _ => {
                let plan = self.plan_files();
                self.step(id, move || merge::prepare(&tree, &message, &plan).map(Stepped::Prepared));
            }
        }
        Ok(())
    }

    fn step(&mut self, id: &str, work: impl FnOnce() -> Result<Stepped, TreeError> + Send + 'static) {
        let id = id.to_owned();
        let work = tokio::task::spawn_blocking(work);
        self.steps.spawn(async move {
            let came = match work.await {
                Ok(Ok(came)) => came,
                Ok(Err(error)) => Stepped::Trouble(error.to_string()),
                Err(error) => Stepped::Trouble(error.to_string()),
            };
            (id, came)
        });
    }

    /// The files of the plan, as its work trees have them.
    pub(in crate::plan) fn plan_files(&self) -> merge::PlanFiles {
        let paths = self.plan.files.iter().map(|file| self.path_from_top(&file.name)).collect();
        (paths, self.plan.format)
    }

    /// What follows from a step.
    pub(in crate::plan) fn stepped(&mut self, id: &str, came: Stepped) -> Result<(), PlanError> {
        match came {
            Stepped::Prepared(prepared) => self.prepared(id, &prepared),
            Stepped::Spread if self.interrupted => {
                self.merging = None;
                Ok(())
            }
            Stepped::Spread if self.work(id).is_some_and(|work| !work.conflicts.is_empty()) => {
                self.mend(id, "a conflict", &[])
            }
            Stepped::Spread => self.check(id),
            Stepped::Checked(gates) => self.checked(id, gates),
            Stepped::Settled(Ok(commit)) => self.settled(id, &commit),
            Stepped::Settled(Err(marked)) => self.stuck(id, "a conflict is not resolved", &marked),
            Stepped::Landed(landing) => self.came_in(id, landing),
            Stepped::Cleared(trouble) => self.cleared(id, trouble),
            Stepped::Trouble(why) => self.stuck(id, &why, &[]),
        }
    }

    fn prepared(&mut self, id: &str, prepared: &Prepared) -> Result<(), PlanError> {
        if !prepared.is_new() && self.whole_when_last(id).is_none() {
            return self.land(id, &prepared.commit);
        }
        let words = mend::Conflict { files: &prepared.conflicts, words: &prepared.words };
        mend::note(&self.kept.phase_dir(id), &words.told(), &self.set.redactor)
            .map_err(|source| PlanError::System { what: "a conflict could not be recorded", source })?;
        self.set_work(id, |work| {
            work.stage = Stage::Merging;
            work.rounds += 1;
            (work.onto, work.own) = (Some(prepared.onto.clone()), Some(prepared.own.clone()));
            (work.commit, work.conflicts) = (Some(prepared.commit.clone()), prepared.conflicts.clone());
        })?;
        self.advance(id)
    }

    // What was green beside the others must be green with them.
    fn check(&mut self, id: &str) -> Result<(), PlanError> {
        // Those of the configuration come to them where they run.
        let job = self.check_job(id)?;
        let how = self.how(id);
        let child = Child::start(&how, &What::Check(Box::new(job)))
            .map_err(|source| PlanError::System { what: "the gates could not be started", source })?;
        self.checks.insert(id.to_owned(), child.pid());
        let id = id.to_owned();
        self.steps.spawn(async move {
            let came = match child.answer().await {
                Ok(bytes) => Stepped::Checked(serde_json::from_slice(&bytes).ok()),
                Err(error) => Stepped::Trouble(error.to_string()),
            };
            (id, came)
        });
        Ok(())
    }

    fn checked(&mut self, id: &str, gates: Option<Vec<GateResult>>) -> Result<(), PlanError> {
        self.checks.remove(id);
        let gates = match gates {
            Some(gates) if !self.interrupted => gates,
            None if self.may_take_up(id) => return self.check(id),
            Some(_) | None => {
                (self.merging, self.stopping) = (None, true);
                self.exit = if self.exit == 0 { 130 } else { self.exit };
                self.queued.remove(id);
                return Ok(());
            }
        };
        let red: Vec<&GateResult> = gates.iter().filter(|gate| !gate.passed).collect();
        if red.is_empty() {
            let commit = self.work(id).and_then(|work| work.commit.clone()).unwrap_or_default();
            return self.land(id, &commit);
        }
        self.mend(id, "failures after merging with the other phases", &red)
    }

    // What an agent mended is checked by its run; what a person did is not yet.
    fn settled(&mut self, id: &str, commit: &str) -> Result<(), PlanError> {
        if self.work(id).is_none_or(|work| work.stage != Stage::Stuck) {
            return self.land(id, commit);
        }
        self.set_work(id, |work| {
            (work.stage, work.commit) = (Stage::Merging, Some(commit.to_owned()));
            work.conflicts.clear();
        })?;
        self.advance(id)
    }

    fn land(&mut self, id: &str, commit: &str) -> Result<(), PlanError> {
        self.set_work(id, |work| {
            (work.stage, work.commit) = (Stage::Landing, Some(commit.to_owned()));
            work.conflicts.clear();
        })?;
        self.advance(id)
    }

    fn came_in(&mut self, id: &str, landing: Landing) -> Result<(), PlanError> {
        match landing {
            Landing::There => {
                let commit = self.work(id).and_then(|work| work.commit.clone());
                self.kept.change(|state| {
                    let known = state.phase_mut(id);
                    known.landed = commit;
                    known.work.get_or_insert_default().stage = Stage::Landed;
                })?;
                self.gather(id)?;
                self.advance(id)
            }
            Landing::Moved if self.work(id).is_some_and(|work| work.rounds < ROUNDS) => {
                self.set_work(id, |work| (work.stage, work.commit) = (Stage::Done, None))?;
                self.advance(id)
            }
            Landing::Moved => self.stuck(id, "the plan's branch moved each time it was merged", &[]),
            Landing::Refused(why) => self.in_the_way(id, &why),
        }
    }

    // What is known about the phase, while its work tree is there.
    fn gather(&mut self, id: &str) -> Result<(), PlanError> {
        let run = self.kept.state().phase(id).and_then(|known| known.run.clone()).unwrap_or_default();
        let facts = outcome::look(&self.store_of(id), &run)?;
        self.learn(&self.phase_of(id), facts.as_ref());
        self.gathered.insert(id.to_owned(), facts);
        Ok(())
    }

    fn cleared(&mut self, id: &str, trouble: Option<String>) -> Result<(), PlanError> {
        if let Some(why) = trouble {
            let place = self.set.store.shown(&self.tree(id).path);
            self.warn("work_kept", &format!("the work tree of phase {id} is kept in {place}: {why}"))?;
        }
        let known = self.kept.state().phase(id).cloned().unwrap_or_default();
        let run = known.run.clone().unwrap_or_default();
        let facts = match self.gathered.remove(id) {
            Some(facts) => facts,
            None => outcome::look(&self.set.store, &run)?,
        };
        let mut settled = outcome::settle(Some(0), facts.as_ref());
        stored::name_tasks(&self.kept.phase_dir(id), &mut settled.report);
        let phase = self.phase_of(id);
        self.take_in_earlier(&phase, &mut settled);
        if known.accepted {
            settled.why = "marked as done by the user".to_owned();
        }
        let unverified = settled.end == (End::Completed { unverified: true });
        self.queued.remove(id);
        self.merging = None;
        self.kept.change(|state| state.phase_mut(id).work = None)?;
        self.finished(&phase, &run, &settled, facts.as_ref(), Status::Completed, unverified)
    }

    /// The phase of that id, with its splits; one that is not in the plan any more has only its id.
    pub(in crate::plan) fn phase_of(&self, id: &str) -> Phase {
        let board = Board::new(&self.plan, self.kept.state(), self.set.force);
        let known = board.plan.phases.iter().find(|phase| same(&phase.id, id)).cloned();
        known.unwrap_or_else(|| Phase { title: String::new(), ..Phase::new(id) })
    }

    pub(in crate::plan) fn merge_words(&self, id: &str) -> String {
        let title = self.set.redactor.text(&self.phase_of(id).title).text.into_owned();
        merge::message(id, &title, &self.kept.state().id)
    }

    /// Phases whose work came into the branch since this one began: what they are held to must hold together with it.
    pub(in crate::plan) fn came_since(&self, id: &str) -> Vec<String> {
        let Some(base) = self.work(id).map(|work| work.base.clone()) else { return Vec::new() };
        let Ok(repo) = self.tree(id).main_repo() else { return Vec::new() };
        let since = |known: &PhaseState| {
            known.landed.as_ref().is_some_and(|commit| repo.leads_to(commit, &base) != Some(true))
        };
        let state = self.kept.state();
        state.phases.iter().filter(|(_, known)| since(known)).map(|(id, _)| id.clone()).collect()
    }
}

fn clear(tree: &Tree, phase: &Phase) -> Option<String> {
    tree.bring_back(phase).and_then(|()| tree.give_up()).err().map(|error| error.to_string())
}
