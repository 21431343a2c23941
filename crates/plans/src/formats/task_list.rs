//! Tasks as items of a list: check boxes, alone, below headings or below other boxes.

use std::borrow::Cow;

use super::Reading;
use super::fields::{self, Name};
use super::list::{Node, trees};
use super::sections::{Kind, kind};
use super::task_text::{needed_tasks, steps};
use super::tasks::{Found, is_box};
use crate::command::looks_like_one;
use crate::expect::{check, checks, criterion};
use crate::ids;
use crate::model::{Complexity, Criterion, Place, Task};
use crate::text::{Heading, Range, decode, is_path, paths, plain, spans};

/// The check boxes of the section of tasks, or of all sections that can hold work.
pub(super) fn from_section(reading: &Reading<'_, '_>, range: Range) -> Found {
    let doc = reading.doc;
    let kinds: Vec<(&Heading<'_>, Kind)> = doc.inside(range).map(|h| (h, kind(h.title))).collect();
    let with_boxes = |h: &Heading<'_>| doc.slice(h.body).iter().any(is_box);
    let section = kinds.iter().find(|(heading, kind)| *kind == Kind::Tasks && with_boxes(heading));
    let within = section.map_or(range, |(heading, _)| heading.body);
    // Boxes in a section of gates, criteria or remarks are no work.
    let mut aside = vec![false; doc.lines.len()];
    for (heading, kind) in kinds.iter().filter(|_| section.is_none()) {
        if !matches!(kind, Kind::Tasks | Kind::Other | Kind::About) {
            aside[heading.body.from..heading.body.to].fill(true);
        }
    }
    from_lists(reading, within, &aside)
}

/// Every check box outside of these lines that is no criterion.
pub(super) fn every_box(reading: &Reading<'_, '_>, range: Range, covered: &[Range]) -> Found {
    let mut aside = vec![false; reading.doc.lines.len()];
    let criteria = |h: &&Heading<'_>| matches!(kind(h.title), Kind::Criteria | Kind::Success | Kind::Wrapper);
    let sections = reading.doc.inside(range).filter(criteria).map(|heading| heading.body);
    for range in covered.iter().copied().chain(sections) {
        aside[range.from..range.to].fill(true);
    }
    from_lists(reading, range, &aside)
}

fn from_lists(reading: &Reading<'_, '_>, within: Range, aside: &[bool]) -> Found {
    let doc = reading.doc;
    let mut found = Found::default();
    let nodes = trees(reading, within, |index| !aside[index]);
    let roots = boxed(&nodes);
    let mut above: Option<(usize, String)> = None;
    for (index, (node, outer)) in roots.iter().enumerate() {
        above = doc.above(node.index, within).map(|heading| match above.take() {
            Some((index, title)) if index == heading.index => (index, title),
            _ => (heading.index, plain(heading.title)),
        });
        let group =
            outer.map(|outer| plain(&outer.text)).or_else(|| above.as_ref().map(|(_, title)| title.clone()));
        let parts: Vec<&Node<'_>> = node.children.iter().filter(|child| child.mark.is_some()).collect();
        if parts.iter().any(|child| ids::numbered(&child.text).is_some()) {
            let title = ids::numbered(&node.text).map(|(_, title)| title.into_owned());
            let title = title.unwrap_or_else(|| plain(&node.text));
            found.tasks.extend(parts.iter().map(|child| from_item(reading, child, Some(title.clone()))));
        } else if !is_group(node, roots.get(index + 1).map(|(next, _)| *next)) {
            found.tasks.push(from_item(reading, node, group));
        }
        found.covered.push(Range { from: node.index, to: node.end });
    }
    dedup_plans(&mut found.tasks);
    found
}

// The outermost items that have a check box, each with the item without one that it stands below.
fn boxed<'n, 'a>(nodes: &'n [Node<'a>]) -> Vec<(&'n Node<'a>, Option<&'n Node<'a>>)> {
    let mut found = Vec::new();
    let mut stack: Vec<(&Node<'a>, Option<&Node<'a>>)> =
        nodes.iter().rev().map(|node| (node, None)).collect();
    while let Some((node, outer)) = stack.pop() {
        if node.mark.is_some() {
            found.push((node, outer));
        } else {
            stack.extend(node.children.iter().rev().map(|child| (child, Some(node))));
        }
    }
    found
}

