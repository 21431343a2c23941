//! Where things lie: `.segue/` of the work tree, which ignores itself.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// `.segue/` could not be used.
#[derive(Debug, Error)]
#[error("cannot write to {}: {source}; make it writable, or run segue in a folder that is", path.display())]
pub(crate) struct StoreError {
    path: PathBuf,
    source: io::Error,
}

/// The folders and files of one work tree.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    workdir: PathBuf,
}

impl Store {
    /// The store of a work tree, whether or not it exists yet.
    pub(crate) fn at(workdir: impl Into<PathBuf>) -> Self {
        Self { workdir: workdir.into() }
    }

    /// Makes the folders that a run needs.
    pub(crate) fn create(&self) -> Result<(), StoreError> {
        let dir = self.dir();
        let make = || -> io::Result<()> {
            std::fs::create_dir_all(dir.join("runs"))?;
            let ignore = dir.join(".gitignore");
            if !ignore.exists() {
                std::fs::write(&ignore, "*\n")?;
            }
            tempfile::Builder::new().prefix(".try").tempfile_in(&dir).map(drop)
        };
        make().map_err(|source| StoreError { path: dir.clone(), source })
    }

    /// The work tree itself.
    pub(crate) fn workdir(&self) -> &Path {
        &self.workdir
    }

    /// `.segue/`
    pub(crate) fn dir(&self) -> PathBuf {
        self.workdir.join(".segue")
    }

    /// The journal.
    pub(crate) fn journal(&self) -> PathBuf {
        self.dir().join("journal.db")
    }

    /// What a run keeps beside the journal.
    pub(crate) fn run_dir(&self, run: &str) -> PathBuf {
        self.dir().join("runs").join(run)
    }

    /// What an agent wrote to its standard output.
    pub(crate) fn output(&self, run: &str, session: u32) -> PathBuf {
        self.run_dir(run).join(format!("s{session}.out"))
    }

    /// What an agent wrote to its standard error.
    pub(crate) fn errors(&self, run: &str, session: u32) -> PathBuf {
        self.run_dir(run).join(format!("s{session}.err"))
    }

    /// The path as a person would write it, from the work tree.
    pub(crate) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.workdir).unwrap_or(path).display().to_string()
    }
}
