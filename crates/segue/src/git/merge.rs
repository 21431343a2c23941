//! Two lines of work as one: merged without touching any work tree, then brought into one by going forward only.

use super::call;
use super::snapshot::IDENTITY;
use super::{GitError, Repo};

/// How many lines of git's words about a merge are kept.
const WORDS: usize = 40;

/// Two commits as one tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Merged {
    /// The tree; files in conflict hold both sides between markers.
    pub(crate) tree: String,
    /// The files in conflict.
    pub(crate) conflicts: Vec<String>,
    /// What git says about them.
    pub(crate) words: String,
}

/// The first version of git that can merge without a work tree.
const SINCE: (u32, u32) = (2, 38);

impl Repo {
    /// Whether this git can merge as it is done here; if not, which one it is.
    pub(crate) fn cannot_merge(&self) -> Result<Option<String>, GitError> {
        let said = self.call(&["version"]).line()?;
        let old = version(&said).is_some_and(|found| found < SINCE);
        Ok(old.then_some(said))
    }

    /// What comes of merging two commits.
    pub(crate) fn merged(&self, ours: &str, theirs: &str) -> Result<Merged, GitError> {
        let args = ["-c", "merge.conflictStyle=merge", "merge-tree", "--write-tree", "-z", "--name-only"];
        let answer = self.long_call(&[&args[..], &["--messages", ours, theirs]].concat()).ask()?;
        if !matches!(answer.status.code(), Some(0 | 1)) {
            return Err(answer.failure());
        }
        // The tree, the names in conflict, an empty part, then messages: how many paths, those, a kind, and the words.
        let all: Vec<String> = answer.out.split(|byte| *byte == 0).map(call::text).collect();
        let tree = all.first().cloned().unwrap_or_default();
        let names = all.iter().skip(1).take_while(|name| !name.is_empty());
        let mut conflicts: Vec<String> = names.cloned().collect();
        let said = all
            .iter()
            .skip(conflicts.len() + 2)
            .filter(|part| part.contains("CONFLICT (") && part.contains(": "));
        let words: Vec<&str> = said.flat_map(|part| part.lines()).take(WORDS).collect();
        conflicts.dedup();
        Ok(Merged { tree, conflicts, words: words.join("\n") })
    }

    /// The last commit that two have in common.
    pub(crate) fn common_base(&self, one: &str, other: &str) -> Option<String> {
        self.call(&["merge-base", one, other]).line().ok()
    }

    /// Two texts that come from the same one, merged line by line; nothing where both changed the same lines.
    pub(crate) fn merged_text(&self, [base, ours, theirs]: [&str; 3]) -> Option<String> {
        let folder = self.scratch().ok()?;
        let mut paths = Vec::new();
        for (name, text) in [("ours", ours), ("base", base), ("theirs", theirs)] {
            let path = folder.path().join(name);
            std::fs::write(&path, text).ok()?;
            paths.push(path.display().to_string());
        }
        let args: Vec<&str> =
            ["merge-file", "-p", "--quiet"].into_iter().chain(paths.iter().map(String::as_str)).collect();
        String::from_utf8(self.call(&args).run().ok()?).ok()
    }

    /// A tree with other contents of one plain file in it.
    pub(crate) fn with_file(&self, tree: &str, path: &str, text: &str) -> Result<String, GitError> {
        let folder = self.scratch()?;
        let index = folder.path().join("index");
        let call = |args: &[&str]| self.call(args).env("GIT_INDEX_FILE", &index);
        call(&["read-tree", tree]).run()?;
        let blob = self.call(&["hash-object", "-w", "--stdin"]).input(text).line()?;
        call(&["update-index", "--add", "--cacheinfo", "100644", &blob, path]).run()?;
        call(&["write-tree"]).line()
    }

    /// A commit of a tree with these parents, in the user's name where there is one.
    pub(crate) fn commit_of(&self, tree: &str, parents: &[&str], message: &str) -> Result<String, GitError> {
        let mut args = vec!["commit-tree", "-F", "-"];
        parents.iter().for_each(|parent| args.extend(["-p", parent]));
        args.push(tree);
        let mut call = self.call(&args).input(message);
        if !self.has_identity()? {
            call = IDENTITY.iter().fold(call, |call, (key, value)| call.env(key, value));
        }
        call.line()
    }

    /// Brings the work tree and its branch forward to a commit that follows from theirs. Changes that are in the way are
    /// never overwritten: git refuses.
    pub(crate) fn forward(&self, commit: &str) -> Result<(), GitError> {
        self.long_call(&["merge", "--ff-only", "--quiet", "--no-autostash", commit]).run().map(drop)
    }

    /// Takes back what a call of [`Self::forward`] that was cut off has left: files that are as the commit has them go back
    /// to what the branch has. Any other change stays.
    pub(crate) fn undo_half(&self, commit: &str) -> Result<(), GitError> {
        let out = self.call(&["diff", "--name-only", "-z", "--no-renames", "HEAD", commit]).run()?;
        for path in call::parts(&out).map(call::text) {
            let now = self.call(&["hash-object", "--", &path]).line().ok();
            let wanted = self.resolve(&format!("{commit}:{path}"))?;
            let before = self.resolve(&format!("HEAD:{path}"))?;
            if now.is_none() || now != wanted || now == before {
                continue;
            }
            match before {
                Some(_) => drop(self.call(&["checkout", "--quiet", "HEAD", "--", &path]).run()?),
                // What it holds is in the commit.
                None => drop(std::fs::remove_file(self.root.join(&path))),
            }
        }
        Ok(())
    }

    /// Lets the branch begin at another commit with the very same files.
    pub(crate) fn rebase_same(&self, commit: &str) -> Result<(), GitError> {
        self.call(&["reset", "--soft", commit]).run().map(drop)
    }

    /// Which of these files still hold the markers of a conflict.
    pub(crate) fn with_markers(&self, paths: &[String]) -> Vec<String> {
        let holds = |path: &&String| {
            let bytes = std::fs::read(self.root.join(path)).unwrap_or_default();
            let lines = bytes.split(|byte| *byte == b'\n');
            lines.into_iter().any(|line| line.starts_with(b"<<<<<<< ") || line.starts_with(b">>>>>>> "))
        };
        paths.iter().filter(holds).cloned().collect()
    }
}

// One that cannot be read is given the benefit of the doubt.
fn version(said: &str) -> Option<(u32, u32)> {
    let number = said.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = number.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
