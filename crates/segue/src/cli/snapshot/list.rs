//! `segue snapshot list`: one line each, and what they take on disk.

use segue_report::{Time, wrap};
use serde_json::json;

use super::{Failure, Place, Shelf, count, out, place_in_plan, when};
use crate::driver::screen_width;
use crate::git::Weight;
use crate::snapshots::{Entry, NoSnapshot, choose_owner, disk_use};

const COLUMNS: usize = 5;

/// Lists the snapshots of all runs and plans, or of one.
pub(super) fn list(at: &Place, owner: Option<&str>) -> Result<u8, Failure> {
    let shelf = Shelf::open(at)?;
    let owner = owner.map(|typed| choose_owner(&shelf.entries, &shelf.owners, typed)).transpose()?;
    let is_meant = |entry: &Entry| owner.as_ref().is_none_or(|(_, runs)| runs.contains(&entry.saved.run));
    let saved: Vec<_> = shelf.entries.iter().map(|entry| entry.saved.clone()).collect();
    let weights = shelf.repo.weigh(&saved)?;
    let weighed = shelf.entries.iter().zip(weights.each).filter(|(entry, _)| is_meant(entry));
    let chosen: Vec<(&Entry, Weight)> = weighed.collect();
    let folder = disk_use(shelf.store.all_trees());
    if at.json {
        out::lines(chosen.iter().map(|(entry, weight)| json_line(&shelf, entry, *weight).to_string()));
        let all = json!({ "snapshots": saved.len(), "bytes": weights.total, "worktree_bytes": folder });
        out::line(&all.to_string());
        return Ok(0);
    }
    match &owner {
        Some((id, _)) if chosen.is_empty() => out::line(&format!("{} has no snapshots", shelf.plain(id))),
        None if chosen.is_empty() => out::line(&NoSnapshot::Nothing.to_string()),
        _ => {}
    }
    if saved.is_empty() && folder == 0 {
        return Ok(0);
    }
    let rows: Vec<[String; COLUMNS]> =
        chosen.iter().map(|(entry, weight)| cells(&shelf, entry, *weight)).collect();
    out::lines(lines(&rows, screen_width().into()));
    let (all, total, folder) = (count(saved.len(), "snapshot"), out::size(weights.total), out::size(folder));
    let total =
        format!("{all} in all, {total} in git that nothing else needs; worktrees of phases: {folder}");
    out::lines(wrapped(&total, screen_width().into(), 2));
    Ok(0)
}

pub(super) fn json_line(shelf: &Shelf, entry: &Entry, weight: Weight) -> serde_json::Value {
    let saved = &entry.saved;
    json!({
        "snapshot": shelf.clean(&entry.name), "run": saved.run, "label": shelf.clean(&saved.label), "back": saved.back,
        "plan": entry.plan, "phase": entry.phase.as_ref().map(|phase| shelf.clean(phase)), "at": Time(saved.at),
        "files": weight.files, "bytes": weight.bytes, "ref": shelf.clean(&saved.reference()),
        "commit": saved.commit, "head": saved.head,
    })
}

fn cells(shelf: &Shelf, entry: &Entry, weight: Weight) -> [String; COLUMNS] {
    [
        shelf.plain(&entry.name),
        when(entry),
        count(weight.files, "file"),
        out::size(weight.bytes),
        place_in_plan(entry).map_or_else(String::new, |place| shelf.plain(&place)),
    ]
}

/// A table where there is room for it, else each name on a line of its own, so that it can be copied.
fn lines(rows: &[[String; COLUMNS]], width: usize) -> Vec<String> {
    let widths = out::widths(rows);
    let table: Vec<String> = rows.iter().map(|row| out::row(row, &widths)).collect();
    if width == 0 || table.iter().all(|line| line.chars().count() <= width) {
        return table;
    }
    let stacked = |[name, rest @ ..]: &[String; COLUMNS]| {
        let rest: Vec<&str> = rest.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
        let rest =
            wrap(&rest.join(", "), width.saturating_sub(2), 0).into_iter().map(|line| format!("  {line}"));
        std::iter::once(name.clone()).chain(rest).collect::<Vec<_>>()
    };
    rows.iter().flat_map(stacked).collect()
}

/// A sentence within the screen.
pub(super) fn wrapped(text: &str, width: usize, indent: usize) -> Vec<String> {
    if width == 0 { vec![text.to_owned()] } else { wrap(text, width, indent) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<[String; COLUMNS]> {
        let row = |cells: [&str; COLUMNS]| cells.map(str::to_owned);
        vec![
            row(["20260801-101500-ab12/c36", "2026-08-01 10:16:00", "3 files", "12 KB", ""]),
            row([
                "plan-20260801-101500-ab12/2-before-merge~1",
                "2026-08-01 10:17:00",
                "1 file",
                "812 B",
                "phase 2 of plan-20260801-101500-ab12",
            ]),
        ]
    }

    #[test]
    fn a_wide_screen_has_a_table() {
        for width in [0, 140] {
            let lines = lines(&rows(), width);
            assert_eq!(lines.len(), 2, "{lines:?}");
            assert_eq!(lines[0].find("2026-08-01 10:16"), lines[1].find("2026-08-01 10:17"));
        }
    }

    #[test]
    fn at_40_columns_nothing_breaks_and_every_name_stays_whole() {
        let lines = lines(&rows(), 40);
        for row in rows() {
            assert!(lines.contains(&row[0]), "{lines:?}");
        }
        let rest = lines.iter().filter(|line| line.starts_with(' '));
        assert!(rest.clone().all(|line| line.chars().count() <= 40), "{lines:?}");
        let rest: String = rest.map(|line| line.trim_start().to_owned() + " ").collect();
        assert!(rest.contains("2026-08-01 10:16:00, 3 files, 12 KB"), "{rest}");
        assert!(rest.contains("812 B, phase 2 of plan-20260801-101500-ab12"), "{rest}");
    }
}
