//! `HANDOFF.md` of a phase: what is done, what is left, and how to go on, for a person and for the next try.
//!
//! It may be edited: what stands in the table of remaining tasks is what the next try is given. The form that other
//! phase runners write is read, too. One that cannot be understood is never guessed at.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::ids::same;
use crate::model::{Phase, Task};
use crate::named::{task_in_words, task_named, task_told};
use crate::report::{Report, TaskOutcome, TaskReport};

/// How much of what an agent says is kept, in characters.
const PARTIAL: usize = 3_000;

/// How many files are named.
const FILES: usize = 50;

/// What an earlier try left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handoff {
    remaining: Vec<String>,
    done: Vec<String>,
    partial: String,
}

/// A text that is no hand-over of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadHandoff {
    /// It does not say what it is about.
    #[error("it names no phase")]
    NoPhase,
    /// It is about something else.
    #[error("it is about phase {0}")]
    OtherPhase(String),
    /// A table is missing.
    #[error("it has no table of {0} tasks")]
    NoTable(&'static str),
    /// A task that the phase does not have.
    #[error("the phase has no task {0}")]
    UnknownTask(String),
    /// It is cut off, or somebody deleted too much.
    #[error("no task remains, and not all of them are done")]
    NothingLeft,
}

/// What a hand-over tells beside the report.
#[derive(Debug, Clone, Default)]
pub struct Around<'a> {
    /// Why there is one.
    pub reason: &'a str,
    /// When, as text.
    pub time: &'a str,
    /// The last commit.
    pub last_commit: &'a str,
    /// Files that were changed.
    pub files: &'a [String],
    /// Tasks that a check says are not done, whatever the agent says.
    pub failing: &'a [String],
    /// The command that goes on.
    pub go_on: &'a str,
}

impl Handoff {
    /// Whether a task is still to be done.
    pub fn remains(&self, task: &str) -> bool {
        self.remaining.iter().any(|id| same(id, task))
    }

    /// The tasks that are done, by id.
    pub fn done(&self) -> &[String] {
        &self.done
    }

    /// What is half done, in the words of whoever left it.
    pub fn partial(&self) -> &str {
        &self.partial
    }

    /// What the next agent is told.
    pub fn words(&self) -> String {
        let done = if self.done.is_empty() { "none".to_owned() } else { self.done.join(", ") };
        format!("Tasks that are done and must not be done again: {done}\n\n{}", self.partial)
            .trim_end()
            .to_owned()
    }
}

/// The text of a hand-over.
pub fn write(phase: &Phase, report: &Report, around: &Around<'_>) -> String {
    let all: Vec<&Task> = phase.tasks.iter().collect();
    let told: BTreeMap<&str, &TaskReport> = report
        .tasks
        .iter()
        .filter_map(|told| task_told(&all, told).map(|task| (task.id.as_str(), told)))
        .collect();
    let told = |id: &str| told.get(id).copied();
    let fails = |id: &str| around.failing.iter().any(|failing| same(failing, id));
    let is_done = |task: &&Task| {
        let said = told(&task.id)
            .is_some_and(|told| matches!(told.status, TaskOutcome::Completed | TaskOutcome::Skipped));
        !fails(&task.id) && (said || task.status.is_over())
    };
    let row = |task: &&Task| {
        let note = told(&task.id).map_or("", |told| told.note.as_str());
        format!("| {} | {} | {} |\n", cell(&task.id), cell(&task.title), cell(note))
    };
    let (done, left): (Vec<&Task>, Vec<&Task>) = phase.tasks.iter().partition(is_done);
    let table = |tasks: &[&Task]| {
        format!("| task | what | note |\n|---|---|---|\n{}", tasks.iter().map(row).collect::<String>())
    };
    let issues: String = report.issues.iter().map(|issue| format!("- {}\n", line(issue))).collect();
    let more = around.files.len().saturating_sub(FILES);
    let more = if more > 0 { format!("- and {more} more\n") } else { String::new() };
    let files: String = around.files.iter().take(FILES).map(|file| format!("- {}\n", line(file))).collect();
    format!(
        "# Handoff\n\n- Phase: {} {}\n- Reason: {}\n- Time: {}\n- Last commit: {}\n\n## Tasks Completed\n{}\n\
         ## Tasks Remaining\n{}\n## Files Modified\n{files}{more}\n## Partial Progress\n{}\n{issues}\n## Continue\n```\n{}\n```\n",
        line(&phase.id),
        line(&phase.title),
        line(around.reason),
        around.time,
        line(around.last_commit),
        table(&done),
        table(&left),
        quiet(&report.summary),
        around.go_on,
    )
}

