//! Where entries of JSON say how far they are, so that it can be written back: a status word, or `passes`.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::json::PARTS;
use crate::items::{Item, ItemKind, Marker, unique};
use crate::model::{Phase, Place, Plan, Status};

/// The word for what is done, and that for what is open.
pub(super) type Words = (&'static str, &'static str);

/// Words for what is done, and those for what is open beside them.
const WORDS: [(&str, &str); 6] = [
    ("done", "pending"),
    ("completed", "pending"),
    ("complete", "pending"),
    ("closed", "open"),
    ("finished", "pending"),
    ("passed", "pending"),
];

/// Where each line of a text begins.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn new(text: &str) -> Self {
        Self(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect())
    }

    /// The place of a byte.
    pub(super) fn at(&self, byte: usize) -> Place {
        let line = self.0.partition_point(|end| *end < byte) + 1;
        Place { file: 0, line: u32::try_from(line).unwrap_or(u32::MAX) }
    }
}

/// Gives the items of an entry to its phase and tasks. `raw` is its text, which begins at byte `start` of the file.
pub(super) fn give(phase: &mut Phase, raw: &str, start: usize, words: Words, lines: &Lines) {
    let own = item(raw, start, phase.id.clone(), &phase.title, phase.status, words, lines);
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(raw).unwrap_or_default();
    let parts = PARTS.iter().find_map(|name| members.get(*name).filter(|parts| parts.get().starts_with('[')));
    let parts: Vec<&RawValue> =
        parts.and_then(|parts| serde_json::from_str(parts.get()).ok()).unwrap_or_default();
    if let [only] = phase.tasks.as_mut_slice()
        && only.id == phase.id
    {
        only.items.push(own);
        return;
    }
    for (task, part) in phase.tasks.iter_mut().zip(parts) {
        let from = start + (part.get().as_ptr() as usize).saturating_sub(raw.as_ptr() as usize);
        let own = item(part.get(), from, task.id.clone(), &task.title, task.status, words, lines);
        task.at = own.at;
        task.items.push(own);
    }
    let end = lines.at(start + raw.len()).line + 1;
    phase.items.push(Item { kind: ItemKind::Group, end, ..own });
}

/// Makes keys different that are the same in several entries.
pub(super) fn unique_keys(plan: &mut Plan) {
    let mut seen = BTreeMap::new();
    for phase in &mut plan.phases {
        let own = phase.items.iter_mut().chain(phase.tasks.iter_mut().flat_map(|task| &mut task.items));
        own.for_each(|item| item.key = unique(&mut seen, std::mem::take(&mut item.key)));
    }
}

/// The words that the file itself uses.
pub(super) fn words(text: &str) -> Words {
    WORDS.into_iter().find(|(done, _)| text.contains(&format!("\"{done}\""))).unwrap_or(WORDS[0])
}

fn item(
    raw: &str,
    start: usize,
    key: String,
    title: &str,
    status: Status,
    words: Words,
    lines: &Lines,
) -> Item {
    let mark = marker(raw, start, words).unwrap_or_default();
    Item { key, at: lines.at(start), text: title.to_owned(), status, mark, ..Item::default() }
}

/// The value that says how far an object is.
pub(super) fn marker(raw: &str, start: usize, (done, open): Words) -> Option<Marker> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(raw).ok()?;
    let place =
        |value: &RawValue| start + (value.get().as_ptr() as usize).saturating_sub(raw.as_ptr() as usize);
    for name in ["status", "state"] {
        if let Some(value) = members.get(name).filter(|value| value.get().starts_with('"')) {
            let from = place(value);
            return Some(Marker { from: from + 1, to: from + value.get().len() - 1, done, open });
        }
    }
    let flags = ["passes", "done", "completed", "complete"];
    let value = flags
        .iter()
        .find_map(|name| members.get(*name).filter(|value| matches!(value.get(), "true" | "false")))?;
    let from = place(value);
    Some(Marker { from, to: from + value.get().len(), done: "true", open: "false" })
}
