//! What must hold after every record of a world.

use proptest::prelude::*;
use segue_machine::claims::Finding;
use segue_machine::{
    AgentEvent, Effect, Event, GateSpec, Outcome, Phase, Record, SessionReason, Timer, Verdict,
};

use super::{Check, Job, World};

impl World {
    pub(super) fn feed(&mut self, event: Event) -> Check {
        self.before(&event);
        let record = Record { seq: self.records.len() as u64 + 1, at: self.now, event };
        let over = self.is_over().then(|| self.run.view().clone());
        let effects = self.run.handle(&record);
        let resumed = matches!(record.event, Event::RunResumed { .. });
        if let Some(mut view) = over.filter(|_| !resumed) {
            // The book of the day is looked at before a run is taken up again.
            if matches!(record.event, Event::DaySpent(_)) {
                view.day.clone_from(&self.run.view().day);
            }
            prop_assert!(effects.is_empty(), "{record:?} does something after the end: {effects:?}");
            prop_assert_eq!(&view, self.run.view(), "{:?} changes what is over", record);
        }
        for effect in &effects {
            self.check(effect)?;
            self.begin_job(effect);
        }
        self.records.push(record);
        self.effects.push(effects);
        self.check_limits()
    }

    fn before(&mut self, event: &Event) {
        if let Event::SessionExited { session, .. } | Event::SessionNotStarted { session, .. } = event {
            self.alive = self.alive.filter(|alive| alive != session);
        }
        if let Event::Agent { session, event: AgentEvent::Ready { conversation, .. } } = event
            && self.alive == Some(*session)
        {
            self.ready = true;
            self.conversations.insert((self.agent.clone(), conversation.clone()));
        }
        if let Event::WordsJudged { judged, session, .. } = event
            && self.run.view().phase == Phase::Gating
            && self.awaits_words(*session)
        {
            self.contradicted = judged.iter().any(|j| j.finding == Finding::Contradicted);
        }
        // Whoever was told that its words are not so has not said its last; whoever resumes has looked.
        self.contradicted &= !matches!(event, Event::PromptSent { .. } | Event::RunResumed { .. });
        self.deadline_fired |= matches!(event, Event::TimerFired { timer: Timer::Deadline, .. });
    }

    // A second opinion that is not so is discarded, and news that nobody asked for is ignored: only an answer about the
    // working agent's words stands against a success.
    fn awaits_words(&self, session: u32) -> bool {
        let asked = self.effects.iter().enumerate().rev().find_map(|(at, effects)| {
            effects.iter().find_map(|effect| {
                let Effect::JudgeWords { session, .. } = effect else { return None };
                Some((at, *session))
            })
        });
        let Some((at, about)) = asked else { return false };
        let helps = |e: &Effect| matches!(e, Effect::StartSession { session: s, reason: SessionReason::Helper, .. } if *s == about);
        if self.effects.iter().flatten().any(helps) {
            return false;
        }
        let answers = |r: &Record| matches!(&r.event, Event::WordsJudged { session: s, .. } if *s == session);
        about == session && !self.records[at + 1..].iter().any(answers)
    }

    fn check(&mut self, effect: &Effect) -> Check {
        match effect {
            Effect::StartSession { session, agent, conversation, .. } => {
                self.agent.clone_from(agent);
                let own = |c: &String| self.conversations.contains(&(agent.clone(), c.clone()));
                prop_assert!(
                    conversation.as_ref().is_none_or(own),
                    "{agent} is given a foreign conversation"
                );
                prop_assert_eq!(self.alive, None, "session {} starts beside another", session);
                prop_assert!(!self.deadline_fired, "session {session} starts after the deadline");
                let deadline = self.spec.limits.deadline_ms.map(|d| d.saturating_add(1_000));
                prop_assert!(deadline.is_none_or(|at| self.now < at), "session {session} starts too late");
                prop_assert_eq!(*session, self.run.view().sessions);
                let all = self.spec.agents.iter().chain(&self.spec.next.verifiers);
                prop_assert!(all.into_iter().any(|a| &a.name == agent), "{agent} is not in the spec");
            }
            Effect::SendPrompt { session, .. }
            | Effect::AskCheckpoint { session, .. }
            | Effect::AskSide { session, .. }
            | Effect::TellAgent { session, .. }
            | Effect::AnswerPermission { session, .. }
            | Effect::EndSession { session, .. } => {
                prop_assert_eq!(self.alive, Some(*session), "{:?} is about a dead session", effect);
            }
            Effect::TakeCheckpoint { session, .. } | Effect::JudgeWords { session, .. } => {
                prop_assert!(*session > 0 && *session == self.run.view().sessions, "{effect:?}");
            }
            Effect::Finish(outcome) => {
                self.finishes += 1;
                prop_assert_eq!(self.finishes, 1, "a life ends twice");
                prop_assert_eq!(self.alive, None, "the run ends before its session");
                prop_assert_eq!(Some(outcome), self.run.view().outcome.as_ref());
                self.check_verdict(outcome)?;
            }
            Effect::RunGates { .. }
            | Effect::AnswerBrake { .. }
            | Effect::SaveWork { .. }
            | Effect::WriteHandoffFile { .. }
            | Effect::SetTimer { .. }
            | Effect::ClearTimer { .. }
            | Effect::KeepCircuit { .. }
            | Effect::Announce(_) => {}
        }
        Ok(())
    }

