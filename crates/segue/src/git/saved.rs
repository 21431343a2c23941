//! Which snapshots there are: every reference below `refs/segue/`, and the earlier ones of the same name, which are kept
//! as its ancestors. Reads only; how many there are makes no more calls of git.

use std::collections::{BTreeMap, BTreeSet};

use segue_machine::Millis;

use super::call;
use super::snapshot::{FOLDER, IDENTITY, reference};
use super::{GitError, Repo};

/// What is asked of a commit, each answer ended by a zero byte; the last one by its line.
const OF_REFERENCE: &str = "--format=%(refname)%00%(objectname)%00%(tree)%00%(parent)%00%(committerdate:unix)%00\
                            %(committeremail)%00%(contents:subject)";
const OF_COMMIT: &str = "--format=%x00%H%x00%T%x00%P%x00%ct%x00<%ce>%x00%s";

/// A snapshot that lies in the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Saved {
    /// The run or plan, as its reference spells it.
    pub(crate) run: String,
    /// The name within the run.
    pub(crate) label: String,
    /// How many of the same name are newer.
    pub(crate) back: u32,
    /// When it was taken, to the second.
    pub(crate) at: Millis,
    /// The hash of its commit.
    pub(crate) commit: String,
    /// The hash of its files.
    pub(crate) tree: String,
    /// The commit that was checked out then; `None` before the first one.
    pub(crate) head: Option<String>,
    /// The hash of that commit's files.
    pub(crate) base: Option<String>,
}

impl Saved {
    /// The full name of the reference that keeps it.
    pub(crate) fn reference(&self) -> String {
        reference(&self.run, &self.label)
    }

    fn new(name: &str, back: u32, commit: &Commit) -> Option<Self> {
        let (run, label) = name.split_once('/')?;
        Some(Self {
            run: run.to_owned(),
            label: label.to_owned(),
            back,
            at: commit.at,
            commit: commit.id.clone(),
            tree: commit.tree.clone(),
            head: None,
            base: None,
        })
    }

    /// Told from its parents: the commit that was checked out, and an earlier snapshot of the same name.
    fn place(&mut self, known: &BTreeMap<String, Commit>, held: &BTreeSet<String>) -> Option<Self> {
        let own = known.get(&self.commit)?;
        let parents = || own.parents.iter().filter_map(|id| known.get(id)).enumerate();
        // The head comes first, and may be a commit of segue's, too; its message tells.
        let is_earlier = |place: usize, parent: &Commit| {
            let alike = parent.subject == own.subject || (place > 0 && !held.contains(&parent.id));
            parent.ours && alike
        };
        let head = parents().next().filter(|(place, parent)| !is_earlier(*place, parent));
        self.head = head.map(|(_, parent)| parent.id.clone());
        self.base = head.map(|(_, parent)| parent.tree.clone());
        let (_, earlier) = parents().find(|(place, parent)| is_earlier(*place, parent))?;
        Self::new(&format!("{}/{}", self.run, self.label), self.back + 1, earlier)
    }
}

/// What git says about a commit.
#[derive(Debug)]
struct Commit {
    id: String,
    tree: String,
    parents: Vec<String>,
    at: Millis,
    ours: bool,
    subject: String,
}

impl Commit {
    fn read(line: &str) -> Option<(&str, Self)> {
        let [name, id, tree, parents, at, email, subject] =
            line.splitn(7, '\0').collect::<Vec<_>>().try_into().ok()?;
        let ours = IDENTITY.iter().any(|(_, value)| email == format!("<{value}>"));
        let seconds: Millis = at.parse().ok()?;
        let commit = Self {
            id: id.to_owned(),
            tree: tree.to_owned(),
            parents: parents.split(' ').filter(|id| !id.is_empty()).map(str::to_owned).collect(),
            at: seconds.saturating_mul(1_000),
            ours,
            subject: subject.to_owned(),
        };
        Some((name, commit))
    }
}

impl Repo {
    /// Every snapshot, by name, the newest of a name first.
    pub(crate) fn saved(&self) -> Result<Vec<Saved>, GitError> {
        let out = call::text(&self.call(&["for-each-ref", OF_REFERENCE, FOLDER]).run()?);
        let (mut found, mut known) = (Vec::new(), BTreeMap::new());
        for (name, commit) in out.lines().filter_map(Commit::read) {
            found.extend(name.strip_prefix(FOLDER).and_then(|name| Saved::new(name, 0, &commit)));
            known.insert(commit.id.clone(), commit);
        }
        let held: BTreeSet<String> = known.keys().cloned().collect();
        let mut new = 0;
        while new < found.len() {
            let parents = found[new..].iter().filter_map(|one| known.get(&one.commit));
            let wanted: BTreeSet<&String> =
                parents.flat_map(|commit| &commit.parents).filter(|id| !known.contains_key(*id)).collect();
            let commits = self.look_up(&wanted)?;
            known.extend(commits.into_iter().map(|commit| (commit.id.clone(), commit)));
            let earlier: Vec<Saved> =
                found[new..].iter_mut().filter_map(|one| one.place(&known, &held)).collect();
            new = found.len();
            found.extend(earlier);
        }
        found.sort_by(|a, b| (&a.run, &a.label, a.back).cmp(&(&b.run, &b.label, b.back)));
        Ok(found)
    }

    // One call for all; those that are not there (a shallow clone) are left out.
    fn look_up(&self, ids: &BTreeSet<&String>) -> Result<Vec<Commit>, GitError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let input: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let args = ["rev-list", "--no-walk=unsorted", "--ignore-missing", OF_COMMIT, "--stdin"];
        let out = call::text(&self.call(&args).input(input).run()?);
        Ok(out.lines().filter_map(Commit::read).map(|(_, commit)| commit).collect())
    }

    /// Removes snapshots with the earlier ones of their names, all of them or none.
    pub(crate) fn forget<'a>(&self, saved: impl IntoIterator<Item = &'a Saved>) -> Result<(), GitError> {
        let line = |one: &Saved| format!("delete {} {}\n", one.reference(), one.commit);
        let input: String = saved.into_iter().map(line).collect();
        self.call(&["update-ref", "--stdin"]).input(input).run().map(drop)
    }
}

#[cfg(test)]
#[path = "saved_tests.rs"]
mod tests;
