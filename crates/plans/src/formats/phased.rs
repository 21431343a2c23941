//! A text with a heading for each phase: road maps, and lists of tasks in phases.

use std::collections::BTreeMap;

use super::sections::{Kind, kind};
use super::{Reading, gates, phase};
use crate::ids;
use crate::model::{Format, Phase, Plan, Status};
use crate::text::{Doc, Front, Heading, Mark, item, plain};

/// Whether a text is one, and of which kind.
pub(crate) fn shape(doc: &Doc<'_>) -> Option<Format> {
    let parts = parts(doc);
    let with_work = |(heading, ..): &(&Heading<'_>, String, String)| {
        let body = doc.slice(heading.body);
        body.iter().any(|line| line.is_prose() && item(line.text).is_some())
            || doc.inside(heading.body).next().is_some()
    };
    if parts.is_empty() || !parts.iter().any(with_work) {
        return None;
    }
    let names = ["goal", "depends on", "success criteria", "requirements", "plans"];
    let fielded = |(heading, ..): &(&Heading<'_>, String, String)| {
        let lines = doc.slice(heading.body).iter().filter(|line| line.is_prose());
        let found = lines
            .filter_map(|line| crate::text::field(line.text))
            .filter(|(name, _)| names.iter().any(|n| name.starts_with(n)));
        found.count() >= 2
    };
    Some(if parts.iter().any(fielded) { Format::Roadmap } else { Format::Phases })
}

// The headings of the outermost level that has phases, first level left out when there is only one of it.
fn parts<'d, 'a>(doc: &'d Doc<'a>) -> Vec<(&'d Heading<'a>, String, String)> {
    let named = |heading: &'d Heading<'a>| ids::part(heading.title).map(|(id, title)| (heading, id, title));
    let all: Vec<_> = doc.headings.iter().filter_map(named).collect();
    let count = |level: usize| all.iter().filter(|(heading, ..)| heading.level == level).count();
    // A plan of one phase is called by it; a lone heading may also just mention one.
    let level = (1..=4).find(|level| count(*level) >= 2).or_else(|| (2..=4).find(|level| count(*level) == 1));
    let covers =
        |(heading, ..): &&(&Heading<'_>, String, String)| level.is_some_and(|level| heading.level == level);
    let mut found: Vec<_> = all.iter().filter(covers).cloned().collect();
    // "Phase 1" that comes twice is a summary and the thing itself; the longer one is.
    found.sort_by_key(|(heading, ..)| heading.index);
    let mut kept: Vec<(&Heading<'_>, String, String)> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for part in found {
        let key = format!("{} {}", ids::canonical(&part.1), part.2.to_lowercase());
        let size = |heading: &Heading<'_>| heading.body.to - heading.body.from;
        match known.get(&key) {
            Some(at) if size(kept[*at].0) < size(part.0) => kept[*at] = part,
            Some(_) => {}
            None => {
                known.insert(key, kept.len());
                kept.push(part);
            }
        }
    }
    kept
}

/// Reads each section as a phase. Without a word about dependencies, each comes after the one before it.
pub(crate) fn read(reading: &Reading<'_, '_>, plan: &mut Plan) {
    let doc = reading.doc;
    plan.title = doc
        .headings
        .iter()
        .find(|heading| heading.level == 1)
        .map(|heading| plain(heading.title))
        .unwrap_or_default();
    if plan.title.is_empty() {
        plan.title =
            Front::read(doc).and_then(|front| front.text(&["title"]).map(str::to_owned)).unwrap_or_default();
    }
    let parts = parts(doc);
    let said: bool = parts.iter().any(|(heading, ..)| says_needs(doc, heading));
    let ticked = ticked(doc);
    let mut before: Option<String> = None;
    for (heading, id, title) in &parts {
        let mut phase = Phase::new(id.clone());
        (phase.title, phase.at) = (title.clone(), reading.at_index(heading.index));
        phase::fill(reading, heading.body, &mut phase, plan);
        if !said {
            (phase.needs, phase.needs_at) = (before.iter().cloned().collect(), phase.at);
        }
        let done = heading.title.contains('✅') || ticked.get(&ids::canonical(id)) == Some(&Mark::Done);
        if phase.status == Status::Pending && done {
            phase.status = Status::Completed;
        }
        before = Some(id.clone());
        plan.phases.push(phase);
    }
    let inside = |index: usize| parts.iter().any(|(heading, ..)| heading.body.has(index));
    for heading in doc.headings.iter().filter(|heading| !inside(heading.index)) {
        let kind = kind(heading.title);
        if kind == Kind::Gates {
            plan.gates.extend(gates::strict(reading, heading.body));
        } else if kind == Kind::Validation {
            plan.gates.extend(gates::lenient(reading, heading.body));
        } else if kind == Kind::About && plan.about.is_empty() {
            plan.about = doc.text(heading.body);
        }
    }
}

fn says_needs(doc: &Doc<'_>, heading: &Heading<'_>) -> bool {
    let lines = doc.slice(heading.body).iter().take(30).filter(|line| line.is_prose());
    lines
        .filter_map(|line| crate::text::field(line.text))
        .any(|(name, _)| name == "depends on" || name == "dependencies")
}

// The phases that "- [x] **Phase 3: …**" in a list says are done. The first that is said of a phase counts.
fn ticked(doc: &Doc<'_>) -> BTreeMap<String, Mark> {
    let mut marks = BTreeMap::new();
    for line in doc.lines.iter().filter(|line| line.is_prose()) {
        let boxed = item(line.text).and_then(|item| Some((item.mark?, ids::heading(item.text)?.0)));
        if let Some((mark, id)) = boxed {
            marks.entry(ids::canonical(&id)).or_insert(mark);
        }
    }
    marks
}
