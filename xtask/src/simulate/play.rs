//! One simulated run: the machine that real runs have, and a driver, an agent and a repository that are figures.
//!
//! Every decision is the machine's. The driver carries its effects out at once and tells their outcome; the agent makes
//! calls as long as it is let, answers what it is asked, and knows nothing but what the last checkpoint held.

use std::collections::VecDeque;

use segue_machine::{
    AgentEvent, Capabilities, Claims, Depth, Effect, Event, HandoffKind, Millis, Notice, Outcome, Record,
    Run, RunSpec, TurnEnd, Verdict, WorkState,
};

use super::dice::Dice;
use super::session::Session;
use super::tally::Tally;
use super::world::World;

/// More calls than any run takes: a run that goes on for longer is counted as stuck.
const MOST_CALLS: u64 = 20_000;
/// What the agent answers to a side question.
const SIDE_ANSWER: &str =
    "<checkpoint>\n## Completed Work\n- as it is\n## Remaining Tasks\n- the rest\n</checkpoint>";
/// Characters of the prompts that segue writes, with the task.
const PROMPT_CHARS: u64 = 4_000;

pub(super) struct Play<'a> {
    pub(super) world: &'a World,
    pub(super) dice: Dice,
    pub(super) run: Run,
    seq: u64,
    pub(super) now: Millis,
    todo: VecDeque<Effect>,
    pub(super) session: Option<Session>,
    pub(super) work: Work,
    pub(super) tally: Tally,
    outcome: Option<Outcome>,
    /// The last session ended with a call that passed the ceiling.
    overflowed: bool,
}

/// The steps of a run and how far they are.
#[derive(Debug, Default)]
pub(super) struct Work {
    pub(super) steps: Vec<u64>,
    pub(super) done: usize,
    /// Calls of the step that is under way.
    pub(super) calls: u64,
    /// Tokens that those calls added.
    pub(super) tokens: u64,
    /// Finished steps that the last checkpoint knows of.
    saved: usize,
}

/// Plays one run to its end.
pub(super) fn play(world: &World, spec: &RunSpec, dice: Dice) -> Tally {
    let mut dice = dice;
    let work = Work { steps: world.steps(&mut dice), ..Work::default() };
    let mut play = Play {
        world,
        dice,
        run: Run::default(),
        seq: 0,
        now: 0,
        todo: VecDeque::new(),
        session: None,
        work,
        tally: Tally { runs: 1, ..Tally::default() },
        outcome: None,
        overflowed: false,
    };
    play.tally.steps = play.work.steps.len() as u64;
    play.feed(Event::RunStarted { spec: Box::new(spec.clone()) });
    while play.outcome.is_none() && play.tally.calls < MOST_CALLS && play.goes_on() {}
    play.close()
}

