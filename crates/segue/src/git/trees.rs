//! Work trees beside the first one: made, completed, given up. What somebody wrote in one is never removed here.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::call;
use super::{GitError, Repo};

/// How long a call of git that outlived its caller may hold an index.
const OTHERS: Duration = Duration::from_secs(20);

impl Repo {
    /// A work tree at `path` with a new branch that begins at `base`. One that is there already is taken as it is.
    pub(crate) fn add_tree(&self, path: &Path, branch: &str, base: &str) -> Result<Self, GitError> {
        if !path.join(".git").exists() {
            self.call(&["worktree", "prune"]).run()?;
            let place = path.display().to_string();
            let known = self.branch_head(branch)?.is_some();
            let args = match known {
                true => vec!["worktree", "add", "--quiet", place.as_str(), branch],
                false => vec!["worktree", "add", "--quiet", "-b", branch, place.as_str(), base],
            };
            self.long_call(&args).run()?;
        }
        Self::find(path)
    }

    /// Completes a work tree whose making was cut off, before anybody worked in it.
    pub(crate) fn complete(&self) -> Result<(), GitError> {
        self.wait_for_others();
        // Whoever held it longer than that is dead.
        let _ = std::fs::remove_file(self.git_dir.join("index.lock"));
        self.long_call(&["reset", "--hard", "--quiet"]).run().map(drop)
    }

    /// Waits for a call of git that was begun by a process that is dead, and is still at work.
    pub(crate) fn wait_for_others(&self) {
        let until = Instant::now() + OTHERS;
        while self.git_dir.join("index.lock").exists() && Instant::now() < until {
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Removes a work tree of this repository in which nothing is left; git refuses where something is.
    pub(crate) fn remove_tree(&self, path: &Path) -> Result<(), GitError> {
        if path.exists() {
            let place = path.display().to_string();
            self.long_call(&["worktree", "remove", &place]).run()?;
        }
        self.call(&["worktree", "prune"]).run().map(drop)
    }

    /// Where a branch is; `None` when there is none of that name.
    pub(crate) fn branch_head(&self, branch: &str) -> Result<Option<String>, GitError> {
        self.resolve(&head_of(branch))
    }

    /// Removes a branch that is where it is said to be; none is no error.
    pub(crate) fn remove_branch(&self, branch: &str, at: &str) -> Result<(), GitError> {
        match self.branch_head(branch)? {
            Some(_) => self.call(&["update-ref", "-d", &head_of(branch), at]).run().map(drop),
            None => Ok(()),
        }
    }

    /// Files that no commit would take and no rule of the user's ignores.
    pub(crate) fn untracked(&self) -> Result<Vec<PathBuf>, GitError> {
        let out = self.call(&["ls-files", "--others", "--exclude-standard", "-z"]).run()?;
        Ok(call::parts(&out).map(call::path).collect())
    }
}

fn head_of(branch: &str) -> String {
    format!("refs/heads/{branch}")
}
