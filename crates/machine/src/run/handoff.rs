//! From a reached stage to the next session: ask, take the checkpoint, end the old session, start the new one.

use super::side::Words;
use super::{After, Doing, Ending, HandoffKind, Pending, Phase, Replace, Run, Then};
use crate::checkpoint::is_checkpoint;
use crate::{
    Asked, CheckpointBy, CheckpointHow, Choice, Considered, Depth, Effect, EndHow, EndReason, Limit,
    NextKind, NextStep, Notice, Outcome, Prompt, SessionReason, Timer, Verdict, WordsSource, WorkState,
};

/// How long a tool may go on when its session is to be ended.
const LAST_TOOL_MS: u64 = 60_000;

/// For how long after the last result or the last words of an answer a tool may still start, which would be cut.
const LAST_WORDS_MS: u64 = 1_500;

impl Run {
    /// Takes a checkpoint: from a side question, else by asking inside the conversation when there is room, else by segue.
    pub(super) fn begin(&mut self, asked: Asked, then: Then, out: &mut Vec<Effect>) {
        let current = self.words.as_ref().filter(|words| words.mark.is_now(self.mark())).cloned();
        if current.is_some() && !matches!(then, Then::GoOn) {
            return self.take_with(asked, current, then, out);
        }
        if !self.ask_side(&asked, &then, out) {
            self.begin_in_band(asked, then, out);
        }
    }

    /// Asks inside the conversation for the largest checkpoint that there is room for.
    pub(super) fn begin_in_band(&mut self, asked: Asked, then: Then, out: &mut Vec<Effect>) {
        // What the agent wrote while there was room says more than a short form would.
        let needs =
            |depth: &Depth| *depth == asked.depth || self.words.is_none() || matches!(then, Then::GoOn);
        let fits = self.depth_that_fits(asked.depth).filter(needs);
        let Some(depth) = fits else {
            return self.take(asked, None, then, out);
        };
        let asked = Asked { depth, ..asked };
        let Some(session) = self.view.session.as_mut() else { return };
        session.doing = Doing::Asked;
        let (n, waits) = (session.n, !session.tools.is_empty());
        out.push(Effect::AskCheckpoint { session: n, asked: asked.clone() });
        let deadline = (!waits).then(|| self.ask_deadline());
        let requested = Notice::CheckpointRequested { session: n, depth, deadline, side: false };
        out.push(Effect::Announce(requested));
        if let Some(at) = deadline {
            out.push(Effect::SetTimer { timer: Timer::Ask, at });
        }
        let (since, sent) = (self.now, true);
        self.ask = Some(Pending { asked, then, sent, words: 0, tool_over: false, answering: false, since });
    }

    /// The turn is being stopped by its hook; when it has ended, and what it holds is known, the agent is asked.
    pub(super) fn stop_then_ask(&mut self, asked: Asked, then: Then, out: &mut Vec<Effect>) {
        if !self.view.session.as_ref().is_some_and(|s| s.can.ask) {
            return self.take(asked, None, then, out);
        }
        out.push(Effect::SetTimer { timer: Timer::Ask, at: self.ask_deadline() });
        let (since, sent) = (self.now, false);
        self.ask = Some(Pending { asked, then, sent, words: 0, tool_over: false, answering: false, since });
    }

    pub(super) fn ask_the_stopped(&mut self, out: &mut Vec<Effect>) {
        let Some(Pending { asked, then, .. }) = self.ask.take() else { return };
        out.push(Effect::ClearTimer { timer: Timer::Ask });
        self.begin_in_band(asked, then, out);
        self.ask.iter_mut().for_each(|ask| ask.answering = true);
    }

    /// Takes back a request that decides what becomes of the session.
    pub(super) fn withdraw_request(&mut self, out: &mut Vec<Effect>) -> Option<(Asked, Then)> {
        let side = self.side.take().map(|question| (question.asked, question.then));
        let ask = self.ask.take().map(|pending| (pending.asked, pending.then));
        for (timer, was_set) in [(Timer::Side, side.is_some()), (Timer::Ask, ask.is_some())] {
            out.extend(was_set.then_some(Effect::ClearTimer { timer }));
        }
        ask.or(side)
    }

