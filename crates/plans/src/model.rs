//! A plan: phases with what each needs, does, and is held to. Every format becomes this, and the native one is this.
//!
//! What says where a thing stands is not part of the native format and does not make two plans different.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Recognition, Section};
use crate::items::Item;
use crate::judge::Judge;

/// Where something stands: the file's number in [`Plan::files`] and the line, counted from 1. Line 0 is nowhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub file: u32,
    /// The line.
    pub line: u32,
}

/// A file that the plan was read from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Source {
    /// Its name, as it was given or linked.
    pub name: String,
    /// How many lines it has.
    pub lines: u32,
    /// How many check boxes there are in it, outside of code.
    pub boxes: u32,
    /// How many of them are ticked.
    pub ticked: u32,
    /// Of a folder of plans, what stands before the first task of this one.
    #[serde(skip)]
    pub header: String,
}

/// The format that a plan is written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// `segue.plan.toml`.
    #[default]
    Native,
    /// `<task>` elements or `### Task`, with front matter.
    Gsd,
    /// `<task id type complexity>` with bold fields, without front matter.
    Autopilot,
    /// A table of phases with links to their files.
    DebussyMaster,
    /// One phase with a process wrapper and gates.
    DebussyPhase,
    /// A heading per phase, with goal, dependencies and success criteria.
    Roadmap,
    /// A heading per phase, with numbered check boxes.
    Phases,
    /// `### Task N:` headings.
    Tasks,
    /// Check boxes.
    Checklist,
    /// JSON with an array of tasks or stories.
    Json,
    /// One task in words.
    Prompt,
    /// OpenSpec: numbered groups of numbered check boxes.
    OpenSpec,
    /// Kiro: numbered check boxes with sub-tasks and requirements.
    Kiro,
    /// spec-kit: phases with tasks T001, T002, …
    SpecKit,
    /// BMAD: a story with tasks and sub-tasks.
    Bmad,
    /// A heading per stage with plain bullets, as in `IMPLEMENTATION_PLAN.md`.
    Stages,
    /// task-master: `tasks.json` with tags.
    TaskMaster,
    /// Conductor: `plan.md` of a track.
    Conductor,
    /// Backlog.md: one task in a file with front matter.
    Backlog,
    /// `feature_list.json`: features that pass or do not.
    FeatureList,
    /// Codex ExecPlan: a living document with its progress.
    ExecPlan,
    /// beads: one issue a line.
    Beads,
    /// Cursor: to-dos in the front matter.
    Cursor,
    /// ralphex: tasks with check boxes and validation commands.
    Ralphex,
    /// ralph: `prd.json` with user stories.
    RalphPrd,
    /// Agent OS: tasks and road map.
    AgentOs,
    /// superpowers: tasks with steps.
    Superpowers,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 27] = [
        Self::Native,
        Self::Gsd,
        Self::Autopilot,
        Self::DebussyMaster,
        Self::DebussyPhase,
        Self::Roadmap,
        Self::Phases,
        Self::Tasks,
        Self::Checklist,
        Self::Json,
        Self::Prompt,
        Self::OpenSpec,
        Self::Kiro,
        Self::SpecKit,
        Self::Bmad,
        Self::Stages,
        Self::TaskMaster,
        Self::Conductor,
        Self::Backlog,
        Self::FeatureList,
        Self::ExecPlan,
        Self::Beads,
        Self::Cursor,
        Self::Ralphex,
        Self::RalphPrd,
        Self::AgentOs,
        Self::Superpowers,
    ];

    /// Its name, as `--format` takes it.
    pub fn name(self) -> String {
        let name = serde_json::to_value(self).ok();
        name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// The format of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name.trim().to_lowercase())
    }

    /// Whether it is stored as data, not as Markdown.
    pub fn is_data(self) -> bool {
        matches!(
            self,
            Self::Native | Self::Json | Self::TaskMaster | Self::FeatureList | Self::RalphPrd | Self::Beads
        )
    }

    /// Whether check boxes outside of its tasks are parts of the phase, not tasks of their own.
    pub(crate) fn has_own_tasks(self) -> bool {
        matches!(self, Self::Gsd | Self::Autopilot | Self::DebussyPhase | Self::DebussyMaster)
    }
}

/// How far something is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not begun.
    #[default]
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
    /// Tried, and not done.
    Failed,
    /// Cannot continue.
    Blocked,
    /// Left out.
    Skipped,
    /// Needs your input. Older files say `needs_person`.
    #[serde(alias = "needs_person")]
    NeedsInput,
}

/// How much there is to a task, as its author sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Complexity {
    /// Little.
    Simple,
    /// Some.
    Medium,
    /// Much.
    Complex,
}

