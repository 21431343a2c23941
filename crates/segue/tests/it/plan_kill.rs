//! Plans that are cut off: by a person, by kill -9 of the plan, of its phase, or of both. Nothing is run twice.

use std::process::Command;
use std::time::Duration;

use segue_rehearsal::job::Job;
use segue_rehearsal::script::Script;

use crate::kill::AGENT;
use crate::plan_run::{ended, native, pairs, roomy, state, world};
use crate::support::{Running, World, left_behind, until};

const PHASES: &[(&str, &[&str], &[u32])] =
    &[("1", &[], &[1, 2]), ("2", &["1"], &[3, 4, 5, 6]), ("3", &["2"], &[7])];

/// A plan of three phases whose agent notices a second one beside it.
fn three() -> World {
    plan_of(PHASES)
}

fn plan_of(phases: &[(&str, &[&str], &[u32])]) -> World {
    let script = Script { step_ms: 60, think_ms: 30, ..roomy() };
    let steps = phases.iter().map(|(_, _, steps)| steps.len()).sum::<usize>();
    let world = world(u32::try_from(steps).unwrap(), script.clone());
    world.write("segue.plan.toml", &native(phases));
    let write = |name: &str, text: &str| std::fs::write(world.root().join(name), text).unwrap();
    let plain = Script { step_log: Some(world.log()), ..script };
    write("plain.json", &serde_json::to_string(&plain).unwrap());
    write("stubborn.json", &serde_json::to_string(&Script { ignore_eof: true, ..plain }).unwrap());
    write("stubborn", "2");
    write("agent.sh", AGENT);
    let agent = format!(
        "command = [\"sh\", {:?}, {:?}, {:?}]\n",
        world.root().join("agent.sh"),
        world.root(),
        env!("CARGO_BIN_EXE_segue"),
    );
    let toml = world.read("segue.toml");
    let lines = toml.lines().map(|l| if l.starts_with("command") { agent.clone() } else { format!("{l}\n") });
    world.write("segue.toml", &lines.collect::<String>());
    world.commit("the agent of this test");
    world
}

fn in_phase_two(world: &World, name: &str) -> Running {
    let running = world.launch(&["run", "segue.plan.toml", "--json"], name);
    until("a step of the second phase", || world.steps().distinct_done().contains(&4));
    running
}

/// The process of the phase that is at work.
fn child_of(pid: u32) -> u32 {
    let out = Command::new("pgrep").args(["-P", &pid.to_string()]).output().unwrap();
    String::from_utf8_lossy(&out.stdout).trim().parse().unwrap()
}

fn kill(pid: u32, signal: &str) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).status();
    assert!(sent.unwrap().success());
}

#[track_caller]
fn nothing_lost_or_twice(world: &World, what: &str) {
    let steps = world.steps();
    // A step may be ended between its part and its last word: the part is what counts.
    let lost: Vec<u32> = (1..=world.job.steps).filter(|n| world.read(&Job::part(*n)).is_empty()).collect();
    assert!(lost.is_empty(), "{what}: lost {lost:?}");
    assert!(steps.repeated().is_empty(), "{what}: done twice {:?}", steps.repeated());
    let conflicts = std::fs::read_to_string(world.root().join("conflicts")).unwrap_or_default();
    assert_eq!(conflicts, "", "{what}: two agents at once");
    let state = state(world);
    assert_eq!(state["status"], "completed", "{what}");
    for (id, phase) in state["phases"].as_object().unwrap() {
        assert_eq!(phase["tries"], 1, "{what}: phase {id} was begun once");
        let run = phase["run"].as_str().unwrap();
        assert_eq!(left_behind(run), [""; 0], "{what}");
    }
}

#[test]
fn a_plan_that_is_interrupted_stops_with_a_checkpoint_and_goes_on() {
    let world = three();
    let running = in_phase_two(&world, "first");
    running.signal("INT");
    let done = running.wait();
    done.exits(130);
    assert_eq!(ended(&done), pairs(&[("1", "completed")]));
    assert!(!done.of("checkpoint.taken").is_empty(), "{}", done.all());
    assert_eq!(state(&world)["status"], "stopped");
    let again = world.segue(&["resume", "--json"]);
    again.exits(0);
    assert_eq!(ended(&again), pairs(&[("2", "completed"), ("3", "completed")]));
    nothing_lost_or_twice(&world, "interrupted");
}

#[test]
fn e2_kill_of_the_plan_then_resume_runs_no_phase_twice() {
    let world = three();
    let running = in_phase_two(&world, "first");
    running.signal("KILL");
    drop(running);
    let again = world.segue(&["resume", "--json"]);
    again.exits(0);
    assert_eq!(ended(&again), pairs(&[("2", "completed"), ("3", "completed")]), "{}", again.all());
    nothing_lost_or_twice(&world, "the plan was killed");
}

