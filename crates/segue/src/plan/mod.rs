//! Runs plans: phases in the order of their needs, each a whole run of its own in a process of its own.
//!
//! This level sees exit codes, verdicts, gates, commits and reports, never the contents of files. What it knows is on disk
//! before anything follows from it, so that it can be taken up wherever it was cut off.

mod beside;
mod board;
mod chain;
mod child;
mod closing;
mod disk;
mod ending;
mod gates;
mod handoff;
mod job;
mod kept;
mod outcome;
mod parts;
mod patch;
mod purse;
mod reading;
mod results;
mod runner;
mod screen;
mod selection;
mod sizes;
mod starting;
mod state;
mod stored;
mod voice;
mod write_back;

use std::path::{Path, PathBuf};

use thiserror::Error;

pub(crate) use beside::{Stage, Work, tree_path};
pub(crate) use child::{PLAN_MARK, PLAN_PROCESS};
pub(crate) use disk::Disk;
pub(crate) use gates::quoted;
pub(crate) use job::Job;
pub(crate) use kept::{Kept, StateError, all, runs};
pub(crate) use purse::Shared;
pub(crate) use results::{junit, step_summary, suites};
pub(crate) use runner::{Runner, Setting};
pub(crate) use selection::select_phases;
pub(crate) use sizes::known as known_sizes;
pub(crate) use state::{Options, PhaseState, Splitting, Standing, State, Trouble};
pub(crate) use voice::estimate_words;

/// A plan that cannot go on.
#[derive(Debug, Error)]
pub(crate) enum PlanError {
    /// What it does cannot be remembered.
    #[error(transparent)]
    State(#[from] StateError),
    /// The plan is not there any more, or is none.
    #[error("{plan} cannot be read: {why}; fix it, then `segue resume` continues")]
    Plan {
        /// The file.
        plan: String,
        /// Why.
        why: String,
    },
    /// A run's journal cannot be read.
    #[error(transparent)]
    History(#[from] crate::history::HistoryError),
    /// The journal cannot be opened.
    #[error(transparent)]
    Journal(#[from] segue_journal::Error),
    /// The words for a phase.
    #[error(transparent)]
    Prompt(#[from] crate::prompt::PromptError),
    /// It holds commands that nobody allowed.
    #[error(
        "{plan} contains commands that were not allowed when it was started:\n{commands}\n`segue trust {plan}` allows them"
    )]
    NotAllowed {
        /// The file.
        plan: String,
        /// The commands.
        commands: String,
    },
    /// The system.
    #[error("the plan was stopped: {what}: {source}")]
    System {
        /// What it was doing.
        what: &'static str,
        /// Why it could not.
        source: std::io::Error,
    },
}

/// The phases of the latest plan of a work tree that were begun, by id.
pub(crate) fn latest_phases(store: &crate::store::Store) -> Vec<String> {
    let state = all(&store.plans()).into_iter().find_map(|dir| Kept::look(&dir).ok());
    state.map(|state| state.phases.into_keys().collect()).unwrap_or_default()
}

/// The latest plan of a work tree that was begun from this file, however its name was typed.
pub(crate) fn latest_of(plans: &Path, file: &Path) -> Option<(PathBuf, State)> {
    let wanted = file.canonicalize().ok()?;
    all(plans).into_iter().find_map(|dir| {
        let state = Kept::look(&dir).ok()?;
        let its = Path::new(&state.dir).join(&state.plan).canonicalize().ok()?;
        (its == wanted).then_some((dir, state))
    })
}
