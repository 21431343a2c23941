//! A text with a heading for each phase: road maps, and lists of tasks in phases.

use std::collections::BTreeMap;

use super::sections::{Kind, kind};
use super::tasks::is_box;
use super::{Reading, bullets, gates, order, phase};
use crate::ids;
use crate::model::{Format, Phase, Plan, Status};
use crate::text::{Doc, Front, Heading, Mark, Range, item, plain};

/// Whether a text is one, and of which kind.
pub(crate) fn shape(doc: &Doc<'_>) -> Option<Format> {
    let parts = parts(doc);
    let with_work = |part: &Part| {
        let body = doc.slice(part.body);
        body.iter().any(|line| line.is_prose() && item(line.text).is_some())
            || doc.inside(part.body).next().is_some()
    };
    if parts.is_empty() || !parts.iter().any(with_work) {
        return None;
    }
    let names = ["goal", "depends on", "success criteria", "requirements", "plans"];
    let fielded = |part: &Part| {
        let lines = doc.slice(part.body).iter().filter(|line| line.is_prose());
        let found = lines
            .filter_map(|line| crate::text::field(line.text))
            .filter(|(name, _)| names.iter().any(|n| name.starts_with(n)));
        found.count() >= 2
    };
    Some(if parts.iter().any(fielded) { Format::Roadmap } else { Format::Phases })
}

/// A section that is a phase.
#[derive(Debug, Clone)]
struct Part {
    /// Its heading's line, by index.
    index: usize,
    body: Range,
    id: String,
    title: String,
    /// Whether the plan calls it a phase; else it is a section beside the phases that has check boxes.
    named: bool,
}

// The headings of the outermost level that has phases, first level left out when there is only one of it.
fn parts(doc: &Doc<'_>) -> Vec<Part> {
    let named = |heading: &Heading<'_>| {
        let (id, title) = ids::part(heading.title).filter(|_| !only_mentions(heading.title))?;
        Some((heading.level, Part { index: heading.index, body: heading.body, id, title, named: true }))
    };
    let all: Vec<(usize, Part)> = doc.headings.iter().filter_map(named).collect();
    let count = |level: usize| all.iter().filter(|(own, _)| *own == level).count();
    // A plan of one phase is called by it; a lone heading may also just mention one.
    let level = (1..=4).find(|level| count(*level) >= 2).or_else(|| (2..=4).find(|level| count(*level) == 1));
    let found = all.into_iter().filter(|(own, _)| Some(*own) == level).map(|(_, part)| part);
    // "Phase 1" that comes twice is a summary and the thing itself; the longer one is.
    let mut kept: Vec<Part> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for part in found {
        let key = format!("{} {}", ids::canonical(&part.id), part.title.to_lowercase());
        let size = |part: &Part| part.body.to - part.body.from;
        match known.get(&key) {
            Some(at) if size(&kept[*at]) < size(&part) => kept[*at] = part,
            Some(_) => {}
            None => {
                known.insert(key, kept.len());
                kept.push(part);
            }
        }
    }
    without_doubles(doc, kept)
}

// "Parallel Example: Phase 2" is about a phase.
fn only_mentions(title: &str) -> bool {
    let title = plain(title).to_lowercase();
    let before = title.find("phase").map_or("", |at| &title[..at]);
    let words =
        ["parallel", "example", "within", "after ", "before ", "checkpoint", "summary", "status of", "notes"];
    before.trim_end().ends_with(':') || words.iter().any(|word| before.trim_start().starts_with(word))
}

// Of two phases with the same id and other titles, one that has work is the phase; where both have, the later is renamed.
fn without_doubles(doc: &Doc<'_>, parts: Vec<Part>) -> Vec<Part> {
    let boxes = |part: &Part| doc.slice(part.body).iter().filter(|line| is_box(line)).count();
    let mut kept: Vec<Part> = Vec::new();
    for mut part in parts {
        let twin = kept.iter().position(|known| ids::same(&known.id, &part.id));
        match twin {
            Some(at) if boxes(&kept[at]) == 0 && boxes(&part) > 0 => kept[at] = part,
            Some(_) if boxes(&part) == 0 => {}
            Some(_) => {
                let taken = |id: &str| kept.iter().any(|known| ids::same(&known.id, id));
                let free = (2..).map(|n| format!("{}-{n}", part.id)).find(|id| !taken(id));
                part.id = free.unwrap_or_default();
                kept.push(part);
            }
            None => kept.push(part),
        }
    }
    kept.sort_by_key(|part| part.index);
    kept
}

