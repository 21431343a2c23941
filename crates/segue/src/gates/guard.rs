//! Whether the agent changed what a gate runs, and what the gate says with the originals.
//!
//! The originals are those of the tree that the run began with. They are put in place for one run of the gate and the
//! agent's files put back after it, whatever happens in between (see `swap.rs`).

use std::path::Path;

use globset::{Glob, GlobSet, GlobSetBuilder};
use segue_machine::{ChangeHow, ChangedFile, Event, GateChange, GateSpec, GateWhen};

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
    /// `None` when the run does without git.
    pub(crate) repo: Option<Repo>,
    /// The tree that the run began with.
    pub(crate) tree: Option<String>,
}

/// What there is to tell about a gate that has just passed, in order; the last event says what was found.
pub(crate) async fn check(gate: &GateSpec, room: &GateRoom, start: &Start, round: u32) -> Vec<Event> {
    let (asked, workdir, from) = (gate.clone(), room.workdir.clone(), start.clone());
    let found = tokio::task::spawn_blocking(move || look(&asked, &workdir, &from)).await;
    let found = match found {
        Ok(Ok(found)) => found,
        Ok(Err(why)) => return vec![unchecked(gate, why)],
        Err(error) => return vec![unchecked(gate, error.to_string())],
    };
    if found.is_empty() {
        return Vec::new();
    }
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
    if scripts.is_empty() || gate.may_change {
        return vec![Event::GateChanged(change)];
    }
    let mut events = with_originals(gate, room, start, round, scripts, &mut change).await;
    events.push(Event::GateChanged(change));
    events
}

async fn with_originals(
    gate: &GateSpec,
    room: &GateRoom,
    start: &Start,
    round: u32,
    scripts: Vec<String>,
    change: &mut GateChange,
) -> Vec<Event> {
    let (repo, tree) = (start.repo.clone(), start.tree.clone().unwrap_or_default());
    let (dir, workdir, paths) = (room.run_dir.clone(), room.workdir.clone(), scripts.clone());
    let original = move |path: &str| repo.as_ref().and_then(|repo| repo.file_of(&tree, path));
    let swapped = tokio::task::spawn_blocking(move || Swap::put(&dir, &workdir, &paths, &original)).await;
    let swap = match swapped.map_err(std::io::Error::other).and_then(|swap| swap) {
        Ok(swap) => swap,
        Err(error) => {
            change.stops = true;
            change.unchecked = Some(format!("the originals could not be put in place: {error}"));
            return Vec::new();
        }
    };
    let with_originals = GateSpec { name: format!("{} originals", gate.name), ..gate.clone() };
    let result = run(&with_originals, room, GateWhen::After, round).await;
    let kept = swap.back();
    change.how = ChangeHow::Swapped;
    change.passed_with_originals = Some(result.passed);
    change.stops |= !result.passed;
    let gate = gate.name.clone();
    vec![Event::GateSwapped { gate: gate.clone(), files: scripts }, Event::GateRestored { gate, kept }]
}

fn unchecked(gate: &GateSpec, why: String) -> Event {
    Event::GateChanged(GateChange {
        gate: gate.name.clone(),
        files: Vec::new(),
        how: ChangeHow::Listed,
        passed_with_originals: None,
        stops: false,
        unchecked: Some(why),
    })
}

fn look(gate: &GateSpec, workdir: &Path, start: &Start) -> Result<Vec<Found>, String> {
    let Some(repo) = &start.repo else { return Err("the run does without git".to_owned()) };
    let Some(base) = &start.tree else {
        return Err("the files at the start were not recorded (git.commit = \"never\")".to_owned());
    };
    let paths = repo.changed_since(base).map_err(|error| error.to_string())?;
    if paths.len() > MOST_FILES {
        return Err(format!("{} files changed, too many to look into", paths.len()));
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
