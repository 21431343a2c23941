//! Where tasks are: elements, headings, or items of a list. Each is read the same way from the text that belongs to it.

use std::collections::BTreeSet;

use super::Reading;
use super::sections::{Kind, kind};
use super::task_list::{every_box, from_section};
use super::task_text::build;
use crate::ids;
use crate::model::{Oddity, OddityKind, Status, Task};
use crate::text::{Doc, Heading, Line, Range, elements, item, plain};

/// Tasks and the lines that belong to them.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) tasks: Vec<Task>,
    pub(crate) covered: Vec<Range>,
    pub(crate) oddities: Vec<Oddity>,
}

/// The tasks in a range. With `all`, every check box that is no part of one and no criterion is one as well.
pub(crate) fn tasks(reading: &Reading<'_, '_>, range: Range, all: bool) -> Found {
    let mut found = from_elements(reading, range);
    if found.tasks.is_empty() {
        found = from_headings(reading, range);
    }
    if all {
        let rest = every_box(reading, range, &found.covered);
        found.tasks.extend(rest.tasks);
        found.covered.extend(rest.covered);
        found.tasks.sort_by_key(|task| task.at);
    } else if found.tasks.is_empty() {
        found = from_section(reading, range);
    }
    number_rest(&mut found.tasks);
    if all {
        without_doubles(&mut found.tasks);
    }
    found
}

// A number that was given twice: the later task is called by the number and how often it came.
fn without_doubles(tasks: &mut [Task]) {
    let mut seen = std::collections::BTreeMap::new();
    for task in tasks {
        task.id = crate::items::unique(&mut seen, std::mem::take(&mut task.id));
    }
}

/// Whether there are headings that are tasks.
pub(crate) fn has_headings(doc: &Doc<'_>, range: Range) -> bool {
    doc.inside(range).any(|heading| heading.level > 1 && task_heading(heading.title).is_some())
}

/// Whether there is a section of tasks with headings that have numbers.
pub(crate) fn has_section(doc: &Doc<'_>, range: Range) -> bool {
    doc.inside(range).any(|h| kind(h.title) == Kind::Tasks && !numbered_headings(doc, h).is_empty())
}

/// The id, if there is one, and the title in "Task 3: x", "Task 03-01 — x" or "Task: x".
pub(super) fn task_heading(title: &str) -> Option<(String, String)> {
    let words = plain(title);
    let words = words.trim_start_matches(|c: char| !c.is_alphanumeric());
    let rest =
        ["Task", "TASK", "Story", "Ticket", "Iteration"].iter().find_map(|word| words.strip_prefix(word))?;
    let bare = rest.trim_start_matches([' ', '#']);
    let end = bare
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')))
        .unwrap_or(bare.len());
    let id = bare[..end].trim_end_matches(['.', '-']);
    let tidy = |text: &str| text.trim_matches([':', '-', '–', '—', '.', ' ', ')']).trim().to_owned();
    if id.chars().any(|c| c.is_ascii_digit()) {
        return Some((id.to_owned(), tidy(&bare[id.len()..])));
    }
    rest.starts_with(':').then(|| (String::new(), tidy(rest)))
}

// What gives tasks without a number one: their place among the others.
fn number_rest(tasks: &mut [Task]) {
    let mut taken: BTreeSet<String> = tasks.iter().map(|task| ids::canonical(&task.id)).collect();
    for (index, task) in tasks.iter_mut().enumerate() {
        if task.id.is_empty() {
            let free = std::iter::once(index + 1).chain(1..).map(|n| n.to_string());
            task.id = free.into_iter().find(|id| !taken.contains(id)).unwrap_or_default();
            taken.insert(task.id.clone());
        }
    }
}