// Sections beside the phases that have check boxes which say nothing about a phase and are no criteria: each a phase, too.
fn with_loose(doc: &Doc<'_>, mut parts: Vec<Part>) -> Vec<Part> {
    let inside = |index: usize| parts.iter().any(|part| part.body.has(index));
    let held = |index: usize| {
        let around = doc.headings.iter().filter(|heading| heading.body.has(index));
        around.map(|heading| kind(heading.title)).any(|kind| matches!(kind, Kind::Criteria | Kind::Success))
    };
    let names_phase = |text: &str| item(text).is_some_and(|item| ids::heading(item.text).is_some());
    let mut loose: Vec<Part> = Vec::new();
    for (index, line) in doc.lines.iter().enumerate().filter(|(_, line)| is_box(line)) {
        let seen = loose.last().is_some_and(|last| last.body.has(index));
        if seen || inside(index) || held(index) || names_phase(line.text) {
            continue;
        }
        let around = doc.headings.iter().filter(|heading| heading.body.has(index));
        let free = |heading: &&Heading<'_>| !parts.iter().any(|part| heading.body.has(part.index));
        let (at, title) =
            around.clone().find(free).map_or((index, "Tasks"), |heading| (heading.index + 1, heading.title));
        let end = around.clone().find(free).map_or(doc.lines.len(), |heading| heading.body.to);
        let next = parts.iter().map(|part| part.index).filter(|part| *part > index).min().unwrap_or(end);
        let body = Range { from: at, to: end.min(next) };
        let title = plain(title);
        loose.push(Part { index: at.saturating_sub(1), body, id: slug(&title), title, named: false });
    }
    for mut part in loose {
        let taken = |id: &str| parts.iter().any(|known| ids::same(&known.id, id));
        if taken(&part.id) {
            part.id = (2..).map(|n| format!("{}-{n}", part.id)).find(|id| !taken(id)).unwrap_or_default();
        }
        parts.push(part);
    }
    parts.sort_by_key(|part| part.index);
    parts
}

fn slug(title: &str) -> String {
    let words = title.to_lowercase();
    let words: Vec<&str> =
        words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(4).collect();
    if words.is_empty() { "tasks".to_owned() } else { words.join("-") }
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
    let parts = with_loose(doc, parts(doc));
    let ticked = ticked(doc);
    let first = plan.phases.len();
    for part in &parts {
        let mut phase = Phase::new(part.id.clone());
        (phase.title, phase.at) = (part.title.clone(), reading.at_index(part.index));
        phase::fill(reading, part.body, &mut phase, plan);
        let title = doc.lines.get(part.index).map_or("", |line| line.text);
        let done = title.contains('✅') || ticked.get(&ids::canonical(&part.id)) == Some(&Mark::Done);
        let open = phase.tasks.iter().any(|task| !task.status.is_over());
        if phase.status == Status::Pending && done && !(open && part.named && doc.boxes().0 > 0) {
            phase.status = Status::Completed;
        }
        plan.phases.push(phase);
    }
    if doc.boxes().0 == 0 {
        parts
            .iter()
            .zip(&mut plan.phases[first..])
            .for_each(|(part, phase)| bullets::fill(reading, part.body, phase));
    }
    let said: Vec<Option<&str>> = parts.iter().map(|part| stated(doc, part.body)).collect();
    order::resolve(&mut plan.phases[first..], &said);
    let inside = |index: usize| parts.iter().any(|part| part.body.has(index));
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

/// What a phase says about what comes before it.
pub(crate) fn stated<'a>(doc: &Doc<'a>, body: Range) -> Option<&'a str> {
    let lines = doc.slice(body).iter().take(30).filter(|line| line.is_prose());
    let names = [
        "depends on",
        "dependencies",
        "depends",
        "blocked by",
        "after",
        "requires",
        "prerequisites",
        "needs",
    ];
    lines
        .filter_map(|line| crate::text::field(line.text))
        .find(|(name, _)| names.contains(&name.as_str()))
        .map(|(_, rest)| rest)
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
