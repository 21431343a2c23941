//! What phases of a repository were estimated at and what they took: learned once, for all of its work trees.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use segue_plans::Past;
use serde::{Deserialize, Serialize};

use crate::state::State;

/// Its file in the user's state folder.
const FILE: &str = "phase-sizes.json";

/// No more than this many phases of a repository are remembered.
const MOST: usize = 100;

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Size {
    estimated: u64,
    actual: u64,
}

type Sizes = BTreeMap<String, Vec<Size>>;

/// What is known about a repository.
pub(crate) fn known(workdir: &Path) -> Vec<Past> {
    let Some(state) = State::of_user() else { return Vec::new() };
    let sizes: Sizes = state.read(FILE);
    let past = sizes.get(&key(workdir)).into_iter().flatten();
    past.map(|size| Past { estimated: size.estimated, actual: size.actual }).collect()
}

/// Remembers a phase. What cannot be remembered only makes the next estimate poorer.
pub(super) fn learn(workdir: &Path, past: Past) {
    if past.estimated == 0 || past.actual == 0 {
        return;
    }
    let Some(state) = State::of_user() else { return };
    let _ = state.update(FILE, |sizes: &mut Sizes| {
        let list = sizes.entry(key(workdir)).or_default();
        list.push(Size { estimated: past.estimated, actual: past.actual });
        let extra = list.len().saturating_sub(MOST);
        list.drain(..extra);
    });
}

// Work trees of one repository share what git keeps for all of them.
fn key(workdir: &Path) -> String {
    let git = workdir.join(".git");
    let linked = std::fs::read_to_string(&git).ok();
    let linked = linked.and_then(|text| Some(PathBuf::from(text.trim().strip_prefix("gitdir:")?.trim())));
    let common = linked.and_then(|dir| {
        let common = std::fs::read_to_string(dir.join("commondir")).ok()?;
        dir.join(common.trim()).canonicalize().ok()
    });
    common.unwrap_or(git).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linked_work_tree_counts_as_its_repository() {
        let dir = tempfile::tempdir().unwrap();
        let (main, linked) = (dir.path().join("main"), dir.path().join("linked"));
        let own = main.join(".git/worktrees/linked");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::create_dir_all(&linked).unwrap();
        std::fs::write(own.join("commondir"), "../..\n").unwrap();
        std::fs::write(linked.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        let main = main.canonicalize().unwrap();
        assert_eq!(key(&linked), key(&main));
    }
}
