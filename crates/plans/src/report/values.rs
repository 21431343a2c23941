//! From what an agent wrote to what the contract says: other words for the same, and everything cut to its bounds.

use serde_json::{Map, Value};

use super::read::{NoReport, Read};
use super::{
    ENTRIES, FailureCategory, ID_CHARS, PARTS, Recommendation, Report, ReportStatus, SUMMARY_CHARS,
    SplitDetails, SubPhaseReport, TASKS, TEXT_CHARS, TaskOutcome, TaskReport,
};
use crate::estimate::letters;

type Object = Map<String, Value>;

/// Whether an object is meant as a report, and is not some part of one.
pub(super) fn is_report(value: &Value) -> bool {
    let Some(map) = value.as_object() else { return false };
    let others =
        ["summary", "recommendation", "tasks", "tasks_completed", "commits", "issues", "split_details"];
    map.get("status").is_some_and(Value::is_string) && others.iter().any(|key| map.contains_key(*key))
}

/// The report that an object is.
pub(super) fn report(value: &Value) -> Result<Read, NoReport> {
    let Some(map) = value.as_object() else { return Err(NoReport::Missing) };
    let mut notes = Notes::default();
    let word = word(map, &["status"]).unwrap_or_default();
    let mut status = status(&word).ok_or_else(|| {
        let known = "completed, failed, needs_human_verification or split_request";
        NoReport::Incomplete(format!("status is {word:?}, and must be {known}"))
    })?;
    let failure = failure(map).or_else(|| failure_in_issues(map));
    let mut recommendation = recommendation(map, status, &mut notes);
    if failure == Some(FailureCategory::ContextExhaustion) && status != ReportStatus::SplitRequest {
        // A full window is never anything but a failure to stop at.
        if (status, recommendation) != (ReportStatus::Failed, Recommendation::Halt) {
            notes.add("context_exhaustion is failed and halt");
        }
        (status, recommendation) = (ReportStatus::Failed, Recommendation::Halt);
    }
    let split_details = split(map, &mut notes);
    if status == ReportStatus::SplitRequest && split_details.is_none() {
        let why = "split_request needs split_details with a reason and recommended_sub_phases [{id, title, tasks, files}]";
        return Err(NoReport::Incomplete(why.to_owned()));
    }
    let mut summary = word_of(map, &["summary", "message", "description"]).unwrap_or_default();
    if summary.is_empty() {
        notes.add("there is no summary");
    }
    if let Some((done, of)) = counted(map) {
        summary = format!("{summary}\nThe agent counts {done} of {of} tasks as done.").trim().to_owned();
    }
    let report = Report {
        status,
        tasks: tasks(map, &mut notes),
        commits: texts(
            map,
            &["commits", "commit_shas", "commit"],
            &["sha", "hash", "id", "commit"],
            ID_CHARS,
            &mut notes,
        ),
        issues: texts(
            map,
            &["issues", "errors", "problems"],
            &["description", "message", "text", "title", "issue"],
            TEXT_CHARS,
            &mut notes,
        ),
        recommendation,
        summary: notes.cut(&summary, SUMMARY_CHARS),
        failure: failure.filter(|_| status == ReportStatus::Failed),
        split_details,
        checkpoint_context: context(map).map(|text| notes.cut(&text, SUMMARY_CHARS)),
    };
    Ok(Read { report, mended: notes.0 })
}

/// What had to be mended.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    fn add(&mut self, note: &str) {
        if !self.0.iter().any(|known| known == note) {
            self.0.push(note.to_owned());
        }
    }

    fn cut(&mut self, text: &str, most: usize) -> String {
        if text.chars().count() <= most {
            return text.to_owned();
        }
        self.add("a text was longer than it may be and was cut");
        text.chars().take(most).collect()
    }

    fn bounded<'l, T>(&mut self, list: &'l [T], most: usize) -> &'l [T] {
        if list.len() > most {
            self.add("a list was longer than it may be and was cut");
        }
        &list[..list.len().min(most)]
    }
}

fn word(map: &Object, keys: &[&str]) -> Option<String> {
    let text = keys.iter().find_map(|key| map.get(*key)?.as_str())?;
    Some(text.trim().to_lowercase().replace([' ', '-'], "_"))
}

// A text or a number.
fn plain(value: &Value) -> Option<String> {
    let text = value.as_str().map(|text| text.trim().to_owned());
    text.or_else(|| value.is_number().then(|| value.to_string()))
}

fn word_of(map: &Object, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| map.get(*key).and_then(plain))
}

