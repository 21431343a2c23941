//! What is next in a plan: which phase was cut off, which can begin, which never will. Nothing is read or run here.

use std::collections::BTreeSet;

use segue_plans::graph::{Graph, Statuses};
use segue_plans::ids::same;
use segue_plans::split::expanded;
use segue_plans::{Phase, Plan, Status};

use super::state::State;

/// A plan with its splits in it, and how far everything is.
#[derive(Debug)]
pub(super) struct Board {
    /// The plan, parts in the place of what was split.
    pub(super) plan: Plan,
    graph: Graph,
    statuses: Statuses,
}

/// What is to be done with a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// It was begun, and its process is gone.
    TakeUp(usize),
    /// It can begin.
    Begin(usize),
}

impl Board {
    /// The board of a plan. With `force` what the plan itself calls completed is not.
    pub(super) fn new(plan: &Plan, state: &State, force: bool) -> Self {
        let plan = expanded(plan, &state.splits());
        let status = |phase: &Phase| {
            let known = state.phase(&phase.id).map(|known| known.status);
            known.unwrap_or(match phase.status {
                Status::Completed | Status::Skipped if !force => phase.status,
                // Somebody began it elsewhere, or says so: that is no reason to leave it out.
                Status::Completed
                | Status::Skipped
                | Status::Pending
                | Status::InProgress
                | Status::Failed
                | Status::Blocked
                | Status::NeedsPerson => Status::Pending,
            })
        };
        let statuses = plan.phases.iter().map(|phase| (phase.id.clone(), status(phase))).collect();
        Self { graph: Graph::new(&plan), plan, statuses }
    }

    /// How far a phase is.
    pub(super) fn status(&self, at: usize) -> Status {
        self.plan.phases.get(at).and_then(|phase| self.statuses.get(&phase.id)).copied().unwrap_or_default()
    }

    /// What is next, besides what is at work: first what was cut off, then what can begin.
    pub(super) fn next(&self, at_work: &BTreeSet<String>, wanted: impl Fn(&Phase) -> bool) -> Option<Next> {
        let is_free = |at: &usize| {
            let phase = &self.plan.phases[*at];
            !at_work.contains(&phase.id) && wanted(phase)
        };
        let cut_off =
            (0..self.plan.phases.len()).filter(|at| self.status(*at) == Status::InProgress).find(is_free);
        let ready = || self.graph.ready(&self.statuses).into_iter().find(is_free);
        cut_off.map(Next::TakeUp).or_else(|| ready().map(Next::Begin))
    }

    /// Phases that are not over.
    pub(super) fn open(&self) -> Vec<usize> {
        (0..self.plan.phases.len()).filter(|at| !self.status(*at).is_over()).collect()
    }

    /// What a phase still waits for, by id.
    pub(super) fn waits_for(&self, at: usize) -> Vec<&str> {
        let needs = self.graph.needs(at).iter().filter(|need| !self.status(**need).is_over());
        needs.map(|need| self.plan.phases[*need].id.as_str()).collect()
    }
}

/// Whether a phase is the one of that id, or a part of it.
pub(super) fn is_part(phase: &Phase, id: &str, state: &State) -> bool {
    same(&phase.id, id) || state.whole_of(&phase.id).is_some_and(|whole| same(whole, id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let phase = |id: &str, needs: &[&str]| Phase {
            needs: needs.iter().map(|n| (*n).to_owned()).collect(),
            ..Phase::new(id)
        };
        Plan { phases: vec![phase("1", &[]), phase("2", &["1"]), phase("3", &[])], ..Plan::default() }
    }

    fn ids(board: &Board, at_work: &[&str]) -> Option<(bool, String)> {
        let at_work = at_work.iter().map(|id| (*id).to_owned()).collect();
        board.next(&at_work, |_| true).map(|next| match next {
            Next::TakeUp(at) => (true, board.plan.phases[at].id.clone()),
            Next::Begin(at) => (false, board.plan.phases[at].id.clone()),
        })
    }

    #[test]
    fn what_was_cut_off_comes_before_what_is_new() {
        let mut state = State::default();
        state.phase_mut("3").status = Status::InProgress;
        let board = Board::new(&plan(), &state, false);
        assert_eq!(ids(&board, &[]), Some((true, "3".to_owned())));
        assert_eq!(ids(&board, &["3"]), Some((false, "1".to_owned())));
        assert_eq!(ids(&board, &["3", "1"]), None);
        assert_eq!(board.waits_for(1), ["1"]);
    }

    #[test]
    fn what_the_plan_calls_completed_is_left_out_unless_forced() {
        let mut plan = plan();
        plan.phases[0].status = Status::Completed;
        plan.phases[1].status = Status::Failed;
        assert_eq!(ids(&Board::new(&plan, &State::default(), false), &[]), Some((false, "2".to_owned())));
        assert_eq!(ids(&Board::new(&plan, &State::default(), true), &[]), Some((false, "1".to_owned())));
    }
}
