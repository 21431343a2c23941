//! JSON: an array of tasks or stories, alone or inside an object. Each of them is a phase.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::json_items::{self, Lines};
use super::{Files, NoPlan, beads, order, source, tags};
use crate::command::looks_like_one;
use crate::expect::{check, criterion};
use crate::model::{Complexity, Criterion, Format, Gate, Phase, Place, Plan, Status, Task};
use crate::text::Doc;

/// Names under which the array lies.
const LISTS: [&str; 8] =
    ["tasks", "userStories", "user_stories", "stories", "phases", "items", "features", "points"];

/// Names under which the parts of an entry lie.
pub(super) const PARTS: [&str; 4] = ["subtasks", "sub_tasks", "tasks", "steps"];

/// Names under which an entry says what comes before it.
const NEEDS: [&str; 6] = ["dependencies", "depends_on", "dependsOn", "needs", "blockedBy", "blocked_by"];

/// How deep it may lie.
const DEEPEST: usize = 4;

/// Reads it; `None` when it is no JSON at all.
pub(crate) fn read(name: &str, text: &str, files: &dyn Files) -> Result<Option<Plan>, NoPlan> {
    let whole: Value = match serde_json::from_str(text) {
        Ok(whole) => whole,
        Err(_) if beads::is_beads(text) => return beads::read(name, text).map(Some),
        // A text in Markdown may begin with a bracket as well.
        Err(_) if !is_meant(text) => return Ok(None),
        Err(error) => {
            let line = u32::try_from(error.line()).unwrap_or(1);
            return Err(NoPlan::Broken { file: name.to_owned(), line, why: error.to_string() });
        }
    };
    let mut plan = Plan { files: vec![source(name, &Doc::new(text))], ..Plan::default() };
    plan.files.iter_mut().for_each(|file| (file.boxes, file.ticked) = (0, 0));
    let tag = tags::choose(name, &whole, files, &mut plan);
    let chosen = tag.as_deref().and_then(|tag| member(text, tag)).unwrap_or((0, text));
    let Some(entries) = find(chosen.1, 0) else { return Err(NoPlan::NoStructure(name.to_owned())) };
    plan.format = format(&whole, tag.is_some());
    let word = |keys: &[&str]| whole.as_object().and_then(|map| text_of(map, keys)).unwrap_or_default();
    plan.title = word(&["title", "project", "name", "feature"]);
    plan.about = word(&["description", "summary", "overview"]);
    let (lines, words) = (Lines::new(text), json_items::words(text));
    for (start, raw) in entries {
        let Ok(Value::Object(entry)) = serde_json::from_str::<Value>(raw) else { continue };
        let start = start + chosen.0;
        let at = lines.at(start);
        let mut phase = phase(&entry, at, plan.phases.len() + 1, plan.format);
        // An object that says nothing to do is data, not work.
        if !phase.title.is_empty() || phase.tasks.iter().any(|task| !task.action.is_empty()) {
            json_items::give(&mut phase, raw, start, words, &lines);
            raw.clone_into(&mut phase.text);
            plan.phases.push(phase);
        }
    }
    order::keep(&mut plan.phases);
    json_items::unique_keys(&mut plan);
    if let Some(gates) =
        whole.as_object().and_then(|map| map.get("gates").or_else(|| map.get("quality_gates")))
    {
        plan.gates = self::gates(gates, Place { file: 0, line: 1 });
    }
    if plan.phases.is_empty() { Err(NoPlan::NoStructure(name.to_owned())) } else { Ok(Some(plan)) }
}

// What the entries look like.
fn format(whole: &Value, tagged: bool) -> Format {
    let list = |name: &str| whole.get(name).and_then(Value::as_array);
    let first = |list: Option<&Vec<Value>>, key: &str| {
        list.and_then(|list| list.first()).is_some_and(|entry| entry.get(key).is_some())
    };
    let features = list("features").or_else(|| whole.as_array());
    if list("userStories").is_some() || list("user_stories").is_some() {
        Format::RalphPrd
    } else if first(features, "passes") && (first(features, "steps") || first(features, "category")) {
        Format::FeatureList
    } else if tagged || first(list("tasks"), "testStrategy") {
        Format::TaskMaster
    } else {
        Format::Json
    }
}

