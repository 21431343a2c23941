//! What the run of a phase is given: the task in words, its gates, and who works on it.

use std::path::{Path, PathBuf};

use segue_machine::GateSpec;
use segue_machine::checkpoint::cut_chars;
use segue_plans::handoff::Handoff;
use segue_plans::{Criterion, Phase, Plan, Section, Task};
use serde::{Deserialize, Serialize};

use super::gates;
use crate::prompt::{PromptError, Prompts};
use crate::store::safely;

/// The most that is given of one note, and of all of them, in characters.
const NOTE: usize = 8_000;
const NOTES: usize = 24_000;

/// How much of what a plan is for is repeated in each phase, in characters.
const GOAL: usize = 4_000;

/// How much of a phase's own text is given, and of all that the plan says beside its work.
const WHOLE: usize = 24_000;
const SECTIONS: usize = 8_000;

/// So many bytes of a task are not repeated below the phase's own text.
const LONG: usize = 200;

/// How many tasks are given in full.
const TASKS: usize = 60_000;

/// The order for one run, as one process gives it to another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    /// The run's id.
    pub(crate) run: String,
    /// The task.
    pub(crate) text: String,
    /// How many tasks of it are open.
    pub(crate) open_items: u32,
    /// What decides, beside the gates of the configuration.
    pub(crate) gates: Vec<GateSpec>,
    /// The agent that the plan names.
    pub(crate) agent: Option<String>,
    /// The role.
    pub(crate) role: Option<String>,
    /// The policy.
    pub(crate) policy: Option<String>,
    /// It has a work tree to itself, and its work is committed there.
    #[serde(default)]
    pub(crate) beside: bool,
    /// It brings two phases together: there is no report about that.
    #[serde(default)]
    pub(crate) mend: bool,
    /// What the user had changed when the plan was started: a commit, and the files on it.
    #[serde(default)]
    pub(crate) users: Option<(String, String)>,
}

/// Where jobs are made.
#[derive(Debug)]
pub(super) struct Desk<'a> {
    /// This program.
    pub(super) program: &'a Path,
    /// The words.
    pub(super) prompts: &'a Prompts,
    /// Where notes are looked for, in order.
    pub(super) roots: Vec<PathBuf>,
    /// Where the plan stands, as the agent sees it, and the documents that belong to it.
    pub(super) path: String,
    /// The plan that this file is a part of, where that is another file.
    pub(super) part_of: Option<String>,
    /// Documents beside the plan.
    pub(super) documents: Vec<String>,
    /// Whether segue writes into the plan what is done.
    pub(super) write_back: bool,
}

/// Why a run is made for a phase.
#[derive(Debug, Clone, Copy)]
pub(super) enum Errand<'a> {
    /// All of it.
    Whole,
    /// What an earlier try left.
    Rest(&'a Handoff),
    /// One round over what is done.
    Quality(&'a [String]),
}

impl Desk<'_> {
    /// The job of a phase.
    pub(super) fn job(
        &self,
        plan: &Plan,
        phase: &Phase,
        run: &str,
        errand: Errand<'_>,
    ) -> Result<Job, PromptError> {
        let open = open_tasks(phase, errand);
        let own = usize::try_from(phase.at.file).ok().and_then(|file| plan.files.get(file));
        let headers = [Some(&plan.header), own.map(|file| &file.header), Some(&plan.about)];
        let header = headers.into_iter().flatten().find(|text| !text.trim().is_empty());
        let header = header.filter(|text| !phase.text.contains(text.trim()));
        let (criteria, unchecked) = criteria(plan, phase);
        let whole = self.bounded(&phase.text, WHOLE);
        let documents: Vec<String> = self.documents.iter().map(|path| format!("`{path}`")).collect();
        let words = minijinja::context! {
            plan => plan.title.as_str(),
            path => self.path.as_str(),
            part_of => self.part_of.as_deref(),
            documents => bullets(&documents),
            write_back => self.write_back,
            goal => self.bounded(header.map_or("", |text| text.as_str()), GOAL),
            id => phase.id.as_str(),
            title => phase.title.as_str(),
            about => if phase.text.contains(phase.about.trim()) { "" } else { phase.about.trim() },
            whole => whole.as_str(),
            sections => self.bounded(&sections(plan, phase), SECTIONS),
            handoff => match errand { Errand::Rest(handoff) => handoff.words(), Errand::Whole | Errand::Quality(_) => String::new() },
            notes => self.notes(phase),
            tasks => self.bounded(&tasks_text(&open, &whole, errand), TASKS),
            files => bullets(&phase.files),
            write => bullets(&phase.notes_out),
            criteria => criteria,
            unchecked => unchecked,
        };
        Ok(Job {
            run: run.to_owned(),
            text: self.prompts.fill("phase", words)?,
            open_items: u32::try_from(open.len()).unwrap_or(u32::MAX),
            gates: gates::of(plan, phase, self.program),
            agent: phase.agent.clone(),
            role: phase.role.clone(),
            policy: phase.policy.clone(),
            beside: false,
            mend: false,
            users: None,
        })
    }

    // What is cut off is said, with the place where all of it stands.
    fn bounded(&self, text: &str, most: usize) -> String {
        let text = text.trim();
        if text.chars().count() <= most {
            return text.to_owned();
        }
        let kept: String = text.chars().take(most).collect();
        let kept = kept.rsplit_once('\n').map_or(kept.as_str(), |(whole, _)| whole).to_owned();
        format!("{kept}\n(cut off here: all of it stands in {})", self.path)
    }

    fn notes(&self, phase: &Phase) -> String {
        let mut left = NOTES;
        let mut text = String::new();
        for path in &phase.notes_in {
            let found = self.roots.iter().find_map(|root| safely::read_inside(root, path).ok());
            let note = match found {
                Some(bytes) => cut_chars(String::from_utf8_lossy(&bytes).trim(), NOTE.min(left)),
                None => "(this file is not there)".to_owned(),
            };
            left = left.saturating_sub(note.chars().count());
            text.push_str(&format!("### {path}\n{note}\n\n"));
        }
        text.trim_end().to_owned()
    }
}

