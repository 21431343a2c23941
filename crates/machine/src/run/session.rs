//! The life of a session: how it starts, becomes ready, and ends.

use std::collections::BTreeMap;

use super::{After, Doing, EndReason, HandoffKind, Life, Phase, Replace, Run, SessionView, Totals};
use crate::forecast::Forecast;
use crate::gauge::{Gauge, Ratio};
use crate::{
    AgentFailure, AgentSpec, Capabilities, Effect, Notice, Outcome, Prompt, SessionReason, Timer, Verdict,
};

impl Run {
    /// Starts the next session with fresh counters.
    pub(super) fn start_session(&mut self, reason: SessionReason, out: &mut Vec<Effect>) {
        if let Some(outcome) = self.start_refused(self.agent, out) {
            return self.finish_now(outcome, out);
        }
        let before = self.agent;
        let Some(reason) = self.hold_back(reason, out) else { return };
        if let Some(outcome) = (self.agent != before).then(|| self.start_refused(self.agent, out)).flatten() {
            return self.finish_now(outcome, out);
        }
        let Some(spec) = &self.view.spec else { return };
        let Some(agent) = spec.agents.get(self.agent).cloned() else { return };
        self.view.phase = Phase::Working;
        self.begin_part();
        self.open_session(agent, reason, out);
    }

    /// Starts a session of an agent, whatever it is for.
    pub(super) fn open_session(&mut self, agent: AgentSpec, reason: SessionReason, out: &mut Vec<Effect>) {
        let look_ms = super::stall::look_ms(&self.limits());
        // Another agent counts tokens in another way.
        if self.ratio_of != agent.name {
            self.ratio = Ratio::default();
            self.ratio_of.clone_from(&agent.name);
        }
        self.prompt_chars = 0;
        self.present_failed = false;
        self.view.sessions += 1;
        let n = self.view.sessions;
        self.fired.clear();
        self.warned.clear();
        self.completed = false;
        self.told = false;
        self.asked_early = false;
        self.words = None;
        self.tools_ended = 0;
        self.given = self.view.messages;
        self.lines = None;
        self.spoke = false;
        self.status_asked = false;
        self.question = None;
        self.rounds = 0;
        self.full_until = None;
        self.held.clear();
        self.described.clear();
        self.unanswered = false;
        self.fallback = None;
        self.view.session = Some(SessionView {
            n,
            agent: agent.name.clone(),
            model: agent.model.clone(),
            reason,
            doing: Doing::Starting,
            conversation: None,
            pid: None,
            can: Capabilities::default(),
            gauge: Gauge::new(agent.window, None, agent.budget, self.ratio),
            forecast: Forecast::new(Some(&self.growth)),
            tools: BTreeMap::new(),
            spent: Totals::default(),
            started_at: self.now,
            life: Life::new(self.now),
        });
        self.conversation = self.conversation.take().filter(|_| reason == SessionReason::Resume);
        let conversation = self.conversation.clone();
        self.continued_at = None;
        if conversation.is_none() {
            self.continues = None;
        }
        out.push(Effect::StartSession { session: n, agent: agent.name, reason, conversation });
        out.push(Effect::SetTimer { timer: Timer::Idle, at: self.now.saturating_add(look_ms) });
    }

    pub(super) fn prompt_sent(&mut self, n: u32, chars: u64) {
        self.checkpoint_is_current = false;
        self.view.cut.clear();
        self.view.interrupted = None;
        let now = self.now;
        if self.prompt_chars == 0 {
            self.prompt_chars = chars;
        }
        self.model_was_given();
        self.given = self.view.messages;
        if let Some(ask) = self.ask.as_mut().filter(|ask| ask.sent) {
            // Upwards: the brake counts them at most, too.
            ask.words = self.ratio.tokens(chars).saturating_mul(2);
        }
        if let Some(session) = self.session_mut(n) {
            session.life.prompted(now);
            session.pending(chars);
            if session.doing == Doing::Idle {
                session.doing = Doing::Working;
            }
        }
    }

    pub(super) fn ready(
        &mut self,
        conversation: &str,
        model: Option<&String>,
        window: Option<u64>,
        ceiling: Option<u64>,
        can: Capabilities,
        out: &mut Vec<Effect>,
    ) {
        let Some(spec) = &self.view.spec else { return };
        let agent =
            self.helper_spec().filter(|_| self.helper_works()).or_else(|| spec.agents.get(self.agent));
        let (configured, budget) = agent.map_or((None, None), |a| (a.window, a.budget));
        let helps = self.helper_prompt();
        let ratio = self.ratio;
        let resumed = self.conversation.take().is_some_and(|c| c == conversation);
        let Some(session) = self.view.session.as_mut().filter(|s| s.doing == Doing::Starting) else { return };
        // An agent without conversations has none to be continued.
        session.conversation = (!conversation.is_empty()).then(|| conversation.to_owned());
        session.model = model.cloned().or(session.model.take());
        session.can = can;
        session.gauge = Gauge::new(window.or(configured), ceiling, budget, ratio);
        if helps.is_none() && self.blind == Some(self.agent) {
            session.gauge.go_blind();
        }
        session.doing = Doing::Idle;
        let n = session.n;
        self.note_sizes();
        let prompt = match helps {
            Some(prompt) => prompt,
            None if resumed => match self.user_answer.take() {
                Some(answer) => Prompt::Answered { answer },
                None => self.continue_resumed(n, out),
            },
            None => self.first_prompt(),
        };
        out.push(Effect::SendPrompt { session: n, prompt });
    }

