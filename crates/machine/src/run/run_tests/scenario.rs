//! A run with a driver that carries every effect out in the simplest way, and an agent that does what it is told.
//! Time is simulated: it passes in `wait` and nowhere else.

#[path = "seen.rs"]
mod seen;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::claims::Judged;
use crate::policy::preset;
use crate::{
    AgentEvent, AgentSpec, Asked, Capabilities, CheckpointBy, Claims, CommitMode, Effect, Event, GateResult,
    GateSpec, GateWhen, GitSpec, Millis, Price, Reading, Record, Run, RunSpec, StopHow, Subject, Timer,
    TurnEnd, WorkState,
};

/// When every scene begins.
pub(super) const START: Millis = 1_000_000;

/// What the agent does when it is asked for a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reply {
    Answers,
    Refuses,
    Silent,
}

/// A checkpoint as it is asked for.
pub(super) const BLOCK: &str =
    "<checkpoint>\n## Goal\nbuild it\n## Remaining Tasks\n- the rest\n</checkpoint>";

/// What the agent does with a side question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SideReply {
    Answers,
    Says(&'static str),
    Fails,
}

/// How an agent starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Birth {
    Ready,
    ExitsFirst,
    NotFound,
    Silent,
}

pub(super) struct Scenario {
    pub(super) run: Run,
    pub(super) spec: RunSpec,
    pub(super) now: Millis,
    /// Everything that was to be done so far.
    pub(super) effects: Vec<Effect>,
    pub(super) reply: Reply,
    pub(super) side_reply: SideReply,
    pub(super) can: Capabilities,
    todo: VecDeque<Effect>,
    held: BTreeSet<&'static str>,
    timers: BTreeMap<Timer, Millis>,
    births: VecDeque<Birth>,
    green: (bool, VecDeque<bool>),
    trees: VecDeque<&'static str>,
    /// The work tree as it is found when a helper's words are judged.
    pub(super) trees_seen: VecDeque<&'static str>,
    /// What is found about the claims of each checkpoint and of the last words, in order.
    pub(super) claims: VecDeque<Vec<Judged>>,
    /// Why the last words cannot be held against git.
    pub(super) trouble: Option<String>,
    seq: u64,
    calls: u64,
    tokens: u64,
    last_word: Millis,
    /// CPU time so far and what is added to it each second; none where it is not told.
    cpu: Option<(u64, u64)>,
    looked: Millis,
    gone: bool,
    /// What is told about the price of each session's model before it is ready; nothing when `None`.
    pub(super) price: Option<Option<Price>>,
    prompt_chars: u64,
}

/// A name for each effect, for holding it back.
pub(super) fn name(effect: &Effect) -> &'static str {
    match effect {
        Effect::RunGates { .. } => "gates",
        Effect::StartSession { .. } => "start",
        Effect::SendPrompt { .. } => "prompt",
        Effect::AskCheckpoint { .. } => "ask",
        Effect::AskSide { .. } => "side",
        Effect::TellAgent { .. } => "tell",
        Effect::AnswerPermission { .. } => "permission",
        Effect::AnswerBrake { .. } => "brake",
        Effect::TakeCheckpoint { .. } => "take",
        Effect::JudgeWords { .. } => "judge",
        Effect::SaveWork { .. } => "save",
        Effect::WriteHandoffFile { .. } => "handoff file",
        Effect::EndSession { .. } => "end",
        Effect::SetTimer { .. } => "set timer",
        Effect::ClearTimer { .. } => "clear timer",
        Effect::KeepCircuit { .. } => "circuit",
        Effect::Announce(_) => "announce",
        Effect::Finish(_) => "finish",
    }
}

