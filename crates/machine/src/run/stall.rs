//! Whether the agent at work still lives, and what is done when it does not.
//!
//! Thinking, a long tool, a permission that was not given, the agent's own retries, a dead stream and a dead process are
//! told apart; each has a limit of its own. Half of a limit is told, the whole of it is acted upon.

use super::{Doing, EndReason, HandoffKind, Phase, Replace, Run, SessionView, State};
use crate::amounts::duration;
use crate::{Activity, AgentFailure, Effect, Limit, Limits, Millis, Outcome, Retry, Timer, Verdict};

/// The shortest and the longest time between two looks.
const LOOKS: [u64; 2] = [250, 30_000];

/// What a look leads to.
enum Look {
    Fine,
    Tell { code: &'static str, text: String },
    End { limit: u64, why: String },
    Fail { limit: u64, failure: AgentFailure, why: String },
}

/// How long to wait before the next look: a fixed part of the shortest limit.
pub(super) fn look_ms(limits: &Limits) -> u64 {
    let shortest = [
        limits.idle_ms,
        limits.thinking_ms,
        limits.tool_idle_ms,
        limits.tool_warning_ms,
        limits.tool_ms,
        limits.permission_ms,
        limits.retry_ms,
    ];
    let [least, most] = LOOKS;
    (shortest.into_iter().min().unwrap_or(most) / 8).clamp(least, most)
}

impl Run {
    /// Looks at the signs of life of the session at work.
    pub(super) fn look_for_stall(
        &mut self,
        quiet_ms: u64,
        activity: Option<&Activity>,
        out: &mut Vec<Effect>,
    ) {
        let (limits, now) = (self.limits(), self.now);
        let working = self.view.phase == Phase::Working && self.taking.is_none();
        let Some(session) = self.view.session.as_mut() else { return };
        session.life.looked(quiet_ms, activity, now);
        let waits_for_agent = matches!(session.doing, Doing::Working | Doing::Starting | Doing::Asked);
        if working && waits_for_agent {
            if session.life.is_gone() {
                return self.process_is_gone(out);
            }
            match session.look(&limits, now) {
                Look::Fine => {}
                Look::Tell { code, text } => {
                    if session.life.tell(code) {
                        Self::warn(code, text, out);
                    }
                }
                Look::End { limit, why } => return self.stalled(limit, &why, out),
                Look::Fail { limit, failure, why } => {
                    let retry = session.life.retry.as_ref().and_then(|retry| retry.next_at).map(Retry::At);
                    self.stall_limit(limit, out);
                    self.account_failed(failure, &why, retry, out);
                    return self.agent_failed(failure, &why, out);
                }
            }
        }
        let at = now.saturating_add(look_ms(&limits));
        out.push(Effect::SetTimer { timer: Timer::Idle, at });
    }

    /// The agent tries a call again by itself: that is told now and then.
    pub(super) fn retrying(&mut self, out: &mut Vec<Effect>) {
        let retry = self.view.session.as_ref().and_then(|s| s.life.retry.as_ref());
        if let Some(retry) = retry.filter(|retry| retry.attempt.is_power_of_two()) {
            Self::warn("retrying", retry.to_string(), out);
        }
    }

    fn stall_limit(&self, limit: u64, out: &mut Vec<Effect>) {
        self.limit_reached(Limit::Stall, &format!("{}s", limit.div_ceil(1_000)), out);
    }

    fn stalled(&mut self, limit: u64, why: &str, out: &mut Vec<Effect>) {
        self.stall_limit(limit, out);
        let starting = self.view.session.as_ref().is_some_and(|s| s.doing == Doing::Starting);
        if starting {
            let reason = format!("{why}, and never became ready");
            self.note_failure(true, &reason);
            self.choose_fallback();
            if self.fallback.is_some() {
                let (kind, end) = (HandoffKind::Fallback, EndReason::Stalled);
                return self.replace_now(Replace { kind, reason, end, counts: false }, out);
            }
            let outcome = Outcome::new(Verdict::Failed, reason);
            return self.finish_at_once(outcome.because_of(Limit::Stall), out);
        }
        self.forget_tools();
        self.turn_failed(EndReason::Stalled, why, out);
    }

