//! Whether the agent changed what a gate runs, and what the gate says with the originals.
//!
//! The originals are those of the tree that the run began with. They are put in place for one run of the gate and the
//! agent's files put back after it, whatever happens in between (see `swap.rs`).

use std::path::Path;

use globset::{Glob, GlobSet, GlobSetBuilder};
use segue_machine::{ChangeHow, ChangedFile, Event, GateChange, GateSpec, GateWhen};
use tokio::sync::mpsc::Sender;

use super::rules::{self, Change, Found, Gate, Weight};
use super::swap::Swap;
use super::{GateRoom, run};
use crate::git::Repo;

/// More changed files than this are not looked into.
const MOST_FILES: usize = 2_000;
/// Longer files are not read.
const MOST_BYTES: u64 = 1_000_000;

/// What the work tree is compared with.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    /// `None` when the run does not use git.
    pub(crate) repo: Option<Repo>,
    /// The tree that the run began with.
    pub(crate) tree: Option<String>,
}

/// What a check is made with.
pub(crate) struct Check<'a, T> {
    /// Where the gate runs.
    pub(crate) room: &'a GateRoom,
    /// What the work tree is compared with.
    pub(crate) start: &'a Start,
    /// The round of gates.
    pub(crate) round: u32,
    /// Who is told, in order.
    pub(crate) tell: &'a Sender<T>,
}

/// Looks at what a gate runs that has just passed; tells what was found, if there is anything to tell.
pub(crate) async fn check<T: From<Event>>(gate: &GateSpec, with: &Check<'_, T>) {
    let (asked, workdir, from) = (gate.clone(), with.room.workdir.clone(), with.start.clone());
    let found = tokio::task::spawn_blocking(move || look(&asked, &workdir, &from)).await;
    let change = match found.map_err(|error| error.to_string()).and_then(|found| found) {
        Ok(found) if found.is_empty() => return,
        Ok(found) => weigh(gate, found, with).await,
        Err(why) => unchecked(gate, why),
    };
    with.tell(Event::GateChanged(change)).await;
}

async fn weigh<T: From<Event>>(gate: &GateSpec, found: Vec<Found>, with: &Check<'_, T>) -> GateChange {
    let decides = found.iter().any(|f| f.weight == Weight::Decides);
    let scripts: Vec<String> =
        found.iter().filter(|f| f.weight == Weight::Script).map(|f| f.path.clone()).collect();
    let files = found.into_iter().map(|f| ChangedFile { path: f.path, what: f.what }).collect();
    let mut change = GateChange {
        gate: gate.name.clone(),
        files,
        how: ChangeHow::Listed,
        passed_with_originals: None,
        stops: decides && !gate.may_change,
        unchecked: None,
    };
    if !scripts.is_empty() && !gate.may_change {
        run_with_originals(gate, with, scripts, &mut change).await;
    }
    change
}

async fn run_with_originals<T: From<Event>>(
    gate: &GateSpec,
    with: &Check<'_, T>,
    scripts: Vec<String>,
    change: &mut GateChange,
) {
    let (repo, tree) = (with.start.repo.clone(), with.start.tree.clone().unwrap_or_default());
    let (dir, workdir, paths) = (with.room.run_dir.clone(), with.room.workdir.clone(), scripts.clone());
    let original = move |path: &str| repo.as_ref().and_then(|repo| repo.file_of(&tree, path));
    with.tell(Event::GateSwapped { gate: gate.name.clone(), files: scripts }).await;
    let swapped = tokio::task::spawn_blocking(move || Swap::put(&dir, &workdir, &paths, &original)).await;
    let swap = match swapped.map_err(std::io::Error::other).and_then(|swap| swap) {
        Ok(swap) => swap,
        Err(error) => {
            change.stops = true;
            change.unchecked = Some(format!("the originals could not be put in place: {error}"));
            return with.tell(Event::GateRestored { gate: gate.name.clone(), kept: Vec::new() }).await;
        }
    };
    let with_originals = GateSpec { name: format!("{} originals", gate.name), ..gate.clone() };
    let result = run(&with_originals, with.room, GateWhen::After, with.round).await;
    let kept = swap.back();
    change.how = ChangeHow::Swapped;
    change.passed_with_originals = Some(result.passed);
    change.stops |= !result.passed;
    with.tell(Event::GateRestored { gate: gate.name.clone(), kept }).await;
}

impl<T: From<Event>> Check<'_, T> {
    // Whoever listened may be gone: then nobody needs to know.
    async fn tell(&self, event: Event) {
        let _ = self.tell.send(event.into()).await;
    }
}

fn unchecked(gate: &GateSpec, why: String) -> GateChange {
    GateChange {
        gate: gate.name.clone(),
        files: Vec::new(),
        how: ChangeHow::Listed,
        passed_with_originals: None,
        stops: false,
        unchecked: Some(why),
    }
}

fn look(gate: &GateSpec, workdir: &Path, start: &Start) -> Result<Vec<Found>, String> {
    let Some(repo) = &start.repo else { return Err("the run does not use git".to_owned()) };
    let Some(base) = &start.tree else {
        return Err("the files at the start were not recorded (git.commit = \"never\")".to_owned());
    };
    let paths = repo.changed_since(base).map_err(|error| error.to_string())?;
    if paths.len() > MOST_FILES {
        return Err(format!("{} files changed, too many to inspect", paths.len()));
    }
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let before = |path: &str| repo.file_of(base, path).map(|file| text(file.bytes));
    let changes: Vec<Change> = paths
        .into_iter()
        .map(|path| Change { before: before(&path), after: now(&workdir.join(&path)), path })
        .filter(|change| change.before != change.after)
        .collect();
    let protected = globs(&gate.protect)?;
    let dirs = path_dirs(workdir);
    let rules = Gate {
        run: &gate.run,
        protects: &|path| protected.is_match(path),
        before: &before,
        path_dirs: &dirs,
    };
    Ok(rules::find(&rules, &changes))
}

fn now(path: &Path) -> Option<String> {
    let known = std::fs::symlink_metadata(path).ok()?;
    if !known.is_file() || known.len() > MOST_BYTES {
        return Some(String::new());
    }
    std::fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn globs(patterns: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).map_err(|error| error.to_string())?);
    }
    set.build().map_err(|error| error.to_string())
}

// Folders of the work tree in which programs are searched before the system's.
fn path_dirs(workdir: &Path) -> Vec<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let inside = std::env::split_paths(&path).filter_map(|dir| {
        let dir = if dir.is_relative() { workdir.join(dir) } else { dir };
        Some(dir.strip_prefix(workdir).ok()?.to_string_lossy().trim_start_matches("./").to_owned())
    });
    inside.collect()
}
