//! Waiting for a provider: which way leads on while accounts are held back, the wait itself, and what ends it.
//!
//! Every session starts through [`Run::hold_back`], so that a wait is the same after a failure, at the start of a run and
//! after a resume. While the run waits there is no session, unless its conversation is to be continued and its process is kept;
//! a wait ends at the time that it began with.

use super::{Phase, Run, Waiting};
use crate::amounts::duration;
use crate::circuit::awaited;
use crate::{
    AgentFailure, AgentSpec, Circuit, Effect, Limit, Millis, Notice, Outcome, SessionReason, Timer, Verdict,
    WaitRules,
};

/// What to do about the circuit of the agent that is next.
#[derive(Debug)]
pub(super) enum Way {
    /// Nothing holds it back.
    Go,
    /// This agent goes on instead, at once.
    Other(usize),
    /// This agent is waited for.
    Wait(usize),
    /// Nobody can go on, or waiting is not wanted.
    Stop(Box<Outcome>),
}

impl Run {
    /// Until when an agent is held back, and why; the end of time when only a person can mend it.
    pub(super) fn open_circuit(&self, agent_index: usize) -> Option<(Millis, AgentFailure)> {
        let circuit = self.circuit_of(agent_index).filter(|c| c.is_open(self.now))?;
        Some((circuit.until.unwrap_or(Millis::MAX), circuit.failure))
    }

    /// The circuit of an agent, open or not; the one that lasts longest where there are two.
    pub(super) fn circuit_of(&self, index: usize) -> Option<&Circuit> {
        self.circuit_against(self.view.spec.as_ref()?.agents.get(index)?)
    }

    /// The same for any agent, of the list or not.
    pub(super) fn circuit_against(&self, agent: &AgentSpec) -> Option<&Circuit> {
        let own = self.view.circuits.iter().filter(|c| c.concerns(agent));
        own.max_by_key(|c| c.until.unwrap_or(Millis::MAX))
    }

    pub(super) fn rules(&self) -> WaitRules {
        self.view.spec.as_ref().map(|s| s.wait.clone()).unwrap_or_default()
    }

    pub(super) fn circuit_words(&self, index: usize) -> Option<String> {
        let spec = self.view.spec.as_ref()?;
        let circuit = self.circuit_of(index)?;
        let told = Circuit { said: String::new(), ..circuit.clone() };
        Some(told.words(self.now, &spec.wait))
    }

    /// Which way leads on.
    pub(super) fn way(&self) -> Way {
        let Some(circuit) = self.circuit_of(self.agent).filter(|c| c.is_open(self.now)) else {
            return Way::Go;
        };
        let agents = 0..self.view.spec.as_ref().map_or(0, |s| s.agents.len());
        if !circuit.leaves(self.now, &self.rules()) {
            return self.wait_for(self.agent);
        }
        if let Some(free) = self.free_agent() {
            return Way::Other(free);
        }
        let next = agents
            .filter(|i| self.worth_waiting_for(*i))
            .filter_map(|i| Some((self.circuit_of(i)?.worth_waiting()?, i)))
            .min();
        match next {
            Some((_, next)) => self.wait_for(next),
            None => Way::Stop(Box::new(self.nobody_left())),
        }
    }

    fn wait_for(&self, index: usize) -> Way {
        let Some(circuit) = self.circuit_of(index) else { return Way::Go };
        let Some(until) = circuit.worth_waiting() else { return Way::Stop(Box::new(self.nobody_left())) };
        let rules = self.rules();
        let left = until.saturating_sub(self.now);
        let refused = if self.deadline().is_some_and(|deadline| deadline <= until) {
            Some((Limit::Deadline, "the run's deadline is earlier", self.more_time(until)))
        } else if !rules.enabled {
            Some((Limit::Wait, "waiting is switched off", RESUME_ADVICE.to_owned()))
        } else if rules.longest_ms.is_some_and(|most| left > most) {
            Some((Limit::Wait, "that is longer than limits.max_wait", RESUME_ADVICE.to_owned()))
        } else {
            None
        };
        let Some((limit, why, advice)) = refused else { return Way::Wait(index) };
        let reason = format!("{}; {why}", self.failures_told());
        let outcome = Outcome::new(Verdict::Stopped, reason).because_of(limit).advise(advice);
        Way::Stop(Box::new(Outcome { until: Some(until), ..outcome }))
    }

    /// What is wrong with each agent of the run: "claude: rate limited until 14:32; codex: not authorised (…)".
    pub(super) fn failures_told(&self) -> String {
        let Some(spec) = &self.view.spec else { return String::new() };
        let told = spec.agents.iter().enumerate().filter_map(|(i, agent)| {
            let words = self.circuit_of(i)?.words(self.now, &spec.wait);
            Some(format!("{}: {words}", agent.name))
        });
        told.collect::<Vec<_>>().join("; ")
    }

    /// When the first of the agents that are held back may be tried again.
    pub(super) fn first_free_at(&self) -> Option<Millis> {
        self.view.circuits.iter().filter_map(|c| c.until).filter(|until| *until > self.now).min()
    }

