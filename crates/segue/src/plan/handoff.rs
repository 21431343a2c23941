//! `HANDOFF.md` in the folder of a phase: written when a phase is not done, found again when it is tried again.

use std::path::{Path, PathBuf};

use segue_machine::GateWhen;
use segue_plans::handoff::{self, Around, Handoff};
use segue_plans::report::{Report, TaskOutcome, TaskReport};
use segue_plans::{Phase, Status, Task, task_told};
use segue_redact::Redactor;
use segue_report::Time;

use super::outcome::Facts;
use crate::clock;
use crate::store::safely;

/// Its name in the folder of the phase.
pub(super) const NAME: &str = "HANDOFF.md";

/// What was found in place of a hand-over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing.
    Missing,
    /// Something that cannot be used, and why.
    Damaged(String),
    /// What is left.
    Rest(Handoff),
}

/// Where a phase is left, and how to go on.
#[derive(Debug)]
pub(super) struct Left<'a> {
    pub(super) phase: &'a Phase,
    pub(super) report: &'a Report,
    pub(super) facts: &'a Facts,
    pub(super) reason: &'a str,
    pub(super) go_on: &'a str,
}

/// Writes it into the folder of the phase.
pub(super) fn write(dir: &Path, left: &Left<'_>, redactor: &Redactor) -> std::io::Result<PathBuf> {
    let around = Around {
        reason: left.reason,
        time: &Time(clock::now()).to_string(),
        last_commit: left.facts.last_commit.as_deref().unwrap_or("none"),
        files: &left.facts.files,
        failing: &failing(left.phase, left.facts),
        go_on: left.go_on,
    };
    let text = handoff::write(left.phase, left.report, &around);
    std::fs::create_dir_all(dir)?;
    let path = dir.join(NAME);
    crate::checkpoint::write_whole(&path, redactor.text(&text).text.as_bytes())?;
    Ok(path)
}

// Tasks whose own checks are red, by the names of the gates that were made of them. What was red before the work began says
// nothing about it: an agent that gives up is not asked again.
fn failing(phase: &Phase, facts: &Facts) -> Vec<String> {
    let red = |id: &String| {
        let names = [format!("criterion {id}."), format!("verify {id}.")];
        let of_task = |gate: &str| names.iter().any(|name| gate.starts_with(name));
        facts.gates.iter().any(|gate| !gate.passed && gate.when != GateWhen::Before && of_task(&gate.gate))
    };
    phase.tasks.iter().map(|task| task.id.clone()).filter(red).collect()
}

/// A phase without the tasks that its agent reports as done and no check contradicts.
pub(super) fn rest(phase: &Phase, report: &Report, facts: Option<&Facts>) -> Phase {
    let failing = facts.map(|facts| failing(phase, facts)).unwrap_or_default();
    let tasks: Vec<&Task> = phase.tasks.iter().collect();
    let over = |told: &&TaskReport| matches!(told.status, TaskOutcome::Completed | TaskOutcome::Skipped);
    let done: Vec<String> = report
        .tasks
        .iter()
        .filter(over)
        .filter_map(|told| task_told(&tasks, told).map(|task| task.id.clone()))
        .filter(|id| !failing.contains(id))
        .collect();
    let mut rest = phase.clone();
    for task in rest.tasks.iter_mut().filter(|task| done.contains(&task.id)) {
        task.status = Status::Completed;
    }
    rest
}

/// Reads what lies in the folder of a phase.
pub(super) fn read(dir: &Path, phase: &Phase) -> Found {
    let bytes = match safely::read(&dir.join(NAME)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Found::Missing,
        Err(error) => return Found::Damaged(error.to_string()),
    };
    match String::from_utf8(bytes) {
        Ok(text) => {
            handoff::read(&text, phase).map_or_else(|bad| Found::Damaged(bad.to_string()), Found::Rest)
        }
        Err(_) => Found::Damaged("it is not a text file".to_owned()),
    }
}
