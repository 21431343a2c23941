//! Gates: what they said before the work, and what follows from what they say after it.

use super::{Doing, EndReason, HandoffKind, Phase, Replace, Run, Then};
use crate::{
    Asked, Depth, Effect, GateResult, GateWhen, Limit, Outcome, Prompt, SessionReason, Timer, Verdict,
};

/// Rounds that show progress are not counted, but there may be no more than so many times the limit.
const MOST_ROUNDS: u32 = 10;

impl Run {
    /// Runs the gates before the first session, so that green afterwards means something.
    pub(super) fn gates_before(&mut self, out: &mut Vec<Effect>) {
        self.view.phase = Phase::GatesBefore;
        if !self.run_gates(GateWhen::Before, out) {
            self.start_session(SessionReason::First, out);
        }
    }

    /// The agent says that it is done: running the gates.
    pub(super) fn gate(&mut self, out: &mut Vec<Effect>) {
        if self.next_part().is_some() {
            return self.part_done(out);
        }
        let none = self.view.spec.as_ref().is_none_or(|s| s.gates.is_empty());
        self.view.phase = Phase::Gating;
        self.count_idle_round();
        if let Some(outcome) = self.gave_up() {
            return self.save(outcome, out);
        }
        if none {
            if self.words_lack_something(out) {
                return;
            }
            return match self.wants_input() {
                Some(outcome) => self.judge_words(outcome, out),
                None => self.settle_statement(None, out),
            };
        }
        self.view.round += 1;
        if !self.run_gates(GateWhen::After, out) {
            self.settle_gates(out);
        }
    }

    /// Whether there was any gate to run.
    pub(super) fn run_gates(&mut self, when: GateWhen, out: &mut Vec<Effect>) -> bool {
        let gates = self.view.spec.iter().flat_map(|s| &s.gates);
        let gates = gates.filter(|g| !(g.manual || g.after_only && when == GateWhen::Before));
        self.gates.pending = gates.map(|g| g.name.clone()).collect();
        let any = !self.gates.pending.is_empty();
        if any {
            self.view.gate_changes.clear();
            let round = if when == GateWhen::Before { 0 } else { self.view.round };
            out.push(Effect::RunGates { when, round });
        }
        any
    }

    pub(super) fn gate_finished(&mut self, result: &GateResult, out: &mut Vec<Effect>) {
        if result.when == GateWhen::Checkpoint {
            return self.gate_looked_at(result);
        }
        let phase = if result.when == GateWhen::Before { Phase::GatesBefore } else { Phase::Gating };
        if self.view.phase != phase || self.taking.is_some() || !self.gates.pending.remove(&result.gate) {
            return;
        }
        let name = result.gate.clone();
        if result.passed {
            self.gates.newly_green |= self.progress.gate_green(&name) && result.when == GateWhen::After;
            self.seen_green(&name);
        }
        self.remember_gate(result);
        if !self.gates.pending.is_empty() || self.ending.is_some() {
            return;
        }
        if result.when == GateWhen::After {
            return self.settle_gates(out);
        }
        let unasked = self.view.spec.iter().flat_map(|s| &s.gates).any(|g| g.after_only);
        self.gates.green_before = !unasked && self.view.gates.values().all(|g| g.passed);
        let tree = self.gates.tree.take();
        self.gates.failed_on.extend(tree.filter(|_| !self.gates.green_before));
        self.progress.settle();
        self.start_session(SessionReason::First, out);
    }

    pub(super) fn gates_began(&mut self, tree: Option<&String>) {
        self.gates.tree = tree.cloned();
        self.view.gates_tree = tree.cloned();
    }

    /// Before a limit ends the run the gates are asked once more: work that passes them is done, whatever was left of the
    /// limit. Whether they were asked.
    pub(super) fn looks_once_more(&mut self, outcome: &Outcome, out: &mut Vec<Effect>) -> bool {
        let Some(spec) = &self.view.spec else { return false };
        // Green before shows nothing, a person's gate cannot be asked, strict claims want the agent's words too, and a
        // round of gates has just failed.
        let ends = matches!(outcome.verdict, Verdict::Stopped | Verdict::Failed);
        let pointless = !ends
            || self.gates.green_before
            || spec.strict_claims
            || spec.gates.iter().any(|gate| gate.manual)
            || outcome.limit == Some(Limit::GateRounds)
            || (outcome.limit == Some(Limit::NoProgress) && self.idle_rounds > 0);
        if outcome.limit.is_none() || pointless || self.view.sessions == 0 || self.view.session.is_some() {
            return false;
        }
        self.view.round += 1;
        if !self.run_gates(GateWhen::After, out) {
            return false;
        }
        self.stop_waiting(out);
        self.view.phase = Phase::Gating;
        (self.ask, self.taking, self.ending) = (None, None, None);
        out.push(Effect::ClearTimer { timer: Timer::Deadline });
        self.gates.last_look = Some(outcome.clone());
        true
    }

    pub(super) fn settle_gates(&mut self, out: &mut Vec<Effect>) {
        let failed: Vec<GateResult> = self.view.gates.values().filter(|g| !g.passed).cloned().collect();
        if let Some(outcome) = self.gates.last_look.take() {
            if !failed.is_empty() {
                return self.end_run(outcome, out);
            }
            let reason = format!("all gates pass ({} when they were asked)", outcome.reason);
            return self.save(Outcome::new(Verdict::Verified, reason), out);
        }
        if failed.is_empty() { self.gates_green(out) } else { self.gates_red(failed, out) }
    }

