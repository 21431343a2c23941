//! Fields of a report, whatever its shape: the keys of a JSON object, and lines such as `Files created: a.rs, b.rs`,
//! `tests: pass` or `fmt=pass`.

use serde_json::{Map, Value};

use super::words::{Word, hedged, listed, passes, words};
use super::{Change, Claim, ClaimKind, Counted};

/// What a field says something about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    /// Files; how they were changed, unless each entry says so.
    Files(Option<Change>),
    Commits,
    /// Checks, each with its name.
    Checks,
    /// Parts of one check.
    Check(String),
}

/// The field that a key names.
pub(super) fn field(key: &str) -> Option<Field> {
    const FILES: &str = "file files path paths datei dateien fichier fichiers archivo archivos ficheros \
                         two three four five the following list";
    const COMMITS: &str = "commit commits hash hashes sha shas git id ids last latest new";
    const CHECKS: &str = "gate gates check checks verification validation";
    let key = plain_key(key);
    let all = words(&key);
    let every = |is: &dyn Fn(&Word<'_>) -> bool| !all.is_empty() && all.iter().all(is);
    let change = all.iter().find_map(|word| word.change());
    let change = change.map(|change| if change == Change::Modified { Change::Touched } else { change });

    let commits =
        every(&|word| listed(COMMITS, word.0)) && all.iter().any(|word| word.0.starts_with("commit"));
    if commits {
        return Some(Field::Commits);
    }
    let number = |word: &Word<'_>| word.0.parse::<u32>().is_ok();
    if every(&|word| listed(FILES, word.0) || word.change().is_some() || number(word)) {
        return Some(Field::Files(change));
    }
    every(&|word| listed(CHECKS, word.0)).then_some(Field::Checks)
}

// `files_created`, `filesCreated` and `**Files created**` are one key.
fn plain_key(key: &str) -> String {
    let mut plain = String::new();
    for c in key.chars() {
        if c.is_uppercase() && plain.ends_with(char::is_lowercase) {
            plain.push(' ');
        }
        plain.push(if matches!(c, '_' | '-' | '*' | '`' | '"') { ' ' } else { c });
    }
    super::units::plain(&plain.to_lowercase())
}

/// The kind of check that a key names: `tests_passed` is about tests; another name or a command is its own kind.
pub(super) fn check(key: &str) -> Option<String> {
    const KINDS: [(&str, &str); 5] = [
        ("tests", "tests test suite"),
        ("build", "build compiles"),
        ("lint", "lint linter"),
        ("types", "types type typecheck"),
        ("format", "format formatting"),
    ];
    const FILLS: &str = "status state result results outcome summary note notes all ok success done completed committed \
                         pass passed passes passing run check";
    let plain = plain_key(key);
    let said: Vec<&str> = plain.split(' ').filter(|word| !listed(FILLS, word)).collect();
    let kind = KINDS.iter().find(|(_, known)| said.iter().all(|word| listed(known, word)));
    let bare = key.trim_matches(['*', '`', '"', ' ', '-']).to_lowercase();
    let command = key.trim_start().starts_with('`') || bare.split(' ').count() <= 3;
    match kind {
        _ if said.concat().is_empty() => None,
        Some((kind, _)) => Some((*kind).to_owned()),
        None => command.then_some(bare),
    }
}

/// Whether a line is a field, with or without a value.
pub(super) fn is_line(text: &str) -> bool {
    let named = text.split_once(':').is_some_and(|(key, _)| field(key).is_some());
    named || text.starts_with("STATUS:") || of_line(text).is_some()
}

/// What a line claims; nothing unless it is a field with a value.
pub(super) fn of_line(text: &str) -> Option<Vec<ClaimKind>> {
    let pairs = |text: &str| {
        let pairs = text.split_whitespace().filter_map(|word| word.split_once('='));
        let passed = pairs.filter(|(_, value)| passes(value)).filter_map(|(key, _)| check(key));
        passed.map(pass).collect::<Vec<ClaimKind>>()
    };
    if words(text).first().is_some_and(|word| word.0.contains('=')) {
        return Some(pairs(text)).filter(|found| !found.is_empty());
    }
    // "tests: pass, lint: pass".
    if text.contains(", ") {
        let parts: Option<Vec<Vec<ClaimKind>>> =
            text.split(", ").map(|part| of_line(part).filter(|found| !found.is_empty())).collect();
        if let Some(parts) = parts {
            return Some(parts.concat());
        }
    }
    let (key, value) = text.split_once(':').or_else(|| text.split_once(" = "))?;
    let value = value.trim().trim_start_matches("**").trim();
    let quiet = value.is_empty() || hedged(value);
    match field(key) {
        Some(_) if value.is_empty() => None,
        Some(_) if quiet => Some(Vec::new()),
        Some(Field::Files(change)) => Some(files(value, change)),
        Some(Field::Commits) => {
            Some(words(value).iter().filter_map(|word| word.hash()).map(commit).collect())
        }
        Some(Field::Checks) if passes(value) => Some(vec![ClaimKind::TestsPass { gate: None, only: None }]),
        Some(Field::Checks) if !value.contains('=') => None,
        Some(Field::Checks | Field::Check(_)) => Some(pairs(value)),
        None if passes(value) => check(key).map(|kind| vec![pass(kind)]),
        None => check(key).filter(|kind| kind == "tests" && !quiet).map(|_| Vec::new()),
    }
}

// A list of paths, each with a note in parentheses at most.
fn files(value: &str, change: Option<Change>) -> Vec<ClaimKind> {
    let pieces = value.split([',', ';']).flat_map(|piece| piece.split(" and "));
    let named: Option<Vec<Option<ClaimKind>>> = pieces
        .map(|piece| match words(piece).as_slice() {
            [only] => Some((only.path()?, change)),
            [first, note, ..] if note.0.starts_with('(') => Some((first.path()?, change.or(note.change()))),
            _ => None,
        })
        .map(|named| named.map(|(path, change)| change.map(|change| ClaimKind::File { path, change })))
        .collect();
    named.into_iter().flatten().flatten().collect()
}

pub(super) fn pass(kind: impl Into<String>) -> ClaimKind {
    ClaimKind::TestsPass { gate: Some(kind.into()), only: None }
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
        let report = values.next().and_then(Result::ok).and_then(|value| Report::read(&value));
        let (cut, after) = object.split_at(if report.is_some() { values.byte_offset() } else { 1 });
        match report {
            Some(_) if is_example(before, cut) => {}
            Some(report) => claims.extend(report.claims),
            None => kept.push_str(cut),
        }
        rest = after;
    }
    kept.push_str(rest);
    (kept, claims)
}

