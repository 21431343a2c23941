//! Reading journals, beside writers or without one. A reader never changes a journal and never blocks its writer.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::chain::{Integrity, Link};
use crate::error::{Error, Result};
use crate::file::{RunFile, is_linked};
use crate::index;
use crate::row::{RunRow, StoredEvent, StoredState, WantedState};

/// How many runs the error about an ambiguous prefix names.
const NAMED: usize = 5;

/// The file of a run's journal, in the folder of the run.
const NAME: &str = "journal.db";

/// The status of a run whose journal cannot be read.
pub const UNREADABLE: &str = "unreadable";

/// The journals below one folder, a folder each; what is seen of one is always whole transactions.
#[derive(Debug, Clone)]
pub struct Reader {
    dir: PathBuf,
}

impl Reader {
    /// The journals of the runs below `dir`.
    pub(crate) fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// Where the journals lie.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// The file of a run's journal.
    #[must_use]
    pub fn file(&self, run: &str) -> PathBuf {
        self.dir.join(run).join(NAME)
    }

    pub(crate) fn open(&self, run: &str) -> Result<RunFile> {
        let unknown = || Error::UnknownRun { run: run.to_owned() };
        if !is_name(run) {
            return Err(unknown());
        }
        RunFile::read(&self.file(run))
            .map_err(|error| if matches!(error, Error::NotFound { .. }) { unknown() } else { error })
    }

    /// All runs, newest first. One that cannot be read is there by its name, as [`UNREADABLE`].
    pub fn runs(&self) -> Result<Vec<RunRow>> {
        let mut rows: Vec<RunRow> = self
            .names()?
            .iter()
            .filter_map(|run| self.row(run).unwrap_or_else(|e| self.broken(run, &e)))
            .collect();
        rows.sort_by(|a, b| (b.created_at, &b.id).cmp(&(a.created_at, &a.id)));
        Ok(rows)
    }

    /// The run with this id, or the only one whose id starts with it.
    pub fn run(&self, id: &str) -> Result<RunRow> {
        let unknown = || Error::UnknownRun { run: id.to_owned() };
        if id.is_empty() {
            return Err(unknown());
        }
        let mut found: Vec<String> = self.names()?.into_iter().filter(|name| name.starts_with(id)).collect();
        if found.iter().any(|name| name == id) {
            return self.row(id)?.ok_or_else(unknown);
        }
        match found.as_slice() {
            [] => Err(unknown()),
            [one] => self.row(one)?.ok_or_else(unknown),
            _ => {
                let age = |name: &String| self.row(name).ok().flatten().map(|row| row.created_at);
                found.sort_by_cached_key(|name| (age(name), name.clone()));
                found.reverse();
                found.truncate(NAMED);
                Err(Error::AmbiguousRun { prefix: id.to_owned(), runs: found })
            }
        }
    }

    /// At most `limit` events of a run that follow number `after` (0: from the start), in order.
    pub fn events(&self, run: &str, after: u64, limit: usize) -> Result<Vec<StoredEvent>> {
        self.open(run)?.events(run, after, limit)
    }

    /// The number of a run's last event; 0 when it has none.
    pub fn last_seq(&self, run: &str) -> Result<u64> {
        self.open(run)?.last_seq(run)
    }

    /// Computes the whole chain of a run anew and compares it with what is stored, and with a link that was put down
    /// elsewhere.
    pub fn verify(&self, run: &str, link: Option<&Link>) -> Result<Integrity> {
        let file = self.open(run)?;
        let first = Link::first(&file.row(run)?);
        file.verify(run, first, link)
    }

    /// The same from a state on. With a link from elsewhere that is not older than the state, a chain that is whole proves
    /// that the state is the one that was stored then; events before it are not looked at.
    pub fn verify_from(&self, run: &str, state: &StoredState, link: Option<&Link>) -> Result<Integrity> {
        self.open(run)?.verify(run, state.link, link)
    }

    /// The newest state of a run that is wanted and fits to the stored link of its event.
    pub fn state(&self, run: &str, wanted: &WantedState<'_>) -> Result<Option<StoredState>> {
        self.open(run)?.state(run, wanted)
    }

    /// The last event of which the journal says that it was anchored, and where.
    pub fn anchored(&self, run: &str) -> Result<Option<(u64, String)>> {
        self.open(run)?.anchored()
    }

    // A row that says that a run is over is right; any other one is looked up.
    fn row(&self, run: &str) -> Result<Option<RunRow>> {
        if let Some(row) = index::read(&self.dir.join(run)).filter(|row| row.id == run) {
            return Ok(Some(row));
        }
        match RunFile::read(&self.file(run)) {
            Ok(file) => match file.row(run) {
                Err(Error::UnknownRun { .. }) => Ok(None),
                other => other.map(Some),
            },
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn broken(&self, run: &str, error: &Error) -> Option<RunRow> {
        let made = fs::symlink_metadata(self.dir.join(run)).map_or(0, |found| found.mtime());
        Some(RunRow {
            id: run.to_owned(),
            created_at: u64::try_from(made).unwrap_or_default() * 1_000,
            task: error.to_string(),
            agent: String::new(),
            policy: String::new(),
            status: UNREADABLE.to_owned(),
            finished_at: None,
        })
    }

    fn names(&self) -> Result<Vec<String>> {
        if is_linked(&self.dir) {
            let why = "it is a link, and segue made none; remove it".to_owned();
            return Err(Error::CannotOpen { path: self.dir.clone(), why });
        }
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::CannotOpen { path: self.dir.clone(), why: error.to_string() }),
        };
        let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
        Ok(names.filter(|name| is_name(name)).collect())
    }
}

/// Whether it may be a run's id, which is the name of a folder: what else lies there is not segue's.
pub(crate) fn is_name(run: &str) -> bool {
    !run.starts_with('.')
        && !run.contains('/')
        && !run.is_empty()
        && run.chars().all(|c| c.is_ascii_graphic())
}
