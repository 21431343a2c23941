//! Reports in JSON, whatever their shape: every key is a field, wherever it stands.

use serde_json::{Map, Value};

use super::fields::{Field, check, commit, field, file, files, is_kind, pass};
use super::statements::{Place, statements};
use super::words::{Word, hedged, listed, passes, words};
use super::{Change, Claim, ClaimKind, Counted};
use crate::checkpoint::sentences;

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

type Object = Map<String, Value>;

fn text<'v>(object: &'v Object, names: &[&str]) -> Option<&'v str> {
    names.iter().find_map(|name| object.get(*name)?.as_str())
}

impl Report {
    fn read(value: &Value) -> Option<Self> {
        let object = value.as_object()?;
        let mut report = Self::default();
        report.object("", object, None);
        report.nothing(object);
        let status = ["status", "state", "statut", "done"].iter().any(|key| object.contains_key(*key));
        (object.contains_key("status") || report.known + usize::from(status) >= 2).then_some(report)
    }

    fn says(&mut self, key: &str, said: &str, kind: ClaimKind) {
        self.claims.push(Claim { kind, text: format!("{key}: {said}"), section: None });
    }

    // Lists of files that are all empty, an empty list of commits, and how many commits there are.
    fn nothing(&mut self, object: &Object) {
        let lists = |is: Field| {
            let of = object.iter().filter(move |(key, _)| field(key) == Some(is.clone()));
            of.filter_map(|(_, value)| value.as_array().map(Vec::len)).collect::<Vec<_>>()
        };
        let changes = [Change::Created, Change::Touched].map(|change| lists(Field::Files(Some(change))));
        let files = self.claims.iter().any(|claim| matches!(claim.kind, ClaimKind::File { .. }));
        if changes.iter().all(|lists| !lists.is_empty()) && !files {
            self.says("files", "none", ClaimKind::Count { of: Counted::Files, number: 0 });
        }
        let count = ["commit_count", "commits_count"].iter().find_map(|key| object.get(*key)?.as_u64());
        if let Some(number) = count.or(lists(Field::Commits).contains(&0).then_some(0)) {
            self.says("commits", &number.to_string(), ClaimKind::Count { of: Counted::Commits, number });
        }
    }

    fn object(&mut self, key: &str, object: &Object, above: Option<&Field>) {
        const DONE: &str = "completed complete done success passed pass ok";
        let status = text(object, &["status", "state"]);
        let finished = status.is_none_or(|said| listed(DONE, &said.to_lowercase()));
        let listed = if let Some(Field::Files(change)) = above { *change } else { None };
        let change = || text(object, &["op", "action", "change", "type", "status", "operation", "kind"]);
        if let Some(path) = text(object, &["path", "file", "filename"]).and_then(|path| Word(path).place()) {
            if let Some(change) = change().and_then(done).or(listed) {
                self.known(key, &path.clone(), file(path, change));
            }
        } else if let (Some(from), Some(to)) = (text(object, &["from", "old"]), text(object, &["to", "new"]))
        {
            for (path, change) in [(from, Change::Deleted), (to, Change::Created)] {
                if let Some(path) = Word(path).path() {
                    self.known(key, &format!("{from} to {to}"), file(path, change));
                }
            }
        } else if let Some(hash) = text(object, &["hash", "sha", "id", "commit"])
            && above == Some(&Field::Commits)
        {
            self.text(key, hash, above);
        } else if !key.is_empty() && passed(object) {
            let name = text(object, &["name", "gate", "check", "cmd", "command"]).and_then(check);
            if let Some(name) = name.or_else(|| check(key).filter(|name| is_kind(name) || above.is_none())) {
                self.known(key, &name.clone(), pass(name));
            }
        } else if finished || key.is_empty() {
            // The files of a task that is finished are those that it changed.
            let task = !key.is_empty() && status.is_some() && finished;
            for (key, value) in object {
                if finished || !is_note(key) {
                    self.entry(key, value, above, task);
                }
            }
        }
    }