    fn gates_green(&mut self, out: &mut Vec<Effect>) {
        let open = self
            .view
            .items
            .map_or_else(|| self.view.spec.as_ref().map_or(0, |s| s.task.open_items), |(open, _)| open);
        if self.gates.green_before && open > 0 && !self.gates.asked_again && self.can_follow_up() {
            self.gates.asked_again = true;
            return self.follow_up(Prompt::GreenBefore { open }, out);
        }
        if self.words_lack_something(out) {
            return;
        }
        let manual = self.view.spec.iter().flat_map(|s| &s.gates).find(|g| g.manual);
        let outcome = if let Some(outcome) = self.wants_input() {
            outcome
        } else if let Some(outcome) = self.weakened() {
            outcome
        } else if let Some(gate) = manual {
            Outcome::new(Verdict::NeedsInput, format!("gate {} is manual and needs your decision", gate.name))
        } else if self.gates.green_before {
            Outcome::new(Verdict::Verified, "the gates passed before and after: they show no difference")
        } else {
            Outcome::new(Verdict::Verified, "all gates pass")
        };
        self.settle_statement(Some(outcome), out);
    }

    // A gate that the agent made pass is no proof.
    fn weakened(&self) -> Option<Outcome> {
        let change = self.view.gate_changes.iter().find(|change| change.stops)?;
        let file = change.files.first().map(|file| file.path.clone()).unwrap_or_default();
        let reason = format!("the agent changed what a gate runs: {}", change.sentence());
        let advice = format!(
            "look at the change to {file}; if you want it, set `may_change = true` on gate {} in segue.toml, then \
             `segue resume`",
            change.gate
        );
        Some(Outcome::new(Verdict::NeedsInput, reason).advise(advice))
    }

    pub(super) fn tell_kept(kept: &[String], out: &mut Vec<Effect>) {
        if !kept.is_empty() {
            let text = format!(
                "{} changed while a gate ran with the originals: not restored, the agent's version is in the run's folder",
                kept.join(", ")
            );
            Self::warn("gate_restored", text, out);
        }
    }

    pub(super) fn gates_red(&mut self, failed: Vec<GateResult>, out: &mut Vec<Effect>) {
        if let Some(outcome) = self.wants_input() {
            return self.save(outcome, out);
        }
        let of = self.limits().gate_rounds;
        self.count_round();
        if self.gates.counted >= of || self.view.round >= of.saturating_mul(MOST_ROUNDS) {
            self.limit_reached(Limit::GateRounds, &of.to_string(), out);
            let names: Vec<&str> = failed.iter().map(|g| g.gate.as_str()).collect();
            let (gates, fail) = if names.len() == 1 { ("gate", "fails") } else { ("gates", "fail") };
            let reason =
                format!("{gates} {} still {fail} after {} attempts", names.join(", "), self.view.round);
            let outcome = Outcome::new(Verdict::Failed, reason)
                .because_of(Limit::GateRounds)
                .advise("look at the gate's output with `segue show --gates`");
            return self.save(outcome, out);
        }
        if let Some(outcome) = self.stuck(out) {
            return self.save(outcome, out);
        }
        if self.can_follow_up() && !self.must_replace_at_turn_end() {
            let names: Vec<&str> = failed.iter().map(|g| g.gate.as_str()).collect();
            let round = self.gates.counted.max(1);
            let reason = format!("gates fail, attempt {round} of {of}: {}", names.join(", "));
            self.decide_to_continue(reason, out);
            return self.follow_up(Prompt::GatesFailed { round, of, failed }, out);
        }
        self.gates.failed = failed;
        self.view.phase = Phase::Working;
        let asked = Asked { depth: Depth::Full, stage: None, reason: "gates failed".to_owned() };
        if self.view.session.is_none() {
            return self.take(asked, None, Then::Start(SessionReason::Restart), out);
        }
        let counts = self.must_replace_at_turn_end();
        let reason = if counts { self.fill_words() } else { "gates failed".to_owned() };
        let replace = Replace { kind: HandoffKind::Restart, reason, end: EndReason::Replaced, counts };
        self.begin(asked, Then::Replace(replace), out);
    }

    // Work that moved since the gates last failed is not a round lost, but a loop's iterations are all counted. Without git
    // there is nothing to see progress by.
    fn count_round(&mut self) {
        let loops = self.view.spec.as_ref().is_some_and(|spec| spec.last_words.word.is_some());
        let newly_green = std::mem::take(&mut self.gates.newly_green);
        let moved = self.gates.tree.take().is_some_and(|tree| self.gates.failed_on.insert(tree));
        self.gates.counted += u32::from(loops || (!moved && !newly_green));
    }

    pub(super) fn can_follow_up(&self) -> bool {
        self.view.session.as_ref().is_some_and(|s| s.can.follow_up && s.doing == Doing::Idle)
    }

    pub(super) fn follow_up(&mut self, prompt: Prompt, out: &mut Vec<Effect>) {
        self.view.phase = Phase::Working;
        self.status_asked = prompt == Prompt::AskStatus;
        self.question.take_if(|_| !self.status_asked);
        let Some(session) = &self.view.session else { return };
        out.push(Effect::SendPrompt { session: session.n, prompt });
    }
}