// The scene: what is given.
impl Scenario {
    /// A preset, one agent with a window of 100,000 tokens, no gates.
    pub(super) fn new(policy: &str) -> Self {
        let preset = preset::find(policy).unwrap();
        let spec = RunSpec {
            limits: crate::Limits { max_restarts: preset.max_restarts, ..Default::default() },
            git: GitSpec {
                enabled: true,
                commit: CommitMode::Snapshot,
                base_tree: Some("base".to_owned()),
                base_secrets: None,
                users: None,
                ..GitSpec::none()
            },
            workdir: "/w".to_owned(),
            started_at: START,
            ..RunSpec::new("do it", vec![agent("a")], preset.policy)
        };
        Self {
            run: Run::default(),
            spec,
            now: START,
            effects: Vec::new(),
            reply: Reply::Answers,
            side_reply: SideReply::Answers,
            can: Capabilities {
                ask: true,
                follow_up: true,
                usage: true,
                brake: false,
                tell: true,
                side: false,
                resume: false,
            },
            todo: VecDeque::new(),
            held: BTreeSet::new(),
            timers: BTreeMap::new(),
            births: VecDeque::new(),
            green: (false, VecDeque::new()),
            trees: VecDeque::new(),
            trees_seen: VecDeque::new(),
            claims: VecDeque::new(),
            trouble: None,
            seq: 0,
            calls: 0,
            tokens: 0,
            last_word: START,
            cpu: None,
            looked: START,
            gone: false,
            price: None,
            prompt_chars: 0,
        }
    }

    pub(super) fn window(mut self, tokens: u64) -> Self {
        self.spec.agents[0].window = Some(tokens);
        self
    }

    pub(super) fn no_window(mut self) -> Self {
        self.spec.agents[0].window = None;
        self
    }

    pub(super) fn threshold(mut self, percent: f64) -> Self {
        self.spec.policy.set_threshold(percent).unwrap();
        self
    }

    /// Gates that are red before the work and green after it.
    pub(super) fn gates(mut self, count: usize) -> Self {
        let gate = |n| GateSpec::new(format!("g{n}"), "x", 1);
        self.spec.gates = (1..=count).map(gate).collect();
        self
    }

    pub(super) fn green_before(mut self) -> Self {
        self.green.0 = true;
        self
    }

    /// What the gates say in each round after the work; green when nothing is said.
    pub(super) fn rounds(mut self, green: &[bool]) -> Self {
        self.green.1 = green.iter().copied().collect();
        self
    }

    pub(super) fn fallback(mut self, name: &str) -> Self {
        self.spec.agents.push(agent(name));
        self
    }

    pub(super) fn births(mut self, births: &[Birth]) -> Self {
        self.births = births.iter().copied().collect();
        self
    }

    /// The work tree at each checkpoint; a new one each time when nothing is said.
    /// Every prompt is this long.
    pub(super) fn prompts_of(mut self, chars: u64) -> Self {
        self.prompt_chars = chars;
        self
    }

    pub(super) fn trees(mut self, trees: &[&'static str]) -> Self {
        self.trees = trees.iter().copied().collect();
        self
    }

    pub(super) fn reply(mut self, reply: Reply) -> Self {
        self.reply = reply;
        self
    }

    pub(super) fn spec(mut self, change: impl FnOnce(&mut RunSpec)) -> Self {
        change(&mut self.spec);
        self
    }

    /// Effects of this name are noted and left undone.
    pub(super) fn hold(mut self, name: &'static str) -> Self {
        self.held.insert(name);
        self
    }

    /// Carries out what was held back, and holds nothing from here on.
    pub(super) fn release(&mut self) -> &mut Self {
        self.held.clear();
        self.settle();
        self
    }

    pub(super) fn start(mut self) -> Self {
        let spec = Box::new(self.spec.clone());
        self.feed(Event::RunStarted { spec });
        self
    }
}

fn agent(name: &str) -> AgentSpec {
    AgentSpec { name: name.into(), window: Some(100_000), ..AgentSpec::default() }
}

// What happens.
impl Scenario {
    pub(super) fn feed(&mut self, event: Event) -> &mut Self {
        self.take_in(event);
        self.settle();
        self
    }

    pub(super) fn says(&mut self, event: AgentEvent) -> &mut Self {
        self.last_word = self.now;
        let session = self.view().sessions;
        self.feed(Event::Agent { session, event })
    }

