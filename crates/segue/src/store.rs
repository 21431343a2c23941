//! Where things lie: every path to what segue keeps about a work tree is made here.
//!
//! Nothing of it lies in the work tree, where an agent would clean it away and a clone could bring it along. A phase that
//! runs beside others has a work tree of its own; what it keeps lies with the first one's, and outlives its work tree.

mod place;
pub(crate) mod safely;

use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use thiserror::Error;

use place::Place;

/// The place of the state could not be used.
#[derive(Debug, Error)]
pub(crate) enum StoreError {
    /// The system would not.
    #[error("cannot write to {}: {source}; make it writable, or run segue in a folder that is", path.display())]
    Unwritable {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no home, and no repository that could be used instead.
    #[error("there is no place to store runs: set HOME or XDG_STATE_HOME")]
    Nowhere,
    /// Somebody else put something there.
    #[error("{} is {what}: segue keeps its state there and uses only what it created; remove it", path.display())]
    Foreign {
        /// Where.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
}

/// The folders and files of one work tree.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    workdir: PathBuf,
    root: PathBuf,
    place: Place,
}

impl Store {
    /// The store of a work tree, whether or not it exists yet.
    pub(crate) fn at(workdir: impl Into<PathBuf>) -> Self {
        let workdir = workdir.into();
        let root = place::root_of(&workdir).unwrap_or_else(|| workdir.clone());
        Self { place: Place::of(&root), workdir, root }
    }

    /// A store that keeps everything in this folder.
    #[cfg(test)]
    pub(crate) fn within(workdir: impl Into<PathBuf>, dir: impl Into<PathBuf>) -> Self {
        let (workdir, dir) = (workdir.into(), dir.into());
        let place = Place { trees: dir.join("trees"), dir, linked: None };
        Self { root: workdir.clone(), workdir, place }
    }

    /// The same store, seen from the work tree of a phase.
    pub(crate) fn for_tree(&self, tree: PathBuf) -> Self {
        Self { workdir: tree, ..self.clone() }
    }

    /// Says in a phase's work tree where its state lies.
    pub(crate) fn mark_tree(&self, tree: &Path) -> io::Result<()> {
        place::mark(tree, &self.root)
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

    /// The folder of all work trees of phases.
    pub(crate) fn all_trees(&self) -> &Path {
        &self.place.trees
    }

    /// Has the work trees of phases made in another folder, or where they usually are; not while there are any.
    pub(crate) fn place_trees(self, dir: Option<&Path>) -> io::Result<Self> {
        if self.place.trees.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
            return Ok(self);
        }
        place::note_trees(&self.place.dir, dir)?;
        Ok(Self { place: Place::of(&self.root), ..self })
    }

    /// The folder of a plan's work trees.
    pub(crate) fn trees(&self, plan: &str) -> PathBuf {
        self.place.trees.join(plan)
    }

    /// A file by the path that [`Self::shown`] gave it.
    pub(crate) fn find(&self, shown: &str) -> PathBuf {
        self.workdir.join(shown)
    }

    /// Makes the folders that a run needs, for nobody but the user; where git's folder does not keep modes, in the
    /// user's state folder instead.
    pub(crate) fn create(self) -> Result<Self, StoreError> {
        self.refuse_link()?;
        if self.place.is_nowhere() {
            return Err(StoreError::Nowhere);
        }
        let user = Place::in_user_folder(&self.root);
        let is_new = !self.dir().exists();
        let private = self.make()?;
        if !private && user.dir != self.place.dir && is_new && !user.is_nowhere() {
            let _ = fs::remove_dir_all(self.dir());
            return Self { place: user, ..self }.create();
        }
        if !private {
            let dir = self.dir();
            let _ = writeln!(
                io::stderr().lock(),
                "segue: warning: {} does not support file modes, so other users may read it",
                dir.display()
            );
        }
        Ok(self)
    }

    /// An error where a link stands in the place of a folder of segue's.
    pub(crate) fn refuse_link(&self) -> Result<(), StoreError> {
        let foreign = |path: &PathBuf| Err(StoreError::Foreign { path: path.clone(), what: "no folder" });
        self.place.linked.as_ref().map_or(Ok(()), foreign)
    }

    // Whether only the user can look into it.
    fn make(&self) -> Result<bool, StoreError> {
        let dir = self.dir();
        let failed = |source| StoreError::Unwritable { path: dir.clone(), source };
        let foreign = |path: &Path, what| Err(StoreError::Foreign { path: path.to_owned(), what });
        for part in self.place.own_parts() {
            match fs::symlink_metadata(&part) {
                Ok(found) if !found.is_dir() => return foreign(&part, "no folder"),
                Ok(found) if !place::is_own(&found) => return foreign(&part, "owned by another user"),
                Ok(_) | Err(_) => {}
            }
        }
        DirBuilder::new().recursive(true).mode(0o700).create(self.runs()).map_err(failed)?;
        let found = fs::symlink_metadata(&dir).map_err(failed)?;
        tempfile::Builder::new().prefix(".try").tempfile_in(&dir).map_err(failed)?;
        if found.mode() & 0o077 != 0 {
            let _ = fs::set_permissions(&dir, fs::Permissions::from_mode(0o700));
        }
        Ok(fs::symlink_metadata(&dir).map_err(failed)?.mode() & 0o077 == 0)
    }

    /// The work tree itself.
    pub(crate) fn workdir(&self) -> &Path {
        &self.workdir
    }

    /// The folder of everything that is kept.
    pub(crate) fn dir(&self) -> PathBuf {
        self.place.dir.clone()
    }

    /// The runs, a folder each with the run's journal in it.
    pub(crate) fn runs(&self) -> PathBuf {
        self.dir().join("runs")
    }

    /// The plans.
    pub(crate) fn plans(&self) -> PathBuf {
        self.dir().join("plans")
    }

    /// The checkpoints, where the configuration names no other place.
    pub(crate) fn checkpoints(&self) -> PathBuf {
        self.dir().join("checkpoints")
    }

    /// What was restored from a snapshot, to be looked at.
    pub(crate) fn restored(&self) -> PathBuf {
        self.dir().join("restored")
    }

    /// What a run keeps.
    pub(crate) fn run_dir(&self, run: &str) -> PathBuf {
        self.runs().join(run)
    }

    /// What an agent wrote to its standard output.
    pub(crate) fn output(&self, run: &str, session: u32) -> PathBuf {
        self.run_dir(run).join(format!("s{session}.out"))
    }

    /// What an agent said in its main thread, message by message.
    pub(crate) fn messages(&self, run: &str, session: u32) -> PathBuf {
        self.run_dir(run).join(format!("s{session}.said.md"))
    }

    /// What an agent wrote to its standard error.
    pub(crate) fn errors(&self, run: &str, session: u32) -> PathBuf {
        self.run_dir(run).join(format!("s{session}.err"))
    }

    /// The path as a person would write it: from the work tree when it lies there, else in full.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let own = path.strip_prefix(&self.workdir).ok().filter(|_| !path.starts_with(&self.place.dir));
        own.unwrap_or(path).display().to_string()
    }
}

#[cfg(test)]
#[path = "store/store_tests.rs"]
mod tests;
