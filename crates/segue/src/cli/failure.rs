//! What went wrong, as the user of a command sees it: what, where, what to do, and the exit code.

use std::io::Write;

use crate::bridge::BridgeError;
use crate::checkpoint::{CheckpointError, NotFound, OutsideError};
use crate::config::ConfigErrors;
use crate::driver::DriverError;
use crate::git::GitError;
use crate::history::HistoryError;
use crate::process::lock::LockError;
use crate::prompt::PromptError;
use crate::snapshots::NoSnapshot;
use crate::store::StoreError;

/// A command that could not do its work.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) exit: u8,
    text: String,
}

impl Failure {
    /// Something is wrong with how the command was called or configured.
    pub(super) fn usage(text: impl Into<String>) -> Self {
        Self { exit: 2, text: text.into() }
    }

    /// Something went wrong on the way.
    pub(super) fn failed(text: impl Into<String>) -> Self {
        Self { exit: 1, text: text.into() }
    }

    /// Something else than success that has an exit code of its own.
    pub(super) fn exit(exit: u8, text: impl Into<String>) -> Self {
        Self { exit, text: text.into() }
    }

    /// Writes it to standard error.
    pub(super) fn print(&self, json: bool) {
        if self.text.is_empty() {
            return;
        }
        let mut err = std::io::stderr().lock();
        let _ = if json {
            writeln!(err, "{}", serde_json::json!({ "error": self.text, "exit": self.exit }))
        } else {
            // Names of files and what files say may speak to the terminal.
            writeln!(err, "segue: {}", segue_report::printable(&self.text))
        };
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

macro_rules! failure_from {
    ($($kind:ty => $how:ident),* $(,)?) => {
        $(impl From<$kind> for Failure {
            fn from(error: $kind) -> Self {
                Self::$how(error.to_string())
            }
        })*
    };
}

failure_from! {
    ConfigErrors => usage,
    GitError => usage,
    LockError => usage,
    NotFound => usage,
    NoSnapshot => usage,
    OutsideError => usage,
    PromptError => usage,
    StoreError => usage,
    segue_plans::BadTask => usage,
    BridgeError => failed,
    CheckpointError => failed,
    crate::plan::PlanError => failed,
    HistoryError => failed,
    segue_journal::Error => failed,
    std::io::Error => failed,
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::failed(format!("this cannot be written as JSON: {error}"))
    }
}

impl From<crate::plan::StateError> for Failure {
    fn from(error: crate::plan::StateError) -> Self {
        use crate::plan::StateError;
        let told = error.to_string();
        match error {
            StateError::Changed { .. } => Self::usage(told),
            StateError::File { .. } | StateError::Damaged { .. } => Self::failed(told),
        }
    }
}

impl From<DriverError> for Failure {
    fn from(error: DriverError) -> Self {
        if matches!(error, DriverError::AtOnce { .. }) {
            // It was said while the run ended, where a terminal that takes nothing holds up nobody.
            return Self { exit: 130, text: String::new() };
        }
        Self::failed(error.to_string())
    }
}