impl Play<'_> {
    /// One thing more; whether there was anything to do.
    fn goes_on(&mut self) -> bool {
        if let Some(effect) = self.todo.pop_front() {
            self.carry_out(effect);
            return true;
        }
        let Some(session) = &self.session else { return false };
        if !session.busy && session.asked.is_none() {
            return false;
        }
        self.call();
        true
    }

    /// Carries out whatever was decided.
    pub(super) fn settle(&mut self) {
        while let Some(effect) = self.todo.pop_front() {
            self.carry_out(effect);
        }
    }

    pub(super) fn feed(&mut self, event: Event) {
        self.seq += 1;
        let effects = self.run.handle(&Record { seq: self.seq, at: self.now, event });
        self.todo.extend(effects);
    }

    pub(super) fn agent(&mut self, event: AgentEvent) {
        if let Some(session) = self.session.as_ref().map(|session| session.n) {
            self.feed(Event::Agent { session, event });
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::StartSession { session, .. } => self.start(session),
            Effect::SendPrompt { session, .. } => {
                if let Some(agent) = self.session.as_mut().filter(|agent| agent.n == session) {
                    agent.prompted(PROMPT_CHARS);
                }
                self.feed(Event::PromptSent { session, chars: PROMPT_CHARS });
            }
            Effect::AskCheckpoint { asked, .. } => {
                if let Some(session) = &mut self.session {
                    session.asked = Some(asked.depth);
                }
            }
            Effect::AskSide { session, id, asked } => {
                self.now += self.dice.between(2_000, 20_000);
                let text = if asked.is_some() { SIDE_ANSWER } else { "STATUS: done" }.to_owned();
                self.feed(Event::Agent { session, event: AgentEvent::SideAnswered { id, text } });
            }
            Effect::TellAgent { text, .. } => {
                if let Some(session) = &mut self.session {
                    session.pending += text.len() as u64 / 3;
                }
            }
            Effect::AnswerBrake { stop, .. } => {
                if let Some(session) = &mut self.session {
                    session.stopped |= stop;
                }
            }
            Effect::TakeCheckpoint { session, asked, by, source, .. } => {
                self.work.saved = self.work.done;
                self.now += 200;
                let n = self.seq;
                let work = WorkState { tree: Some(format!("tree {n}")), ..WorkState::default() };
                self.feed(Event::CheckpointTaken {
                    checkpoint: format!("c{n}"),
                    session,
                    by,
                    depth: asked.depth,
                    path: String::new(),
                    claims: Claims::default(),
                    work,
                    ms: 200,
                    judged: Vec::new(),
                    source,
                });
            }
            Effect::JudgeWords { session, .. } => {
                self.feed(Event::WordsJudged { session, judged: Vec::new(), tree: None, trouble: None });
            }
            Effect::SaveWork { .. } => self.feed(Event::WorkSaved { work: WorkState::default() }),
            Effect::EndSession { session, .. } => self.end(session),
            Effect::Announce(notice) => self.hear(&notice),
            Effect::Finish(outcome) => self.outcome = Some(outcome),
            Effect::RunGates { .. }
            | Effect::AnswerPermission { .. }
            | Effect::WriteHandoffFile { .. }
            | Effect::SetTimer { .. }
            | Effect::ClearTimer { .. }
            | Effect::KeepCircuit { .. } => {}
        }
    }

    // A fresh session knows what the checkpoint says and which tools ended after it was begun. A step that was under
    // way is begun again.
    fn start(&mut self, n: u32) {
        if n > 1 {
            let told = !self.run.view().tools_since.is_empty();
            let lost = if told { 0 } else { self.work.done - self.work.saved };
            self.tally.lost += lost as u64;
            self.tally.redone += u64::from(self.work.calls > 0);
            self.tally.respent += self.work.tokens;
            self.tally.recovered += u64::from(std::mem::take(&mut self.overflowed));
            (self.work.calls, self.work.tokens) = (0, 0);
        }
        self.now += 1_500;
        let first = self.world.first_fill(&mut self.dice);
        self.session = Some(Session::new(n, first));
        self.tally.respent += if n > 1 { first } else { 0 };
        self.feed(Event::SessionSpawned { session: n, pid: 1, pid_start: 1 });
        self.agent(AgentEvent::Ready {
            conversation: format!("talk {n}"),
            model: None,
            window: Some(self.world.window),
            ceiling: Some(self.world.ceiling),
            can: Capabilities {
                ask: true,
                follow_up: true,
                usage: true,
                brake: self.world.brake,
                tell: true,
                side: false,
                resume: false,
            },
        });
    }

    // An agent that was let go on after its last tool has its next call on the way when the end reaches it.
    fn end(&mut self, n: u32) {
        let Some(session) = self.session.as_ref().filter(|session| session.n == n) else { return };
        if session.busy && !session.stopped && session.next() > self.world.ceiling {
            self.overflow();
        }
        self.session = None;
        self.feed(Event::SessionExited { session: n, exit: Some(0), orphans: 0 });
    }

    /// A call passed the ceiling.
    pub(super) fn overflow(&mut self) {
        self.tally.overflows += 1;
        self.overflowed = true;
        if let Some(session) = &mut self.session {
            session.busy = false;
            session.asked = None;
        }
        let message = "prompt is too long".to_owned();
        self.agent(AgentEvent::TurnEnded(TurnEnd::Overflow { message }));
    }

    fn hear(&mut self, notice: &Notice) {
        let Notice::HandoffDecided { kind, .. } = notice else { return };
        if *kind == HandoffKind::Stop {
            return;
        }
        let Some(session) = &self.session else { return };
        self.tally.handoffs += 1;
        self.tally.braked += u64::from(session.stopped || session.was_stopped);
        if self.overflowed {
            return;
        }
        self.tally.orderly += 1;
        self.tally.good_moments += u64::from(self.work.calls == 0);
        self.tally.fill += (session.fill * 10_000).checked_div(self.world.ceiling).unwrap_or(0);
    }

    fn close(mut self) -> Tally {
        let Some(outcome) = self.outcome else {
            self.tally.stuck = 1;
            return self.tally;
        };
        let whole = self.work.done == self.work.steps.len();
        match outcome.verdict {
            Verdict::Verified | Verdict::Unverified if whole => self.tally.finished = 1,
            Verdict::Stopped => self.tally.stopped = 1,
            Verdict::Verified | Verdict::Unverified | Verdict::Failed | Verdict::NeedsInput => {
                self.tally.failed = 1;
            }
        }
        self.tally
    }
}

/// Tokens that a request for a checkpoint adds, and those of its answer at most and at least.
pub(super) fn checkpoint_sizes(depth: Depth) -> (u64, u64, u64) {
    match depth {
        Depth::Emergency => (200, 100, 250),
        Depth::Brief => (300, 200, 900),
        Depth::Full => (500, 600, 2_500),
    }
}
