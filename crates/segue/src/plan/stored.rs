//! The report of a phase as it lies on disk: what the agent tells, and what segue knows beside it.

use std::path::{Path, PathBuf};

use segue_plans::Phase;
use segue_plans::report::Report;
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
