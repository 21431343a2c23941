//! What segue knows and keeps of the user's repository, by calling the `git` binary.
//!
//! Nothing here changes the user's index, branch or files, except [`Repo::commit_all`], which is asked for by name. Every
//! call blocks, and none blocks for longer than its time-out.

mod branches;
mod call;
mod changes;
mod commit;
mod facts;
mod lists;
mod merge;
mod own_refs;
mod restore;
mod saved;
mod secret_files;
mod snapshot;
mod stage;
mod touched;
mod trees;
mod weigh;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;
use thiserror::Error;

use call::Call;

pub(crate) use facts::Facts;
pub(crate) use merge::Merged;
pub(crate) use saved::Saved;
pub(crate) use snapshot::{Snapshot, SnapshotRequest, ref_part, reference as snapshot_ref};
pub(crate) use weigh::{Change, Weight};

/// How long one call of git may take; those that read every file or run hooks get a multiple of it.
const PATIENCE: Duration = Duration::from_secs(10);

/// segue's own folder, left out of everything.
const OWN_FOLDER: &str = ".segue";

/// What leaves segue's own folder out, wherever it lies.
const NOT_OURS: &str = ":(top,exclude,glob)**/.segue/**";

/// The user's hooks are for the user's commits, not for what segue does beside them.
const NO_HOOKS: [&str; 2] = ["-c", "core.hooksPath=/dev/null"];

/// Why git could not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum GitError {
    /// There is no `git` to call.
    #[error("git was not found: install it, or run with --no-git")]
    GitMissing,
    /// The folder is not in a repository.
    #[error("{} is not in a git repository: run `git init` there, or run with --no-git", path.display())]
    NotARepository {
        /// The folder.
        path: PathBuf,
    },
    /// The repository has no files to work on.
    #[error("{} has no work tree: run segue in a checkout of the repository", path.display())]
    Bare {
        /// The folder.
        path: PathBuf,
    },
    /// The call took too long and was ended.
    #[error("{call} did not finish within {} s and was stopped", after.as_secs())]
    TimedOut {
        /// Which call.
        call: String,
        /// How long it was given.
        after: Duration,
    },
    /// git said no.
    #[error("{call} failed: {why}")]
    Failed {
        /// Which call.
        call: String,
        /// In git's words.
        why: String,
    },
    /// The system would not let git be called.
    #[error("{call} could not be run: {why}")]
    Io {
        /// Which call.
        call: String,
        /// In the system's words.
        why: String,
    },
    /// Files with conflicts are not committed.
    #[error("not committed, since these files have conflicts: {}", paths.join(", "))]
    Unmerged {
        /// The files.
        paths: Vec<String>,
    },
}

/// A repository with a work tree.
#[derive(Debug, Clone)]
pub(crate) struct Repo {
    root: PathBuf,
    git_dir: PathBuf,
    patience: Duration,
    /// Path specifications of segue's own files beside its folder.
    left_out: Vec<String>,
    /// The private index of the last time, shared by all that work on this repository.
    kept: Arc<Mutex<Option<stage::Kept>>>,
    /// What differed the last time that two trees were compared.
    compared: Arc<Mutex<Option<facts::Compared>>>,
}

impl Repo {
    /// The repository that `workdir` lies in.
    pub(crate) fn find(workdir: &Path) -> Result<Self, GitError> {
        let nowhere = || GitError::NotARepository { path: workdir.to_owned() };
        if !workdir.is_dir() {
            return Err(nowhere());
        }
        let ask = ["rev-parse", "--is-inside-work-tree", "--absolute-git-dir"];
        let answer = Call::new(workdir, PATIENCE, &ask).ask()?;
        if !answer.status.success() {
            let none = answer.err.contains("not a git repository");
            return Err(if none { nowhere() } else { answer.failure() });
        }
        let Some(git_dir) = answer.out.strip_prefix(b"true\n") else {
            return Err(GitError::Bare { path: workdir.to_owned() });
        };
        let git_dir = call::path(git_dir.strip_suffix(b"\n").unwrap_or(git_dir));
        let root = Call::new(workdir, PATIENCE, &["rev-parse", "--show-toplevel"]).run()?;
        let root = call::path(root.strip_suffix(b"\n").unwrap_or(&root));
        let (kept, compared) = (Arc::default(), Arc::default());
        Ok(Self { root, git_dir, patience: PATIENCE, left_out: Vec::new(), kept, compared })
    }