    fn process_is_gone(&mut self, out: &mut Vec<Effect>) {
        self.forget_tools();
        self.session_was_lost(&State::Gone.to_string(), out);
    }

    // A tool that hangs would hold up the end of its session.
    fn forget_tools(&mut self) {
        if let Some(session) = self.view.session.as_mut() {
            session.tools.clear();
            session.life.tools.clear();
        }
    }
}

impl SessionView {
    /// What it does at this moment, as far as it can be told apart.
    pub fn state(&self, limits: &Limits, now: Millis) -> State {
        match self.doing {
            Doing::Starting => State::Starting { ms: now.saturating_sub(self.started_at) },
            Doing::Idle => State::Waiting,
            Doing::Ending => State::Ending,
            Doing::Asked if self.tools.is_empty() && self.life.retry.is_none() => State::Asked,
            Doing::Asked | Doing::Working => self.life.working(limits, now, |tool| self.title(tool)),
        }
    }

    fn title(&self, tool: &str) -> String {
        self.tools.get(tool).filter(|title| !title.is_empty()).cloned().unwrap_or_else(|| "a tool".to_owned())
    }

    fn look(&self, limits: &Limits, now: Millis) -> Look {
        let life = &self.life;
        if let Some(retry) = &life.retry {
            let ms = now.saturating_sub(retry.since);
            let why = format!("no answer after {} of retries ({retry}): {}", duration(ms), retry.why);
            let (limit, failure) = (limits.retry_ms, retry.failure);
            return if ms >= limit { Look::Fail { limit, failure, why } } else { Look::Fine };
        }
        let state = self.life.working(limits, now, |tool| self.title(tool)).to_string();
        if let Some((_, asked)) = &life.permission {
            let ms = now.saturating_sub(*asked).min(life.quiet_ms(now));
            return judge(ms, limits.permission_ms, "permission_wait", state, |state| {
                format!("the agent does not continue: {state}")
            });
        }
        match life.oldest_tool(now) {
            Some((tool, ms)) => self.look_at_tool(tool, ms, &state, limits, now),
            None => self.look_at_thinking(&state, limits, now),
        }
    }

    fn look_at_tool(&self, tool: &str, ms: u64, state: &str, limits: &Limits, now: Millis) -> Look {
        // A server in the background runs for as long as the agent likes: only one that the agent is silent for counts.
        let ms = ms.min(self.life.quiet_ms(now));
        let (still, dead) = (self.life.still_ms(now), self.life.dead_tool_ms(limits));
        if still >= dead {
            return Look::End { limit: dead, why: format!("the tool hangs: {state}") };
        }
        if ms >= limits.tool_ms {
            let why = format!("`{}` ran for {} and the agent wrote no byte", self.title(tool), duration(ms));
            return Look::End { limit: limits.tool_ms, why };
        }
        if still >= dead / 2 {
            return Look::Tell { code: "tool_silent", text: state.to_owned() };
        }
        if ms >= limits.tool_warning_ms {
            return Look::Tell { code: "tool_long", text: state.to_owned() };
        }
        Look::Fine
    }

    fn look_at_thinking(&self, state: &str, limits: &Limits, now: Millis) -> Look {
        let (still, quiet) = (self.life.still_ms(now), self.life.quiet_ms(now));
        if still >= limits.idle_ms / 2 {
            return judge(still, limits.idle_ms, "silent", state.to_owned(), |state| {
                format!("the agent was {state}")
            });
        }
        judge(quiet, limits.thinking_ms, "thinking_long", String::new(), |_| {
            format!("the agent has not written a byte for {}, though its processes are busy", duration(quiet))
        })
    }
}

fn judge(ms: u64, limit: u64, code: &'static str, state: String, why: impl Fn(&str) -> String) -> Look {
    if ms >= limit {
        Look::End { limit, why: why(&state) }
    } else if ms >= limit / 2 {
        let text = if state.is_empty() { why(&state) } else { state };
        Look::Tell { code, text: format!("{text}; its session is ended at {}", duration(limit)) }
    } else {
        Look::Fine
    }
}
