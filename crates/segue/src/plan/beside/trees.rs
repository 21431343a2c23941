//! The work trees of phases that run side by side: where they lie, how they are made and how they are given up.
//!
//! Before one is changed by merging or removed, what is in it is under a reference. Removing is never forced.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use segue_plans::Phase;
use thiserror::Error;

use crate::config::path_fault;
use crate::crash;
use crate::git::{GitError, Repo, SnapshotRequest};
use crate::store::{Store, safely};

/// Says, in the folder of a phase, that its work tree is whole.
const WHOLE: &str = "whole";

/// Why a work tree could not be made, merged or given up.
#[derive(Debug, Error)]
pub(in crate::plan) enum TreeError {
    /// git would not.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The system would not.
    #[error("{0}")]
    System(#[from] io::Error),
}

/// The work tree of one phase.
#[derive(Debug, Clone)]
pub(in crate::plan) struct Tree {
    /// The plan's own work tree.
    pub(in crate::plan) main: PathBuf,
    /// The folder of the phase's.
    pub(in crate::plan) dir: PathBuf,
    /// The phase's.
    pub(in crate::plan) path: PathBuf,
    /// The branch that is checked out in it.
    pub(in crate::plan) branch: String,
    plan: String,
    label: String,
    /// What segue itself writes into a work tree for people.
    left_out: Vec<String>,
    store: Store,
}

/// Where the work tree of a phase lies.
pub(crate) fn path(store: &Store, plan: &str, id: &str) -> PathBuf {
    Tree::of(store, plan, id, &[]).path
}

impl Tree {
    /// The work tree of a phase of a plan.
    pub(in crate::plan) fn of(store: &Store, plan: &str, id: &str, left_out: &[String]) -> Self {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
        let label: String = id.chars().take(60).map(plain).collect();
        let label = if label.is_empty() { "-".to_owned() } else { label };
        let dir = store.trees(plan).join(&label);
        // Tools take the name of the folder for the name of the project.
        let name = store.root().file_name().unwrap_or_else(|| "tree".as_ref());
        Self {
            main: store.root().to_owned(),
            path: dir.join(name),
            branch: format!("segue/{}/{label}", plan.trim_start_matches("plan-")),
            plan: plan.to_owned(),
            label,
            dir,
            left_out: left_out.to_vec(),
            store: store.clone(),
        }
    }

    /// The folder in it that stands for another one in the plan's own work tree.
    pub(in crate::plan) fn folder(&self, in_main: &Path) -> PathBuf {
        let below = in_main.strip_prefix(&self.main).unwrap_or(Path::new(""));
        self.path.join(below)
    }

    /// The repository, seen from it.
    pub(in crate::plan) fn repo(&self) -> Result<Repo, GitError> {
        Ok(Repo::find(&self.path)?.leaving_out(self.left_out.clone()))
    }

    /// The repository, seen from the plan's own work tree.
    pub(in crate::plan) fn main_repo(&self) -> Result<Repo, GitError> {
        Ok(Repo::find(&self.main)?.leaving_out(self.left_out.clone()))
    }

    /// Makes it, or makes it whole. One that an earlier try worked in is brought up to date where that takes nobody.
    pub(in crate::plan) fn make(&self, base: &str, phase: &Phase) -> Result<(), TreeError> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let was_whole = self.dir.join(WHOLE).exists();
        let is_there = self.path.join(".git").exists();
        let repo = self.main_repo()?.add_tree(&self.path, &self.branch, base)?;
        self.store.mark_tree(&self.path)?;
        if is_there && was_whole {
            return self.refresh(&repo.leaving_out(self.left_out.clone()));
        }
        die_at("made");
        if is_there {
            repo.complete()?;
        }
        self.bring_along(phase)?;
        fs::write(self.dir.join(WHOLE), "")?;
        Ok(())
    }

    fn refresh(&self, tree: &Repo) -> Result<(), TreeError> {
        let (Some(own), Some(onto)) = (tree.head(), self.main_repo()?.head()) else { return Ok(()) };
        if tree.leads_to(&onto, &own) == Some(true) || tree.is_dirty()? {
            return Ok(());
        }
        let merged = tree.merged(&onto, &own)?;
        if merged.conflicts.is_empty() {
            self.keep("before-refresh", "before it was brought up to date")?;
            let commit = tree.commit_of(&merged.tree, &[&onto, &own], "Bring the phase up to date\n")?;
            tree.forward(&commit)?;
        }
        Ok(())
    }

