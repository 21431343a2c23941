//! What comes before what: the order of phases, cycles, and what can be done next.
//!
//! A phase comes after what it needs, and after every phase of an earlier wave.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::canonical;
use crate::model::{Plan, Status};

/// How far phases are, by id. What is not in it is as the plan says.
pub type Statuses = BTreeMap<String, Status>;

/// The dependencies of a plan, by the phases' places in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    ids: Vec<String>,
    own: Vec<Status>,
    needs: Vec<Vec<usize>>,
    followers: Vec<Vec<usize>>,
    /// What is needed and is no phase of the plan: whose need it is, and what it says.
    pub unknown: Vec<(usize, String)>,
    // Phases that wait for something that the plan does not have. One that was read alone does not.
    stuck: BTreeSet<usize>,
}

impl Graph {
    /// The graph of a plan.
    pub fn new(plan: &Plan) -> Self {
        let ids: Vec<String> = plan.phases.iter().map(|phase| canonical(&phase.id)).collect();
        let mut index: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, id) in ids.iter().enumerate() {
            index.entry(id).or_insert(at);
        }
        let mut graph =
            Self { own: plan.phases.iter().map(|phase| phase.status).collect(), ..Self::default() };
        let waves = Waves::new(plan);
        for (at, phase) in plan.phases.iter().enumerate() {
            let mut needs: BTreeSet<usize> = waves.before(phase.wave).iter().copied().collect();
            for need in &phase.needs {
                match index.get(canonical(need).as_str()) {
                    Some(found) => drop(needs.insert(*found)),
                    None => {
                        graph.unknown.push((at, need.clone()));
                        if !phase.alone {
                            graph.stuck.insert(at);
                        }
                    }
                }
            }
            graph.needs.push(needs.into_iter().collect());
        }
        graph.followers = vec![Vec::new(); ids.len()];
        for (at, needs) in graph.needs.iter().enumerate() {
            for need in needs {
                graph.followers[*need].push(at);
            }
        }
        graph.ids = ids;
        graph
    }

    /// What a phase needs.
    pub fn needs(&self, phase: usize) -> &[usize] {
        self.needs.get(phase).map_or(&[], Vec::as_slice)
    }

    /// What needs a phase.
    pub fn followers(&self, phase: usize) -> &[usize] {
        self.followers.get(phase).map_or(&[], Vec::as_slice)
    }

    /// Every phase that has a place in an order, each after what it needs, else as they were written.
    pub fn order(&self) -> Vec<usize> {
        let mut open: Vec<usize> = self.needs.iter().map(Vec::len).collect();
        let mut ready: BTreeSet<usize> = (0..open.len()).filter(|at| open[*at] == 0).collect();
        let mut order = Vec::with_capacity(open.len());
        while let Some(next) = ready.pop_first() {
            order.push(next);
            for follower in &self.followers[next] {
                open[*follower] -= 1;
                if open[*follower] == 0 {
                    ready.insert(*follower);
                }
            }
        }
        order
    }

    /// How many phases must come before each, one after the other. What is in a cycle has no such number.
    pub fn levels(&self) -> Vec<Option<usize>> {
        let mut levels = vec![None; self.needs.len()];
        for at in self.order() {
            let before = self.needs[at].iter().filter_map(|need| levels[*need]).max();
            levels[at] = Some(before.map_or(0, |level: usize| level + 1));
        }
        levels
    }

    /// Phases that need one another in a circle, each circle once.
    pub fn cycles(&self) -> Vec<Vec<usize>> {
        let ordered: BTreeSet<usize> = self.order().into_iter().collect();
        let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
        let mut found = Vec::new();
        for start in (0..self.needs.len()).filter(|at| !ordered.contains(at)) {
            let mut path: Vec<usize> = Vec::new();
            let mut at = start;
            // Whatever has no place in the order needs something else that has none.
            loop {
                match seen.get(&at) {
                    Some(walk) if *walk == start => {
                        let from = path.iter().position(|step| *step == at).unwrap_or(0);
                        found.push(path.split_off(from));
                        break;
                    }
                    Some(_) => break,
                    None => {}
                }
                seen.insert(at, start);
                path.push(at);
                let Some(next) = self.needs[at].iter().find(|need| !ordered.contains(need)) else { break };
                at = *next;
            }
        }
        found
    }

    /// Phases that can never begin, because something before them cannot be done; those in a cycle not among them.
    pub fn unreachable(&self) -> Vec<usize> {
        let in_cycle: BTreeSet<usize> = self.cycles().into_iter().flatten().collect();
        let mut blocked: BTreeSet<usize> = in_cycle.iter().chain(&self.stuck).copied().collect();
        let mut next: Vec<usize> = blocked.iter().copied().collect();
        let mut found = BTreeSet::new();
        while let Some(at) = next.pop() {
            for follower in &self.followers[at] {
                if blocked.insert(*follower) {
                    found.insert(*follower);
                    next.push(*follower);
                }
            }
        }
        found.into_iter().collect()
    }

    /// The phases that can begin: not begun, and everything that they need is over.
    pub fn ready(&self, statuses: &Statuses) -> Vec<usize> {
        let known: BTreeMap<String, Status> =
            statuses.iter().map(|(id, status)| (canonical(id), *status)).collect();
        let status = |at: usize| known.get(&self.ids[at]).copied().unwrap_or(self.own[at]);
        let can = |at: &usize| {
            status(*at) == Status::Pending
                && !self.stuck.contains(at)
                && self.needs[*at].iter().all(|need| status(*need).is_over())
        };
        (0..self.needs.len()).filter(can).collect()
    }
}

