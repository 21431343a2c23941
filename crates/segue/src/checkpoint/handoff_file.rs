//! `HANDOFF.md`: what a person or the next agent needs when the agent gave up.

use std::io;
use std::path::PathBuf;

use segue_machine::checkpoint::{cut_chars, cut_list};
use segue_report::Time;

use super::markdown;
use super::stored::write_whole;
use crate::checkpoint::{Document, Situation, Workplace, gather};
use crate::git::Facts;

/// How much of the last checkpoint is repeated.
const PARTIAL: usize = 4_000;

/// Writes the hand-over file into the work tree and returns its path.
pub(crate) fn write_handoff_file(
    place: &Workplace,
    situation: &Situation,
    reason: &str,
) -> io::Result<PathBuf> {
    let path = place.forms.handoff(place.store.workdir()).map_err(io::Error::other)?;
    let facts = place.facts(&situation.git).unwrap_or_default();
    let document = situation.previous.as_ref();
    let document = document.and_then(|id| Document::read(&Document::file(&place.checkpoints, id)).ok());
    let mut title = situation.task.lines().map(|l| l.trim_start_matches(['#', ' ']));
    let title = title.find(|l| !l.trim().is_empty()).unwrap_or_default();
    let done = document.as_ref().map_or_else(Vec::new, markdown::done);
    let mut remaining = document.as_ref().map_or_else(Vec::new, markdown::left);
    if remaining.is_empty() {
        remaining.push(
            "unknown (the agent did not say): what the task asks for and Tasks Completed does not list"
                .to_owned(),
        );
    }
    let text = format!(
        "# Handoff\n\n- Phase: {title}\n- Reason: {}\n- Time: {}\n- Last commit: {}\n\n\
         ## Tasks Completed\n{}\n## Tasks Remaining\n{}\n## Files Modified\n{}\n## Partial Progress\n{}\n\n\
         ## Continue\n```\n{}\n```\n",
        reason.replace('\n', " "),
        Time(situation.at),
        last_commit(&facts),
        table(&done),
        table(&remaining),
        table(&cut_list(&files(&facts), 50)),
        partial(situation, document.as_ref(), &facts),
        document
            .as_ref()
            .map_or_else(|| format!("segue resume {}", place.run), |d| markdown::commands(d).join("\n")),
    );
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    write_whole(&path, place.redactor.text(&text).text.as_bytes())?;
    Ok(path)
}

fn last_commit(facts: &Facts) -> String {
    match (&facts.head, facts.commits.first()) {
        (Some(_), Some((hash, subject))) => format!("{hash} {subject}"),
        (Some(head), None) => format!("{head} (none since the run began)"),
        (None, _) => "none".to_owned(),
    }
}

fn files(facts: &Facts) -> Vec<String> {
    let mut files: Vec<String> = facts.added.iter().map(|f| format!("{f} (new)")).collect();
    files.extend(facts.modified.iter().cloned());
    files.extend(facts.deleted.iter().map(|f| format!("{f} (deleted)")));
    files
}

/// What is begun and not finished, as far as it can be told.
fn partial(situation: &Situation, document: Option<&Document>, facts: &Facts) -> String {
    let mut lines: Vec<String> =
        facts.diffstat.iter().map(|stat| format!("- in the work tree: {stat} since the run began")).collect();
    lines.extend(situation.gate_lines().into_iter().map(|gate| format!("- gate {gate}")));
    lines
        .extend(gather::errors(situation).into_iter().take(5).map(|error| format!("- failed last: {error}")));
    lines.extend(
        situation.since_lines().into_iter().map(|tool| format!("- after the last checkpoint: {tool}")),
    );
    let words = document.map_or("none recorded", |d| d.summary.as_str());
    lines.push(format!("\n{}", cut_chars(words, PARTIAL)));
    lines.join("\n")
}

fn table(items: &[String]) -> String {
    let mut text = String::from("| # | what |\n|---|---|\n");
    for (n, item) in items.iter().enumerate() {
        text.push_str(&format!("| {} | {} |\n", n + 1, item.replace('|', "\\|").replace('\n', " ")));
    }
    text
}
