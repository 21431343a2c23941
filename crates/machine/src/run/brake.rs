//! The brake: an agent that asks after each tool is stopped before a result that would pass the ceiling is sent. While its
//! hook waits for the answer, the agent can still be asked from the conversation without that result.

use super::{HandoffKind, Replace, Run, SessionView, Then};
use crate::{Asked, Depth, Effect, EndReason, MODEL_CALL, Timer};

/// Room for the answer of a call whose results are counted as if they were very dense.
const ANSWER: u64 = 2_000;

impl Run {
    pub(super) fn brake(&mut self, n: u32, request: &str, tool: &str, chars: u64, out: &mut Vec<Effect>) {
        let ours = self.session_mut(n).is_some();
        let stop = if ours { self.must_stop(tool, chars, out) } else { Some(false) };
        match stop {
            Some(stop) => out.push(Effect::AnswerBrake { request: request.to_owned(), stop }),
            None => self.hooks.push(request.to_owned()),
        }
    }

    // `None` while a side question or a checkpoint that is being written decides it.
    fn must_stop(&mut self, tool: &str, chars: u64, out: &mut Vec<Effect>) -> Option<bool> {
        self.held.insert(tool.to_owned(), chars);
        self.judge_next_call(out)
    }

    fn judge_next_call(&mut self, out: &mut Vec<Effect>) -> Option<bool> {
        if self.leaves_by_side() {
            return None;
        }
        let wall = self.meets_the_wall();
        if self.is_on_its_way_out() {
            if wall {
                self.withdraw_what_does_not_fit(out);
            }
            return Some(true);
        }
        if !self.phase_is_working() || self.ask.is_some() {
            return Some(wall);
        }
        if wall {
            return if self.taking.is_some() { None } else { self.stop_before_the_wall(out) };
        }
        Some(self.stop_to_ask_early(out))
    }

    /// A checkpoint that the work goes on after is written: hooks that waited for it are answered.
    pub(super) fn look_at_hooks(&mut self, out: &mut Vec<Effect>) {
        if self.hooks.is_empty() {
            return;
        }
        if let Some(stop) = self.judge_next_call(out) {
            self.release_hooks(stop, out);
        }
    }

    /// Answers every hook that waits, alike: the calls of one answer stop or go on together.
    pub(super) fn release_hooks(&mut self, stop: bool, out: &mut Vec<Effect>) {
        let hooks = std::mem::take(&mut self.hooks);
        out.extend(hooks.into_iter().map(|request| Effect::AnswerBrake { request, stop }));
    }

    // An agent that was asked for a checkpoint or is being replaced need not pay for one more call first; the call that
    // makes the checkpoint is the one to be let through.
    fn is_on_its_way_out(&self) -> bool {
        let leaves = matches!(self.taking, Some(Then::Replace(_) | Then::Finish(..)));
        leaves || self.ask.as_ref().is_some_and(|ask| !ask.answering) || self.ending.is_some()
    }

    fn meets_the_wall(&self) -> bool {
        let replaces =
            self.view.spec.as_ref().is_some_and(|s| s.policy.replaces()) && !self.replacing_is_off();
        let Some(session) = self.view.session.as_ref() else { return false };
        let chars = self.held.values().sum();
        let Some(ceiling) = session.gauge.ceiling() else { return false };
        let next = if session.can.brake {
            // The call that makes the checkpoint answers with no more than there is room for.
            let usual = ANSWER.min(ceiling / 20);
            let answer =
                self.ask.as_ref().map_or(usual, |ask| ask.asked.depth.room().saturating_sub(ask.words));
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

    // A request that waits for the end of the turn stays; one for which there will be no room is not waited for.
    fn withdraw_what_does_not_fit(&mut self, out: &mut Vec<Effect>) {
        let sent = self.ask.as_ref().is_some_and(|ask| ask.sent && !ask.answering);
        let fits = self.room() >= Depth::Emergency.room();
        if let Some(pending) = self.ask.take_if(|_| sent && !fits) {
            out.push(Effect::ClearTimer { timer: Timer::Ask });
            self.take(pending.asked, None, pending.then, out);
        }
    }

    // Without side questions the agent is asked inside its conversation, for which there may be no room after the next
    // results. It works on where that is worth the call.
    fn early_request(&self) -> Option<Then> {
        let (spec, session) = (self.view.spec.as_ref()?, self.view.session.as_ref()?);
        // Only a hook that is asked before each call guards the one after the answer, too.
        let guarded = session.can.brake && self.held.contains_key(MODEL_CALL);
        let asks = guarded && session.can.ask && !session.can.side;
        let free = !self.asked_early && self.taking.is_none() && self.ask.is_none() && !self.helper_works();
        if !asks || !free || !spec.policy.replaces() || self.replacing_is_off() {
            return None;
        }
        let ceiling = session.gauge.ceiling()?;
        let room = ceiling.saturating_sub(self.at_most(session)?).saturating_sub(Depth::Full.room());
        let next = session.forecast.growth_of(1);
        if room >= next.high {
            return None;
        }
        if room >= 3 * ANSWER.min(ceiling / 20) {
            return Some(Then::GoOn);
        }
        let (kind, end) = (HandoffKind::Restart, EndReason::Replaced);
        Some(Then::Replace(Replace { kind, reason: self.fill_words(), end, counts: true }))
    }

    fn stop_to_ask_early(&mut self, out: &mut Vec<Effect>) -> bool {
        let Some(then) = self.early_request() else { return false };
        self.asked_early = true;
        let reason =
            format!("after the next results there may be no room for a checkpoint ({})", self.fill_words());
        self.stop_then_ask(Asked { depth: Depth::Full, stage: None, reason }, then, out);
        true
    }

    // The side question is answered from what the call before held, so it fits whenever that did. An agent without side
    // questions is stopped, and asked when its turn has ended and the room is known.
    fn stop_before_the_wall(&mut self, out: &mut Vec<Effect>) -> Option<bool> {
        let reason =
            format!("the next call would pass the ceiling ({} before its last results)", self.fill_words());
        Self::warn("brake", reason.clone(), out);
        let asked = Asked { depth: Depth::Full, stage: None, reason: reason.clone() };
        let kind = HandoffKind::Restart;
        let then = Then::Replace(Replace { kind, reason, end: EndReason::Replaced, counts: true });
        if self.ask_side(&asked, &then, out) {
            return None;
        }
        self.stop_then_ask(asked, then, out);
        Some(true)
    }
}
