//! What is wrong with a plan, where, and what to do about it. Nothing is run and nothing is changed.
//!
//! An error is what would make a run go wrong or end in a success that nobody checked; a warning is what may.

mod finding;
mod gates;
mod shape;

use std::collections::BTreeMap;

pub use finding::{Code, Finding, Severity};

use crate::estimate::{self, Budget, Past};
use crate::formats::Files;
use crate::ids::canonical;
use crate::model::{Gate, Place, Plan};

/// What the configuration knows about a gate that a plan only names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownGate {
    /// Its command.
    Command(String),
    /// A person decides.
    Manual,
}

/// What an audit knows beside the plan.
pub struct Circumstances<'a> {
    /// Gates that the configuration knows by name.
    pub named: BTreeMap<String, KnownGate>,
    /// Whether the configuration has gates that every run ends with.
    pub gated: bool,
    /// How many tokens a session may use, if that is known.
    pub budget: Option<Budget>,
    /// What phases of this repository were estimated at, and what they took.
    pub history: &'a [Past],
    /// The files that there are.
    pub files: &'a dyn Files,
}

/// What is wrong with a plan, in the order in which it stands there.
pub fn audit(plan: &Plan, around: &Circumstances<'_>) -> Vec<Finding> {
    let mut found = Findings { plan, list: Vec::new() };
    shape::check(plan, around, &mut found);
    gates::check(plan, around, &mut found);
    sizes(plan, around, &mut found);
    let mut list = found.list;
    list.sort_by_key(|finding| (finding.at, finding.code));
    list
}

/// The gates of a plan with the commands that the configuration knows for them.
pub fn fill_gates(plan: &mut Plan, named: &BTreeMap<String, KnownGate>) {
    let gates = plan.gates.iter_mut().chain(plan.phases.iter_mut().flat_map(|phase| &mut phase.gates));
    for gate in gates {
        match known(named, gate) {
            Some(KnownGate::Command(run)) => gate.run = Some(run.clone()),
            Some(KnownGate::Manual) => gate.manual = true,
            None => {}
        }
    }
}

// An explicit command is never replaced.
fn known<'n>(named: &'n BTreeMap<String, KnownGate>, gate: &Gate) -> Option<&'n KnownGate> {
    if gate.run.is_some() || gate.manual {
        return None;
    }
    let wanted = gate.name.trim().to_lowercase();
    named.iter().find(|(name, _)| name.trim().to_lowercase() == wanted).map(|(_, known)| known)
}

struct Findings<'p> {
    plan: &'p Plan,
    list: Vec<Finding>,
}

impl Findings<'_> {
    fn add(&mut self, code: Code, at: Place, phase: Option<&str>, message: String, fix: String) {
        let severity = code.severity();
        let phase = phase.map(str::to_owned);
        let file = self.plan.file(at).to_owned();
        self.list.push(Finding { code, severity, file, line: at.line, at, phase, message, fix });
    }

    fn lower(&mut self) {
        if let Some(last) = self.list.last_mut() {
            last.severity = Severity::Warning;
        }
    }
}

fn sizes(plan: &Plan, around: &Circumstances<'_>, found: &mut Findings<'_>) {
    let Some(budget) = around.budget else { return };
    let estimate = estimate::estimate(plan, Some(budget), around.history, around.files);
    for cost in estimate.phases.iter().filter(|cost| cost.tokens > budget.tokens) {
        let Some(phase) = plan.phases.iter().find(|phase| canonical(&phase.id) == canonical(&cost.id)) else {
            continue;
        };
        let parts: Vec<String> =
            cost.split.iter().map(|part| format!("{} (tasks {})", part.id, part.tasks.join(", "))).collect();
        let fix = if parts.len() > 1 {
            format!("split it, as `segue plan estimate` proposes: {}", parts.join("; "))
        } else {
            "split its task into smaller ones, or work with a larger window".to_owned()
        };
        let message = format!(
            "phase {} is likely to take {} tokens, more than the {} of a session",
            phase.id, cost.tokens, budget.tokens
        );
        found.add(Code::PhaseTooLarge, phase.at, Some(&phase.id), message, fix);
    }
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
