//! The native format: `segue.plan.toml`. What is written out is read again as the same plan.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{NoPlan, source};
use crate::model::{Format, Place, Plan};
use crate::text::Doc;

/// Whether a text is meant to be one: it has a table of phases that is no code in Markdown.
pub(crate) fn is_native(text: &str) -> bool {
    let begins =
        |line: &str| matches!(line.trim_end(), "[[phase]]" | "[[ phase ]]") || line.starts_with("[[phase]]");
    if !text.contains("[[") || !text.lines().any(begins) {
        return false;
    }
    Doc::new(text).lines.iter().any(|line| !line.code && begins(line.raw))
}

/// Reads it.
pub(crate) fn read(name: &str, text: &str) -> Result<Plan, NoPlan> {
    let broken = |error: &toml::de::Error| NoPlan::Broken {
        file: name.to_owned(),
        line: error.span().map_or(1, |span| line_of(text, span.start)),
        why: error.message().trim().to_owned(),
    };
    let mut plan: Plan = toml::from_str(text).map_err(|error| broken(&error))?;
    plan.format = Format::Native;
    plan.files = vec![source(name, &Doc::new(text))];
    // Boxes in a text of TOML are no boxes.
    plan.files.iter_mut().for_each(|file| (file.boxes, file.ticked) = (0, 0));
    place(&mut plan, text);
    Ok(plan)
}

/// Writes a plan in the native format.
///
/// # Errors
/// None that is known: every plan can be written.
pub fn write(plan: &Plan) -> Result<String, toml::ser::Error> {
    toml::to_string_pretty(plan)
}

fn line_of(text: &str, byte: usize) -> u32 {
    let before = text.as_bytes().get(..byte.min(text.len())).unwrap_or_default();
    u32::try_from(before.iter().filter(|byte| **byte == b'\n').count() + 1).unwrap_or(u32::MAX)
}

/// Lines by byte, so that each is looked up and not counted.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        Self(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect())
    }

    fn at(&self, byte: usize) -> Place {
        let line = self.0.partition_point(|end| *end < byte) + 1;
        Place { file: 0, line: u32::try_from(line).unwrap_or(u32::MAX) }
    }
}

// Where everything stands: the values again, with their spans.
fn place(plan: &mut Plan, text: &str) {
    let Ok(table) = DeTable::parse(text) else { return };
    let (table, lines) = (table.get_ref(), Lines::new(text));
    for (gate, value) in plan.gates.iter_mut().zip(list(table, "gate")) {
        gate.at = lines.at(value.span().start);
    }
    for (phase, value) in plan.phases.iter_mut().zip(list(table, "phase")) {
        phase.at = lines.at(value.span().start);
        phase.needs_at = phase.at;
        let Some(own) = value.get_ref().as_table() else { continue };
        if let Some(needs) = own.get("needs") {
            phase.needs_at = lines.at(needs.span().start);
        }
        for (gate, value) in phase.gates.iter_mut().zip(list(own, "gate")) {
            gate.at = lines.at(value.span().start);
        }
        let criteria = phase.criteria.iter_mut().zip(list(own, "criterion"));
        for (criterion, value) in criteria.chain(phase.verify.iter_mut().zip(list(own, "verify"))) {
            criterion.at = lines.at(value.span().start);
        }
        for (task, value) in phase.tasks.iter_mut().zip(list(own, "task")) {
            task.at = lines.at(value.span().start);
            let Some(own) = value.get_ref().as_table() else { continue };
            let criteria = task.criteria.iter_mut().zip(list(own, "criterion"));
            for (criterion, value) in criteria.chain(task.verify.iter_mut().zip(list(own, "verify"))) {
                criterion.at = lines.at(value.span().start);
            }
        }
    }
}

fn list<'t, 'a>(table: &'t DeTable<'a>, name: &str) -> impl Iterator<Item = &'t Spanned<DeValue<'a>>> {
    let array = table.get(name).and_then(|value| value.get_ref().as_array());
    array.into_iter().flat_map(|array| array.iter())
}
