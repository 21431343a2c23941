//! The report of a phase as it lies on disk: what the agent tells, and what segue knows beside it.

use std::path::{Path, PathBuf};

use segue_plans::report::Report;
use segue_plans::{Phase, Task, task_named};
use segue_redact::Redactor;
use serde_json::{Value, json};

use super::outcome::{Facts, Settled};
use crate::store::safely;

/// Its name in the folder of the phase.
const NAME: &str = "report.json";

/// Writes the report of a phase and returns where it lies.
pub(super) fn write(
    dir: &Path,
    phase: &Phase,
    run: &str,
    settled: &Settled,
    facts: Option<&Facts>,
    parts: &[Value],
    redactor: &Redactor,
) -> std::io::Result<PathBuf> {
    let gates: Vec<Value> = facts
        .iter()
        .flat_map(|facts| &facts.gates)
        .map(|gate| json!({ "gate": gate.gate, "passed": gate.passed, "exit": gate.exit, "ms": gate.ms }))
        .collect();
    let value = json!({
        "phase": phase.id,
        "title": phase.title,
        "run": run,
        "by": if settled.by_agent { "agent" } else { "segue" },
        "why": settled.why,
        "mended": settled.mended,
        "report": settled.report,
        "gates": gates,
        "parts": parts,
    });
    std::fs::create_dir_all(dir)?;
    let path = dir.join(NAME);
    let text = serde_json::to_string_pretty(&value)?;
    crate::checkpoint::write_whole(&path, redactor.text(&text).text.as_bytes())?;
    Ok(path)
}

/// The report that lies in the folder of a phase.
pub(super) fn read(dir: &Path) -> Option<Report> {
    let value: Value = serde_json::from_slice(&safely::read(&dir.join(NAME)).ok()?).ok()?;
    serde_json::from_value(value["report"].clone()).ok()
}

/// What the tasks of a phase were called when its agent was told of them.
const TASKS: &str = "tasks.json";

/// Keeps what the tasks of a phase are called: ids may be places in a list, and a report comes when it has changed.
pub(super) fn keep_tasks(dir: &Path, phase: &Phase) -> std::io::Result<()> {
    let tasks: Vec<(&str, &str)> =
        phase.tasks.iter().map(|task| (task.id.as_str(), task.title.as_str())).collect();
    std::fs::create_dir_all(dir)?;
    crate::checkpoint::write_whole(&dir.join(TASKS), serde_json::to_string(&tasks)?.as_bytes())
}

/// The tasks that the agent of a phase was told of.
pub(super) fn told_tasks(dir: &Path) -> Vec<Task> {
    let kept = safely::read(&dir.join(TASKS)).ok();
    let kept: Vec<(String, String)> =
        kept.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    kept.into_iter().map(|(id, title)| Task { id, title, ..Task::default() }).collect()
}

/// Gives each task of a report the words that its id stood for when the agent was told of it.
pub(super) fn name_tasks(dir: &Path, report: &mut Report) {
    let told = told_tasks(dir);
    let told: Vec<&Task> = told.iter().collect();
    for one in report.tasks.iter_mut().filter(|one| one.title.is_empty()) {
        if let Some(task) = task_named(&told, &one.id) {
            one.title = task.title.chars().take(segue_plans::report::TEXT_CHARS).collect();
        }
    }
}

/// Names another commit in the place of one that was made anew.
pub(super) fn replace_commit(dir: &Path, before: &str, after: &str) -> std::io::Result<()> {
    let path = dir.join(NAME);
    let mut value: Value = serde_json::from_slice(&safely::read(&path)?)?;
    let commits = value.pointer_mut("/report/commits").and_then(Value::as_array_mut);
    for commit in commits.into_iter().flatten() {
        let short = commit.as_str().filter(|short| short.len() >= 4 && before.starts_with(short));
        if let Some(same) = short.and_then(|short| after.get(..short.len())) {
            *commit = json!(same);
        }
    }
    crate::checkpoint::write_whole(&path, serde_json::to_string_pretty(&value)?.as_bytes())
}
