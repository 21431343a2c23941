//! Phases side by side: the work tree each is given, what they claim, and what is heard from them.

mod claims;
mod landing;
mod mend;
mod merge;
mod shown;
mod trees;
mod work;

use segue_plans::ids::same;
use segue_plans::{Phase, Status};
use serde_json::Value;

pub(in crate::plan) use claims::Claim;
pub(in crate::plan) use landing::Stepped;
pub(crate) use trees::path as tree_path;
pub(crate) use work::{Stage, Work};

use super::PlanError;
use super::runner::Runner;
use super::state::{PhaseState, Trouble};
use super::{child, outcome};
use crate::store::Store;
use trees::TreeError;

impl Runner {
    /// What is claimed by phases that are begun and not over.
    pub(in crate::plan) fn taken(&self) -> Vec<Claim> {
        self.claims().into_iter().map(|(_, claim)| claim).collect()
    }

    /// The same, with whose it is.
    pub(in crate::plan) fn claims(&self) -> Vec<(String, Claim)> {
        let state = self.kept.state();
        let holds = |known: &PhaseState| known.status == Status::InProgress;
        let begun = state.phases.iter().filter(|(_, known)| holds(known));
        let claim = |(id, known): (&String, &PhaseState)| {
            let work =
                known.work.as_ref().filter(|work| !matches!(work.stage, Stage::Landed | Stage::Split))?;
            let whole = state.whole_of(id).map(str::to_owned);
            Some((id.clone(), Claim { paths: work.claims.clone(), alone: work.alone, whole }))
        };
        begun.filter_map(claim).collect()
    }

    /// The work tree that a phase is to be given: the one that it had, or a new one; none where phases run one by one.
    pub(in crate::plan) fn new_work(&self, phase: &Phase) -> Result<Option<Work>, PlanError> {
        if !self.beside(&phase.id) {
            return Ok(None);
        }
        let state = self.kept.state();
        let whole = state.whole_of(&phase.id);
        let claim = Claim::of(phase, whole);
        let base = match self.work(&phase.id).filter(|work| !work.base.is_empty()) {
            Some(work) => work.base.clone(),
            None => self.base_for(whole).map_err(tree_trouble)?,
        };
        Ok(Some(Work { base, claims: claim.paths, alone: claim.alone, ..Work::default() }))
    }

    // A part begins with what its phase had done before it was split.
    fn base_for(&self, whole: Option<&str>) -> Result<String, TreeError> {
        let main = self.tree("").main_repo()?;
        let head = main.head().unwrap_or_default();
        let left = whole.and_then(|whole| self.work(whole)).filter(|work| work.stage == Stage::Split);
        match left {
            Some(work) if main.leads_to(&work.base, &head) != Some(true) => Ok(work.base.clone()),
            _ => Ok(head),
        }
    }

    /// Makes the work tree of a phase, if it is to have one; whether the phase can begin.
    pub(in crate::plan) fn make_tree(&mut self, phase: &Phase) -> Result<bool, PlanError> {
        let Some(work) = self.work(&phase.id).cloned() else { return Ok(true) };
        match self.tree(&phase.id).make(&work.base, phase) {
            Ok(()) => {
                self.set_work(&phase.id, |work| work.stage = Stage::Working)?;
                Ok(true)
            }
            Err(error) => {
                let text = format!("the work tree of phase {} could not be made: {error}", phase.id);
                self.warn("work_tree", &text)?;
                self.kept.change(|state| state.phase_mut(&phase.id).why.clone_from(&text))?;
                self.stop_with(1);
                Ok(false)
            }
        }
    }

    /// The store that a phase's run is seen from.
    pub(in crate::plan) fn store_of(&self, id: &str) -> Store {
        match self.work(id) {
            Some(_) => self.set.store.for_tree(self.tree(id).path),
            None => self.set.store.clone(),
        }
    }

