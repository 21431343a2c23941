//! One task in words: a prompt, for a single run or a loop.

use super::sections::{Kind, kind};
use super::{Files, NoPlan, Reading, gates, source, task_text, text};
use crate::model::{Format, Phase, Plan, Task};
use crate::text::{Doc, Range, plain};

/// Words that a loop ends with.
const ENDINGS: [&str; 4] = ["LOOP_COMPLETE", "<promise>", "TASK_COMPLETE", "COMPLETION_PROMISE"];

/// Whether a text is a prompt by what is in it: it says how it ends, or how it is verified.
pub(crate) fn is_prompt(doc: &Doc<'_>) -> bool {
    let ends = doc.lines.iter().any(|line| ENDINGS.iter().any(|word| line.text.contains(word)));
    let reading = Reading { doc, file: 0, offset: 0 };
    let said = |wanted: &[Kind], says: &dyn Fn(Range) -> bool| {
        doc.headings.iter().any(|heading| wanted.contains(&kind(heading.title)) && says(heading.body))
    };
    let held = |body| !task_text::criteria_in(&reading, body, "").is_empty();
    let gated = |body| !gates::lenient(&reading, body).is_empty();
    ends || said(&[Kind::Criteria, Kind::Success], &held) || said(&[Kind::Gates, Kind::Validation], &gated)
}

/// Reads any text as one task, whatever is in it: for a caller that was told that it is a prompt.
///
/// # Errors
/// It is no text, or empty.
pub fn read_prompt(name: &str, bytes: &[u8], files: &dyn Files) -> Result<Plan, NoPlan> {
    match super::read_plan(name, bytes, files) {
        Err(NoPlan::NoStructure(_)) => {
            let text = text(name, bytes)?;
            let doc = Doc::new(&text);
            let mut plan =
                Plan { format: Format::Prompt, files: vec![source(name, &doc)], ..Plan::default() };
            read(&Reading { doc: &doc, file: 0, offset: 0 }, &mut plan);
            Ok(plan)
        }
        read => read,
    }
}

/// One phase with one task that is all of the text.
pub(crate) fn read(reading: &Reading<'_, '_>, plan: &mut Plan) {
    let doc = reading.doc;
    let first = doc.lines.iter().find(|line| !line.text.is_empty());
    let title = doc.headings.first().map(|h| h.title).or(first.map(|l| l.text)).unwrap_or_default();
    let title: String = plain(title).chars().take(120).collect();
    let mut phase = Phase::new("1");
    phase.at = reading.at(1);
    super::phase::fill(reading, doc.all(), &mut phase, plan);
    let criteria = std::mem::take(&mut phase.criteria);
    let action = doc.text(doc.all());
    phase.tasks = vec![Task {
        at: phase.at,
        id: "1".to_owned(),
        title: title.clone(),
        action,
        criteria,
        ..Task::default()
    }];
    (phase.title, plan.title) = (title.clone(), title);
    plan.phases.push(phase);
}