// "5. x" without boxes below it, and "5.1 y" right behind it.
fn is_group(node: &Node<'_>, next: Option<&Node<'_>>) -> bool {
    if node.children.iter().any(|child| child.mark.is_some()) {
        return false;
    }
    let (Some((id, _)), Some((after, _))) =
        (ids::numbered(&node.text), next.and_then(|next| ids::numbered(&next.text)))
    else {
        return false;
    };
    after.strip_prefix(id).is_some_and(|rest| rest.starts_with('.'))
}

// Road maps list a plan file once for its phase and once for its wave.
fn dedup_plans(tasks: &mut Vec<Task>) {
    let mut seen = std::collections::BTreeSet::new();
    let is_plan =
        |task: &Task| task.id.contains('-') && task.id.chars().all(|c| c.is_ascii_digit() || c == '-');
    tasks.retain(|task| !is_plan(task) || seen.insert(task.id.clone()));
}

pub(super) fn from_item(reading: &Reading<'_, '_>, node: &Node<'_>, group: Option<String>) -> Task {
    let (id, title) = ids::numbered(&node.text).unwrap_or(("", Cow::Borrowed(&node.text)));
    let id = if id.is_empty() { node.number.unwrap_or_default() } else { id }.to_owned();
    let mut title = plain(&title);
    let mut beside = false;
    // [P], [US1]: marks of the method, no words of the task.
    while let Some((label, rest)) = title.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        if label.len() > 6 || rest.starts_with('(') {
            break;
        }
        beside |= label == "P";
        title = rest.trim_start().to_owned();
    }
    let status = node.mark.map(crate::items::status).unwrap_or_default();
    let (at, end) = (reading.at_index(node.index), reading.end_index(node.end));
    let mut task = Task { at, end, id, title, group, status, beside, ..Task::default() };
    task.files = spans(&node.text)
        .into_iter()
        .map(|s| s.code.trim().to_owned())
        .filter(|code| is_path(code))
        .collect();
    let slashed = |word: &&str| word.bytes().any(|byte| byte == b'/') && !word.contains('`');
    let bare =
        node.text.split_whitespace().filter(slashed).map(|word| word.trim_matches(['(', ')', ',', '.', ';']));
    task.files.extend(bare.filter(|word| is_path(word)).map(str::to_owned));
    task.files.dedup();
    for child in &node.children {
        detail(reading, child, &mut task);
    }
    task.steps = steps(&node.children);
    task
}

// What stands below an item: a field, or words.
fn detail(reading: &Reading<'_, '_>, node: &Node<'_>, task: &mut Task) {
    let whole = node.whole();
    let text = whole.trim_matches('_');
    let found = crate::text::field(text)
        .and_then(|(word, rest)| Some((fields::name(&word)?, rest.trim_matches('_'))));
    match found {
        Some((Name::Files, rest)) => {
            let below: Vec<&str> = node.children.iter().map(|child| &*child.text).collect();
            let rest = if below.is_empty() { rest.to_owned() } else { below.join("\n") };
            task.files.extend(paths(&rest));
        }
        Some((Name::Needs, rest)) => task.needs.extend(needed_tasks(rest)),
        Some((Name::Done, rest)) => task.done = rest.to_owned(),
        Some((Name::Complexity, rest)) => task.complexity = Complexity::read(rest),
        Some((Name::Verify, _)) => task.verify.push(verify_item(&whole, reading.at_index(node.index))),
        Some((Name::Criteria, _)) => {
            let own =
                node.children.iter().map(|child| criterion(&child.whole(), reading.at_index(child.index)));
            task.criteria.extend(own);
        }
        Some((Name::Aside, _)) => {}
        _ if node.mark.is_some() => {}
        _ => {
            let end = if task.action.is_empty() { "" } else { "\n" };
            [end, "- ", &whole].iter().for_each(|piece| task.action.push_str(piece));
        }
    }
}

fn verify_item(text: &str, at: Place) -> Criterion {
    let text = decode(text);
    let mut found = checks(&text);
    if found.is_empty()
        && let Some(span) = spans(&text).first().filter(|span| looks_like_one(span.code))
    {
        found.push(check(span.code, None));
    }
    Criterion { at, text, checks: found }
}
