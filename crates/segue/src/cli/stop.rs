//! `segue stop`: ask the process that works here to stop, as Ctrl-C would.

use std::path::Path;

use super::crashed;
use super::failure::Failure;
use super::open::Place;
use super::out;
use crate::process::lock::{Holder, Lock};
use crate::process::tree;

/// Signals the owner of this work tree, once or, for an end at once, twice.
pub(super) fn stop(at: &Place, run: Option<&str>, now: bool) -> Result<u8, Failure> {
    let alive = |dir: &Path| Lock::holder(dir).filter(Holder::is_alive);
    let at_work = alive(&at.store().dir());
    // The process of a plan passes it on to its phases, and begins no other.
    let plan = alive(&at.store().plans());
    let meant = plan.filter(|plan| run.is_none_or(|run| plan.run.starts_with(run)) || at_work.is_none());
    let Some(holder) = meant.or(at_work) else {
        return end_orphans(at, run);
    };
    if run.is_some_and(|run| !holder.run.starts_with(run)) {
        return Err(Failure::usage(format!("the active run is {}", holder.run)));
    }
    let Some(process) = holder.process() else {
        return Err(Failure::failed(format!(
            "run {} is active, but its process {} is in another container or on another machine: stop it there",
            holder.run, holder.pid
        )));
    };
    tree::interrupt(process);
    if now {
        // Two signals of one kind that are pending together count as one.
        std::thread::sleep(std::time::Duration::from_millis(100));
        tree::interrupt(process);
    }
    let how = if now { "at once" } else { "with a checkpoint" };
    if at.json {
        out::line(
            &serde_json::json!({ "run": holder.run, "process": holder.pid, "stopping": how }).to_string(),
        );
    } else {
        out::line(&format!(
            "run {} is stopping {how}; `segue status` shows its progress, `segue resume` continues",
            holder.run
        ));
    }
    Ok(0)
}

// Nobody is at work: what a crashed run left behind may be.
fn end_orphans(at: &Place, run: Option<&str>) -> Result<u8, Failure> {
    let none = "no active run in this directory";
    let mut ended = false;
    for row in at.runs()?.iter().filter(|row| row.status == "running") {
        if run.is_some_and(|run| !row.id.starts_with(run)) {
            continue;
        }
        let seen = crashed::look(at, &at.reader()?, &row.id)?;
        let Some(crash) = seen.crash.filter(|crash| !crash.alive.is_empty()) else { continue };
        let count = super::resume::end_orphans(&row.id, seen.machine.view());
        ended = true;
        if at.json {
            let pids: Vec<u32> = crash.alive.iter().map(|proc| proc.pid).collect();
            out::line(
                &serde_json::json!({ "run": row.id, "crashed_at": crash.since, "ended": pids }).to_string(),
            );
        } else {
            let what = if count == 1 { "1 process" } else { &format!("{count} processes") };
            out::line(&format!(
                "run {} had crashed; ended {what} that it left behind; `segue resume {}` continues it",
                row.id, row.id
            ));
        }
    }
    if ended { Ok(0) } else { Err(Failure::usage(none)) }
}
