//! What the phases of a plan are likely to cost in tokens, and how one that is too large could be split.
//!
//! An estimate from what the plan says (tasks, their complexity, files and their sizes), put right by what phases of
//! this repository took before.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::formats::Files;
use crate::model::{Complexity, Phase, Plan, Task};

/// What a session may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// Tokens.
    pub tokens: u64,
}

/// What a phase was estimated at, and what it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Past {
    /// Tokens as estimated, without any history.
    pub estimated: u64,
    /// Tokens as they were.
    pub actual: u64,
}

/// From this share of a session's budget on a phase is worth a warning, in percent.
pub const PHASE_LINE: u64 = 60;

/// From this share of a session's budget on a whole plan is, in percent.
pub const PLAN_LINE: u64 = 80;

/// How many phases must have been done before they say anything about the next.
const ENOUGH: usize = 3;

/// What a phase takes before its first task: its prompt, looking around.
const BASE: u64 = 6_000;
/// What a task takes beside its files.
const SIMPLE: u64 = 8_000;
const MEDIUM: u64 = 18_000;
const COMPLEX: u64 = 40_000;
/// An item of a list that is nothing but a line.
const LINE: u64 = 3_000;
/// Running a gate and reading what it says.
const GATE: u64 = 1_500;
/// Checking a criterion.
const CRITERION: u64 = 300;
/// A file that is not there yet.
const NEW_FILE: u64 = 3_000;
/// No more of a file is read than this.
const WHOLE_FILE: u64 = 40_000;

/// So many parts are named in a sentence.
const NAMED: usize = 26;

/// What a plan is likely to cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// Phase by phase.
    pub phases: Vec<PhaseCost>,
    /// All of them that are not over.
    pub tokens: u64,
    /// What a session may use, if that is known.
    pub budget: Option<u64>,
    /// The whole as a share of it, in percent.
    pub percent: Option<u64>,
    /// By how much the past puts estimates right, in percent; 100 is not at all.
    pub scale: u64,
    /// How many phases of the past that rests on.
    pub past: usize,
    /// What is worth a warning.
    pub warnings: Vec<String>,
}

/// What a phase is likely to cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PhaseCost {
    /// The phase.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// Tokens.
    pub tokens: u64,
    /// Tokens of one more round over it, where that was asked for.
    #[serde(skip_serializing_if = "is_zero")]
    pub quality: u64,
    /// As a share of what a session may use, in percent.
    pub percent: Option<u64>,
    /// Whether it is over already and costs nothing more.
    pub over: bool,
    /// Task by task.
    pub tasks: Vec<TaskCost>,
    /// How it could be split, when it is too large.
    pub split: Vec<SubPhase>,
}

/// What a task is likely to cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskCost {
    /// The task.
    pub id: String,
    /// Tokens.
    pub tokens: u64,
}

/// A part of a phase that would be run by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SubPhase {
    /// The phase's id with a letter.
    pub id: String,
    /// Its tasks.
    pub tasks: Vec<String>,
    /// The files that they change.
    pub files: Vec<String>,
    /// Tokens.
    pub tokens: u64,
}

/// What a plan is run with that makes it cost more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extra {
    /// One more round over each phase.
    pub quality: bool,
    /// Phases that are over are run again.
    pub force: bool,
}

/// Estimates every phase.
pub fn estimate(plan: &Plan, budget: Option<Budget>, history: &[Past], files: &dyn Files) -> Estimate {
    estimate_with(plan, budget, history, files, Extra::default())
}

