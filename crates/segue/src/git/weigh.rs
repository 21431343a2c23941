//! What snapshots hold beyond the commit that they were taken on: how many files, which, and what they take on disk.
//!
//! All snapshots are weighed together in a few calls of git, however many they are.

use std::collections::{BTreeMap, HashMap};
use std::thread;

use super::call;
use super::saved::Saved;
use super::snapshot::FOLDER;
use super::{GitError, Repo};

/// How many comparisons one call makes, so that its answer stays small.
const AT_ONCE: usize = 100;

/// What one snapshot holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    /// Files that differ from the commit that it was taken on.
    pub(crate) files: usize,
    /// What would be free on disk without it.
    pub(crate) bytes: u64,
}

/// What snapshots hold, each and together.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Weights {
    /// In the order in which they were asked for.
    pub(crate) each: Vec<Weight>,
    /// What no branch, tag or other reference needs.
    pub(crate) total: u64,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// What git calls it: `A`, `D`, `M` or `T`.
    pub(crate) kind: char,
    /// The file.
    pub(crate) path: String,
    /// Lines that are new and lines that are gone; `None` for what has no lines.
    pub(crate) lines: Option<(u64, u64)>,
}

/// Which snapshots need an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needed {
    Nobody,
    One(usize),
    Several,
}

impl Needed {
    fn also_by(&mut self, one: usize) {
        *self = match self {
            Self::Nobody => Self::One(one),
            Self::One(other) if *other == one => Self::One(one),
            Self::One(_) | Self::Several => Self::Several,
        };
    }
}

/// Objects that only snapshots need, with their size on disk.
type Objects = HashMap<Vec<u8>, (u64, Needed)>;

impl Repo {
    /// What these snapshots hold; to be called with all there are, for what two of them need is needed by neither alone.
    pub(crate) fn weigh(&self, saved: &[Saved]) -> Result<Weights, GitError> {
        if saved.is_empty() {
            return Ok(Weights::default());
        }
        let (objects, pairs) = thread::scope(|scope| {
            let objects = scope.spawn(|| self.only_saved());
            let pairs = self.pairs(saved);
            (objects.join(), pairs)
        });
        let lost = |_| GitError::Io { call: "git rev-list".into(), why: "it was not read".into() };
        let (mut objects, pairs) = (objects.map_err(lost)??, pairs?);
        let mut need = |id: &[u8], one: usize| {
            if let Some((_, needed)) = objects.get_mut(id) {
                needed.also_by(one);
            }
        };
        let mut each = vec![Weight::default(); saved.len()];
        for (place, one) in saved.iter().enumerate() {
            need(one.commit.as_bytes(), place);
            need(one.tree.as_bytes(), place);
        }
        let list: Vec<_> = pairs.iter().collect();
        for some in list.chunks(AT_ONCE) {
            self.compare_trees(some.iter().map(|(pair, _)| *pair), |at, mode, id| {
                let places = some.get(at).map_or(&[][..], |(_, places)| places);
                for place in places {
                    need(id, *place);
                    each[*place].files += usize::from(mode != TREE);
                }
            })?;
        }
        for (size, needed) in objects.values() {
            if let Needed::One(place) = needed {
                each[*place].bytes += size;
            }
        }
        Ok(Weights { each, total: objects.values().map(|(size, _)| size).sum() })
    }

    /// The files of a snapshot that differ from the commit that it was taken on, with their lines.
    pub(crate) fn changes_in(&self, saved: &Saved) -> Result<Vec<Change>, GitError> {
        let base = saved.base.clone().map_or_else(|| self.nothing(), Ok)?;
        let args = ["diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", "--raw", "--numstat"];
        let out = self.long_call(&[&args[..], &[&base, &saved.tree]].concat()).run()?;
        let (mut kinds, mut changes) = (BTreeMap::new(), Vec::new());
        let mut parts = call::parts(&out);
        while let Some(part) = parts.next() {
            if part.first() == Some(&b':') {
                kinds.extend(parts.next().zip(part.last()).map(|(path, kind)| (path, char::from(*kind))));
                continue;
            }
            let mut fields = part.splitn(3, |byte| *byte == b'\t');
            let mut number = || fields.next().and_then(|field| call::text(field).parse().ok());
            let lines = number().zip(number());
            let Some(path) = fields.next() else { continue };
            let kind = kinds.get(path).copied().unwrap_or('M');
            changes.push(Change { kind, path: call::text(path), lines });
        }
        Ok(changes)
    }

    // The hash of no files.
    fn nothing(&self) -> Result<String, GitError> {
        self.call(&["mktree"]).line()
    }

    // The snapshots of each comparison: many are of the same files on the same commit.
    fn pairs(&self, saved: &[Saved]) -> Result<BTreeMap<(String, String), Vec<usize>>, GitError> {
        let nothing =
            if saved.iter().any(|one| one.base.is_none()) { self.nothing()? } else { String::new() };
        let mut pairs: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (place, one) in saved.iter().enumerate() {
            let base = one.base.as_ref().unwrap_or(&nothing).clone();
            pairs.entry((base, one.tree.clone())).or_default().push(place);
        }
        Ok(pairs)
    }

    // Tells for each entry that is new in a pair: which pair, what it is, and its hash.
    fn compare_trees<'a>(
        &self,
        pairs: impl Iterator<Item = &'a (String, String)>,
        mut tell: impl FnMut(usize, &[u8], &[u8]),
    ) -> Result<(), GitError> {
        let heads: Vec<String> = pairs.map(|(base, tree)| format!("{base} {tree}\n")).collect();
        let args = ["diff-tree", "--stdin", "-r", "-t", "-z", "--raw", "--no-renames"];
        let out = self.long_call(&args).input(heads.concat()).run()?;
        let (mut parts, mut next) = (call::parts(&out), 0);
        while let Some(mut part) = parts.next() {
            // A pair is named on a line of its own, before its first entry or the name of the next pair.
            while let Some(rest) = heads.get(next).and_then(|head| part.strip_prefix(head.as_bytes())) {
                (part, next) = (rest, next + 1);
            }
            // `:MODE MODE HASH HASH KIND`, then the path.
            let mut fields = part.split(|byte| *byte == b' ').skip(1).step_by(2);
            if let (Some(at), Some(mode), Some(id)) = (next.checked_sub(1), fields.next(), fields.next()) {
                parts.next();
                tell(at, mode, id);
            }
        }
        Ok(())
    }

    // What no other reference and no checked-out commit leads to.
    fn only_saved(&self) -> Result<Objects, GitError> {
        let (ours, not_ours) = (format!("--glob={FOLDER}*"), format!("--exclude={FOLDER}*"));
        let args = ["rev-list", "--objects", "--no-object-names", &ours, "--not", &not_ours, "--all"];
        let ids = self.long_call(&args).run()?;
        let args = ["cat-file", "--batch-check=%(objectname) %(objectsize:disk)"];
        let out = self.long_call(&args).input(ids).run()?;
        let sized = |line: &[u8]| {
            let (id, size) = line.split_at_checked(line.iter().position(|byte| *byte == b' ')?)?;
            let size = call::text(size).trim().parse().ok()?;
            Some((id.to_vec(), (size, Needed::Nobody)))
        };
        Ok(out.split(|byte| *byte == b'\n').filter_map(sized).collect())
    }
}

/// How git writes that an entry is a folder.
const TREE: &[u8] = b"040000";

#[cfg(test)]
#[path = "weigh_tests.rs"]
mod tests;