    /// Goes on where the merging of a phase was cut off.
    pub(in crate::plan) fn go_on_merging(&mut self, id: &str, stage: Stage) -> Result<(), PlanError> {
        if stage == Stage::Split {
            // It was cut off before its parts were written down.
            let run = self.kept.state().phase(id).and_then(|known| known.run.clone()).unwrap_or_default();
            let facts = outcome::look(&self.store_of(id), &run)?;
            let code =
                facts.and_then(|facts| facts.outcome).map(|outcome| i32::from(outcome.exit_code(false)));
            return self.ended(id, code);
        }
        self.queued.insert(id.to_owned());
        // Its run goes on; nobody else is merged meanwhile.
        if stage == Stage::Mending {
            self.merging = Some(id.to_owned());
            self.to_mend.insert(id.to_owned());
        }
        Ok(())
    }

    /// What a phase wrote.
    pub(in crate::plan) fn heard(&mut self, id: &str, line: &[u8]) -> Result<(), PlanError> {
        let Ok(value) = serde_json::from_slice::<Value>(line) else {
            self.voice.aside(id, &String::from_utf8_lossy(line));
            return Ok(());
        };
        if self.set.json {
            child::pass_on(line);
        }
        if let Some(screen) = &mut self.voice.screen {
            screen.line(id, line);
        }
        let line = value;
        match line["type"].as_str().unwrap_or_default() {
            "wait.started" => {
                self.waiting.insert(id.to_owned());
                if self.merging.as_deref() == Some(id) {
                    self.merging = None;
                }
            }
            "wait.ended" => drop(self.waiting.remove(id)),
            "gauge.read" | "session.started" | "session.ended" => {
                self.count(line["run"].as_str().unwrap_or_default())?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The whole phase, when this is the last of its parts: what the whole is held to must hold then.
    pub(in crate::plan) fn whole_when_last(&self, id: &str) -> Option<Phase> {
        let state = self.kept.state();
        let whole = state.whole_of(id)?;
        let parts = &state.phase(whole)?.parts;
        let over = |part: &str| state.phase(part).is_some_and(|known| known.status.is_over());
        let last = parts.iter().filter(|part| !same(&part.id, id)).all(|part| over(&part.id));
        self.plan.phases.iter().find(|phase| last && same(&phase.id, whole)).cloned()
    }

    /// A phase is not done: what follows for the others.
    pub(in crate::plan) fn trouble(&mut self, code: u8, halt: bool) {
        self.exit = if self.exit == 0 { code } else { self.exit };
        match self.kept.state().options.trouble {
            Trouble::FailFast => self.interrupt(),
            Trouble::KeepGoing if !halt => {}
            Trouble::KeepGoing | Trouble::Finish => self.stopping = true,
        }
    }

    /// What a phase that failed has in its work tree stays there, and is under a reference too.
    pub(in crate::plan) fn keep_failed(&mut self, id: &str) -> Result<(), PlanError> {
        if self.work(id).is_some()
            && let Err(error) = self.tree(id).keep("failed", "when it failed")
        {
            self.warn("work_kept", &format!("the work of phase {id} is only in its work tree: {error}"))?;
        }
        Ok(())
    }

    /// What a phase left before it was split is what its parts begin with.
    pub(in crate::plan) fn leave_to_parts(&mut self, id: &str) -> Result<(), PlanError> {
        let Some(stage) = self.work(id).map(|work| work.stage) else { return Ok(()) };
        let (tree, message) = (self.tree(id), self.merge_words(id));
        if stage != Stage::Split {
            let left = || -> Result<Option<String>, TreeError> {
                tree.keep("split", "before it was split")?;
                let repo = tree.repo()?;
                repo.commit_all(&message, false)?;
                Ok(repo.head())
            };
            let head = left().map_err(tree_trouble)?.unwrap_or_default();
            self.set_work(id, |work| (work.stage, work.base) = (Stage::Split, head))?;
            trees::die_at("split");
        }
        if let Err(error) = tree.give_up() {
            self.warn("work_kept", &format!("the work tree of phase {id} is kept: {error}"))?;
        }
        Ok(())
    }
}

fn tree_trouble(error: TreeError) -> PlanError {
    PlanError::System { what: "a work tree", source: std::io::Error::other(error.to_string()) }
}
