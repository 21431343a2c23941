//! What the run remembers, and what becomes of a verdict when the agent's words are not so.

use super::stated::Judging;
use super::{CheckpointRef, Phase, Run};
use crate::claims::{Finding, Judged};
use crate::ledger::Origin;
use crate::{Effect, GateResult, Outcome, Prompt, Verdict};

/// How often an agent is told that what it said is not so.
const CORRECTIONS: u32 = 1;

impl Run {
    /// Takes in what a checkpoint claims; what is not so is told.
    pub(super) fn remember(
        &mut self,
        checkpoint: &str,
        session: u32,
        judged: &[Judged],
        out: &mut Vec<Effect>,
    ) {
        let origin = Origin { checkpoint: Some(checkpoint.to_owned()), ..self.origin(session) };
        self.view.ledger.merge(judged, &origin);
        Self::tell_contradicted(judged, out);
    }

    /// Somebody goes on from a checkpoint of their choice: what was remembered then is what is known.
    pub(super) fn adopt(&mut self, checkpoint: &CheckpointRef) {
        if let Some(ledger) = &checkpoint.ledger {
            self.view.ledger = (**ledger).clone();
        }
        self.covered = self.view.messages;
        self.checkpoint_stands(CheckpointRef { ledger: None, ..checkpoint.clone() });
    }

    pub(super) fn remember_note(&mut self, text: &str) {
        let origin = self.origin(self.view.sessions);
        self.view.ledger.note(text, &origin);
    }

    pub(super) fn remember_gate(&mut self, result: &GateResult) {
        self.view.gates_stale = false;
        self.view.gates_at.insert(result.gate.clone(), self.now);
        self.view.ledger.gate(result, self.now);
        self.view.gates.insert(result.gate.clone(), result.clone());
    }

    /// A gate ran for a checkpoint: that decides nothing, but it is the newest that is known.
    pub(super) fn gate_looked_at(&mut self, result: &GateResult) {
        // The verdict stands: what comes late is about no claim of this run.
        if self.view.phase == Phase::Saving {
            return;
        }
        if result.passed {
            self.progress.gate_green(&result.gate);
        }
        self.remember_gate(result);
    }

    /// Has the agent's last words judged; the verdict stands if none of them is contradicted.
    pub(super) fn judge_words(&mut self, outcome: Outcome, out: &mut Vec<Effect>) {
        if self.last_words.trim().is_empty() {
            return self.conclude(outcome, out);
        }
        self.judging = Some(Judging::Verdict(outcome));
        let (session, text) = (self.view.sessions, self.last_words.clone());
        out.push(Effect::JudgeWords { session, text, tree: false });
    }

    pub(super) fn words_judged(
        &mut self,
        session: u32,
        judged: &[Judged],
        tree: Option<&str>,
        out: &mut Vec<Effect>,
    ) {
        let busy = self.taking.is_some() || self.ending.is_some();
        if self.view.phase != Phase::Gating || busy || session != self.view.sessions {
            return;
        }
        if self.helper_is_judged() {
            return self.helper_judged(judged, tree, out);
        }
        let Some(judging) = self.judging.take() else { return };
        let origin = self.origin(session);
        self.view.ledger.merge(judged, &origin);
        let outcome = match judging {
            Judging::Verdict(outcome) => outcome,
            Judging::NotDone(left) => {
                Self::tell_contradicted(judged, out);
                return self.continue_work(&left, tree, out);
            }
            Judging::Ended => self.command_ended(tree),
        };
        let claims: Vec<Judged> =
            judged.iter().filter(|j| j.finding == Finding::Contradicted).cloned().collect();
        let Some(first) = claims.first() else {
            return self.conclude_or_settle(outcome, out);
        };
        Self::tell_contradicted(judged, out);
        if self.corrections < CORRECTIONS && self.can_follow_up() && !self.must_replace() {
            self.corrections += 1;
            let (round, of) = (self.corrections, CORRECTIONS);
            return self.follow_up(Prompt::ClaimsWrong { round, of, claims }, out);
        }
        // Gates decide, words do not: what is not so was shown and is not passed on.
        let strict = self.view.spec.as_ref().is_some_and(|spec| spec.strict_claims);
        if outcome.verdict == Verdict::Verified && !strict {
            return self.conclude_or_settle(outcome, out);
        }
        let reason = format!(
            "the agent's last message contains a false claim: \u{201c}{}\u{201d}, but {}",
            first.claim.text, first.evidence
        );
        let outcome = Outcome::new(Verdict::Failed, reason)
            .advise("look at the work with `segue show`, then `segue resume`");
        self.save(outcome, out);
    }

    fn conclude_or_settle(&mut self, outcome: Outcome, out: &mut Vec<Effect>) {
        if self.turned_red(&outcome) { self.settle_gates(out) } else { self.conclude(outcome, out) }
    }

    /// Facts that could not be collected are said beside the verdict: nothing was found wrong because nobody looked.
    pub(super) fn not_checked(&mut self, trouble: Option<&str>, out: &mut Vec<Effect>) {
        let Some(trouble) = trouble else { return };
        let text = format!("the agent's claims were not checked: {trouble}");
        if let Some(Judging::Verdict(outcome)) = self.judging.as_mut() {
            outcome.reason = format!("{}; {text}", outcome.reason);
        }
        Self::warn("not_checked", text, out);
    }

    // A gate that was run once more for these words, or for a second opinion, has the last one.
    fn turned_red(&self, outcome: &Outcome) -> bool {
        outcome.verdict == Verdict::Verified && self.view.gates.values().any(|g| !g.passed)
    }

    /// The verdict stands, unless a gate has turned red since it was given.
    pub(super) fn settle(&mut self, outcome: Outcome, out: &mut Vec<Effect>) {
        if self.turned_red(&outcome) { self.settle_gates(out) } else { self.save(outcome, out) }
    }

    /// Secrets were taken out: how many is told once a session, the rest is counted.
    pub(super) fn redacted(&mut self, count: u32, kinds: &[String], out: &mut Vec<Effect>) {
        self.view.redacted = self.view.redacted.saturating_add(u64::from(count));
        let text = format!("a secret was removed from what segue stores ({})", kinds.join(", "));
        self.warn_once("redacted", text, out);
    }

    pub(super) fn tell_contradicted(judged: &[Judged], out: &mut Vec<Effect>) {
        for wrong in judged.iter().filter(|j| j.finding == Finding::Contradicted) {
            let text = format!("the agent said \u{201c}{}\u{201d}, but {}", wrong.claim.text, wrong.evidence);
            Self::warn("contradicted", text, out);
        }
    }

    fn origin(&self, session: u32) -> Origin {
        let agent =
            self.view.session.as_ref().map_or_else(|| self.agent_name(self.agent), |s| s.agent.clone());
        Origin { checkpoint: None, session, agent, at: self.now }
    }
}
