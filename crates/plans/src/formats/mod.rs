//! From text to a plan. A shape is recognised by what is in a file, never by its name.
//!
//! Most shapes are one phase or several sections that are read as one phase each (`phase.rs`); what differs is where
//! the phases are (`master.rs`, `phased.rs`, `folder.rs`, `json.rs`, `native.rs`).

mod assign;
mod fields;
mod files;
mod folder;
mod gates;
mod json;
mod list;
mod master;
mod native;
mod notes;
mod phase;
mod phase_head;
mod phased;
mod prompt;
mod sections;
mod surroundings;
mod task_list;
mod task_text;
mod tasks;

pub use assign::done_items;
pub use files::{Files, NoFiles};
pub use folder::read_folder;
pub use native::write;
pub use prompt::read_prompt;

use thiserror::Error;

use crate::items::Item;
use crate::model::{Format, Place, Plan, Source};
use crate::text::{Doc, Front};

/// The largest file that is read as a plan.
pub const MOST_BYTES: usize = 16 << 20;

/// A text that is no plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoPlan {
    /// There is nothing in it.
    #[error("{0} is empty: write down what is to be done, phase by phase or task by task")]
    Empty(String),
    /// It is no text.
    #[error("{0} is not a text file (byte {1} is not UTF-8): give a plan as text")]
    NotText(String, usize),
    /// It is too large to be one.
    #[error("{0} has {1} bytes, more than a plan may have: split it")]
    TooLarge(String, usize),
    /// It looks like TOML or JSON and is not.
    #[error("{file}:{line}: {why}: mend it there")]
    Broken {
        /// The file.
        file: String,
        /// The line.
        line: u32,
        /// What is wrong.
        why: String,
    },
    /// There is nothing in it that could be done step by step.
    #[error(
        "{0} has no phases, tasks or check boxes, so there is nothing to run one by one. Give each piece of work a \
         heading (### Task 1: …) or a check box (- [ ] …) and say how it is verified (## Validation Commands, or gates \
         in segue.toml); `segue run {0}` runs the whole text as one task"
    )]
    NoStructure(String),
}

/// One file that is being read.
pub(crate) struct Reading<'d, 'a> {
    /// Its lines.
    pub(crate) doc: &'d Doc<'a>,
    /// Its number in the plan.
    pub(crate) file: u32,
    /// What is added to its lines' numbers: it may be a piece of a file.
    pub(crate) offset: u32,
}

impl Reading<'_, '_> {
    /// Where a line stands.
    pub(crate) fn at(&self, line: u32) -> Place {
        Place { file: self.file, line: line.saturating_add(self.offset) }
    }

    /// The number of the line after the one before that index.
    pub(crate) fn end_index(&self, index: usize) -> u32 {
        self.at_index(index.saturating_sub(1)).line.saturating_add(1)
    }

    /// Where the line of that index stands.
    pub(crate) fn at_index(&self, index: usize) -> Place {
        self.at(self.doc.lines.get(index).map_or(0, |line| line.no))
    }
}

/// Reads a plan. `name` is how messages call it and what links in it are seen from; `files` gives what it links to.
///
/// # Errors
/// It is no text, broken TOML or JSON, or has no structure.
pub fn read_plan(name: &str, bytes: &[u8], files: &dyn Files) -> Result<Plan, NoPlan> {
    let text = text(name, bytes)?;
    if let Some(plan) = structured(name, &text)? {
        return Ok(plan);
    }
    let doc = Doc::new(&text);
    let shape = shape(&doc).ok_or_else(|| NoPlan::NoStructure(name.to_owned()))?;
    let mut plan = Plan { format: shape, files: vec![source(name, &doc)], ..Plan::default() };
    let reading = Reading { doc: &doc, file: 0, offset: 0 };
    match shape {
        Format::DebussyMaster => master::read(&reading, files, &mut plan),
        Format::Roadmap | Format::Phases => phased::read(&reading, &mut plan),
        Format::Prompt => prompt::read(&reading, &mut plan),
        Format::Gsd
        | Format::Autopilot
        | Format::DebussyPhase
        | Format::Tasks
        | Format::Checklist
        | Format::Native
        | Format::Json => {
            phase::read_alone(&reading, &mut plan);
        }
    }
    let empty = plan.phases.iter().all(|phase| phase.tasks.is_empty() && phase.gates.is_empty());
    if let Ok(raw) = std::str::from_utf8(bytes) {
        assign::boxes_of(&mut plan, 0, raw, &doc);
    }
    surroundings::read(&reading, &mut plan);
    plan.documents = surroundings::documents(name, files);
    if plan.phases.is_empty() || (empty && !matches!(shape, Format::DebussyMaster | Format::Roadmap)) {
        return Err(NoPlan::NoStructure(name.to_owned()));
    }
    Ok(plan)
}

/// The items of the text of one file.
pub(crate) fn items_of(_name: &str, text: &str, format: Format) -> Result<Vec<Item>, NoPlan> {
    let boxed = !matches!(format, Format::Json | Format::Native);
    Ok(if boxed { assign::of_text(text) } else { Vec::new() })
}

// TOML or JSON, when it is either.
fn structured(name: &str, text: &str) -> Result<Option<Plan>, NoPlan> {
    if text.trim_start().starts_with(['{', '[']) && !native::is_native(text) {
        return json::read(name, text);
    }
    if native::is_native(text) { native::read(name, text).map(Some) } else { Ok(None) }
}

/// The text of a file, with line ends of one kind and without a mark at its start.
pub(crate) fn text(name: &str, bytes: &[u8]) -> Result<String, NoPlan> {
    if bytes.len() > MOST_BYTES {
        return Err(NoPlan::TooLarge(name.to_owned(), bytes.len()));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| NoPlan::NotText(name.to_owned(), e.valid_up_to()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(NoPlan::Empty(name.to_owned()));
    }
    Ok(if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_owned() })
}

/// What a plan remembers of a file.
pub(crate) fn source(name: &str, doc: &Doc<'_>) -> Source {
    let (boxes, ticked) = doc.boxes();
    Source { name: name.to_owned(), lines: u32::try_from(doc.lines.len()).unwrap_or(u32::MAX), boxes, ticked }
}

/// The shape of a text in Markdown.
pub(crate) fn shape(doc: &Doc<'_>) -> Option<Format> {
    let front = Front::read(doc);
    let keys = ["phase", "plan", "wave", "depends_on", "files_modified", "must_haves", "autonomous"];
    if front.as_ref().is_some_and(|front| keys.iter().filter(|key| front.get(&[key]).is_some()).count() >= 2)
    {
        return Some(Format::Gsd);
    }
    if doc.opening(doc.all(), "task").is_some() {
        return Some(if front.is_some() { Format::Gsd } else { Format::Autopilot });
    }
    if master::is_master(doc) {
        return Some(Format::DebussyMaster);
    }
    if phase::is_debussy(doc) {
        return Some(Format::DebussyPhase);
    }
    if let Some(shape) = phased::shape(doc) {
        return Some(shape);
    }
    if tasks::has_headings(doc, doc.all()) {
        return Some(Format::Tasks);
    }
    if doc.lines.iter().any(tasks::is_box) || tasks::has_section(doc, doc.all()) {
        return Some(Format::Checklist);
    }
    prompt::is_prompt(doc).then_some(Format::Prompt)
}
