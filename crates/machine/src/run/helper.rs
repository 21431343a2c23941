//! A short second opinion before a run is called done: a read-only session that says whether the work is done.
//!
//! What it says is a claim like any other: held against the evidence, never enough for "verified", and worth nothing
//! when files changed while it looked. "Not done" goes back to the working agent as often as failed gates may.

use serde::{Deserialize, Serialize};

use super::{After, EndReason, HandoffKind, Phase, Replace, Run, Then};
use crate::checkpoint::cut_chars;
use crate::claims::{Finding, Judged};
use crate::ledger::Origin;
use crate::{
    AgentSpec, Asked, Choice, Considered, Depth, Effect, Notice, Outcome, Prompt, SessionReason, Timer,
    TurnEnd, Verdict,
};

/// How often the time for a checkpoint the helper may take.
const PATIENCE: u64 = 10;
/// How many tokens it may send and receive.
const TOKENS: u64 = 300_000;
/// How much of what it finds missing is passed on.
const MISSING_CHARS: usize = 2_000;

/// A second opinion that is under way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Helper {
    /// The verdict that was to be.
    outcome: Outcome,
    /// The work tree before it began.
    tree: Option<String>,
    /// Which of the agents for it.
    agent: usize,
    stage: Stage,
    said: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    Due,
    Works,
    Said,
    Judged,
}

/// What a helper says about the work.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Opinion {
    Done,
    NotDone(String),
    Unclear,
}

impl Run {
    /// The work is done as far as gates and words can tell: somebody else may have to look at it first.
    pub(super) fn conclude(&mut self, outcome: Outcome, out: &mut Vec<Effect>) {
        let any = self.view.spec.as_ref().is_some_and(|s| !s.next.verifiers.is_empty());
        let success = outcome.verdict.is_success();
        if !any || !success || self.helper_is_off || self.stop_asked {
            return self.settle(outcome, out);
        }
        let asked =
            Asked { depth: Depth::Brief, stage: None, reason: "asking for a second opinion".to_owned() };
        self.take(asked, None, Then::Verify(outcome), out);
    }

    /// Ends the session that says it is done and calls the helper.
    pub(super) fn call_helper(&mut self, outcome: Outcome, tree: Option<String>, out: &mut Vec<Effect>) {
        let (agent, considered) = self.helpers(0);
        if considered.iter().all(|one| one.verdict == Choice::Skipped) {
            let why = considered.iter().map(|one| format!("{} {}", one.agent, one.why)).collect::<Vec<_>>();
            Self::warn("no_opinion", format!("no second opinion: {}", why.join("; ")), out);
            return self.settle(outcome, out);
        }
        self.helper = Some(Helper { outcome, tree, agent, stage: Stage::Due, said: String::new() });
        let from_agent = self.agent_name(self.agent);
        let to_agent = self.helper_spec().map(|a| a.name.clone());
        out.push(Effect::Announce(Notice::HandoffDecided {
            from: self.view.sessions,
            from_agent,
            to_agent: to_agent.clone(),
            kind: HandoffKind::Helper,
            reason: "a second opinion before the work counts as done".to_owned(),
            checkpoint: self.view.checkpoint.as_ref().map(|c| c.id.clone()),
            considered,
        }));
        self.end_session(EndReason::Finished, After::Helper, out);
    }

    // The first agent for a second opinion, from this one on, that no open circuit stands against, and who was looked at.
    fn helpers(&self, from: usize) -> (usize, Vec<Considered>) {
        let all = self.view.spec.as_ref().map_or(&[][..], |spec| &spec.next.verifiers);
        let mut considered = Vec::new();
        for (index, spec) in all.iter().enumerate().skip(from) {
            let circuit = self.circuit_against(spec).filter(|circuit| circuit.is_open(self.now));
            let (verdict, why) = match circuit {
                Some(circuit) => (Choice::Skipped, circuit.words(self.now, &self.rules())),
                None => (Choice::Chosen, "it may read and not write".to_owned()),
            };
            considered.push(Considered { agent: spec.name.clone(), verdict, why });
            if verdict == Choice::Chosen {
                return (index, considered);
            }
        }
        (all.len(), considered)
    }

    /// The session before is gone: the helper begins, or what it said is looked at.
    pub(super) fn helper_turn(&mut self, out: &mut Vec<Effect>) {
        let Some(helper) = self.helper.as_mut() else { return };
        if helper.stage == Stage::Due {
            helper.stage = Stage::Works;
            if self.is_spent_up() {
                Self::warn("no_opinion", "no second opinion: a limit leaves no session for it", out);
                return self.helper_missing(out);
            }
            let Some(agent) = self.helper_spec().cloned() else { return self.helper_missing(out) };
            let at = self.now.saturating_add(self.limits().ask_timeout_ms.saturating_mul(PATIENCE));
            self.open_session(agent, SessionReason::Helper, out);
            return out.push(Effect::SetTimer { timer: Timer::Ask, at });
        }
        helper.stage = Stage::Judged;
        let text = helper.said.clone();
        out.push(Effect::JudgeWords { session: self.view.sessions, text, tree: true });
    }

