//! Side questions: the agent is asked for a checkpoint beside its work, and answers from the conversation as it stands.
//!
//! One question at a time. The worker is told nothing and works on; only a hook that asks whether it may go on is held
//! while the answer decides that.

use serde::{Deserialize, Serialize};

use super::{Doing, HandoffKind, Replace, Run, Then};
use crate::checkpoint::complete_block;
use crate::{Asked, CheckpointHow, Depth, Effect, EndReason, Millis, Notice, Timer, WordsSource};

/// From this share of an allowance on no side question is put.
const NEARLY_USED: u32 = 90;

/// A side question that is not answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SideQuestion {
    id: String,
    pub(super) asked: Asked,
    pub(super) then: Then,
    /// Asked ahead of time: without an answer nothing follows.
    early: bool,
    retried: bool,
    mark: Mark,
}

/// A moment of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    call: u32,
    tools: u64,
    messages: u64,
    at: Millis,
}

/// What the agent itself wrote about where its work stands.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Words {
    pub(super) text: String,
    how: CheckpointHow,
    pub(super) mark: Mark,
}

impl Words {
    /// Where they come from, for the record.
    pub(super) fn source(&self, now: Millis) -> WordsSource {
        let age_ms = Some(now.saturating_sub(self.mark.at));
        WordsSource { how: self.how, from_call: Some(self.mark.call), age_ms }
    }
}

impl Mark {
    /// Whether nothing was called or run between the two.
    pub(super) fn is_now(self, now: Self) -> bool {
        (self.call, self.tools) == (now.call, now.tools)
    }

    /// How many messages of the run had been said.
    pub(super) fn messages(self) -> u64 {
        self.messages
    }

    /// How many tools had ended in the session.
    pub(super) fn tools(self) -> u64 {
        self.tools
    }
}

impl Run {
    pub(super) fn mark(&self) -> Mark {
        let call = self.view.session.as_ref().map_or(0, |s| s.gauge.calls());
        Mark { call, tools: self.tools_ended, messages: self.view.messages, at: self.now }
    }

    /// What the agent says now.
    pub(super) fn words_now(&self, text: &str, how: CheckpointHow) -> Words {
        Words { text: text.to_owned(), how, mark: self.mark() }
    }

    /// Puts a side question, where that is possible; a question that is under way serves this purpose too.
    pub(super) fn ask_side(&mut self, asked: &Asked, then: &Then, out: &mut Vec<Effect>) -> bool {
        if self.side.is_some() {
            if !matches!(then, Then::GoOn) {
                self.lead_side_to(then.clone());
            }
            return true;
        }
        let possible = self.may_ask_side();
        if possible {
            self.put_side(asked.clone(), then.clone(), false, false, out);
        }
        possible
    }

    /// From here on the question that is under way leads to this.
    pub(super) fn lead_side_to(&mut self, then: Then) {
        if let Some(question) = self.side.as_mut() {
            (question.then, question.early) = (then, false);
        }
    }

    /// At the soft line, so that there are words of the agent whatever happens next.
    pub(super) fn ask_early(&mut self, out: &mut Vec<Effect>) {
        if self.side.is_some() || self.asked_early || !self.may_ask_side() {
            return;
        }
        self.asked_early = true;
        let asked =
            Asked { depth: Depth::Full, stage: Some("forecast".to_owned()), reason: "soft line".to_owned() };
        self.put_side(asked, Then::GoOn, true, false, out);
    }

    fn put_side(&mut self, asked: Asked, then: Then, early: bool, retried: bool, out: &mut Vec<Effect>) {
        let Some(session) = self.view.session.as_ref().map(|s| s.n) else { return };
        self.sides += 1;
        let id = format!("side-{}", self.sides);
        let at = self.ask_deadline();
        out.push(Effect::AskSide { session, id: id.clone(), asked: Some(asked.clone()) });
        let (depth, deadline) = (asked.depth, Some(at));
        out.push(Effect::Announce(Notice::CheckpointRequested { session, depth, deadline, side: true }));
        out.push(Effect::SetTimer { timer: Timer::Side, at });
        let mark = Mark { messages: self.given, ..self.mark() };
        self.side = Some(SideQuestion { id, asked, then, early, retried, mark });
    }

    /// Asks for a status line beside the conversation, where that is possible.
    pub(super) fn ask_status_side(&mut self, out: &mut Vec<Effect>) -> bool {
        let session = self.view.session.as_ref().map(|s| s.n);
        let Some(session) = session.filter(|_| self.side.is_none() && self.may_ask_side()) else {
            return false;
        };
        self.sides += 1;
        let id = format!("side-{}", self.sides);
        out.push(Effect::AskSide { session, id: id.clone(), asked: None });
        out.push(Effect::SetTimer { timer: Timer::Side, at: self.ask_deadline() });
        self.status_side = Some(id);
        true
    }

    fn may_ask_side(&self) -> bool {
        let Some(session) = &self.view.session else { return false };
        let used = self.view.allowances.values().any(|a| a.used_percent > NEARLY_USED);
        let refused = session.life.retry.is_some() || self.full_until.is_some_and(|at| at > self.now);
        session.can.side && matches!(session.doing, Doing::Working | Doing::Idle) && !used && !refused
    }

    /// Whether a side question decides what becomes of the session.
    pub(super) fn leaves_by_side(&self) -> bool {
        self.side.as_ref().is_some_and(|question| !matches!(question.then, Then::GoOn))
    }

