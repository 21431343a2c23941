//! What waits until the event that caused it is on disk.

use std::time::{Duration, Instant};

use segue_machine::Effect;

use super::{Driver, HANGS};
use crate::checkpoint::Situation;
use crate::crash::die;

/// One thing to be done, and what was known when it was decided.
#[derive(Debug)]
pub(super) struct Held {
    seq: u64,
    effect: Effect,
    situation: Option<Situation>,
}

impl Driver {
    /// Holds back what reaches anything outside; timers are the loop's own.
    pub(super) fn hold(&mut self, effects: Vec<Effect>, seq: u64) {
        for effect in effects {
            if let Effect::SetTimer { timer, at } = effect {
                self.timers.set(timer, at);
            } else if let Effect::ClearTimer { timer } = effect {
                self.timers.clear(timer);
            } else {
                let situation = needs_situation(&effect).then(|| self.situation()).flatten();
                self.held.push_back(Held { seq, effect, situation });
            }
        }
    }

    /// Carries out what events up to this one caused.
    pub(super) fn carry_out_held(&mut self, upto: u64) {
        while self.held.front().is_some_and(|held| held.seq <= upto)
            && let Some(Held { seq, effect, situation }) = self.held.pop_front()
        {
            self.carry_out(effect, situation, seq);
        }
    }

    /// When to do what is safe although the journal hangs.
    pub(super) fn hangs_from(&self) -> Option<tokio::time::Instant> {
        let oldest = self.book.oldest()?;
        self.held.iter().any(|held| self.is_safe(&held.effect)).then(|| (oldest + HANGS).into())
    }

    /// What only stops an agent is done before it is on disk: everything else has to wait.
    pub(super) fn do_what_is_safe(&mut self) {
        let held = std::mem::take(&mut self.held);
        for Held { seq, effect, situation } in held {
            if self.is_safe(&effect) {
                self.carry_out(effect, situation, seq);
            } else {
                self.held.push_back(Held { seq, effect, situation });
            }
        }
    }

    fn is_safe(&self, effect: &Effect) -> bool {
        // A session that is still to be started can only be ended after that.
        let at_work = |session: u32| self.live.as_ref().is_some_and(|live| live.n() == session);
        let stops = matches!(effect, Effect::AnswerBrake { stop: true, .. });
        let ends = matches!(effect, Effect::EndSession { session, .. } if at_work(*session));
        let refuses =
            matches!(effect, Effect::AnswerPermission { session, allow: false, .. } if at_work(*session));
        stops || ends || refuses
    }

    /// Dies right after an event is on disk and before what it caused, for tests.
    pub(super) fn crash_at(&mut self, seq: u64) {
        let until = Instant::now() + HANGS * 30;
        while self.book.oldest().is_some() && Instant::now() < until {
            self.store();
            if let Some(Ok(upto)) = self.book.stored_now() {
                self.book.said(upto).into_iter().for_each(|said| self.face.say(said));
                self.carry_out_held(upto.min(seq - 1));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        while !self.face.is_told() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        die();
    }
}

fn needs_situation(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::SendPrompt { .. }
            | Effect::TakeCheckpoint { .. }
            | Effect::JudgeWords { .. }
            | Effect::SaveWork { .. }
            | Effect::WriteHandoffFile { .. }
    )
}
