//! What can go wrong with a journal, each kind with the file it happened to and what to do about it.
//!
//! The engine's own error type does not leave this crate.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

/// The outcome of every call on a journal.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a journal could not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// There is no journal at the path.
    #[error("there is no journal at {}: nothing has been run here", path.display())]
    NotFound {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A newer segue wrote the journal.
    #[error(
        "the journal {} has version {found}, and this segue knows versions up to {known}: update segue",
        path.display()
    )]
    Newer {
        /// The journal's file.
        path: PathBuf,
        /// The version in the file.
        found: u32,
        /// The newest version that this program knows.
        known: u32,
    },
    /// The journal or its folder may not be written.
    #[error("the journal {} cannot be written: make the file and its folder writable", path.display())]
    ReadOnly {
        /// The journal's file.
        path: PathBuf,
    },
    /// The journal could not be opened at all.
    #[error("the journal {} cannot be opened: {why}", path.display())]
    CannotOpen {
        /// The journal's file.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// There is no room left on the disk.
    #[error("no room left for the journal {}: free some disk space, then resume the run", path.display())]
    Full {
        /// The journal's file.
        path: PathBuf,
    },
    /// The file is damaged, or it is not a journal.
    #[error("the journal {} is damaged or is not a journal ({why}): move it away to start afresh", path.display())]
    Corrupt {
        /// The journal's file.
        path: PathBuf,
        /// What the engine found.
        why: String,
    },
    /// Another process held the journal for too long.
    #[error("the journal {} is held by another process: see `segue status`", path.display())]
    Busy {
        /// The journal's file.
        path: PathBuf,
    },
    /// The journal of a run at work was removed, or another file was put in its place.
    #[error("the journal {} was removed or replaced while the run was at work", path.display())]
    Gone {
        /// The journal's file.
        path: PathBuf,
    },
    /// What is stored is not what was written.
    #[error("the journal {} was changed by somebody else: {why}", path.display())]
    Changed {
        /// The journal's file.
        path: PathBuf,
        /// What was found.
        why: String,
    },
    /// An event did not follow the last stored one, so another writer must have been at work.
    #[error("run {run} expects event {expected} but was given {given}: another process has written to it")]
    OutOfOrder {
        /// The run.
        run: String,
        /// The only number that would have been taken.
        expected: u64,
        /// The number that was given.
        given: u64,
    },
    /// A run with this id is there already.
    #[error("there is a run {run} already")]
    RunExists {
        /// The run.
        run: String,
    },
    /// No run has this id or starts with it.
    #[error("there is no run {run}: `segue log` lists them")]
    UnknownRun {
        /// The id or prefix that was asked for.
        run: String,
    },
    /// More than one run starts with this.
    #[error("{prefix} could be any of these runs: {}", runs.join(", "))]
    AmbiguousRun {
        /// The prefix that was asked for.
        prefix: String,
        /// Some of the runs that start with it, newest first.
        runs: Vec<String>,
    },
    /// Anything else that the engine reports.
    #[error("the journal {} failed: {why}", path.display())]
    Failed {
        /// The journal's file.
        path: PathBuf,
        /// What the engine said.
        why: String,
    },
}

/// Gives an engine's error the kind it has for a caller.
pub(crate) fn on(path: &Path) -> impl Fn(rusqlite::Error) -> Error + '_ {
    move |error| {
        let path = path.to_owned();
        let why = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Error::Full { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Error::ReadOnly { path },
            Some(ErrorCode::CannotOpen) => Error::CannotOpen { path, why },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Error::Corrupt { path, why },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy { path },
            _ => Error::Failed { path, why },
        }
    }
}