    /// Has segue write the checkpoint, with what the agent answers inside the conversation.
    pub(super) fn take(&mut self, asked: Asked, answer: Option<String>, then: Then, out: &mut Vec<Effect>) {
        let answer = answer.filter(|a| !a.trim().is_empty());
        let words = answer.map(|text| self.words_now(&text, CheckpointHow::InBand));
        self.words = words.clone().or(self.words.take());
        self.take_with(asked, words, then, out);
    }

    /// Has segue write the checkpoint, with the agent's words when there are any; at a handoff older ones are better than
    /// none.
    pub(super) fn take_with(
        &mut self,
        asked: Asked,
        words: Option<Words>,
        then: Then,
        out: &mut Vec<Effect>,
    ) {
        self.drop_side(out);
        let leaves = !matches!(then, Then::GoOn | Then::Gate | Then::Verify(_));
        let words = words.or_else(|| self.words.clone().filter(|_| leaves));
        if leaves {
            self.release_hooks(true, out);
        }
        let by = if words.is_some() { CheckpointBy::Agent } else { CheckpointBy::Segue };
        let commit = match &then {
            Then::GoOn | Then::Gate | Then::Verify(_) => false,
            Then::Replace(_) | Then::Start(_) | Then::Recover(_) => true,
            Then::Finish(..) => self.view.spec.as_ref().is_some_and(|s| s.git.commit_on_failure),
        };
        let session = self.view.sessions;
        match &words {
            Some(words) => {
                self.checkpoint_chars = words.text.chars().count();
                self.covered = words.mark.messages();
                self.forget_tools_before(words.mark);
            }
            None => self.view.tools_since.clear(),
        }
        self.answer = words.as_ref().map(|words| words.text.clone());
        self.work_is_saved = true;
        let next = Some(self.next_step(&then));
        let segue = WordsSource { how: CheckpointHow::Segue, from_call: None, age_ms: None };
        let source = Some(words.as_ref().map_or(segue, |words| words.source(self.now)));
        let answer = words.map(|words| words.text);
        out.push(Effect::TakeCheckpoint { session, asked, by, answer, commit, next, source });
        self.taking = Some(then);
    }

    fn next_step(&self, then: &Then) -> NextStep {
        let (kind, index) = match then {
            Then::GoOn => (NextKind::Continue, Some(self.agent)),
            Then::Gate => (NextKind::Gates, None),
            Then::Start(_) => (NextKind::Resume, Some(self.agent)),
            Then::Finish(..) => (NextKind::Stop, None),
            Then::Recover(_) => self.next_after_failure(),
            Then::Verify(_) => (NextKind::Helper, None),
            Then::Replace(replace) => {
                let decision = self.decide(replace.kind);
                let kind = match decision.kind {
                    HandoffKind::Forced => NextKind::Forced,
                    HandoffKind::Fallback => NextKind::Fallback,
                    HandoffKind::Split => NextKind::Split,
                    HandoffKind::Stop => NextKind::Stop,
                    HandoffKind::Continue | HandoffKind::Restart | HandoffKind::Helper => NextKind::Restart,
                };
                (kind, decision.next)
            }
        };
        NextStep { kind, agent: index.map(|index| self.agent_name(index)) }
    }

    pub(super) fn answered(&mut self, text: Option<&str>, out: &mut Vec<Effect>) {
        let Some(Pending { asked, then, .. }) = self.ask.take() else { return self.answered_late(out) };
        out.push(Effect::ClearTimer { timer: Timer::Ask });
        let said = text.filter(|text| !text.trim().is_empty());
        let answer = said.filter(|text| is_checkpoint(text));
        if said.is_some() && answer.is_none() {
            Self::warn("no_answer", "the agent's answer is not a checkpoint; segue writes one", out);
        }
        self.take(asked, answer.map(str::to_owned), then, out);
    }

    // The agent was told nothing when segue wrote the checkpoint in its place; it has stopped for the answer.
    fn answered_late(&mut self, out: &mut Vec<Effect>) {
        let waits =
            self.unanswered && self.taking.is_none() && self.ending.is_none() && self.phase_is_working();
        self.unanswered = false;
        if waits {
            self.go_on(out);
        }
    }

    /// The tool that was running when the agent was asked has ended: its time to answer begins. Tools that it starts
    /// later do not put that off.
    pub(super) fn start_ask_timer(&mut self, out: &mut Vec<Effect>) {
        let at = self.ask_deadline();
        if let Some(ask) = self.ask.as_mut().filter(|ask| !ask.tool_over) {
            ask.tool_over = true;
            out.push(Effect::SetTimer { timer: Timer::Ask, at });
        }
    }

