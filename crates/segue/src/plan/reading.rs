//! Reads the plan while it is run. It may be edited meanwhile, and a file that is being written is no plan for a moment.

use std::time::Duration;

use segue_plans::ids::same;
use segue_plans::{Plan, Status, fill_gates};

use super::PlanError;
use super::runner::Runner;
use crate::trust::allowed::Allowed;
use crate::trust::plan as trust;

/// How often a plan is read again that cannot be read, or has lost open work.
const TRIES: u32 = 10;
/// How long between.
const PAUSE: Duration = Duration::from_millis(100);

impl Runner {
    /// The plan as it is on disk.
    pub(super) fn read(&self) -> Result<Plan, PlanError> {
        let state = self.kept.state();
        let bad = |why: String| PlanError::Plan { plan: state.plan.clone(), why };
        let plan = self.disk().plan(&state.plan).map_err(|error| bad(error.to_string()))?;
        let mut plan = plan.map_err(|error| bad(error.to_string()))?;
        let allowed = Allowed::read(&self.set.trust, Some(&state.id));
        let missing = allowed.missing(&trust::items(&plan));
        if !missing.is_empty() {
            let lines: Vec<String> = missing.iter().map(|item| format!("  {}", item.line())).collect();
            return Err(PlanError::NotAllowed { plan: state.plan.clone(), commands: lines.join("\n") });
        }
        fill_gates(&mut plan, &self.set.gates);
        Ok(plan)
    }

    /// A file of the plan as a path from the top of the work tree.
    pub(super) fn path_from_top(&self, name: &str) -> String {
        let path = self.set.dir.join(name);
        let path = path.canonicalize().unwrap_or(path);
        let top = self.set.store.workdir();
        let top = top.canonicalize().unwrap_or_else(|_| top.to_owned());
        path.strip_prefix(&top).unwrap_or(&path).display().to_string()
    }

    /// Reads the plan once more. One that cannot be read stays as it was read last, and that is said.
    pub(super) fn read_again(&mut self) -> Result<(), PlanError> {
        let mut read = self.read();
        let patient = !self.told.contains(UNREADABLE);
        for _ in 0..TRIES {
            let whole = read.as_ref().is_ok_and(|plan| !self.lost_open_work(plan));
            if whole || !patient {
                break;
            }
            std::thread::sleep(PAUSE);
            read = self.read();
        }
        match read {
            Ok(plan) => {
                self.told.remove(UNREADABLE);
                self.plan = plan;
                Ok(())
            }
            Err(error) if self.told.insert(UNREADABLE.to_owned()) => {
                let text = format!("{error}; until then the plan continues with the version read before");
                self.warn("plan_unreadable", &text)
            }
            Err(_) => Ok(()),
        }
    }

    // Half of a file is often a plan, too: one with less in it.
    fn lost_open_work(&self, new: &Plan) -> bool {
        let state = self.kept.state();
        let is_over = |id: &str| {
            state.phase(id).is_some_and(|known| matches!(known.status, Status::Completed | Status::Skipped))
        };
        let is_smaller = |old: &segue_plans::Phase| {
            let now = new.phases.iter().find(|phase| same(&phase.id, &old.id));
            now.is_none_or(|now| now.tasks.len() < old.tasks.len())
        };
        self.plan.phases.iter().any(|old| !is_over(&old.id) && is_smaller(old))
    }
}

/// What is remembered of having said it.
const UNREADABLE: &str = "(the plan cannot be read)";
