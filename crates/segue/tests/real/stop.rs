//! A stop while a tool of ten seconds runs: the tool ends, its result is recorded, then the checkpoint is taken.

use std::collections::BTreeMap;

use segue_rehearsal::job::Job;
use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::script::{PersonaOptions, StepHabit};

use crate::beside::git;
use crate::inside::{inside, say};
use crate::support::{World, until};

const LONG: u32 = 3;

fn one_long_step() -> ServerScript {
    let steps = BTreeMap::from([(LONG, StepHabit { sleep_ms: 10_000, ..StepHabit::default() })]);
    let persona = PersonaOptions { steps, ..PersonaOptions::default() };
    ServerScript { window: 100_000, persona, ..ServerScript::default() }
}

fn stopped(agent: &str, stop: impl FnOnce(&World, u32)) {
    stopped_in(&World::new(6, one_long_step()), agent, stop);
}

fn stopped_in(world: &World, agent: &str, stop: impl FnOnce(&World, u32)) {
    let args = ["run", "TASK.md", "--json", "--agent", agent, "--permissions", "bypass"];
    let running = world.launch(&args);
    until(|| world.steps().half_done().contains(&LONG));
    // The agent's word about its tool may come a little after the tool itself.
    std::thread::sleep(std::time::Duration::from_secs(1));
    stop(world, running.pid());
    let done = running.wait();
    done.ends("stopped", 130);

    let steps = world.steps();
    assert_eq!(steps.distinct_done(), (1..=LONG).collect(), "{}", done.all());
    assert!(steps.half_done().is_empty() && steps.started_twice().is_empty(), "{steps:?}");
    let lines = done.lines();
    let place = |what: &dyn Fn(&serde_json::Value) -> bool| lines.iter().position(what);
    let recorded = place(&|l| l["type"] == "gauge.read" && l["final"] == false && l["tools"] == LONG);
    let taken = place(&|l| l["type"] == "checkpoint.taken");
    let gauge = done.of("gauge.read");
    // codex-acp does not always tell the end of a tool whose turn was cancelled; that it had ended is seen by its file.
    let told = agent != "codex-acp" || recorded.is_some();
    // The agent may be asked beside its tool, but it is heard out, and what the tool made is saved, before it is ended.
    let ended = place(&|l| l["type"] == "session.ended");
    assert!(
        !told || recorded.is_some_and(|at| Some(at) < ended),
        "{recorded:?} {ended:?}\n{}\n{gauge:#?}",
        done.all()
    );
    let refs = git(world, &["for-each-ref", "--format=%(refname)", "refs/segue/"]);
    let holds = |name: &str| git(world, &["ls-tree", "-r", "--name-only", name]).contains(&Job::part(LONG));
    assert!(refs.lines().any(holds), "{refs}\n{}", done.all());
    let by = lines[taken.unwrap()]["by"].clone();
    assert_eq!(by, "agent", "{}", done.all());
    world.assert_nothing_left(&done);

    let resumed = world.segue(&["resume", "--json", "--permissions", "bypass"]);
    resumed.ends("verified", 0);
    world.assert_done_once(&resumed);
    say(&format!(
        "stop of {agent} in a 10 s tool: tool complete and recorded, checkpoint by {by}, exit 130 after {:.1} s; \
         resumed to the end in {:.1} s, nothing twice",
        done.took.as_secs_f64(),
        resumed.took.as_secs_f64()
    ));
}

#[test]
fn stop_while_a_tool_runs_of_claude_by_segue_stop() {
    inside(90, || {
        stopped("claude", |world, _| {
            assert_eq!(world.segue(&["stop"]).code, Some(0));
        });
    });
}

#[test]
fn stop_while_a_tool_runs_of_codex_by_a_signal() {
    inside(90, || {
        stopped("codex", |_, pid| {
            let kill = std::process::Command::new("kill").args(["-INT", &pid.to_string()]).status();
            assert!(kill.unwrap().success());
        });
    });
}

#[test]
fn stop_while_a_tool_runs_of_gemini_by_segue_stop() {
    inside(240, || {
        let world = World::of(&[("gemini", 100_000)], 6, one_long_step());
        stopped_in(&world, "gemini", |world, _| {
            assert_eq!(world.segue(&["stop"]).code, Some(0));
        });
    });
}

#[test]
fn stop_while_a_tool_runs_of_opencode_by_a_signal() {
    inside(400, || {
        let world = World::of(&[("opencode", 100_000)], 6, one_long_step());
        stopped_in(&world, "opencode", |_, pid| {
            let kill = std::process::Command::new("kill").args(["-INT", &pid.to_string()]).status();
            assert!(kill.unwrap().success());
        });
    });
}

#[test]
fn stop_while_a_tool_runs_of_codex_acp_by_segue_stop() {
    inside(240, || {
        let world = World::of(&[("codex-acp", 100_000)], 6, one_long_step());
        stopped_in(&world, "codex-acp", |world, _| {
            assert_eq!(world.segue(&["stop"]).code, Some(0));
        });
    });
}
