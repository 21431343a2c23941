//! Everything that segue keeps as references, and its removal.

use super::{GitError, Repo, call};

/// Snapshots, and the heads of branches that runs began with.
const FOLDERS: [&str; 2] = ["refs/segue/", "refs/segue-heads/"];

impl Repo {
    /// The full names of all references that segue made.
    pub(crate) fn own_refs(&self) -> Result<Vec<String>, GitError> {
        let out = self.call(&[&["for-each-ref", "--format=%(refname)"], &FOLDERS[..]].concat()).run()?;
        Ok(call::text(&out).lines().map(str::to_owned).collect())
    }

    /// Removes these references, and the entries of work trees whose folders are gone. What only they kept is for git to
    /// collect.
    pub(crate) fn remove_own_refs(&self, names: &[String]) -> Result<(), GitError> {
        let own = names.iter().filter(|name| FOLDERS.iter().any(|folder| name.starts_with(folder)));
        let input: String = own.map(|name| format!("delete {name}\n")).collect();
        self.call(&["update-ref", "--stdin"]).input(input).run()?;
        self.call(&["worktree", "prune"]).run().map(drop)
    }
}