/// Work in phases.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// What it was read as.
    #[serde(skip)]
    pub format: Format,
    /// The files it was read from.
    #[serde(skip)]
    pub files: Vec<Source>,
    /// What readers could not make sense of, for the audit.
    #[serde(skip)]
    pub oddities: Vec<Oddity>,
    /// How sure it is that it was read as what it is, and why.
    #[serde(skip)]
    pub recognition: Recognition,
    /// What stands before the first phase or task: title, input, goal.
    #[serde(skip)]
    pub header: String,
    /// Sections beside the work: notes, constraints, what is out of scope.
    #[serde(skip)]
    pub sections: Vec<Section>,
    /// Documents beside the plan that belong to it (`spec.md`, `design.md`), as paths like that of the plan.
    #[serde(skip)]
    pub documents: Vec<String>,
    /// Items that belong to no phase: what must hold when all of it is done.
    #[serde(skip)]
    pub items: Vec<Item>,
    /// What it is called.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// What it is for, in its author's words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Gates that every phase ends with.
    #[serde(rename = "gate", skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Gate>,
    /// The phases, in the order in which they were written.
    #[serde(rename = "phase", skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
}

/// Something that a reader could not make sense of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oddity {
    /// What it is.
    pub kind: OddityKind,
    /// Where.
    pub at: Place,
    /// What it is about: a path, a tag.
    pub what: String,
}

/// What a reader could not make sense of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OddityKind {
    /// A linked file that is not there.
    MissingFile,
    /// A linked file that is no text, or no phase.
    UnreadableFile,
    /// A tag without its end.
    UnclosedTag,
    /// Open items that are not part of the plan.
    NotRead,
}

/// A part of a plan that is run and verified by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Phase {
    /// Where it begins.
    #[serde(skip)]
    pub at: Place,
    /// The line after its last one; 0 where that is not known.
    #[serde(skip)]
    pub end: u32,
    /// Its whole text, as it stands in the plan.
    #[serde(skip)]
    pub text: String,
    /// Items of the phase as a whole: its own state, its criteria.
    #[serde(skip)]
    pub items: Vec<Item>,
    /// Where its dependencies are named.
    #[serde(skip)]
    pub needs_at: Place,
    /// Whether it was read alone, so that what it needs may lie elsewhere.
    #[serde(skip)]
    pub alone: bool,
    /// Its name in the plan: 1, 3.1, 6D, 20a.
    pub id: String,
    /// What it is called.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// What it is for, in its author's words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// How far it is, as the plan says.
    #[serde(skip_serializing_if = "is_default")]
    pub status: Status,
    /// The phases that must be completed before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// Phases of the same wave may run in parallel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wave: Option<u32>,
    /// Whether it may run beside others; by default, if it says which files it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel: Option<bool>,
    /// Whether it can be done without a person.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub autonomous: bool,
    /// The agent to use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The role to work as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The policy to work under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// The files that it changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Notes that it must read.
    #[serde(rename = "read", skip_serializing_if = "Vec::is_empty")]
    pub notes_in: Vec<String>,
    /// Notes that it must write.
    #[serde(rename = "write", skip_serializing_if = "Vec::is_empty")]
    pub notes_out: Vec<String>,
    /// What must hold when it is done, in its author's words.
    #[serde(skip_serializing_if = "is_default")]
    pub must_have: MustHave,
    /// Commands whose exit codes decide.
    #[serde(rename = "gate", skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Gate>,
    /// What it consists of.
    #[serde(rename = "task", skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<Task>,
    /// What it is held to.
    #[serde(rename = "criterion", skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<Criterion>,
    /// How it can be checked, beside the criteria.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<Criterion>,
}

/// A command whose exit code decides, or a decision that the user takes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gate {
    /// Where it stands.
    #[serde(skip)]
    pub at: Place,
    /// What it is called.
    pub name: String,
    /// The command, verbatim. Without one the configuration must know the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What is expected of it, in its author's words. The exit code decides.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub expect: String,
    /// Manual: the user decides.
    #[serde(skip_serializing_if = "is_default")]
    pub manual: bool,
}

/// A piece of work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Task {
    /// Where it begins.
    #[serde(skip)]
    pub at: Place,
    /// The line after its last one; 0 where that is not known.
    #[serde(skip)]
    pub end: u32,
    /// The items that it consists of: its own box or state, and its steps.
    #[serde(skip)]
    pub items: Vec<Item>,
    /// Whether it may be done beside its neighbours (`[P]`).
    #[serde(skip)]
    pub beside: bool,
    /// Its name in the phase.
    pub id: String,
    /// What it is called.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The group it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// How far it is, as the plan says.
    #[serde(skip_serializing_if = "is_default")]
    pub status: Status,
    /// How much there is to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complexity: Option<Complexity>,
    /// Tasks of the same wave do not depend on one another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wave: Option<u32>,
    /// A person must take part.
    #[serde(skip_serializing_if = "is_default")]
    pub manual: bool,
    /// Tasks that must be done before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// The files that it changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The files to read first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// What is to be done.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub action: String,
    /// When it is done, in its author's words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub done: String,
    /// The check boxes below it.
    #[serde(rename = "step", skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// What it is held to.
    #[serde(rename = "criterion", skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<Criterion>,
    /// How it can be checked, beside the criteria.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<Criterion>,
}

