//! How much there is of what: in a plan, and in each of its files.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::model::{Criterion, Phase, Place, Plan};

/// How much there is of what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The file, in the list of files.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// Phases.
    pub phases: usize,
    /// Tasks.
    pub tasks: usize,
    /// Tasks that are done.
    pub tasks_done: usize,
    /// Groups that tasks belong to.
    pub groups: usize,
    /// Waves of phases and tasks.
    pub waves: usize,
    /// Gates.
    pub gates: usize,
    /// Gates with a command of their own.
    pub gates_with_command: usize,
    /// Criteria of phases and tasks.
    pub criteria: usize,
    /// Criteria that a command decides.
    pub criteria_with_command: usize,
    /// Commands that tasks are verified by, beside the criteria.
    pub verify_commands: usize,
    /// Commands that phases are verified by, beside their gates and criteria.
    pub phase_verify_commands: usize,
    /// Check boxes, outside of code.
    pub boxes: u32,
    /// Notes to read.
    pub notes_in: usize,
    /// Notes to write.
    pub notes_out: usize,
    /// Dependencies.
    pub needs: usize,
}

/// What there is in the whole plan.
pub fn counts(plan: &Plan) -> Counts {
    count(plan, |_| true, plan.files.iter().map(|file| file.boxes).fold(0, u32::saturating_add))
}

/// What there is in each file of it.
pub fn counts_per_file(plan: &Plan) -> Vec<Counts> {
    let each = plan.files.iter().enumerate().map(|(number, file)| {
        let here = |at: Place| usize::try_from(at.file).is_ok_and(|file| file == number);
        Counts { file: file.name.clone(), ..count(plan, here, file.boxes) }
    });
    each.collect()
}

fn count(plan: &Plan, here: impl Fn(Place) -> bool, boxes: u32) -> Counts {
    let phases: Vec<&Phase> = plan.phases.iter().filter(|phase| here(phase.at)).collect();
    let tasks = || phases.iter().flat_map(|phase| &phase.tasks);
    let gates =
        || plan.gates.iter().filter(|gate| here(gate.at)).chain(phases.iter().flat_map(|phase| &phase.gates));
    let criteria: Vec<&Criterion> = phases.iter().flat_map(|phase| phase.all_criteria()).collect();
    let groups =
        phases.iter().flat_map(|p| p.tasks.iter().filter_map(|task| Some((p.at, task.group.as_ref()?))));
    let waves = phases.iter().filter_map(|phase| phase.wave).chain(tasks().filter_map(|task| task.wave));
    Counts {
        file: String::new(),
        phases: phases.len(),
        tasks: tasks().count(),
        tasks_done: tasks().filter(|task| task.status.is_over()).count(),
        groups: groups.collect::<BTreeSet<_>>().len(),
        waves: waves.collect::<BTreeSet<_>>().len(),
        gates: gates().count(),
        gates_with_command: gates().filter(|gate| gate.run.is_some()).count(),
        criteria_with_command: criteria.iter().filter(|criterion| !criterion.checks.is_empty()).count(),
        criteria: criteria.len(),
        verify_commands: tasks().flat_map(|task| &task.verify).map(|verify| verify.checks.len()).sum(),
        phase_verify_commands: phases.iter().flat_map(|phase| &phase.verify).map(|v| v.checks.len()).sum(),
        boxes,
        notes_in: phases.iter().map(|phase| phase.notes_in.len()).sum(),
        notes_out: phases.iter().map(|phase| phase.notes_out.len()).sum(),
        needs: phases.iter().map(|phase| phase.needs.len()).sum(),
    }
}