/// The same for a plan that is run with more than its phases.
pub fn estimate_with(
    plan: &Plan,
    budget: Option<Budget>,
    history: &[Past],
    files: &dyn Files,
    extra: Extra,
) -> Estimate {
    let scale = scale(history);
    let budget = budget.map(|budget| budget.tokens).filter(|tokens| *tokens > 0);
    let shared = u64::try_from(plan.gates.len()).unwrap_or(0) * GATE;
    let phases: Vec<PhaseCost> =
        plan.phases.iter().map(|phase| cost(phase, shared, budget, scale, files, extra)).collect();
    let open = phases.iter().filter(|phase| !phase.over);
    let tokens = open.map(|phase| phase.tokens.saturating_add(phase.quality)).sum();
    let percent = budget.map(|budget| share(tokens, budget));
    let mut warnings: Vec<String> = Vec::new();
    for phase in phases.iter().filter(|phase| !phase.over) {
        if let Some(percent) = phase.percent.filter(|percent| *percent > PHASE_LINE) {
            let how = if phase.split.len() > 1 {
                format!("; split it into {}", names(&phase.split))
            } else {
                String::new()
            };
            warnings.push(format!("phase {} is likely to use {percent} % of a session{how}", phase.id));
        }
    }
    if let Some(percent) = percent.filter(|percent| *percent > PLAN_LINE) {
        warnings.push(format!("the whole plan is likely to take {percent} % of what one session may use, so it goes over several"));
    }
    let past = history.iter().filter(|past| past.estimated > 0).count();
    Estimate { phases, tokens, budget, percent, scale, past, warnings }
}

fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

fn names(parts: &[SubPhase]) -> String {
    let named = parts.iter().take(NAMED).map(|part| part.id.as_str()).collect::<Vec<_>>().join(", ");
    match parts.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

fn share(tokens: u64, budget: u64) -> u64 {
    tokens.saturating_mul(100).checked_div(budget).unwrap_or(0)
}

// The middle of what estimates were wrong by, within reason.
fn scale(history: &[Past]) -> u64 {
    let mut ratios: Vec<u64> = history
        .iter()
        .filter(|past| past.estimated > 0)
        .map(|past| share(past.actual, past.estimated))
        .collect();
    if ratios.len() < ENOUGH {
        return 100;
    }
    ratios.sort_unstable();
    ratios[ratios.len() / 2].clamp(25, 400)
}

fn cost(
    phase: &Phase,
    shared: u64,
    budget: Option<u64>,
    scale: u64,
    files: &dyn Files,
    extra: Extra,
) -> PhaseCost {
    let scaled = |tokens: u64| tokens.saturating_mul(scale) / 100;
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let open: Vec<&Task> = phase.tasks.iter().filter(|task| extra.force || !task.status.is_over()).collect();
    let tasks: Vec<TaskCost> = open
        .iter()
        .map(|task| TaskCost { id: task.id.clone(), tokens: scaled(task_cost(task, &mut seen, files)) })
        .collect();
    let rest =
        phase.files.iter().filter(|path| seen.insert(path)).map(|path| file_cost(path, files)).sum::<u64>();
    let count = |n: usize, each: u64| u64::try_from(n).unwrap_or(u64::MAX).saturating_mul(each);
    let fixed = BASE
        + shared
        + count(phase.gates.len(), GATE)
        + count(phase.criteria.len(), CRITERION)
        + text(&phase.about);
    let tokens =
        scaled(fixed.saturating_add(rest)).saturating_add(tasks.iter().map(|task| task.tokens).sum());
    let over = phase.status.is_over() && !extra.force;
    // Another round reads what was changed once more, and the phase with it.
    let changed = seen.iter().map(|path| file_cost(path, files) / 2).sum::<u64>();
    let quality = if extra.quality { scaled(fixed.saturating_add(changed)) } else { 0 };
    let too_large = budget.is_some_and(|budget| share(tokens, budget) > PHASE_LINE) && !over;
    let split = if too_large {
        split(phase, &open, &tasks, scaled(fixed), scaled(rest), budget.unwrap_or(0))
    } else {
        Vec::new()
    };
    let percent = budget.map(|budget| share(tokens, budget));
    PhaseCost {
        id: phase.id.clone(),
        title: phase.title.clone(),
        tokens,
        quality,
        percent,
        over,
        tasks,
        split,
    }
}

fn task_cost<'t>(task: &'t Task, seen: &mut BTreeSet<&'t str>, files: &dyn Files) -> u64 {
    let is_line =
        task.action.is_empty() && task.criteria.is_empty() && task.steps.is_empty() && task.verify.is_empty();
    let work = match task.complexity {
        Some(Complexity::Simple) => SIMPLE,
        Some(Complexity::Medium) => MEDIUM,
        Some(Complexity::Complex) => COMPLEX,
        None if is_line => LINE,
        None if task.steps.len() > 6 || task.files.len() > 5 => COMPLEX,
        None => MEDIUM,
    };
    let own = task
        .files
        .iter()
        .chain(&task.read)
        .filter(|path| seen.insert(path))
        .map(|path| file_cost(path, files));
    let checks = u64::try_from(task.criteria.len() + task.verify.len()).unwrap_or(0) * CRITERION;
    work + own.sum::<u64>() + checks + 2 * text(&task.action)
}

