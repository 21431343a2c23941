//! What is true, written into the plan's own files: items that are done are ticked off. Nothing else in them changes.
//!
//! Done are the items of phases that were verified or that a person accepted, and where nothing could be checked those that
//! the agent reported by id. A file is read again right before it is written, so edits that were made meanwhile stay.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use segue_plans::ids::same;
use segue_plans::report::{Report, TaskOutcome};
use segue_plans::{Item, ItemKind, Phase, Status, Task, done_items, task_in_words, task_told};

use super::PlanError;
use super::handoff::Found;
use super::outcome::{self, Settled};
use super::runner::Runner;
use super::stored;
use crate::git::Repo;

impl Runner {
    /// Open tasks of a phase that its end leaves open: with gates those that the agent itself reports as not done, without
    /// any those that it does not report as done by their ids.
    pub(super) fn left_open(&self, phase: &Phase, settled: &Settled, unverified: bool) -> Vec<String> {
        let earlier = self.earlier(phase);
        let remains = |task: &&Task| match &earlier {
            Found::Rest(handoff) => handoff.remains(&task.id),
            Found::Missing | Found::Damaged(_) => true,
        };
        let told = outcomes(phase, &settled.report);
        let is_left = |task: &&Task| match told.get(task.id.as_str()) {
            Some(TaskOutcome::Completed | TaskOutcome::Skipped) => false,
            Some(TaskOutcome::Failed | TaskOutcome::Remaining) => true,
            None => unverified,
        };
        let open = phase.tasks.iter().filter(|task| !task.status.is_over() && !task.manual);
        open.filter(remains).filter(is_left).map(|task| task.id.clone()).collect()
    }

    /// Writes what is done of every completed phase that this was not done for yet.
    pub(super) fn write_back(&mut self) -> Result<(), PlanError> {
        let state = self.kept.state();
        if state.options.no_write_back {
            return Ok(());
        }
        let due =
            state.phases.iter().filter(|(_, known)| known.status == Status::Completed && !known.written);
        let due: Vec<String> = due.map(|(id, _)| id.clone()).collect();
        for id in due {
            self.write_back_phase(&id)?;
            self.kept.change(|state| state.phase_mut(&id).written = true)?;
        }
        Ok(())
    }

    fn write_back_phase(&mut self, id: &str) -> Result<(), PlanError> {
        self.read_again()?;
        let known = self.kept.state().phase(id).cloned().unwrap_or_default();
        let is_part = self.kept.state().whole_of(id).is_some();
        let mut phase = self.phase_of(id);
        if !known.parts.is_empty() {
            phase = self.plan.phase(id).cloned().unwrap_or(phase);
        }
        if is_part {
            // What the phase as a whole is held to is ticked off with the last of its parts.
            phase.items.clear();
        }
        let verified = !known.unverified || known.accepted;
        let given = stored::told_tasks(&self.kept.phase_dir(id));
        let given: Vec<&Task> = given.iter().collect();
        // What was written into the plan meanwhile was never given to anybody.
        let is_late = |task: &Task| !given.is_empty() && !task.status.is_over() && !was_given(&given, task);
        let all = verified && (known.accepted || !phase.tasks.iter().any(is_late));
        let report = stored::read(&self.kept.phase_dir(id));
        let told = report.as_ref().map(|report| outcomes(&phase, report)).unwrap_or_default();
        let is_done = |task: &Task| match verified {
            true => !is_late(task),
            false => task.status.is_over() || told.get(task.id.as_str()) == Some(&TaskOutcome::Completed),
        };
        let mut by_file: BTreeMap<u32, Vec<(String, Status)>> = BTreeMap::new();
        for item in done_items(&phase, is_done, all).into_iter().filter(|item| item.is_open()) {
            by_file.entry(item.at.file).or_default().push((item.key.clone(), Status::Completed));
        }
        let mut written = Vec::new();
        for (file, states) in by_file {
            let at = segue_plans::Place { file, line: 0 };
            let name = self.plan.file(at).to_owned();
            match self.write_file(&name, &states) {
                Ok(true) => written.push(self.path_from_top(&name)),
                Ok(false) => {}
                Err(why) => {
                    let text = format!("{name}: the results of phase {id} could not be written back: {why}");
                    self.warn("write_back", &text)?;
                }
            }
        }
        if !written.is_empty() {
            self.commit_plan(id, &written)?;
            self.read_again()?;
        }
        Ok(())
    }

