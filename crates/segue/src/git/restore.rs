//! A snapshot taken out again: its files in a folder of their own, or as a branch. The user's index, branch and files are
//! not touched.

use std::path::Path;

use super::call::{self, Call};
use super::{GitError, NO_HOOKS, Repo};

/// Every file is wanted, whatever part of the repository is checked out.
const ALL_OF_IT: [&str; 2] = ["-c", "core.sparseCheckout=false"];

impl Repo {
    /// Writes the files of a commit into a folder that is there and empty.
    pub(crate) fn write_files(&self, commit: &str, into: &Path) -> Result<(), GitError> {
        let scratch = self.scratch()?;
        let index = scratch.path().join("index");
        self.long_call(&[&ALL_OF_IT[..], &["read-tree", commit]].concat())
            .env("GIT_INDEX_FILE", &index)
            .run()?;
        // In a work tree of its own, so that the attributes are those of the commit.
        let args = [&NO_HOOKS[..], &ALL_OF_IT, &["checkout-index", "--all"]].concat();
        Call::new(into, self.patience * 30, &args)
            .env("GIT_DIR", &self.git_dir)
            .env("GIT_WORK_TREE", into)
            .env("GIT_INDEX_FILE", &index)
            .run()
            .map(drop)
    }

    /// Whether git takes this as the name of a branch.
    pub(crate) fn is_branch_name(&self, name: &str) -> Result<bool, GitError> {
        // A name such as `@{-1}` is answered with another one.
        let answer = self.call(&["check-ref-format", "--branch", name]).ask()?;
        Ok(answer.status.success() && call::text(&answer.out).trim_end_matches('\n') == name)
    }

    /// Whether there is such a branch.
    pub(crate) fn has_branch(&self, name: &str) -> Result<bool, GitError> {
        Ok(self.resolve(&branch(name))?.is_some())
    }

    /// Makes a branch that is not there yet; nothing is checked out.
    pub(crate) fn new_branch(&self, name: &str, commit: &str) -> Result<(), GitError> {
        // An empty old value means that the reference must not exist.
        self.call(&["update-ref", "-m", "segue: from a snapshot", &branch(name), commit, ""]).run().map(drop)
    }
}

fn branch(name: &str) -> String {
    format!("refs/heads/{name}")
}

#[cfg(test)]
#[path = "restore_tests.rs"]
mod tests;