// The value of a member of an object, and where it begins.
fn member<'t>(text: &'t str, name: &str) -> Option<(usize, &'t str)> {
    let map: std::collections::BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let raw = map.get(name)?.get();
    let start = (raw.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    text.get(start..start + raw.len()).map(|raw| (start, raw))
}

fn is_meant(text: &str) -> bool {
    let mut chars = text.chars().filter(|c| !c.is_whitespace());
    matches!((chars.next(), chars.next()), (Some('{'), Some('"' | '}')) | (Some('['), Some('{')))
}

// The entries of the array, each with the byte at which it begins.
fn find(text: &str, depth: usize) -> Option<Vec<(usize, &str)>> {
    let place = |raw: &RawValue| (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    if let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(text) {
        let objects: Vec<(usize, &str)> =
            list.iter().filter(|raw| raw.get().starts_with('{')).map(|raw| (place(raw), raw.get())).collect();
        return (!objects.is_empty()).then_some(objects);
    }
    if depth >= DEEPEST {
        return None;
    }
    let map: std::collections::BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let inner = |raw: &'_ &RawValue| {
        let start = place(raw);
        let rest = text.get(start..start + raw.get().len())?;
        find(rest, depth + 1).map(|found| found.into_iter().map(|(at, entry)| (at + start, entry)).collect())
    };
    let named = LISTS.iter().filter_map(|name| map.get(*name)).find_map(inner);
    named.or_else(|| {
        map.iter()
            .filter(|(key, raw)| !LISTS.contains(&key.as_str()) && raw.get().starts_with('{'))
            .find_map(|(_, raw)| inner(raw))
    })
}

pub(super) fn phase(entry: &Map<String, Value>, at: Place, number: usize, format: Format) -> Phase {
    let id = text_of(entry, &["task_id", "taskId", "id", "number", "key", "phase"])
        .unwrap_or_else(|| number.to_string());
    let mut phase = Phase::new(id.clone());
    phase.at = at;
    if NEEDS.iter().any(|key| entry.contains_key(*key)) {
        phase.needs_at = at;
    }
    let about = text_of(entry, &["description", "intent", "summary", "goal"]).unwrap_or_else(|| story(entry));
    phase.title = text_of(entry, &["title", "name", "intent", "story", "assignment", "feature"])
        .unwrap_or_else(|| first_line(&about));
    phase.about = about;
    phase.status = status(entry);
    phase.needs = texts(entry, &NEEDS);
    phase.files =
        texts(entry, &["files", "fileScope", "file_scope", "files_modified", "planned_files", "scope"]);
    phase.wave = text_of(entry, &["wave"]).and_then(|wave| wave.parse().ok());
    phase.agent = text_of(entry, &["agent"]);
    phase.role = text_of(entry, &["role"]);
    phase.policy = text_of(entry, &["policy"]);
    phase.autonomous = entry.get("autonomous").and_then(Value::as_bool) != Some(false);
    phase.parallel = entry.get("parallel").and_then(Value::as_bool);
    phase.gates = entry.get("gates").map(|gates| self::gates(gates, at)).unwrap_or_default();
    // What a feature's steps say must hold when it passes.
    let keys: &[&str] = if format == Format::FeatureList { &PARTS[..3] } else { &PARTS };
    let parts = keys.iter().find_map(|key| entry.get(*key)?.as_array());
    let mut whole = task(entry, at, &id);
    if format == Format::FeatureList {
        whole.criteria.extend(entries(entry, &["steps"]).into_iter().map(|value| held(value, at)));
    }
    phase.tasks =
        parts.into_iter().flatten().enumerate().map(|(index, part)| sub_task(part, at, &id, index)).collect();
    if phase.tasks.is_empty() {
        phase.tasks.push(Task { title: phase.title.clone(), ..whole });
    } else {
        (phase.criteria, phase.verify) = (whole.criteria, whole.verify);
        if !whole.action.is_empty() && whole.action != phase.about {
            phase.about = format!("{}\n\n{}", phase.about, whole.action).trim().to_owned();
        }
        siblings(&id, &mut phase.tasks);
    }
    phase
}

// A sub-task calls the others by their last number.
fn siblings(id: &str, tasks: &mut [Task]) {
    let known: Vec<String> = tasks.iter().map(|task| task.id.clone()).collect();
    for need in tasks.iter_mut().flat_map(|task| &mut task.needs) {
        let longer = format!("{id}.{need}");
        if !known.contains(need) && known.contains(&longer) {
            *need = longer;
        }
    }
}

fn sub_task(part: &Value, at: Place, id: &str, index: usize) -> Task {
    let number = format!("{id}.{}", index + 1);
    match part {
        Value::Object(part) => {
            let own = text_of(part, &["task_id", "id", "number"]);
            // 1, 2, 3 below each task are 7.1, 7.2, 7.3.
            let own = own
                .map(|own| if own.chars().all(|c| c.is_ascii_digit()) { format!("{id}.{own}") } else { own });
            let mut task = task(part, at, &own.unwrap_or(number));
            task.title = text_of(part, &["title", "name", "description", "text"]).unwrap_or_default();
            let about = text_of(part, &["description"]).unwrap_or_default();
            if !about.is_empty() && about != task.title && !task.action.contains(&about) {
                task.action = format!("{about}\n{}", task.action).trim().to_owned();
            }
            task
        }
        Value::String(text) => Task { at, id: number, title: text.clone(), ..Task::default() },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            Task { at, id: number, ..Task::default() }
        }
    }
}