    pub(super) fn side_answered(&mut self, id: &str, text: &str, out: &mut Vec<Effect>) {
        if self.status_side.take_if(|asked| asked == id).is_some() {
            return self.status_told(Some(text), out);
        }
        let Some(question) = self.side.take_if(|question| question.id == id) else { return };
        out.push(Effect::ClearTimer { timer: Timer::Side });
        let Some(block) = complete_block(text) else {
            return self.side_lost(question, "it contains no complete checkpoint", true, out);
        };
        let words = Words { text: block.to_owned(), how: CheckpointHow::Side, mark: question.mark };
        self.words = Some(words.clone());
        let goes_on = matches!(question.then, Then::GoOn);
        if !goes_on || (self.phase_is_working() && self.taking.is_none() && self.is_staying()) {
            self.take_with(question.asked, Some(words), question.then, out);
        }
    }

    pub(super) fn side_failed(&mut self, id: &str, why: &str, out: &mut Vec<Effect>) {
        if self.status_side.take_if(|asked| asked == id).is_some() {
            return self.status_told(None, out);
        }
        if let Some(question) = self.side.take_if(|question| question.id == id) {
            out.push(Effect::ClearTimer { timer: Timer::Side });
            self.side_lost(question, why, false, out);
        }
    }

    pub(super) fn side_timed_out(&mut self, out: &mut Vec<Effect>) {
        if self.status_side.take().is_some() {
            return self.status_told(None, out);
        }
        if let Some(question) = self.side.take() {
            self.side_lost(question, "it was not answered in time", false, out);
        }
    }

    // One retry, then inside the conversation; what was asked ahead of time is not worth an interruption. An agent that
    // nothing stops works on meanwhile: it is asked again only where its next calls fit, too.
    fn side_lost(&mut self, question: SideQuestion, why: &str, retry: bool, out: &mut Vec<Effect>) {
        let SideQuestion { asked, then, early, retried, .. } = question;
        let fits = early || matches!(then, Then::GoOn) || self.has_room_to_ask_again();
        if retry && !retried && fits && self.may_ask_side() {
            return self.put_side(asked, then, early, true, out);
        }
        Self::warn("side_question", format!("the side question failed: {why}"), out);
        if early || !self.is_staying() || self.taking.is_some() {
            return;
        }
        if !fits {
            return self.take(asked, None, then, out);
        }
        if self.hooks.is_empty() {
            return self.begin_in_band(asked, then, out);
        }
        self.release_hooks(true, out);
        self.stop_then_ask(asked, then, out);
    }

    fn has_room_to_ask_again(&self) -> bool {
        let Some(session) = &self.view.session else { return false };
        let next = session.forecast.growth_of(1).high;
        session.can.brake
            || session.doing == Doing::Idle
            || self.room() >= next.saturating_add(Depth::Full.room())
    }

    fn is_staying(&self) -> bool {
        self.ask.is_none() && self.ending.is_none()
    }

    /// Nobody waits for the answer any more.
    pub(super) fn drop_side(&mut self, out: &mut Vec<Effect>) {
        if self.side.take().is_some() {
            out.push(Effect::ClearTimer { timer: Timer::Side });
        }
    }

    /// The turn is over: what the question was to lead to is decided by what follows, its answer is still of use.
    pub(super) fn keep_side_as_early(&mut self) {
        if let Some(question) = self.side.as_mut().filter(|q| !matches!(q.then, Then::Finish(..))) {
            (question.then, question.early) = (Then::GoOn, true);
        }
    }

    /// A checkpoint that nobody asked for counts like one that somebody did.
    pub(super) fn keep_volunteered(&mut self, message: &str) {
        if let Some(block) = complete_block(message).filter(|_| !self.helper_works()) {
            self.words = Some(self.words_now(block, CheckpointHow::Volunteered));
        }
    }

    /// Whether the turn ended with a checkpoint above the soft line, and no gate can tell whether the work is done.
    pub(super) fn volunteered_at_the_line(&self) -> bool {
        let now = self.mark();
        let volunteered = |words: &Words| words.how == CheckpointHow::Volunteered && words.mark.is_now(now);
        let gates = self.view.spec.as_ref().is_some_and(|s| s.gates.iter().any(|g| !g.manual));
        !gates && self.words.as_ref().is_some_and(volunteered) && self.must_replace_at_turn_end()
    }

    pub(super) fn hand_over_here(&mut self, out: &mut Vec<Effect>) {
        let asked = Asked { depth: Depth::Full, stage: None, reason: self.fill_words() };
        let then = self.replaced_here();
        // A question that does not fit would be answered from a compacted conversation.
        if self.side.is_none() && self.room() == 0 {
            return self.take(asked, None, then, out);
        }
        self.begin(asked, then, out);
    }

    /// A fresh session, because this one is full.
    pub(super) fn replaced_here(&self) -> Then {
        let (kind, end) = (HandoffKind::Restart, EndReason::Replaced);
        Then::Replace(Replace { kind, reason: self.fill_words(), end, counts: true })
    }

    /// Leaves out the tools that these words know of.
    pub(super) fn forget_tools_before(&mut self, mark: Mark) {
        let known = self.tools_ended.saturating_sub(mark.tools());
        let keep = usize::try_from(known).unwrap_or(usize::MAX).min(self.view.tools_since.len());
        let from = self.view.tools_since.len() - keep;
        self.view.tools_since.drain(..from);
    }
}
