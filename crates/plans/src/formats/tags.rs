//! task-master's tags: which list of tasks in the file is the current one.

use serde_json::Value;

use super::Files;
use crate::model::{Oddity, OddityKind, Place, Plan};
use crate::text::beside;

/// The tag to read: that of `state.json`, else `master`, else the only one or the first with open tasks.
pub(super) fn choose(name: &str, whole: &Value, files: &dyn Files, plan: &mut Plan) -> Option<String> {
    let map = whole.as_object()?;
    let is_tag = |value: &Value| value.get("tasks").is_some_and(Value::is_array);
    let tags: Vec<&String> = map.iter().filter(|(_, value)| is_tag(value)).map(|(name, _)| name).collect();
    if tags.is_empty() || map.get("tasks").is_some_and(Value::is_array) {
        return None;
    }
    let known = |tag: &str| tags.iter().find(|known| known.as_str() == tag).map(|tag| (*tag).clone());
    let current = current(name, files).and_then(|tag| known(&tag));
    let open = |tag: &&&String| open_tasks(&map[tag.as_str()]) > 0;
    let first = || tags.iter().find(open).or(tags.first()).map(|tag| (*tag).clone());
    let chosen = current.or_else(|| known("master")).or_else(first)?;
    for other in tags.iter().filter(|tag| ***tag != chosen) {
        let count = open_tasks(&map[other.as_str()]);
        if count > 0 {
            let what = format!(
                "{count} open tasks of the tag {other} are not part of this plan, which is the tag {chosen}"
            );
            plan.oddities.push(Oddity { kind: OddityKind::NotRead, at: Place { file: 0, line: 1 }, what });
        }
    }
    Some(chosen)
}

fn current(name: &str, files: &dyn Files) -> Option<String> {
    let near = ["state.json", "../state.json"];
    let bytes = near.iter().find_map(|path| files.read(&beside(name, path)))?;
    let state: Value = serde_json::from_slice(&bytes).ok()?;
    state.get("currentTag").and_then(Value::as_str).map(str::to_owned)
}

fn open_tasks(tag: &Value) -> usize {
    let over = ["done", "completed", "cancelled", "deferred"];
    let is_open = |task: &&Value| {
        !task.get("status").and_then(Value::as_str).is_some_and(|status| over.contains(&status))
    };
    tag.get("tasks").and_then(Value::as_array).map_or(0, |tasks| tasks.iter().filter(is_open).count())
}