#[test]
fn e2_kill_of_a_phase_is_noticed_and_its_run_is_taken_up_at_once() {
    let world = three();
    let running = in_phase_two(&world, "first");
    kill(child_of(running.pid()), "KILL");
    let done = running.wait();
    done.exits(0);
    assert_eq!(done.warnings("phase_lost").len(), 1, "{}", done.all());
    nothing_lost_or_twice(&world, "the phase was killed");
}

#[test]
fn e2_kill_of_both_at_once_then_run_resume_goes_on() {
    let world = three();
    let running = in_phase_two(&world, "first");
    let child = child_of(running.pid());
    kill(running.pid(), "STOP");
    kill(child, "KILL");
    kill(running.pid(), "KILL");
    drop(running);
    let refused = world.segue(&["run", "segue.plan.toml", "--json"]);
    refused.exits(2);
    assert!(refused.err.contains("--resume") && refused.err.contains("--restart"), "{}", refused.all());
    let again = world.segue(&["run", "segue.plan.toml", "--resume", "--json"]);
    again.exits(0);
    nothing_lost_or_twice(&world, "both were killed");
}

#[test]
fn e2_kill_at_any_moment_loses_nothing() {
    for (n, wait) in [0, 150, 400, 900].into_iter().enumerate() {
        let world = three();
        let running = world.launch(&["run", "segue.plan.toml", "--json"], "first");
        std::thread::sleep(Duration::from_millis(wait));
        if n % 2 == 1 {
            let out = Command::new("pgrep").args(["-P", &running.pid().to_string()]).output().unwrap();
            running.signal("KILL");
            if let Ok(child) = String::from_utf8_lossy(&out.stdout).trim().parse::<u32>() {
                let _ = Command::new("kill").args(["-KILL", &child.to_string()]).status();
            }
        } else {
            running.signal("KILL");
        }
        drop(running);
        let begun =
            world.state_dir().join("plans").exists() && world.segue(&["plan", "status"]).code == Some(0);
        let again = if begun {
            world.segue(&["resume", "--json"])
        } else {
            world.segue(&["run", "segue.plan.toml", "--json"])
        };
        again.exits(0);
        nothing_lost_or_twice(&world, &format!("killed after {wait} ms"));
    }
}

#[test]
fn stop_reaches_a_plan_and_a_second_plan_is_refused_beside_it() {
    let world = three();
    let running = in_phase_two(&world, "first");
    let second = world.segue(&["run", "segue.plan.toml", "--restart"]);
    second.exits(2);
    assert!(second.err.contains("is active in this directory"), "{}", second.all());
    world.segue(&["stop"]).exits(0);
    running.wait().exits(130);
    let again = world.segue(&["resume", "--json"]);
    again.exits(0);
    nothing_lost_or_twice(&world, "stopped");
}

/// Kills the plan after a change of its state and takes it up; false when there is no such change.
fn killed_after(n: u32) -> bool {
    let world = plan_of(&[("1", &[], &[1]), ("2", &["1"], &[2])]);
    let env = [("SEGUE_CRASH_PLAN_AFTER", n.to_string())];
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let first = world.launch_with(&["run", "segue.plan.toml", "--json"], "first", &env).wait();
    if first.code == Some(0) {
        return false;
    }
    assert_eq!(first.code, None, "killed after change {n}: {}", first.all());
    let again = world.segue(&["resume", "--json"]);
    again.exits(0);
    nothing_lost_or_twice(&world, &format!("killed after change {n}"));
    true
}

#[test]
fn e2_the_plan_killed_after_any_change_of_its_state_goes_on_where_it_was() {
    const SIDE_BY_SIDE: u32 = 4;
    let mut killed = 0;
    for round in 0.. {
        let trials = round * SIDE_BY_SIDE + 1..=(round + 1) * SIDE_BY_SIDE;
        let met: Vec<bool> = std::thread::scope(|scope| {
            let running: Vec<_> = trials.map(|n| scope.spawn(move || killed_after(n))).collect();
            running.into_iter().map(|trial| trial.join().unwrap()).collect()
        });
        killed += met.iter().filter(|met| **met).count();
        if met.contains(&false) {
            break;
        }
    }
    assert!(killed > 10, "a plan of two phases changes its state more often than {killed} times");
}

#[test]
fn e2_every_phase_killed_at_the_same_event_is_taken_up() {
    for event in [1, 4, 9, 14] {
        let world = plan_of(&[("1", &[], &[1]), ("2", &["1"], &[2])]);
        let after: String = event.to_string();
        let done = world.launch_with(
            &["run", "segue.plan.toml", "--json"],
            "first",
            &[("SEGUE_CRASH_AFTER", &after)],
        );
        let done = done.wait();
        done.exits(0);
        assert!(!done.warnings("phase_lost").is_empty(), "event {event}: {}", done.all());
        nothing_lost_or_twice(&world, &format!("each phase killed after event {event}"));
    }
}
