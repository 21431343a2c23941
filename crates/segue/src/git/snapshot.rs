//! A snapshot: the work tree saved as a commit under `refs/segue/`, where no branch, tag or push by default sees it.

use std::thread;

use super::{GitError, Repo};
use crate::secret_store::{self, Entry, SecretStore};

/// Where the references to snapshots lie.
pub(super) const FOLDER: &str = "refs/segue/";

/// Whose name segue's own commits bear.
pub(super) const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "segue"),
    ("GIT_AUTHOR_EMAIL", "segue@localhost"),
    ("GIT_COMMITTER_NAME", "segue"),
    ("GIT_COMMITTER_EMAIL", "segue@localhost"),
];

/// What is to be saved, and under which name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SnapshotRequest<'a> {
    /// The run's id.
    pub(crate) run: &'a str,
    /// The name within the run.
    pub(crate) label: &'a str,
    /// The commit of the snapshot before this one.
    pub(crate) parent: Option<&'a str>,
    /// The commit's message.
    pub(crate) message: &'a str,
}

/// A saved work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// The hash of its files.
    pub(crate) tree: String,
    /// The hash of its commit.
    pub(crate) commit: String,
    /// The commit that was checked out then; `None` before the first one.
    pub(crate) head: Option<String>,
    /// The full name of the reference that keeps it.
    pub(crate) reference: String,
    /// New files that were left out for their size.
    pub(crate) skipped: Vec<(String, u64)>,
    /// What stands for the secret files that are kept beside it.
    pub(crate) secrets: Option<String>,
    /// What else is not in it, and why.
    pub(crate) trouble: Option<String>,
}

impl Repo {
    /// Saves the work tree, with new files; the user's index, branch and files stay as they are.
    pub(crate) fn snapshot(&self, request: &SnapshotRequest<'_>) -> Result<Snapshot, GitError> {
        let reference = reference(request.run, request.label);
        let (head, earlier, staged) = thread::scope(|scope| {
            let head = scope.spawn(|| self.head());
            let earlier = scope.spawn(|| self.resolve(&reference));
            let staged = self.stage();
            (head.join().unwrap_or_default(), earlier.join(), staged)
        });
        let (staged, earlier) = (staged?, earlier.unwrap_or_else(|_| self.resolve(&reference))?);
        // A snapshot of the same name stays reachable as a parent, so nothing that was saved is ever lost.
        let parents = [head.clone(), request.parent.map(str::to_owned), earlier.clone()];
        let commit = self.commit_tree(&staged.tree, parents.into_iter().flatten(), request.message)?;
        let noted = self.note_secrets(&commit, &staged.secrets);
        // An empty old value means that the reference must not exist.
        let old = earlier.unwrap_or_default();
        self.call(&["update-ref", "-m", "segue: snapshot", &reference, &commit, &old]).run()?;
        Ok(Snapshot {
            tree: staged.tree,
            commit,
            head,
            reference,
            skipped: staged.skipped,
            secrets: secret_store::digest(&staged.secrets),
            trouble: staged.trouble.into_iter().chain(noted).reduce(|all, one| format!("{all}; {one}")),
        })
    }

    /// The hash of the files that a reference holds; `None` when there is no such reference.
    pub(crate) fn tree_of(&self, reference: &str) -> Result<Option<String>, GitError> {
        self.resolve(&format!("{reference}^{{tree}}"))
    }

    /// Removes a snapshot, so that git may forget what only it holds; none is no error.
    pub(crate) fn forget_snapshot(&self, run: &str, label: &str) -> Result<(), GitError> {
        let reference = reference(run, label);
        match self.resolve(&reference)? {
            Some(commit) => self.call(&["update-ref", "-d", &reference, &commit]).run().map(drop),
            None => Ok(()),
        }
    }

    // What went wrong.
    fn note_secrets(&self, commit: &str, entries: &[Entry]) -> Option<String> {
        let store = SecretStore::of(self.common_dir()).filter(|_| !entries.is_empty())?;
        let error = store.note(commit, entries).err()?;
        Some(format!("its secret files could not be recorded: {error}"))
    }

    fn commit_tree(
        &self,
        tree: &str,
        parents: impl Iterator<Item = String>,
        message: &str,
    ) -> Result<String, GitError> {
        let mut known: Vec<String> = Vec::new();
        for parent in parents {
            if !known.contains(&parent) {
                known.push(parent);
            }
        }
        let mut args = vec!["commit-tree", "-F", "-"];
        for parent in &known {
            args.extend(["-p", parent]);
        }
        args.push(tree);
        let call = self.call(&args).input(message);
        IDENTITY.iter().fold(call, |call, (key, value)| call.env(key, value)).line()
    }
}

/// The full name of the reference to a snapshot.
pub(crate) fn reference(run: &str, label: &str) -> String {
    format!("{FOLDER}{}/{}", ref_part(run), ref_part(label))
}

/// A name as one part of a reference.
pub(crate) fn ref_part(name: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
    let part: String = name.chars().map(plain).collect();
    if part.is_empty() { "-".into() } else { part }
}

#[cfg(test)]
#[path = "snapshot_tests.rs"]
mod tests;
