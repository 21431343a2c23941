//! Where things lie: `.segue/` of the work tree, which ignores itself.
//!
//! A phase that runs beside others has a work tree of its own below `.segue/work/` of the first one. What it keeps lies with
//! the rest, so that it is found in one place and outlives its work tree.

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

/// The folder of work trees below `.segue/`: one folder a plan, one a phase, and the work tree in it.
const TREES: &str = "work";

/// The folders and files of one work tree.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    workdir: PathBuf,
    root: PathBuf,
}

impl Store {
    /// The store of a work tree, whether or not it exists yet.
    pub(crate) fn at(workdir: impl Into<PathBuf>) -> Self {
        let workdir = workdir.into();
        let root = first_tree(&workdir).unwrap_or_else(|| workdir.clone());
        Self { workdir, root }
    }

    /// The work tree that a plan was started in: another one than this only for a phase beside others.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where whoever works in this work tree says so.
    pub(crate) fn lock_dir(&self) -> PathBuf {
        match self.workdir.parent() {
            Some(own) if self.workdir != self.root => own.to_owned(),
            _ => self.dir(),
        }
    }

    /// The folder of a plan's work trees.
    pub(crate) fn trees(&self, plan: &str) -> PathBuf {
        self.dir().join(TREES).join(plan)
    }

    /// A file by the path that [`Self::shown`] gave it.
    pub(crate) fn find(&self, shown: &str) -> PathBuf {
        let kept = Path::new(shown).starts_with(".segue");
        if kept { self.root.join(shown) } else { self.workdir.join(shown) }
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
        self.root.join(".segue")
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

    /// What an agent said in its main thread, message by message.
    pub(crate) fn messages(&self, run: &str, session: u32) -> PathBuf {
        self.run_dir(run).join(format!("s{session}.said.md"))
    }

    /// The path as whoever works in the work tree can open it.
    pub(crate) fn reachable(&self, path: &Path) -> String {
        if self.workdir == self.root { self.shown(path) } else { path.display().to_string() }
    }

    /// What an agent wrote to its standard error.
    pub(crate) fn errors(&self, run: &str, session: u32) -> PathBuf {
        self.run_dir(run).join(format!("s{session}.err"))
    }

    /// The path as a person would write it, from the work tree.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let own = path.strip_prefix(&self.workdir).or_else(|_| path.strip_prefix(&self.root));
        own.unwrap_or(path).display().to_string()
    }
}

// `ROOT/.segue/work/PLAN/PHASE/NAME`
fn first_tree(workdir: &Path) -> Option<PathBuf> {
    let trees = workdir.parent()?.parent()?.parent()?;
    let own = trees.parent().filter(|dir| trees.ends_with(TREES) && dir.ends_with(".segue"))?;
    own.parent().map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_tree_of_a_phase_keeps_its_things_with_the_first_one() {
        let phase = Store::at("/r/.segue/work/plan-1/3/r");
        assert_eq!((phase.root(), phase.dir()), (Path::new("/r"), PathBuf::from("/r/.segue")));
        assert_eq!(phase.lock_dir(), Path::new("/r/.segue/work/plan-1/3"));
        let kept = phase.dir().join("checkpoints/c1.json");
        assert_eq!(phase.find(&phase.shown(&kept)), kept);
        let own = phase.workdir().join("src/a.rs");
        assert_eq!(phase.find(&phase.shown(&own)), own);
        for plain in ["/r", "/r/work/a/b/c", "/.segue/work"] {
            let store = Store::at(plain);
            assert_eq!((store.root(), store.lock_dir()), (Path::new(plain), store.dir()));
        }
    }
}
