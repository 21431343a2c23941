//! `HANDOFF.md`: what a person or the next agent needs when the agent gave up.

use std::io;
use std::path::PathBuf;

use segue_machine::checkpoint::{cut_list, parse};

use crate::checkpoint::{Document, Situation, Workplace};

/// Writes `HANDOFF.md` into the work tree and returns its path.
pub(crate) fn write_handoff_file(
    place: &Workplace,
    situation: &Situation,
    reason: &str,
) -> io::Result<PathBuf> {
    let path = place.store.workdir().join("HANDOFF.md");
    let facts = place.facts(&situation.git).unwrap_or_default();
    let document = situation.previous.as_ref();
    let document = document.and_then(|id| Document::read(&Document::file(&place.checkpoints, id)).ok());
    let answer = document.as_ref().map(|d| parse(&d.summary));
    let items = |names: &[&str]| answer.as_ref().map_or_else(Vec::new, |a| a.items(names).to_vec());
    let time = jiff::Timestamp::from_millisecond(i64::try_from(situation.at).unwrap_or(i64::MAX))
        .map_or_else(|_| String::new(), |t| t.to_string());
    let commit = facts.head.as_deref().unwrap_or("none");
    let mut title = situation.task.lines().map(|l| l.trim_start_matches(['#', ' ']));
    let title = title.find(|l| !l.trim().is_empty()).unwrap_or_default();
    let mut files: Vec<String> = facts.added.iter().map(|f| format!("{f} (new)")).collect();
    files.extend(facts.modified.iter().cloned());
    files.extend(facts.deleted.iter().map(|f| format!("{f} (deleted)")));
    let mut remaining = items(&["remaining"]);
    if remaining.is_empty() {
        remaining.push("not put down: what the task asks for and Tasks Completed does not list".to_owned());
    }
    let partial = document.as_ref().map_or("nothing was put down", |d| d.summary.as_str());
    let text = format!(
        "# Handoff\n\n- Phase: {title}\n- Reason: {reason}\n- Time: {time}\n- Last commit: {commit}\n\n\
         ## Tasks Completed\n{}\n## Tasks Remaining\n{}\n## Files Modified\n{}\n## Partial Progress\n{partial}\n\n\
         ## Continue\n```\nsegue resume {}\n```\n",
        table(&items(&["completed", "done"])),
        table(&remaining),
        table(&cut_list(&files, 50)),
        place.run,
    );
    std::fs::write(&path, text)?;
    Ok(path)
}

fn table(items: &[String]) -> String {
    let mut text = String::from("| # | what |\n|---|---|\n");
    for (n, item) in items.iter().enumerate() {
        text.push_str(&format!("| {} | {} |\n", n + 1, item.replace('|', "\\|")));
    }
    text
}