    /// A model call reads so many tokens, and nothing came before it.
    pub(super) fn reads(&mut self, tokens: u64) -> &mut Self {
        self.calls += 1;
        self.tokens = tokens;
        let call = Some(format!("call-{}", self.calls));
        self.says(AgentEvent::UsageRead(Reading { call, ..Reading::exact(tokens, 0, 0, 0) }))
    }

    /// A tool result, and then a model call that reads so many tokens because of it.
    pub(super) fn usage(&mut self, tokens: u64) -> &mut Self {
        let session = self.view().sessions;
        self.tool(tokens.saturating_sub(self.tokens));
        if self.view().sessions == session { self.reads(tokens) } else { self }
    }

    pub(super) fn tool(&mut self, chars: u64) -> &mut Self {
        self.tool_begins("t").tool_ends("t", chars)
    }

    pub(super) fn tool_begins(&mut self, tool: &str) -> &mut Self {
        self.says(AgentEvent::ToolStarted { tool: tool.to_owned(), title: "works".to_owned() })
    }

    pub(super) fn tool_ends(&mut self, tool: &str, chars: u64) -> &mut Self {
        let (tool, title) = (tool.to_owned(), "works".to_owned());
        self.says(AgentEvent::ToolEnded { tool, title, ok: true, chars })
    }

    pub(super) fn tools(&mut self, count: u32) -> &mut Self {
        for _ in 0..count {
            self.tool(10);
        }
        self
    }

    pub(super) fn finishes(&mut self) -> &mut Self {
        self.says(AgentEvent::TurnEnded(TurnEnd::Finished {
            text: "All is well.\n\nSTATUS: done".to_owned(),
        }))
    }

    pub(super) fn overflows(&mut self) -> &mut Self {
        self.says(AgentEvent::TurnEnded(TurnEnd::Overflow { message: "too long".to_owned() }))
    }

    pub(super) fn crashes(&mut self) -> &mut Self {
        let session = self.view().sessions;
        self.feed(Event::SessionExited { session, exit: Some(1), orphans: 0 })
    }

    pub(super) fn wants(&mut self, kind: &str) -> &mut Self {
        let (request, title) = ("r".to_owned(), "does it".to_owned());
        self.says(AgentEvent::PermissionAsked {
            request,
            kind: kind.to_owned(),
            title,
            subject: Subject::default(),
        })
    }

    pub(super) fn stop(&mut self, how: StopHow) -> &mut Self {
        self.feed(Event::StopAsked { how })
    }

    /// segue dies with all that was under way, and someone resumes the run.
    pub(super) fn killed_and_resumed(&mut self) -> &mut Self {
        self.killed_and_resumed_with(None, false)
    }

    pub(super) fn killed_and_resumed_at(&mut self, id: &str) -> &mut Self {
        let by = CheckpointBy::Agent;
        let at =
            crate::CheckpointRef { id: id.to_owned(), path: String::new(), session: 1, by, ledger: None };
        self.killed();
        self.resumed(None, false, Some(at), false)
    }

    pub(super) fn killed_and_resumed_with(&mut self, spec: Option<RunSpec>, same_session: bool) -> &mut Self {
        self.killed();
        self.resumed(spec, same_session, None, false)
    }

    /// The same, and whoever resumes does not want to wait.
    pub(super) fn killed_and_resumed_now(&mut self) -> &mut Self {
        self.killed();
        self.resumed(None, false, None, true)
    }

    /// Somebody resumes the run with an answer to what the agent asked for.
    pub(super) fn answered(&mut self, answer: &str) -> &mut Self {
        let (circuits, answer) = (Vec::new(), Some(answer.to_owned()));
        let (spec, at) = (None, None);
        let event =
            Event::RunResumed { orphans: 0, spec, same_session: true, at, now: false, circuits, answer };
        self.feed(event)
    }