// What a report looks like is no report.
fn is_example(before: &str, object: &str) -> bool {
    let line = before.trim_end().trim_end_matches("```json").trim_end_matches("```").trim_end();
    let line = line.lines().last().unwrap_or_default().to_lowercase();
    let said = ["example", "schema", "format", "template", "sample", "such as", "fixture", "input"]
        .iter()
        .any(|word| line.contains(word));
    said || object.contains("path/to/") || object.contains("\"<")
}

/// What was read of a JSON object.
#[derive(Default)]
struct Report {
    claims: Vec<Claim>,
    /// How many keys are those of a report.
    known: usize,
}

impl Report {
    fn read(value: &Value) -> Option<Self> {
        let mut report = Self::default();
        report.object(value.as_object()?, "", None);
        report.nothing(value);
        let status = ["status", "state", "statut"].iter().any(|key| value.get(*key).is_some());
        (value.get("status").is_some() || report.known + usize::from(status) >= 2).then_some(report)
    }

    // Lists of files that are all empty, an empty list of commits, and how many commits there are.
    fn nothing(&mut self, value: &Value) {
        let lists = |is: Field| {
            let of = value.as_object().into_iter().flatten();
            let of = of.filter(move |(key, value)| value.is_array() && field(key) == Some(is.clone()));
            of.map(|(_, value)| value.as_array().map_or(0, Vec::len)).collect::<Vec<_>>()
        };
        let changes = [Change::Created, Change::Touched].map(|change| lists(Field::Files(Some(change))));
        let files = self.claims.iter().any(|claim| matches!(claim.kind, ClaimKind::File { .. }));
        if changes.iter().all(|lists| !lists.is_empty()) && !files {
            self.says("files", "none", ClaimKind::Count { of: Counted::Files, number: 0 });
        }
        let count = ["commit_count", "commits_count"].iter().find_map(|key| value.get(*key)?.as_u64());
        let none = lists(Field::Commits).contains(&0).then_some(0);
        if let Some(number) = count.or(none) {
            self.says("commits", &number.to_string(), ClaimKind::Count { of: Counted::Commits, number });
        }
    }

    fn says(&mut self, key: &str, said: &str, kind: ClaimKind) {
        self.claims.push(Claim { kind, text: format!("{key}: {said}"), section: None });
    }

