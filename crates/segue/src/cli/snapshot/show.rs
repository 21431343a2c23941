//! `segue snapshot show`: one snapshot, the files that differ in it, and the commands that look further.

use serde_json::json;

use super::list::wrapped;
use super::{Failure, Place, Shelf, out, place_in_plan, when};
use crate::driver::screen_width;
use crate::git::{Change, Weight};
use crate::snapshots::Entry;

/// How many files are shown to people.
const SHOWN: usize = 100;

/// Shows one snapshot.
pub(super) fn show(at: &Place, typed: &str) -> Result<u8, Failure> {
    let shelf = Shelf::open(at)?;
    let entry = shelf.choose(typed)?;
    let changes = shelf.repo.changes_in(&entry.saved)?;
    let saved: Vec<_> = shelf.entries.iter().map(|entry| entry.saved.clone()).collect();
    let weights = shelf.repo.weigh(&saved)?;
    let weight = saved.iter().zip(weights.each).find(|(one, _)| **one == entry.saved);
    let weight = weight.map_or_else(Weight::default, |(_, weight)| weight);
    if at.json {
        out::line(&json_doc(&shelf, entry, &changes, weight).to_string());
        return Ok(0);
    }
    let width = screen_width().into();
    for (what, text) in facts(&shelf, entry, &changes, weight) {
        out::lines(wrapped(&format!("{what:<8}  {}", shelf.plain(&text)), width, 10));
    }
    for change in changes.iter().take(SHOWN) {
        out::lines(wrapped(&file_line(&shelf, change), width, 6));
    }
    if changes.len() > SHOWN {
        out::line(&format!("  and {} more", changes.len() - SHOWN));
    }
    // Commands are to be copied and are never wrapped.
    out::line("to look further");
    out::lines(commands(entry).iter().map(|command| format!("  {}", shelf.plain(command))));
    Ok(0)
}

fn facts(shelf: &Shelf, entry: &Entry, changes: &[Change], weight: Weight) -> Vec<(&'static str, String)> {
    let saved = &entry.saved;
    let standing = |id: &str| shelf.owners.standing(id).map_or_else(String::new, |word| format!(", {word}"));
    let of = |kinds: &[char]| changes.iter().filter(|change| kinds.contains(&change.kind)).count();
    let base = if saved.head.is_some() { "against its head" } else { "before the first commit" };
    let mut facts = vec![
        ("snapshot", entry.name.clone()),
        ("run", format!("{}{}", saved.run, standing(&saved.run))),
        ("when", format!("{} UTC", when(entry))),
        ("commit", saved.commit.clone()),
        ("head", saved.head.clone().unwrap_or_else(|| "none".to_owned())),
        ("disk", format!("{} that only it needs", out::size(weight.bytes))),
        (
            "files",
            format!(
                "{} {base}: {} added, {} changed, {} deleted",
                changes.len(),
                of(&['A']),
                of(&['M', 'T']),
                of(&['D'])
            ),
        ),
    ];
    if let Some(place) = place_in_plan(entry) {
        let standing = entry.plan.as_deref().map(standing).unwrap_or_default();
        facts.insert(2, ("plan", place + &standing));
    }
    facts
}

fn word(kind: char) -> &'static str {
    match kind {
        'A' => "added",
        'D' => "deleted",
        _ => "changed",
    }
}

fn file_line(shelf: &Shelf, change: &Change) -> String {
    let lines = change.lines.map_or_else(|| "binary".to_owned(), |(new, gone)| format!("+{new} -{gone}"));
    format!("  {:<7}  {lines:<8}  {}", word(change.kind), shelf.plain(&change.path))
}

fn commands(entry: &Entry) -> Vec<String> {
    let saved = &entry.saved;
    // An earlier one of the name has no reference of its own.
    let commit = if saved.back == 0 { saved.reference() } else { saved.commit.clone() };
    let diff = saved.head.as_ref().map(|head| format!("git diff {head} {commit}"));
    let name = &entry.name;
    let rest = [format!("git show {commit}:PATH"), format!("segue snapshot restore {name}")];
    diff.into_iter().chain(rest).chain([format!("segue snapshot restore {name} --branch NAME")]).collect()
}

fn json_doc(shelf: &Shelf, entry: &Entry, changes: &[Change], weight: Weight) -> serde_json::Value {
    let mut doc = super::list::json_line(shelf, entry, weight);
    let change = |change: &Change| {
        json!({
            "path": shelf.clean(&change.path), "change": word(change.kind),
            "added": change.lines.map(|(added, _)| added), "deleted": change.lines.map(|(_, deleted)| deleted),
        })
    };
    doc["changes"] = changes.iter().map(change).collect();
    doc["status"] = json!(shelf.owners.standing(&entry.saved.run));
    doc
}
