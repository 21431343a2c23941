//! Phases side by side that are cut off: by kill -9 of the plan in every state and step, of a phase, or by a person.

use std::process::Command;

use segue_rehearsal::job::Job;
use segue_rehearsal::script::Script;

use crate::beside::{Phases, nothing_is_left, with_files};
use crate::beside_merge::{SAME_PLACE, TAKE_BOTH, two};
use crate::plan_run::{ended, roomy, state, world};
use crate::support::{Running, World, left_behind, until};

#[track_caller]
fn nothing_lost_or_twice(world: &World, what: &str) {
    let steps = world.steps();
    assert!(steps.lost(world.job.steps).is_empty(), "{what}: lost {:?}", steps.lost(world.job.steps));
    assert!(steps.repeated().is_empty(), "{what}: done twice {:?}", steps.repeated());
    let state = state(world);
    assert_eq!(state["status"], "completed", "{what}");
    for (id, phase) in state["phases"].as_object().unwrap() {
        assert_eq!(phase["tries"], 1, "{what}: phase {id} was begun once");
        assert!(phase["work"].is_null(), "{what}: {phase}");
        assert_eq!(left_behind(phase["run"].as_str().unwrap()), [""; 0], "{what}");
    }
    nothing_is_left(world);
}

/// Two phases that meet in one file, and an agent that brings them together.
fn meeting() -> World {
    let mut world = two(TAKE_BOTH, SAME_PLACE);
    world.write("segue.plan.toml", &with_files(&[("1", &[], &[1]), ("2", &[], &[2])]));
    world.commit("nothing comes after them");
    world.job = Job { steps: 2 };
    world
}

/// Runs until the plan dies, and takes it up; whether it died.
fn killed(world: &World, env: (&str, &str), what: &str) -> bool {
    let args = ["run", "segue.plan.toml", "--json", "--parallel", "3"];
    let first = world.launch_with(&args, "first", &[env]).wait();
    if first.code == Some(0) {
        return false;
    }
    assert_eq!(first.code, None, "{what}: {}", first.all());
    let again = world.segue(&["resume", "--json"]);
    again.exits(0);
    nothing_lost_or_twice(world, what);
    assert_eq!(world.read("shared.txt"), "first\nline 1\nline 2\n", "{what}");
    true
}

#[test]
fn e2_killed_in_any_step_of_making_keeping_merging_and_landing_it_goes_on() {
    let points = [
        "made",
        "kept-done",
        "prepared",
        "spread",
        "kept-mended",
        "settled",
        "landing",
        "landed",
        "kept-last",
        "removed",
    ];
    std::thread::scope(|scope| {
        for half in points.chunks(points.len() / 2) {
            scope.spawn(move || {
                for point in half {
                    let world = meeting();
                    assert!(killed(&world, ("SEGUE_CRASH_AT", point), point), "{point} is never reached");
                }
            });
        }
    });
}

#[test]
fn e2_killed_after_any_change_of_its_state_it_goes_on() {
    const SIDE_BY_SIDE: u32 = 3;
    let count = std::sync::atomic::AtomicU32::new(0);
    std::thread::scope(|scope| {
        for lane in 1..=SIDE_BY_SIDE {
            let count = &count;
            scope.spawn(move || {
                for n in (lane..).step_by(SIDE_BY_SIDE as usize) {
                    if !killed(&meeting(), ("SEGUE_CRASH_PLAN_AFTER", &n.to_string()), &format!("change {n}"))
                    {
                        break;
                    }
                    count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                }
            });
        }
    });
    let killed = count.into_inner();
    assert!(killed > 25, "{killed} changes");
}

#[test]
fn e2_killed_while_the_branch_goes_forward_what_is_half_there_is_taken_back_and_done_again() {
    let world = meeting();
    let args = ["run", "segue.plan.toml", "--json", "--parallel", "3"];
    let first = world.launch_with(&args, "first", &[("SEGUE_CRASH_AT", "landing")]).wait();
    assert_eq!(first.code, None, "{}", first.all());
    let commit = state(&world)["phases"]["1"]["work"]["commit"].as_str().unwrap().to_owned();
    // As git leaves it when it dies between two files; a change of the user's is beside it.
    world.write("parts/01.txt", &world.git(&["show", &format!("{commit}:parts/01.txt")]));
    world.write("README.md", "the user's own words\n");
    world.segue(&["resume", "--json"]).exits(0);
    assert_eq!(world.read("README.md"), "the user's own words\n");
    world.git(&["checkout", "--quiet", "README.md"]);
    nothing_lost_or_twice(&world, "half landed");
}

fn three() -> World {
    let world = world(12, Script { step_ms: 400, think_ms: 30, ..roomy() });
    let phases: Phases<'_> =
        &[("1", &[], &[1, 2, 3, 4]), ("2", &[], &[5, 6, 7, 8]), ("3", &[], &[9, 10, 11, 12])];
    world.write("segue.plan.toml", &with_files(phases));
    world.commit("the plan");
    world
}

fn at_work(world: &World, name: &str) -> Running {
    let running = world.launch(&["run", "segue.plan.toml", "--json", "--parallel", "3"], name);
    until("a step of each phase", || {
        [1, 5, 9].iter().all(|step| world.steps().distinct_done().contains(step))
    });
    running
}

#[test]
fn e2_killed_while_phases_work_side_by_side_none_is_run_twice() {
    let world = three();
    let running = at_work(&world, "first");
    running.signal("KILL");
    drop(running);
    let again = world.segue(&["resume", "--json"]);
    again.exits(0);
    nothing_lost_or_twice(&world, "the plan was killed");
}

#[test]
fn e2_a_phase_that_is_killed_is_taken_up_and_the_others_do_not_notice() {
    let world = three();
    let running = at_work(&world, "first");
    let out = Command::new("pgrep").args(["-P", &running.pid().to_string()]).output().unwrap();
    let first = String::from_utf8_lossy(&out.stdout).lines().next().unwrap().to_owned();
    assert!(Command::new("kill").args(["-KILL", &first]).status().unwrap().success());
    let done = running.wait();
    done.exits(0);
    assert_eq!(done.warnings("phase_lost").len(), 1, "{}", done.all());
    nothing_lost_or_twice(&world, "a phase was killed");
}

#[test]
fn an_interrupt_reaches_every_phase_and_each_goes_on_in_its_own_work_tree() {
    let world = three();
    let running = at_work(&world, "first");
    running.signal("INT");
    let done = running.wait();
    done.exits(130);
    assert_eq!(ended(&done), []);
    assert_eq!(state(&world)["status"], "stopped");
    let again = world.segue(&["resume", "--json"]);
    again.exits(0);
    nothing_lost_or_twice(&world, "interrupted");
}
