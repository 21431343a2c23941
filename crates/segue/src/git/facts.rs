//! What the repository itself says about a run, to be held against what an agent claims.
//!
//! Nothing here fails: what git does not answer is left empty, and the trouble is named.

use std::thread;

use super::call;
use super::{GitError, Repo, Snapshot};

/// How many commits are listed; the rest are counted.
const LISTED: usize = 50;

/// Lines are counted in no more changed files than this: each of them has to be read for it.
const COUNTED: usize = 2_000;

/// What has happened in the repository since a run began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The commit that is checked out; `None` before the first one.
    pub(crate) head: Option<String>,
    /// The branch that is checked out; `None` when it is a bare commit.
    pub(crate) branch: Option<String>,
    /// Short hash and subject of the commits since the base, newest first, at most 50.
    pub(crate) commits: Vec<(String, String)>,
    /// How many commits there are since the base.
    pub(crate) commit_count: usize,
    /// The hash of the work tree with new files.
    pub(crate) tree: Option<String>,
    /// Files that were not there when the run began, committed or not.
    pub(crate) added: Vec<String>,
    /// Files that are not as they were.
    pub(crate) modified: Vec<String>,
    /// Files that are gone.
    pub(crate) deleted: Vec<String>,
    /// The size of it, on one line; `None` when nothing changed.
    pub(crate) diffstat: Option<String>,
    /// New files that were not looked at for their size.
    pub(crate) skipped: Vec<(String, u64)>,
    /// What could not be found out, and why.
    pub(crate) trouble: Option<String>,
}

impl Repo {
    /// Compares the repository with what it was at the base; without a base tree the base commit or HEAD is taken.
    pub(crate) fn facts(&self, base_commit: Option<&str>, base_tree: Option<&str>) -> Facts {
        let mut facts = Facts::default();
        let (head, staged) = thread::scope(|scope| {
            let head = scope.spawn(|| self.resolve("HEAD^{commit}"));
            let staged = self.stage();
            (head.join().unwrap_or(Ok(None)), staged)
        });
        let placed = head.map(|head| facts.head = head);
        let staged = staged.map(|staged| {
            facts.tree = Some(staged.tree);
            (facts.skipped, facts.trouble) = (staged.skipped, staged.trouble);
        });
        self.compare(facts, [placed, staged], base_commit, base_tree)
    }

    /// The same for a work tree that has just been saved and need not be looked at again.
    pub(crate) fn facts_of(
        &self,
        saved: &Snapshot,
        base_commit: Option<&str>,
        base_tree: Option<&str>,
    ) -> Facts {
        let facts = Facts {
            head: saved.head.clone(),
            tree: Some(saved.tree.clone()),
            skipped: saved.skipped.clone(),
            trouble: saved.trouble.clone(),
            ..Facts::default()
        };
        self.compare(facts, [Ok(()), Ok(())], base_commit, base_tree)
    }

    fn compare(
        &self,
        mut facts: Facts,
        before: [Result<(), GitError>; 2],
        base_commit: Option<&str>,
        base_tree: Option<&str>,
    ) -> Facts {
        let (head, mut log) = (facts.head.clone(), Facts::default());
        let (branch, listed, changed) = thread::scope(|scope| {
            let branch = scope.spawn(|| self.branch());
            let listed = scope.spawn(|| self.commits(&mut log, head.as_deref(), base_commit));
            let changed = self.changes(&mut facts, base_commit, base_tree);
            (branch.join().unwrap_or(Ok(None)), listed.join().unwrap_or(Ok(())), changed)
        });
        (facts.commits, facts.commit_count) = (log.commits, log.commit_count);
        let placed = branch.map(|branch| facts.branch = branch);
        let steps = before.into_iter().chain([placed, listed, changed]);
        let mut troubles: Vec<String> =
            steps.filter_map(Result::err).map(|error| error.to_string()).collect();
        troubles.extend(facts.trouble.take());
        facts.trouble = (!troubles.is_empty()).then(|| troubles.join("; "));
        facts
    }

