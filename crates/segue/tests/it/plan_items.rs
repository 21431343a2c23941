//! Lists without a command: every open item is run, none is called done that nobody reported, and the file says what is true.

use segue_rehearsal::script::{Reply, Script};

use crate::plan_run::{ended, pairs, roomy, state, world};
use crate::support::{Done, World};

const KIRO: &str = "# Implementation Plan\n\n- [x] 1. Set the project up\n  - Make the folder\n  - _Requirements: 1.1_\n\n\
- [ ] 2. step 1: write it\n  - Run the script\n  - _Requirements: 1.2, 2.1_\n\n- [ ] 3. step 2: write it\n  - _Requirements: 2.2_\n";

const OPENSPEC: &str =
    "## 1. First\r\n\r\n- [ ] 1.1 step 1: write it\r\n\r\n## 2. Second\r\n\r\n- [ ] 2.1 step 2: write it\r\n";

fn run(world: &World, file: &str, more: &[&str]) -> Done {
    let args: Vec<&str> = ["run", file, "--json"].into_iter().chain(more.iter().copied()).collect();
    world.segue(&args)
}

fn verdict(done: &Done) -> String {
    done.lines().last().unwrap()["verdict"].as_str().unwrap().to_owned()
}

#[test]
fn v1_lists_without_a_command_are_plans_and_end_unverified_with_every_box_ticked() {
    for (file, text) in [(".kiro/specs/parts/tasks.md", KIRO), ("openspec/changes/parts/tasks.md", OPENSPEC)]
    {
        let world = world(2, roomy());
        world.write(file, text);
        let done = run(&world, file, &[]);
        done.exits(0);
        world.assert_each_step_once(&done);
        assert_ne!(verdict(&done), "verified", "{}", done.all());
        assert_eq!(world.read(file), text.replace("[ ]", "[x]"), "{file}: nothing but the boxes");
        let again = run(&world, file, &[]);
        again.exits(0);
        assert_eq!(ended(&again), pairs(&[]), "{}", again.all());
    }
}

#[test]
fn v1_what_is_not_reported_by_its_id_stays_open_and_the_plan_is_not_completed() {
    let silent = "{\"status\": \"completed\", \"tasks\": [{\"id\": \"2\", \"status\": \"completed\"}], \"recommendation\": \"proceed\", \
                  \"summary\": \"all done\"}";
    let world = world(2, Script { last_words: vec![silent.to_owned()], ..roomy() });
    world.write("tasks.md", KIRO);
    let done = run(&world, "tasks.md", &[]);
    done.exits(3);
    assert!(done.warnings("tasks_left")[0].contains("tasks 3"), "{}", done.all());
    assert_eq!(world.read("tasks.md"), KIRO, "{}", done.all());
    let id = ended(&done)[0].0.clone();
    world.segue(&["plan", "accept", &id]).exits(0);
    let resumed = world.segue(&["resume", "--json"]);
    resumed.exits(0);
    assert_eq!(
        world.read("tasks.md"),
        KIRO.replace("[ ]", "[x]"),
        "marked as done by the user: {}",
        resumed.all()
    );
}