    fn resumed(
        &mut self,
        spec: Option<RunSpec>,
        same_session: bool,
        at: Option<crate::CheckpointRef>,
        now: bool,
    ) -> &mut Self {
        let spec = spec.map(Box::new);
        let (circuits, answer) = (Vec::new(), None);
        self.feed(Event::RunResumed { orphans: 1, spec, same_session, at, now, circuits, answer })
    }

    fn killed(&mut self) {
        self.todo.clear();
        self.timers.clear();
        self.held.clear();
        self.tokens = 0;
    }

    /// Lets time pass and fires the timers that run out, in order.
    pub(super) fn wait(&mut self, ms: u64) -> &mut Self {
        let until = self.now + ms;
        while let Some((timer, at)) = self.next_timer().filter(|(_, at)| *at <= until) {
            self.now = self.now.max(at);
            self.timers.remove(&timer);
            let quiet_ms = self.now - self.last_word;
            let activity = self.activity(timer);
            self.feed(Event::TimerFired { timer, quiet_ms, activity });
        }
        self.now = until;
        self
    }

    /// From here on the system tells of CPU time, and so many milliseconds of it are used each second.
    pub(super) fn uses_cpu(&mut self, ms_a_second: u64) -> &mut Self {
        self.cpu = Some((self.cpu.map_or(0, |(so_far, _)| so_far), ms_a_second));
        self.looked = self.now;
        self
    }

    /// The agent's process is gone, and nothing says so.
    pub(super) fn vanishes(&mut self) -> &mut Self {
        self.gone = true;
        self
    }

    fn activity(&mut self, timer: Timer) -> Option<crate::Activity> {
        let (so_far, rate) = self.cpu.filter(|_| timer == Timer::Idle)?;
        let used = so_far + (self.now - self.looked) * rate / 1_000;
        (self.cpu, self.looked) = (Some((used, rate)), self.now);
        Some(crate::Activity { cpu_ms: Some(used), procs: Some(2), gone: self.gone, ..Default::default() })
    }

    fn next_timer(&self) -> Option<(Timer, Millis)> {
        self.timers.iter().min_by_key(|(_, at)| **at).map(|(timer, at)| (*timer, *at))
    }

    fn take_in(&mut self, event: Event) {
        self.seq += 1;
        let effects = self.run.handle(&Record { seq: self.seq, at: self.now, event });
        self.todo.extend(effects.iter().cloned());
        self.effects.extend(effects);
    }

    // The moment for which last words are heard out passes by itself, unless it is held.
    fn a_moment_passes(&mut self) -> bool {
        const MOMENT: u64 = 2_000;
        let due = self.timers.get(&Timer::End).copied().filter(|at| *at <= self.now + MOMENT);
        let Some(at) = due.filter(|_| !self.held.contains("moment")) else { return false };
        self.now = self.now.max(at);
        self.timers.remove(&Timer::End);
        self.take_in(Event::TimerFired { timer: Timer::End, quiet_ms: 0, activity: None });
        true
    }

    fn settle(&mut self) {
        for _ in 0..1_000 {
            let Some(next) = self.todo.iter().position(|e| !self.held.contains(name(e))) else {
                if self.a_moment_passes() {
                    continue;
                }
                return;
            };
            if let Some(effect) = self.todo.remove(next) {
                self.carry_out(effect);
            }
        }
        panic!("the run goes round in circles: {:?}", self.todo);
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::RunGates { when, .. } => self.run_gates(when),
            Effect::StartSession { session, .. } => self.start_agent(session),
            Effect::SendPrompt { session, .. } => {
                self.take_in(Event::PromptSent { session, chars: self.prompt_chars })
            }
            Effect::AskCheckpoint { session, .. } => self.ask(session),
            Effect::AskSide { session, id, .. } => self.ask_side(session, id),
            Effect::TakeCheckpoint { session, asked, by, source, .. } => {
                self.take_checkpoint(session, &asked, by, source);
            }
            Effect::JudgeWords { session, .. } => {
                let judged = self.claims.pop_front().unwrap_or_default();
                let tree = self.trees_seen.pop_front().map(str::to_owned);
                let trouble = self.trouble.clone();
                self.take_in(Event::WordsJudged { session, judged, tree, trouble });
            }
            Effect::SaveWork { .. } => self.take_in(Event::WorkSaved { work: WorkState::default() }),
            Effect::EndSession { session, .. } => {
                self.take_in(Event::SessionExited { session, exit: Some(0), orphans: 0 });
            }
            Effect::SetTimer { timer, at } => {
                self.timers.insert(timer, at);
            }
            Effect::ClearTimer { timer } => {
                self.timers.remove(&timer);
            }
            Effect::TellAgent { .. }
            | Effect::AnswerPermission { .. }
            | Effect::AnswerBrake { .. }
            | Effect::WriteHandoffFile { .. }
            | Effect::KeepCircuit { .. }
            | Effect::Announce(_)
            | Effect::Finish(_) => {}
        }
    }

