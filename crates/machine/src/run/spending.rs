//! What a session spends: every call once, at its model's price, until the agent itself says what it has cost.

use serde::{Deserialize, Serialize};

use super::{Run, Totals};
use crate::gauge::Taken;
use crate::{Opening, Price, Reading, Scope, Source};

/// How many calls make the opening of a session.
const OPENING_CALLS: u32 = 3;

/// The account of the session at work.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Spending {
    /// The price of its model, if that is known.
    pub(super) price: Option<Price>,
    /// What the agent last said it has cost.
    own: Option<u64>,
    /// What the calls since then cost, and their tokens without a price.
    since: Totals,
    /// The last call of the main thread as it was booked.
    last: Totals,
    /// A call that was not believed.
    doubted: Option<Reading>,
    /// Nothing was given to the model since its last call.
    answered: bool,
    /// Calls of the main thread.
    calls: u32,
}

impl Run {
    /// Something was given to the model: the next reading is of another call.
    pub(super) fn model_was_given(&mut self) {
        self.spending.answered = false;
    }

    /// Books what a reading says, each call once however often it is told.
    pub(super) fn book(&mut self, reading: &Reading, taken: Taken) {
        let main = reading.scope == Scope::Main;
        match taken {
            Taken::Doubted => return self.spending.doubted = Some(reading.clone()),
            Taken::Call(_) | Taken::Fell(_) | Taken::Again if main => self.book_main(reading, taken),
            Taken::Ignored if !main => {
                let call = self.totals_of(reading);
                self.add_spent(call);
            }
            Taken::Call(_) | Taken::Fell(_) | Taken::Again | Taken::Ignored => {}
        }
        if let Some(cost) = reading.session_cost_musd {
            self.spending.own = Some(cost);
            self.spending.since = Totals::default();
        }
        self.show_spent();
    }

    /// Books the session as over.
    pub(super) fn book_end(&mut self, agent: &str, spent: Totals) {
        if (1..OPENING_CALLS).contains(&self.spending.calls) {
            self.opened(agent, spent);
        }
        let by = self.view.by_agent.entry(agent.to_owned()).or_default();
        by.totals.add(spent);
        by.sessions += 1;
        self.spending = Spending::default();
    }

    fn book_main(&mut self, reading: &Reading, taken: Taken) {
        if let Some(doubted) = self.spending.doubted.take().filter(|d| confirms(d, reading)) {
            let call = self.totals_of(&doubted);
            self.add_spent(call);
        }
        let call = self.totals_of(reading);
        // An agent that tells only how full its window is tells so several times a call.
        let told_again =
            reading.source == Source::Reported && reading.call.is_none() && self.spending.answered;
        if taken == Taken::Again || told_again {
            let more = more_than(call, self.spending.last);
            self.add_spent(more);
            self.spending.last.add(more);
            return;
        }
        self.add_spent(call);
        self.spending.last = call;
        self.spending.answered = true;
        self.spending.calls += 1;
        if self.spending.calls == OPENING_CALLS {
            self.show_spent();
            if let Some((agent, spent)) = self.view.session.as_ref().map(|s| (s.agent.clone(), s.spent)) {
                self.opened(&agent, spent);
            }
        }
    }

    fn opened(&mut self, agent: &str, spent: Totals) {
        let opening = Opening { tokens: spent.tokens(), cost_musd: spent.cost() };
        self.view.openings.push((agent.to_owned(), opening));
    }

    fn totals_of(&self, reading: &Reading) -> Totals {
        let tokens_in = reading.prompt().or(reading.total);
        let mut call = Totals { tokens_in, tokens_out: reading.output, ..Totals::default() };
        match &self.spending.price {
            _ if call.tokens() == 0 => {}
            Some(price) => call.cost_musd = Some(price.of(reading)),
            None => call.unpriced = call.tokens(),
        }
        call
    }

    fn add_spent(&mut self, call: Totals) {
        self.spending.since.add(call);
        if let Some(session) = self.view.session.as_mut() {
            let tokens = Totals { cost_musd: None, unpriced: 0, ..call };
            session.spent.add(tokens);
        }
    }

    fn show_spent(&mut self) {
        let Spending { own, since, .. } = &self.spending;
        let mut cost = Totals { cost_musd: *own, ..Totals::default() };
        cost.add(Totals { cost_musd: since.cost_musd, unpriced: since.unpriced, ..Totals::default() });
        if let Some(session) = self.view.session.as_mut() {
            (session.spent.cost_musd, session.spent.unpriced) = (cost.cost_musd, cost.unpriced);
        }
    }
}

fn confirms(doubted: &Reading, reading: &Reading) -> bool {
    let near = doubted.fill().abs_diff(reading.fill()) <= doubted.fill() / 5;
    near && doubted.call.is_some() && doubted.call != reading.call
}

// The same call with more of its answer.
fn more_than(call: Totals, last: Totals) -> Totals {
    let more = |now: Option<u64>, before: Option<u64>| now.map(|n| n.saturating_sub(before.unwrap_or(0)));
    Totals {
        tokens_in: more(call.tokens_in, last.tokens_in),
        tokens_out: more(call.tokens_out, last.tokens_out),
        cost_musd: more(call.cost_musd, last.cost_musd),
        unpriced: call.unpriced.saturating_sub(last.unpriced),
    }
}