    fn first_prompt(&mut self) -> Prompt {
        let failed = std::mem::take(&mut self.gates.failed);
        let answered = self.user_answer.is_some();
        if self.view.checkpoint.is_none() && failed.is_empty() && self.view.handoffs == 0 && !answered {
            return Prompt::Task;
        }
        let checkpoint = self.view.checkpoint.as_ref().map(|c| c.id.clone());
        let (restart, trim, part) = (self.view.handoffs, self.trim, self.part);
        let (missing, answer) = (self.missing.take(), self.user_answer.take());
        Prompt::Continuation { checkpoint, restart, trim, failed, part, missing, answer }
    }

    pub(super) fn session_not_started(&mut self, n: u32, why: &str, out: &mut Vec<Effect>) {
        if self.session_mut(n).is_none() {
            return;
        }
        let helps = self.helper_works();
        self.close_session(EndReason::Failed, None, 0, out);
        match self.ending.take() {
            Some(ending) => self.go_after(ending.after, out),
            None if helps => self.helper_lost(true, why, out),
            None => {
                // Without a process the conversation is not to blame.
                self.conversation = None;
                self.never_ready(&format!("could not be started: {why}"), out);
            }
        }
    }

    pub(super) fn session_exited(&mut self, n: u32, exit: Option<i32>, orphans: u32, out: &mut Vec<Effect>) {
        let Some(session) = self.session_mut(n) else { return };
        let was_starting = session.doing == Doing::Starting;
        if let Some(ending) = self.ending.take() {
            self.close_session(ending.reason, exit, orphans, out);
            return match ending.after {
                After::Finish(outcome) if ending.save && !self.work_is_saved => self.save(outcome, out),
                after @ (After::Start(_) | After::Finish(_) | After::Helper) => self.go_after(after, out),
            };
        }
        let helps = self.helper_works() && self.taking.is_none();
        let expected = matches!(self.view.phase, Phase::Gating | Phase::Saving) && !helps;
        let asked = self.status_side.take().is_some();
        let reason = if expected { EndReason::Finished } else { EndReason::Failed };
        self.close_session(reason, exit, orphans, out);
        if expected && asked {
            return self.status_told(None, out);
        }
        if expected || self.taking.is_some() {
            return;
        }
        if self.view.phase == Phase::Waiting {
            return self.kept_process_lost();
        }
        let code = exit.map_or_else(|| "by a signal".to_owned(), |c| format!("with code {c}"));
        if helps {
            return self.helper_lost(was_starting, &format!("it ended {code}"), out);
        }
        if was_starting {
            return self.never_ready(&format!("ended {code} before it was ready"), out);
        }
        let why = format!("the agent's process ended {code} in the middle of its work");
        self.session_was_lost(&why, out);
    }

    pub(super) fn session_was_lost(&mut self, why: &str, out: &mut Vec<Effect>) {
        if self.can_continue().is_some() && self.ask.is_none() {
            return self.agent_failed(AgentFailure::Other, why, out);
        }
        Self::warn("agent_failed", why, out);
        self.turn_failed(EndReason::Failed, why, out);
    }

    fn never_ready(&mut self, why: &str, out: &mut Vec<Effect>) {
        let agent = self.agent_name(self.agent);
        if self.stop_asked {
            return self.finish_now(super::ending::interrupted(), out);
        }
        let reason = format!("agent {agent} {why}");
        if self.conversation.take().is_some() {
            Self::warn("agent_failed", format!("the conversation could not be resumed: {reason}"), out);
            return self.start_session(SessionReason::Restart, out);
        }
        self.note_failure(true, why);
        self.choose_fallback();
        if self.fallback.is_some() {
            Self::warn("agent_failed", reason.clone(), out);
            let kind = HandoffKind::Fallback;
            return self.replace_now(Replace { kind, reason, end: EndReason::Failed, counts: false }, out);
        }
        let outcome = match self.view.spec.as_ref().map_or(0, |s| s.agents.len()) {
            0 | 1 => Outcome::new(Verdict::Failed, reason),
            _ => self.account_of_all(&reason, &self.everybody()),
        };
        self.finish_now(outcome.advise("see `segue show --output` and `segue doctor`"), out);
    }

    /// Books a session as over.
    pub(super) fn close_session(
        &mut self,
        reason: EndReason,
        exit: Option<i32>,
        orphans: u32,
        out: &mut Vec<Effect>,
    ) {
        let Some(session) = self.view.session.take() else { return };
        self.view.past.add(session.spent);
        self.book_end(&session.agent, session.spent);
        self.keep_talk(&session);
        let mut reread = None;
        if session.reason != SessionReason::Helper {
            self.calls_before = self.calls_before.saturating_add(u64::from(session.gauge.calls()));
            reread = self.close_readings(session.n, &session.agent);
        }
        self.view.grown = session.forecast.counted().clone();
        self.growth.merge(&self.view.grown);
        (self.side, self.status_side) = (None, None);
        self.release_hooks(true, out);
        for timer in [Timer::Ask, Timer::Side, Timer::Idle, Timer::End] {
            out.push(Effect::ClearTimer { timer });
        }
        out.push(Effect::Announce(Notice::SessionEnded {
            session: session.n,
            reason,
            exit,
            fill: session.gauge.fill(),
            tokens_in: session.spent.tokens_in,
            tokens_out: session.spent.tokens_out,
            cost_musd: session.spent.cost(),
            orphans,
            reread,
        }));
    }

    pub(super) fn set_doing(&mut self, doing: Doing) {
        if let Some(session) = self.view.session.as_mut()
            && session.doing != Doing::Ending
        {
            session.doing = doing;
        }
    }
}