fn open_tasks<'p>(phase: &'p Phase, errand: Errand<'_>) -> Vec<&'p Task> {
    let open = phase.tasks.iter().filter(|task| !task.status.is_over());
    match errand {
        Errand::Whole => open.collect(),
        Errand::Rest(handoff) => open.filter(|task| handoff.remains(&task.id)).collect(),
        Errand::Quality(_) => Vec::new(),
    }
}

fn tasks_text(open: &[&Task], whole: &str, errand: Errand<'_>) -> String {
    match errand {
        Errand::Quality(issues) => {
            let found = if issues.is_empty() {
                String::new()
            } else {
                format!("\nWhat was found to be wrong so far:\n{}", bullets(issues))
            };
            format!(
                "The work of this phase is there and its checks pass. Look over what was changed once more, against the \
                 purpose of the phase and its criteria, and fix what is wrong. Add nothing new.{found}"
            )
        }
        Errand::Rest(_) if open.is_empty() => {
            "Every task is said to be done, and the phase is not: find what fails, as listed above, and fix it.".to_owned()
        }
        Errand::Whole | Errand::Rest(_) if open.is_empty() => {
            "What the phase is for, as said above.".to_owned()
        }
        Errand::Whole | Errand::Rest(_) => {
            open.iter().map(|task| task_text(task, whole)).collect::<String>().trim_end().to_owned()
        }
    }
}

// What is long and stands in the phase's own text is not said twice.
fn task_text(task: &Task, whole: &str) -> String {
    let title = if task.title.is_empty() { task.id.as_str() } else { task.title.as_str() };
    let mut text = format!("- [ ] {title} (task {})\n", task.id);
    let mut add = |words: String| {
        for line in words.lines() {
            text.push_str(&format!("  {line}\n"));
        }
    };
    for (name, files) in [("Files", &task.files), ("Read first", &task.read)] {
        if !files.is_empty() {
            add(format!("{name}: {}", files.join(", ")));
        }
    }
    let action = task.action.trim();
    if action.len() > LONG && whole.contains(action) {
        add("(as it stands above)".to_owned());
    } else if action != title {
        add(task.action.clone());
    }
    for step in task.steps.iter().filter(|step| !action.contains(&step.text)) {
        add(format!("- [{}] {}", if step.done { "x" } else { " " }, step.text));
    }
    if !task.done.is_empty() {
        add(format!("Accept if: {}", task.done));
    }
    text
}

// What commands and people decide, and what is only words.
fn criteria(plan: &Plan, phase: &Phase) -> (String, String) {
    let mut checked: Vec<String> = Vec::new();
    let mut unchecked: Vec<String> = Vec::new();
    for gate in phase.gates.iter().chain(&plan.gates) {
        checked.push(match &gate.run {
            Some(run) => format!("- {}: `{run}`", gate.name),
            None => format!("- {} (manual: the user decides)", gate.name),
        });
    }
    let words = phase.must_have.truths.iter().chain(&phase.must_have.success);
    unchecked.extend(words.map(|truth| format!("- {truth}")));
    for artifact in &phase.must_have.artifacts {
        let what = [artifact.provides.as_str(), artifact.contains.as_str()];
        let what: Vec<&str> = what.into_iter().filter(|words| !words.is_empty()).collect();
        unchecked.push(format!("- {} is there ({})", artifact.path, what.join("; ")).replace(" ()", ""));
    }
    let links = phase.must_have.links.iter();
    unchecked.extend(
        links.map(|link| format!("- {} refers to {} {}", link.from, link.to, link.via).trim_end().to_owned()),
    );
    for one in phase.all_criteria().chain(phase.all_verify()) {
        if one.checks.is_empty() { &mut unchecked } else { &mut checked }.push(criterion(one));
    }
    (checked.join("\n"), unchecked.join("\n"))
}

// Sections that stand in the phase's own text need not be said twice.
fn sections(plan: &Plan, phase: &Phase) -> String {
    // In a folder of plans, those of the phase's own.
    let of_other = |file: u32| file != phase.at.file && plan.phases.iter().any(|other| other.at.file == file);
    let own = |section: &&Section| !phase.text.contains(section.text.trim()) && !of_other(section.at.file);
    let text = |section: &Section| format!("### {}\n{}\n\n", section.title, section.text.trim());
    plan.sections.iter().filter(own).map(text).collect()
}

fn criterion(criterion: &Criterion) -> String {
    let checks: Vec<String> =
        criterion.checks.iter().map(|check| format!("`{}` gives {}", check.run, check.judge)).collect();
    match (criterion.text.is_empty(), checks.is_empty()) {
        (false, false) => format!("- {} ({})", criterion.text, checks.join(", ")),
        (false, true) => format!("- {}", criterion.text),
        (true, _) => format!("- {}", checks.join(", ")),
    }
}

fn bullets(items: &[String]) -> String {
    items.iter().map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n")
}
