//! One session: what its agent says, and what that changes.

use std::collections::BTreeMap;

use super::{
    After, Doing, EndReason, HandoffKind, Phase, Replace, Run, SessionView, Then, ToolDone, Totals, View,
};
use crate::gauge::{Gauge, Taken};
use crate::{
    AgentEvent, AgentFailure, Asked, Capabilities, Depth, Effect, EndHow, Limit, Notice, Outcome, Prompt,
    Reading, SessionReason, Timer, TurnEnd, Verdict,
};

impl Run {
    /// Starts the next session with fresh counters.
    pub(super) fn start_session(&mut self, reason: SessionReason, out: &mut Vec<Effect>) {
        let Some(spec) = &self.view.spec else { return };
        let Some(agent) = spec.agents.get(self.agent).cloned() else { return };
        let idle_ms = spec.limits.idle_ms;
        self.view.phase = Phase::Working;
        self.view.sessions += 1;
        let n = self.view.sessions;
        self.fired.clear();
        self.warned.clear();
        self.item_closed = false;
        self.spoke = false;
        self.held.clear();
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
            tools: BTreeMap::new(),
            spent: Totals::default(),
            started_at: self.now,
        });
        self.conversation = self.conversation.take().filter(|_| reason == SessionReason::Resume);
        let conversation = self.conversation.clone();
        out.push(Effect::StartSession { session: n, agent: agent.name, reason, conversation });
        out.push(Effect::SetTimer { timer: Timer::Idle, at: self.now.saturating_add(idle_ms) });
    }

    pub(super) fn prompt_sent(&mut self, n: u32, chars: u64) {
        self.checkpoint_is_current = false;
        if let Some(session) = self.session_mut(n) {
            session.gauge.add(chars);
            if session.doing == Doing::Idle {
                session.doing = Doing::Working;
            }
        }
    }

    pub(super) fn agent_event(&mut self, n: u32, event: &AgentEvent, out: &mut Vec<Effect>) {
        if self.session_mut(n).is_none() {
            return;
        }
        match event {
            AgentEvent::Ready { conversation, model, window, ceiling, can } => {
                self.ready(conversation, model.as_ref(), *window, *ceiling, *can, out);
            }
            AgentEvent::UsageRead(reading) => self.usage_read(reading, out),
            AgentEvent::TextSaid { chars } => {
                self.spoke = true;
                self.add_chars(*chars);
                self.check_stages(out);
            }
            AgentEvent::ToolStarted { tool, title } => {
                self.item_closed = false;
                self.checkpoint_is_current = false;
                self.work_is_saved = false;
                if let Some(s) = self.session_mut(n) {
                    s.tools.insert(tool.clone(), title.clone());
                }
                self.hold_ask_timer(out);
            }
            AgentEvent::ToolEnded { tool, title, ok, chars } => {
                self.tool_ended(tool, title, *ok, *chars, out)
            }
            AgentEvent::ItemsSeen { open, closed } => {
                self.view.items = Some((*open, *closed));
                self.item_closed |= self.progress.closed(*closed);
                self.check_stages(out);
            }
            AgentEvent::CrossChecked { reading, agent } => self.cross_check(*reading, *agent, out),
            AgentEvent::Compacted => {
                if let Some(s) = self.session_mut(n) {
                    s.gauge.reset();
                }
                self.compacted(out);
            }
            AgentEvent::PermissionAsked { request, kind, title } => {
                self.permission(request, kind, title, out)
            }
            AgentEvent::Answered { text } => {
                if self.ask.is_some() || self.unanswered {
                    self.set_doing(Doing::Idle);
                }
                self.answered(Some(text), out);
            }
            AgentEvent::NotAnswered { why } => {
                if self.ask.is_some() || self.unanswered {
                    self.set_doing(Doing::Idle);
                }
                if self.ask.is_some() {
                    Self::warn(
                        "no_answer",
                        format!("no checkpoint from the agent: {why}; segue writes it"),
                        out,
                    );
                }
                self.answered(None, out);
            }
            AgentEvent::TurnEnded(end) => self.turn_ended(end, out),
            AgentEvent::Unrecognised { .. } => {
                self.warn_once(
                    "unrecognised",
                    "the agent sent a line that is not understood; see `segue show --output`",
                    out,
                );
            }
        }
    }

    fn ready(
        &mut self,
        conversation: &str,
        model: Option<&String>,
        window: Option<u64>,
        ceiling: Option<u64>,
        can: Capabilities,
        out: &mut Vec<Effect>,
    ) {
        let Some(spec) = &self.view.spec else { return };
        let (configured, budget) = spec.agents.get(self.agent).map_or((None, None), |a| (a.window, a.budget));
        let ratio = self.ratio;
        let resumed = self.conversation.take().is_some_and(|c| c == conversation);
        let Some(session) = self.view.session.as_mut().filter(|s| s.doing == Doing::Starting) else { return };
        session.conversation = Some(conversation.to_owned());
        session.model = model.cloned().or(session.model.take());
        session.can = can;
        session.gauge = Gauge::new(window.or(configured), ceiling, budget, ratio);
        session.doing = Doing::Idle;
        let n = session.n;
        let prompt = if resumed { Prompt::GoOn } else { self.first_prompt() };
        out.push(Effect::SendPrompt { session: n, prompt });
    }

    fn first_prompt(&mut self) -> Prompt {
        let failed = std::mem::take(&mut self.gates.failed);
        if self.view.checkpoint.is_none() && failed.is_empty() && self.view.handoffs == 0 {
            return Prompt::Task;
        }
        let checkpoint = self.view.checkpoint.as_ref().map(|c| c.id.clone());
        Prompt::Continuation { checkpoint, restart: self.view.handoffs, trim: self.trim, failed }
    }

    fn usage_read(&mut self, reading: &Reading, out: &mut Vec<Effect>) {
        let Some(session) = self.view.session.as_mut() else { return };
        let before = session.gauge.tokens();
        let taken = session.gauge.read(reading);
        if taken == Taken::Doubted {
            let text = format!(
                "a reading of {} tokens is not believed until a second one confirms it",
                reading.fill()
            );
            return self.warn_once("doubted", text, out);
        }
        let counts = matches!(taken, Taken::Call(_) | Taken::Fell(_)) || reading.scope == crate::Scope::Side;
        if counts {
            let sent = reading.prompt().or(reading.total);
            session.spent.add(Totals { tokens_in: sent, tokens_out: reading.output, cost_musd: None });
        }
        if let Some(cost) = reading.session_cost_musd {
            session.spent.cost_musd = Some(cost);
        }
        self.ratio = session.gauge.ratio();
        if let Taken::Fell(_) = taken {
            let (from, to) = (before.unwrap_or(0), reading.fill());
            Self::warn("fell", format!("the window fell from {from} to {to} tokens"), out);
            self.compacted(out);
        }
        if self.spending_allowed(out) {
            self.check_stages(out);
        }
    }

    fn cross_check(&mut self, reading: u64, agent: u64, out: &mut Vec<Effect>) {
        const TOLERATED: u64 = 20;
        if reading.abs_diff(agent) > reading / TOLERATED {
            let text = format!(
                "the last call was {reading} tokens by its own usage, but {agent} by the agent's account"
            );
            self.warn_once("cross_check", text, out);
        }
    }

    fn compacted(&mut self, out: &mut Vec<Effect>) {
        self.warn_once(
            "compacted",
            "the agent compacted its own context: it may have forgotten details",
            out,
        );
    }

    fn add_chars(&mut self, chars: u64) {
        self.checkpoint_is_current = false;
        if let Some(session) = self.view.session.as_mut() {
            session.gauge.add(chars);
        }
    }

    fn tool_ended(&mut self, tool: &str, title: &str, ok: bool, chars: u64, out: &mut Vec<Effect>) {
        self.held.remove(tool);
        self.add_chars(chars);
        self.work_is_saved = false;
        let Some(session) = self.view.session.as_mut() else { return };
        let title = session.tools.remove(tool).filter(|t| !t.is_empty()).unwrap_or_else(|| title.to_owned());
        session.gauge.count_tool();
        let (n, quiet, blind) = (session.n, session.tools.is_empty(), session.gauge.calls() == 0);
        let tools = session.gauge.tools();
        if self.view.tools_done.len() >= View::TOOLS_KEPT {
            self.view.tools_done.remove(0);
        }
        let done = ToolDone { session: n, title, ok };
        self.view.tools_since.push(done.clone());
        self.view.tools_done.push(done);
        if blind && tools >= 3 {
            self.usage_missing(out);
        }
        if quiet && self.ending.is_some() {
            return self.send_end(EndHow::Gently, out);
        }
        if quiet {
            self.start_ask_timer(out);
        }
        self.check_stages(out);
    }

    fn usage_missing(&mut self, out: &mut Vec<Effect>) {
        let known = self.view.session.as_ref().is_some_and(|s| s.gauge.ceiling().is_some());
        let text = if known {
            "the agent reports no token usage: the gauge is an estimate"
        } else {
            "the agent reports no token usage and its window is unknown: only tool calls are counted; set `window` for it"
        };
        self.warn_once("usage_missing", text, out);
    }

    fn permission(&mut self, request: &str, kind: &str, title: &str, out: &mut Vec<Effect>) {
        let Some(session) = self.view.session.as_ref().map(|s| s.n) else { return };
        let allowed = self.view.spec.as_ref().and_then(|s| s.agents.get(self.agent));
        let allow = allowed.is_some_and(|a| a.allow.iter().any(|k| k == "*" || k == kind));
        out.push(Effect::AnswerPermission { session, request: request.to_owned(), allow });
        if allow {
            return;
        }
        let count = self.denials.entry(kind.to_owned()).or_default();
        *count += 1;
        let (count, most) = (*count, self.limits().same_denials);
        Self::warn(
            "permission_denied",
            format!("denied: {title} ({kind}); allow it with --permissions allow={kind}"),
            out,
        );
        if count == most {
            self.limit_reached(Limit::Permissions, kind, out);
            let outcome = Outcome::new(Verdict::NeedsPerson, format!("the agent needs a permission it does not have: {kind}"))
                .because_of(Limit::Permissions)
                .advise(format!("allow it with --permissions allow={kind}, or all with --permissions bypass, then `segue resume`"));
            self.finish_with_checkpoint("permission", outcome, out);
        }
    }

    fn turn_ended(&mut self, end: &TurnEnd, out: &mut Vec<Effect>) {
        let Some(session) = self.view.session.as_mut() else { return };
        session.tools.clear();
        let blind = session.gauge.calls() == 0;
        if session.doing == Doing::Working {
            session.doing = Doing::Idle;
        }
        if blind {
            self.usage_missing(out);
        }
        if matches!(end, TurnEnd::Overflow { .. }) {
            self.view.overflows += 1;
        }
        if self.ending.is_some() {
            return self.send_end(EndHow::Gently, out);
        }
        if let Some(then) = self.taking.as_mut() {
            match (end, &*then) {
                (TurnEnd::Finished { .. }, Then::GoOn | Then::Replace(_)) => *then = Then::Gate,
                (TurnEnd::Overflow { message } | TurnEnd::Failed { message, .. }, Then::GoOn) => {
                    let (overflow, reason) = (matches!(end, TurnEnd::Overflow { .. }), message.clone());
                    let end = if overflow { EndReason::Overflow } else { EndReason::Failed };
                    let kind = HandoffKind::Restart;
                    *then = Then::Replace(Replace { kind, reason, end, counts: overflow });
                }
                _ => {}
            }
            return;
        }
        if !self.phase_is_working() {
            return;
        }
        match end {
            TurnEnd::Finished { .. } => self.completed(out),
            TurnEnd::Cancelled if self.ask.is_some() => self.start_ask_timer(out),
            TurnEnd::Cancelled if self.unanswered => self.set_doing(Doing::Asked),
            TurnEnd::Cancelled => {
                self.turn_failed(EndReason::Failed, "the agent cancelled its own turn", out)
            }
            TurnEnd::Overflow { message } => self.overflowed(message, out),
            TurnEnd::Failed { failure, message } => self.agent_failed(*failure, message, out),
        }
    }

    // The turn ended with completion before the request reached it: completed work is gated, not replaced (T3).
    fn completed(&mut self, out: &mut Vec<Effect>) {
        self.set_doing(Doing::Idle);
        if let Some(pending) = self.ask.take() {
            out.push(Effect::ClearTimer { timer: Timer::Ask });
            if let Then::Finish(..) = pending.then {
                return self.take(pending.asked, None, pending.then, out);
            }
        }
        self.gate(out);
    }

    fn overflowed(&mut self, message: &str, out: &mut Vec<Effect>) {
        Self::warn("overflow", format!("the context did not fit any more: {message}"), out);
        let Some(spec) = &self.view.spec else { return };
        let could = spec.policy.stages.iter().any(crate::policy::Stage::replaces);
        if could && !self.replacing_is_off() {
            return self.turn_failed(EndReason::Overflow, "context overflow", out);
        }
        let outcome = if could {
            let limit = Limit::MaxRestarts;
            self.limit_reached(limit, "0", out);
            Outcome::new(
                Verdict::Stopped,
                "the context overflowed, and replacing the session is switched off",
            )
            .because_of(limit)
            .advise("allow restarts (--max-restarts) or lower --context-threshold, then `segue resume`")
        } else {
            Outcome::new(Verdict::Failed, "the context overflowed, and this policy does not replace sessions")
                .advise("`segue resume` goes on in a fresh session")
        };
        self.finish_after_failure("overflow", outcome, EndReason::Overflow, out);
    }

    fn agent_failed(&mut self, failure: AgentFailure, message: &str, out: &mut Vec<Effect>) {
        Self::warn("agent_failed", format!("the agent failed: {message}"), out);
        match failure {
            AgentFailure::Unauthorised
            | AgentFailure::Quota
            | AgentFailure::BadModel
            | AgentFailure::Refused => {
                self.choose_fallback();
                if self.fallback.is_none() {
                    let outcome = Outcome::new(Verdict::Failed, format!("the agent cannot go on: {message}"))
                        .advise("mend that, or name a second agent with --agent a,b, then `segue resume`");
                    return self.finish_after_failure("agent failed", outcome, EndReason::Failed, out);
                }
                self.turn_failed(EndReason::Failed, message, out);
            }
            AgentFailure::Overloaded | AgentFailure::RateLimited | AgentFailure::Other => {
                self.turn_failed(EndReason::Failed, message, out);
            }
        }
    }

    /// The session is of no more use: save what there is and go on in a fresh one, within the limits.
    pub(super) fn turn_failed(&mut self, end: EndReason, why: &str, out: &mut Vec<Effect>) {
        let kind = if self.fallback.is_some() { HandoffKind::Fallback } else { HandoffKind::Restart };
        let counts = end == EndReason::Overflow;
        let mut then = Then::Replace(Replace { kind, reason: why.to_owned(), end, counts });
        let mut asked = Asked { depth: Depth::Emergency, stage: None, reason: why.to_owned() };
        if let Some(pending) = self.ask.take() {
            out.push(Effect::ClearTimer { timer: Timer::Ask });
            if let Then::Finish(..) = pending.then {
                (asked, then) = (pending.asked, pending.then);
            }
        }
        let passive = self
            .view
            .spec
            .as_ref()
            .is_some_and(|s| !s.policy.stages.iter().any(crate::policy::Stage::replaces));
        if passive && matches!(then, Then::Replace(_)) {
            let outcome =
                Outcome::new(Verdict::Failed, why).advise("`segue resume` goes on in a fresh session");
            then = Then::Finish(outcome, end);
        }
        self.take(asked, None, then, out);
    }

    pub(super) fn session_not_started(&mut self, n: u32, why: &str, out: &mut Vec<Effect>) {
        if self.session_mut(n).is_none() {
            return;
        }
        self.close_session(EndReason::Failed, None, 0, out);
        match self.ending.take() {
            Some(ending) => self.go_after(ending.after, out),
            None => self.never_ready(&format!("could not be started: {why}"), out),
        }
    }

    pub(super) fn session_exited(&mut self, n: u32, exit: Option<i32>, orphans: u32, out: &mut Vec<Effect>) {
        let Some(session) = self.session_mut(n) else { return };
        let was_starting = session.doing == Doing::Starting;
        if let Some(ending) = self.ending.take() {
            self.close_session(ending.reason, exit, orphans, out);
            return match ending.after {
                After::Finish(outcome) if ending.save && !self.work_is_saved => self.save(outcome, out),
                after @ (After::Start(_) | After::Finish(_)) => self.go_after(after, out),
            };
        }
        let expected = matches!(self.view.phase, Phase::Gating | Phase::Saving);
        let reason = if expected { EndReason::Finished } else { EndReason::Failed };
        self.close_session(reason, exit, orphans, out);
        if expected || self.taking.is_some() {
            return;
        }
        let code = exit.map_or_else(|| "by a signal".to_owned(), |c| format!("with code {c}"));
        if was_starting {
            return self.never_ready(&format!("ended {code} before it was ready"), out);
        }
        self.session_was_lost(&format!("the agent ended {code} in the middle of its work"), out);
    }

    pub(super) fn session_was_lost(&mut self, why: &str, out: &mut Vec<Effect>) {
        Self::warn("agent_failed", why, out);
        self.turn_failed(EndReason::Failed, why, out);
    }

    fn never_ready(&mut self, why: &str, out: &mut Vec<Effect>) {
        let agent = self.agent_name(self.agent);
        if self.stop_asked {
            return self.finish_now(super::ending::interrupted(), out);
        }
        self.choose_fallback();
        let reason = format!("agent {agent} {why}");
        if self.fallback.is_some() {
            Self::warn("agent_failed", reason.clone(), out);
            let kind = HandoffKind::Fallback;
            return self.replace_now(Replace { kind, reason, end: EndReason::Failed, counts: false }, out);
        }
        let outcome =
            Outcome::new(Verdict::Failed, reason).advise("see `segue show --output` and `segue doctor`");
        self.finish_now(outcome, out);
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
        self.last_talk = session.conversation.map(|conversation| (session.agent, conversation));
        for timer in [Timer::Ask, Timer::Idle, Timer::End] {
            out.push(Effect::ClearTimer { timer });
        }
        out.push(Effect::Announce(Notice::SessionEnded {
            session: session.n,
            reason,
            exit,
            fill: session.gauge.fill(),
            tokens_in: session.spent.tokens_in,
            tokens_out: session.spent.tokens_out,
            cost_musd: session.spent.cost_musd,
            orphans,
        }));
    }

    pub(super) fn set_doing(&mut self, doing: Doing) {
        if let Some(session) = self.view.session.as_mut()
            && session.doing != Doing::Ending
        {
            session.doing = doing;
        }
    }

    pub(super) fn finish_after_failure(
        &mut self,
        why: &str,
        outcome: Outcome,
        end: EndReason,
        out: &mut Vec<Effect>,
    ) {
        if self.ask.take().is_some() {
            out.push(Effect::ClearTimer { timer: Timer::Ask });
        }
        let asked = Asked { depth: Depth::Emergency, stage: None, reason: why.to_owned() };
        self.take(asked, None, Then::Finish(outcome, end), out);
    }

    /// Ends the run as soon as the session is gone.
    pub(super) fn finish_at_once(&mut self, outcome: Outcome, out: &mut Vec<Effect>) {
        self.ask = None;
        self.taking = None;
        if self.view.session.is_none() {
            return self.finish_now(outcome, out);
        }
        self.ending = Some(super::Ending {
            reason: EndReason::Stopped,
            after: After::Finish(outcome),
            sent: true,
            save: false,
        });
        self.set_doing(Doing::Ending);
        if let Some(session) = &self.view.session {
            out.push(Effect::EndSession { session: session.n, how: EndHow::AtOnce });
        }
    }
}