    fn run_gates(&mut self, when: GateWhen) {
        let passed = match when {
            GateWhen::Before => self.green.0,
            GateWhen::After | GateWhen::Checkpoint => self.green.1.pop_front().unwrap_or(true),
        };
        for gate in self.spec.gates.clone().into_iter().filter(|g| !g.manual) {
            let exit = Some(i32::from(!passed));
            let tail = String::new();
            let result = GateResult {
                gate: gate.name,
                when,
                passed,
                exit,
                ms: 1,
                output: None,
                tail,
                timed_out: false,
            };
            self.take_in(Event::GateFinished(result));
        }
    }

    fn start_agent(&mut self, session: u32) {
        self.tokens = 0;
        let birth = self.births.pop_front().unwrap_or(Birth::Ready);
        if birth == Birth::NotFound {
            return self.take_in(Event::SessionNotStarted { session, why: "no such file".to_owned() });
        }
        self.take_in(Event::SessionSpawned { session, pid: 100 + session, pid_start: 1 });
        if birth == Birth::ExitsFirst {
            self.take_in(Event::SessionExited { session, exit: Some(127), orphans: 0 });
        } else if birth == Birth::Ready {
            if let Some(price) = self.price.clone() {
                let model = Some("m".to_owned());
                self.take_in(Event::ModelPriced { session, model, price, quality: None });
            }
            let conversation = format!("conversation-{session}");
            let event =
                AgentEvent::Ready { conversation, model: None, window: None, ceiling: None, can: self.can };
            self.last_word = self.now;
            self.take_in(Event::Agent { session, event });
        }
    }

    fn ask(&mut self, session: u32) {
        let event = match self.reply {
            Reply::Answers => AgentEvent::Answered { text: "<checkpoint>x</checkpoint>".to_owned() },
            Reply::Refuses => AgentEvent::NotAnswered { why: "it was cancelled".to_owned() },
            Reply::Silent => return,
        };
        self.take_in(Event::Agent { session, event });
    }

    fn ask_side(&mut self, session: u32, id: String) {
        let event = match self.side_reply {
            SideReply::Answers => AgentEvent::SideAnswered { id, text: BLOCK.to_owned() },
            SideReply::Says(text) => AgentEvent::SideAnswered { id, text: text.to_owned() },
            SideReply::Fails => AgentEvent::SideFailed { id, why: "it was refused".to_owned() },
        };
        self.take_in(Event::Agent { session, event });
    }

    fn take_checkpoint(
        &mut self,
        session: u32,
        asked: &Asked,
        by: CheckpointBy,
        source: Option<crate::WordsSource>,
    ) {
        let tree = self.trees.pop_front().map_or_else(|| format!("tree-{}", self.seq), str::to_owned);
        let judged = self.claims.pop_front().unwrap_or_default();
        self.take_in(Event::CheckpointTaken {
            checkpoint: format!("c-{}", self.seq),
            session,
            by,
            depth: asked.depth,
            path: ".segue/c".to_owned(),
            claims: Claims::default(),
            work: WorkState { tree: Some(tree), ..WorkState::default() },
            ms: 1,
            judged,
            source,
        });
    }
}
