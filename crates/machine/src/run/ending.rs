//! How a run ends: by its gates, by a limit, by a person.

use super::{After, Doing, EndReason, Phase, Run, Then};
use crate::{Asked, Depth, Effect, Limit, Notice, Outcome, StopHow, Timer, Verdict, WorkState};

/// The outcome of a stop that a person asked for.
pub(super) fn interrupted() -> Outcome {
    Outcome { interrupted: true, ..Outcome::new(Verdict::Stopped, "interrupted") }
        .advise("`segue resume` continues")
}

impl Run {
    /// Saves the work for the last time, then ends the session, then the run.
    pub(super) fn save(&mut self, outcome: Outcome, out: &mut Vec<Effect>) {
        self.view.phase = Phase::Saving;
        let success = outcome.verdict.is_success();
        let on_failure = self.view.spec.as_ref().is_some_and(|s| s.git.commit_on_failure);
        let status = if success { "completed" } else { "failed" }.to_owned();
        self.view.outcome = Some(outcome);
        self.work_is_saved = true;
        out.push(Effect::SaveWork { status, commit: success || on_failure });
    }

    pub(super) fn work_saved(&mut self, work: &WorkState, out: &mut Vec<Effect>) {
        self.view.head = work.head.clone().or(self.view.head.take());
        if self.view.phase != Phase::Saving || self.ending.is_some() {
            return;
        }
        if let Some(trouble) = &work.trouble {
            Self::warn("git", trouble.clone(), out);
        }
        self.branches_changed(work, out);
        let Some(outcome) = self.view.outcome.clone() else { return };
        let reason = match outcome.verdict {
            Verdict::Verified | Verdict::Unverified | Verdict::NeedsInput => EndReason::Finished,
            Verdict::Failed | Verdict::Stopped => EndReason::Stopped,
        };
        self.end_session(reason, After::Finish(outcome), out);
    }

    pub(super) fn finish_now(&mut self, outcome: Outcome, out: &mut Vec<Effect>) {
        if !self.looks_once_more(&outcome, out) {
            self.end_run(outcome, out);
        }
    }

    /// The run is over.
    pub(super) fn end_run(&mut self, outcome: Outcome, out: &mut Vec<Effect>) {
        self.stop_waiting(out);
        self.view.phase = Phase::Finished;
        self.view.finished_at = Some(self.now);
        self.ask = None;
        self.side = None;
        self.taking = None;
        self.ending = None;
        let promises = self.view.spec.as_ref().is_some_and(|s| s.policy.handoff_file);
        if promises && outcome.resumable() {
            out.push(Effect::WriteHandoffFile { reason: outcome.reason.clone() });
        }
        out.push(Effect::ClearTimer { timer: Timer::Deadline });
        self.view.outcome = Some(outcome.clone());
        out.push(Effect::Finish(outcome));
    }

    pub(super) fn stop(&mut self, how: StopHow, out: &mut Vec<Effect>) {
        if let Some(outcome) = self.gates.last_look.take() {
            return self.end_run(outcome, out);
        }
        let again = std::mem::replace(&mut self.stop_asked, true);
        if how == StopHow::AtOnce || again {
            return self.finish_at_once(interrupted(), out);
        }
        self.wind_down(interrupted(), true, out);
    }

    /// How the run continues beyond its deadline, at least until then: with twice the time.
    pub(super) fn more_time(&self, until: crate::Millis) -> String {
        let needed = until.saturating_sub(self.view.started_at);
        let twice = self.limits().deadline_ms.unwrap_or(0).max(needed).saturating_mul(2);
        let minutes = twice.div_ceil(60_000).max(1);
        let time = if minutes < 120 { format!("{minutes}m") } else { format!("{}h", minutes.div_ceil(60)) };
        format!("`segue resume --deadline {time}` continues with more time")
    }

    pub(super) fn deadline_passed(&mut self, out: &mut Vec<Effect>) {
        if self.view.phase == Phase::Saving {
            return;
        }
        let ms = self.limits().deadline_ms.unwrap_or(0);
        self.limit_reached(Limit::Deadline, &format!("{}s", ms / 1_000), out);
        let outcome = Outcome::new(Verdict::Stopped, "the deadline of the run has passed")
            .because_of(Limit::Deadline)
            .advise(self.more_time(self.now));
        self.wind_down(outcome, false, out);
        let leaves = self.leaves_by_side() && self.taking.is_none() && self.ending.is_none();
        if let Some(question) = self.side.take_if(|_| leaves) {
            return self.take(question.asked, None, question.then, out);
        }
        self.ask_timed_out(out);
    }

    pub(super) fn limit_reached(&self, limit: Limit, value: &str, out: &mut Vec<Effect>) {
        out.push(Effect::Announce(Notice::LimitReached { limit, value: value.to_owned() }));
    }

    /// Ends the run with a checkpoint.
    pub(super) fn finish_with_checkpoint(&mut self, why: &str, outcome: Outcome, out: &mut Vec<Effect>) {
        let asked = Asked { depth: Depth::Full, stage: None, reason: why.to_owned() };
        if self.is_winding_down() || self.taking.is_some() || self.ask.is_some() || self.leaves_by_side() {
            return self.wind_down(outcome, false, out);
        }
        self.take(asked, None, Then::Finish(outcome, EndReason::Stopped), out);
    }

    pub(super) fn is_winding_down(&self) -> bool {
        let finishes = |then: &Then| matches!(then, Then::Finish(..));
        self.ending.is_some()
            || self.view.phase == Phase::Saving
            || self.taking.as_ref().is_some_and(finishes)
            || self.ask.as_ref().is_some_and(|a| finishes(&a.then))
            || self.side.as_ref().is_some_and(|s| finishes(&s.then))
    }

    // Whatever is under way is finished first and then leads to the end instead of to the next session.
    pub(super) fn wind_down(&mut self, outcome: Outcome, ask: bool, out: &mut Vec<Effect>) {
        if let Some(ending) = self.ending.as_mut() {
            if !matches!(ending.after, After::Finish(_)) {
                ending.after = After::Finish(outcome);
            }
            return;
        }
        if self.is_winding_down() || self.gates.last_look.is_some() {
            return;
        }
        // The work was saved before the wait began.
        if self.view.phase == Phase::Waiting {
            self.stop_waiting(out);
            return self.end_session(EndReason::Stopped, After::Finish(outcome), out);
        }
        let then = Then::Finish(outcome.clone(), EndReason::Stopped);
        if let Some(taking) = self.taking.as_mut() {
            *taking = then;
            return;
        }
        if let Some(pending) = self.ask.as_mut() {
            pending.then = then;
            return;
        }
        if ask && self.side.is_some() {
            self.lead_side_to(then);
            return;
        }
        let asked = Asked { depth: Depth::Full, stage: None, reason: outcome.reason.clone() };
        match (&self.view.session, self.view.phase) {
            (None, _) if self.view.sessions == 0 => self.finish_now(outcome, out),
            (Some(session), _) if session.doing == Doing::Starting => self.finish_at_once(outcome, out),
            (Some(_), Phase::Working) if ask => self.begin(asked, then, out),
            _ => {
                self.view.phase = Phase::Working;
                self.take(asked, None, then, out);
            }
        }
    }
}