    /// Whether the session at work is the helper's.
    pub(super) fn helper_works(&self) -> bool {
        let session = self.view.session.as_ref().is_some_and(|s| s.reason == SessionReason::Helper);
        session && self.helper.as_ref().is_some_and(|h| h.stage == Stage::Works) && self.ending.is_none()
    }

    /// The agent of the second opinion.
    pub(super) fn helper_spec(&self) -> Option<&AgentSpec> {
        let helper = self.helper.as_ref()?;
        self.view.spec.as_ref()?.next.verifiers.get(helper.agent)
    }

    /// The first prompt of a session, when it is the helper's.
    pub(super) fn helper_prompt(&self) -> Option<Prompt> {
        self.helper_works().then_some(Prompt::Verify)
    }

    /// The helper's turn is over.
    pub(super) fn helper_ended(&mut self, end: &TurnEnd, out: &mut Vec<Effect>) {
        match end {
            TurnEnd::Finished { text } => {
                if let Some(helper) = self.helper.as_mut() {
                    helper.stage = Stage::Said;
                    helper.said.clone_from(text);
                }
                out.push(Effect::ClearTimer { timer: Timer::Ask });
                self.end_session(EndReason::Finished, After::Helper, out);
            }
            TurnEnd::Cancelled => self.helper_silent("it stopped without an answer", out),
            TurnEnd::Overflow { message } | TurnEnd::Failed { message, .. } => {
                self.helper_silent(message, out);
            }
        }
    }

    /// There is no second opinion to be had from this session.
    pub(super) fn helper_silent(&mut self, why: &str, out: &mut Vec<Effect>) {
        let name = self.helper_name();
        Self::warn("no_opinion", format!("no second opinion from {name}: {why}"), out);
        if let Some(helper) = self.helper.as_mut() {
            helper.stage = Stage::Said;
        }
        if let Some(session) = self.view.session.as_mut() {
            session.tools.clear();
        }
        out.push(Effect::ClearTimer { timer: Timer::Ask });
        self.end_session(EndReason::Stopped, After::Helper, out);
    }

    /// The helper's process is gone before it said anything: the next one is asked, if it never began to work.
    pub(super) fn helper_lost(&mut self, was_starting: bool, why: &str, out: &mut Vec<Effect>) {
        let name = self.helper_name();
        Self::warn("no_opinion", format!("no second opinion from {name}: {why}"), out);
        let (next, _) = self.helpers(self.helper.as_ref().map_or(0, |helper| helper.agent + 1));
        let Some(helper) = self.helper.as_mut() else { return };
        if was_starting {
            helper.agent = next;
            helper.stage = Stage::Due;
        } else {
            helper.stage = Stage::Said;
        }
        self.helper_turn(out);
    }

    /// More was spent on the second opinion than it is worth.
    pub(super) fn helper_spends(&mut self, out: &mut Vec<Effect>) {
        let spent = self.view.session.as_ref().map_or(0, |s| s.spent.tokens());
        if spent > TOKENS && self.helper_works() {
            self.helper_silent(&format!("it used more than {TOKENS} tokens"), out);
        }
    }

    fn helper_missing(&mut self, out: &mut Vec<Effect>) {
        if let Some(helper) = self.helper.take() {
            self.settle(helper.outcome, out);
        }
    }

    /// Whether what comes now is about the helper's words.
    pub(super) fn helper_is_judged(&self) -> bool {
        self.helper.as_ref().is_some_and(|h| h.stage == Stage::Judged)
    }

    /// What the helper said was held against the evidence: this decides what becomes of the verdict.
    pub(super) fn helper_judged(&mut self, judged: &[Judged], tree: Option<&str>, out: &mut Vec<Effect>) {
        let name = self.helper_name();
        let Some(helper) = self.helper.take() else { return };
        if helper.tree.as_deref().is_some_and(|before| tree.is_some_and(|after| after != before)) {
            return self.helper_changed_files(&name, helper.outcome, out);
        }
        let origin =
            Origin { checkpoint: None, session: self.view.sessions, agent: name.clone(), at: self.now };
        self.view.ledger.merge(judged, &origin);
        Self::tell_contradicted(judged, out);
        let wrong = judged.iter().any(|j| j.finding == Finding::Contradicted);
        match opinion(&helper.said) {
            _ if wrong => {
                let text = format!("the statement of {name} is false and does not count");
                Self::warn("opinion_discarded", text, out);
                self.settle(helper.outcome, out);
            }
            Opinion::Unclear => {
                if !helper.said.trim().is_empty() {
                    Self::warn("no_opinion", format!("{name} gave no readable verdict"), out);
                }
                self.settle(helper.outcome, out);
            }
            Opinion::Done => self.helper_agrees(&name, helper.outcome, out),
            Opinion::NotDone(missing) => self.helper_objects(&name, missing, helper.outcome, out),
        }
    }

