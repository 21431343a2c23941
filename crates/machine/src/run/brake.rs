//! The brake: an agent that asks after each tool is stopped before a result that would pass the ceiling is sent.

use super::{HandoffKind, Pending, Replace, Run, Then};
use crate::{Asked, Depth, Effect, EndReason, Timer};

impl Run {
    pub(super) fn brake(&mut self, n: u32, request: &str, tool: &str, chars: u64, out: &mut Vec<Effect>) {
        let stop = self.session_mut(n).is_some() && self.must_stop(tool, chars);
        out.push(Effect::AnswerBrake { request: request.to_owned(), stop });
        // While the gates run the turn is over: what is asked late replaces nothing.
        if stop && self.taking.is_none() && self.ending.is_none() && self.phase_is_working() {
            self.stop_before_the_wall(out);
        }
    }

    // A session that is on its way out makes no more calls; others stop only where the next call would not fit.
    fn must_stop(&mut self, tool: &str, chars: u64) -> bool {
        self.held.insert(tool.to_owned(), chars);
        let leaves = matches!(self.taking, Some(Then::Replace(_) | Then::Finish(..)));
        if leaves || self.ending.is_some() {
            return true;
        }
        let replaces =
            self.view.spec.as_ref().is_some_and(|s| s.policy.replaces()) && !self.replacing_is_off();
        let Some(gauge) = self.view.session.as_ref().map(|s| &s.gauge) else { return false };
        let (Some(projected), Some(ceiling)) = (gauge.projected(), gauge.ceiling()) else { return false };
        let held = gauge.ratio().tokens(self.held.values().sum());
        replaces && projected.saturating_add(held) > ceiling
    }

    // There is no room to ask, so segue writes the checkpoint; the agent has stopped, and its tool has ended.
    fn stop_before_the_wall(&mut self, out: &mut Vec<Effect>) {
        let reason =
            format!("the next call would pass the ceiling ({} before its last results)", self.fill_words());
        if let Some(Pending { asked, then, .. }) = self.ask.take() {
            out.push(Effect::ClearTimer { timer: Timer::Ask });
            return self.take(asked, None, then, out);
        }
        Self::warn("brake", reason.clone(), out);
        let asked = Asked { depth: Depth::Full, stage: None, reason: reason.clone() };
        let kind = HandoffKind::Restart;
        self.take(
            asked,
            None,
            Then::Replace(Replace { kind, reason, end: EndReason::Replaced, counts: true }),
            out,
        );
    }
}