#[test]
fn what_is_done_is_written_with_the_commit_of_its_phase_and_the_tree_stays_clean() {
    let world = world(2, roomy());
    let plan = "# Parts\n\n## Phase 1: One\n\n*  [ ]  T001 step 1: write it\n\n## Phase 2: Two\n\n- [ ] T002 step 2: write it\n";
    world.write("tasks.md", plan);
    world.commit("the plan");
    let done = run(&world, "tasks.md", &["--policy", "phased"]);
    done.exits(0);
    assert_eq!(ended(&done), pairs(&[("1", "completed"), ("2", "completed")]), "{}", done.all());
    assert_eq!(world.read("tasks.md"), plan.replace("[ ]", "[x]"));
    assert_eq!(world.git(&["status", "--porcelain"]), "", "{}", done.all());
    let first = world.git(&["show", "HEAD~1:tasks.md"]);
    assert!(first.contains("*  [x]  T001") && first.contains("- [ ] T002"), "{first}");
    let subjects = world.git(&["log", "--format=%s", "-3"]);
    assert_eq!(subjects.lines().nth(2), Some("the plan"), "one commit a phase: {subjects}");
    assert!(done.warnings("plan_edited").is_empty(), "{}", done.all());
    let report = done.of("phase.finished").pop().unwrap()["report"].as_str().unwrap().to_owned();
    let report: serde_json::Value = serde_json::from_str(&world.read(&report)).unwrap();
    let named = report["report"]["commits"][0].as_str().unwrap().to_owned();
    assert!(
        world.git(&["rev-parse", "HEAD"]).starts_with(&named),
        "the report names the commit that is there: {report}"
    );
}

#[test]
fn a_commit_that_no_phase_made_is_not_added_to() {
    let report = "{\"status\": \"completed\", \"tasks\": [{\"id\": \"1\", \"status\": \"completed\"}], \"recommendation\": \"proceed\", \
                  \"summary\": \"it was there\"}";
    let replies = vec![Reply { when: "# Phase 1".to_owned(), say: report.to_owned() }];
    let world = world(1, Script { replies, ..roomy() });
    world.write("tasks.md", "# Parts\n\n- [ ] 1. Look whether it is there\n");
    world.commit("the plan");
    let own = world.git(&["rev-parse", "HEAD"]);
    let done = run(&world, "tasks.md", &["--policy", "phased"]);
    done.exits(0);
    assert!(
        world.git(&["rev-list", "HEAD"]).contains(own.trim()),
        "the user's commit is in the branch: {}",
        done.all()
    );
    assert_eq!(world.git(&["show", "HEAD:tasks.md"]), "# Parts\n\n- [x] 1. Look whether it is there\n");
    assert_eq!(world.git(&["status", "--porcelain"]), "", "{}", done.all());
}

#[test]
fn edits_that_are_made_meanwhile_stay_and_no_write_back_leaves_the_file_alone() {
    let world = world(2, roomy());
    world.in_step("sed -i 's/^# Implementation Plan/# The plan of today/' tasks.md");
    world.write("tasks.md", KIRO);
    run(&world, "tasks.md", &[]).exits(0);
    let wanted = KIRO.replace("[ ]", "[x]").replace("Implementation Plan", "The plan of today");
    assert_eq!(world.read("tasks.md"), wanted);
    world.write("other.md", KIRO);
    world.write("parts/.gone", "");
    let done = run(&world, "other.md", &["--no-write-back"]);
    done.exits(0);
    assert_eq!(world.read("other.md"), KIRO, "{}", done.all());
    assert_eq!(state(&world)["status"], "completed");
}

#[test]
fn e2_what_was_cut_off_before_it_was_written_is_written_by_the_next_process() {
    let world = world(2, roomy());
    world.write("tasks.md", KIRO);
    // Killed right after the phase was recorded as completed, wherever that is among the changes.
    let mut seen = false;
    for after in 4..14 {
        let plan = world.launch_with(
            &["run", "tasks.md", "--restart", "--json"],
            &format!("killed-{after}"),
            &[("SEGUE_CRASH_PLAN_AFTER", &after.to_string())],
        );
        let done = plan.wait();
        let status =
            state(&world)["phases"].as_object().unwrap().values().next().map(|p| p["status"].clone());
        if status.is_some_and(|status| status == "completed") && world.read("tasks.md") == KIRO {
            seen = true;
            let resumed = world.segue(&["resume", "--json"]);
            resumed.exits(0);
            assert_eq!(
                world.read("tasks.md"),
                KIRO.replace("[ ]", "[x]"),
                "{}\n{}",
                done.all(),
                resumed.all()
            );
            break;
        }
        world.write("tasks.md", KIRO);
    }
    assert!(seen, "the moment was never met");
}
