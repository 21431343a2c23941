//! `segue list`: the runs of this directory, or of every repository that segue was used in, newest first.

use segue_journal::{Reader, RunRow};
use segue_report::{Time, plain};

use super::failure::Failure;
use super::find::short;
use super::open::Place;
use super::{crashed, out};
use crate::{clock, places};

/// Lists runs.
pub(super) fn list(at: &Place, all: bool) -> Result<u8, Failure> {
    let mut found = Vec::new();
    at.store().refuse_link()?;
    let own = at.store().root().to_owned();
    let others = if all { places::known() } else { Vec::new() };
    let roots = others.into_iter().filter(|root| *root != own);
    for root in std::iter::once(own.clone()).chain(roots) {
        let there = Place { dir: root, json: at.json };
        if there.store().runs().exists() {
            let reader = there.reader()?;
            for row in reader.runs()? {
                let status = status(&there, &reader, &row)?;
                found.push((there.dir.clone(), row, status));
            }
        }
    }
    found.sort_by_key(|(_, row, _)| std::cmp::Reverse(row.created_at));
    if at.json {
        for (root, row, status) in &found {
            let doc = serde_json::json!({
                "run": row.id, "status": status, "task": row.task, "agent": row.agent, "policy": row.policy,
                "created_at": Time(row.created_at), "finished_at": row.finished_at.map(Time), "workdir": root,
            });
            out::line(&doc.to_string());
        }
        return Ok(0);
    }
    if found.is_empty() {
        let whose = if all { "anywhere" } else { "in this directory" };
        out::line(&format!("no runs {whose} yet; `segue run \"your task\"` starts one"));
        return Ok(0);
    }
    let now = clock::now();
    let rows: Vec<[String; 5]> = found
        .iter()
        .map(|(root, row, status)| {
            let place = if all { root.display().to_string() } else { String::new() };
            let id = short(&row.id);
            let same = found.iter().filter(|(_, other, _)| short(&other.id) == id).count();
            let id = if same > 1 { row.id.clone() } else { id.to_owned() };
            [id, ago(now.saturating_sub(row.created_at)), status.clone(), plain(&row.task), place]
        })
        .collect();
    let widths = out::widths(&rows);
    out::lines(rows.iter().map(|row| out::row(row, &widths)));
    Ok(0)
}

// Only what says to be running can be something else.
fn status(at: &Place, reader: &Reader, row: &RunRow) -> Result<String, Failure> {
    if row.status != "running" {
        return Ok(row.status.clone());
    }
    Ok(crashed::look(at, reader, &row.id)?.word().to_owned())
}

fn ago(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} m ago", seconds / 60),
        3_600..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_one_unit() {
        let of = |seconds: u64| ago(seconds * 1_000);
        assert_eq!(
            [of(0), of(59), of(61), of(3_600), of(90_000)],
            ["0 s ago", "59 s ago", "1 m ago", "1 h ago", "25 h ago"]
        );
        assert_eq!(of(3 * 86_400), "3 days ago");
    }
}
