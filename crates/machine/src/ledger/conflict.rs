//! Things that cannot both hold: what is better founded stands; of two that are founded alike, the newer one.
//! Every such decision is recorded, and the one that lost is still named by the one that stands.

use std::borrow::Cow;
use std::ops::Range;

use super::merge::Entry;
use super::sketch::{Sketch, sketch};
use super::{Category, Conflict, Ledger, State};
use crate::claims::{ClaimKind, Finding, Judged};

/// How much of other words for a thing is repeated, in characters.
const WORDS: usize = 120;

impl Ledger {
    /// An item that cannot hold together with this one.
    pub(super) fn rival(&self, category: Category, sketch: &Sketch) -> Option<u32> {
        match category {
            Category::Rule | Category::Constraint | Category::Decision => {
                let rival = self.index.opposite(sketch).or_else(|| self.index.other_value(sketch))?;
                self.live(rival).then_some(rival)
            }
            // What was said to be done is said to be left.
            Category::Remaining => {
                let done = self.index.alike(Category::Done, sketch)?;
                self.live(done).then_some(done)
            }
            Category::Failure | Category::DeadEnd | Category::DoNotRedo | Category::Done => None,
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
            winner.was = (kept == newer && was != winner.text).then_some(was);
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
        for done in self.items.iter_mut().filter(|done| done.closes == Some(at) && done.weight < 2) {
            done.state = State::Superseded { by: id.clone() };
        }
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

    /// Closes the remaining items that a finished piece of work names, else those and the failures of which it says every
    /// word; the one that is only most like it is marked. Gives the one that it is about.
    pub(super) fn close_what_is_done(
        &mut self,
        meant: &[u32],
        done: &Sketch,
        entry: &Entry<'_>,
        origin: u32,
    ) -> Option<u32> {
        let mut closed =
            if meant.is_empty() { self.index.within(Category::Remaining, done) } else { meant.to_vec() };
        closed.retain(|at| self.can_be_closed(*at, origin));
        for at in closed.iter().copied().chain(self.index.within(Category::Failure, done)) {
            let by = self.named(origin);
            let open = self.can_be_closed(at, origin);
            let Some(item) = self.items.get_mut(at as usize).filter(|_| open) else { continue };
            item.state = if entry.weight >= 2 && item.category == Category::Remaining {
                State::Closed { by: entry.evidence.to_owned() }
            } else {
                State::SaidDone { by }
            };
        }
        if closed.is_empty() && meant.is_empty() {
            self.mark_what_may_be_done(done, entry.text, origin);
        }
        closed.first().copied()
    }

    fn mark_what_may_be_done(&mut self, done: &Sketch, text: &str, origin: u32) {
        let open = self.index.near(Category::Remaining, done).into_iter();
        let open = open.filter(|at| self.can_be_closed(*at, origin));
        let Some(at) = self.index.likest(open, done) else { return };
        let words: String = text.chars().take(WORDS).collect();
        let by = format!("{} in other words: {words:?}", self.named(origin));
        if let Some(item) = self.items.get_mut(at as usize) {
            item.state = State::SaidDone { by };
        }
    }

    fn can_be_closed(&self, at: u32, origin: u32) -> bool {
        self.items
            .get(at as usize)
            .is_some_and(|item| item.gate.is_none() && item.seen != origin && self.live(at))
    }

    /// The items that a text names by the ids that it was given, and the text without them. An id that nobody gave is text.
    pub(super) fn named_items<'t>(&self, text: &'t str) -> (Vec<u32>, Cow<'t, str>) {
        let (mut named, mut rest) = (Vec::new(), Cow::Borrowed(text));
        while let Some((id, at)) = rest.match_indices("[R").find_map(|(from, _)| self.id_at(&rest, from)) {
            named.push(at);
            let (before, after) = (&rest[..id.start], &rest[id.end..]);
            let joined = format!("{} {}", before.trim_end(), after.trim_start());
            rest = Cow::Owned(joined.trim().to_owned());
        }
        (named, rest)
    }

    fn id_at(&self, text: &str, from: usize) -> Option<(Range<usize>, u32)> {
        let digits = text[from + 2..].split_once(']')?.0;
        let at = digits.parse::<u32>().ok()?.checked_sub(1)?;
        let item = self.items.get(at as usize)?;
        (item.category == Category::Remaining).then(|| (from..from + 2 + digits.len() + 1, at))
    }

    /// Which of the items that were named are meant: words that are another item's are believed before an id.
    pub(super) fn meant(&self, named: &[u32], category: Category, said: &Sketch) -> Vec<u32> {
        if named.is_empty() || !matches!(category, Category::Remaining | Category::Done) {
            return Vec::new();
        }
        let open = self.index.near(Category::Remaining, said).into_iter().chain(named.iter().copied());
        let mut open: Vec<u32> = open.filter(|at| self.live(*at)).collect();
        open.sort_unstable();
        open.dedup();
        match self.index.likest(open.into_iter(), said) {
            Some(at) if named.len() == 1 => vec![at],
            _ => named.iter().copied().filter(|at| self.index.may_be(*at, said)).collect(),
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
