//! Fields of a report, whatever its shape: the keys of a JSON object, lines such as `Files created: a.rs, b.rs`, `tests: pass`
//! or `fmt=pass`, and rows of tables.

use super::statements::{Place, passing, statements};
use super::words::{Word, hedged, listed, passes, words};
use super::{Change, ClaimKind};
use crate::checkpoint::plain;

/// What a field says something about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    /// Files; how they were changed, unless each entry says so.
    Files(Option<Change>),
    Commits,
    /// Checks, each with its name.
    Checks,
}

/// The field that a key names.
pub(super) fn field(key: &str) -> Option<Field> {
    const FILES: &str = "file files path paths artifact artifacts datei dateien fichier fichiers archivo archivos ficheros \
                         two three four five the following list";
    const COMMITS: &str = "commit commits committed hash hashes sha shas git id ids last latest new two three \
                           four";
    const CHECKS: &str = "gate gates check checks verification validation all result results";
    let key = plain_key(key);
    let all = words(&key);
    let every = |is: &dyn Fn(&Word<'_>) -> bool| !all.is_empty() && all.iter().all(is);
    let some = |starts: &[&str]| all.iter().any(|word| starts.iter().any(|start| word.0.starts_with(start)));
    let number = |word: &Word<'_>| word.0.parse::<u32>().is_ok();
    if every(&|word| listed(COMMITS, word.0)) && (some(&["commit"]) || key == "sha") {
        return Some(Field::Commits);
    }
    if every(&|word| listed(FILES, word.0) || word.change().is_some() || number(word)) {
        let change = all.iter().find_map(|word| word.change());
        return Some(Field::Files(change.map(|c| if c == Change::Modified { Change::Touched } else { c })));
    }
    let checks = every(&|word| listed(CHECKS, word.0)) && some(&["gate", "check", "verif", "valid"]);
    checks.then_some(Field::Checks)
}

// `files_created`, `filesCreated` and `**Files created**` are one key.
fn plain_key(key: &str) -> String {
    let mut words = String::new();
    for c in key.chars() {
        if c.is_uppercase() && words.ends_with(char::is_lowercase) {
            words.push(' ');
        }
        words.push(if matches!(c, '_' | '-' | '*' | '`' | '"') { ' ' } else { c });
    }
    plain(&words.to_lowercase())
}

/// The check that a key names: a kind such as `tests`, for `tests_passed` as well; else a name or command as it is.
pub(super) fn check(key: &str) -> Option<String> {
    const KINDS: [(&str, &str); 5] = [
        ("tests", "tests test suite specs spec"),
        ("build", "build compiles"),
        ("lint", "lint linter linting"),
        ("types", "types type typecheck"),
        ("format", "format formatting"),
    ];
    const FILLS: &str = "status state result results outcome summary note notes all ok success done completed committed \
                         pass passed passes passing green run check gate gates checks the my our whole entire full";
    let words = plain_key(key);
    let said: Vec<&str> = words.split(' ').filter(|word| !listed(FILLS, word)).collect();
    if said.concat().is_empty() {
        return None;
    }
    let kind = KINDS.iter().find(|(_, known)| said.iter().all(|word| listed(known, word)));
    let bare = key.trim_matches(['*', '`', '"', ' ', '-']).to_lowercase();
    let command = key.trim_start().starts_with('`') || bare.split(' ').count() <= 3;
    kind.map(|(kind, _)| (*kind).to_owned()).or_else(|| command.then_some(bare))
}

/// Whether a check is one of a kind.
pub(super) fn is_kind(kind: &str) -> bool {
    ["tests", "build", "lint", "types", "format"].contains(&kind)
}

/// Whether a line is a field, with or without a value.
pub(super) fn is_line(text: &str) -> bool {
    let named = text.split_once(':').is_some_and(|(key, _)| field(key).is_some());
    let verb = words(text).first().is_some_and(|word| word.change().is_some());
    named || verb || text.starts_with("STATUS:") || of_line(text).is_some()
}

/// What a line claims; nothing unless it is a field with a value.
pub(super) fn of_line(text: &str) -> Option<Vec<ClaimKind>> {
    let pairs = |text: &str| -> Vec<ClaimKind> {
        let pairs = text.split_whitespace().filter_map(|word| word.split_once('='));
        pairs.filter_map(|(key, value)| of_line(&format!("{key}: {value}"))).flatten().collect()
    };
    if words(text).first().is_some_and(|word| word.0.contains('=')) {
        return Some(pairs(text)).filter(|found| !found.is_empty());
    }
    // "tests: pass, lint: pass".
    for mark in [", ", " | "].into_iter().filter(|mark| text.trim_matches(['|', ' ']).contains(mark)) {
        let parts = text.split(mark).map(of_line);
        if let Some(parts) =
            parts.collect::<Option<Vec<Vec<ClaimKind>>>>().filter(|parts| !parts[0].is_empty())
        {
            return Some(parts.concat());
        }
    }
    let row = text.starts_with('|').then(|| text.trim_matches(['|', ' ']).split_once('|')).flatten();
    let row = row.map(|(key, value)| (key, value.split('|').next().unwrap_or_default()));
    let marked = [":", " = ", " – ", " — ", " .."].iter().find_map(|mark| text.split_once(mark));
    let (key, value) = row.or(marked)?;
    let value = value.trim_matches([' ', '.']).trim_start_matches("**").trim();
    let field = field(key);
    if value.is_empty() || (hedged(value) && !passes(value)) {
        return field.filter(|_| !value.is_empty()).map(|_| Vec::new());
    }
    match field {
        Some(Field::Files(change)) => Some(files(value, change)).filter(|found| !found.is_empty()),
        Some(Field::Commits) => {
            Some(words(value).iter().filter_map(|word| word.hash()).map(commit).collect())
        }
        Some(Field::Checks) if passes(value) => Some(vec![ClaimKind::TestsPass { gate: None }]),
        Some(Field::Checks) if value.contains('=') => Some(pairs(value)),
        Some(Field::Checks) => Some(statements(value, Place::Finished)).filter(|found| !found.is_empty()),
        None if passes(value) => check(key).map(|kind| vec![pass(kind)]),
        None => check(key).filter(|kind| kind == "tests").map(|_| passing(value).into_iter().collect()),
    }
}

/// A list of paths, each with a note in parentheses at most.
pub(super) fn files(value: &str, change: Option<Change>) -> Vec<ClaimKind> {
    let pieces = value.split([',', ';']).flat_map(|piece| piece.split(" and "));
    let named: Option<Vec<ClaimKind>> = pieces
        .map(|piece| match words(piece).as_slice() {
            [only] => Some((only.path()?, change)),
            [first, note, ..] if note.0.starts_with('(') => Some((first.path()?, change.or(note.change()))),
            _ => None,
        })
        .map(|named| named.map(|(path, change)| file(path, change.unwrap_or(Change::There))))
        .collect();
    named.unwrap_or_default()
}

pub(super) fn file(path: String, change: Change) -> ClaimKind {
    ClaimKind::File { path, change }
}

pub(super) fn pass(kind: impl Into<String>) -> ClaimKind {
    ClaimKind::TestsPass { gate: Some(kind.into()) }
}

pub(super) fn commit(hash: String) -> ClaimKind {
    ClaimKind::Committed { what: Some(hash) }
}
