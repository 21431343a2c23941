//! The size of what differs from a commit, for whoever watches: cheap, and never in anybody's way.

use segue_report::Changes;

use super::{GitError, Repo};

impl Repo {
    /// What differs from this commit in the work tree.
    pub(crate) fn changes_since(&self, base: &str) -> Result<Changes, GitError> {
        let line = self.call(&["diff", "--shortstat", "--no-ext-diff", "--no-textconv", base, "--"]).run()?;
        let line = String::from_utf8_lossy(&line).into_owned();
        let number = |word: &str| {
            let part = line.split(',').find(|part| part.contains(word))?;
            part.split_whitespace().next()?.parse().ok()
        };
        let new = self.call(&["ls-files", "--others", "--exclude-standard", "-z"]).run()?;
        Ok(Changes {
            files: number("file").unwrap_or(0),
            added: number("insertion").unwrap_or(0),
            removed: number("deletion").unwrap_or(0),
            new: new.iter().filter(|byte| **byte == 0).count() as u64,
        })
    }
}