    fn helper_agrees(&mut self, name: &str, outcome: Outcome, out: &mut Vec<Effect>) {
        let unverified = outcome.verdict == Verdict::Unverified;
        let reason = if unverified {
            format!("the agent says that it is done, and {name} agrees; there was no gate")
        } else {
            format!("{}, and {name} agrees", outcome.reason)
        };
        self.settle(Outcome { reason, ..outcome }, out);
    }

    fn helper_objects(&mut self, name: &str, missing: String, outcome: Outcome, out: &mut Vec<Effect>) {
        let said = format!("{name} says that it is not done: {missing}");
        Self::warn("not_done", said.clone(), out);
        self.remember_note(&said);
        if self.objections < self.limits().gate_rounds {
            self.objections += 1;
            self.corrections = 0;
            self.missing = Some(missing);
            self.view.phase = Phase::Working;
            let reason = cut_chars(&said, 200).replace('\n', " ");
            let (kind, end) = (HandoffKind::Restart, EndReason::Finished);
            return self.replace(Replace { kind, reason, end, counts: false }, out);
        }
        if outcome.verdict == Verdict::Verified {
            return self.settle(outcome, out);
        }
        let reason = format!("the agent says that it is done, but {}", cut_chars(&said, 300));
        let outcome = Outcome::new(Verdict::NeedsInput, reason)
            .advise("look at the work with `segue show`, then `segue resume`");
        self.settle(outcome, out);
    }

    // Files that the gates have not seen may be anything: the gates look again. Nothing is undone.
    fn helper_changed_files(&mut self, name: &str, outcome: Outcome, out: &mut Vec<Effect>) {
        self.helper_is_off = true;
        let saved = self.view.checkpoint.as_ref().map_or("the last checkpoint", |c| c.id.as_str());
        let text = format!(
            "{name} was to review without changing files, but files changed meanwhile: its verdict does not count, and nothing was undone; the work before it is in {saved}"
        );
        Self::warn("helper_changed_files", text, out);
        if self.view.spec.as_ref().is_some_and(|s| s.gates.iter().any(|g| !g.manual)) {
            return self.gate(out);
        }
        self.settle(outcome, out);
    }

    fn helper_name(&self) -> String {
        self.helper_spec().map_or_else(|| "the second opinion".to_owned(), |a| a.name.clone())
    }
}

// The last line that begins with "Verdict" decides; without one the first word of the answer.
fn opinion(text: &str) -> Opinion {
    let plain = |line: &str| line.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    let after = |line: &str| {
        let said = plain(line);
        let rest = said.strip_prefix("verdict")?;
        Some(rest.trim_start_matches(|c: char| !c.is_alphanumeric()).to_owned())
    };
    let found = lines.iter().rposition(|line| after(line).is_some());
    let (at, said) = match (found, lines.first()) {
        (Some(at), _) => (at, after(lines[at]).unwrap_or_default()),
        (None, Some(first)) => (0, plain(first)),
        (None, None) => return Opinion::Unclear,
    };
    if ["not done", "not_done", "incomplete", "not complete"].iter().any(|word| said.starts_with(word)) {
        let why =
            lines[at].split_once("done").or_else(|| lines[at].split_once("omplete")).map_or("", |(_, w)| w);
        let why = why.trim_start_matches(|c: char| !c.is_alphanumeric());
        let rest = lines[at + 1..].iter().copied();
        let all: Vec<&str> = std::iter::once(why).filter(|w| !w.is_empty()).chain(rest).collect();
        let all = if all.is_empty() { lines[..at].join("\n") } else { all.join("\n") };
        return Opinion::NotDone(cut_chars(all.trim(), MISSING_CHARS).to_owned());
    }
    if said.starts_with("done") || said.starts_with("complete") { Opinion::Done } else { Opinion::Unclear }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_read_as_people_and_models_write_it() {
        for text in [
            "VERDICT: done",
            "All is there.\n\n**Verdict: done**",
            "done",
            "Verdict: Done.",
            "# Verdict - complete",
        ] {
            assert_eq!(opinion(text), Opinion::Done, "{text}");
        }
        for text in ["", "I looked.", "Verdict: perhaps", "The work is done"] {
            assert_eq!(opinion(text), Opinion::Unclear, "{text}");
        }
        let not = |why: &str| Opinion::NotDone(why.to_owned());
        assert_eq!(opinion("VERDICT: not done: part 3 is missing"), not("part 3 is missing"));
        assert_eq!(opinion("Verdict: done\nwait\n**Verdict:** NOT DONE\n- a\n- b"), not("- a\n- b"));
        assert_eq!(opinion("Part 3 is empty.\nVerdict: not done"), not("Part 3 is empty."));
    }
}
