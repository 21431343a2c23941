//! The brake: an agent that asks after each tool is stopped before a result that would pass the ceiling is sent.

use super::{HandoffKind, Pending, Replace, Run, SessionView, Then};
use crate::{Asked, Depth, Effect, EndReason, Timer};

/// Room for the answer of a call whose results are counted as if they were very dense.
const ANSWER: u64 = 2_000;

impl Run {
    pub(super) fn brake(&mut self, n: u32, request: &str, tool: &str, chars: u64, out: &mut Vec<Effect>) {
        let ours = self.session_mut(n).is_some();
        let wall = ours && self.meets_the_wall(tool, chars);
        let stop = wall || (ours && self.is_on_its_way_out());
        out.push(Effect::AnswerBrake { request: request.to_owned(), stop });
        if wall && self.phase_is_working() && self.taking.is_none() && self.ending.is_none() {
            self.stop_before_the_wall(out);
        }
    }

    // An agent that was asked for a checkpoint or is being replaced need not pay for one more call first; the call that
    // makes the checkpoint is the one to be let through.
    fn is_on_its_way_out(&self) -> bool {
        let leaves = matches!(self.taking, Some(Then::Replace(_) | Then::Finish(..)));
        leaves || self.ask.as_ref().is_some_and(|ask| !ask.answering) || self.ending.is_some()
    }

    fn meets_the_wall(&mut self, tool: &str, chars: u64) -> bool {
        self.held.insert(tool.to_owned(), chars);
        let replaces =
            self.view.spec.as_ref().is_some_and(|s| s.policy.replaces()) && !self.replacing_is_off();
        let Some(session) = self.view.session.as_ref() else { return false };
        let chars = self.held.values().sum();
        let Some(ceiling) = session.gauge.ceiling() else { return false };
        let next = if session.can.brake {
            // The call that makes the checkpoint answers with no more than there is room for.
            let usual = ANSWER.min(ceiling / 20);
            let answer = self.ask.as_ref().map_or(usual, |ask| ask.asked.depth.room());
            self.at_most(session).map(|most| most.saturating_add(answer))
        } else {
            let held = session.gauge.ratio().tokens(chars);
            session.gauge.projected().map(|projected| projected.saturating_add(held))
        };
        replaces && next.is_some_and(|next| next > ceiling)
    }

    /// What the next call holds at most, with results that have not come through the agent's own stream.
    pub(super) fn at_most(&self, session: &SessionView) -> Option<u64> {
        session.gauge.at_most(self.held.values().copied())
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
