//! `segue snapshot …`: the snapshots of runs and plans, one file per verb. Reads and writes nothing of the user's own.

mod list;
mod prune;
mod restore;
mod show;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use segue_redact::Redactor;
use segue_report::Time;

use super::failure::Failure;
use super::open::Place;
use super::out;
use super::plan::count;
use crate::git::{GitError, Repo};
use crate::snapshots::{Entry, Owners, choose, entries};
use crate::store::Store;

/// What is to be done with snapshots.
#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// List the snapshots of all runs and plans, or of one, newest last
    #[command(after_help = "NAME~1 is the previous snapshot of that name, NAME~2 the one before it.")]
    List {
        /// Run or plan id, or the start of one; a plan includes its phases
        #[arg(value_name = "RUN|PLAN")]
        owner: Option<String>,
    },
    /// Show a snapshot and the files that differ from its base commit
    Show {
        /// Snapshot name, the start of one, or `last`
        snapshot: String,
    },
    /// Restore the files of a snapshot into a new folder or branch
    #[command(
        after_help = "Nothing is overwritten: a folder that is not empty and a branch that exists are refused."
    )]
    Restore(Restore),
    /// Remove snapshots of finished runs and plans past their retention (checkpoint.retention)
    #[command(
        after_help = "Snapshots of unfinished or unknown runs and plans are always kept. `segue checkpoint prune` removes those of checkpoints."
    )]
    Prune {
        /// Only list what would be removed
        #[arg(long)]
        dry_run: bool,
    },
}

/// `segue snapshot restore …`
#[derive(Debug, Args)]
pub(super) struct Restore {
    /// Snapshot name, the start of one, or `last`
    snapshot: String,
    /// Target folder (default: RUN-LABEL in the state folder, see `segue path`)
    #[arg(long, value_name = "DIR", conflicts_with = "branch")]
    to: Option<PathBuf>,
    /// Create this branch at the snapshot's commit instead
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
}

/// Does it.
pub(super) fn snapshot(at: &Place, verb: &Verb) -> Result<u8, Failure> {
    match verb {
        Verb::List { owner } => list::list(at, owner.as_deref()),
        Verb::Show { snapshot } => show::show(at, snapshot),
        Verb::Restore(restore) => restore::restore(at, restore),
        Verb::Prune { dry_run } => prune::prune(at, *dry_run),
    }
}

/// The snapshots of this repository, and what is known of their runs and plans.
struct Shelf {
    repo: Repo,
    store: Store,
    owners: Owners,
    entries: Vec<Entry>,
    redactor: Redactor,
}

impl Shelf {
    fn open(at: &Place) -> Result<Self, Failure> {
        let repo = Repo::find(&at.dir).map_err(|error| {
            let GitError::NotARepository { path } = error else { return error.into() };
            Failure::usage(format!(
                "{} is not in a git repository, and snapshots are kept in one: use -C DIR",
                path.display()
            ))
        })?;
        let (store, redactor) = (at.store(), at.redactor()?);
        let owners = Owners::look(&store, at.runs()?);
        let entries = entries(repo.saved()?, &owners);
        Ok(Self { repo, store, owners, entries, redactor })
    }

    /// The snapshot that is meant.
    fn choose(&self, typed: &str) -> Result<&Entry, Failure> {
        Ok(choose(&self.entries, typed)?)
    }

    /// A text from git without secrets.
    fn clean(&self, text: &str) -> String {
        self.redactor.text(text).text.into_owned()
    }

    /// The same, fit for a line on a screen.
    fn plain(&self, text: &str) -> String {
        segue_report::plain(&self.clean(text))
    }
}

/// When, for people.
fn when(entry: &Entry) -> String {
    out::moment(Time(entry.saved.at))
}

/// The plan and phase, for people.
fn place_in_plan(entry: &Entry) -> Option<String> {
    let plan = entry.plan.as_ref()?;
    Some(
        entry
            .phase
            .as_ref()
            .map_or_else(|| format!("plan {plan}"), |phase| format!("phase {phase} of {plan}")),
    )
}
