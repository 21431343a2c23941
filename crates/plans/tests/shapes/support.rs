//! What every test of a shape asks.

use segue_plans::{Counts, Format, NoFiles, Phase, Plan, counts, read_plan};

/// Reads a plan that stands alone.
pub(crate) fn read(text: &str) -> Plan {
    read_plan("PLAN.md", text.as_bytes(), &NoFiles).unwrap()
}

/// Its one phase.
pub(crate) fn only(plan: &Plan) -> &Phase {
    assert_eq!(plan.phases.len(), 1);
    &plan.phases[0]
}

/// The ids of its tasks.
pub(crate) fn tasks(phase: &Phase) -> Vec<&str> {
    phase.tasks.iter().map(|task| task.id.as_str()).collect()
}

/// Its format, and how many phases, tasks, gates and criteria there are.
pub(crate) fn told(plan: &Plan) -> (Format, usize, usize, usize, usize) {
    let Counts { phases, tasks, gates, criteria, .. } = counts(plan);
    (plan.format, phases, tasks, gates, criteria)
}