    fn branch(&self) -> Result<Option<String>, GitError> {
        let answer = self.call(&["symbolic-ref", "--quiet", "--short", "HEAD"]).ask()?;
        Ok(answer.status.success().then(|| call::text(&answer.out).trim().to_owned()))
    }

    fn commits(&self, facts: &mut Facts, head: Option<&str>, base: Option<&str>) -> Result<(), GitError> {
        let Some(head) = head.filter(|head| base != Some(*head)) else { return Ok(()) };
        let range = base.map_or_else(|| head.to_owned(), |base| format!("{base}..{head}"));
        let most = format!("--max-count={LISTED}");
        let out = self.call(&["rev-list", &most, "--format=%h%x09%s", &range, "--"]).run()?;
        facts.commits = call::text(&out)
            .lines()
            // Each entry is preceded by a line `commit HASH`, which has no tab.
            .filter_map(|line| line.split_once('\t'))
            .map(|(hash, subject)| (hash.to_owned(), subject.to_owned()))
            .collect();
        facts.commit_count = facts.commits.len();
        if facts.commit_count == LISTED {
            let count = self.call(&["rev-list", "--count", &range, "--"]).line()?;
            facts.commit_count = count.trim().parse().unwrap_or(LISTED);
        }
        Ok(())
    }

    fn changes(
        &self,
        facts: &mut Facts,
        base_commit: Option<&str>,
        base_tree: Option<&str>,
    ) -> Result<(), GitError> {
        let Some(tree) = facts.tree.clone() else { return Ok(()) };
        let base = match base_tree.or(base_commit).or(facts.head.as_deref()) {
            Some(base) => base.to_owned(),
            None => self.call(&["mktree"]).line()?,
        };
        if base == tree {
            return Ok(());
        }
        // Trees do not change: what was found between two of them stays so.
        let known = |slot: &Option<Compared>| {
            slot.clone().filter(|known| known.between == (base.clone(), tree.clone()))
        };
        let known = self.compared.lock().ok().and_then(|slot| known(&slot));
        let compared = match known {
            Some(compared) => compared,
            None => self.diff(base, tree)?,
        };
        (facts.added, facts.modified) = (compared.added.clone(), compared.modified.clone());
        (facts.deleted, facts.diffstat) = (compared.deleted.clone(), compared.diffstat.clone());
        if let Ok(mut slot) = self.compared.lock() {
            *slot = Some(compared);
        }
        Ok(())
    }

    fn diff(&self, base: String, tree: String) -> Result<Compared, GitError> {
        let diff = |args: &[&str]| {
            let args = [&["diff-tree", "-r", "--no-renames", "--no-ext-diff"], args, &[&base, &tree]];
            self.long_call(&args.concat())
        };
        let out = diff(&["-z", "--name-status"]).run()?;
        let mut found = Compared::default();
        found.sort(&out);
        let files = found.added.len() + found.modified.len() + found.deleted.len();
        found.diffstat = if files > COUNTED {
            Some(format!("{files} files changed, too many to count their lines"))
        } else {
            Some(diff(&["--shortstat"]).line()?.trim().to_owned()).filter(|stat| !stat.is_empty())
        };
        found.between = (base, tree);
        Ok(found)
    }
}

/// What differs between two trees.
#[derive(Debug, Clone, Default)]
pub(super) struct Compared {
    between: (String, String),
    added: Vec<String>,
    modified: Vec<String>,
    deleted: Vec<String>,
    diffstat: Option<String>,
}

impl Compared {
    /// Puts pairs of letter and path where they belong.
    fn sort(&mut self, out: &[u8]) {
        let mut parts = call::parts(out);
        while let (Some(letter), Some(path)) = (parts.next(), parts.next()) {
            let list = match letter {
                b"A" => &mut self.added,
                b"D" => &mut self.deleted,
                _ => &mut self.modified,
            };
            list.push(call::text(path));
        }
    }
}

#[cfg(test)]
#[path = "facts_tests.rs"]
mod tests;