/// Reads the hand-over of a phase.
///
/// # Errors
/// It is no hand-over of this phase.
pub fn read(text: &str, phase: &Phase) -> Result<Handoff, BadHandoff> {
    let text = text.replace("\r\n", "\n");
    about(&text, phase)?;
    let tasks: Vec<&Task> = phase.tasks.iter().collect();
    let known = |name: &String| {
        let by_cell = phase.tasks.iter().find(|task| cell(&task.id).trim() == name);
        by_cell.or_else(|| task_named(&tasks, name)).map(|task| task.id.clone())
    };
    // Its words count: an id may be a place in a list that has changed since.
    let ids = |rows: Vec<(String, String)>| {
        let id = |(name, words): (String, String)| {
            let told = task_in_words(&tasks, &words).map(|task| task.id.clone());
            told.or_else(|| known(&name)).ok_or(BadHandoff::UnknownTask(name))
        };
        rows.into_iter().map(id).collect::<Result<Vec<String>, _>>()
    };
    let remaining = ids(table(&text, "Tasks Remaining").ok_or(BadHandoff::NoTable("remaining"))?)?;
    let done = ids(table(&text, "Tasks Completed").ok_or(BadHandoff::NoTable("completed"))?)?;
    if remaining.is_empty() && done.len() < phase.tasks.len() {
        return Err(BadHandoff::NothingLeft);
    }
    let partial = section(&text, "Partial Progress").unwrap_or_default().trim().to_owned();
    let files = section(&text, "Files Modified").unwrap_or_default().trim();
    let partial =
        if files.is_empty() { partial } else { format!("{partial}\n\nFiles modified so far:\n{files}") };
    Ok(Handoff { remaining, done, partial: cut(partial.trim()) })
}

// `- Phase: 6D Basket`, `**Phase ID:** 6D`, or `# Phase 6D …` as the title.
fn about(text: &str, phase: &Phase) -> Result<(), BadHandoff> {
    let field = |text: &str| {
        let marks = ["- Phase:", "**Phase ID:**", "**Phase:**", "Phase ID:", "# Phase "];
        marks.iter().find_map(|mark| text.trim().strip_prefix(mark)).map(|rest| rest.trim().to_owned())
    };
    // The heading comes first in the other form, and names it less exactly than the field.
    let mut named = text.lines().filter_map(field);
    let first = named.next().ok_or(BadHandoff::NoPhase)?;
    let id = line(&phase.id);
    let is_it = |named: &String| {
        let word = named.split_whitespace().next().unwrap_or_default().trim_end_matches([':', ',']);
        *named == id
            || named.strip_prefix(&id).is_some_and(|rest| rest.starts_with(' '))
            || same(word, &phase.id)
    };
    if is_it(&first) || named.next().as_ref().is_some_and(is_it) {
        return Ok(());
    }
    let word = first.split_whitespace().next().ok_or(BadHandoff::NoPhase)?;
    Err(BadHandoff::OtherPhase(word.trim_end_matches([':', ',']).to_owned()))
}

// What stands below a heading that begins with these words.
fn section<'t>(text: &'t str, title: &str) -> Option<&'t str> {
    let head = format!("\n## {title}");
    let at = text.find(&head)? + head.len();
    // The line end stays, so that a heading right after it is found.
    let rest = &text[at + text[at..].find('\n')?..];
    Some(rest.find("\n## ").map_or(rest, |end| &rest[..=end]))
}

// The first cells of a table, without its head, each with what the task is called where a column says so.
fn table(text: &str, title: &str) -> Option<Vec<(String, String)>> {
    fn cells(row: &str) -> Vec<&str> {
        row.trim_matches('|').split('|').map(str::trim).collect()
    }
    let body = section(text, title)?;
    let mut rows = body.lines().map(str::trim).filter(|line| line.starts_with('|'));
    let with_words = cells(rows.next()?).get(1).is_some_and(|head| head.eq_ignore_ascii_case("what"));
    let row = |row: &str| {
        let cells = cells(row);
        let words = cells.get(1).filter(|_| with_words).map_or("", |words| *words);
        Some(((*cells.first()?).to_owned(), words.to_owned()))
    };
    let is_none = |id: &String| {
        id.chars().all(|c| "-–—: ".contains(c))
            || ["none", "(none)", "n/a"].contains(&id.to_lowercase().as_str())
    };
    Some(rows.filter_map(row).filter(|(id, _)| !is_none(id)).collect())
}

fn cell(text: &str) -> String {
    line(text).replace('|', "\\")
}

fn line(text: &str) -> String {
    text.replace(['\n', '\r'], " ").trim().to_owned()
}

// A heading in what an agent says would end its section.
fn quiet(text: &str) -> String {
    cut(text.trim()).replace("\n#", "\n #").trim_start_matches('#').to_owned()
}

fn cut(text: &str) -> String {
    text.chars().take(PARTIAL).collect()
}

#[cfg(test)]
#[path = "handoff_tests.rs"]
mod tests;
