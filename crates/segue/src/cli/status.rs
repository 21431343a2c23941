//! `segue status`: where a run stands. Needs no lock and disturbs nobody.

use segue_machine::View;
use segue_report::{StatusDoc, render};

use super::crashed;
use super::failure::Failure;
use super::open::{self, Place};
use super::out;
use crate::clock;
use crate::driver::{screen_colors, screen_width};
use crate::watch;

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
    let seen = crashed::look(at, reader, run)?;
    let (id, view, now) = (&seen.row.id, seen.machine.view(), clock::now());
    let mut doc = StatusDoc::new(id, view, now);
    if let Some(crash) = &seen.crash {
        doc = doc.crashed(crash.since, crash.alive.iter().map(|proc| proc.pid).collect(), now);
    }
    if at.json {
        let mut json = serde_json::to_value(&doc)?;
        let holder = open::owner(at, id, view);
        json["process"] = holder.map_or(serde_json::Value::Null, |h| h.pid.into());
        json["status"] = seen.word().into();
        out::line(&json.to_string());
        return Ok(0);
    }
    out::painted(render(&doc, screen_width(), screen_colors()));
    if let Some(line) = gate_line(at, id, view) {
        out::line(&line);
    }
    if let Some(line) = super::plan::line_of(at, id) {
        out::line(&line);
    }
    Ok(0)
}

// The gate that runs now, with its clock and the last line that it wrote.
fn gate_line(at: &Place, run: &str, view: &View) -> Option<String> {
    let gates = view.spec.as_ref()?.gates.iter().filter(|gate| !gate.manual);
    let names: Vec<String> = gates.map(|gate| gate.name.clone()).collect();
    let gate = watch::gate_now(&at.store().run_dir(run), &names).filter(|gate| gate.runs(view))?;
    let took = segue_report::duration(clock::now().saturating_sub(gate.since));
    Some(format!("  gate now    {}, {took}: {}", gate.name, gate.last_line))
}

fn list(at: &Place, reader: &segue_journal::Reader) -> Result<u8, Failure> {
    for row in reader.runs()? {
        // Only what says to be running can be something else.
        let seen = (row.status == "running").then(|| crashed::look(at, reader, &row.id)).transpose()?;
        let status = seen.as_ref().map_or(row.status.as_str(), |seen| seen.word());
        if at.json {
            let crash = seen.as_ref().and_then(|seen| seen.crash.as_ref());
            let doc = serde_json::json!({
                "run": row.id, "status": status, "task": row.task, "agent": row.agent, "policy": row.policy,
                "created_at": row.created_at, "finished_at": row.finished_at,
                "crashed_at": crash.map(|crash| crash.since),
                "alive": crash.map(|crash| crash.alive.iter().map(|proc| proc.pid).collect::<Vec<_>>()),
            });
            out::line(&doc.to_string());
        } else {
            let task = segue_report::plain(&row.task);
            out::line(&format!("{}  {:<12}  {:<8}  {task}", row.id, status, row.policy));
        }
    }
    Ok(0)
}
