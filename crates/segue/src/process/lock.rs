//! One owner per work tree: a file that the owner keeps locked for as long as it lives.
//!
//! The system releases the lock when the owner ends, however it ends, so a dead owner's lock is stale at once. Whether it
//! is held is the truth; what the file says names the owner, and a pid in it counts only with what tells it from every other.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::OFlags;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::tree;

/// The lock's name within segue's folder.
const NAME: &str = "lock";

/// A command that looks holds the lock for a moment: so often, and so long apart, an owner tries.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// Why the work tree could not be taken.
#[derive(Debug, Error)]
pub(crate) enum LockError {
    /// Another run is at work there.
    #[error(
        "run {run} is active in this directory (process {pid}): `segue status` shows it, `segue stop {run}` ends it; \
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
    /// Where its pid means something: which boot of which machine, and which namespace of pids.
    #[serde(default)]
    pub(crate) world: Option<String>,
    /// Whether the lock was held when it was looked at.
    #[serde(skip)]
    held: bool,
}

impl Holder {
    /// Whether the owner was still at work; if not, its run was cut off.
    pub(crate) fn is_alive(&self) -> bool {
        self.held
    }

    /// Whether it has said who it is.
    pub(crate) fn is_known(&self) -> bool {
        self.pid != 0
    }

    /// The owner's process, when it is certain that the pid is still its own.
    pub(crate) fn process(&self) -> Option<tree::Proc> {
        let here = self.world.is_some() && self.world == tree::world();
        let same = self.start != 0 && tree::is_alive(self.pid, self.start);
        (self.held && here && same).then_some(tree::Proc { pid: self.pid, start: self.start })
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
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = open(&mut options, &path).map_err(failed)?;
        for left in (0..TRIES).rev() {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if left > 0 => std::thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => return Err(held(Self::holder(segue_dir))),
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
        let mut lock = Self { file };
        let pid = process::id();
        let start = tree::start_time(pid).unwrap_or_default();
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let since = u64::try_from(since.as_millis()).unwrap_or_default();
        lock.say(&Holder { pid, start, run: run.to_owned(), since, world: tree::world(), held: true })
            .map_err(failed)?;
        Ok(lock)
    }

    /// Who has the work tree, or had it when it was cut off; nobody after an orderly end. Writes nothing.
    pub(crate) fn holder(segue_dir: &Path) -> Option<Holder> {
        let mut file = open(File::options().read(true), &segue_dir.join(NAME)).ok()?;
        let held = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        let mut text = String::new();
        let said = (&mut file).take(64 * 1024).read_to_string(&mut text).ok();
        let holder = said.and_then(|_| serde_json::from_str::<Holder>(&text).ok());
        holder.map(|holder| Holder { held, ..holder }).or_else(|| held.then(nobody_known))
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

// Never through a link, and without waiting for somebody at the other end of a pipe.
fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = options.custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

// Somebody holds the lock, and the file does not say who.
fn nobody_known() -> Holder {
    Holder { pid: 0, start: 0, run: "(unknown)".into(), since: 0, world: None, held: true }
}

fn held(holder: Option<Holder>) -> LockError {
    let Holder { pid, run, since, .. } = holder.unwrap_or_else(nobody_known);
    LockError::Held { pid, run, since }
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