    /// Keeps what is in it under a reference.
    pub(in crate::plan) fn keep(&self, what: &str, words: &str) -> Result<(), TreeError> {
        if !self.path.exists() {
            return Ok(());
        }
        let label = format!("{}-{what}", self.label);
        let message = format!("segue: phase {} of {}, {words}", self.label, self.plan);
        let request = SnapshotRequest { run: &self.plan, label: &label, parent: None, message: &message };
        self.repo()?.snapshot(&request)?;
        die_at(&format!("kept-{what}"));
        Ok(())
    }

    /// Keeps what is in the plan's own work tree under a reference.
    pub(in crate::plan) fn keep_main(&self, main: &Repo) -> Result<(), TreeError> {
        let label = format!("{}-main", self.label);
        let message =
            format!("segue: the work tree of {} before phase {} came into it", self.plan, self.label);
        main.snapshot(&SnapshotRequest { run: &self.plan, label: &label, parent: None, message: &message })?;
        Ok(())
    }

    /// Gives it up. What would be lost with it is put aside; what cannot be put aside keeps it.
    pub(in crate::plan) fn give_up(&self) -> Result<(), TreeError> {
        if self.path.exists() {
            let tree = self.repo()?;
            tree.wait_for_others();
            self.keep("last", "before its work tree was removed")?;
            for path in tree.untracked()? {
                // segue's own files are kept with the checkpoints that they show.
                if !self.left_out.iter().any(|own| path.starts_with(own)) {
                    self.put_aside(&path)?;
                }
                fs::remove_file(self.path.join(&path))?;
            }
        }
        let repo = self.main_repo()?;
        let head = repo.branch_head(&self.branch)?;
        repo.remove_tree(&self.path)?;
        die_at("removed");
        if let Some(head) = head {
            repo.remove_branch(&self.branch, &head)?;
        }
        let _ = fs::remove_file(self.dir.join(WHOLE));
        let _ = fs::remove_file(self.dir.join("lock"));
        let _ = fs::remove_dir(&self.dir);
        let _ = self.dir.parent().map(fs::remove_dir);
        Ok(())
    }

    fn put_aside(&self, path: &Path) -> io::Result<()> {
        copy(&self.path.join(path), &self.dir.join("aside").join(path))
    }

    /// Brings files along that the plan names and git does not take.
    pub(in crate::plan) fn bring_along(&self, phase: &Phase) -> Result<(), TreeError> {
        let tasks = phase.tasks.iter().flat_map(|task| task.files.iter().chain(&task.read));
        let named = phase.notes_in.iter().chain(&phase.notes_out).chain(&phase.files).chain(tasks);
        let named: Vec<String> = named.filter(|path| is_file_below(&self.main, path)).cloned().collect();
        for path in self.main_repo()?.ignored(&named)? {
            if !self.path.join(&path).exists() {
                copy(&self.main.join(&path), &safely::place_inside(&self.path, &path)?)?;
            }
        }
        Ok(())
    }

    /// Files that the plan names and git does not take: they come into the plan's own work tree with the rest. What was
    /// there in their place is put aside.
    pub(in crate::plan) fn bring_back(&self, phase: &Phase) -> Result<(), TreeError> {
        if !self.path.exists() {
            return Ok(());
        }
        let tasks = phase.tasks.iter().flat_map(|task| &task.files);
        let made = phase.must_have.artifacts.iter().map(|artifact| &artifact.path);
        let named = phase.notes_out.iter().chain(&phase.files).chain(tasks).chain(made);
        let named: Vec<String> = named.filter(|path| is_file_below(&self.path, path)).cloned().collect();
        for path in self.repo()?.ignored(&named)? {
            let (from, to) = (self.path.join(&path), safely::place_inside(&self.main, &path)?);
            let (new, old) = (fs::read(&from)?, fs::read(&to).ok());
            if old.as_ref() != Some(&new) {
                if old.is_some() {
                    copy(&to, &self.dir.join("replaced").join(&path))?;
                }
                copy(&from, &to)?;
            }
        }
        Ok(())
    }
}

/// Dies as `kill -9` would have it, where a test says so.
pub(in crate::plan) fn die_at(point: &str) {
    if crash::hook("SEGUE_CRASH_AT").is_some_and(|at| at == point) {
        crash::die();
    }
}

// A plan's words do not lead out of the work tree, and neither does a link in it.
fn is_file_below(root: &Path, path: &str) -> bool {
    let real = root.canonicalize().and_then(|root| Ok((root.join(path).canonicalize()?, root)));
    path_fault(path).is_none() && real.is_ok_and(|(real, root)| real.starts_with(root) && real.is_file())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(dir) = to.parent() {
        fs::create_dir_all(dir)?;
    }
    // What a link in its place points to is somebody else's.
    if to.is_symlink() {
        fs::remove_file(to)?;
    }
    if from.symlink_metadata()?.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    fs::copy(from, to).map(drop)
}
