//! The driver of a world, well or at random, and its agent.

use segue_machine::{AgentEvent, AgentFailure, Effect, Event, GateWhen, Reading, Scope, Subject, TurnEnd};

use super::{Check, Job, Mood, World};
use crate::dice::Dice;
use crate::wild;

impl World {
    pub(super) fn carry_out_well(&mut self, job: Job, dice: &mut Dice) -> Check {
        match job {
            Job::Gate(name, when) => {
                let result = wild::gate(name, when, true, dice);
                self.feed(Event::GateFinished(result))
            }
            Job::Effect(Effect::StartSession { session, .. }) => {
                self.feed(Event::SessionSpawned { session, pid: 1, pid_start: 1 })?;
                let event = self.ready_of(session, dice);
                self.feed(Event::Agent { session, event })
            }
            Job::Effect(Effect::AskCheckpoint { session, .. }) => {
                let event = AgentEvent::Answered { text: "<checkpoint>x</checkpoint>".to_owned() };
                self.feed(Event::Agent { session, event })
            }
            Job::Effect(Effect::AskSide { session, id, .. }) => {
                let event = AgentEvent::SideAnswered { id, text: wild::BLOCK.to_owned() };
                self.feed(Event::Agent { session, event })
            }
            job @ (Job::Effect(_) | Job::Agent(..)) => self.carry_out(job, dice),
        }
    }

    pub(super) fn carry_out(&mut self, job: Job, dice: &mut Dice) -> Check {
        let effect = match job {
            Job::Gate(name, when) => {
                let percent = match (when, self.mood) {
                    (_, Mood::Red) => 10,
                    (GateWhen::Before, _) => 30,
                    (GateWhen::After | GateWhen::Checkpoint, _) => 65,
                };
                let passed = dice.chance(percent);
                let result = wild::gate(name, when, passed, dice);
                return self.feed(Event::GateFinished(result));
            }
            Job::Agent(session, event) => return self.feed(Event::Agent { session, event }),
            Job::Effect(effect) => effect,
        };
        match effect {
            Effect::RunGates { when, .. } => {
                let gates: Vec<_> =
                    self.spec.gates.iter().filter(|g| !g.manual).map(|g| g.name.clone()).collect();
                self.jobs.extend(gates.into_iter().map(|name| Job::Gate(name, when)));
                Ok(())
            }
            Effect::StartSession { session, .. } => self.start_agent(session, dice),
            Effect::SendPrompt { session, .. } => {
                self.feed(Event::PromptSent { session, chars: u64::from(dice.roll(5_000)) })
            }
            Effect::AskCheckpoint { session, .. } => self.asked(session, dice),
            Effect::AskSide { session, id, .. } => {
                self.jobs.extend(wild::side_answer(id, dice).map(|event| Job::Agent(session, event)));
                Ok(())
            }
            Effect::TakeCheckpoint { session, asked, by, .. } => {
                let work = wild::work(
                    dice,
                    matches!(self.mood, Mood::Stubborn | Mood::Limited | Mood::Broken { .. }),
                );
                let n = self.records.len() as u64;
                self.feed(wild::checkpoint(session, by, asked.depth, work, n))
            }
            Effect::JudgeWords { session, tree, .. } => {
                let judged = wild::judged(dice);
                let name = format!("t{}", dice.roll(3));
                let tree = dice.maybe(50, name).filter(|_| tree);
                self.feed(Event::WordsJudged { session, judged, tree, trouble: None })
            }
            Effect::SaveWork { .. } => self.feed(Event::WorkSaved { work: wild::work(dice, false) }),
            Effect::EndSession { session, .. } if self.alive == Some(session) => {
                self.feed(Event::SessionExited { session, exit: dice.maybe(80, 0), orphans: 0 })
            }
            Effect::EndSession { .. }
            | Effect::TellAgent { .. }
            | Effect::AnswerPermission { .. }
            | Effect::AnswerBrake { .. }
            | Effect::WriteHandoffFile { .. }
            | Effect::SetTimer { .. }
            | Effect::ClearTimer { .. }
            | Effect::KeepCircuit { .. }
            | Effect::Announce(_)
            | Effect::Finish(_) => Ok(()),
        }
    }

    fn start_agent(&mut self, session: u32, dice: &mut Dice) -> Check {
        let luck = dice.roll(100);
        if luck < 4 {
            return self.feed(Event::SessionNotStarted { session, why: "no such file".to_owned() });
        }
        self.feed(Event::SessionSpawned { session, pid: 9, pid_start: 9 })?;
        match luck {
            4..=7 => self.feed(Event::SessionExited { session, exit: Some(127), orphans: 0 }),
            8..=9 => Ok(()),
            _ => {
                if dice.chance(60) {
                    self.feed(wild::priced(session, dice))?;
                }
                let ready = self.ready_of(session, dice);
                self.jobs.push_back(Job::Agent(session, ready));
                Ok(())
            }
        }
    }

    // A conversation that is taken up mostly keeps its name.
    fn ready_of(&mut self, session: u32, dice: &mut Dice) -> AgentEvent {
        let mut event = wild::ready(session, dice);
        if let AgentEvent::Ready { conversation, can, .. } = &mut event {
            let asked = self.resumes.take().filter(|_| dice.chance(80));
            *conversation = asked.unwrap_or_else(|| conversation.clone());
            can.resume &= !matches!(self.mood, Mood::Broken { resumes: false, .. });
        }
        event
    }

