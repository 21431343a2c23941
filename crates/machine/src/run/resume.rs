//! Taking a run up again after its process died or its end was not the end.

use super::{After, EndReason, Phase, Run, Then};
use crate::{Asked, CheckpointRef, Depth, Effect, GateWhen, Outcome, RunSpec, SessionReason, Timer};

impl Run {
    /// Books what was in flight as lost and goes on from the last durable fact.
    pub(super) fn resume(
        &mut self,
        spec: Option<&RunSpec>,
        same_session: bool,
        orphans: u32,
        at: Option<&CheckpointRef>,
        out: &mut Vec<Effect>,
    ) {
        let over =
            self.view.outcome.as_ref().is_some_and(|o| self.view.phase == Phase::Finished && !o.resumable());
        if self.view.spec.is_none() || over {
            return;
        }
        if let Some(spec) = spec {
            self.limits_changed(spec);
            self.view.spec = Some(Box::new(spec.clone()));
            self.view.gates.retain(|name, _| spec.gates.iter().any(|g| g.name == *name && !g.manual));
            self.agent = self.agent.min(spec.agents.len().saturating_sub(1));
        }
        let was_checkpointing = self.taking.is_some();
        let crashed = self.view.session.is_some();
        self.close_session(EndReason::Lost, None, orphans, out);
        self.conversation = self.talk_after_crash(same_session, crashed);
        let ended = self.view.outcome.as_ref().map(|outcome| outcome.reason.clone());
        let why = ended.unwrap_or_else(|| "segue itself was killed or crashed".to_owned());
        self.continues = Some(why.clone());
        self.view.interrupted = Some(why);
        self.forget_what_was_in_flight();
        self.set_deadline(out);
        if let Some(at) = at.filter(|_| self.view.sessions > 0) {
            return self.go_back(at, out);
        }
        match self.view.phase {
            Phase::New => {}
            Phase::GatesBefore => self.gates_before(out),
            Phase::Gating => {
                if !self.run_gates(GateWhen::After, out) {
                    self.gate(out);
                }
            }
            Phase::Saving => match self.view.outcome.take() {
                Some(outcome) => self.save(outcome, out),
                None => self.take_up(was_checkpointing, out),
            },
            Phase::Working | Phase::Waiting | Phase::Finished => self.take_up(was_checkpointing, out),
        }
    }

    // Whoever goes back may have brought the files of that moment back too: only git knows what came after it.
    fn go_back(&mut self, at: &CheckpointRef, out: &mut Vec<Effect>) {
        self.adopt(at);
        self.view.tools_since.clear();
        self.view.outcome = None;
        (self.view.restarts, self.view.without_progress, self.view.round) = (0, 0, 0);
        self.gates.counted = 0;
        self.progress.trust();
        self.checkpoint_is_current = true;
        self.conversation = None;
        self.take_up(false, out);
    }

    fn take_up(&mut self, was_checkpointing: bool, out: &mut Vec<Effect>) {
        self.view.phase = Phase::Working;
        if self.deadline().is_some_and(|at| at <= self.now) {
            out.push(Effect::ClearTimer { timer: Timer::Deadline });
            return self.deadline_passed(out);
        }
        if self.view.sessions == 0 {
            return self.gates_before(out);
        }
        if self.checkpoint_is_current && !was_checkpointing {
            return self.start_session(SessionReason::Resume, out);
        }
        let asked = Asked { depth: Depth::Full, stage: None, reason: "resumed".to_owned() };
        self.take(asked, None, Then::Start(SessionReason::Resume), out);
    }

    // A person who resumes has looked: the counters that would stop the run at once begin anew.
    fn forget_what_was_in_flight(&mut self) {
        let was_saving =
            self.view.phase == Phase::Saving && self.view.outcome.as_ref().is_some_and(Outcome::resumable);
        let was_ending =
            was_saving || self.ending.as_ref().is_some_and(|e| matches!(e.after, After::Finish(_)));
        self.ask = None;
        self.side = None;
        self.words = None;
        self.hooks.clear();
        self.taking = None;
        self.judging = None;
        self.gates.last_look = None;
        self.helper = None;
        self.forget_failures();
        self.circles.forget();
        self.ending = None;
        self.stop_asked = false;
        self.denials.clear();
        self.trim = 0;
        self.view.waiting = None;
        if self.view.phase == Phase::Finished {
            self.view.outcome = None;
            self.view.finished_at = None;
        }
        if was_ending || self.view.phase == Phase::Finished {
            self.view.restarts = 0;
            self.view.without_progress = 0;
            self.progress.trust();
            self.view.failures = 0;
            (self.view.round, self.gates.counted) = (0, 0);
            self.objections = 0;
        }
    }
}
