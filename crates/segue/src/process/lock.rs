//! One owner per work tree: a file that the owner keeps locked for as long as it lives.
//!
//! The system releases the lock when the owner ends, however it ends, so a dead owner's lock is stale at once. What the
//! file says is for people and for commands that only read; it decides nothing.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::tree;

/// The lock's name within segue's folder.
const NAME: &str = "lock";

/// Why the work tree could not be taken.
#[derive(Debug, Error)]
pub(crate) enum LockError {
    /// Another run is at work there.
    #[error(
        "run {run} is at work here (process {pid}): `segue status` shows it, `segue stop {run}` ends it; \
         or work in another work tree (`git worktree add`)"
    )]
    Held {
        /// The owner's process, 0 when it has not said.
        pid: u32,
        /// The owner's run.
        run: String,
        /// Since when, in milliseconds since the Unix epoch.
        since: u64,
    },
    /// The folder may not be written.
    #[error("{} cannot be written: segue keeps its state there, so make it writable", path.display())]
    ReadOnly {
        /// The lock's file.
        path: PathBuf,
    },
    /// Anything else that the system reports.
    #[error("the lock {} cannot be taken: {source}", path.display())]
    Failed {
        /// The lock's file.
        path: PathBuf,
        /// In the system's words.
        source: io::Error,
    },
}

/// Who has, or had, the work tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holder {
    /// The owner's process.
    pub(crate) pid: u32,
    /// When that process started, in the system's own count.
    pub(crate) start: u64,
    /// The owner's run.
    pub(crate) run: String,
    /// Since when, in milliseconds since the Unix epoch.
    pub(crate) since: u64,
}

impl Holder {
    /// Whether the owner is still at work; if not, its run was cut off.
    pub(crate) fn is_alive(&self) -> bool {
        tree::is_alive(self.pid, self.start)
    }
}

/// The right to work in a work tree, until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Takes the work tree that `segue_dir` belongs to, for a run.
    pub(crate) fn take(segue_dir: &Path, run: &str) -> Result<Self, LockError> {
        let path = segue_dir.join(NAME);
        let failed = |source: io::Error| {
            let denied = [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem];
            let path = path.clone();
            if denied.contains(&source.kind()) {
                LockError::ReadOnly { path }
            } else {
                LockError::Failed { path, source }
            }
        };
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held(Self::holder(segue_dir))),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let mut lock = Self { file };
        let pid = process::id();
        let start = tree::start_time(pid).unwrap_or_default();
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let since = u64::try_from(since.as_millis()).unwrap_or_default();
        lock.say(&Holder { pid, start, run: run.to_owned(), since }).map_err(failed)?;
        Ok(lock)
    }

    /// Who says to have the work tree; nobody after an orderly end. Takes no lock and writes nothing.
    pub(crate) fn holder(segue_dir: &Path) -> Option<Holder> {
        let mut text = String::new();
        File::open(segue_dir.join(NAME)).ok()?.take(64 * 1024).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }

    fn say(&mut self, holder: &Holder) -> io::Result<()> {
        let text = serde_json::to_vec(holder)?;
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(&text)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The file itself stays: removing it would let two owners lock two files of the same name.
        let _ = self.file.set_len(0);
    }
}

fn held(holder: Option<Holder>) -> LockError {
    let unknown = || Holder { pid: 0, start: 0, run: "(unknown)".into(), since: 0 };
    let Holder { pid, run, since, .. } = holder.unwrap_or_else(unknown);
    LockError::Held { pid, run, since }
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