    fn nobody_left(&self) -> Outcome {
        let agents = self.view.spec.as_ref().map_or(0, |s| s.agents.len());
        let failed: Vec<AgentFailure> =
            (0..agents).filter_map(|i| self.circuit_of(i)).map(|c| c.failure).collect();
        let any = |kinds: &[AgentFailure]| failed.iter().any(|failure| kinds.contains(failure));
        let told = self.failures_told();
        let outcome = |verdict| Outcome::new(verdict, format!("no agent can continue: {told}"));
        if any(&[AgentFailure::Unauthorised]) {
            outcome(Verdict::NeedsInput).advise(
                "log in again or set the agent's key (`segue doctor` checks the agents), then `segue resume`",
            )
        } else if any(&[AgentFailure::BadModel]) {
            outcome(Verdict::NeedsInput).advise(
                "name a model that the account may use (`model` in the agent's table), then `segue resume`",
            )
        } else if any(&[AgentFailure::Quota]) {
            outcome(Verdict::Stopped)
                .advise("raise the quota, or name a second agent with --agent a,b, then `segue resume`")
        } else if any(&[AgentFailure::Network]) {
            outcome(Verdict::Stopped)
                .advise("`segue resume` continues when the provider can be reached again")
        } else {
            outcome(Verdict::Failed)
                .advise("fix that, or name a second agent with --agent a,b, then `segue resume`")
        }
    }

    pub(super) fn tell_limit(&self, outcome: &Outcome, out: &mut Vec<Effect>) {
        let Some(limit) = outcome.limit else { return };
        let rules = self.rules();
        let value = if limit == Limit::Failures {
            rules.failures.to_string()
        } else if limit == Limit::Deadline {
            format!("{}s", self.limits().deadline_ms.unwrap_or(0) / 1_000)
        } else if rules.enabled {
            duration(rules.longest_ms.unwrap_or(0))
        } else {
            "off".to_owned()
        };
        self.limit_reached(limit, &value, out);
    }

    /// Lets a session start, perhaps of another agent; `None` when the run waits for it or is over.
    pub(super) fn hold_back(
        &mut self,
        reason: SessionReason,
        out: &mut Vec<Effect>,
    ) -> Option<SessionReason> {
        match self.way() {
            Way::Go => Some(reason),
            Way::Other(next) => {
                let why = self.circuit_words(self.agent).unwrap_or_default();
                let (from, to) = (self.agent_name(self.agent), self.agent_name(next));
                Self::warn("held_back", format!("{from}: {why}; {to} continues"), out);
                self.change_agent(next);
                Some(if reason == SessionReason::Restart { SessionReason::Fallback } else { reason })
            }
            Way::Wait(next) => {
                self.change_agent(next);
                self.begin_wait(reason, out);
                None
            }
            Way::Stop(outcome) => {
                self.tell_limit(&outcome, out);
                self.finish_now(*outcome, out);
                None
            }
        }
    }

    // A conversation is never given to another agent.
    fn change_agent(&mut self, next: usize) {
        if next != self.agent {
            self.agent = next;
            self.conversation = None;
        }
    }

    pub(super) fn begin_wait(&mut self, reason: SessionReason, out: &mut Vec<Effect>) {
        let Some((until, failure)) = self.open_circuit(self.agent) else { return };
        let agent = self.agent_name(self.agent);
        let why = awaited(&agent, failure);
        self.view.phase = Phase::Waiting;
        self.held_back = Some(reason);
        out.push(Effect::Announce(Notice::WaitStarted {
            agent: agent.clone(),
            failure,
            why: why.clone(),
            until,
        }));
        out.push(Effect::SetTimer { timer: Timer::Wait, at: until });
        self.view.waiting = Some(Waiting { agent, failure, why, until, since: self.now });
    }

    /// Books the wait as over, if there is one.
    pub(super) fn stop_waiting(&mut self, out: &mut Vec<Effect>) {
        let Some(Waiting { agent, failure, why, until, .. }) = self.view.waiting.take() else { return };
        self.view.phase = Phase::Working;
        out.push(Effect::ClearTimer { timer: Timer::Wait });
        out.push(Effect::Announce(Notice::WaitEnded { agent, failure, why, until }));
    }

    pub(super) fn wait_over(&mut self, out: &mut Vec<Effect>) {
        let Some(until) = self.view.waiting.as_ref().map(|w| w.until) else { return };
        if self.ending.is_some() {
            return;
        }
        if self.now < until {
            return out.push(Effect::SetTimer { timer: Timer::Wait, at: until });
        }
        self.go_on_after_wait(out);
    }

    fn go_on_after_wait(&mut self, out: &mut Vec<Effect>) {
        self.stop_waiting(out);
        let reason = self.held_back.take().unwrap_or(SessionReason::Restart);
        if self.view.session.is_some() {
            return self.kept_wait_over(out);
        }
        self.start_session(reason, out);
    }

    /// Someone does not want to wait: one trial now.
    pub(super) fn try_now(&mut self, out: &mut Vec<Effect>) {
        if self.view.waiting.is_none() || self.ending.is_some() {
            return;
        }
        self.forgive();
        self.go_on_after_wait(out);
    }

    /// Takes in what other runs know. Whoever resumes has looked: what only a person can mend is tried again, and
    /// after an end the counting begins anew.
    pub(super) fn learn(&mut self, circuits: &[Circuit], now: bool) {
        self.view.circuits.retain(|c| c.until.is_some());
        for new in circuits {
            let own =
                self.view.circuits.iter_mut().find(|c| c.account == new.account && c.agent == new.agent);
            match own {
                Some(own) if own.until < new.until => *own = new.clone(),
                Some(_) => {}
                None => self.view.circuits.push(new.clone()),
            }
        }
        if self.view.phase == Phase::Finished {
            self.view.circuits.iter_mut().for_each(|c| c.failures = 0);
        }
        if now {
            self.forgive();
        }
    }

    fn forgive(&mut self) {
        let now = self.now;
        self.view.circuits.iter_mut().for_each(|c| c.until = c.until.map(|until| until.min(now)));
    }
}

const RESUME_ADVICE: &str = "`segue resume` continues after that, `segue resume --now` tries at once";
