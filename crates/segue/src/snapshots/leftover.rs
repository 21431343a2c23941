//! The folder of worktrees: what it takes on disk, and what of it is empty and left over.
//!
//! A folder with a file in it, or below it, is never removed here.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Owners;
use crate::store::Store;

/// `PLAN/PHASE/NAME`: so many folders down from a plan's lies a worktree.
const DOWN: u32 = 2;

/// The bytes of a block, as the system counts them.
const BLOCK: u64 = 512;

/// What a folder takes on disk, links not followed; 0 when there is none.
pub(crate) fn disk_use(path: &Path) -> u64 {
    let Ok(meta) = fs::symlink_metadata(path) else { return 0 };
    let below = if meta.is_dir() { inside(path).unwrap_or_default() } else { Vec::new() };
    meta.blocks() * BLOCK + below.iter().map(|path| disk_use(path)).sum::<u64>()
}

/// Folders of worktrees of plans that are completed, with nothing but folders in them.
pub(crate) fn leftovers(store: &Store, owners: &Owners) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for plan in owners.completed() {
        collect(&store.trees(plan), DOWN, &mut found);
    }
    found
}

fn collect(dir: &Path, down: u32, found: &mut Vec<PathBuf>) {
    if holds_no_file(dir) {
        found.push(dir.to_owned());
    } else if down > 0 {
        for path in inside(dir).unwrap_or_default().iter().filter(|path| is_folder(path)) {
            collect(path, down - 1, found);
        }
    }
}

/// Removes a folder with the folders in it; a file that has come in the meantime stops it.
pub(crate) fn remove_leftover(dir: &Path) -> io::Result<()> {
    // What is behind a link is not looked at; to remove the link itself as a folder is refused by the system.
    for path in if is_folder(dir) { inside(dir)? } else { Vec::new() } {
        remove_leftover(&path)?;
    }
    fs::remove_dir(dir)
}

fn holds_no_file(dir: &Path) -> bool {
    is_folder(dir) && inside(dir).is_ok_and(|list| list.iter().all(|path| holds_no_file(path)))
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

fn inside(dir: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path())).collect()
}