/// A check box below a task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Step {
    /// What it says.
    pub text: String,
    /// Whether it is ticked.
    #[serde(skip_serializing_if = "is_default")]
    pub done: bool,
}

/// Something that a phase or task is held to. Without a check it is for the agent and a person to read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Criterion {
    /// Where it stands.
    #[serde(skip)]
    pub at: Place,
    /// In its author's words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Commands that decide it; all of them must.
    #[serde(rename = "check", skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
}

/// A command, and how its outcome is judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Check {
    /// The command, verbatim.
    pub run: String,
    /// What must come of it; by default that it exits with 0.
    #[serde(skip_serializing_if = "is_default")]
    pub judge: Judge,
}

/// What must hold when a phase is done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MustHave {
    /// What must be true.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub truths: Vec<String>,
    /// What makes it a success.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub success: Vec<String>,
    /// Files that must be there.
    #[serde(rename = "artifact", skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// Files that must refer to one another.
    #[serde(rename = "link", skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
}

/// A file that must be there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Artifact {
    /// The file.
    pub path: String,
    /// What it is for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub provides: String,
    /// What must be in it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub contains: String,
    /// How long it must be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_lines: Option<u32>,
}

/// A file that must refer to another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Link {
    /// The file.
    pub from: String,
    /// The other one.
    pub to: String,
    /// By what.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub via: String,
    /// What is to be found in the file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pattern: String,
}

impl Plan {
    /// The plan without where it stands and what it was read from: what two plans have in common that are the same.
    #[must_use]
    pub fn content(&self) -> Self {
        let plan = self.clone();
        let native = Self { title: plan.title, about: plan.about, gates: plan.gates, ..Self::default() };
        let mut plan = Self { phases: plan.phases, ..native };
        let gates = plan.gates.iter_mut().chain(plan.phases.iter_mut().flat_map(|phase| &mut phase.gates));
        gates.for_each(|gate| gate.at = Place::default());
        for phase in &mut plan.phases {
            (phase.at, phase.needs_at, phase.alone) = (Place::default(), Place::default(), false);
            (phase.end, phase.text, phase.items) = (0, String::new(), Vec::new());
            let own = phase.criteria.iter_mut().chain(&mut phase.verify);
            own.for_each(|criterion| criterion.at = Place::default());
            for task in &mut phase.tasks {
                (task.at, task.end, task.items, task.beside) = (Place::default(), 0, Vec::new(), false);
                let own = task.criteria.iter_mut().chain(&mut task.verify);
                own.for_each(|criterion| criterion.at = Place::default());
            }
        }
        plan
    }

    /// The name of the file in which something stands.
    pub fn file(&self, at: Place) -> &str {
        usize::try_from(at.file)
            .ok()
            .and_then(|file| self.files.get(file))
            .map_or("", |file| file.name.as_str())
    }

    /// Every item of it, those of tasks before those of their phase.
    pub fn all_items(&self) -> impl Iterator<Item = &Item> {
        self.phases.iter().flat_map(Phase::all_items).chain(&self.items)
    }

    /// The phase of that id, however it is written.
    pub fn phase(&self, id: &str) -> Option<&Phase> {
        self.phases.iter().find(|phase| crate::ids::same(&phase.id, id))
    }
}

impl Phase {
    /// An empty phase of that id.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), autonomous: true, ..Self::default() }
    }

    /// Every criterion of it and its tasks.
    pub fn all_criteria(&self) -> impl Iterator<Item = &Criterion> {
        self.criteria.iter().chain(self.tasks.iter().flat_map(|task| &task.criteria))
    }

    /// Every item of it, those of its tasks first.
    pub fn all_items(&self) -> impl Iterator<Item = &Item> {
        self.tasks.iter().flat_map(|task| &task.items).chain(&self.items)
    }

    /// What it is held to that no command decides, for the agent and a person to look at.
    pub fn unchecked(&self) -> impl Iterator<Item = &Criterion> {
        self.all_criteria().chain(self.all_verify()).filter(|criterion| criterion.checks.is_empty())
    }

    /// Everything else that says how it or its tasks can be checked.
    pub fn all_verify(&self) -> impl Iterator<Item = &Criterion> {
        self.verify.iter().chain(self.tasks.iter().flat_map(|task| &task.verify))
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn is_true(value: &bool) -> bool {
    *value
}

fn yes() -> bool {
    true
}
