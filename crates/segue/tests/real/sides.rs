//! A side question to a real CLI in the middle of its work, through its adapter alone: the worker notices nothing, and a
//! model that answers the question with its next tool call gets no tool.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use segue_agents::claude::{self, Claude};
use segue_agents::codex::{self, Codex};
use segue_agents::opencode::{self, OpenCode};
use segue_agents::{Act, Adapter, Io};
use segue_machine::{AgentEvent, Scope, TurnEnd};
use segue_rehearsal::brain::CHECKPOINT_REQUEST;
use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::script::{PersonaOptions, StepHabit};
use segue_rehearsal::script::CheckpointHabit;
use serde_json::{Value, json};

use crate::inside::{inside, say};
use crate::support::{World, messages};

const STEPS: u32 = 6;
/// The step in which the question is asked.
const ASKED_IN: u32 = 3;

/// A real CLI that is driven through its adapter, without the rest of segue.
struct Driven {
    adapter: Box<dyn Adapter>,
    child: Child,
    lines: Receiver<Vec<u8>>,
    events: Vec<AgentEvent>,
    /// How many lines were read, and what was done after how many, for a recording.
    read: usize,
    acts: Vec<Value>,
}

impl Driven {
    fn start(world: &World, agent: &str, adapter: Box<dyn Adapter>) -> Self {
        let extras = adapter.extras();
        let args: Vec<&str> = extras.args.iter().map(String::as_str).collect();
        let mut command = if agent == "opencode" {
            let bridged = ["bridge", "opencode", "--", "opencode"];
            world.command(env!("CARGO_BIN_EXE_segue"), &[&bridged[..], &args].concat())
        } else {
            world.command(world.root().join("bin").join(agent), &args)
        };
        let errors = std::fs::File::create(world.root().join("agent.err")).unwrap();
        command.envs(extras.env).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        if agent == "opencode" {
            command.envs(world.recipe(agent, 100_000).env);
        }
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        let log = world.root().join("agent.out");
        std::thread::spawn(move || {
            let mut log = std::fs::File::create(log).unwrap();
            for line in out.split(b'\n').map_while(Result::ok) {
                log.write_all(&[&line[..], b"\n"].concat()).unwrap();
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let mut driven = Self { adapter, child, lines, events: Vec::new(), read: 0, acts: Vec::new() };
        driven.with(|adapter, io| adapter.open(io));
        driven
    }

    fn with(&mut self, act: impl FnOnce(&mut dyn Adapter, &mut Io)) {
        let mut io = Io::default();
        act(self.adapter.as_mut(), &mut io);
        if let Some(input) = self.child.stdin.as_mut() {
            input.write_all(&io.write).and_then(|()| input.flush()).unwrap();
        }
        if io.close {
            self.child.stdin = None;
        }
        self.events.extend(io.events);
    }

    fn act(&mut self, act: Act) {
        let name = match &act {
            Act::Prompt(_) => "prompt",
            Act::SideQuestion { .. } => "side",
            Act::Ask(_) | Act::Tell(_) | Act::Permission { .. } | Act::Braked | Act::Close => "close",
        };
        self.acts.push(json!({ "after": self.read, "act": name }));
        self.with(|adapter, io| adapter.act(act, io));
    }

    /// Feeds lines until something is so.
    fn until(&mut self, mut is_so: impl FnMut(&[AgentEvent]) -> bool) {
        while !is_so(&self.events) {
            match self.lines.recv_timeout(Duration::from_millis(20)) {
                Ok(line) => {
                    self.read += 1;
                    self.with(|adapter, io| adapter.line(&line, io));
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => panic!("it ended: {:#?}", self.events),
            }
        }
    }

    /// Lets what is on its way arrive.
    fn settle(&mut self, time: Duration) {
        let end = Instant::now() + time;
        self.until(|_| Instant::now() >= end);
    }

    fn close(mut self, world: &World) -> Vec<AgentEvent> {
        self.act(Act::Close);
        std::fs::write(world.root().join("acts.json"), Value::from(self.acts.clone()).to_string()).unwrap();
        let truth = serde_json::to_string(&world.truth()).unwrap();
        std::fs::write(world.root().join("truth.json"), truth).unwrap();
        std::fs::write(world.root().join("bodies.json"), Value::from(world.bodies()).to_string()).unwrap();
        let end = Instant::now() + Duration::from_secs(4);
        while Instant::now() < end && self.child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        std::mem::take(&mut self.events)
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn adapter(world: &World, agent: &str) -> Box<dyn Adapter> {
    match agent {
        "claude" => Box::new(Claude::new(claude::Options {
            conversation: "6f2b8c1e-1111-4222-8333-944455566677".to_owned(),
            resume: None,
            model: Some("scripted-model".to_owned()),
            permission: claude::Permission::Bypass,
            no_compaction: true,
            brake: None,
            archive: None,
        })),
        "codex" => Box::new(Codex::new(codex::Options {
            cwd: world.repo().display().to_string(),
            resume: None,
            model: None,
            bypass: true,
            edit: false,
            compaction_guard: None,
        })),
        _ => Box::new(OpenCode::new(opencode::Options {
            resume: None,
            model: None,
            bypass: true,
            edit: false,
            no_compaction: true,
        })),
    }
}

fn world(agent: &str, checkpoint: CheckpointHabit) -> World {
    let steps = BTreeMap::from([(ASKED_IN, StepHabit { sleep_ms: 3_000, ..StepHabit::default() })]);
    let persona = PersonaOptions { steps, checkpoint, ..PersonaOptions::default() };
    let script = ServerScript { window: 100_000, persona, keep_bodies: true, ..ServerScript::default() };
    if agent == "opencode" {
        World::of(&[("opencode", 100_000)], STEPS, script)
    } else {
        World::new(STEPS, script)
    }
}

/// The messages of every call with or without the question.
fn talks(world: &World, with_question: bool) -> Vec<Vec<Value>> {
    let asks = |talk: &[Value]| talk.iter().any(|m| m.to_string().contains(CHECKPOINT_REQUEST));
    let mut talks: Vec<Vec<Value>> =
        world.bodies().iter().map(messages).filter(|talk| !talk.is_empty()).collect();
    talks.retain(|talk| asks(talk) == with_question);
    talks
}

fn asked_in_a_tool(agent: &str, checkpoint: CheckpointHabit) -> (World, Vec<AgentEvent>, Duration) {
    let world = world(agent, checkpoint);
    let before = std::fs::read_to_string(world.home().join(".codex/config.toml")).unwrap_or_default();
    let mut driven = Driven::start(&world, agent, adapter(&world, agent));
    driven.until(|events| matches!(events.last(), Some(AgentEvent::Ready { .. })));
    assert!(matches!(driven.events.last(), Some(AgentEvent::Ready { can, .. }) if can.side));
    driven.act(Act::Prompt(world.job.task_text()));
    driven.until(|_| world.steps().half_done().contains(&ASKED_IN));
    driven.settle(Duration::from_millis(500));
    let since = Instant::now();
    let text = format!("{CHECKPOINT_REQUEST}\nWrite a <checkpoint> of your work. Run no tool.");
    driven.act(Act::SideQuestion { id: "q1".to_owned(), text });
    driven.until(|events| events.iter().any(is_side));
    let took = since.elapsed();
    driven.until(|events| events.iter().any(|e| matches!(e, AgentEvent::TurnEnded(_))));
    driven.settle(Duration::from_millis(700));
    let events = driven.close(&world);

    let (steps, what) = (world.steps(), format!("{events:#?}"));
    assert_eq!(steps.distinct_done(), (1..=STEPS).collect(), "{what}");
    assert!(steps.started_twice().is_empty() && steps.half_done().is_empty(), "{steps:?}\n{what}");
    assert_eq!(events.iter().filter(|e| is_side(e)).count(), 1, "{what}");
    let ends = events.iter().filter(|e| matches!(e, AgentEvent::TurnEnded(_)));
    assert!(
        matches!(&ends.collect::<Vec<_>>()[..], [AgentEvent::TurnEnded(TurnEnd::Finished { .. })]),
        "{what}"
    );
    let tools = events
        .iter()
        .filter_map(|e| if let AgentEvent::ToolStarted { tool, .. } = e { Some(tool) } else { None });
    assert_eq!(tools.collect::<BTreeSet<_>>().len(), STEPS as usize, "{what}");
    assert!(
        !events.iter().any(|e| matches!(e, AgentEvent::PermissionAsked { .. } | AgentEvent::Compacted)),
        "{what}"
    );
    // OpenCode is ended with its group by whoever drives it; here nobody does.
    let left = if agent == "opencode" { Vec::new() } else { world.processes_left() };
    assert!(left.is_empty(), "left behind: {left:#?}");
    let after = std::fs::read_to_string(world.home().join(".codex/config.toml")).unwrap_or_default();
    assert_eq!(before, after, "the user's own file was changed");
    assert_eq!(conversations(&world, agent), 1, "a fork is left");
    (world, events, took)
}

/// How many conversations the agent has stored.
fn conversations(world: &World, agent: &str) -> u32 {
    if agent == "opencode" {
        let path = world.home().join(".local/share/opencode/opencode.db");
        let store = rusqlite::Connection::open(path).unwrap();
        return store.query_row("select count(*) from session", [], |row| row.get(0)).unwrap();
    }
    let folder = if agent == "codex" { ".codex/sessions" } else { ".claude/projects" };
    let mut folders = vec![world.home().join(folder)];
    let mut found = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                found += u32::from(entry.extension().is_some_and(|end| end == "jsonl"));
            }
        }
    }
    found
}

fn is_side(event: &AgentEvent) -> bool {
    matches!(event, AgentEvent::SideAnswered { .. } | AgentEvent::SideFailed { .. })
}

/// Every call of the worker is the one before and what came after it; no call has anything of the question.
fn assert_undisturbed(world: &World, events: &[AgentEvent]) {
    let worker = talks(world, false);
    // Some agents ask for a title in a conversation of its own, which begins with other words.
    let first = worker.last().and_then(|talk| talk.first());
    let main: Vec<&Vec<Value>> = worker.iter().filter(|talk| talk.first() == first).collect();
    assert!(main.len() > 2, "{worker:#?}");
    for pair in main.windows(2) {
        assert!(pair[1].starts_with(pair[0]), "{:#?}\nis not continued by\n{:#?}", pair[0], pair[1]);
    }
    let readings = events.iter().filter_map(|event| {
        let AgentEvent::UsageRead(reading) = event else { return None };
        (reading.scope == Scope::Main && reading.fill() > 0).then(|| reading.fill())
    });
    let asked: Vec<u64> = world.bodies_asking().into_iter().collect();
    let truth: Vec<u64> = world
        .truth()
        .iter()
        .filter(|line| line.is_reading() && !asked.contains(&line.n))
        .map(|line| line.occupancy)
        .collect();
    let mut readings: Vec<u64> = readings.collect();
    readings.dedup();
    assert_eq!(readings, truth, "{events:#?}");
}

fn answered(agent: &str) {
    let (world, events, took) = asked_in_a_tool(agent, CheckpointHabit::Answer);
    let text = events
        .iter()
        .find_map(|e| if let AgentEvent::SideAnswered { text, .. } = e { Some(text) } else { None });
    let text = text.unwrap_or_else(|| panic!("{events:#?}"));
    assert!(text.contains("<checkpoint>") && text.contains("step 2"), "{text}");
    assert_undisturbed(&world, &events);
    let side: Vec<_> = world.truth().into_iter().filter(|l| world.bodies_asking().contains(&l.n)).collect();
    let sizes: Vec<_> = side.iter().map(|l| (l.input_tokens, l.cached)).collect();
    say(&format!(
        "{agent}: a side question in a tool is answered after {took:?}; (tokens, cached): {sizes:?}"
    ));
}

fn disobeyed(agent: &str) {
    let (world, events, _) = asked_in_a_tool(agent, CheckpointHabit::Ignore);
    assert_undisturbed(&world, &events);
    let side = talks(&world, true).len();
    assert_eq!(side, 1, "the fork went on by itself: {events:#?}");
    say(&format!("{agent}: a side question that is answered with a tool call runs nothing"));
}

#[test]
fn k1_claude_answers_beside_its_work() {
    inside(60, || answered("claude"));
}

#[test]
fn k1_codex_answers_beside_its_work() {
    inside(60, || answered("codex"));
}

#[test]
fn k1_opencode_answers_beside_its_work() {
    inside(120, || answered("opencode"));
}

#[test]
fn k1_a_disobedient_side_answer_of_claude_runs_no_tool() {
    inside(60, || disobeyed("claude"));
}

#[test]
fn k1_a_disobedient_fork_of_codex_runs_no_tool() {
    inside(60, || disobeyed("codex"));
}

#[test]
fn k1_a_disobedient_fork_of_opencode_runs_no_tool() {
    inside(120, || disobeyed("opencode"));
}
