//! A driver, an agent and a person who behave plausibly and fail at random, and what must hold after each record.

#[path = "checks.rs"]
mod checks;
#[path = "driver.rs"]
mod driver;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use segue_machine::{
    AgentEvent, AgentSpec, Effect, Event, GateWhen, Millis, Phase, Record, Run, RunSpec, StopHow, Timer,
    TurnEnd,
};

use crate::dice::Dice;
use crate::wild;

pub(crate) type Check = Result<(), TestCaseError>;

/// Something that was begun and whose outcome is still to come.
enum Job {
    Effect(Effect),
    Gate(String, GateWhen),
    Agent(u32, AgentEvent),
}

/// What kind of run this is, so that rare limits are met often enough.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    Plain,
    Greedy,
    Stubborn,
    Needy,
    Red,
    Heavy,
    Quiet,
    Limited,
    /// Every session fails, always with the same words, or each time with others; its conversation can be continued or not.
    Broken {
        same: bool,
        resumes: bool,
    },
}

pub(crate) struct World {
    pub(crate) records: Vec<Record>,
    pub(crate) effects: Vec<Vec<Effect>>,
    run: Run,
    spec: RunSpec,
    now: Millis,
    jobs: VecDeque<Job>,
    timers: BTreeMap<Timer, Millis>,
    mood: Mood,
    alive: Option<u32>,
    ready: bool,
    tool: bool,
    fill: u64,
    cost: u64,
    calls: u64,
    finishes: u32,
    deadline_fired: bool,
    contradicted: bool,
    /// The agent at work, and which agent had which conversation.
    agent: String,
    conversations: BTreeSet<(String, String)>,
    /// The conversation that the next session was asked to take up.
    resumes: Option<String>,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let moods = [
            Mood::Plain,
            Mood::Greedy,
            Mood::Stubborn,
            Mood::Needy,
            Mood::Red,
            Mood::Heavy,
            Mood::Quiet,
            Mood::Greedy,
            Mood::Limited,
            Mood::Broken { same: true, resumes: true },
            Mood::Broken { same: false, resumes: true },
            Mood::Broken { same: false, resumes: false },
            Mood::Broken { same: false, resumes: false },
            Mood::Broken { same: false, resumes: false },
        ];
        let mut spec = wild::spec(&mut dice, 1_000);
        let mood = dice.pick(&moods);
        if let Mood::Broken { same, .. } = mood {
            spec.limits.max_handoffs_without_progress = 0;
            spec.next.verifiers.clear();
            (spec.limits.sessions, spec.budget) = (None, Default::default());
            spec.agents.truncate(1);
            let other = AgentSpec { name: "other".to_owned(), ..spec.agents[0].clone() };
            spec.agents.extend((!same).then_some(other));
        }
        Self {
            records: Vec::new(),
            effects: Vec::new(),
            run: Run::default(),
            spec,
            now: 1_000,
            jobs: VecDeque::new(),
            timers: BTreeMap::new(),
            mood,
            alive: None,
            ready: false,
            tool: false,
            fill: 0,
            cost: 0,
            calls: 0,
            finishes: 0,
            deadline_fired: false,
            contradicted: false,
            agent: String::new(),
            conversations: BTreeSet::new(),
            resumes: None,
        }
    }

    pub(crate) fn begin(&mut self) -> Check {
        self.feed(Event::RunStarted { spec: Box::new(self.spec.clone()) })
    }

    /// One thing happens.
    pub(crate) fn step(&mut self, seed: u64) -> Check {
        let mut dice = Dice(seed);
        let most = if self.mood == Mood::Quiet { 30_000 } else { 8_000 };
        self.pass_time(u64::from(dice.roll(most)), &mut dice)?;
        if self.is_over() {
            return if dice.chance(25) { self.kill(&mut dice) } else { self.surprise(&mut dice) };
        }
        match dice.roll(100) {
            0..=2 => self.surprise(&mut dice),
            3 => self.feed(Event::StopAsked { how: dice.pick(&[StopHow::Gently, StopHow::AtOnce]) }),
            4 => self.kill(&mut dice),
            5..=7 => {
                let session = self.alive.unwrap_or(1).saturating_sub(1);
                self.feed(Event::Agent { session, event: wild::agent_event(&mut dice) })
            }
            8..=9 => self.fire_next(&mut dice),
            _ if !self.jobs.is_empty() && dice.chance(70) => {
                let most = u32::try_from(self.jobs.len().min(2)).unwrap_or(1);
                let job = self.jobs.remove(dice.roll(most) as usize);
                job.map_or(Ok(()), |job| self.carry_out(job, &mut dice))
            }
            _ => self.agent_acts(&mut dice),
        }
    }

    /// From here on nothing goes wrong any more: the run must come to an end, killed before or not.
    pub(crate) fn end(&mut self, seed: u64) -> Check {
        let mut dice = Dice(seed);
        if dice.chance(50) {
            self.kill(&mut dice)?;
        }
        for _ in 0..400 {
            if self.is_over() {
                return Ok(());
            }
            if let Some(job) = self.jobs.pop_front() {
                self.carry_out_well(job, &mut dice)?;
                continue;
            }
            let before = self.effects.iter().map(Vec::len).sum::<usize>();
            if let Some(session) = self.alive.filter(|_| self.ready) {
                let event = AgentEvent::TurnEnded(TurnEnd::Finished { text: "STATUS: done".to_owned() });
                self.feed(Event::Agent { session, event })?;
            }
            if self.effects.iter().map(Vec::len).sum::<usize>() == before {
                prop_assert!(!self.timers.is_empty(), "nothing leads on: {:?}", self.run.view());
                self.fire_next(&mut dice)?;
            }
        }
        prop_assert!(false, "the run does not end: {:?}", self.run.view());
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.run.view().phase == Phase::Finished
    }

    fn surprise(&mut self, dice: &mut Dice) -> Check {
        let event = wild::event(dice, self.run.view().sessions);
        self.feed(event)
    }

    // The process dies with all that was under way; someone resumes, perhaps with limits raised.
    fn kill(&mut self, dice: &mut Dice) -> Check {
        self.jobs.clear();
        self.timers.clear();
        let resumable = self.run.view().outcome.as_ref().is_none_or(|o| !self.is_over() || o.resumable());
        if resumable {
            self.alive = None;
            self.finishes = 0;
            self.deadline_fired = false;
        }
        let raised = dice.chance(40);
        if raised {
            self.spec.limits.deadline_ms = self.spec.limits.deadline_ms.map(|d| d.saturating_add(600_000));
            self.spec.limits.tokens = self.spec.limits.tokens.map(|t| t.saturating_mul(2));
            self.spec.limits.cost_musd = None;
        }
        let spec = Some(Box::new(self.spec.clone())).filter(|_| raised);
        let at = dice.maybe(15, wild::checkpoint_ref("older"));
        let circuits = wild::circuits(dice);
        let (orphans, same_session, now) = (dice.roll(2), dice.chance(30), dice.chance(20));
        self.feed(Event::RunResumed { orphans, spec, same_session, at, now, circuits, answer: None })?;
        let effects = self.effects.last().map_or(0, Vec::len);
        prop_assert_eq!(
            effects > 0,
            resumable,
            "a resume goes on exactly when there is something to go on with"
        );
        Ok(())
    }

    fn pass_time(&mut self, ms: u64, dice: &mut Dice) -> Check {
        let until = self.now + ms;
        while let Some((timer, at)) = self.next_timer().filter(|(_, at)| *at <= until) {
            self.fire(timer, at, dice)?;
        }
        self.now = self.now.max(until);
        Ok(())
    }

    fn fire_next(&mut self, dice: &mut Dice) -> Check {
        match self.next_timer() {
            Some((timer, at)) => self.fire(timer, at, dice),
            None => Ok(()),
        }
    }

    fn fire(&mut self, timer: Timer, at: Millis, dice: &mut Dice) -> Check {
        self.timers.remove(&timer);
        self.now = self.now.max(at);
        let silent = match (self.mood == Mood::Quiet, self.ready) {
            (true, _) => 50,
            (false, true) => 1,
            (false, false) => 10,
        };
        let is_silent = dice.chance(silent);
        let quiet_ms = if is_silent { 130_000 } else { u64::from(dice.roll(20_000)) };
        let activity = wild::activity(dice).filter(|_| is_silent || dice.chance(20));
        self.feed(Event::TimerFired { timer, quiet_ms, activity })
    }

    fn next_timer(&self) -> Option<(Timer, Millis)> {
        self.timers.iter().min_by_key(|(_, at)| **at).map(|(timer, at)| (*timer, *at))
    }
}
