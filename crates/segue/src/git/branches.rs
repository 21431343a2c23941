//! The branches during a run: where they were is kept by references, so that nothing an agent amends, deletes or moves is
//! lost, and such a change is named.

use std::collections::BTreeMap;
use std::thread;

use super::call;
use super::snapshot::ref_part;
use super::{GitError, Repo};

/// Where these references lie: no snapshot, branch or tag, and in no push by default.
const FOLDER: &str = "refs/segue-heads/";
/// Branches of phases that work side by side come and go with them.
const OURS: &str = "segue/";
/// So many branches are watched.
const MOST: usize = 500;

impl Repo {
    /// Keeps the commit that is checked out and the head of every branch, as a run finds them.
    pub(crate) fn keep_branches(&self, run: &str) -> Result<(), GitError> {
        let folder = format!("{FOLDER}{}", ref_part(run));
        let mut lines =
            self.head().map_or_else(String::new, |head| format!("update {folder}/start {head}\n"));
        for (branch, head) in self.branches("refs/heads/")? {
            lines.push_str(&format!("update {folder}/at/{branch} {head}\n"));
        }
        self.update(lines)
    }

    /// Which branches were rewritten, moved or deleted since the last time, in words. What was there stays reachable, and
    /// so does the commit that is checked out now, under the label.
    pub(crate) fn branch_changes(&self, run: &str, label: &str) -> Result<Vec<String>, GitError> {
        let folder = format!("{FOLDER}{}", ref_part(run));
        let folders = [&format!("{folder}/at/"), "refs/heads/", &format!("{folder}/lost/")];
        let (found, head) = thread::scope(|scope| {
            let head = scope.spawn(|| self.head());
            (self.branches_in(folders), head.join().unwrap_or_default())
        });
        let [before, now, lost] = found?;
        let lost = lost.len();
        let mut lines = head
            .map_or_else(String::new, |head| format!("update {folder}/head-{} {head}\n", ref_part(label)));
        let (mut told, mut gone) = (Vec::new(), String::new());
        for (branch, old) in &before {
            let new = now.get(branch);
            if new == Some(old) || new.is_some_and(|new| self.leads_to(old, new) == Some(true)) {
                continue;
            }
            let kept = format!("{folder}/lost/{}/{branch}", lost + told.len() + 1);
            lines.push_str(&format!("update {kept} {old}\n"));
            let what = match new {
                None => {
                    gone.push_str(&format!("delete {folder}/at/{branch}\n"));
                    "was deleted"
                }
                Some(new) if self.parents(new) == self.parents(old) => "had its last commit amended",
                Some(_) => "was rewritten or moved by force",
            };
            let short = &old[..old.len().min(12)];
            told.push(format!("branch {branch} {what} during the run; its commit {short} is kept as {kept}"));
        }
        for (branch, head) in now.iter().filter(|(branch, head)| before.get(*branch) != Some(*head)) {
            lines.push_str(&format!("update {folder}/at/{branch} {head}\n"));
        }
        // First what is gone: a name may have become a folder of names.
        self.update(gone)?;
        self.update(lines)?;
        Ok(told)
    }

    /// Removes what is kept of the branches of runs that have no snapshot any more.
    pub(crate) fn forget_branches(&self, kept: impl Fn(&str) -> bool) -> Result<(), GitError> {
        let all = self.branches(FOLDER)?;
        let gone = all.iter().filter(|(name, _)| !kept(name.split('/').next().unwrap_or_default()));
        self.update(gone.map(|(name, head)| format!("delete {FOLDER}{name} {head}\n")).collect())
    }

    fn branches(&self, folder: &str) -> Result<BTreeMap<String, String>, GitError> {
        self.branches_in([folder]).map(|[found]| found)
    }

    // The references below each folder, without its name.
    fn branches_in<const N: usize>(
        &self,
        folders: [&str; N],
    ) -> Result<[BTreeMap<String, String>; N], GitError> {
        let format = "--format=%(objectname) %(refname)";
        let out = call::text(&self.call(&[&["for-each-ref", format], &folders[..]].concat()).run()?);
        Ok(folders.map(|folder| {
            let pairs = out.lines().filter_map(|line| line.split_once(' '));
            let named =
                pairs.filter_map(|(id, name)| Some((name.strip_prefix(folder)?.to_owned(), id.to_owned())));
            named.filter(|(name, _)| !name.starts_with(OURS)).take(MOST).collect()
        }))
    }

    fn parents(&self, commit: &str) -> Option<String> {
        self.call(&["rev-list", "--no-walk", "--parents", commit])
            .line()
            .ok()
            .map(|line| line.split_once(' ').map_or_else(String::new, |(_, parents)| parents.to_owned()))
    }

    fn update(&self, lines: String) -> Result<(), GitError> {
        if lines.is_empty() {
            Ok(())
        } else {
            self.call(&["update-ref", "--stdin"]).input(lines).run().map(drop)
        }
    }
}
