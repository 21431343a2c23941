//! Which item belongs to which task or phase: every check box of a file to exactly one of them.

use super::sections::{Kind, kind};
use crate::ids;
use crate::items::{Item, ItemKind, boxes};
use crate::model::{Format, Phase, Plan, Task};
use crate::text::Doc;

/// Gives the check boxes of a file, as it is stored, to the tasks and phases of it that were read.
pub(crate) fn boxes_of(plan: &mut Plan, file: u32, raw: &str, doc: &Doc<'_>) {
    let (owners, held) = (Owners::new(plan, file), held(doc));
    let mut found = boxes(raw, file);
    let columns: Vec<usize> = found.iter().map(|item| column(doc, item)).collect();
    for at in 0..found.len() {
        let Some(end) = end_of_group(&found, &columns, at) else { continue };
        found[at].end = end;
    }
    for mut item in found {
        match owners.of(item.at.line) {
            Some((phase, Some(task))) => {
                let Some(task) = plan.phases.get_mut(phase).and_then(|phase| phase.tasks.get_mut(task))
                else {
                    continue;
                };
                item.kind = match kind_of(&held, &item) {
                    ItemKind::Criterion => ItemKind::Criterion,
                    _ if task.at.line == item.at.line => ItemKind::Work,
                    ItemKind::Work | ItemKind::Step | ItemKind::Group => ItemKind::Step,
                };
                task.items.push(item);
            }
            Some((phase, None)) => {
                item.kind = kind_of(&held, &item);
                if let Some(phase) = plan.phases.get_mut(phase) {
                    phase.items.push(item);
                }
            }
            None => {
                item.kind = kind_of(&held, &item);
                of_named_phase(plan, item);
            }
        }
    }
}

// "- [x] **Phase 3: …**" in a list is the state of that phase.
fn of_named_phase(plan: &mut Plan, item: Item) {
    let named = ids::heading(&item.text).map(|(id, _)| ids::canonical(&id));
    let known = named.and_then(|id| plan.phases.iter_mut().find(|phase| ids::canonical(&phase.id) == id));
    match known {
        Some(phase) => phase.items.push(item),
        None => plan.items.push(item),
    }
}

fn kind_of(held: &[bool], item: &Item) -> ItemKind {
    let index = usize::try_from(item.at.line).unwrap_or(1).saturating_sub(1);
    if held.get(index).copied().unwrap_or(false) {
        ItemKind::Criterion
    } else if item.end > 0 {
        ItemKind::Group
    } else {
        ItemKind::Work
    }
}

// Which lines stand in a section of criteria.
fn held(doc: &Doc<'_>) -> Vec<bool> {
    let mut lines = vec![false; doc.lines.len()];
    for heading in &doc.headings {
        if matches!(kind(heading.title), Kind::Criteria | Kind::Success) {
            lines[heading.body.from..heading.body.to].fill(true);
        }
    }
    lines
}

fn column(doc: &Doc<'_>, item: &Item) -> usize {
    let index = usize::try_from(item.at.line).unwrap_or(1).saturating_sub(1);
    doc.lines.get(index).map_or(0, |line| line.indent)
}

// The line at which what stands below an item ends, if anything does: deeper boxes, or 2.1 behind 2.
fn end_of_group(found: &[Item], columns: &[usize], at: usize) -> Option<u32> {
    let below = |next: usize| columns[next] > columns[at] || is_part(&found[at].key, &found[next].key);
    let after = (at + 1..found.len()).take_while(|next| below(*next)).last()?;
    Some(found[after].at.line + 1)
}

fn is_part(whole: &str, part: &str) -> bool {
    part.strip_prefix(whole).is_some_and(|rest| rest.starts_with('.'))
}

/// The lines of the phases and tasks of one file.
struct Owners {
    // First line, line after the last, phase.
    phases: Vec<(u32, u32, usize)>,
    // The same, and the task.
    tasks: Vec<(u32, u32, usize, usize)>,
}

impl Owners {
    fn new(plan: &Plan, file: u32) -> Self {
        let of_file = plan.phases.iter().enumerate().filter(|(_, phase)| phase.at.file == file);
        let mut phases: Vec<(u32, u32, usize)> =
            of_file.clone().map(|(at, phase)| (phase.at.line, phase.end, at)).collect();
        // One phase has all of its file.
        if let [only] = phases.as_mut_slice()
            && !matches!(plan.format, Format::Phases | Format::Roadmap)
        {
            (only.0, only.1) = (0, u32::MAX);
        }
        let mut tasks: Vec<(u32, u32, usize, usize)> = Vec::new();
        for (at, phase) in of_file {
            tasks.extend(phase.tasks.iter().enumerate().map(|(task, own)| (own.at.line, own.end, at, task)));
        }
        phases.sort_unstable();
        tasks.sort_unstable();
        Self { phases, tasks }
    }

    fn of(&self, line: u32) -> Option<(usize, Option<usize>)> {
        let last = self.tasks.partition_point(|(from, ..)| *from <= line).checked_sub(1);
        if let Some((_, to, phase, task)) = last.and_then(|last| self.tasks.get(last))
            && line < *to
        {
            return Some((*phase, Some(*task)));
        }
        let last = self.phases.partition_point(|(from, ..)| *from <= line).checked_sub(1);
        let (_, to, phase) = self.phases.get(last?)?;
        (line < *to).then_some((*phase, None))
    }
}

/// The items of a phase that are done when these of its tasks are; with `verified` those of the phase itself as well.
pub fn done_items(phase: &Phase, is_done: impl Fn(&Task) -> bool, verified: bool) -> Vec<&Item> {
    let tasks = phase.tasks.iter().filter(|task| verified || is_done(task));
    let mut done: Vec<&Item> = tasks.flat_map(|task| &task.items).collect();
    let below = |group: &Item, task: &Task| {
        task.at.file == group.at.file && task.at.line > group.at.line && task.at.line < group.end
    };
    let is_done_group = |item: &&Item| match item.kind {
        ItemKind::Group => phase
            .tasks
            .iter()
            .filter(|task| below(item, task))
            .all(|task| task.status.is_over() || is_done(task)),
        // "- [ ] Phase 3" in a list above the phases is done with the last of its tasks.
        ItemKind::Work if phase.end > 0 && !(phase.at.line..phase.end).contains(&item.at.line) => {
            !phase.tasks.is_empty() && phase.tasks.iter().all(|task| task.status.is_over() || is_done(task))
        }
        ItemKind::Work | ItemKind::Step | ItemKind::Criterion => false,
    };
    done.extend(phase.items.iter().filter(|item| verified || is_done_group(item)));
    done
}
