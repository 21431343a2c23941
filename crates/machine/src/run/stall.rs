//! Whether the agent at work still lives, and what is done when it does not.

use super::{Doing, EndReason, HandoffKind, Phase, Replace, Run};
use crate::{Effect, Limit, Outcome, Timer, Verdict};

impl Run {
    pub(super) fn look_for_stall(&mut self, quiet_ms: u64, out: &mut Vec<Effect>) {
        let limits = self.limits();
        let Some(session) = &self.view.session else { return };
        let limit = if session.tools.is_empty() { limits.idle_ms } else { limits.tool_ms };
        let waits_for_agent = matches!(session.doing, Doing::Working | Doing::Starting | Doing::Asked);
        let watched = self.view.phase == Phase::Working && waits_for_agent && self.taking.is_none();
        if !watched || quiet_ms < limit {
            let wait = if watched { limit - quiet_ms } else { limit };
            out.push(Effect::SetTimer { timer: Timer::Idle, at: self.now.saturating_add(wait.max(1_000)) });
            return;
        }
        let starting = session.doing == Doing::Starting;
        self.limit_reached(Limit::Stall, &format!("{}s", limit / 1_000), out);
        let why = format!("the agent was silent for {} s", quiet_ms / 1_000);
        if starting {
            self.choose_fallback();
            if self.fallback.is_some() {
                let reason = format!("{why} and never became ready");
                let (kind, end) = (HandoffKind::Fallback, EndReason::Stalled);
                return self.replace_now(Replace { kind, reason, end, counts: false }, out);
            }
            let outcome = Outcome::new(Verdict::Failed, format!("{why} and never became ready"));
            return self.finish_at_once(outcome.because_of(Limit::Stall), out);
        }
        // A tool that hangs would hold up the end of its session.
        if let Some(session) = self.view.session.as_mut() {
            session.tools.clear();
        }
        self.turn_failed(EndReason::Stalled, &why, out);
    }
}