    fn value(&mut self, value: &Value, key: &str, field: Option<&Field>) {
        match (value, field) {
            (Value::Array(entries), _) => entries.iter().for_each(|entry| self.value(entry, key, field)),
            (Value::Object(object), _) => self.object(object, key, field),
            (Value::String(said), Some(Field::Files(Some(change)))) => {
                let path = words(said).first().and_then(|word| word.path());
                let one = |path| vec![ClaimKind::File { path, change: *change }];
                let listed = files(said, Some(*change));
                for kind in if listed.is_empty() { path.map(one).unwrap_or_default() } else { listed } {
                    self.says(key, said, kind);
                }
            }
            (Value::String(said), Some(Field::Commits)) => {
                let hash = words(said).first().and_then(|word| word.hash());
                if let Some(hash) = hash {
                    self.says(key, said, commit(hash));
                }
            }
            (said, field) => {
                let kind = if let Some(Field::Check(kind)) = field { Some(kind.clone()) } else { check(key) };
                let kind = kind.or_else(|| (field == Some(&Field::Checks)).then(|| key.to_lowercase()));
                let Some(kind) = kind.filter(|_| passing(said)) else { return };
                if self::field(key) == Some(Field::Checks) {
                    return self.says(
                        key,
                        &said.to_string(),
                        ClaimKind::TestsPass { gate: None, only: None },
                    );
                }
                if field.is_some() || is_kind(&kind) || said.is_string() {
                    self.known += 1;
                    self.says(key, &said.to_string(), pass(kind));
                }
            }
        }
    }

    fn entry(&mut self, key: &str, value: &Value, field: Option<&Field>) {
        let found = of_path(key, value, field);
        let own = self::field(key).or_else(|| check(key).filter(|kind| is_kind(kind)).map(Field::Check));
        self.known += usize::from(matches!(own, Some(Field::Files(_) | Field::Commits | Field::Checks)));
        if found.is_empty() {
            let inherited = field.filter(|field| matches!(field, Field::Checks | Field::Check(_)));
            return self.value(value, key, own.as_ref().or(inherited));
        }
        self.known += 1;
        for kind in found {
            self.says(key, &value.to_string(), kind);
        }
    }

    fn object(&mut self, object: &Map<String, Value>, key: &str, field: Option<&Field>) {
        let text = |names: &[&str]| names.iter().find_map(|name| object.get(*name)?.as_str());
        if let Some(path) = text(&["path", "file", "filename"]) {
            let said = text(&["kind", "action", "change", "type", "status", "operation"]);
            let own = said.and_then(|said| Word(said).change());
            let listed = if let Some(Field::Files(change)) = field { *change } else { None };
            if let Some((path, change)) = Word(path).path().zip(own.or(listed)) {
                self.known += 1;
                self.says(key, &path.clone(), ClaimKind::File { path, change });
            }
        } else if let (Some(from), Some(to)) = (text(&["from", "old"]), text(&["to", "new"])) {
            for (path, change) in [(from, Change::Deleted), (to, Change::Created)] {
                if let Some(path) = Word(path).path() {
                    self.known += 1;
                    self.says(key, &format!("{from} to {to}"), ClaimKind::File { path, change });
                }
            }
        } else if let Some(hash) =
            text(&["hash", "sha", "id", "commit"]).filter(|_| field == Some(&Field::Commits))
        {
            self.value(&Value::String(hash.to_owned()), key, field);
        } else if object_passes(object) {
            let named = check(key).filter(|kind| kind == "tests" || field.is_none());
            let kind = text(&["name", "gate", "check", "cmd", "command"]).map(str::to_lowercase);
            if let Some(kind) = if key.is_empty() { None } else { kind.or(named) } {
                self.known += 1;
                self.says(key, &kind.clone(), pass(kind));
            }
        } else {
            for (key, value) in object {
                self.entry(key, value, field);
            }
        }
    }
}

// `"files": {"a.rs": "created"}`: the keys are paths.
fn of_path(key: &str, value: &Value, field: Option<&Field>) -> Vec<ClaimKind> {
    let Some((path, Field::Files(listed))) = Word(key).path().zip(field) else { return Vec::new() };
    let said = value.as_str().unwrap_or_default();
    let change = words(said).first().and_then(|word| word.change()).or(*listed);
    change.map(|change| ClaimKind::File { path, change }).into_iter().collect()
}

pub(super) fn is_kind(kind: &str) -> bool {
    ["tests", "build", "lint", "types", "format"].contains(&kind)
}

fn passing(value: &Value) -> bool {
    match value {
        Value::Bool(is) => *is,
        Value::String(said) => {
            let last = said.rsplit(':').next().unwrap_or_default();
            passes(said) || (passes(last) && !hedged(said))
        }
        Value::Object(object) => object_passes(object),
        Value::Null | Value::Number(_) | Value::Array(_) => false,
    }
}

fn object_passes(object: &Map<String, Value>) -> bool {
    let fails = object.get("failed").is_some_and(|failed| failed.as_u64() != Some(0));
    let zero = ["exit_code", "exit", "exitCode"].iter().any(|key| object.get(*key) == Some(&Value::from(0)));
    let said =
        ["passed", "pass", "ok", "success", "status", "result"].iter().find_map(|key| object.get(*key));
    !fails && (zero || said.is_some_and(|said| passing(said) || said.as_u64().is_some_and(|count| count > 0)))
}
