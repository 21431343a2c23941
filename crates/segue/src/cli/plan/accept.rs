//! `segue plan accept`: a person says that a phase is done.

use segue_plans::Status;
use segue_plans::ids::same;

use super::status::choose;
use super::{Failure, Place, out};
use crate::plan::{Kept, Stage};
use crate::process::lock::Lock;

/// Marks a phase as completed.
pub(super) fn accept(at: &Place, plan: Option<&str>, phase: &str) -> Result<u8, Failure> {
    let plans = at.store().plans();
    let dir = choose(at, plan)?;
    let _lock = Lock::take(&plans, "(a person)")?;
    let mut kept = Kept::open(&dir)?;
    let known: Vec<String> = kept.state().phases.keys().cloned().collect();
    if !known.iter().any(|id| same(id, phase)) {
        return Err(Failure::usage(format!(
            "phase {phase} of this plan has not started; started: {}",
            known.join(", ")
        )));
    }
    kept.change(|state| {
        let phase = state.phase_mut(phase);
        (phase.status, phase.why, phase.accepted) =
            (Status::Completed, "marked as done by the user".to_owned(), true);
        // Its work is not in the plan's branch yet.
        if let Some(work) = phase.work.as_mut().filter(|work| work.stage != Stage::Split) {
            phase.status = Status::InProgress;
            work.stage = if work.onto.is_some() { work.stage } else { Stage::Done };
        }
    })?;
    let id = kept.state().id.clone();
    if at.json {
        out::line(&serde_json::json!({ "plan": id, "phase": phase, "status": "completed" }).to_string());
    } else {
        out::line(&format!("phase {phase} is marked as done; `segue resume {id}` continues"));
    }
    Ok(0)
}
