//! What a plan may spend in all: phases side by side share it. A phase is given what is left when it begins, and all of them
//! are stopped when together they have used it up.

use std::collections::BTreeMap;

use segue_journal::{Journal, Reader};
use segue_machine::{Limit, Limits, Run};
use segue_report::{LimitReached, Outer};

use super::PlanError;
use super::runner::Runner;
use super::state::Spent;
use crate::history;

/// The limits that hold for the plan as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Shared {
    /// Money, in millionths of a dollar.
    pub(crate) cost_musd: Option<u64>,
    /// Tokens in and out.
    pub(crate) tokens: Option<u64>,
    /// Sessions.
    pub(crate) sessions: Option<u64>,
}

impl Shared {
    /// Those of a run's limits that a plan shares.
    pub(crate) fn of(limits: &Limits) -> Self {
        Self { cost_musd: limits.cost_musd, tokens: limits.tokens, sessions: limits.sessions.map(u64::from) }
    }

    /// The first that is used up, with its value.
    fn reached(self, spent: Spent) -> Option<(Limit, String)> {
        let tokens = tokens(spent);
        let over = |limit: Option<u64>, used: u64| limit.filter(|limit| used >= *limit);
        let cost = over(self.cost_musd, spent.cost_musd.unwrap_or(0));
        let cost = cost.map(|limit| (Limit::Cost, format!("${:.2}", limit as f64 / 1e6)));
        let tokens = || over(self.tokens, tokens).map(|limit| (Limit::Tokens, limit.to_string()));
        // Sessions are counted when they begin: the last one may go on.
        let more = |limit: &u64| u64::from(spent.sessions) > *limit;
        let sessions = || self.sessions.filter(more).map(|limit| (Limit::Sessions, limit.to_string()));
        cost.or_else(tokens).or_else(sessions)
    }

    /// What is left of them, as flags.
    fn rest(self, spent: Spent) -> Vec<(&'static str, String)> {
        let left = |limit: Option<u64>, used: u64| limit.map(|limit| limit.saturating_sub(used).max(1));
        let cost = left(self.cost_musd, spent.cost_musd.unwrap_or(0));
        let cost = cost.map(|left| ("--max-cost", format!("{}.{:06}", left / 1_000_000, left % 1_000_000)));
        let tokens = left(self.tokens, tokens(spent)).map(|left| ("--max-tokens", left.to_string()));
        let sessions =
            left(self.sessions, u64::from(spent.sessions)).map(|left| ("--max-sessions", left.to_string()));
        [cost, tokens, sessions].into_iter().flatten().collect()
    }
}

fn tokens(spent: Spent) -> u64 {
    spent.tokens_in.unwrap_or(0).saturating_add(spent.tokens_out.unwrap_or(0))
}

/// What the runs at work have spent, as their journal tells it.
#[derive(Debug, Default)]
pub(super) struct Purse {
    runs: BTreeMap<String, (Run, u64)>,
}

impl Purse {
    /// Reads on in the journal of a run.
    fn look(&mut self, reader: &Reader, run: &str) {
        let (machine, last) = self.runs.entry(run.to_owned()).or_default();
        for step in history::read(reader, run, *last).unwrap_or_default() {
            machine.handle(&step.record);
            *last = step.record.seq;
        }
    }

    fn spent(&self) -> Spent {
        self.runs.values().fold(Spent::default(), |sum, (machine, _)| sum.plus(Spent::of(machine.view())))
    }

    /// A run's spending is counted elsewhere from now on.
    pub(super) fn forget(&mut self, run: &str) {
        self.runs.remove(run);
    }
}

impl Runner {
    /// What the plan has spent so far; a phase that was just begun has its first session before it.
    pub(super) fn spent(&self) -> Spent {
        let state = self.kept.state();
        let begun = |id: &&String| {
            let run = state.phase(id).and_then(|known| known.run.as_ref());
            let known = run.and_then(|run| self.purse.runs.get(run));
            known.is_none_or(|(machine, _)| machine.view().sessions == 0)
        };
        let coming = Spent {
            sessions: u32::try_from(self.ids_at_work().filter(begun).count()).unwrap_or(u32::MAX),
            ..Spent::default()
        };
        state.phases.values().fold(self.purse.spent().plus(coming), |sum, phase| sum.plus(phase.spent))
    }

    /// A run may have spent something.
    pub(super) fn count(&mut self, run: &str) -> Result<(), PlanError> {
        if self.set.shared == Shared::default() {
            return Ok(());
        }
        self.purse.look(&Journal::read(&self.set.store.runs()), run);
        let Some((limit, value)) = self.set.shared.reached(self.spent()) else { return Ok(()) };
        if !self.interrupted {
            self.exit = if self.exit == 0 { 4 } else { self.exit };
            self.voice.say(&format!("segue: the plan reached its limit ({value}): stopping all phases"));
            self.tell(Outer::LimitReached(LimitReached { limit, value }))?;
            self.interrupt();
        }
        Ok(())
    }

    /// Whether there is nothing left to begin a phase with; if so, nothing is begun any more.
    pub(super) fn used_up(&mut self) -> Result<bool, PlanError> {
        let spent = self.spent();
        // One more session would be one too many.
        let next = Spent { sessions: spent.sessions.saturating_add(1), ..spent };
        let Some((limit, value)) = self.set.shared.reached(next) else { return Ok(false) };
        self.voice.say(&format!("segue: the plan reached its limit ({value}): no new phase starts"));
        self.tell(Outer::LimitReached(LimitReached { limit, value }))?;
        self.stop_with(4);
        Ok(true)
    }

    /// The flags of a new run: with what is left of what the plan may spend.
    pub(super) fn flags(&self) -> Vec<String> {
        let rest = self.set.shared.rest(self.spent());
        let mut flags = self.kept.flags();
        flags.retain(|flag| !rest.iter().any(|(name, _)| flag.starts_with(&format!("{name}="))));
        flags.extend(rest.into_iter().map(|(name, value)| format!("{name}={value}")));
        flags
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_what_others_have_not_used() {
        let shared = Shared { cost_musd: Some(5_000_000), tokens: Some(1_000), sessions: Some(3) };
        let spent = Spent {
            sessions: 2,
            tokens_in: Some(300),
            tokens_out: Some(100),
            cost_musd: Some(1_500_000),
            ..Spent::default()
        };
        let rest: Vec<String> =
            shared.rest(spent).into_iter().map(|(name, left)| format!("{name}={left}")).collect();
        assert_eq!(rest, ["--max-cost=3.500000", "--max-tokens=600", "--max-sessions=1"]);
        assert_eq!(shared.reached(spent), None);
        let more = spent.plus(Spent { tokens_in: Some(600), ..Spent::default() });
        assert_eq!(shared.reached(more), Some((Limit::Tokens, "1000".to_owned())));
        assert!(Shared::default().reached(more).is_none() && Shared::default().rest(more).is_empty());
    }
}
