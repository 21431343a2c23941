//! `HANDOFF.md` of a phase: what is done, what is left, and how to go on, for a person and for the next try.
//!
//! It may be edited: what stands in the table of remaining tasks is what the next try is given. One that cannot be
//! understood is said to be so, and the whole phase is run.

use std::path::{Path, PathBuf};

use segue_machine::checkpoint::{cut_chars, cut_list};
use segue_plans::Phase;
use segue_plans::ids::same;
use segue_plans::report::{Report, TaskOutcome};
use segue_report::Time;

use super::outcome::Facts;
use crate::clock;

/// Its name in the folder of the phase.
pub(super) const NAME: &str = "HANDOFF.md";

/// How much of what an agent says is kept.
const PARTIAL: usize = 3_000;

/// What an earlier try left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Handoff {
    remaining: Vec<String>,
    done: Vec<String>,
    partial: String,
}

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

impl Handoff {
    /// Whether a task is still to be done.
    pub(super) fn remains(&self, task: &str) -> bool {
        self.remaining.iter().any(|id| same(id, task))
    }

    /// What the next agent is told.
    pub(super) fn words(&self) -> String {
        let done = if self.done.is_empty() { "none".to_owned() } else { self.done.join(", ") };
        format!("Tasks that are done and must not be done again: {done}\n\n{}", self.partial)
            .trim_end()
            .to_owned()
    }
}

/// Writes it into the folder of the phase.
pub(super) fn write(
    dir: &Path,
    phase: &Phase,
    report: &Report,
    facts: &Facts,
    reason: &str,
    go_on: &str,
) -> std::io::Result<PathBuf> {
    let told = |id: &str| report.tasks.iter().find(|task| same(&task.id, id));
    // What the agent says about a task is not so when a check of that task fails.
    let fails = |id: &str| {
        let names = [format!("criterion {id}."), format!("verify {id}.")];
        let of_task = |gate: &segue_machine::GateResult| names.iter().any(|name| gate.gate.starts_with(name));
        facts.gates.iter().any(|gate| !gate.passed && of_task(gate))
    };
    let is_done = |id: &str| {
        !fails(id)
            && told(id)
                .is_some_and(|task| matches!(task.status, TaskOutcome::Completed | TaskOutcome::Skipped))
    };
    let row = |task: &segue_plans::Task| {
        let note = told(&task.id).map_or("", |told| told.note.as_str());
        format!("| {} | {} | {} |\n", cell(&task.id), cell(&task.title), cell(note))
    };
    let (done, left): (Vec<&segue_plans::Task>, Vec<&segue_plans::Task>) =
        phase.tasks.iter().partition(|task| (task.status.is_over() && !fails(&task.id)) || is_done(&task.id));
    let table = |tasks: &[&segue_plans::Task]| {
        let rows: String = tasks.iter().map(|task| row(task)).collect();
        format!("| task | what | note |\n|---|---|---|\n{rows}")
    };
    let issues: String =
        report.issues.iter().map(|issue| format!("- {}\n", issue.replace('\n', " "))).collect();
    let text = format!(
        "# Handoff\n\n- Phase: {} {}\n- Reason: {}\n- Time: {}\n- Last commit: {}\n\n## Tasks Completed\n{}\n\
         ## Tasks Remaining\n{}\n## Files Modified\n{}\n\n## Partial Progress\n{}\n{issues}\n## Continue\n```\n{go_on}\n```\n",
        phase.id,
        phase.title.replace('\n', " "),
        reason.replace('\n', " "),
        Time(clock::now()),
        facts.last_commit.as_deref().unwrap_or("none"),
        table(&done),
        table(&left),
        cut_list(&facts.files, 50).iter().map(|file| format!("- {file}")).collect::<Vec<_>>().join("\n"),
        cut_chars(report.summary.trim(), PARTIAL),
    );
    std::fs::create_dir_all(dir)?;
    let path = dir.join(NAME);
    crate::checkpoint::write_whole(&path, text.as_bytes())?;
    Ok(path)
}

/// Reads what lies in the folder of a phase.
pub(super) fn read(dir: &Path, phase: &Phase) -> Found {
    let bytes = match std::fs::read(dir.join(NAME)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Found::Missing,
        Err(error) => return Found::Damaged(error.to_string()),
    };
    match String::from_utf8(bytes) {
        Ok(text) => parse(&text, phase).map_or_else(Found::Damaged, Found::Rest),
        Err(_) => Found::Damaged("it is no text".to_owned()),
    }
}

fn parse(text: &str, phase: &Phase) -> Result<Handoff, String> {
    let text = text.replace("\r\n", "\n");
    let text = text.as_str();
    let named = text.lines().find_map(|line| line.trim().strip_prefix("- Phase:")).map(str::trim);
    let named = named.and_then(|words| words.split_whitespace().next()).ok_or("it names no phase")?;
    if !same(named, &phase.id) {
        return Err(format!("it is about phase {named}"));
    }
    let remaining = table(text, "Tasks Remaining").ok_or("it has no table of remaining tasks")?;
    let done = table(text, "Tasks Completed").ok_or("it has no table of completed tasks")?;
    let known = |id: &String| phase.tasks.iter().any(|task| same(&task.id, id));
    if let Some(strange) = remaining.iter().chain(&done).find(|id| !known(id)) {
        return Err(format!("the phase has no task {strange}"));
    }
    if remaining.is_empty() && !phase.tasks.is_empty() && done.len() < phase.tasks.len() {
        return Err("no task remains, and not all of them are done".to_owned());
    }
    let partial = section(text, "Partial Progress").unwrap_or_default();
    Ok(Handoff { remaining, done, partial: cut_chars(partial.trim(), PARTIAL) })
}

fn section<'t>(text: &'t str, title: &str) -> Option<&'t str> {
    let head = format!("## {title}\n");
    let from = text.find(&head)? + head.len();
    let rest = &text[from..];
    Some(rest.find("\n## ").map_or(rest, |end| &rest[..=end]))
}

fn table(text: &str, title: &str) -> Option<Vec<String>> {
    let body = section(text, title)?;
    let mut rows = body.lines().filter(|line| line.trim_start().starts_with('|'));
    rows.next()?;
    let first =
        |row: &str| row.trim().trim_matches('|').split('|').next().map(|id| id.trim().replace("\\/", "|"));
    let ids = rows.filter_map(first).filter(|id| !id.is_empty() && !id.chars().all(|c| "-: ".contains(c)));
    Some(ids.collect())
}

fn cell(text: &str) -> String {
    text.replace('|', "\\/").replace('\n', " ")
}

#[cfg(test)]
#[path = "handoff_tests.rs"]
mod tests;