    /// The agent is in the middle of an answer: some cannot be asked before it is over, so the time begins anew with its
    /// words, within reason.
    pub(super) fn hear_out(&self, out: &mut Vec<Effect>) {
        const MOST_TIMES: u64 = 10;
        let Some(ask) = self.ask.as_ref().filter(|ask| !ask.tool_over && !ask.answering) else { return };
        let idle = self.view.session.as_ref().is_some_and(|s| s.tools.is_empty());
        let most = self.limits().ask_timeout_ms.saturating_mul(MOST_TIMES);
        if idle && self.now.saturating_sub(ask.since) < most {
            out.push(Effect::SetTimer { timer: Timer::Ask, at: self.ask_deadline() });
        }
    }

    /// A tool began before the request arrived: the time to answer begins when it ends.
    pub(super) fn hold_ask_timer(&self, out: &mut Vec<Effect>) {
        if self.ask.as_ref().is_some_and(|ask| !ask.tool_over) {
            out.push(Effect::ClearTimer { timer: Timer::Ask });
        }
    }

    pub(super) fn ask_timed_out(&mut self, out: &mut Vec<Effect>) {
        if let Some(pending) = &self.ask {
            self.unanswered = matches!(pending.then, Then::GoOn);
            if self.unanswered {
                self.set_doing(Doing::Working);
            }
            Self::warn("no_answer", "the agent did not answer the checkpoint request; segue writes one", out);
            self.answered(None, out);
        }
    }

    pub(super) fn checkpoint_taken(&mut self, work: &WorkState, out: &mut Vec<Effect>) {
        self.checkpoint_is_current = true;
        self.view.checkpoint_failed = false;
        self.answer = None;
        self.after_checkpoint(work, out);
    }

    // What was to follow follows all the same: the next session is told from what is known, the agent's answer included.
    pub(super) fn checkpoint_failed(&mut self, n: u32, why: &str, work: &WorkState, out: &mut Vec<Effect>) {
        self.view.checkpoint_failed = true;
        if let Some(answer) = self.answer.take() {
            self.keep_message(n, &answer);
        }
        let kept = if self.view.checkpoint.is_some() { "; the one before it is kept" } else { "" };
        Self::warn("checkpoint_failed", format!("the checkpoint could not be written: {why}{kept}"), out);
        self.after_checkpoint(work, out);
    }

    // Another session would be given the same words: somebody has to look at the template.
    pub(super) fn prompt_failed(&mut self, n: u32, why: &str, out: &mut Vec<Effect>) {
        if self.session_mut(n).is_none() {
            return;
        }
        let outcome = Outcome::new(Verdict::Failed, format!("the prompt could not be written: {why}"))
            .advise("fix the prompt template, then `segue resume`");
        self.finish_with_checkpoint("the prompt could not be written", outcome, out);
    }

    fn after_checkpoint(&mut self, work: &WorkState, out: &mut Vec<Effect>) {
        // An agent whose tools nobody sees is judged by what it left; without git there is nothing to judge by.
        if self.progress.work(work) || work.tree.is_none() {
            self.idle_rounds = 0;
        }
        self.seen_in_git(work, out);
        if let Some(trouble) = &work.trouble {
            Self::warn("git", trouble.clone(), out);
        }
        let Some(then) = self.taking.take() else { return };
        match then {
            Then::GoOn => {
                self.go_on(out);
                self.look_at_hooks(out);
            }
            Then::Gate => self.gate(out),
            Then::Replace(replace) => self.replace(replace, out),
            Then::Start(reason) => self.start_session(reason, out),
            Then::Recover(why) => self.recover(&why, out),
            Then::Finish(outcome, end) => self.end_session(end, After::Finish(outcome), out),
            Then::Verify(outcome) => self.call_helper(outcome, work.tree.clone(), out),
        }
    }

