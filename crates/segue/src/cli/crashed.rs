//! A run whose process is gone although it did not end: since when, and what of it is still alive.

use std::time::UNIX_EPOCH;

use segue_journal::{Reader, RunRow};
use segue_machine::{Millis, Phase, Run, View};

use super::failure::Failure;
use super::open::{self, Place};
use crate::process::{self, tree};
use crate::{history, store};

/// What is known about a crash.
#[derive(Debug)]
pub(super) struct Crash {
    /// The last sign of life.
    pub(super) since: Millis,
    /// Processes of the run that are still there.
    pub(super) alive: Vec<tree::Proc>,
}

/// A run as the journal has it, and whether it crashed.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) row: RunRow,
    pub(super) machine: Run,
    pub(super) crash: Option<Crash>,
}

impl Seen {
    /// Where it stands in one word, for lists.
    pub(super) fn word(&self) -> &str {
        let waits = self.row.status == "running" && self.machine.view().phase == Phase::Waiting;
        match &self.crash {
            Some(_) => "crashed",
            None if waits => "waiting",
            None => &self.row.status,
        }
    }
}

/// Looks at one run.
pub(super) fn look(at: &Place, reader: &Reader, run: &str) -> Result<Seen, Failure> {
    let mut row = at.run(reader, Some(run))?;
    let mut found = history::folded(reader, &row.id)?;
    let mut crash = None;
    if row.status == "running" && open::owner(at, &row.id, found.state.machine.view()).is_none() {
        // It may have ended between the two looks.
        row = at.run(reader, Some(&row.id))?;
        found.read_on(reader, &row.id, Millis::MAX)?;
        let ended = row.status != "running";
        let view = found.state.machine.view();
        crash = (!ended)
            .then(|| Crash { since: last_sign(&at.store(), &row.id, view), alive: left_of(&row.id, view) });
    }
    Ok(Seen { row, machine: found.state.machine, crash })
}

/// What is alive of a run whose process is dead: the agent with all that is below it, and what carries the run's mark. The
/// agent may have cleared its environment, so its pid counts with the start time that was written down with it.
pub(super) fn left_of(run: &str, view: &View) -> Vec<tree::Proc> {
    let agent = view.session.as_ref().and_then(|s| s.pid).map(|(pid, start)| tree::Proc { pid, start });
    let mut left = tree::marked(&format!("{}={run}", process::RUN_MARK));
    if let Some(agent) = agent.filter(|agent| tree::is_alive(agent.pid, agent.start)) {
        left.extend(tree::descendants(agent.pid));
        left.push(agent);
    }
    left.sort_by_key(|proc| proc.pid);
    left.dedup_by_key(|proc| proc.pid);
    left
}

// Output is kept as it comes; the journal may be a little behind.
fn last_sign(store: &store::Store, run: &str, view: &View) -> Millis {
    let files = std::fs::read_dir(store.run_dir(run)).into_iter().flatten().flatten();
    // Whoever looks into the journal touches what lies beside it.
    let files = files.filter(|file| !file.file_name().to_string_lossy().starts_with("journal.db-"));
    let times = files.filter_map(|file| {
        let since = file.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        u64::try_from(since.as_millis()).ok()
    });
    times.fold(view.at, Millis::max)
}
