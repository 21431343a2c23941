//! The scripted agent's "model": what it believes and says next, as a pure function of the text in its context.
//!
//! It must not look at the disk or remember anything by other means: a step that a handoff forgets is done twice,
//! and a step that a handoff invents is lost, so that both show in the step log.

mod reading;

use std::collections::{BTreeMap, BTreeSet};

use crate::context::{Entry, Role};

/// What starts a request for a checkpoint.
pub const CHECKPOINT_REQUEST: &str = "[segue: checkpoint request]";

/// What stands in a prompt that asks for a report of a phase.
pub const REPORT_REQUEST: &str = "\"recommendation\"";

/// Whether a prompt asks for a checkpoint; a continuation prompt only contains one.
pub fn asks_for_checkpoint(prompt: &str) -> bool {
    prompt.trim_start().starts_with(CHECKPOINT_REQUEST)
}

/// What the agent believes about its list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Belief {
    /// Every step that a check list names, with its text.
    pub listed: BTreeMap<u32, String>,
    /// Steps that are done.
    pub done: BTreeSet<u32>,
    /// Other things it says it has done.
    pub claims: Vec<String>,
    /// It was asked to end with a report.
    pub reports: bool,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// There is no list in the context.
    NoList,
    /// Run this step.
    Step(u32),
    /// Everything on the list is done.
    Finished,
}

/// Reads the context.
pub fn believe(entries: &[Entry]) -> Belief {
    let mut belief = Belief::default();
    for entry in entries {
        let found = reading::read(entry);
        belief.listed.extend(found.listed);
        // A handoff may quote an old gate beside newer facts: what the same text shows as done stays done.
        belief.done.retain(|n| !found.missing.contains(n));
        belief.done.extend(found.done);
        belief.claims.extend(found.claims);
        belief.reports |= entry.role == Role::Prompt && entry.text.contains(REPORT_REQUEST);
    }
    belief
}

impl Belief {
    /// The lowest open step, or the end.
    pub fn next(&self) -> Action {
        if self.listed.is_empty() {
            return Action::NoList;
        }
        self.open().next().map_or(Action::Finished, |(n, _)| Action::Step(n))
    }

    /// Listed steps that are not done.
    pub fn open(&self) -> impl Iterator<Item = (u32, &str)> {
        self.listed.iter().filter(|(n, _)| !self.done.contains(n)).map(|(n, text)| (*n, text.as_str()))
    }

    /// Listed steps that are done.
    pub fn closed(&self) -> impl Iterator<Item = (u32, &str)> {
        self.listed.iter().filter(|(n, _)| self.done.contains(n)).map(|(n, text)| (*n, text.as_str()))
    }

    /// What the agent says before it acts.
    pub fn sentence(&self, action: Action) -> String {
        let all = self.listed.len();
        match action {
            Action::NoList => "I have no list of steps to work on, so I stop here.".to_owned(),
            Action::Step(n) => format!("Next is number {n} of {all}. I run its command."),
            Action::Finished if self.reports => {
                format!("All {all} steps are done. LOOP_COMPLETE\n\n```json\n{}\n```", self.report())
            }
            Action::Finished => format!("All {all} steps are done. LOOP_COMPLETE\n\nSTATUS: done"),
        }
    }

    // Where a task is named beside its step, "write part 3 (task 7)", that is its name in the plan.
    fn report(&self) -> String {
        let id = |n: u32, text: &str| {
            let named = text.rsplit_once("(task ").and_then(|(_, rest)| rest.split_once(')'));
            named.map_or_else(|| n.to_string(), |(id, _)| id.to_owned())
        };
        let tasks = self.listed.iter().map(|(n, text)| {
            serde_json::json!({ "id": id(*n, text), "status": if self.done.contains(n) { "completed" } else { "remaining" } })
        });
        serde_json::json!({
            "status": "completed", "tasks": tasks.collect::<Vec<_>>(), "commits": [], "issues": [],
            "recommendation": "proceed", "summary": format!("Worked through {} steps.", self.listed.len()),
        })
        .to_string()
    }

    /// The checkpoint, tagged or not.
    pub fn checkpoint(&self, tagged: bool) -> String {
        let bullets =
            |steps: Vec<String>| if steps.is_empty() { "- none\n".to_owned() } else { steps.concat() };
        let bullet = |(n, text): (u32, &str)| format!("- step {n}: {text}\n");
        let closed =
            self.closed().map(bullet).chain(self.claims.iter().map(|c| format!("- {c}\n"))).collect();
        let text = format!(
            "## Goal\nWork through the list of {} steps.\n\
             ## Completed Work\n{}## Remaining Tasks\n{}\
             ## Do Not Redo\n- what stands under Completed Work\n\
             ## Key Decisions\n- one step at a time, the lowest number first\n",
            self.listed.len(),
            bullets(closed),
            bullets(self.open().map(bullet).collect()),
        );
        if tagged { format!("<checkpoint>\n{text}</checkpoint>") } else { text }
    }

    /// What is kept of the work when the agent compacts its own context.
    pub fn summary(&self) -> String {
        let done: Vec<String> = self.closed().map(|(n, _)| format!("step {n}")).collect();
        format!("Completed: {}", if done.is_empty() { "none".to_owned() } else { done.join(", ") })
    }
}

#[cfg(test)]
#[path = "brain_tests.rs"]
mod tests;