    // The limits are looked at here and not when the stage fires: by now the work is saved, whatever comes.
    pub(super) fn replace(&mut self, replace: Replace, out: &mut Vec<Effect>) {
        let limits = self.limits();
        if let Some(most) = limits.max_restarts.filter(|most| replace.counts && self.view.restarts >= *most) {
            self.limit_reached(Limit::MaxRestarts, &most.to_string(), out);
            let reason = format!("the context filled up again after {most} restarts ({})", replace.reason);
            let outcome = Outcome::new(Verdict::Stopped, reason).because_of(Limit::MaxRestarts);
            return self.stop_instead(&replace, outcome.advise(super::futile::TOO_LARGE), out);
        }
        let most = limits.max_handoffs_without_progress;
        if !self.work_moved() {
            self.view.without_progress += 1;
        }
        if let Some(outcome) = self.going_in_circles(&replace, out) {
            return self.stop_instead(&replace, outcome, out);
        }
        if most > 0 && self.view.without_progress >= most {
            self.limit_reached(Limit::NoProgress, &most.to_string(), out);
            let outcome = Outcome::new(Verdict::Stopped, format!("{most} handoffs in a row without progress"))
                .because_of(Limit::NoProgress)
                .advise("look at the last checkpoint with `segue show`, fix what blocks the agent, then `segue resume`");
            return self.stop_instead(&replace, outcome, out);
        }
        let next = self.fallback.filter(|_| replace.kind != HandoffKind::Restart).unwrap_or(self.agent);
        if let Some(outcome) = self.start_refused(next, out) {
            return self.stop_instead(&replace, outcome, out);
        }
        self.replace_now(replace, out);
    }

    /// Whether there was progress since this was last asked; if so, the counts of what went wrong begin anew.
    pub(super) fn work_moved(&mut self) -> bool {
        let moved = self.progress.take(self.limits().max_handoffs_without_progress);
        if moved {
            (self.view.without_progress, self.view.failures) = (0, 0);
            self.circles.forget();
        }
        moved
    }

    /// Replaces the session without asking or looking at limits.
    pub(super) fn replace_now(&mut self, replace: Replace, out: &mut Vec<Effect>) {
        let decision = self.decide(replace.kind);
        let Some(next) = decision.next else {
            let outcome = self.account_of_all(&replace.reason, &decision.considered);
            return self.stop_instead(&replace, outcome, out);
        };
        let from_agent = self.agent_name(self.agent);
        let same = next == self.agent;
        self.agent = next;
        self.fallback = None;
        out.push(Effect::Announce(Notice::HandoffDecided {
            from: self.view.sessions,
            from_agent,
            to_agent: Some(self.agent_name(next)),
            kind: decision.kind,
            reason: replace.reason,
            checkpoint: self.view.checkpoint.as_ref().map(|c| c.id.clone()),
            considered: decision.considered,
        }));
        self.view.handoffs += 1;
        self.view.restarts += u32::from(replace.counts);
        let reason = match decision.kind {
            HandoffKind::Split => SessionReason::Split,
            _ if same => SessionReason::Restart,
            HandoffKind::Continue
            | HandoffKind::Restart
            | HandoffKind::Fallback
            | HandoffKind::Helper
            | HandoffKind::Forced
            | HandoffKind::Stop => SessionReason::Fallback,
        };
        self.end_session(replace.end, After::Start(reason), out);
    }

    fn stop_instead(&mut self, replace: &Replace, outcome: Outcome, out: &mut Vec<Effect>) {
        self.announce_stop(&outcome.reason, out);
        let end = if replace.end == EndReason::Replaced { EndReason::Stopped } else { replace.end };
        self.end_session(end, After::Finish(outcome), out);
    }

    /// Nobody goes on, and that is a decision too.
    pub(super) fn announce_stop(&self, reason: &str, out: &mut Vec<Effect>) {
        out.push(Effect::Announce(Notice::HandoffDecided {
            from: self.view.sessions,
            from_agent: self.agent_name(self.agent),
            to_agent: None,
            kind: HandoffKind::Stop,
            reason: reason.to_owned(),
            checkpoint: self.view.checkpoint.as_ref().map(|c| c.id.clone()),
            considered: self.everybody(),
        }));
    }

    /// The session goes on as it is, and that is a decision too.
    pub(super) fn decide_to_continue(&self, reason: String, out: &mut Vec<Effect>) {
        let agent = self.agent_name(self.agent);
        let why = format!("its session has room ({})", self.fill_words());
        let considered = vec![Considered { agent: agent.clone(), verdict: Choice::Chosen, why }];
        out.push(Effect::Announce(Notice::HandoffDecided {
            from: self.view.sessions,
            from_agent: agent.clone(),
            to_agent: Some(agent),
            kind: HandoffKind::Continue,
            reason,
            checkpoint: None,
            considered,
        }));
    }