/// The ids of the phases that can begin, in the order in which they were written.
pub fn ready(plan: &Plan, statuses: &Statuses) -> Vec<String> {
    Graph::new(plan).ready(statuses).into_iter().map(|at| plan.phases[at].id.clone()).collect()
}

/// The phases of each wave.
struct Waves(BTreeMap<u32, Vec<usize>>);

impl Waves {
    fn new(plan: &Plan) -> Self {
        let mut waves: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (at, phase) in plan.phases.iter().enumerate() {
            if let Some(wave) = phase.wave {
                waves.entry(wave).or_default().push(at);
            }
        }
        Self(waves)
    }

    // The wave before this one stands for all that came before it.
    fn before(&self, wave: Option<u32>) -> &[usize] {
        let before = wave.and_then(|wave| self.0.range(..wave).next_back());
        before.map_or(&[], |(_, phases)| phases.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Phase;

    fn plan(phases: &[(&str, &[&str])]) -> Plan {
        let phase = |(id, needs): &(&str, &[&str])| Phase {
            needs: needs.iter().map(|n| (*n).to_owned()).collect(),
            ..Phase::new(*id)
        };
        Plan { phases: phases.iter().map(phase).collect(), ..Plan::default() }
    }

    #[test]
    fn phases_come_after_what_they_need_and_else_as_written() {
        let graph = Graph::new(&plan(&[("3", &["1", "2"]), ("1", &[]), ("2", &["01"]), ("6D", &[])]));
        assert_eq!(graph.order(), [1, 2, 0, 3]);
        assert_eq!(graph.levels(), [Some(2), Some(0), Some(1), Some(0)]);
        assert!(graph.cycles().is_empty() && graph.unreachable().is_empty());
    }

    #[test]
    fn p4_a_circle_is_named_once_and_what_waits_for_it_is_unreachable() {
        let graph = Graph::new(&plan(&[
            ("1", &["3"]),
            ("2", &["1"]),
            ("3", &["2"]),
            ("4", &["3"]),
            ("5", &["5"]),
            ("6", &[]),
        ]));
        assert_eq!(graph.cycles(), [vec![0, 2, 1], vec![4]]);
        assert_eq!(graph.unreachable(), [3]);
        assert_eq!(graph.order(), [5]);
    }

    #[test]
    fn what_waits_for_something_unknown_is_unreachable_too() {
        let graph = Graph::new(&plan(&[("1", &["9"]), ("2", &["1"]), ("3", &[])]));
        assert_eq!(graph.unknown, [(0, "9".to_owned())]);
        assert_eq!(graph.unreachable(), [1]);
        assert_eq!(graph.ready(&Statuses::new()), [2]);
    }

    #[test]
    fn ready_is_what_is_pending_and_has_all_that_it_needs() {
        let plan = plan(&[("1", &[]), ("2", &["1"]), ("3", &["1"]), ("4", &["2", "3"])]);
        let with = |done: &[(&str, Status)]| {
            ready(&plan, &done.iter().map(|(id, s)| ((*id).to_owned(), *s)).collect())
        };
        assert_eq!(with(&[]), ["1"]);
        assert_eq!(with(&[("01", Status::Completed)]), ["2", "3"]);
        assert_eq!(
            with(&[("1", Status::Completed), ("2", Status::InProgress), ("3", Status::Skipped)]),
            [""; 0]
        );
        assert_eq!(
            with(&[("1", Status::Completed), ("2", Status::Completed), ("3", Status::Skipped)]),
            ["4"]
        );
        assert_eq!(with(&[("1", Status::Failed)]), [""; 0]);
    }

    #[test]
    fn a_later_wave_waits_for_the_one_before_it() {
        let mut plan = plan(&[("1", &[]), ("2", &[]), ("3", &[])]);
        for (phase, wave) in plan.phases.iter_mut().zip([1, 1, 3]) {
            phase.wave = Some(wave);
        }
        assert_eq!(ready(&plan, &Statuses::new()), ["1", "2"]);
        assert_eq!(Graph::new(&plan).needs(2), [0, 1]);
    }
}