    /// The same repository, with paths that are segue's own: they are in no snapshot, commit or list of changes.
    pub(crate) fn leaving_out(self, paths: impl IntoIterator<Item = String>) -> Self {
        let left_out = paths.into_iter().flat_map(|path| left_out(&path)).collect();
        Self { left_out, ..self }
    }

    /// What a call that looks at everything looks at: all but segue's own files.
    fn everything(&self) -> impl Iterator<Item = &str> {
        [":/", NOT_OURS].into_iter().chain(self.left_out.iter().map(String::as_str))
    }

    /// The top folder of the work tree.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder that all work trees of the repository have in common.
    pub(crate) fn common_dir(&self) -> &Path {
        let own = self.git_dir.parent().filter(|dir| dir.ends_with("worktrees"));
        own.and_then(Path::parent).unwrap_or(&self.git_dir)
    }

    /// The commit that is checked out; `None` before the first one.
    pub(crate) fn head(&self) -> Option<String> {
        self.resolve("HEAD^{commit}").ok().flatten()
    }

    /// Whether one commit is part of another's history; `None` when git cannot tell.
    pub(crate) fn leads_to(&self, before: &str, after: &str) -> Option<bool> {
        let answer = self.call(&["merge-base", "--is-ancestor", before, after]).ask().ok()?;
        match answer.status.code() {
            Some(0) => Some(true),
            Some(1) => Some(false),
            _ => None,
        }
    }

    /// Whether there is anything that a commit would take; segue's own folder does not count.
    pub(crate) fn is_dirty(&self) -> Result<bool, GitError> {
        let args = ["status", "--porcelain", "-z", "--untracked-files=normal", "--"];
        let args: Vec<&str> = args.into_iter().chain(self.everything()).collect();
        let out = self.call(&args).run()?;
        // A secret file that git does not know would not be in the commit.
        let secret = |entry: &[u8]| {
            entry
                .strip_prefix(b"?? ")
                .is_some_and(|path| secret_files::is_secret(&self.root, &call::path(path)))
        };
        Ok(call::parts(&out).any(|entry| !secret(entry)))
    }

    /// The full hash behind a name, or `None` when there is no such thing.
    fn resolve(&self, name: &str) -> Result<Option<String>, GitError> {
        let answer = self.call(&["rev-parse", "--verify", "--quiet", "--end-of-options", name]).ask()?;
        if answer.status.success() {
            // Older versions of git repeat the option.
            let out = answer.out.strip_prefix(b"--end-of-options\n").unwrap_or(&answer.out);
            return Ok(Some(call::text(out).trim().to_owned()));
        }
        if answer.err.is_empty() { Ok(None) } else { Err(answer.failure()) }
    }

    /// A folder for what only segue uses, removed at the end.
    fn scratch(&self) -> Result<TempDir, GitError> {
        let made = tempfile::Builder::new().prefix("segue-").tempdir_in(&self.git_dir);
        made.map_err(|error| GitError::Io { call: "git (a private index)".into(), why: error.to_string() })
    }

    fn call(&self, args: &[&str]) -> Call {
        Call::new(&self.root, self.patience, &[&NO_HOOKS, args].concat())
    }

    /// A call that may read every file of the work tree.
    fn long_call(&self, args: &[&str]) -> Call {
        Call::new(&self.root, self.patience * 6, &[&NO_HOOKS, args].concat())
    }

    /// A call that may run the user's hooks.
    fn hooked_call(&self, args: &[&str]) -> Call {
        Call::new(&self.root, self.patience * 30, args)
    }
}

// A literal path that some rule ignores makes `git add` fail; a pattern does not. So its first letter is in brackets.
fn left_out(path: &str) -> [String; 2] {
    let mut pattern = String::new();
    for (at, letter) in path.chars().enumerate() {
        match letter {
            '*' | '?' | '[' | ']' | '\\' => pattern.extend(['\\', letter]),
            _ if at == 0 => pattern.extend(['[', letter, ']']),
            _ => pattern.push(letter),
        }
    }
    let pattern = pattern.trim_end_matches('/');
    [format!(":(top,exclude,glob){pattern}"), format!(":(top,exclude,glob){pattern}/**")]
}

#[cfg(test)]
#[path = "git_tests.rs"]
mod tests;

#[cfg(all(test, unix))]
mod scale_tests;