fn from_elements(reading: &Reading<'_, '_>, range: Range) -> Found {
    let mut found = Found::default();
    let waves = waves(reading.doc, range);
    for element in elements(reading.doc, range, "task") {
        if !element.closed {
            let at = reading.at(element.line);
            found.oddities.push(Oddity { kind: OddityKind::UnclosedTag, at, what: "task".to_owned() });
        }
        let doc = element.doc();
        let inner = Reading {
            doc: &doc,
            file: reading.file,
            offset: reading.at(element.line).line.saturating_sub(1),
        };
        let mut task = build(&inner, Some(&element.tag));
        (task.at, task.end) = (reading.at(element.line), reading.end_index(element.range.to));
        task.wave = task.wave.or_else(|| wave_at(&waves, element.range.from));
        found.tasks.push(task);
        found.covered.push(element.range);
    }
    found
}

// `## Wave 2`: where each begins.
fn waves(doc: &Doc<'_>, range: Range) -> Vec<(usize, u32)> {
    let wave = |heading: &Heading<'_>| {
        let title = plain(heading.title).to_lowercase();
        let rest = title.strip_prefix("wave")?.trim_start();
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some((heading.index, digits.parse().ok()?))
    };
    doc.inside(range).filter_map(wave).collect()
}

fn wave_at(waves: &[(usize, u32)], index: usize) -> Option<u32> {
    waves.iter().rev().find(|(from, _)| *from < index).map(|(_, wave)| *wave)
}

fn from_headings(reading: &Reading<'_, '_>, range: Range) -> Found {
    let doc = reading.doc;
    let mut heads: Vec<(&Heading<'_>, String, String)> = Vec::new();
    // The heading of all of it may name a story as well.
    for heading in doc.inside(range).filter(|heading| heading.level > 1) {
        if let Some((id, title)) = task_heading(heading.title) {
            // A task below a task is a part of it.
            if heads.last().is_none_or(|(last, ..)| !last.body.has(heading.index)) {
                heads.push((heading, id, title));
            }
        }
    }
    if heads.is_empty() {
        let sections: Vec<&Heading<'_>> =
            doc.inside(range).filter(|h| kind(h.title) == Kind::Tasks).collect();
        let boxed = |range: Range| doc.slice(range).iter().any(|line| line.indent == 0 && is_box(line));
        let plain = sections.iter().filter(|section| !boxed(section.body));
        heads = plain.flat_map(|section| numbered_headings(doc, section)).collect();
    }
    let waves = waves(doc, range);
    let mut found = Found::default();
    for (heading, id, title) in heads {
        let mut task = from_body(reading, heading, id, title);
        task.wave = task.wave.or_else(|| wave_at(&waves, heading.index));
        found.tasks.push(task);
        found.covered.push(Range { from: heading.index, to: heading.body.to });
    }
    found
}

/// Whether a line is an item with a check box.
pub(super) fn is_box(line: &Line<'_>) -> bool {
    line.is_prose() && item(line.text).is_some_and(|item| item.mark.is_some())
}

fn from_body(reading: &Reading<'_, '_>, heading: &Heading<'_>, id: String, title: String) -> Task {
    let doc = Doc::of(reading.doc.slice(heading.body).iter().map(|line| line.raw));
    let offset = reading.at_index(heading.index).line;
    let inner = Reading { doc: &doc, file: reading.file, offset };
    let mut task = build(&inner, None);
    (task.id, task.title, task.at) = (id, title, reading.at_index(heading.index));
    task.end = reading.end_index(heading.body.to);
    // What is left of the boxes says how far it is, unless the task says so itself.
    if task.status == Status::Pending && !task.steps.is_empty() && task.steps.iter().all(|step| step.done) {
        task.status = Status::Completed;
    }
    task
}

// "### 1. x" right below a section of tasks.
fn numbered_headings<'d, 'a>(
    doc: &'d Doc<'a>,
    section: &Heading<'a>,
) -> Vec<(&'d Heading<'a>, String, String)> {
    let own = doc.inside(section.body).filter(|heading| heading.level == section.level + 1);
    own.filter_map(|heading| {
        let title = plain(heading.title);
        ids::numbered(&title).map(|(id, title)| (heading, id.to_owned(), title.into_owned()))
    })
    .collect()
}