fn task(entry: &Map<String, Value>, at: Place, id: &str) -> Task {
    let action = [
        "instructions",
        "details",
        "action",
        "prompt",
        "implementation",
        "description",
        "technicalNotes",
        "notes",
    ];
    let mut task = Task { at, id: id.to_owned(), status: status(entry), ..Task::default() };
    task.action = texts(entry, &action).join("\n");
    task.complexity = text_of(entry, &["complexity", "estimatedComplexity", "effort", "size"])
        .as_deref()
        .and_then(Complexity::read);
    task.files = texts(entry, &["files", "fileScope", "file_scope", "files_modified", "planned_files"]);
    task.needs = texts(entry, &["dependencies", "depends_on", "dependsOn"]);
    task.criteria = entries(
        entry,
        &["acceptance_criteria", "acceptanceCriteria", "criteria", "success_criteria", "acceptance"],
    )
    .into_iter()
    .map(|value| held(value, at))
    .collect();
    let verify = [
        "testStrategy",
        "test_strategy",
        "verification",
        "verify",
        "test_command",
        "testCommand",
        "validation",
        "expected_tests",
    ];
    task.verify = entries(entry, &verify).into_iter().map(|value| held(value, at)).collect();
    task
}

// A criterion: words, or an object with words and perhaps a command.
fn held(value: &Value, at: Place) -> Criterion {
    match value {
        Value::String(text) if looks_like_one(text) && !text.contains('`') && text.lines().count() == 1 => {
            Criterion { at, text: String::new(), checks: vec![check(text, None)] }
        }
        Value::String(text) => criterion(text, at),
        Value::Object(map) => {
            let words =
                text_of(map, &["text", "description", "criterion", "title", "name"]).unwrap_or_else(|| {
                    let steps = ["given", "when", "then"]
                        .iter()
                        .filter_map(|key| Some(format!("{key} {}", text_of(map, &[key])?)));
                    steps.collect::<Vec<_>>().join(", ")
                });
            let mut found = criterion(&words, at);
            let told = text_of(map, &["expect", "judge"]).and_then(|judge| judge.parse().ok());
            if let Some(run) = text_of(map, &["command", "run", "verify", "verification", "test"]) {
                found.checks = vec![check(&run, told)];
            }
            found
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            criterion(&value.to_string(), at)
        }
    }
}

fn gates(value: &Value, at: Place) -> Vec<Gate> {
    let one = |(name, value): (Option<&String>, &Value)| match value {
        Value::String(text) => {
            let run = (name.is_some() || looks_like_one(text)).then(|| text.clone());
            Some(Gate { at, name: name.cloned().unwrap_or_else(|| text.clone()), run, ..Gate::default() })
        }
        Value::Object(map) => Some(Gate {
            at,
            name: text_of(map, &["name", "id", "title"]).or_else(|| name.cloned())?,
            run: text_of(map, &["run", "command", "cmd"]),
            expect: text_of(map, &["expect", "expected"]).unwrap_or_default(),
            manual: map.get("manual").and_then(Value::as_bool).unwrap_or(false),
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    };
    match value {
        Value::Array(list) => list.iter().filter_map(|value| one((None, value))).collect(),
        Value::Object(map) => map.iter().filter_map(|(name, value)| one((Some(name), value))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn status(entry: &Map<String, Value>) -> Status {
    let done = ["passes", "done", "completed", "complete"].iter().find_map(|key| entry.get(*key)?.as_bool());
    let said = text_of(entry, &["status", "state"]).as_deref().and_then(Status::read);
    match (said, done) {
        (Some(status), _) => status,
        (None, Some(true)) => Status::Completed,
        (None, _) => Status::Pending,
    }
}

fn story(entry: &Map<String, Value>) -> String {
    let parts = [("asA", "As"), ("iWant", "I want"), ("soThat", "so that")];
    let told: Vec<String> =
        parts.iter().filter_map(|(key, word)| Some(format!("{word} {}", text_of(entry, &[key])?))).collect();
    told.join(", ")
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or("").chars().take(120).collect()
}

// A text that says something, or a number.
fn word(value: &Value) -> Option<String> {
    let text = value.as_str().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    text.or_else(|| value.is_number().then(|| value.to_string()))
}

// The first of these that is a text or a number.
pub(super) fn text_of(map: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| map.get(*key).and_then(word))
}

// The first of these that is there, as a list of texts.
fn texts(map: &Map<String, Value>, keys: &[&str]) -> Vec<String> {
    let named =
        |value: &Value| text_of(value.as_object()?, &["id", "task", "task_id", "path", "name", "text"]);
    let word = |value: &Value| word(value).or_else(|| named(value));
    let found = keys.iter().find_map(|key| map.get(*key).filter(|value| !value.is_null()));
    match found {
        Some(Value::Array(list)) => list.iter().filter_map(word).collect(),
        Some(value) => word(value).into_iter().collect(),
        None => Vec::new(),
    }
}

// The first of these that is there, as a list of values.
fn entries<'v>(map: &'v Map<String, Value>, keys: &[&str]) -> Vec<&'v Value> {
    match keys.iter().find_map(|key| map.get(*key).filter(|value| !value.is_null())) {
        Some(Value::Array(list)) => list.iter().collect(),
        Some(value) => vec![value],
        None => Vec::new(),
    }
}
