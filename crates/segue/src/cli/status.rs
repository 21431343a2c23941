//! `segue status`: where a run stands. Needs no lock and disturbs nobody.

use segue_report::{StatusDoc, render};

use super::failure::Failure;
use super::open::{self, Place};
use super::out;
use crate::driver::screen_width;
use crate::{clock, history};

/// Shows one run, or all of them in a line each.
pub(super) fn status(at: &Place, run: Option<&str>, all: bool) -> Result<u8, Failure> {
    let reader = at.reader()?;
    if all {
        return list(at, &reader);
    }
    if run.is_none() {
        let side_by_side = super::plan::at_work(at);
        let latest = at.run(&reader, None)?;
        if !at.json && (!side_by_side.is_empty() || super::plan::is_open_beside(at, &latest.id)) {
            return super::plan::status(at, None, false);
        }
        for run in &side_by_side {
            show(at, &reader, run)?;
        }
        if !side_by_side.is_empty() {
            return Ok(0);
        }
    }
    let row = at.run(&reader, run)?;
    show(at, &reader, &row.id)
}

fn show(at: &Place, reader: &segue_journal::Reader, run: &str) -> Result<u8, Failure> {
    let row = at.run(reader, Some(run))?;
    let machine = history::replay(&history::read(reader, &row.id, 0)?, |_, _, _| {});
    let doc = StatusDoc::new(&row.id, machine.view(), clock::now());
    let holder = open::owner(at, &row.id, machine.view());
    let dead = row.status == "running" && holder.is_none();
    if at.json {
        let mut json = serde_json::to_value(&doc).unwrap_or_default();
        json["process"] = holder.map_or(serde_json::Value::Null, |h| h.pid.into());
        out::line(&json.to_string());
        return Ok(0);
    }
    let color =
        std::env::var_os("NO_COLOR").is_none() && std::io::IsTerminal::is_terminal(&std::io::stdout());
    out::painted(render(&doc, screen_width(), color));
    if let Some(line) = super::plan::line_of(at, &row.id) {
        out::line(&line);
    }
    if dead {
        out::line("its process is gone: `segue resume` goes on from the last durable fact");
    }
    Ok(0)
}

fn list(at: &Place, reader: &segue_journal::Reader) -> Result<u8, Failure> {
    for row in reader.runs()? {
        if at.json {
            let doc = serde_json::json!({
                "run": row.id, "status": row.status, "task": row.task, "agent": row.agent, "policy": row.policy,
                "created_at": row.created_at, "finished_at": row.finished_at,
            });
            out::line(&doc.to_string());
        } else {
            let task = segue_report::plain(&row.task);
            out::line(&format!("{}  {:<12}  {:<8}  {task}", row.id, row.status, row.policy));
        }
    }
    Ok(0)
}
