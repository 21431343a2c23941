//! Finding the files that an agent means: it says `a.rs` for `src/a.rs`, names folders, and writes absolute paths.

use std::collections::BTreeMap;

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

/// What a path that an agent named can mean: the file itself, else files that end so, else what is below it as a folder, else what
/// is called so apart from case and ending.
pub(super) fn find(path: &str, evidence: &Evidence) -> Meant {
    let Some(path) = inside(path, evidence) else { return Meant::Outside };
    let path = path.as_str();
    let is_folder = path.ends_with('/') || !name(path).contains('.');
    let below = |file: &str| {
        let after = |file: &str| {
            file.strip_prefix(path.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
        };
        after(file) || file.match_indices('/').any(|(at, _)| after(&file[at + 1..]))
    };
    let loosely = |file: &str| {
        let (stem, said) = (file.rsplit_once('.').map_or(file, |(stem, _)| stem), path.trim_end_matches('/'));
        let bare = !said.contains(['.', '/']) && name(stem).eq_ignore_ascii_case(said);
        bare || file.eq_ignore_ascii_case(said) || name(file).eq_ignore_ascii_case(said)
    };
    let all = |is: &dyn Fn(&str) -> bool| {
        let mut found: BTreeMap<&str, Became> = BTreeMap::new();
        files(evidence).filter(|(file, _)| is(file)).for_each(|(file, became)| {
            found.entry(file).or_insert(became);
        });
        found.into_values().collect::<Vec<_>>()
    };
    let mut found = all(&|file| file == path);
    if found.is_empty() {
        found = all(&|file| ends(file, path) || (file.contains('/') && ends(path, file)));
    }
    if found.is_empty() && is_folder {
        // A folder became what its most telling file became.
        found = all(&below).into_iter().min().into_iter().collect();
    }
    if found.is_empty() {
        found = all(&loosely);
    }
    if found.is_empty() && ignored(path, evidence) { Meant::Ignored } else { Meant::Files(found) }
}

fn ends(longer: &str, shorter: &str) -> bool {
    longer.strip_suffix(shorter).is_some_and(|before| before.ends_with('/'))
}

fn ignored(path: &str, evidence: &Evidence) -> bool {
    evidence.ignored.iter().any(|ignored| {
        let ignored = ignored.trim_start_matches("./").trim_end_matches('/');
        path.strip_prefix(ignored).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
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
