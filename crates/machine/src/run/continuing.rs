//! The same conversation after a failure: in the process that holds it, or in a new one that takes it up.
//!
//! A conversation past the soft line is not continued: a fresh session is due there anyway. One that failed again without
//! a model call in between is given up, unless its provider is to blame.

use serde::{Deserialize, Serialize};

use super::{After, Doing, EndReason, Run};
use crate::gauge::Gauge;
use crate::{Continued, Effect, Notice, Prompt, SessionReason};

/// For how long a process that only waits for its provider is kept.
const KEPT_MS: u64 = 5 * 60_000;

/// The conversation of a session that is over.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Talk {
    pub(super) agent: String,
    pub(super) conversation: String,
    gauge: Gauge,
    can_resume: bool,
}

impl Run {
    /// Remembers the conversation of a session that is over; a second opinion is nobody's work to be continued.
    pub(super) fn keep_talk(&mut self, session: &super::SessionView) {
        if session.reason == SessionReason::Helper {
            return;
        }
        self.view.cut = session.tools.values().cloned().collect();
        self.last_talk = session.conversation.clone().map(|conversation| Talk {
            agent: session.agent.clone(),
            conversation,
            gauge: session.gauge.clone(),
            can_resume: session.can.resume,
        });
    }

    /// How the conversation can be continued, if it can.
    pub(super) fn can_continue(&self) -> Option<Continued> {
        if self.helper_works() || self.stop_asked {
            return None;
        }
        let agent = self.agent_name(self.agent);
        let (able, gauge, how) = match (&self.view.session, &self.last_talk) {
            (Some(session), _) => {
                let how = if session.doing == Doing::Idle { Continued::Alive } else { Continued::Resumed };
                (session.can.resume && session.conversation.is_some(), &session.gauge, how)
            }
            (None, Some(talk)) => (talk.can_resume && talk.agent == agent, &talk.gauge, Continued::Resumed),
            (None, None) => return None,
        };
        let in_vain = self.continued_at == Some(gauge.calls()) && self.open_circuit(self.agent).is_none();
        (able && !in_vain && !self.past_soft_line(gauge)).then_some(how)
    }

    /// Continues the conversation, at once or when its provider answers again.
    pub(super) fn continue_after(&mut self, how: Continued, why: String, out: &mut Vec<Effect>) {
        self.continues = Some(why.clone());
        let left = self.open_circuit(self.agent).map(|(until, _)| until.saturating_sub(self.now));
        if self.view.session.is_some() {
            self.decide_to_continue(why, out);
        }
        match (how, left) {
            (Continued::Alive, None) => self.continue_alive(out),
            (Continued::Alive, Some(left)) if left <= KEPT_MS => self.begin_wait(SessionReason::Resume, out),
            _ => self.continue_elsewhere(out),
        }
    }

    /// A new process takes the conversation up, after a wait where there is one.
    fn continue_elsewhere(&mut self, out: &mut Vec<Effect>) {
        let talk = self.last_talk.as_ref().map(|talk| talk.conversation.clone());
        let live = self.view.session.as_ref().map(|session| session.conversation.clone());
        self.conversation = live.unwrap_or(talk);
        self.end_session(EndReason::Failed, After::Start(SessionReason::Resume), out);
    }

    fn continue_alive(&mut self, out: &mut Vec<Effect>) {
        let Some(session) = &self.view.session else { return };
        let (n, calls) = (session.n, session.gauge.calls());
        self.continued_at = Some(calls);
        let prompt = self.continue_prompt(n, Continued::Alive, out);
        out.push(Effect::SendPrompt { session: n, prompt });
    }

    /// The wait through which the process was kept is over.
    pub(super) fn kept_wait_over(&mut self, out: &mut Vec<Effect>) {
        if let Some(outcome) = self.start_refused(self.agent, out) {
            return self.end_session(EndReason::Stopped, After::Finish(outcome), out);
        }
        if matches!(self.way(), super::waiting::Way::Go) {
            self.continue_alive(out);
        } else {
            self.continue_elsewhere(out);
        }
    }

    /// The process that was kept through a wait is gone: a new one takes its conversation up.
    pub(super) fn kept_process_lost(&mut self) {
        let talk = self.last_talk.as_ref().filter(|talk| talk.can_resume);
        self.conversation = talk.map(|talk| talk.conversation.clone());
    }

    /// A new process has taken the conversation up: its gauge goes on from where it was.
    pub(super) fn continue_resumed(&mut self, n: u32, out: &mut Vec<Effect>) -> Prompt {
        let talk = self.last_talk.take();
        if let (Some(talk), Some(session)) = (&talk, self.view.session.as_mut()) {
            session.gauge.carry(&talk.gauge);
        }
        self.continued_at = Some(0);
        self.continue_prompt(n, Continued::Resumed, out)
    }

    fn continue_prompt(&mut self, n: u32, how: Continued, out: &mut Vec<Effect>) -> Prompt {
        let after = self.continues.take().unwrap_or_else(|| "the run was resumed".to_owned());
        out.push(Effect::Announce(Notice::SessionContinued { session: n, how, after: after.clone() }));
        Prompt::Continue { after, cut: self.view.cut.clone() }
    }

    /// Whether the conversation of the last session can be taken up after a crash of segue itself.
    pub(super) fn talk_after_crash(&self, asked_for: bool, crashed: bool) -> Option<String> {
        let agent = self.agent_name(self.agent);
        let talk = self.last_talk.as_ref().filter(|talk| talk.agent == agent)?;
        let wanted = asked_for || (crashed && talk.can_resume);
        (wanted && !self.past_soft_line(&talk.gauge)).then(|| talk.conversation.clone())
    }
}