    // Done is what the gates say: a limit, a stop or a person's gate is never a success.
    fn check_verdict(&self, outcome: &Outcome) -> Check {
        let (gates, results) = (&self.spec.gates, &self.run.view().gates);
        let green = |gate: &GateSpec| !gate.manual && results.get(&gate.name).is_some_and(|r| r.passed);
        if outcome.verdict == Verdict::Verified {
            prop_assert!(!gates.is_empty() && gates.iter().all(green), "verified with {results:?}");
        }
        if outcome.verdict == Verdict::Unverified {
            prop_assert!(gates.is_empty(), "unverified although there are gates");
        }
        let success = matches!(outcome.verdict, Verdict::Verified | Verdict::Unverified);
        // Passing gates stand against words, unless claims are strict.
        let stands = outcome.verdict == Verdict::Verified && !self.spec.strict_claims;
        prop_assert!(
            !success || stands || !self.contradicted,
            "a success although the last words are not so"
        );
        prop_assert!(!success || outcome.limit.is_none() && !outcome.interrupted, "{outcome:?}");
        Ok(())
    }

    fn begin_job(&mut self, effect: &Effect) {
        match effect {
            Effect::SetTimer { timer, at } => {
                self.timers.insert(*timer, *at);
            }
            Effect::ClearTimer { timer } => {
                self.timers.remove(timer);
            }
            Effect::StartSession { session, conversation, .. } => {
                self.alive = Some(*session);
                (self.ready, self.tool, self.cost) = (false, false, 0);
                self.fill = if conversation.is_some() { self.fill } else { 0 };
                self.resumes.clone_from(conversation);
                self.jobs.push_back(Job::Effect(effect.clone()));
            }
            Effect::Announce(_)
            | Effect::KeepCircuit { .. }
            | Effect::TellAgent { .. }
            | Effect::AnswerPermission { .. }
            | Effect::AnswerBrake { .. }
            | Effect::WriteHandoffFile { .. }
            | Effect::Finish(_) => {}
            Effect::RunGates { .. }
            | Effect::SendPrompt { .. }
            | Effect::AskCheckpoint { .. }
            | Effect::AskSide { .. }
            | Effect::TakeCheckpoint { .. }
            | Effect::JudgeWords { .. }
            | Effect::SaveWork { .. }
            | Effect::EndSession { .. } => self.jobs.push_back(Job::Effect(effect.clone())),
        }
    }

    fn check_limits(&self) -> Check {
        let (view, limits) = (self.run.view(), &self.spec.limits);
        let most = limits.max_restarts.unwrap_or(u32::MAX);
        prop_assert!(view.restarts <= most, "{} restarts of {most}", view.restarts);
        let most = limits.sessions.unwrap_or(u32::MAX);
        prop_assert!(view.sessions <= most, "{} sessions of {most}", view.sessions);
        let most = limits.max_handoffs_without_progress;
        prop_assert!(
            most == 0 || view.without_progress <= most,
            "{} without progress",
            view.without_progress
        );
        // The question that follows gates which were green before is one round more, and so is each correction. A second
        // opinion may send the work back as often as a gate, with two corrections again, and once change files.
        let helped = !self.spec.next.verifiers.is_empty();
        let sent_back = if helped { limits.gate_rounds * 3 + 1 } else { 0 };
        // Asking for a report is one round more.
        let report = u32::from(self.spec.last_words.report);
        let most = limits.gate_rounds.max(1) + 1 + 2 + sent_back + report;
        prop_assert!(view.round <= most, "round {}", view.round);
        Ok(())
    }
}
