//! An agent's provider fails: what is learned about the account, and who goes on, when.
//!
//! The work is saved first, as in every handoff. Such a handoff counts neither as a restart nor as one without progress;
//! failures in a row without progress have a limit of their own.

use super::waiting::Way;
use super::{After, EndReason, HandoffKind, Run, Then};
use crate::circuit::Blow;
use crate::{
    AgentFailure, Asked, Circuit, Depth, Effect, Limit, NextKind, Notice, Outcome, Retry, SessionReason,
    TurnEnd, Verdict,
};

impl Run {
    /// What the end of a turn says about the agent's account.
    pub(super) fn learn_from(&mut self, end: &TurnEnd, out: &mut Vec<Effect>) {
        match end {
            _ if self.helper_works() => {}
            TurnEnd::Finished { .. } => self.agent_works(out),
            TurnEnd::Failed { failure, message, retry } => {
                self.account_failed(*failure, message, *retry, out)
            }
            TurnEnd::Cancelled | TurnEnd::Overflow { .. } => {}
        }
    }

    /// The agent's provider refused it: its circuit opens, for how long depends on why.
    pub(super) fn account_failed(
        &mut self,
        failure: AgentFailure,
        said: &str,
        retry: Option<Retry>,
        out: &mut Vec<Effect>,
    ) {
        let Some(spec) = &self.view.spec else { return };
        let Some(agent) = spec.agents.get(self.agent) else { return };
        let limited = matches!(failure, AgentFailure::RateLimited | AgentFailure::Quota);
        let retry = retry.or(self.full_until.filter(|_| limited).map(Retry::At));
        let blow = Blow { failure, retry, said, now: self.now, seed: self.view.started_at };
        let before = self.circuit_of(self.agent);
        let Some(circuit) = Circuit::after(agent, before, blow, &spec.wait) else { return };
        if spec.wait.shared && circuit.until.is_some() {
            let account = circuit.account.clone();
            out.push(Effect::KeepCircuit { account, circuit: Some(circuit.clone()) });
        }
        self.view.circuits.retain(|c| (&c.account, &c.agent) != (&circuit.account, &circuit.agent));
        self.view.circuits.push(circuit);
    }

    /// The agent's model answered: its account is fine.
    pub(super) fn agent_works(&mut self, out: &mut Vec<Effect>) {
        if self.view.circuits.is_empty() {
            return;
        }
        let Some(spec) = &self.view.spec else { return };
        let Some(agent) = spec.agents.get(self.agent) else { return };
        let shared = spec.wait.shared;
        self.view.circuits.retain(|circuit| {
            let over = circuit.concerns(agent);
            if over && shared && circuit.until.is_some() {
                out.push(Effect::KeepCircuit { account: circuit.account.clone(), circuit: None });
            }
            !over
        });
    }

    pub(super) fn agent_failed(&mut self, failure: AgentFailure, message: &str, out: &mut Vec<Effect>) {
        let words = self.circuit_words(self.agent).filter(|_| failure != AgentFailure::Other);
        let words = words.map_or_else(String::new, |words| format!(" ({words})"));
        Self::warn("agent_failed", format!("the agent failed{words}: {message}"), out);
        if failure == AgentFailure::Other && (self.ask.is_some() || self.can_continue().is_none()) {
            return self.turn_failed(EndReason::Failed, message, out);
        }
        let asked = Asked { depth: Depth::Emergency, stage: None, reason: message.to_owned() };
        if let Some((asked, then @ Then::Finish(..))) = self.withdraw_request(out) {
            return self.take(asked, None, then, out);
        }
        if let Way::Stop(outcome) = self.way() {
            self.tell_limit(&outcome, out);
            return self.take(asked, None, Then::Finish(*outcome, EndReason::Failed), out);
        }
        self.take(asked, None, Then::Recover(message.to_owned()), out);
    }

    /// What follows the checkpoint of a session whose provider failed.
    pub(super) fn next_after_failure(&self) -> (NextKind, Option<usize>) {
        match self.way() {
            Way::Stop(_) => (NextKind::Stop, None),
            Way::Wait(next) | Way::Other(next) if next != self.agent => (NextKind::Fallback, Some(next)),
            Way::Wait(_) | Way::Go if self.can_continue().is_some() => (NextKind::Continue, Some(self.agent)),
            Way::Wait(_) | Way::Other(_) | Way::Go => (NextKind::Restart, Some(self.agent)),
        }
    }

    /// The work is saved: on with whoever can go on, or the end.
    pub(super) fn recover(&mut self, why: &str, out: &mut Vec<Effect>) {
        self.work_moved();
        self.view.failures += 1;
        let words = self.circuit_words(self.agent);
        let reason = words.map_or_else(|| why.to_owned(), |words| format!("{words}: {why}"));
        let next = match self.enough_failures().map_or_else(|| self.way(), |o| Way::Stop(Box::new(o))) {
            Way::Stop(outcome) => {
                self.tell_limit(&outcome, out);
                self.announce_handoff(None, HandoffKind::Stop, outcome.reason.clone(), out);
                return self.end_session(EndReason::Failed, After::Finish(*outcome), out);
            }
            Way::Other(next) => next,
            Way::Wait(next) if next != self.agent => next,
            Way::Wait(_) | Way::Go => match self.can_continue() {
                Some(how) => return self.continue_after(how, reason, out),
                None => self.agent,
            },
        };
        let (kind, start) = if next == self.agent {
            (HandoffKind::Restart, SessionReason::Restart)
        } else {
            (HandoffKind::Fallback, SessionReason::Fallback)
        };
        self.announce_handoff(Some(next), kind, reason, out);
        self.agent = next;
        self.fallback = None;
        self.view.handoffs += 1;
        self.end_session(EndReason::Failed, After::Start(start), out);
    }

    fn enough_failures(&self) -> Option<Outcome> {
        let most = self.rules().failures;
        (self.view.failures > most).then(|| {
            let reason = format!("{most} failures in a row without progress: {}", self.failures_told());
            let outcome = Outcome::new(Verdict::Stopped, reason).because_of(Limit::Failures);
            Outcome { until: self.first_free_at(), ..outcome }
                .advise("`segue resume` continues when the agents respond again")
        })
    }

    fn announce_handoff(&self, to: Option<usize>, kind: HandoffKind, reason: String, out: &mut Vec<Effect>) {
        out.push(Effect::Announce(Notice::HandoffDecided {
            from: self.view.sessions,
            from_agent: self.agent_name(self.agent),
            to_agent: to.map(|to| self.agent_name(to)),
            kind,
            reason,
            checkpoint: self.view.checkpoint.as_ref().map(|c| c.id.clone()),
            considered: self.considered(to),
        }));
    }
}