    fn write_file(&self, name: &str, states: &[(String, Status)]) -> Result<bool, String> {
        let path = self.set.dir.join(name).canonicalize().map_err(|error| error.to_string())?;
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
        let states: Vec<(&str, Status)> =
            states.iter().map(|(key, status)| (key.as_str(), *status)).collect();
        let back = segue_plans::write_back(name, &text, self.plan.format, &states)
            .map_err(|error| error.to_string())?;
        if back.changed.is_empty() && !back.status {
            return Ok(false);
        }
        replace(&path, &back.text).map_err(|error| error.to_string())?;
        Ok(true)
    }

    // Where segue commits, the plan goes with the phase: into its commit, or beside other phases into one of its own.
    fn commit_plan(&mut self, id: &str, paths: &[String]) -> Result<(), PlanError> {
        let parallel = self.kept.state().phase(id).is_some_and(|known| known.landed.is_some());
        if !parallel && !self.set.commits {
            return Ok(());
        }
        let committed = Repo::find(self.set.store.workdir()).and_then(|repo| {
            let tracked: Vec<String> = paths.iter().filter(|path| repo.is_tracked(path)).cloned().collect();
            if tracked.is_empty() {
                return Ok(());
            }
            repo.wait_for_others();
            let head = repo.head().filter(|head| !parallel && repo.head_is_own() && self.made(id, head));
            let message = format!("Phase {id}: tick off what is done");
            repo.commit_only(&tracked, &message, head.is_some())?;
            if let (Some(before), Some(after)) = (head, repo.head()) {
                // The report is for people: one that cannot be written names a commit that git still finds.
                let _ = stored::replace_commit(&self.kept.phase_dir(id), &before, &after);
            }
            Ok(())
        });
        if let Err(error) = committed {
            self.warn("write_back", &format!("the plan was updated and not committed: {error}"))?;
        }
        Ok(())
    }

    // Whether a commit was made by the run of a phase: nobody else's is added to.
    fn made(&self, id: &str, head: &str) -> bool {
        let run = self.kept.state().phase(id).and_then(|known| known.run.clone()).unwrap_or_default();
        let facts = outcome::look(&self.store_of(id), &run).ok().flatten();
        facts.is_some_and(|facts| facts.commits.last().is_some_and(|last| head.starts_with(last.as_str())))
    }

    /// Open items that no phase answers for: work that nobody did, and criteria for a person to look at.
    pub(super) fn open_beside_phases(&self) -> (Vec<&Item>, Vec<&Item>) {
        let open = self.plan.items.iter().filter(|item| item.is_open());
        open.partition(|item| matches!(item.kind, ItemKind::Work | ItemKind::Step))
    }
}

// An id that stands in the item itself stays; any other is a place in a list.
fn was_given(given: &[&Task], task: &Task) -> bool {
    if task.title.is_empty() || task.items.iter().any(|item| item.key == task.id) {
        return given.iter().any(|told| same(&told.id, &task.id));
    }
    task_in_words(given, &task.title).is_some()
}

// What a report says about the tasks of a phase, by their ids.
fn outcomes<'p>(phase: &'p Phase, report: &Report) -> BTreeMap<&'p str, TaskOutcome> {
    let tasks: Vec<&Task> = phase.tasks.iter().collect();
    let one = |told: &segue_plans::report::TaskReport| {
        task_told(&tasks, told).map(|task| (task.id.as_str(), told.status))
    };
    report.tasks.iter().filter_map(one).collect()
}

// The whole file at once, with the permissions that it had.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let dir = path.parent().unwrap_or_else(|| Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(std::fs::metadata(path)?.permissions())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
