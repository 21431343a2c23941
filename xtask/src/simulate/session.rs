//! A simulated agent at work: calls, answers, tools side by side, and the question after each of them.

use segue_machine::{AgentEvent, Depth, Event, Reading, TurnEnd};

use super::play::{Play, checkpoint_sizes};
use super::world::{Batch, whole};

/// One session of the simulated agent, with the truth about its window.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) n: u32,
    /// Tokens of the last call.
    pub(super) fill: u64,
    /// Tokens that the next call carries besides.
    pub(super) pending: u64,
    /// Tokens of the answer that the next call will get.
    answer: u64,
    calls: u64,
    /// It goes on by itself.
    pub(super) busy: bool,
    /// A checkpoint that it was asked for.
    pub(super) asked: Option<Depth>,
    /// The brake said stop; it does after the last result.
    pub(super) stopped: bool,
    /// The brake has stopped it at some time.
    pub(super) was_stopped: bool,
}

impl Session {
    pub(super) fn new(n: u32, first: u64) -> Self {
        Self {
            n,
            fill: 0,
            pending: first,
            answer: 0,
            calls: 0,
            busy: false,
            asked: None,
            stopped: false,
            was_stopped: false,
        }
    }

    /// It was given something to do. The first prompt is part of what a first call holds.
    pub(super) fn prompted(&mut self, chars: u64) {
        self.busy = true;
        if self.calls > 0 {
            self.pending += chars / 3;
        }
    }

    /// Tokens of the next call, its answer included.
    pub(super) fn next(&self) -> u64 {
        self.fill + self.pending + self.answer
    }
}

impl Play<'_> {
    /// The agent's next call and what it leads to.
    pub(super) fn call(&mut self) {
        self.now += self.dice.between(3_000, 25_000);
        self.compact();
        let Some(session) = &mut self.session else { return };
        let asked = session.asked.take();
        if let Some(depth) = asked {
            let (request, least, most) = checkpoint_sizes(depth);
            session.pending += request;
            session.answer = self.dice.between(least, most);
        }
        if session.next() > self.world.ceiling {
            self.overflow();
            return self.settle();
        }
        self.tally.calls += 1;
        let answer = session.answer;
        session.fill = session.next();
        (session.pending, session.answer) = (0, 0);
        session.calls += 1;
        if asked.is_some() {
            session.busy = false;
            self.say(answer);
            self.read(answer);
            self.agent(AgentEvent::Answered { text: "<checkpoint>as it is</checkpoint>".to_owned() });
        } else if self.work.done == self.work.steps.len() {
            session.busy = false;
            self.say(answer);
            self.read(answer);
            self.agent(AgentEvent::TurnEnded(TurnEnd::Finished { text: "STATUS: done".to_owned() }));
        } else {
            self.say(answer);
            self.use_tools(answer);
        }
        self.settle();
    }

    // Where segue does not replace the session, the agent's own compaction stays on. It comes before the wall.
    fn compact(&mut self) {
        let replaces = self.run.view().spec.as_ref().is_some_and(|spec| spec.policy.replaces());
        let Some(session) = &mut self.session else { return };
        if replaces || session.calls == 0 || session.next() <= self.world.ceiling / 100 * 94 {
            return;
        }
        let share = f64::from(u32::try_from(self.dice.between(75, 125)).unwrap_or(100)) / 100.0;
        session.fill = 0;
        session.pending = whole(self.world.after_compaction() * share);
        self.tally.compactions += 1;
        self.agent(AgentEvent::Compacted);
    }

    fn say(&mut self, tokens: u64) {
        // Thoughts are part of the answer and are not told.
        let chars = tokens * self.dice.between(180, 350) / 100;
        self.agent(AgentEvent::TextSaid { chars });
    }

    fn read(&mut self, answer: u64) {
        let Some((fill, n, calls)) = self.session.as_ref().map(|s| (s.fill, s.n, s.calls)) else { return };
        let prompt = fill.saturating_sub(answer);
        let call = Some(format!("{n}.{calls}"));
        let reading = Reading { call, ..Reading::exact(3, prompt.saturating_sub(3), 0, answer) };
        self.agent(AgentEvent::UsageRead(reading));
    }

    fn use_tools(&mut self, answer: u64) {
        let Batch { results, answer: next } = self.world.batch(&mut self.dice);
        let closes = self.work.steps.get(self.work.done).is_some_and(|calls| self.work.calls + 1 >= *calls);
        for n in 0..results.len() {
            self.agent(AgentEvent::ToolStarted { tool: format!("t{n}"), title: "work".to_owned() });
        }
        if closes {
            let closed = u32::try_from(self.work.done + 1).unwrap_or(u32::MAX);
            let open = u32::try_from(self.work.steps.len()).unwrap_or(u32::MAX).saturating_sub(closed);
            self.agent(AgentEvent::ItemsSeen { open, closed, items: Vec::new() });
        }
        self.read(answer);
        self.settle();
        let last = results.len().saturating_sub(1);
        for (n, (tokens, chars)) in results.into_iter().enumerate() {
            self.now += self.dice.between(200, 8_000);
            self.ask_to_go_on(n, chars);
            let Some(session) = &mut self.session else { return };
            session.pending += tokens;
            if n == last {
                session.answer = next;
                self.step_on(closes);
            }
            let (tool, title) = (format!("t{n}"), "work".to_owned());
            self.agent(AgentEvent::ToolEnded { tool, title, ok: true, chars });
            self.settle();
        }
        self.stop_if_told();
    }

    fn ask_to_go_on(&mut self, n: usize, chars: u64) {
        if !self.world.brake {
            return;
        }
        let Some(session) = self.session.as_ref().map(|session| session.n) else { return };
        let (request, tool) = (n.to_string(), format!("t{n}"));
        self.feed(Event::BrakeAsked { session, request, tool, chars });
        self.settle();
    }

    // With the last result of a call its part of the step is done; the last part closes the step.
    fn step_on(&mut self, closes: bool) {
        self.work.calls += 1;
        if let Some(session) = &self.session {
            self.work.tokens += session.pending + session.answer;
        }
        if closes {
            self.work.done += 1;
            (self.work.calls, self.work.tokens) = (0, 0);
        }
    }

    fn stop_if_told(&mut self) {
        let Some(session) = self.session.as_mut().filter(|session| session.stopped) else { return };
        (session.stopped, session.was_stopped, session.busy) = (false, true, false);
        self.agent(AgentEvent::TurnEnded(TurnEnd::Cancelled));
        self.settle();
    }
}
