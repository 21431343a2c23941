//! How a turn ends, and what follows when it did not end well.

use super::{After, Doing, EndReason, HandoffKind, Replace, Run, Then};
use crate::{AgentFailure, Asked, Depth, Effect, EndHow, Limit, Outcome, Timer, TurnEnd, Verdict};

impl Run {
    pub(super) fn turn_ended(&mut self, end: &TurnEnd, out: &mut Vec<Effect>) {
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
        self.learn_from(end, out);
        if self.ending.is_some() {
            return self.send_end(EndHow::Gently, out);
        }
        if let TurnEnd::Failed { message, .. } = end
            && !self.helper_works()
        {
            self.note_failure(false, message);
        }
        if let TurnEnd::Finished { text } = end {
            self.take_words(text);
            self.keep_volunteered(text);
        }
        // Codex asks its guard before it compacts, and that ends the turn.
        let (full, replaced) = (self.must_replace_at_turn_end(), self.replaced_here());
        if let Some(then) = self.taking.as_mut() {
            match (end, &*then) {
                (TurnEnd::Finished { .. }, Then::GoOn | Then::Replace(_)) => *then = Then::Gate,
                (TurnEnd::Cancelled, Then::GoOn) if full => *then = replaced,
                (TurnEnd::Failed { failure, message, .. }, Then::GoOn) if *failure != AgentFailure::Other => {
                    *then = Then::Recover(message.clone());
                }
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
        if self.helper_works() {
            return self.helper_ended(end, out);
        }
        if !self.phase_is_working() {
            return;
        }
        match end {
            TurnEnd::Finished { .. } => self.completed(out),
            TurnEnd::Cancelled if self.leaves_by_side() => {}
            TurnEnd::Cancelled if self.ask.as_ref().is_some_and(|ask| !ask.sent) => self.ask_the_stopped(out),
            TurnEnd::Cancelled if self.ask.is_some() => {
                self.ask.iter_mut().for_each(|ask| ask.answering = true);
                self.start_ask_timer(out);
            }
            TurnEnd::Cancelled if self.unanswered => self.set_doing(Doing::Asked),
            TurnEnd::Cancelled if full => self.hand_over_here(out),
            TurnEnd::Cancelled => {
                self.turn_failed(EndReason::Failed, "the agent cancelled its own turn", out)
            }
            TurnEnd::Overflow { message } => self.overflowed(message, out),
            TurnEnd::Failed { failure, message, .. } => self.agent_failed(*failure, message, out),
        }
    }

    // The answer to the question for a status line belongs to the words before it.
    fn take_words(&mut self, text: &str) {
        if self.helper_works() {
            self.last_words.clear();
            self.last_words.push_str(text);
            return;
        }
        if self.status_asked {
            self.last_words.push_str("\n\n");
        } else {
            self.last_words.clear();
        }
        self.last_words.push_str(text);
        self.view.keep_message(&self.last_words);
        self.one_shot = self.view.session.as_ref().is_some_and(|session| !session.can.follow_up);
    }

    // The turn ended with completion before the request reached it: completed work is gated, not replaced (T3).
    fn completed(&mut self, out: &mut Vec<Effect>) {
        self.set_doing(Doing::Idle);
        if matches!(self.side.as_ref().map(|s| &s.then), Some(Then::Finish(..))) {
            return;
        }
        self.keep_side_as_early();
        if let Some(pending) = self.ask.take() {
            out.push(Effect::ClearTimer { timer: Timer::Ask });
            if let Then::Finish(..) = pending.then {
                return self.take(pending.asked, None, pending.then, out);
            }
        }
        if self.volunteered_at_the_line() {
            return self.hand_over_here(out);
        }
        self.gate(out);
    }

    fn overflowed(&mut self, message: &str, out: &mut Vec<Effect>) {
        Self::warn("overflow", format!("the context no longer fits: {message}"), out);
        let Some(spec) = &self.view.spec else { return };
        let could = spec.policy.stages.iter().any(crate::policy::Stage::replaces);
        if could && !self.replacing_is_off() && self.is_fresh() {
            let what = format!("the first prompt of a fresh session does not fit its window: {message}");
            return self.too_much(what, None, EndReason::Overflow, out);
        }
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
                .advise("`segue resume` continues in a fresh session")
        };
        self.finish_after_failure("overflow", outcome, EndReason::Overflow, out);
    }

    /// The session is of no more use: save what there is and go on in a fresh one, within the limits.
    pub(super) fn turn_failed(&mut self, end: EndReason, why: &str, out: &mut Vec<Effect>) {
        if end != EndReason::Overflow {
            self.note_failure(false, why);
        }
        if end != EndReason::Overflow && self.circles.stayed() {
            self.choose_fallback();
        }
        let kind = if self.fallback.is_some() { HandoffKind::Fallback } else { HandoffKind::Restart };
        let counts = end == EndReason::Overflow;
        let mut then = Then::Replace(Replace { kind, reason: why.to_owned(), end, counts });
        let mut asked = Asked { depth: Depth::Emergency, stage: None, reason: why.to_owned() };
        if let Some((for_what, finish @ Then::Finish(..))) = self.withdraw_request(out) {
            (asked, then) = (for_what, finish);
        }
        let passive = self
            .view
            .spec
            .as_ref()
            .is_some_and(|s| !s.policy.stages.iter().any(crate::policy::Stage::replaces));
        if passive && matches!(then, Then::Replace(_)) {
            let outcome =
                Outcome::new(Verdict::Failed, why).advise("`segue resume` continues in a fresh session");
            then = Then::Finish(outcome, end);
        }
        self.take(asked, None, then, out);
    }

    pub(super) fn finish_after_failure(
        &mut self,
        why: &str,
        outcome: Outcome,
        end: EndReason,
        out: &mut Vec<Effect>,
    ) {
        self.withdraw_request(out);
        let asked = Asked { depth: Depth::Emergency, stage: None, reason: why.to_owned() };
        self.take(asked, None, Then::Finish(outcome, end), out);
    }

    /// Ends the run as soon as the session is gone.
    pub(super) fn finish_at_once(&mut self, outcome: Outcome, out: &mut Vec<Effect>) {
        self.ask = None;
        self.side = None;
        self.taking = None;
        if self.view.session.is_none() {
            return self.finish_now(outcome, out);
        }
        self.ending = Some(super::Ending {
            hears_out: false,
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
