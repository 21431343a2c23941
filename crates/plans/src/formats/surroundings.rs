//! What stands around the work: the header of a plan, its notes and constraints, and the documents beside it.

use super::{Files, Reading};
use crate::context::{Section, SectionKind};
use crate::model::Plan;
use crate::text::{Range, join, plain};

/// How titles of sections begin that are for whoever does the work.
const TITLES: [(SectionKind, &[&str]); 5] = [
    (
        SectionKind::OutOfScope,
        &["out of scope", "out-of-scope", "non-goals", "non goals", "not in scope", "deferred"],
    ),
    (
        SectionKind::Constraints,
        &[
            "constraint",
            "global constraint",
            "risk",
            "rule",
            "guardrail",
            "technical constraint",
            "assumption",
            "security",
        ],
    ),
    (
        SectionKind::Testing,
        &["test strategy", "testing", "test plan", "independent test", "validation strategy"],
    ),
    (
        SectionKind::Order,
        &["dependencies", "execution order", "phase dependencies", "parallel", "implementation strategy"],
    ),
    (
        SectionKind::Notes,
        &[
            "note",
            "context",
            "pattern",
            "dev note",
            "decision",
            "technical detail",
            "technical approach",
            "reference",
            "path convention",
            "architecture",
            "background",
            "implementation note",
            "surprises",
            "idempotence",
            "interfaces",
        ],
    ),
];

/// Names of documents that belong to a plan in the same folder.
const DOCUMENTS: [&str; 16] = [
    "spec.md",
    "design.md",
    "requirements.md",
    "proposal.md",
    "plan.md",
    "research.md",
    "data-model.md",
    "quickstart.md",
    "context.md",
    "CONTEXT.md",
    "product.md",
    "tech.md",
    "bugfix.md",
    "spec-lite.md",
    "README.md",
    "PRD.md",
];

/// Reads header and sections of the file that is read.
pub(crate) fn read(reading: &Reading<'_, '_>, plan: &mut Plan) {
    let doc = reading.doc;
    let inside = |line: u32| {
        let holds = |at: u32, end: u32| at <= line && line < end;
        let of_file = || plan.phases.iter().filter(|phase| phase.at.file == reading.file);
        let tasks = of_file().flat_map(|phase| &phase.tasks).any(|task| holds(task.at.line, task.end));
        tasks || (of_file().count() > 1 && of_file().any(|phase| holds(phase.at.line, phase.end)))
    };
    let first = doc.lines.iter().position(|line| inside(line.no)).unwrap_or(doc.lines.len());
    // A heading right above the first task belongs to the work.
    let section = doc.headings.iter().rfind(|heading| heading.index < first && heading.level > 1);
    let end = section.map_or(first, |heading| heading.index.min(first));
    plan.header = doc.text(Range { from: 0, to: end });
    let mut covered = 0;
    for heading in &doc.headings {
        let at = reading.at_index(heading.index);
        let Some(kind) = kind(heading.title).filter(|_| heading.index >= covered && !inside(at.line)) else {
            continue;
        };
        let text = doc.text(heading.body);
        if !text.is_empty() {
            covered = heading.body.to;
            plan.sections.push(Section { at, kind, title: plain(heading.title), text });
        }
    }
}

fn kind(title: &str) -> Option<SectionKind> {
    let title = plain(title).to_lowercase();
    let title = title.trim_start_matches(|c: char| !c.is_alphabetic());
    TITLES.iter().find(|(_, words)| words.iter().any(|word| title.starts_with(word))).map(|(kind, _)| *kind)
}

/// The documents beside a plan file that belong to it, in the order in which they are known.
pub(crate) fn documents(name: &str, files: &dyn Files) -> Vec<String> {
    let (dir, own) = name.rsplit_once('/').map_or(("", name), |(dir, own)| (dir, own));
    let there = files.list(if dir.is_empty() { "." } else { dir });
    let named =
        DOCUMENTS.iter().filter(|document| **document != own && there.iter().any(|name| name == *document));
    named.map(|document| if dir.is_empty() { (*document).to_owned() } else { join(dir, document) }).collect()
}