    fn known(&mut self, key: &str, said: &str, kind: ClaimKind) {
        self.known += 1;
        self.says(key, said, kind);
    }

    fn entry(&mut self, key: &str, value: &Value, above: Option<&Field>, task: bool) {
        // `"files": {"a.rs": "created"}`: the keys are paths.
        if let Some((path, Field::Files(listed))) = Word(key).path().zip(above) {
            let said = value.as_str().and_then(|said| words(said).first().and_then(|word| word.change()));
            if let Some(change) = said.or(*listed) {
                return self.known(key, &value.to_string(), file(path, change));
            }
        }
        let own = field(key);
        let own = if own == Some(Field::Files(None)) && task {
            Some(Field::Files(Some(Change::Touched)))
        } else {
            own
        };
        self.known += usize::from(own.is_some());
        let inherited = above.filter(|field| **field == Field::Checks);
        self.value(key, value, own.as_ref().or(inherited));
    }

    fn value(&mut self, key: &str, value: &Value, field: Option<&Field>) {
        match value {
            Value::Array(entries) => entries.iter().for_each(|entry| self.value(key, entry, field)),
            Value::Object(object) => self.object(key, object, field),
            Value::String(said) => self.text(key, said, field),
            Value::Bool(true) => self.check(key, "true", field),
            Value::Null | Value::Bool(false) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, key: &str, said: &str, above: Option<&Field>) {
        let first = words(said).first().copied();
        match above {
            Some(Field::Files(change)) => {
                let mut listed = files(said, *change);
                if listed.is_empty() {
                    let path = first.and_then(Word::place).filter(|_| !hedged(said));
                    listed.extend(path.map(|path| file(path, change.unwrap_or(Change::There))));
                }
                listed.into_iter().for_each(|kind| self.says(key, said, kind));
            }
            Some(Field::Commits) => {
                let hash = first.and_then(Word::hash);
                hash.into_iter().for_each(|hash| self.says(key, said, commit(hash)));
            }
            Some(Field::Checks) | None if is_note(key) => {
                for sentence in sentences(said) {
                    for kind in statements(&sentence, Place::Finished) {
                        self.says(key, &sentence, kind);
                    }
                }
            }
            Some(Field::Checks) | None if passes_at_last(said) => self.check(key, said, above),
            Some(Field::Checks) | None => {}
        }
    }

    // `"tests": "pass"`, `"tests_passed": true`, `"checks": {"own name": "pass"}`.
    fn check(&mut self, key: &str, said: &str, above: Option<&Field>) {
        if field(key) == Some(Field::Checks) || key.to_lowercase().starts_with("all_checks") {
            return self.says(key, said, ClaimKind::TestsPass { gate: None });
        }
        if let Some(kind) = check(key).filter(|kind| is_kind(kind) || above.is_some() || said != "true") {
            self.known(key, said, pass(kind));
        }
    }
}

// "create" and "created" are one.
fn done(verb: &str) -> Option<Change> {
    ["", "d", "ed"].iter().find_map(|end| Word(&format!("{verb}{end}")).change())
}

fn is_note(key: &str) -> bool {
    listed("note notes summary description details message", key)
}

fn passes_at_last(said: &str) -> bool {
    passes(said) || (passes(said.rsplit(':').next().unwrap_or_default()) && !hedged(said))
}

fn passed(object: &Object) -> bool {
    let passing = |value: &Value| match value {
        Value::Bool(is) => *is,
        Value::String(said) => passes_at_last(said),
        Value::Number(count) => count.as_u64().is_some_and(|count| count > 0),
        Value::Object(object) => passed(object),
        Value::Null | Value::Array(_) => false,
    };
    let fails = object.get("failed").is_some_and(|failed| failed.as_u64() != Some(0));
    let zero = ["exit_code", "exit", "exitCode"].iter().any(|key| object.get(*key) == Some(&Value::from(0)));
    let keys = ["passed", "pass", "ok", "success", "status", "result"];
    !fails && (zero || keys.iter().find_map(|key| object.get(*key)).is_some_and(passing))
}
