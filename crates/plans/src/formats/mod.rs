//! From text to a plan. A shape is recognised by what is in a file, never by its name.
//!
//! Most shapes are one phase or several sections that are read as one phase each (`phase.rs`); what differs is where
//! the phases are (`master.rs`, `phased.rs`, `folder.rs`, `json.rs`, `native.rs`).

mod assign;
mod beads;
mod bullets;
mod collection;
mod fields;
mod files;
mod folder;
mod gates;
mod json;
mod json_items;
mod list;
mod master;
mod native;
mod not_read;
mod notes;
mod order;
mod phase;
mod phase_head;
mod phased;
mod prompt;
mod recognise;
mod sections;
mod signs;
mod surroundings;
mod tags;
mod task_list;
mod task_text;
mod tasks;
mod todos;

pub use assign::done_items;
pub use collection::PlanFile;
pub use files::{Files, NoFiles};
pub use folder::{plans, read_folder};
pub use native::write;
pub use prompt::read_prompt;
use recognise::Layout;

use thiserror::Error;

use crate::context::Recognition;
use crate::items::Item;
use crate::model::{Format, Place, Plan, Source, Task};
use crate::text::Doc;

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
    /// It is text in another encoding.
    #[error("{0} is UTF-16. Convert it: iconv -f UTF-16 -t UTF-8 '{0}' > plan.tmp && mv plan.tmp '{0}'")]
    Utf16(String),
    /// It could be of several formats.
    #[error("{file} could be of several formats. Choose one:{}", choices(file, formats))]
    Ambiguous {
        /// The file.
        file: String,
        /// The formats, best first.
        formats: Vec<Format>,
    },
    /// It is too large to be one.
    #[error(
        "{0} has {1} bytes, and a plan may have 16 MB: keep what is open and its details, and move what is done to \
         another file"
    )]
    TooLarge(String, usize),
    /// It looks like TOML or JSON and is not.
    #[error("{file}:{line}: {why}: fix it there")]
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

fn choices(file: &str, formats: &[Format]) -> String {
    formats.iter().map(|format| format!("\n  segue run --format {} {file}", format.name())).collect()
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
/// It is no text, broken TOML or JSON, has no structure, or could be of several formats.
pub fn read_plan(name: &str, bytes: &[u8], files: &dyn Files) -> Result<Plan, NoPlan> {
    read_plan_as(name, bytes, files, None)
}

/// Reads a plan in the format that a person chose, or in the one that it is recognised as.
///
/// # Errors
/// As for [`read_plan`].
pub fn read_plan_as(
    name: &str,
    bytes: &[u8],
    files: &dyn Files,
    told: Option<Format>,
) -> Result<Plan, NoPlan> {
    let text = text(name, bytes)?;
    let raw = std::str::from_utf8(bytes).unwrap_or_default();
    if told.is_none_or(Format::is_data)
        && let Some(mut plan) = structured(name, raw, files)?
    {
        plan.recognition =
            Recognition { score: 100, reasons: vec!["its keys".to_owned()], ..Recognition::default() };
        plan.documents = surroundings::documents(name, files);
        return Ok(plan);
    }
    let doc = Doc::new(&text);
    let (format, recognition) =
        recognise::recognise(name, &doc, told)?.ok_or_else(|| NoPlan::NoStructure(name.to_owned()))?;
    let mut plan = Plan { format, recognition, files: vec![source(name, &doc)], ..Plan::default() };
    let reading = Reading { doc: &doc, file: 0, offset: 0 };
    let layout = recognise::layout(format, &doc);
    match layout {
        Layout::Master => master::read(&reading, files, &mut plan),
        Layout::Phased => phased::read(&reading, &mut plan),
        Layout::Prompt => prompt::read(&reading, &mut plan),
        Layout::Todos => todos::read(&reading, &mut plan),
        Layout::Alone => phase::read_alone(&reading, &mut plan),
    }
    whole_as_task(&reading, &mut plan);
    not_read::note(&reading, &mut plan);
    assign::boxes_of(&mut plan, 0, raw, &doc);
    if layout == Layout::Todos {
        todos::assign(&mut plan, &doc, raw, 0);
    }
    surroundings::read(&reading, &mut plan);
    plan.documents = surroundings::documents(name, files);
    let empty = plan.phases.iter().all(|phase| phase.tasks.is_empty() && phase.gates.is_empty());
    if plan.phases.is_empty() || (empty && !matches!(format, Format::DebussyMaster | Format::Roadmap)) {
        return Err(NoPlan::NoStructure(name.to_owned()));
    }
    Ok(plan)
}

// Where all check boxes are criteria, each phase is one task that is held to them.
fn whole_as_task(reading: &Reading<'_, '_>, plan: &mut Plan) {
    let boxes = reading.doc.boxes().0 > 0;
    if !boxes
        || plan.format == Format::DebussyMaster
        || plan.phases.iter().any(|phase| !phase.tasks.is_empty())
    {
        return;
    }
    for phase in &mut plan.phases {
        let at = if phase.alone { reading.at(1) } else { phase.at };
        let (end, title, action) = (phase.end, phase.title.clone(), phase.text.clone());
        phase.tasks = vec![Task {
            at,
            end,
            id: "1".to_owned(),
            title,
            status: phase.status,
            action,
            ..Task::default()
        }];
    }
}

/// The items of the text of one file.
///
/// # Errors
/// It is data and cannot be read.
pub(crate) fn items_of(name: &str, text: &str, format: Format) -> Result<Vec<Item>, NoPlan> {
    if format == Format::Native {
        return Ok(Vec::new());
    }
    if format.is_data() {
        let plan = structured(name, text, &NoFiles)?;
        return Ok(plan.map(|plan| plan.all_items().cloned().collect()).unwrap_or_default());
    }
    let mut items = crate::items::boxes(text, 0);
    if format == Format::Cursor {
        let lines = crate::items::raw_lines(text);
        items.extend(todos::items(&Doc::of_lines(lines.iter().map(|(_, line)| *line)), Some(text), 0));
    }
    Ok(items)
}

// TOML or JSON, when it is either. The text is as it is stored.
fn structured(name: &str, raw: &str, files: &dyn Files) -> Result<Option<Plan>, NoPlan> {
    let text = raw.strip_prefix('\u{feff}').unwrap_or(raw);
    if text.trim_start().starts_with(['{', '[']) && !native::is_native(text) {
        let mut plan = json::read(name, text, files)?;
        let shift = raw.len() - text.len();
        let phases = plan.iter_mut().flat_map(|plan| &mut plan.phases);
        for phase in phases.filter(|_| shift > 0) {
            let own = phase.items.iter_mut().chain(phase.tasks.iter_mut().flat_map(|task| &mut task.items));
            own.filter(|item| item.mark.to > 0).for_each(|item| item.mark.shift(shift));
        }
        return Ok(plan);
    }
    if native::is_native(text) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        return native::read(name, &text).map(Some);
    }
    Ok(None)
}

/// The text of a file, with line ends of one kind and without a mark at its start.
pub(crate) fn text(name: &str, bytes: &[u8]) -> Result<String, NoPlan> {
    if bytes.len() > MOST_BYTES {
        return Err(NoPlan::TooLarge(name.to_owned(), bytes.len()));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(NoPlan::Utf16(name.to_owned()));
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
    Source {
        name: name.to_owned(),
        lines: u32::try_from(doc.lines.len()).unwrap_or(u32::MAX),
        boxes,
        ticked,
        ..Source::default()
    }
}