    /// Ends the session, after the tool that still runs; without a session goes straight on.
    pub(super) fn end_session(&mut self, reason: EndReason, after: After, out: &mut Vec<Effect>) {
        self.drop_side(out);
        let Some(session) = self.view.session.as_mut() else { return self.go_after(after, out) };
        session.doing = Doing::Ending;
        let waits = !session.tools.is_empty();
        let heard = session.life.answering_at.map(|at| at.saturating_add(LAST_WORDS_MS));
        // A call that does not fit has no answer.
        let fits =
            session.gauge.ceiling().zip(session.gauge.fill()).is_none_or(|(ceiling, fill)| fill <= ceiling);
        let heard = heard.filter(|until| *until > self.now && fits && !waits);
        self.ending = Some(Ending { reason, after, sent: false, hears_out: heard.is_some(), save: true });
        if waits {
            out.push(Effect::SetTimer { timer: Timer::End, at: self.now.saturating_add(LAST_TOOL_MS) });
        } else if let Some(until) = heard {
            out.push(Effect::SetTimer { timer: Timer::End, at: until });
        } else {
            self.send_end(EndHow::Gently, out);
        }
    }

    /// The answer that was heard out has started a tool: it is let finish.
    pub(super) fn let_tool_finish(&mut self, out: &mut Vec<Effect>) {
        if let Some(ending) = self.ending.as_mut().filter(|ending| ending.hears_out && !ending.sent) {
            ending.hears_out = false;
            out.push(Effect::SetTimer { timer: Timer::End, at: self.now.saturating_add(LAST_TOOL_MS) });
        }
    }

    pub(super) fn end_timed_out(&mut self, out: &mut Vec<Effect>) {
        let gently = self.ending.as_ref().is_some_and(|ending| ending.hears_out && !ending.sent);
        self.send_end(if gently { EndHow::Gently } else { EndHow::AtOnce }, out);
    }

    pub(super) fn send_end(&mut self, how: EndHow, out: &mut Vec<Effect>) {
        let (Some(ending), Some(session)) = (self.ending.as_mut(), self.view.session.as_ref()) else {
            return;
        };
        if ending.sent && how == EndHow::Gently {
            return;
        }
        ending.sent = true;
        out.push(Effect::EndSession { session: session.n, how });
    }

    pub(super) fn go_after(&mut self, after: After, out: &mut Vec<Effect>) {
        match after {
            After::Start(reason) => self.start_session(reason, out),
            After::Finish(outcome) => self.finish_now(outcome, out),
            After::Helper => self.helper_turn(out),
        }
    }

    // Segue wrote the checkpoint while the agent worked on: there is nothing to tell it.
    fn go_on(&mut self, out: &mut Vec<Effect>) {
        let Some(session) = self.view.session.as_ref() else {
            return self.session_was_lost("the agent ended while a checkpoint was written", out);
        };
        if session.doing != Doing::Working {
            out.push(Effect::SendPrompt { session: session.n, prompt: Prompt::GoOn });
        }
    }

    /// The largest form, up to this one, for which the conversation has room; `None` when the agent cannot be asked.
    fn depth_that_fits(&self, most: Depth) -> Option<Depth> {
        let session = self.view.session.as_ref()?;
        if !session.can.ask || !matches!(session.doing, Doing::Working | Doing::Idle) {
            return None;
        }
        let room = self.room();
        std::iter::successors(Some(most), |depth| depth.smaller()).find(|depth| depth.room() <= room)
    }

    /// Tokens that the conversation has room for, at the least.
    pub(super) fn room(&self) -> u64 {
        let Some(session) = &self.view.session else { return 0 };
        let fill = if session.can.brake { self.at_most(session) } else { session.gauge.fill() };
        match (session.gauge.ceiling(), fill) {
            (Some(ceiling), Some(fill)) => ceiling.saturating_sub(fill),
            _ => u64::MAX,
        }
    }

    pub(super) fn ask_deadline(&self) -> u64 {
        let at = self.now.saturating_add(self.limits().ask_timeout_ms);
        self.deadline().map_or(at, |deadline| at.min(deadline))
    }

    pub(super) fn phase_is_working(&self) -> bool {
        self.view.phase == Phase::Working
    }
}
