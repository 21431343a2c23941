//! Things that cannot both hold: what is better founded stands; of two that are founded alike, the newer one.
//! Every such decision is recorded, and the one that lost is still named by the one that stands.

use super::sketch::{Sketch, sketch};
use super::{Category, Conflict, Ledger, State};
use crate::claims::{ClaimKind, Finding, Judged};

impl Ledger {
    /// An item that cannot hold together with this one.
    pub(super) fn rival(&self, category: Category, sketch: &Sketch) -> Option<u32> {
        match category {
            Category::Rule | Category::Constraint | Category::Decision => {
                let rival = self.index.opposite(sketch).or_else(|| self.index.other_value(sketch))?;
                self.live(rival).then_some(rival)
            }
            Category::Failure
            | Category::DeadEnd
            | Category::Remaining
            | Category::DoNotRedo
            | Category::Done => None,
        }
    }

    /// Decides between a newer item and an older one.
    pub(super) fn settle(&mut self, newer: u32, older: u32, origin: u32) {
        let weight = |at: u32| self.items.get(at as usize).map_or(0, |i| i.weight);
        let (kept, dropped, why) = if weight(newer) < weight(older) {
            (older, newer, "by evidence: the older one is better founded")
        } else if weight(newer) > weight(older) {
            (newer, older, "by evidence: the newer one is better founded")
        } else {
            (newer, older, "by age: both are founded alike, the newer one stands")
        };
        let (Some(winner), Some(loser)) = (self.items.get(kept as usize), self.items.get(dropped as usize))
        else {
            return;
        };
        let (kept_id, dropped_id, was) = (winner.id.clone(), loser.id.clone(), loser.text.clone());
        if let Some(loser) = self.items.get_mut(dropped as usize) {
            loser.state = State::Superseded { by: kept_id.clone() };
            loser.was = None;
        }
        if let Some(winner) = self.items.get_mut(kept as usize) {
            winner.state = State::Open;
            winner.was = (kept == newer).then_some(was);
        }
        self.index.stands(kept);
        self.record(kept_id, dropped_id, why, origin);
    }

    /// Something that had lost is said again: it is held against what stands in its place.
    pub(super) fn settle_again(&mut self, at: u32, weight: u8, origin: u32) {
        let Some(item) = self.items.get(at as usize) else { return };
        let rival = match &item.state {
            State::Superseded { by } => self.items.iter().position(|i| i.id == *by && i.state == State::Open),
            State::Open | State::SaidDone { .. } | State::Closed { .. } | State::Contradicted { .. } => None,
        };
        let Some(rival) = rival else { return self.reopen(at, origin) };
        if self.items[rival].weight <= weight {
            self.settle(at, u32::try_from(rival).unwrap_or(u32::MAX), origin);
        }
    }

    /// Something that was closed is said again to be open.
    pub(super) fn reopen(&mut self, at: u32, origin: u32) {
        let Some(item) = self.items.get_mut(at as usize) else { return };
        item.state = State::Open;
        let id = item.id.clone();
        self.record(id.clone(), id, "by age: it was closed and is said again", origin);
    }

    /// Takes back what evidence disagrees with.
    pub(super) fn contradict(&mut self, text: &str, evidence: &str) {
        for category in [Category::Done, Category::DoNotRedo] {
            let found = self.index.same(category, &sketch(category, text));
            if let Some(item) = found.and_then(|at| self.items.get_mut(at as usize)) {
                item.state = State::Contradicted { by: evidence.to_owned() };
            }
        }
    }

    /// Closes remaining items and failures of which a finished piece of work says every word.
    pub(super) fn close_what_is_done(&mut self, done: &Sketch, weight: u8, evidence: &str, origin: u32) {
        for category in [Category::Remaining, Category::Failure] {
            for at in self.index.within(category, done) {
                let by = self.named(origin);
                let Some(item) = self.items.get_mut(at as usize) else { continue };
                let opened_here = item.seen == origin;
                if item.gate.is_some()
                    || opened_here
                    || !matches!(item.state, State::Open | State::SaidDone { .. })
                {
                    continue;
                }
                item.state = if weight >= 2 && category == Category::Remaining {
                    State::Closed { by: evidence.to_owned() }
                } else {
                    State::SaidDone { by }
                };
            }
        }
    }

    /// A confirmed "tests pass" closes failing tests; an agent's word is noted on them.
    pub(super) fn tests_pass(&mut self, judged: &Judged, origin: u32) {
        let ClaimKind::TestsPass { gate } = &judged.claim.kind else { return };
        if gate.as_deref().is_some_and(|gate| gate != "tests") {
            return;
        }
        let by = self.named(origin);
        for item in &mut self.items {
            let test =
                item.category == Category::Failure && item.gate.is_none() && speaks_of_tests(&item.text);
            if !test || item.seen == origin || !matches!(item.state, State::Open | State::SaidDone { .. }) {
                continue;
            }
            item.state = match judged.finding {
                Finding::Confirmed => State::Closed { by: judged.evidence.clone() },
                Finding::Unknown => State::SaidDone { by: by.clone() },
                Finding::Contradicted => State::Open,
            };
        }
    }

    /// Whether an item still holds, as far as known.
    pub(super) fn live(&self, at: u32) -> bool {
        self.items.get(at as usize).is_some_and(|i| matches!(i.state, State::Open | State::SaidDone { .. }))
    }

    fn record(&mut self, kept: String, dropped: String, why: &str, origin: u32) {
        let at = self.origins.get(origin as usize).map_or(0, |o| o.at);
        self.conflicts.push(Conflict { at, kept, dropped, resolved: why.to_owned() });
    }

    /// How an origin is called in words.
    pub(super) fn named(&self, origin: u32) -> String {
        let Some(from) = self.origins.get(origin as usize) else { return String::new() };
        from.checkpoint.clone().unwrap_or_else(|| format!("session {}", from.session))
    }
}

/// Whether a failure is about tests.
pub(super) fn speaks_of_tests(text: &str) -> bool {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .any(|w| w.starts_with("test") || w == "spec" || w == "suite")
}
