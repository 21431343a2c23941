//! What speaks for each format of a known method: its path, its headings, its ids, its front matter. Data: what a sign is
//! worth, how it is seen, and how a person is told of it.

use super::tasks;
use crate::model::Format;
use crate::text::{Doc, Front, item};

/// A sign: what it is worth, whether it is there, and how it is called.
pub(super) type Sign = (u8, fn(&Seen<'_, '_>) -> bool, &'static str);

/// The signs of every format that has some.
pub(super) const FORMATS: &[(Format, &[Sign])] = &[
    (Format::OpenSpec, OPEN_SPEC),
    (Format::Kiro, KIRO),
    (Format::SpecKit, SPEC_KIT),
    (Format::Bmad, BMAD),
    (Format::Conductor, CONDUCTOR),
    (Format::Backlog, BACKLOG),
    (Format::ExecPlan, EXEC_PLAN),
    (Format::Cursor, CURSOR),
    (Format::Ralphex, RALPHEX),
    (Format::Superpowers, SUPERPOWERS),
    (Format::AgentOs, AGENT_OS),
    (Format::Stages, STAGES),
];

const OPEN_SPEC: &[Sign] = &[
    (60, |seen| seen.path("/openspec/changes/"), "lies in openspec/changes"),
    (
        60,
        |seen| seen.groups() && seen.boxes_that(is_dotted) >= 60,
        "numbered groups with numbered check boxes",
    ),
];

const KIRO: &[Sign] = &[
    (70, |seen| seen.path("/.kiro/"), "lies in .kiro"),
    (
        70,
        |seen| seen.has_boxes() && seen.doc.lines.iter().any(|line| line.text.contains("_Requirements:")),
        "_Requirements: …_ below check boxes",
    ),
];

const SPEC_KIT: &[Sign] = &[
    (40, |seen| seen.path("/specs/") && seen.ends("tasks.md"), "is tasks.md of a folder in specs"),
    (60, |seen| seen.boxes_that(is_t_number) >= 60, "tasks are called T001, T002, …"),
    (40, |seen| seen.heading("format: `[id]"), "explains [ID] [P?] [Story]"),
];

const BMAD: &[Sign] = &[
    (50, |seen| seen.headings.first().is_some_and(|title| title.starts_with("story")), "is called Story"),
    (40, |seen| seen.heading("tasks / subtasks"), "has Tasks / Subtasks"),
    (30, |seen| seen.heading("dev agent record"), "has a Dev Agent Record"),
    (30, |seen| seen.ends(".story.md"), "is a .story.md"),
];

const CONDUCTOR: &[Sign] = &[
    (60, |seen| seen.path("/conductor/"), "lies in conductor"),
    (60, |seen| seen.boxes_that(|text| text.starts_with("Task:")) >= 30, "check boxes begin with Task:"),
];

const BACKLOG: &[Sign] = &[
    (
        40,
        |seen| ["id", "status", "title"].iter().all(|key| seen.key(key)),
        "front matter with id, title and status",
    ),
    (
        40,
        |seen| seen.key("assignee") || seen.key("created_date"),
        "front matter with assignee or created_date",
    ),
    (30, |seen| seen.says("<!-- AC:BEGIN") || seen.says("<!-- SECTION:DESCRIPTION"), "marks of Backlog.md"),
];

/// The sections that an ExecPlan has.
const LIVING: [&str; 7] = [
    "surprises & discoveries",
    "decision log",
    "outcomes & retrospective",
    "progress",
    "plan of work",
    "concrete steps",
    "validation and acceptance",
];

const EXEC_PLAN: &[Sign] = &[
    (70, |seen| seen.says("This ExecPlan is a living document"), "calls itself an ExecPlan"),
    (50, |seen| seen.path("/execplans/"), "lies in execplans"),
    (
        40,
        |seen| LIVING.iter().filter(|begins| seen.heading(begins)).count() >= 3,
        "has the sections of an ExecPlan",
    ),
];

const CURSOR: &[Sign] = &[
    (80, |seen| seen.has_to_dos(), "to-dos in the front matter"),
    (20, |seen| seen.ends(".plan.md"), "is a .plan.md"),
];

const RALPHEX: &[Sign] = &[
    (35, |seen| seen.heading("validation commands"), "has Validation Commands"),
    (
        25,
        |seen| seen.has_boxes() && tasks::has_headings(seen.doc, seen.doc.all()),
        "tasks are headings with check boxes",
    ),
    (20, |seen| seen.path("/docs/plans/"), "lies in docs/plans"),
];

const SUPERPOWERS: &[Sign] = &[
    (70, |seen| seen.says("REQUIRED SUB-SKILL") || seen.says("superpowers:"), "names a superpowers skill"),
    (60, |seen| seen.path("/superpowers/"), "lies in a superpowers folder"),
];

const AGENT_OS: &[Sign] =
    &[(70, |seen| seen.path("/.agent-os/") || seen.path("/agent-os/"), "lies in .agent-os")];

const STAGES: &[Sign] = &[(
    55,
    |seen| !seen.has_boxes() && seen.headings.iter().filter(|title| title.starts_with("stage ")).count() >= 2,
    "a heading for each stage, without check boxes",
)];

// 1.1 at the start of an item's words.
fn is_dotted(text: &str) -> bool {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let end = digits(text);
    let rest = text[end..].strip_prefix('.');
    end > 0 && rest.is_some_and(|rest| digits(rest) > 0)
}

// T001 at the start of an item's words.
fn is_t_number(text: &str) -> bool {
    let rest = text.trim_start_matches('*').strip_prefix('T');
    rest.is_some_and(|rest| rest.chars().take(3).filter(char::is_ascii_digit).count() == 3)
}

/// What is seen of a text before it is read.
pub(super) struct Seen<'d, 'a> {
    path: String,
    doc: &'d Doc<'a>,
    pub(super) front: Option<Front>,
    headings: Vec<String>,
}

impl<'d, 'a> Seen<'d, 'a> {
    pub(super) fn new(name: &str, doc: &'d Doc<'a>) -> Self {
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

    fn has_to_dos(&self) -> bool {
        let to_dos = self.front.as_ref().and_then(|front| front.get(&["todos"]));
        to_dos.is_some_and(|to_dos| !to_dos.list().is_empty())
    }

    fn says(&self, word: &str) -> bool {
        self.doc.lines.iter().take(60).any(|line| line.raw.contains(word))
    }

    fn has_boxes(&self) -> bool {
        self.doc.lines.iter().any(tasks::is_box)
    }

    // Half of the sections have a number in front, and there are check boxes.
    fn groups(&self) -> bool {
        let sections: Vec<_> = self.doc.headings.iter().filter(|heading| heading.level == 2).collect();
        let numbered = sections.iter().filter(|h| h.title.starts_with(|c: char| c.is_ascii_digit())).count();
        numbered > 0 && numbered * 2 >= sections.len() && self.has_boxes()
    }

    // Boxes whose words satisfy this, of all boxes, in percent.
    fn boxes_that(&self, is: impl Fn(&str) -> bool) -> usize {
        let boxed = self.doc.lines.iter().filter(|line| line.is_prose()).filter_map(|line| item(line.text));
        let (mut all, mut good) = (0, 0);
        for item in boxed.filter(|item| item.mark.is_some()) {
            all += 1;
            good += usize::from(is(item.text));
        }
        (good * 100).checked_div(all).unwrap_or(0)
    }
}
