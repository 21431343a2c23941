//! beads: one issue a line as JSON, with what blocks it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::json::{phase, text_of};
use super::json_items::marker;
use super::{NoPlan, source};
use crate::items::Item;
use crate::model::{Format, Place, Plan, Status};
use crate::text::Doc;

/// Whether a text is lines of issues.
pub(super) fn is_beads(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.take(3).all(|line| issue(line).is_some())
}

fn issue(line: &str) -> Option<Map<String, Value>> {
    let Ok(Value::Object(map)) = serde_json::from_str(line) else { return None };
    (map.contains_key("id") && map.contains_key("title")).then_some(map)
}

/// Reads each issue as a phase.
///
/// # Errors
/// A line is no JSON.
pub(super) fn read(name: &str, text: &str) -> Result<Plan, NoPlan> {
    let mut plan =
        Plan { format: Format::Beads, files: vec![source(name, &Doc::new(text))], ..Plan::default() };
    plan.files.iter_mut().for_each(|file| (file.boxes, file.ticked) = (0, 0));
    let mut deleted: BTreeSet<String> = BTreeSet::new();
    for (index, (start, line)) in crate::items::raw_lines(text).into_iter().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let Some(map) = issue(line) else {
            let why = "this line is no issue of beads".to_owned();
            return Err(NoPlan::Broken { file: name.to_owned(), line: number, why });
        };
        if text_of(&map, &["status"]).as_deref() == Some("tombstone") {
            deleted.extend(text_of(&map, &["id"]));
            continue;
        }
        let mut phase = phase(&map, Place { file: 0, line: number }, index + 1, Format::Beads);
        // Whatever nothing blocks is ready, as beads has it.
        (phase.needs, phase.needs_at) = (needs(&map), phase.at);
        line.clone_into(&mut phase.text);
        let mark = marker(line, start, ("closed", "open")).unwrap_or_default();
        let item = Item {
            key: phase.id.clone(),
            at: phase.at,
            text: phase.title.clone(),
            status: phase.status,
            mark,
            ..Item::default()
        };
        match phase.tasks.first_mut() {
            Some(task) => task.items.push(item),
            None => phase.items.push(item),
        }
        plan.phases.push(phase);
    }
    for phase in &mut plan.phases {
        // What is closed waits for nothing, whatever is left of it; nothing waits for what was deleted.
        let closed = phase.status == Status::Completed;
        phase.needs.retain(|need| !closed && !deleted.contains(need));
    }
    if plan.phases.is_empty() { Err(NoPlan::NoStructure(name.to_owned())) } else { Ok(plan) }
}

// Only what blocks comes before; other links say where an issue came from.
fn needs(map: &Map<String, Value>) -> Vec<String> {
    let links = map.get("dependencies").and_then(Value::as_array).into_iter().flatten();
    let blocking =
        links.filter(|link| link.get("type").and_then(Value::as_str).is_none_or(|kind| kind == "blocks"));
    blocking.filter_map(|link| link.get("depends_on_id").and_then(Value::as_str).map(str::to_owned)).collect()
}