fn status(word: &str) -> Option<ReportStatus> {
    Some(match word {
        "completed" | "complete" | "done" | "success" | "succeeded" | "passed" => ReportStatus::Completed,
        "failed" | "failure" | "fail" | "error" | "blocked" | "partial" | "incomplete" => {
            ReportStatus::Failed
        }
        "needs_human_verification"
        | "needs_human"
        | "human_verification"
        | "needs_person"
        | "needs_input"
        | "needs_review" => ReportStatus::NeedsHumanVerification,
        "split_request" | "split" | "split_requested" | "too_large" => ReportStatus::SplitRequest,
        _ => return None,
    })
}

fn recommendation(map: &Object, status: ReportStatus, notes: &mut Notes) -> Recommendation {
    match word(map, &["recommendation", "recommended_action", "next"]).as_deref() {
        Some("proceed" | "continue" | "go_on" | "next") => Recommendation::Proceed,
        Some("debug" | "fix" | "retry" | "remediate") => Recommendation::Debug,
        Some("rollback" | "roll_back" | "revert") => Recommendation::Rollback,
        Some("halt" | "stop" | "abort" | "pause") => Recommendation::Halt,
        _ => {
            notes.add("there is no recommendation that is known");
            match status {
                ReportStatus::Completed => Recommendation::Proceed,
                ReportStatus::Failed => Recommendation::Debug,
                ReportStatus::NeedsHumanVerification | ReportStatus::SplitRequest => Recommendation::Halt,
            }
        }
    }
}

fn failure(map: &Object) -> Option<FailureCategory> {
    let word = word(map, &["failure", "failure_category", "category", "failure_type", "failure_reason"])?;
    let has = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
    Some(if has(&["context", "exhaust", "window"]) {
        FailureCategory::ContextExhaustion
    } else if has(&["criteria", "criterion", "acceptance"]) {
        FailureCategory::CriteriaUnmet
    } else if has(&["compil", "build", "type_error"]) {
        FailureCategory::BuildFailure
    } else if has(&["test"]) {
        FailureCategory::TestFailure
    } else if has(&["gate", "lint", "verif"]) {
        FailureCategory::GateFailure
    } else if has(&["permission", "denied", "forbidden"]) {
        FailureCategory::PermissionDenied
    } else if has(&["depend", "missing", "prerequisite"]) {
        FailureCategory::DependencyMissing
    } else if has(&["tool", "environment", "network", "service", "timeout"]) {
        FailureCategory::ToolFailure
    } else if has(&["plan", "unclear", "ambig", "scope", "spec"]) {
        FailureCategory::PlanUnclear
    } else if has(&["incomplete", "partial", "unfinished"]) {
        FailureCategory::Incomplete
    } else {
        FailureCategory::Other
    })
}

// "context_exhaustion: the rest is in HANDOFF.md": an issue that begins with a category names it.
fn failure_in_issues(map: &Object) -> Option<FailureCategory> {
    let issues = ["issues", "errors", "problems"].iter().find_map(|key| map.get(*key)?.as_array())?;
    let head = |value: &Value| {
        let text = plain(value).or_else(|| word_of(value.as_object()?, &["category", "description"]))?;
        let head = text.split(':').next()?.trim().to_lowercase().replace([' ', '-'], "_");
        serde_json::from_value::<FailureCategory>(Value::String(head)).ok()
    };
    issues.iter().find_map(head)
}

fn outcome(word: &str) -> TaskOutcome {
    match word {
        "completed" | "complete" | "done" | "passed" | "success" | "verified" => TaskOutcome::Completed,
        "failed" | "fail" | "error" | "blocked" => TaskOutcome::Failed,
        "skipped" | "skip" | "cancelled" => TaskOutcome::Skipped,
        _ => TaskOutcome::Remaining,
    }
}

// `"tasks_completed": "2/4"` says how many, and not which.
fn counted(map: &Object) -> Option<(u32, u32)> {
    let (done, of) = map.get("tasks_completed")?.as_str()?.split_once('/')?;
    let (done, of) = (done.trim().parse().ok()?, of.trim().parse().ok()?);
    (of > 0 && done <= of).then_some((done, of))
}

// What a person must know who is asked to look, as text or as fields.
fn context(map: &Object) -> Option<String> {
    let value = ["checkpoint_context", "human_verify_justification"].iter().find_map(|key| map.get(*key))?;
    let field = |(key, value): (&String, &Value)| {
        let list = || Some(value.as_array()?.iter().filter_map(plain).collect::<Vec<_>>().join(", "));
        let text = plain(value).or_else(list).filter(|text| !text.is_empty())?;
        Some(format!("{}: {text}", key.replace('_', " ")))
    };
    let fields = || Some(value.as_object()?.iter().filter_map(field).collect::<Vec<_>>().join("\n"));
    let text = plain(value).or_else(fields)?;
    (!text.is_empty()).then_some(text)
}