    fn asked(&mut self, session: u32, dice: &mut Dice) -> Check {
        let answer = AgentEvent::Answered { text: "<checkpoint>x</checkpoint>".to_owned() };
        match dice.roll(10) {
            0 => return Ok(()),
            1 => self.jobs.push_back(Job::Agent(session, AgentEvent::NotAnswered { why: "no".to_owned() })),
            2 | 3 => {
                self.feed(Event::Agent { session, event: AgentEvent::TurnEnded(TurnEnd::Cancelled) })?;
                self.jobs.push_back(Job::Agent(session, answer));
            }
            _ => self.jobs.push_back(Job::Agent(session, answer)),
        }
        Ok(())
    }
}

impl World {
    pub(super) fn agent_acts(&mut self, dice: &mut Dice) -> Check {
        let Some(session) = self.alive.filter(|_| self.ready) else {
            return self.feed(Event::NoteLeft { text: "waiting".to_owned() });
        };
        let needy = if self.mood == Mood::Needy { 30 } else { 3 };
        let done = if self.mood == Mood::Red { 25 } else { 4 };
        if dice.chance(needy) {
            let (request, title) = ("r".to_owned(), "it".to_owned());
            let kind = dice.pick(&["web", "shell"]).to_owned();
            let event = AgentEvent::PermissionAsked { request, kind, title, subject: Subject::default() };
            return self.feed(Event::Agent { session, event });
        }
        if self.mood == Mood::Limited && dice.chance(25) {
            let event = AgentEvent::TurnEnded(wild::refusal(dice));
            return self.feed(Event::Agent { session, event });
        }
        if let Mood::Broken { same, .. } = self.mood
            && dice.chance(80)
        {
            let words = ["one", "two", "three", "four", "five", "six", "seven"];
            let message = if same { "broken" } else { dice.pick(&words) };
            let event = AgentEvent::TurnEnded(TurnEnd::failed(AgentFailure::Other, message));
            return self.feed(Event::Agent { session, event });
        }
        if dice.chance(done) {
            let event = AgentEvent::TurnEnded(TurnEnd::Finished { text: "STATUS: done".to_owned() });
            return self.feed(Event::Agent { session, event });
        }
        let event = match dice.roll(100) {
            0..=49 => return self.calls_model(session, dice),
            50..=70 => self.uses_tool(dice),
            71..=74 => {
                let (request, tool, chars) = ("b".to_owned(), "t".to_owned(), u64::from(dice.roll(300_000)));
                return self.feed(Event::BrakeAsked { session, request, tool, chars });
            }
            75..=82 => AgentEvent::TextSaid { chars: u64::from(dice.roll(4_000)) },
            83..=88 => AgentEvent::ItemsSeen { open: dice.roll(3), closed: dice.roll(5), items: Vec::new() },
            89 => AgentEvent::Compacted,
            90 => return self.feed(Event::DoneClaimed { text: "d".to_owned() }),
            91 => return self.feed(Event::SessionExited { session, exit: Some(1), orphans: 1 }),
            92..=94 => AgentEvent::TurnEnded(wild::turn_end(dice)),
            95..=96 => {
                let side = Reading { scope: Scope::Side, ..Reading::exact(2_000, 0, 0, 5) };
                AgentEvent::UsageRead(side)
            }
            _ => AgentEvent::Unrecognised { text: "?".to_owned(), bytes: 1 },
        };
        self.feed(Event::Agent { session, event })
    }

    fn uses_tool(&mut self, dice: &mut Dice) -> AgentEvent {
        let (tool, title) = ("t".to_owned(), "works".to_owned());
        self.tool = !self.tool;
        if self.tool {
            AgentEvent::ToolStarted { tool, title }
        } else {
            AgentEvent::ToolEnded { tool, title, ok: dice.chance(90), chars: u64::from(dice.roll(9_000)) }
        }
    }

    fn calls_model(&mut self, session: u32, dice: &mut Dice) -> Check {
        let growth = match self.mood {
            // Towards the end in small steps, so that stages near the ceiling are met with room to ask.
            Mood::Greedy | Mood::Stubborn if self.fill > 70_000 => 1_000 + dice.roll(5_000),
            Mood::Greedy | Mood::Stubborn => 20_000 + dice.roll(20_000),
            Mood::Heavy if self.fill == 0 => 93_000,
            Mood::Plain
            | Mood::Needy
            | Mood::Red
            | Mood::Heavy
            | Mood::Quiet
            | Mood::Limited
            | Mood::Broken { .. } => dice.roll(20_000),
        };
        self.fill += u64::from(growth);
        self.cost += u64::from(dice.roll(150_000));
        self.calls += 1;
        if dice.chance(60) && self.fill > u64::from(growth) {
            let chars = u64::from(growth);
            self.feed(Event::Agent { session, event: AgentEvent::TextSaid { chars } })?;
        }
        let reading = Reading {
            call: Some(format!("call-{}", self.calls)),
            session_cost_musd: Some(self.cost).filter(|_| dice.chance(70)),
            ..Reading::exact(self.fill, 0, 0, 10)
        };
        self.feed(Event::Agent { session, event: AgentEvent::UsageRead(reading) })
    }
}
