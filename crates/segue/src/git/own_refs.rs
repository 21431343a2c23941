//! Everything that segue keeps as references, and its removal.

use super::snapshot::FOLDER;
use super::{GitError, Repo, call};

impl Repo {
    /// The full names of all references below `refs/segue/`.
    pub(crate) fn own_refs(&self) -> Result<Vec<String>, GitError> {
        let out = self.call(&["for-each-ref", "--format=%(refname)", FOLDER]).run()?;
        Ok(call::text(&out).lines().map(str::to_owned).collect())
    }

    /// Removes these references, and the entries of work trees whose folders are gone. What only they kept is for git to
    /// collect.
    pub(crate) fn remove_own_refs(&self, names: &[String]) -> Result<(), GitError> {
        let own = names.iter().filter(|name| name.starts_with(FOLDER));
        let input: String = own.map(|name| format!("delete {name}\n")).collect();
        self.call(&["update-ref", "--stdin"]).input(input).run()?;
        self.call(&["worktree", "prune"]).run().map(drop)
    }
}
