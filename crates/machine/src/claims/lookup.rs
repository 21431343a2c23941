//! Finding the files that an agent means: it says `a.rs` for `src/a.rs`, names folders, and writes absolute paths.

use std::collections::{BTreeMap, BTreeSet};

use super::Evidence;

/// What became of a file since the run began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Became {
    Created,
    Modified,
    Deleted,
    Unchanged,
}

/// What a path that was named can mean.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meant {
    /// Something that is not in the work tree.
    Outside,
    /// Something that git does not look at.
    Ignored,
    /// These files, each once. Empty: there is none.
    Files(Vec<Became>),
}

/// The files of the evidence, by the last part of their names; only those that were asked for.
pub(super) struct Lookup<'a> {
    evidence: &'a Evidence,
    by_name: BTreeMap<&'a str, BTreeMap<&'a str, Became>>,
}

impl<'a> Lookup<'a> {
    /// One pass over the evidence, whatever the number of claims.
    pub(super) fn new<'p>(evidence: &'a Evidence, paths: impl Iterator<Item = &'p str>) -> Self {
        let wanted: BTreeSet<String> =
            paths.filter_map(|p| inside(p, evidence)).map(|p| name(&p).to_owned()).collect();
        let mut by_name: BTreeMap<&str, BTreeMap<&str, Became>> = BTreeMap::new();
        for (path, became) in files(evidence) {
            let name = name(path);
            if wanted.contains(name) {
                by_name.entry(name).or_default().entry(path).or_insert(became);
            }
        }
        Self { evidence, by_name }
    }

    /// What a path that an agent named can mean.
    pub(super) fn find(&self, path: &str) -> Meant {
        let Some(path) = inside(path, self.evidence) else { return Meant::Outside };
        let path = path.as_str();
        let named = self.by_name.get(name(path));
        if let Some(became) = named.and_then(|files| files.get(path)) {
            return Meant::Files(vec![*became]);
        }
        let ends = |longer: &str, shorter: &str| {
            longer.len() > shorter.len()
                && longer.ends_with(shorter)
                && longer.as_bytes()[longer.len() - shorter.len() - 1] == b'/'
        };
        let mut found: Vec<Became> = named
            .into_iter()
            .flatten()
            .filter(|(file, _)| ends(file, path) || (file.contains('/') && ends(path, file)))
            .map(|(_, became)| *became)
            .collect();
        if found.is_empty() {
            found = self.below(path);
        }
        if found.is_empty() {
            found = self.loosely(path);
        }
        if found.is_empty() && self.ignored(path) { Meant::Ignored } else { Meant::Files(found) }
    }

    // A folder became what its most telling file became; a pattern is the part before and after its star.
    fn below(&self, path: &str) -> Vec<Became> {
        let folder = path.ends_with('/') || path.contains('*') || !name(path).contains('.');
        if !folder {
            return Vec::new();
        }
        let (head, tail) = match path.split_once('*') {
            Some((head, tail)) => (head.to_owned(), tail.rsplit('*').next().unwrap_or_default()),
            None => (format!("{}/", path.trim_end_matches('/')), ""),
        };
        let hit = |file: &str| {
            let at = file.find(&head).filter(|at| *at == 0 || file.as_bytes()[at - 1] == b'/');
            at.is_some() && file.ends_with(tail)
        };
        files(self.evidence)
            .filter(|(file, _)| hit(file))
            .map(|(_, became)| became)
            .min()
            .into_iter()
            .collect()
    }

    // "the README" is `README.md`, and `readme.md` too.
    fn loosely(&self, path: &str) -> Vec<Became> {
        let said = path.trim_end_matches('/').to_lowercase();
        let hit = |file: &str| {
            let file = file.to_lowercase();
            let stem = file.rsplit_once('.').map_or(file.as_str(), |(stem, _)| stem);
            let whole = file == said || name(&file) == said;
            whole || (!said.contains('.') && !said.contains('/') && name(stem) == said)
        };
        let found: BTreeMap<&str, Became> = files(self.evidence).filter(|(file, _)| hit(file)).fold(
            BTreeMap::new(),
            |mut found, (file, became)| {
                found.entry(file).or_insert(became);
                found
            },
        );
        found.into_values().collect()
    }

    fn ignored(&self, path: &str) -> bool {
        self.evidence.ignored.iter().any(|i| {
            let i = i.trim_start_matches("./").trim_end_matches('/');
            path == i || path.strip_prefix(i).is_some_and(|rest| rest.starts_with('/'))
        })
    }
}

// Changed files come first, so that the tree's own list adds only what did not change.
fn files(evidence: &Evidence) -> impl Iterator<Item = (&str, Became)> {
    fn each(paths: &[String], became: Became) -> impl Iterator<Item = (&str, Became)> {
        paths.iter().map(move |path| (path.as_str(), became))
    }
    let created = each(&evidence.created, Became::Created);
    let modified = each(&evidence.modified, Became::Modified);
    let deleted = each(&evidence.deleted, Became::Deleted);
    let tree = each(&evidence.tree, Became::Unchanged);
    created.chain(modified).chain(deleted).chain(tree)
}

fn name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit('/').next().unwrap_or(path)
}

// The path below the work tree, or nothing when it is somewhere else.
fn inside(path: &str, evidence: &Evidence) -> Option<String> {
    let path = path.replace('\\', "/");
    let mut path = path.as_str();
    if let Some(root) = evidence.root.as_deref().map(|r| r.trim_end_matches('/')).filter(|r| !r.is_empty()) {
        path = path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path);
    }
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    let drive = path.as_bytes().get(1) == Some(&b':');
    let away = path.starts_with(['/', '~', '$']) || path.split('/').any(|part| part == "..") || drive;
    (!away && !path.is_empty()).then(|| path.to_owned())
}
