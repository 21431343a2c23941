//! Fields of a report: the keys of a JSON object that has a `status`, and lines such as `Files created: a.rs, b.rs`.

use serde_json::Value;

use super::words::{hedged, words};
use super::{Change, Claim, ClaimKind};

/// What a field says something about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Files(Change),
    /// A check, by its kind.
    Check(&'static str),
    Commits,
}

/// The keys of each field, in lower case with spaces.
const KEYS: &[(Field, &str)] = &[
    (
        Field::Files(Change::Created),
        "files created|created files|new files|new file|files added|added files|created|file created",
    ),
    (
        Field::Files(Change::Touched),
        "files modified|modified files|files changed|changed files|files touched|files edited|files updated|\
         file changed|file modified|modified|changed|edited|updated",
    ),
    (
        Field::Files(Change::Deleted),
        "files deleted|deleted files|files removed|removed files|deleted|file deleted",
    ),
    (
        Field::Check("tests"),
        "tests|tests passed|tests pass|tests passing|all tests pass|all tests passed|test",
    ),
    (Field::Check("build"), "build|build passed|build passes|compiles"),
    (Field::Check("lint"), "lint|lint passed|clippy|linter"),
    (Field::Check("types"), "types|typecheck|type check|mypy"),
    (Field::Check("format"), "format|formatting"),
    (
        Field::Commits,
        "commit|commits|commit hash|commit hashes|commit sha|commit shas|git commit|git commits",
    ),
];

/// The field that a key names.
pub(super) fn field(key: &str) -> Option<Field> {
    let plain = key.replace(['_', '-'], " ").replace(['*', '`', '"'], "").to_lowercase();
    let plain = plain.trim();
    KEYS.iter().find(|(_, keys)| keys.split('|').any(|key| key == plain)).map(|(field, _)| *field)
}

/// The key and the value of a line that is a field.
pub(super) fn line(text: &str) -> Option<(Field, &str)> {
    let (key, value) = text.split_once(':')?;
    Some((field(key)?, value.trim().trim_start_matches("**").trim()))
}

/// What the value of such a line claims.
pub(super) fn of_line(field: Field, value: &str) -> Vec<ClaimKind> {
    match field {
        Field::Files(change) => files(value, change),
        Field::Check(kind) => passes(value).then(|| pass(kind)).into_iter().collect(),
        Field::Commits if hedged(value) => Vec::new(),
        Field::Commits => words(value).iter().filter_map(|word| word.hash()).map(commit).collect(),
    }
}

// A list of paths, each with a note in parentheses at most.
fn files(value: &str, change: Change) -> Vec<ClaimKind> {
    if hedged(value) {
        return Vec::new();
    }
    let pieces = value.split([',', ';']).flat_map(|piece| piece.split(" and "));
    let named: Option<Vec<ClaimKind>> = pieces
        .map(|piece| match words(piece).as_slice() {
            [only] => only.path(),
            [first, note, ..] if note.0.starts_with('(') => first.path(),
            _ => None,
        })
        .map(|path| path.map(|path| ClaimKind::File { path, change }))
        .collect();
    named.unwrap_or_default()
}

/// Whether a value says that a check passes, and nothing else.
fn passes(value: &str) -> bool {
    const FILLS: &[&str] = &["all", "the", "tests", "test", "now", "are", "is", ""];
    const PASSES: &[&str] =
        &["pass", "passes", "passed", "passing", "green", "ok", "true", "yes", "success", "clean"];
    if value.chars().any(|c| matches!(c, '✅' | '✓' | '✔')) && words(value).len() == 1 {
        return true;
    }
    let bare = words(value).into_iter().map(|word| word.bare());
    let said: Vec<String> =
        bare.filter(|word| !FILLS.contains(&word.as_str()) && word.parse::<u64>().is_err()).collect();
    !said.is_empty() && said.iter().all(|word| PASSES.contains(&word.as_str()))
}

pub(super) fn pass(kind: &str) -> ClaimKind {
    ClaimKind::TestsPass { gate: Some(kind.to_owned()), only: None }
}

pub(super) fn commit(hash: String) -> ClaimKind {
    ClaimKind::Committed { what: Some(hash), all: false, pushed: false }
}

/// A text without its reports, and what their fields claim.
pub(super) fn cut_reports(text: &str) -> (String, Vec<Claim>) {
    let (mut kept, mut claims, mut rest) = (String::new(), Vec::new(), text);
    while let Some(open) = rest.find('{') {
        let (before, object) = rest.split_at(open);
        kept.push_str(before);
        let mut values = serde_json::Deserializer::from_str(object).into_iter::<Value>();
        let report = values.next().and_then(Result::ok).filter(|value| value.get("status").is_some());
        let (cut, after) = object.split_at(if report.is_some() { values.byte_offset() } else { 1 });
        match report {
            Some(report) => claims.extend(of_report(&report)),
            None => kept.push_str(cut),
        }
        rest = after;
    }
    kept.push_str(rest);
    (kept, claims)
}

fn of_report(report: &Value) -> Vec<Claim> {
    let Some(fields) = report.as_object() else { return Vec::new() };
    let mut claims = Vec::new();
    for (key, value) in fields {
        let Some(field) = field(key) else { continue };
        for said in texts(value) {
            let kinds = match (field, value) {
                (Field::Check(kind), Value::Bool(true)) => vec![pass(kind)],
                (Field::Files(change), _) => {
                    let path = words(&said).first().and_then(|word| word.path());
                    path.map(|path| ClaimKind::File { path, change }).into_iter().collect()
                }
                _ => of_line(field, &said),
            };
            let text = format!("{key}: {said}");
            claims.extend(kinds.into_iter().map(|kind| Claim { kind, text: text.clone(), section: None }));
        }
    }
    claims
}

// A value is one text or a list of them; an entry may be an object with a name.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Bool(is) => vec![is.to_string()],
        Value::Number(number) => vec![number.to_string()],
        Value::String(text) => vec![text.clone()],
        Value::Array(entries) => entries.iter().flat_map(texts).collect(),
        Value::Object(entry) => {
            let names =
                ["path", "file", "hash", "sha", "id", "commit"].iter().find_map(|name| entry.get(*name));
            names.map(texts).unwrap_or_default()
        }
    }
}
