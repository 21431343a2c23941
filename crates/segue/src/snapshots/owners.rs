//! Whose a snapshot is: the runs of the journal, and the plans with every run that worked on their phases.

use std::collections::{BTreeMap, BTreeSet};

use segue_journal::RunRow;
use segue_plans::Status;

use crate::checkpoint::is_done;
use crate::git::{Saved, ref_part};
use crate::plan::{self, Kept, Standing, State};
use crate::store::Store;

/// The runs and plans of a work tree. Ids are compared as references spell them.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    runs: BTreeMap<String, RunRow>,
    plans: BTreeMap<String, PlanRuns>,
}

/// A plan, and the phase of each run that it started.
#[derive(Debug)]
pub(super) struct PlanRuns {
    pub(super) state: State,
    pub(super) runs: BTreeMap<String, String>,
}

impl Owners {
    /// Those of a work tree; a plan that cannot be read is left out.
    pub(crate) fn look(store: &Store, rows: Vec<RunRow>) -> Self {
        let plans = plan::all(&store.plans()).into_iter().filter_map(|dir| {
            let state = Kept::look(&dir).ok()?;
            Some(PlanRuns {
                state,
                runs: plan::runs(&dir).into_iter().map(|(phase, run)| (run, phase)).collect(),
            })
        });
        Self::new(rows, plans)
    }

    pub(super) fn new(rows: Vec<RunRow>, plans: impl IntoIterator<Item = PlanRuns>) -> Self {
        let spelt = |plan: PlanRuns| {
            let runs = plan.runs.into_iter().map(|(run, phase)| (ref_part(&run), phase)).collect();
            (ref_part(&plan.state.id), PlanRuns { runs, ..plan })
        };
        Self {
            runs: rows.into_iter().map(|row| (ref_part(&row.id), row)).collect(),
            plans: plans.into_iter().map(spelt).collect(),
        }
    }

    /// The plan and the phase of a snapshot, as far as they are known.
    pub(super) fn of(&self, saved: &Saved) -> (Option<String>, Option<String>) {
        if let Some(plan) = self.plans.get(&saved.run) {
            let begins = |id: &&String| {
                saved.label.strip_prefix(&ref_part(id)).is_some_and(|rest| rest.starts_with('-'))
            };
            let phase = plan.state.phases.keys().filter(begins).max_by_key(|id| id.len());
            return (Some(plan.state.id.clone()), phase.cloned());
        }
        let plan = self.plan_of(&saved.run);
        plan.map_or((None, None), |plan| (Some(plan.state.id.clone()), plan.runs.get(&saved.run).cloned()))
    }

    fn plan_of(&self, run: &str) -> Option<&PlanRuns> {
        self.plans.values().find(|plan| plan.runs.contains_key(run))
    }

    /// Where a run or plan stands, in a word.
    pub(crate) fn standing(&self, id: &str) -> Option<&str> {
        let plan = || self.plans.get(&ref_part(id)).map(|plan| plan.state.status.word());
        self.runs.get(&ref_part(id)).map(|row| row.status.as_str()).or_else(plan)
    }

    /// Whether nobody will go on with a run or plan. One that nothing is known of is never done, and a run of a plan is
    /// done only when the plan is, too.
    pub(super) fn is_done(&self, run: &str) -> bool {
        if let Some(plan) = self.plans.get(run) {
            return plan.state.status == Standing::Completed;
        }
        let plan = self.plan_of(run);
        let own = match (self.runs.get(run), plan) {
            (Some(row), _) => is_done(row),
            (None, Some(plan)) => plan.state.phases.values().any(|phase| {
                phase.status == Status::Completed
                    && phase.run.as_deref().is_some_and(|id| ref_part(id) == run)
            }),
            (None, None) => false,
        };
        own && plan.is_none_or(|plan| plan.state.status == Standing::Completed)
    }

    /// The plans that are completed.
    pub(super) fn completed(&self) -> impl Iterator<Item = &str> {
        let plans = self.plans.values().map(|plan| &plan.state);
        plans.filter(|state| state.status == Standing::Completed).map(|state| state.id.as_str())
    }

    /// Every id that is known.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        let started = self.plans.values().flat_map(|plan| plan.runs.keys());
        self.runs.keys().chain(self.plans.keys()).chain(started).map(String::as_str)
    }

    /// The runs whose snapshots are meant by an id: its own, and for a plan those of its phases.
    pub(super) fn group(&self, id: &str) -> BTreeSet<String> {
        let runs = self.plans.get(id).into_iter().flat_map(|plan| plan.runs.keys().cloned());
        runs.chain([id.to_owned()]).collect()
    }
}