// Tasks as a list, or as one list for each outcome.
fn tasks(map: &Object, notes: &mut Notes) -> Vec<TaskReport> {
    let mut found: Vec<TaskReport> = Vec::new();
    let lists = [
        ("tasks", None),
        ("tasks_completed", Some(TaskOutcome::Completed)),
        ("tasks_failed", Some(TaskOutcome::Failed)),
        ("tasks_skipped", Some(TaskOutcome::Skipped)),
        ("tasks_remaining", Some(TaskOutcome::Remaining)),
    ];
    for (key, given) in lists {
        let Some(list) = map.get(key).and_then(Value::as_array) else { continue };
        found.extend(list.iter().filter_map(|value| task(value, given, notes)));
    }
    notes.bounded(&found, TASKS).to_vec()
}

fn task(value: &Value, given: Option<TaskOutcome>, notes: &mut Notes) -> Option<TaskReport> {
    let (id, title, status, note) = if let Some(map) = value.as_object() {
        let said = word(map, &["status", "outcome", "result"]).map(|word| outcome(&word));
        let note = word_of(map, &["note", "notes", "summary", "reason"]);
        let title = word_of(map, &["title", "name", "task"]).unwrap_or_default();
        (word_of(map, &["id", "task_id", "task", "name", "title"])?, title, said, note)
    } else {
        (plain(value)?, String::new(), None, None)
    };
    let status = given.or(status).unwrap_or(TaskOutcome::Completed);
    let note = note.unwrap_or_default();
    let title = if title == id { String::new() } else { notes.cut(&title, TEXT_CHARS) };
    Some(TaskReport { id: notes.cut(&id, ID_CHARS), title, status, note: notes.cut(&note, TEXT_CHARS) })
}

// A list of texts, or of objects that hold one.
fn texts(map: &Object, keys: &[&str], inner: &[&str], most: usize, notes: &mut Notes) -> Vec<String> {
    let text = |value: &Value| plain(value).or_else(|| word_of(value.as_object()?, inner));
    let found: Vec<String> = match keys.iter().find_map(|key| map.get(*key)) {
        Some(Value::Array(list)) => list.iter().filter_map(text).filter(|text| !text.is_empty()).collect(),
        Some(value) => text(value).filter(|text| !text.is_empty()).into_iter().collect(),
        None => Vec::new(),
    };
    let bounded = notes.bounded(&found, ENTRIES).to_vec();
    bounded.iter().map(|text| notes.cut(text, most)).collect()
}

fn split(map: &Object, notes: &mut Notes) -> Option<SplitDetails> {
    let details = ["split_details", "split"].iter().find_map(|key| map.get(*key)?.as_object())?;
    let parts = ["recommended_sub_phases", "sub_phases", "phases", "parts"]
        .iter()
        .find_map(|key| details.get(*key)?.as_array())?;
    let parts: Vec<SubPhaseReport> =
        parts.iter().enumerate().filter_map(|(index, part)| sub_phase(part, index, notes)).collect();
    let parts = notes.bounded(&parts, PARTS).to_vec();
    let reason = word_of(details, &["reason", "why"]).unwrap_or_default();
    (!parts.is_empty())
        .then(|| SplitDetails { reason: notes.cut(&reason, TEXT_CHARS), recommended_sub_phases: parts })
}

fn sub_phase(part: &Value, index: usize, notes: &mut Notes) -> Option<SubPhaseReport> {
    let Value::Object(map) = part else {
        let title = part.as_str()?;
        return Some(SubPhaseReport {
            id: letters(index),
            title: notes.cut(title, TEXT_CHARS),
            tasks: Vec::new(),
            files: Vec::new(),
        });
    };
    let id = word_of(map, &["id", "sub_phase_id", "phase", "name"]).unwrap_or_else(|| letters(index));
    let name = word_of(map, &["title", "name"]).unwrap_or_default();
    let scope = word_of(map, &["scope", "goal", "description"]).unwrap_or_default();
    let title = match (name.is_empty(), scope.is_empty()) {
        (false, false) if name != scope => format!("{name}: {scope}"),
        (false, _) => name,
        (true, _) => scope,
    };
    Some(SubPhaseReport {
        id: notes.cut(&id, ID_CHARS),
        title: notes.cut(&title, TEXT_CHARS),
        tasks: texts(
            map,
            &["tasks", "task_ids", "items", "issues"],
            &["id", "task_id", "title", "name", "description"],
            TEXT_CHARS,
            notes,
        ),
        files: texts(map, &["files", "files_modified"], &["path", "file"], TEXT_CHARS, notes),
    })
}
