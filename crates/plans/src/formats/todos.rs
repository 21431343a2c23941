//! Cursor: to-dos in the front matter, each with an id, its words and a status.

use std::collections::BTreeMap;

use super::{Reading, phase};
use crate::items::{Item, ItemKind, Marker, raw_lines, unique};
use crate::model::{Plan, Status, Task};
use crate::text::{Doc, Front, Value};

/// Reads the to-dos as the tasks of one phase, before the check boxes of the text.
pub(super) fn read(reading: &Reading<'_, '_>, plan: &mut Plan) {
    phase::read_alone(reading, plan);
    let todos = items(reading.doc, None, reading.file);
    let Some(phase) = plan.phases.last_mut() else { return };
    let mut tasks: Vec<Task> = Vec::new();
    for item in todos {
        let task = Task {
            at: item.at,
            end: item.at.line + 1,
            id: item.key.clone(),
            title: item.text.clone(),
            status: item.status,
            ..Task::default()
        };
        tasks.push(task);
    }
    tasks.append(&mut phase.tasks);
    phase.tasks = tasks;
    let over = !phase.tasks.is_empty() && phase.tasks.iter().all(|task| task.status.is_over());
    phase.status = if over { Status::Completed } else { Status::Pending };
}

/// Gives the to-dos their places in the text as it is stored.
pub(super) fn assign(plan: &mut Plan, doc: &Doc<'_>, raw: &str, file: u32) {
    for item in items(doc, Some(raw), file) {
        let tasks = plan.phases.iter_mut().flat_map(|phase| &mut phase.tasks);
        if let Some(task) = tasks.filter(|task| task.at.file == file).find(|task| task.id == item.key) {
            task.items.push(item);
        }
    }
}

/// The to-dos of a text, with the bytes of their status where the text as it is stored is given.
pub(super) fn items(doc: &Doc<'_>, raw: Option<&str>, file: u32) -> Vec<Item> {
    let front = Front::read(doc);
    let todos = front.as_ref().and_then(|front| front.get(&["todos"])).map(Value::list).unwrap_or_default();
    let lines = raw.map(raw_lines).unwrap_or_default();
    let mut seen = BTreeMap::new();
    let mut found = Vec::new();
    for (number, todo) in todos.iter().enumerate() {
        let Value::Map(entries) = todo else { continue };
        let text = |name: &str| todo.get(name).and_then(Value::text).unwrap_or_default();
        let id = if text("id").is_empty() { (number + 1).to_string() } else { text("id").to_owned() };
        let line = entries.first().map_or(0, |(_, line, _)| *line);
        let status = entries.iter().find(|(name, ..)| name == "status").map(|(_, line, _)| *line);
        let mark = status.and_then(|line| value(&lines, line)).unwrap_or_default();
        let at = crate::model::Place { file, line };
        let status = Status::read(text("status")).unwrap_or_default();
        let words = if text("content").is_empty() { id.clone() } else { text("content").to_owned() };
        found.push(Item {
            key: unique(&mut seen, id),
            at,
            text: words,
            status,
            kind: ItemKind::Work,
            mark,
            end: 0,
        });
    }
    found
}

// The bytes of the value of `status:` in a line.
fn value(lines: &[(usize, &str)], line: u32) -> Option<Marker> {
    let (start, text) = lines.get(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let from = text.find("status:")? + "status:".len();
    let value = text.get(from..)?;
    let from = from + value.len() - value.trim_start_matches([' ', '\t', '"', '\'']).len();
    let value = text.get(from..)?;
    let to = from + value.find(['"', '\'', '#', ',', '}']).unwrap_or(value.len());
    let to = from + text.get(from..to)?.trim_end().len();
    Some(Marker { from: start + from, to: start + to, done: "completed", open: "pending" })
}
