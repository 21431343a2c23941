//! What an agent says and does while it works: usage, text, tools, lists, permissions.

use super::{Allowance, Doing, Run, ToolDone, View};
use crate::amounts::duration;
use crate::gauge::Taken;
use crate::permission::{grants, wider};
use crate::{
    AgentEvent, Capabilities, Effect, EndHow, Limit, Millis, Outcome, Reading, SessionReason, Subject,
    Verdict,
};

/// The kind of a request that no permission answers: the agent asks a person something.
const QUESTION: &str = "question";

impl Run {
    pub(super) fn agent_event(&mut self, n: u32, event: &AgentEvent, out: &mut Vec<Effect>) {
        let now = self.now;
        let Some(session) = self.session_mut(n) else { return };
        session.life.hears(event, now);
        match event {
            AgentEvent::Ready { can, .. } if self.spends_unseen(*can, out) => {}
            AgentEvent::Ready { conversation, model, window, ceiling, can } => {
                self.ready(conversation, model.as_ref(), *window, *ceiling, *can, out);
            }
            AgentEvent::UsageRead(reading) => self.usage_read(reading, out),
            AgentEvent::TextSaid { chars } => {
                self.text_said(*chars, out);
            }
            AgentEvent::ToolStarted { tool, title } => {
                self.completed = false;
                self.checkpoint_is_current = false;
                self.work_is_saved = false;
                if let Some(s) = self.session_mut(n) {
                    let first = s.tools.is_empty();
                    s.tools.insert(tool.clone(), title.clone());
                    self.rounds += u32::from(first);
                }
                self.hold_ask_timer(out);
                self.let_tool_finish(out);
            }
            AgentEvent::Said { text } => self.keep_message(n, text),
            AgentEvent::ToolDescribed { tool, reads, exit, last_line } => {
                self.describe_tool(tool, *reads, *exit, last_line.as_deref());
            }
            AgentEvent::ToolEnded { tool, title, ok, chars } => {
                self.tool_ended(tool, title, *ok, *chars, out)
            }
            AgentEvent::ItemsSeen { open, closed, items } => {
                self.view.list.clone_from(items);
                self.items_seen(*open, *closed, out);
            }
            AgentEvent::AllowanceSeen { name, used_percent, resets_at } => {
                self.allowance(name, *used_percent, *resets_at, out);
            }
            AgentEvent::CrossChecked { reading, agent } => self.cross_check(*reading, *agent, out),
            AgentEvent::Compacted => {
                if let Some(s) = self.session_mut(n) {
                    s.gauge.reset();
                    s.forecast.cut();
                }
                Self::compacted(out);
            }
            AgentEvent::PermissionAsked { request, kind, title, subject } => {
                self.permission(request, kind, title, subject, out)
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
                        format!("no checkpoint from the agent: {why}; segue writes one"),
                        out,
                    );
                }
                self.answered(None, out);
            }
            AgentEvent::SideAnswered { id, text } => self.side_answered(id, text, out),
            AgentEvent::SideFailed { id, why } => self.side_failed(id, why, out),
            AgentEvent::TurnEnded(end) => self.turn_ended(end, out),
            AgentEvent::Retrying { .. } => self.retrying(out),
            AgentEvent::Unrecognised { .. } => {
                self.warn_once(
                    "unrecognised",
                    "the agent sent a line that is not understood; see `segue show --output`",
                    out,
                );
            }
        }
    }

    fn items_seen(&mut self, open: u32, closed: u32, out: &mut Vec<Effect>) {
        self.view.items = Some((open, closed));
        self.completed |= self.progress.closed(closed);
        self.check_stages(out);
    }

    fn usage_read(&mut self, reading: &Reading, out: &mut Vec<Effect>) {
        let Some(session) = self.view.session.as_mut() else { return };
        let before = session.gauge.tokens();
        let taken = session.gauge.read(reading);
        let ratio = session.gauge.ratio();
        self.book(reading, taken);
        if taken == Taken::Doubted {
            let text = format!(
                "a reading of {} tokens is not believed until a second one confirms it",
                reading.fill()
            );
            return self.warn_once("doubted", text, out);
        }
        self.ratio = ratio;
        self.blind = None;
        let after = self.ratio.tokens(reading.chars_after);
        if let Some(session) = self.view.session.as_mut() {
            match taken {
                Taken::Call(call) => session.forecast.read(call, before, reading.fill(), after, self.now),
                Taken::Fell(_) => session.forecast.cut(),
                Taken::Again | Taken::Doubted | Taken::Ignored => {}
            }
        }
        if let Taken::Call(_) = taken {
            self.look_at_cache(reading);
            self.draw_lines();
        }
        if matches!(taken, Taken::Call(_) | Taken::Fell(_)) {
            self.agent_works(out);
        }
        if let Taken::Fell(_) = taken {
            let (from, to) = (before.unwrap_or(0), reading.fill());
            Self::warn("fell", format!("the window fell from {from} to {to} tokens"), out);
            Self::compacted(out);
        }
        self.note_sizes();
        if self.spending_allowed(out) {
            self.check_stages(out);
            self.helper_spends(out);
        }
    }

    fn allowance(&mut self, name: &str, used_percent: u32, resets_at: Option<Millis>, out: &mut Vec<Effect>) {
        const NEARLY_USED: u32 = 90;
        self.view.allowances.insert(name.to_owned(), Allowance { used_percent, resets_at });
        if used_percent >= 100 {
            self.full_until = self.full_until.max(resets_at);
        }
        if used_percent >= NEARLY_USED {
            let left = resets_at.map(|at| at.saturating_sub(self.now) / 60_000 * 60_000);
            let reset = left.map_or_else(String::new, |left| format!("; it resets in {}", duration(left)));
            self.warn_once("allowance", format!("the {name} allowance is {used_percent} % used{reset}"), out);
        }
    }

    fn cross_check(&mut self, reading: u64, agent: u64, out: &mut Vec<Effect>) {
        const TOLERATED: u64 = 20;
        if reading.abs_diff(agent) > reading / TOLERATED {
            let text = format!(
                "the last call was {reading} tokens by its own usage report, but {agent} by the agent's context report"
            );
            self.warn_once("cross_check", text, out);
        }
    }

    fn compacted(out: &mut Vec<Effect>) {
        Self::warn("compacted", "the agent compacted its own context: it may have forgotten details", out);
    }

    fn tool_ended(&mut self, tool: &str, title: &str, ok: bool, chars: u64, out: &mut Vec<Effect>) {
        self.held.remove(tool);
        self.tools_ended += 1;
        self.model_was_given();
        self.given = self.view.messages;
        self.checkpoint_is_current = false;
        self.work_is_saved = false;
        let Some(session) = self.view.session.as_mut() else { return };
        session.pending(chars);
        let tokens = session.gauge.ratio().tokens(chars);
        let title = session.tools.remove(tool).filter(|t| !t.is_empty()).unwrap_or_else(|| title.to_owned());
        session.gauge.count_tool();
        let (n, quiet, blind) = (session.n, session.tools.is_empty(), session.gauge.calls() == 0);
        self.view.gates_stale = true;
        self.worked = true;
        self.completed |= ok && self.completes(&title);
        let described = self.described.remove(tool).unwrap_or_default();
        if described.reads && ok {
            self.count_reading(&title, tokens);
        }
        let done =
            described.of(ToolDone { session: n, title, ok, reads: false, exit: None, last_line: None });
        for kept in [&mut self.view.tools_since, &mut self.view.tools_done] {
            if kept.len() >= View::TOOLS_KEPT {
                kept.remove(0);
            }
            kept.push(done.clone());
        }
        if blind && self.rounds >= 3 {
            self.usage_missing(out);
            if self.spends_unseen(Capabilities::default(), out) {
                return;
            }
        }
        if quiet && self.ending.is_some() {
            return self.send_end(EndHow::Gently, out);
        }
        if quiet {
            self.start_ask_timer(out);
        }
        self.check_stages(out);
    }

    fn text_said(&mut self, chars: u64, out: &mut Vec<Effect>) {
        self.spoke = true;
        self.checkpoint_is_current = false;
        if let Some(session) = self.view.session.as_mut() {
            session.said(chars);
        }
        self.hear_out(out);
        self.check_stages(out);
    }

    pub(super) fn usage_missing(&mut self, out: &mut Vec<Effect>) {
        if let Some(session) = self.view.session.as_mut() {
            session.gauge.go_blind();
            self.blind = if session.reason == SessionReason::Helper { self.blind } else { Some(self.agent) };
        }
        let known = self.view.session.as_ref().is_some_and(|s| s.gauge.ceiling().is_some());
        let text = if known {
            "the agent reports no token usage: context used is estimated, so segue will hand over earlier"
        } else {
            "the agent reports no token usage and its window is unknown: only tool calls are counted; set `window` for it"
        };
        self.warn_once("usage_missing", text, out);
    }

    pub(super) fn permission(
        &mut self,
        request: &str,
        kind: &str,
        title: &str,
        subject: &Subject,
        out: &mut Vec<Effect>,
    ) {
        let Some(session) = self.view.session.as_ref().map(|s| s.n) else { return };
        if self.view.session.as_ref().is_some_and(|s| s.reason == SessionReason::Helper) {
            out.push(Effect::AnswerPermission { session, request: request.to_owned(), allow: false });
            let text = format!("denied: {title} ({kind}); a second opinion may read but not write");
            return self.warn_once("helper_denied", text, out);
        }
        if kind == QUESTION {
            out.push(Effect::AnswerPermission { session, request: request.to_owned(), allow: false });
            self.question = Some(title.to_owned());
            let text =
                format!("the agent asks: {title}; segue told it that nobody can answer in an unattended run");
            return Self::warn("question", text, out);
        }
        let known = self.view.spec.as_ref().and_then(|run| Some((run, run.agents.get(self.agent)?)));
        let allow = known.is_some_and(|(run, agent)| grants(agent, run, kind, subject));
        let wider = known.map_or_else(|| format!("allow={kind}"), |(_, agent)| wider(agent, kind));
        out.push(Effect::AnswerPermission { session, request: request.to_owned(), allow });
        if allow {
            return;
        }
        let asked = (title.to_owned(), self.now);
        self.view.session.iter_mut().for_each(|s| s.life.permission = Some(asked.clone()));
        let count = self.denials.entry(kind.to_owned()).or_default();
        *count += 1;
        let (count, most) = (*count, self.limits().same_denials);
        Self::warn(
            "permission_denied",
            format!("denied: {title} ({kind}); allow it with --permissions {wider}"),
            out,
        );
        if count == most {
            self.limit_reached(Limit::Permissions, kind, out);
            let outcome = Outcome::new(
                Verdict::NeedsInput,
                format!("the agent needs a permission it does not have: {kind}"),
            )
            .because_of(Limit::Permissions)
            .advise(format!(
                "allow it with --permissions {wider}, or all with --permissions bypass, then `segue resume`"
            ));
            self.finish_with_checkpoint("permission", outcome, out);
        }
    }
}