// Read once, and written in part.
fn file_cost(path: &str, files: &dyn Files) -> u64 {
    files.size(path).map_or(NEW_FILE, |bytes| (bytes / 4 + bytes / 8).clamp(500, WHOLE_FILE))
}

fn text(text: &str) -> u64 {
    u64::try_from(text.len() / 4).unwrap_or(0)
}

/// Parts of a phase, in the order of its tasks, as even as can be and none above the line, where that can be.
fn split(
    phase: &Phase,
    open: &[&Task],
    tasks: &[TaskCost],
    fixed: u64,
    rest: u64,
    budget: u64,
) -> Vec<SubPhase> {
    let line = (budget.saturating_mul(PHASE_LINE) / 100).saturating_sub(fixed).max(1);
    if tasks.len() < 2 {
        return Vec::new();
    }
    let parts = packed(tasks, line).len().max(2);
    // The lowest limit that needs no more parts than that makes them even.
    let (mut low, mut high) = (1, line.max(tasks.iter().map(|task| task.tokens).max().unwrap_or(1)));
    while low < high {
        let middle = low + (high - low) / 2;
        if packed(tasks, middle).len() <= parts {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let packed = packed(tasks, low);
    if packed.len() < 2 {
        return Vec::new();
    }
    // Parts are tasks in a row, so each has its own stretch of them.
    let mut from = 0;
    let mut files = Vec::with_capacity(packed.len());
    for part in &packed {
        let own = open[from..from + part.len()].iter().flat_map(|task| task.files.clone());
        files.push(own.collect::<BTreeSet<String>>().into_iter().collect::<Vec<String>>());
        from += part.len();
    }
    let count = u64::try_from(packed.len()).unwrap_or(1);
    let part = |(index, (tasks, files)): (usize, (&&[TaskCost], Vec<String>))| SubPhase {
        id: format!("{}{}", phase.id, letters(index)),
        tasks: tasks.iter().map(|task| task.id.clone()).collect(),
        files,
        // What the phase changes beside its tasks is shared out.
        tokens: fixed.saturating_add(rest / count).saturating_add(tasks.iter().map(|task| task.tokens).sum()),
    };
    packed.iter().zip(files).enumerate().map(part).collect()
}

// As many tasks in a row as fit; one that does not fit at all is alone.
fn packed(tasks: &[TaskCost], line: u64) -> Vec<&[TaskCost]> {
    let (mut found, mut from, mut sum) = (Vec::new(), 0, 0_u64);
    for (at, task) in tasks.iter().enumerate() {
        if at > from && sum.saturating_add(task.tokens) > line {
            found.push(&tasks[from..at]);
            (from, sum) = (at, 0);
        }
        sum = sum.saturating_add(task.tokens);
    }
    found.push(&tasks[from..]);
    found
}

/// a, b, … z, aa, ab, …
pub fn letters(index: usize) -> String {
    let mut out = Vec::new();
    let mut rest = index;
    loop {
        out.push(char::from(b'a' + u8::try_from(rest % 26).unwrap_or(0)));
        if rest < 26 {
            break;
        }
        rest = rest / 26 - 1;
    }
    out.iter().rev().collect()
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
