//! What follows from what the agent states about its work: done, not done, blocked, or nothing. Gates come first.

use serde::{Deserialize, Serialize};

use super::{EndReason, HandoffKind, Phase, Replace, Run, Then};
use crate::statement::{self, Statement};
use crate::{
    Asked, Depth, Effect, LastWords, Limit, Outcome, Prompt, SessionReason, Timer, Verdict, WorkState,
};

/// What is waiting for the agent's last words to be judged.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Judging {
    /// This verdict, if they are not contradicted.
    Verdict(Outcome),
    /// More work: the agent stated that this is left.
    NotDone(String),
    /// A command that ended without a statement and cannot be asked: did it change anything?
    Ended,
}

impl Run {
    /// Ends or continues the run by what the agent states, with the verdict of its gates if there were any.
    pub(super) fn settle_statement(&mut self, passed: Option<Outcome>, out: &mut Vec<Effect>) {
        let outcome = match (self.stated(), passed) {
            (Some(Statement::NotDone(left)), _) => return self.judge_with_tree(Judging::NotDone(left), out),
            (Some(Statement::Blocked(need)), _) => blocked(&need),
            (_, Some(passed)) => passed,
            (Some(Statement::Done), None) => {
                Outcome::new(Verdict::Unverified, "the agent states that it is done; there was no gate to check it")
            }
            (None, None) if self.question.is_some() => asks(self.question.as_deref().unwrap_or_default()),
            (None, None) if self.said_otherwise() => {
                Outcome::new(Verdict::Unverified, "the agent reports that it is done; there was no gate to check it")
            }
            (None, None) if self.one_shot => return self.judge_with_tree(Judging::Ended, out),
            (None, None) if self.may_ask_status() => {
                self.status_asked = true;
                if !self.ask_status_side(out) {
                    self.follow_up(Prompt::AskStatus, out);
                }
                return;
            }
            (None, None) if self.must_replace() => {
                return self.judge_with_tree(Judging::NotDone(String::new()), out);
            }
            (None, None) => {
                Outcome::new(Verdict::NeedsInput, "the agent stopped without saying whether it is done")
                    .advise("read its last message, then `segue resume --answer \"…\"`, or `segue resume` to let it continue")
            }
        };
        self.judge_words(outcome, out);
    }

    fn stated(&self) -> Option<Statement> {
        self.asks_status().then(|| statement::read(&self.last_words)).flatten()
    }

    // A report or a completion word takes the place of the status line.
    fn asks_status(&self) -> bool {
        self.view.spec.as_ref().is_some_and(|spec| spec.last_words == LastWords::default())
    }

    // The completion word was looked for before; a report may still be missing.
    fn said_otherwise(&self) -> bool {
        let report = self.view.spec.as_ref().is_some_and(|spec| spec.last_words.report);
        !self.asks_status() && (!report || self.reported().is_some())
    }

    fn may_ask_status(&self) -> bool {
        self.asks_status() && !self.status_asked && self.can_follow_up() && !self.must_replace()
    }

    /// The side question for a status line was answered, or nobody answers it: then it is asked inside the conversation.
    pub(super) fn status_told(&mut self, text: Option<&str>, out: &mut Vec<Effect>) {
        out.push(Effect::ClearTimer { timer: Timer::Side });
        if self.view.phase != Phase::Gating || self.taking.is_some() || self.ending.is_some() {
            return;
        }
        match text.filter(|text| !text.trim().is_empty()) {
            None if self.can_follow_up() => return self.follow_up(Prompt::AskStatus, out),
            None => {}
            Some(text) => {
                self.last_words.push_str("\n\n");
                self.last_words.push_str(text);
                self.view.keep_message(&self.last_words);
            }
        }
        self.settle_statement(None, out);
    }

    fn judge_with_tree(&mut self, judging: Judging, out: &mut Vec<Effect>) {
        self.view.phase = Phase::Gating;
        self.judging = Some(judging);
        let (session, text) = (self.view.sessions, self.last_words.clone());
        out.push(Effect::JudgeWords { session, text, tree: true });
    }

    /// A command has ended with exit code 0, and that is all that is known about it.
    pub(super) fn command_ended(&mut self, tree: Option<&str>) -> Outcome {
        let changed = self.saw_tree(tree);
        if changed || !self.last_words.trim().is_empty() {
            Outcome::new(Verdict::Unverified, "the command ended, exit 0; it did not say whether it is done")
        } else {
            Outcome::new(
                Verdict::NeedsInput,
                "the command ended, exit 0, but there is nothing on its standard output and no file changed",
            )
            .advise("run the command by hand to see what it does, then `segue resume`")
        }
    }

    /// The agent states that work is left: it continues, as long as there is progress.
    pub(super) fn continue_work(&mut self, left: &str, tree: Option<&str>, out: &mut Vec<Effect>) {
        let worked = std::mem::take(&mut self.worked);
        let moved = self.saw_tree(tree) || (tree.is_none() && worked);
        self.unfinished = if self.work_moved() || moved { 0 } else { self.unfinished + 1 };
        self.view.round = 0;
        let what = if left.is_empty() { "the agent did not say what".to_owned() } else { left.to_owned() };
        let most = self.limits().max_handoffs_without_progress;
        if most > 0 && self.unfinished >= most {
            self.limit_reached(Limit::NoProgress, &most.to_string(), out);
            let reason = format!("{most} turns in a row without progress, and work is left: {what}");
            let outcome = Outcome::new(Verdict::Stopped, reason).because_of(Limit::NoProgress);
            return self
                .save(outcome.advise("read its last message, fix what blocks it, then `segue resume`"), out);
        }
        let reason = format!("the agent says that work remains: {what}");
        if self.can_follow_up() && !self.must_replace() {
            self.decide_to_continue(reason, out);
            return self.follow_up(Prompt::NotDone { left: left.to_owned() }, out);
        }
        self.view.phase = Phase::Working;
        let asked = Asked { depth: Depth::Full, stage: None, reason: reason.clone() };
        if self.view.session.is_none() {
            return self.take(asked, None, Then::Start(SessionReason::Restart), out);
        }
        let (kind, counts) = (HandoffKind::Restart, self.must_replace());
        self.begin(asked, Then::Replace(Replace { kind, reason, end: EndReason::Replaced, counts }), out);
    }

    // Whether the work tree is one that was not seen before.
    fn saw_tree(&mut self, tree: Option<&str>) -> bool {
        let work = WorkState { tree: tree.map(str::to_owned), ..WorkState::default() };
        self.progress.work(&work)
    }
}

fn asks(question: &str) -> Outcome {
    Outcome::new(Verdict::NeedsInput, format!("the agent asks: {question}"))
        .advise("`segue resume --answer \"…\"` gives it an answer and continues")
}

fn blocked(need: &str) -> Outcome {
    let need = if need.is_empty() { "it did not say what it needs" } else { need };
    Outcome::new(Verdict::NeedsInput, format!("the agent is blocked: {need}"))
        .advise("`segue resume --answer \"…\"` gives it an answer and continues")
}
