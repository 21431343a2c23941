//! `segue checkpoint …`: the stored checkpoints of this work tree, one file per verb.

mod create;
mod diff;
mod export;
mod list;
mod prune;
mod show;
mod verify;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::failure::Failure;
use super::find::short;
use super::open::Place;
use super::out;
use crate::checkpoint::{self, Document, Found, schema};
use crate::config::{Flags, forms};
use crate::git::Repo;

/// What is to be done with checkpoints.
#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// List the checkpoints of a run, oldest first
    List {
        /// Run id, or the start of one (default: the newest run with checkpoints)
        run: Option<String>,
        /// List those of every run
        #[arg(long)]
        all: bool,
    },
    /// Show a checkpoint as a readable page, with the commands that continue from it
    Show(One),
    /// Compare two checkpoints
    Diff {
        /// The earlier one
        a: String,
        /// The later one (default: the last)
        b: Option<String>,
        /// The run in which to look up names and `last`
        #[arg(long)]
        run: Option<String>,
    },
    /// Verify that checkpoints are unchanged and their snapshots are in git
    Verify {
        #[command(flatten)]
        one: One,
        /// Verify every checkpoint of this work tree
        #[arg(long)]
        all: bool,
    },
    /// Create one now, from the journal and git, without asking the agent
    Create {
        /// Run id, or the start of one (default: the latest)
        run: Option<String>,
    },
    /// Export a checkpoint to a file
    Export {
        /// Which checkpoint, as for `show`
        id: String,
        /// Output file, compressed if it ends in .gz; - is standard output
        file: PathBuf,
        /// Export the readable page instead of JSON
        #[arg(long)]
        markdown: bool,
        /// The run in which to look up names and `last`
        #[arg(long)]
        run: Option<String>,
    },
    /// Remove checkpoints past their retention (checkpoint.retention), with their snapshots
    Prune {
        /// Only list what would be removed
        #[arg(long)]
        dry_run: bool,
        /// Override checkpoint.retention.days
        #[arg(long, value_name = "N")]
        days: Option<u32>,
        /// Override checkpoint.retention.count
        #[arg(long, value_name = "N")]
        count: Option<u32>,
    },
    /// Print the JSON Schema of stored checkpoints
    #[command(hide = true)]
    Schema,
}

/// One checkpoint.
#[derive(Debug, Args)]
pub(super) struct One {
    /// An id, a name in the run (c36), the beginning of either, or last
    id: Option<String>,
    /// The run in which to look up names and `last` (default: the newest with checkpoints)
    #[arg(long)]
    run: Option<String>,
}

/// Does it.
pub(super) fn checkpoint(at: &Place, verb: &Verb) -> Result<u8, Failure> {
    match verb {
        Verb::List { run, all } => list::list(at, run.as_deref(), *all),
        Verb::Show(one) => show::show(at, one),
        Verb::Diff { a, b, run } => diff::diff(at, a, b.as_deref(), run.as_deref()),
        Verb::Verify { one, all } => verify::verify(at, one, *all),
        Verb::Create { run } => create::create(at, run.as_deref()),
        Verb::Export { id, file, markdown, run } => export::export(at, id, file, *markdown, run.as_deref()),
        Verb::Prune { dry_run, days, count } => prune::prune(at, *dry_run, *days, *count),
        Verb::Schema => {
            out::line(&serde_json::to_string_pretty(&schema())?);
            Ok(0)
        }
    }
}

/// The checkpoints of this work tree, unopened.
pub(super) struct Shelf {
    pub(super) workdir: PathBuf,
    pub(super) found: Vec<Found>,
}

impl Shelf {
    /// Looks through the folder of the checkpoints.
    pub(super) fn open(at: &Place) -> Result<Self, Failure> {
        let store = at.store();
        let dir = forms(&at.layers(&Flags::default())?).dir(&store)?;
        let found = checkpoint::list(&dir)?;
        Ok(Self { workdir: store.root().to_owned(), found })
    }

    /// The full id of the run that was typed: by its id, the beginning or the end of it, or as `last`.
    pub(super) fn run(&self, typed: Option<&str>) -> Result<Option<String>, Failure> {
        let Some(typed) = typed else { return Ok(None) };
        let mut runs: Vec<&str> = self.found.iter().map(|f| f.run.as_str()).collect();
        runs.dedup();
        if runs.contains(&typed) {
            return Ok(Some(typed.to_owned()));
        }
        if typed == "last" {
            runs.sort_unstable();
            return Ok(runs.last().map(|run| (*run).to_owned()));
        }
        let begins = |run: &&str| run.starts_with(typed);
        let ends = |run: &&str| short(run).starts_with(typed);
        if runs.iter().any(begins) {
            runs.retain(begins);
        } else {
            runs.retain(ends);
        }
        match runs.as_slice() {
            [one] => Ok(Some((*one).to_owned())),
            [] => Err(Failure::usage(format!(
                "no run {typed:?} has checkpoints; `segue checkpoint list --all` lists them"
            ))),
            several => Err(Failure::usage(format!("{typed:?} is ambiguous: {}", several.join(", ")))),
        }
    }

    /// The checkpoint that is meant.
    pub(super) fn choose(&self, typed: Option<&str>, run: Option<&str>) -> Result<&Found, Failure> {
        Ok(checkpoint::choose(&self.found, typed, self.run(run)?.as_deref())?)
    }

    /// The checkpoint that is meant, read and checked.
    pub(super) fn read(&self, typed: Option<&str>, run: Option<&str>) -> Result<Document, Failure> {
        let found = self.choose(typed, run)?;
        Document::read(&found.path).map_err(|error| refused(found, &error.to_string()))
    }

    /// The repository, if there is one.
    pub(super) fn repo(&self) -> Option<Repo> {
        Repo::find(&self.workdir).ok()
    }
}

/// A checkpoint that must not be used, and the way on.
fn refused(found: &Found, why: &str) -> Failure {
    Failure::failed(format!("{why}\n{}", way_on(found)))
}

/// What to do about a checkpoint that cannot be used.
fn way_on(found: &Found) -> String {
    format!(
        "segue does not use it. `segue checkpoint create {run}` makes a new one from the journal and git, \
         `segue resume {run}` continues without it, `rm {}` removes it",
        found.path.display(),
        run = found.run,
    )
}
