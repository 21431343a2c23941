//! What is next in a plan: which phase was cut off, which can begin, which never will. Nothing is read or run here.

use std::collections::BTreeSet;

use segue_plans::graph::{Graph, Statuses};
use segue_plans::ids::same;
use segue_plans::split::{Answers, expanded};
use segue_plans::{ItemKind, Phase, Plan, Status};

use super::beside::Claim;
use super::state::State;

/// A plan with its splits in it, and how far everything is.
#[derive(Debug)]
pub(super) struct Board {
    /// The plan, parts in the place of what was split.
    pub(super) plan: Plan,
    graph: Graph,
    statuses: Statuses,
}

/// Which phases hold one another up.
pub(super) struct Claims<'a> {
    /// What is claimed by phases at work.
    pub(super) taken: Vec<Claim>,
    /// What a phase claims.
    pub(super) of: &'a dyn Fn(&Phase) -> Claim,
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
        let answers = |whole: &str| match state.options.beside() || state.has_parts_in_parallel(whole) {
            true => Answers::None,
            false => Answers::Last,
        };
        let plan = expanded(plan, &state.splits(), answers);
        let status = |phase: &Phase| {
            let known = state.phase(&phase.id).map(|known| known.status);
            known.unwrap_or(match phase.status {
                Status::Completed | Status::Skipped if !force => phase.status,
                // Everything in it is ticked off.
                _ if !force && is_ticked_off(phase) => Status::Completed,
                // Somebody began it elsewhere, or says so: that is no reason to leave it out.
                Status::Completed
                | Status::Skipped
                | Status::Pending
                | Status::InProgress
                | Status::Failed
                | Status::Blocked
                | Status::NeedsInput => Status::Pending,
            })
        };
        let statuses = plan.phases.iter().map(|phase| (phase.id.clone(), status(phase))).collect();
        Self { graph: Graph::new(&plan), plan, statuses }
    }

    /// How far a phase is.
    pub(super) fn status(&self, at: usize) -> Status {
        self.plan.phases.get(at).and_then(|phase| self.statuses.get(&phase.id)).copied().unwrap_or_default()
    }

    /// What is next, besides what is at work: first what was cut off, then what can begin. What can begin and is held has
    /// a claim on its place: nothing that it would have to wait for goes before it.
    pub(super) fn next(
        &self,
        at_work: &BTreeSet<String>,
        wanted: impl Fn(&Phase) -> bool,
        claims: &Claims<'_>,
    ) -> Option<Next> {
        let is_free = |at: &usize| {
            let phase = &self.plan.phases[*at];
            !at_work.contains(&phase.id) && wanted(phase)
        };
        let cut_off =
            (0..self.plan.phases.len()).filter(|at| self.status(*at) == Status::InProgress).find(is_free);
        if let Some(at) = cut_off {
            return Some(Next::TakeUp(at));
        }
        let mut held: Vec<Claim> = Vec::new();
        for at in self.graph.ready(&self.statuses).into_iter().filter(is_free) {
            let claim = (claims.of)(&self.plan.phases[at]);
            if !claims.taken.iter().chain(&held).any(|other| claim.excludes(other)) {
                return Some(Next::Begin(at));
            }
            held.push(claim);
        }
        None
    }

    /// The phases that could begin now.
    pub(super) fn ready(&self) -> Vec<&Phase> {
        self.graph.ready(&self.statuses).into_iter().map(|at| &self.plan.phases[at]).collect()
    }

    /// Each phase's place in the order in which they would be run one by one.
    pub(super) fn order(&self) -> Vec<&str> {
        self.graph.order().into_iter().map(|at| self.plan.phases[at].id.as_str()).collect()
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

fn is_ticked_off(phase: &Phase) -> bool {
    let over = phase.tasks.iter().all(|task| task.status.is_over());
    !phase.tasks.is_empty()
        && over
        && !phase.all_items().any(|item| item.is_open() && item.kind != ItemKind::Criterion)
}

/// Whether a phase is one of these, or a part of one.
pub(super) fn is_one_of(phase: &Phase, ids: &[String], state: &State) -> bool {
    let whole = state.whole_of(&phase.id);
    ids.iter().any(|id| same(&phase.id, id) || whole.is_some_and(|whole| same(whole, id)))
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
        let claims = Claims { taken: Vec::new(), of: &|_| Claim::default() };
        board.next(&at_work, |_| true, &claims).map(|next| match next {
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
    fn h2_what_is_held_is_not_overtaken_by_what_it_would_have_to_wait_for() {
        let files = |id: &str, files: &[&str]| Phase {
            files: files.iter().map(|f| (*f).to_owned()).collect(),
            ..Phase::new(id)
        };
        let phases =
            vec![files("1", &["a"]), files("2", &["a", "b"]), files("3", &["b"]), files("4", &["c"])];
        let plan = Plan { phases, ..Plan::default() };
        let board = Board::new(&plan, &State::default(), false);
        let of = |phase: &Phase| Claim::of(phase, None);
        let claims = Claims { taken: vec![of(&plan.phases[0])], of: &of };
        let next = board.next(&BTreeSet::from(["1".to_owned()]), |_| true, &claims);
        assert_eq!(next, Some(Next::Begin(3)), "3 would hold 2 up once more");
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
