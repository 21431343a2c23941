//! After a death: nobody can be asked, and what the agent knew reaches whoever continues the work.
//!
//! `SEGUE_REAL_KILLS` says how often a run is killed inside a tool; a night asks for more than a change does.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Duration;

use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::facts;
use segue_rehearsal::model_server::script::{Fault, FaultKind, PersonaOptions, StepHabit};

use crate::inside::{inside, say};
use crate::support::World;

const WINDOW: u64 = 200_000;
/// The steps of the run that does not fit any more.
const STEPS: u32 = 14;
/// Characters of the agent's own prose before each of them: 20,000 tokens in all.
const PROSE: u64 = 6_500;
/// How often a run is killed.
const KILLS: u32 = 5;
/// How long the command of a step takes that is killed.
const STEP_MS: u64 = 1_500;

fn overflowed(agent: &str) {
    let said = facts::spread(facts::FACTS.len(), STEPS);
    let every = StepHabit { say_chars: PROSE, ..StepHabit::default() };
    let persona = PersonaOptions { facts: said.clone(), every, ..PersonaOptions::default() };
    let (kind, times) = (FaultKind::Overflow, 1);
    let fault = Fault { at_request: None, at_step: Some(STEPS), at_checkpoint: false, kind, times };
    let script = ServerScript { window: WINDOW, persona, faults: vec![fault], ..ServerScript::default() };
    let world = World::of(&[(agent, WINDOW)], STEPS, script);
    let run = world.run(agent, &[]);
    run.ends("verified", 0);
    world.assert_done_once(&run);
    assert!(run.of("session.ended").iter().any(|s| s["reason"] == "overflow"), "{}", run.all());
    let openings = world.openings();
    let successor = openings.last().unwrap();
    let said: Vec<&str> = said.range(..STEPS).flat_map(|(_, facts)| facts).map(String::as_str).collect();
    let reached = facts::held_by(said.iter().copied(), &successor.text);
    let missing: Vec<&&str> = said.iter().filter(|fact| !reached.contains(fact)).collect();
    assert!(openings.len() == 2 && missing.is_empty(), "{missing:#?}\n{}\n{}", successor.text, run.all());
    let prompt = successor.prompt.chars().count();
    assert!(prompt < 40_000, "{prompt} characters");
    say(&format!(
        "overflow of {agent}: {} of {} facts in a prompt of {prompt} characters, {:.1} s",
        reached.len(),
        said.len(),
        run.took.as_secs_f64()
    ));
}

/// Kills segue inside the command of a step, every second time the agent too, and takes the run up again.
fn killed_in_tools(agent: &str, kills: u32) -> (World, BTreeSet<u32>) {
    let kills = std::env::var("SEGUE_REAL_KILLS").map_or(kills, |n| n.parse().unwrap());
    let (first, steps) = (2, kills + 2);
    let slow = StepHabit { sleep_ms: STEP_MS, ..StepHabit::default() };
    let said = facts::spread(12, steps);
    let habits: BTreeMap<u32, StepHabit> = (first..first + kills).map(|step| (step, slow)).collect();
    let persona = PersonaOptions { facts: said.clone(), steps: habits, ..PersonaOptions::default() };
    let script = ServerScript { window: WINDOW, persona, keep_bodies: true, ..ServerScript::default() };
    let world = World::of(&[(agent, WINDOW)], steps, script);
    let mut running =
        world.launch(&["run", "TASK.md", "--json", "--agent", agent, "--permissions", "bypass"]);
    for n in 0..kills {
        running.until(|| world.steps().half_done().contains(&(first + n)));
        // The agent's own word about its tool comes a little after the tool.
        let part = u64::from(n) * STEP_MS / 3 / u64::from(kills);
        std::thread::sleep(Duration::from_millis(STEP_MS / 3 + part));
        running.kill();
        if n % 2 == 1 {
            kill_agent(&world, agent);
        }
        running = world.launch(&["resume", "--json", "--permissions", "bypass"]);
    }
    let run = running.wait();
    run.ends("verified", 0);
    world.assert_nothing_left(&run);
    let log = world.steps();
    assert!(log.lost(steps).is_empty(), "lost {:?}\n{}", log.lost(steps), run.all());
    let bodies: Vec<String> = world.bodies().iter().map(ToString::to_string).collect();
    let twice = log.started_twice();
    for step in &twice {
        let named = bodies.iter().any(|body| names_as_cut(body, *step));
        assert!(named, "step {step} was started again unannounced\n{}", run.all());
    }
    let last = bodies.iter().rev().find(|body| body.contains(&format!("step.sh {steps}"))).unwrap();
    let all: Vec<&str> = said.values().flatten().map(String::as_str).collect();
    let reached = facts::held_by(all.iter().copied(), last);
    assert_eq!(reached.len(), all.len(), "{last}\n{}", run.all());
    say(&format!(
        "kill -9 of {agent} inside {kills} tools: {} finished, {} named and started again, {} of {} facts at hand",
        kills as usize - twice.len(),
        twice.len(),
        reached.len(),
        all.len(),
    ));
    let cut = log.open_pids();
    (world, cut)
}

/// Whether a prompt says that the command of a step may be half done.
fn names_as_cut(body: &str, step: u32) -> bool {
    let command = format!("step.sh {step}");
    let after = |at: usize| body[at..].chars().take(800).collect::<String>();
    let named = |text: &str| {
        let ends = |at: usize| !text[at + command.len()..].starts_with(|c: char| c.is_ascii_digit());
        text.match_indices(&command).any(|(at, _)| ends(at))
    };
    body.match_indices("half done").any(|(at, _)| named(&after(at)))
}

fn kill_agent(world: &World, agent: &str) {
    let is_agent = |line: &&String| {
        let words: Vec<&str> = line.split(' ').skip(1).take(2).collect();
        words.iter().any(|word| word.rsplit('/').next() == Some(agent))
    };
    let left = world.processes_left();
    for line in left.iter().filter(is_agent) {
        let pid = line.split(' ').next().unwrap();
        let _ = Command::new("kill").args(["-9", pid]).status();
    }
}

#[test]
fn k4_what_claude_knew_survives_an_overflow() {
    inside(90, || overflowed("claude"));
}

#[test]
fn k4_what_codex_knew_survives_an_overflow() {
    inside(90, || overflowed("codex"));
}

#[test]
fn k4_what_opencode_knew_survives_an_overflow() {
    inside(90, || overflowed("opencode"));
}

#[test]
fn k10_claude_killed_inside_tools_finishes_them_or_is_told() {
    inside(240, || {
        let (_world, cut) = killed_in_tools("claude", KILLS);
        assert!(cut.is_empty(), "the tools of Claude Code outlive it, and are let finish: {cut:?}");
    });
}

#[test]
fn k10_codex_killed_inside_tools_finishes_them_or_is_told() {
    inside(240, || drop(killed_in_tools("codex", KILLS)));
}

#[test]
fn k10_opencode_killed_inside_a_tool_finishes_it_or_is_told() {
    inside(120, || drop(killed_in_tools("opencode", 2)));
}
