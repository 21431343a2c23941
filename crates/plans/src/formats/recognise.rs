//! Which format a text is written in: each says how sure it is and why, and a clear margin wins.
//!
//! Signs of a format are its path, its headings, its ids and its front matter. The general shapes (phases, tasks, check
//! boxes) are what a text is when no format of a known method claims it.

use super::{NoPlan, master, phase, phased, prompt, tasks};
use crate::context::Recognition;
use crate::model::Format;
use crate::text::{Doc, Front, item};

/// Below this a format does not claim a text.
const ENOUGH: u8 = 50;

/// By how much the best must be ahead of one that would be read otherwise.
const MARGIN: u8 = 10;

/// How a Markdown text is cut into phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One phase.
    Alone,
    /// A heading for each phase.
    Phased,
    /// A table with links.
    Master,
    /// To-dos in the front matter.
    Todos,
    /// One task in words.
    Prompt,
}

/// What speaks for formats.
struct Signs<'d, 'a> {
    path: String,
    doc: &'d Doc<'a>,
    front: Option<Front>,
    headings: Vec<String>,
}

/// A sign: what it is worth, whether it is there, and how it is called.
type Sign = (u8, bool, &'static str);

/// The format of a text in Markdown, or why it is none.
pub(crate) fn recognise(
    name: &str,
    doc: &Doc<'_>,
    told: Option<Format>,
) -> Result<Option<(Format, Recognition)>, NoPlan> {
    if let Some(format) = told {
        return Ok(Some((format, Recognition { score: 100, told: true, ..Recognition::default() })));
    }
    let signs = Signs::new(name, doc);
    let mut found: Vec<(Format, u8, Vec<&'static str>)> = Vec::new();
    for (format, list) in signs.all() {
        let there: Vec<&Sign> = list.iter().filter(|(_, there, _)| *there).collect();
        let score = there.iter().fold(0_u8, |sum, (worth, ..)| sum.saturating_add(*worth)).min(100);
        if score >= ENOUGH {
            found.push((format, score, there.iter().map(|(.., why)| *why).collect()));
        }
    }
    if let Some((format, why)) = general(doc, signs.front.as_ref()) {
        let score = if matches!(
            format,
            Format::Gsd | Format::Autopilot | Format::DebussyMaster | Format::DebussyPhase
        ) {
            80
        } else {
            30
        };
        found.push((format, score, vec![why]));
    }
    found.sort_by_key(|(_, score, _)| std::cmp::Reverse(*score));
    let Some((format, score, reasons)) = found.first().cloned() else { return Ok(None) };
    let close = |(other, theirs, _): &&(Format, u8, Vec<&str>)| {
        score - theirs < MARGIN && layout(*other, doc) != layout(format, doc)
    };
    let rivals: Vec<Format> = found.iter().skip(1).filter(close).map(|(other, ..)| *other).collect();
    if !rivals.is_empty() {
        let formats = std::iter::once(format).chain(rivals).collect();
        return Err(NoPlan::Ambiguous { file: name.to_owned(), formats });
    }
    let others = found.iter().skip(1).map(|(other, score, _)| (*other, *score)).collect();
    let reasons = reasons.into_iter().map(str::to_owned).collect();
    Ok(Some((format, Recognition { score, reasons, others, told: false })))
}

/// How a format is cut into phases.
pub(crate) fn layout(format: Format, doc: &Doc<'_>) -> Layout {
    let phased = || if phased::shape(doc).is_some() { Layout::Phased } else { Layout::Alone };
    match format {
        Format::DebussyMaster => Layout::Master,
        Format::Cursor => Layout::Todos,
        Format::Prompt => Layout::Prompt,
        Format::Roadmap | Format::Phases => Layout::Phased,
        Format::SpecKit | Format::Conductor | Format::Stages | Format::AgentOs => phased(),
        Format::Gsd
        | Format::Autopilot
        | Format::DebussyPhase
        | Format::Tasks
        | Format::Checklist
        | Format::OpenSpec
        | Format::Kiro
        | Format::Bmad
        | Format::Backlog
        | Format::ExecPlan
        | Format::Ralphex
        | Format::Superpowers
        | Format::Native
        | Format::Json
        | Format::TaskMaster
        | Format::FeatureList
        | Format::RalphPrd
        | Format::Beads => Layout::Alone,
    }
}

// The general shapes, the surest first.
fn general(doc: &Doc<'_>, front: Option<&Front>) -> Option<(Format, &'static str)> {
    let keys = ["phase", "plan", "wave", "depends_on", "files_modified", "must_haves", "autonomous"];
    if front.is_some_and(|front| keys.iter().filter(|key| front.get(&[key]).is_some()).count() >= 2) {
        return Some((Format::Gsd, "front matter with phase, plan, wave or must_haves"));
    }
    if doc.opening(doc.all(), "task").is_some() {
        return Some((if front.is_some() { Format::Gsd } else { Format::Autopilot }, "<task> elements"));
    }
    if master::is_master(doc) {
        return Some((Format::DebussyMaster, "a table of phases with files or a status"));
    }
    if phase::is_debussy(doc) {
        return Some((Format::DebussyPhase, "a process wrapper, or gates and dependencies"));
    }
    if let Some(shape) = phased::shape(doc) {
        return Some((shape, "a heading for each phase"));
    }
    if tasks::has_headings(doc, doc.all()) {
        return Some((Format::Tasks, "headings that name tasks"));
    }
    if doc.lines.iter().any(tasks::is_box) || tasks::has_section(doc, doc.all()) {
        return Some((Format::Checklist, "check boxes"));
    }
    prompt::is_prompt(doc).then_some((Format::Prompt, "words that say how it ends or is verified"))
}

impl<'d, 'a> Signs<'d, 'a> {
    fn new(name: &str, doc: &'d Doc<'a>) -> Self {
        let path = format!("/{}", name.replace('\\', "/").to_lowercase());
        let headings = doc.headings.iter().map(|heading| heading.title.to_lowercase()).collect();
        Self { path, doc, front: Front::read(doc), headings }
    }

    fn path(&self, part: &str) -> bool {
        self.path.contains(part)
    }

    fn ends(&self, end: &str) -> bool {
        self.path.ends_with(end)
    }

    fn heading(&self, begins: &str) -> bool {
        self.headings.iter().any(|title| title.starts_with(begins))
    }

    fn key(&self, name: &str) -> bool {
        self.front.as_ref().is_some_and(|front| front.get(&[name]).is_some())
    }

    fn says(&self, word: &str) -> bool {
        self.doc.lines.iter().take(60).any(|line| line.raw.contains(word))
    }

    // Boxes whose words satisfy this, of all boxes, in percent.
    fn boxes(&self, is: impl Fn(&str) -> bool) -> usize {
        let boxed = self.doc.lines.iter().filter(|line| line.is_prose()).filter_map(|line| item(line.text));
        let (mut all, mut good) = (0, 0);
        for item in boxed.filter(|item| item.mark.is_some()) {
            all += 1;
            good += usize::from(is(item.text));
        }
        (good * 100).checked_div(all).unwrap_or(0)
    }

    fn all(&self) -> Vec<(Format, Vec<Sign>)> {
        let boxes = self.doc.boxes().0 > 0;
        let dotted = |text: &str| {
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
            end > 0
                && text[end..].starts_with('.')
                && text[end + 1..].starts_with(|c: char| c.is_ascii_digit())
        };
        let t_number = |text: &str| {
            let rest = text.trim_start_matches('*').strip_prefix('T');
            rest.is_some_and(|rest| rest.chars().take(3).filter(char::is_ascii_digit).count() == 3)
        };
        let numbered = self
            .doc
            .headings
            .iter()
            .filter(|h| h.level == 2 && h.title.starts_with(|c: char| c.is_ascii_digit()))
            .count();
        let level_two = self.doc.headings.iter().filter(|h| h.level == 2).count();
        let groups = numbered > 0 && numbered * 2 >= level_two;
        let story = self.headings.first().is_some_and(|title| title.starts_with("story"));
        let living = [
            "surprises & discoveries",
            "decision log",
            "outcomes & retrospective",
            "progress",
            "plan of work",
            "concrete steps",
            "validation and acceptance",
        ];
        let living = living.iter().filter(|begins| self.heading(begins)).count() >= 3;
        let stages = self.headings.iter().filter(|title| title.starts_with("stage ")).count() >= 2;
        vec![
            (
                Format::OpenSpec,
                vec![
                    (60, self.path("/openspec/changes/"), "lies in openspec/changes"),
                    (
                        60,
                        groups && boxes && self.boxes(dotted) >= 60,
                        "numbered groups with numbered check boxes",
                    ),
                ],
            ),
            (
                Format::Kiro,
                vec![
                    (70, self.path("/.kiro/"), "lies in .kiro"),
                    (
                        70,
                        boxes && self.doc.lines.iter().any(|line| line.text.contains("_Requirements:")),
                        "_Requirements: …_ below check boxes",
                    ),
                ],
            ),
            (
                Format::SpecKit,
                vec![
                    (40, self.path("/specs/") && self.ends("tasks.md"), "is tasks.md of a folder in specs"),
                    (60, self.boxes(t_number) >= 60, "tasks are called T001, T002, …"),
                    (40, self.heading("format: `[id]"), "explains [ID] [P?] [Story]"),
                ],
            ),
            (
                Format::Bmad,
                vec![
                    (50, story, "is called Story"),
                    (40, self.heading("tasks / subtasks"), "has Tasks / Subtasks"),
                    (30, self.heading("dev agent record"), "has a Dev Agent Record"),
                    (30, self.ends(".story.md"), "is a .story.md"),
                ],
            ),
            (
                Format::Conductor,
                vec![
                    (60, self.path("/conductor/"), "lies in conductor"),
                    (60, self.boxes(|text| text.starts_with("Task:")) >= 30, "check boxes begin with Task:"),
                ],
            ),
            (
                Format::Backlog,
                vec![
                    (
                        40,
                        self.key("id") && self.key("status") && self.key("title"),
                        "front matter with id, title and status",
                    ),
                    (
                        40,
                        self.key("assignee") || self.key("created_date"),
                        "front matter with assignee or created_date",
                    ),
                    (
                        30,
                        self.says("<!-- AC:BEGIN") || self.says("<!-- SECTION:DESCRIPTION"),
                        "marks of Backlog.md",
                    ),
                ],
            ),
            (
                Format::ExecPlan,
                vec![
                    (70, self.says("This ExecPlan is a living document"), "calls itself an ExecPlan"),
                    (50, self.path("/execplans/"), "lies in execplans"),
                    (40, living, "has the sections of an ExecPlan"),
                ],
            ),
            (
                Format::Cursor,
                vec![
                    (
                        80,
                        self.front.as_ref().is_some_and(|front| {
                            front.get(&["todos"]).is_some_and(|todos| !todos.list().is_empty())
                        }),
                        "to-dos in the front matter",
                    ),
                    (20, self.ends(".plan.md"), "is a .plan.md"),
                ],
            ),
            (
                Format::Ralphex,
                vec![
                    (35, self.heading("validation commands"), "has Validation Commands"),
                    (
                        25,
                        boxes && tasks::has_headings(self.doc, self.doc.all()),
                        "tasks are headings with check boxes",
                    ),
                    (20, self.path("/docs/plans/"), "lies in docs/plans"),
                ],
            ),
            (
                Format::Superpowers,
                vec![
                    (
                        70,
                        self.says("REQUIRED SUB-SKILL") || self.says("superpowers:"),
                        "names a superpowers skill",
                    ),
                    (60, self.path("/superpowers/"), "lies in a superpowers folder"),
                ],
            ),
            (
                Format::AgentOs,
                vec![(70, self.path("/.agent-os/") || self.path("/agent-os/"), "lies in .agent-os")],
            ),
            (Format::Stages, vec![(55, stages && !boxes, "a heading for each stage, without check boxes")]),
        ]
    }
}
