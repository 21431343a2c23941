//! The head of a phase: the fields between its heading and its first section.

use super::fields::{self, Name};
use super::{Reading, task_text};
use crate::ids;
use crate::model::{Phase, Status};
use crate::text::{Line, Range, field, plain};

/// Reads the head of the phase that stands in a range.
pub(crate) fn read(reading: &Reading<'_, '_>, range: Range, phase: &mut Phase) {
    let mut below =
        reading.doc.inside(range).filter(|heading| heading.level > 1 || heading.index > range.from);
    let end = below.find(|heading| heading.level > 1).map_or(range.to, |heading| heading.index);
    let head = Range { from: range.from, to: end };
    let mut with_criteria = false;
    // Without a first section all of a long text is its head, and few lines of it are fields.
    for line in reading.doc.slice(head).iter().filter(|line| line.is_prose() && line.text.contains(':')) {
        if let Some((name, rest)) = fields::read(line) {
            with_criteria |= name == Name::Criteria;
            order(reading, line, (name, rest), phase);
        }
        who(line, phase);
    }
    if with_criteria {
        criteria(reading, head, phase);
    }
}

// When it is worked on.
fn order(reading: &Reading<'_, '_>, line: &Line<'_>, (name, rest): (Name, &str), phase: &mut Phase) {
    match name {
        Name::Needs if phase.needs.is_empty() => {
            phase.needs = ids::needed(rest).into_iter().map(|needed| needed.id).collect();
            phase.needs_at = reading.at(line.no);
        }
        Name::Status => phase.status = Status::read(rest).unwrap_or(phase.status),
        Name::Wave => phase.wave = rest.trim().parse().ok().or(phase.wave),
        Name::Needs | Name::Files | Name::Read | Name::Action | Name::Verify => {}
        Name::Criteria | Name::Done | Name::Complexity | Name::Aside => {}
    }
}

// What it is for, and who works on it.
fn who(line: &Line<'_>, phase: &mut Phase) {
    let Some((name, rest)) = field(line.text) else { return };
    let value = || Some(plain(rest).trim_matches('`').to_owned()).filter(|value| !value.is_empty());
    match name.as_str() {
        "goal" | "purpose" if phase.about.is_empty() => phase.about = rest.to_owned(),
        "agent" => phase.agent = value(),
        "role" => phase.role = value(),
        "policy" => phase.policy = value(),
        _ => {}
    }
}

// Success criteria are often a field with a list below it.
fn criteria(reading: &Reading<'_, '_>, head: Range, phase: &mut Phase) {
    let own = fields::fields(reading, head);
    let Some(field) = fields::find(&own, Name::Criteria) else { return };
    let found = task_text::criteria_in(reading, until_field(reading, field.body), "");
    phase.criteria.extend(found.into_iter().filter(|criterion| !criterion.text.is_empty()));
}

// A list that belongs to a field ends where another bold line begins.
fn until_field(reading: &Reading<'_, '_>, body: Range) -> Range {
    let lines = reading.doc.slice(body);
    let end = lines.iter().position(|line| {
        line.is_prose() && line.indent == 0 && (line.text.starts_with("**") || line.text == "Plans:")
    });
    Range { from: body.from, to: end.map_or(body.to, |end| body.from + end) }
}
