//! Gates that the agent changed: it is run with the originals, and what it changed is told.

use serde_json::json;

use crate::support::{World, left_behind, small, until};

/// A job with one gate, `sh gate.sh`, whose agent does this to the work tree in its first step.
fn world(gate: &str, agent_does: &str) -> World {
    let world = World::new(2, small());
    world.write("gate.sh", gate);
    world.configure_without_gate("[[gate]]\nname = \"own\"\nrun = \"sh gate.sh\"\n");
    world.in_step(agent_does);
    world
}

#[test]
fn truth5_a_gate_that_passes_only_with_the_agents_script_needs_a_person() {
    let world = world("test -f never\n", "echo 'exit 0' >gate.sh");
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(3);
    let end = done.finished();
    let reason = end["reason"].as_str().unwrap();
    assert!(
        reason.contains("gate own fails with the originals") && reason.contains("gate.sh was changed"),
        "{end}"
    );
    let changed = &done.of("gate.changed")[0];
    assert_eq!(
        (&changed["how"], &changed["passed_with_originals"]),
        (&json!("swapped"), &json!(false)),
        "{changed}"
    );
    assert_eq!(end["gate_changes"][0]["files"][0]["path"], "gate.sh", "{end}");
    assert_eq!(world.read("gate.sh"), "exit 0\n", "the agent's file is back");
    world.segue(&["replay", "--json"]).exits(0);
    let toml =
        world.read("segue.toml").replace("run = \"sh gate.sh\"", "run = \"sh gate.sh\"\nmay_change = true");
    world.write("segue.toml", &toml);
    let meant = world.segue(&["resume", "--json"]);
    meant.exits(0);
    assert_eq!(meant.finished()["verdict"], "verified", "{}", meant.all());
}

#[test]
fn truth5_a_script_whose_original_passes_as_well_is_verified_and_told() {
    let world = world("test -f parts/02.txt\n", "echo '# all of it' >>gate.sh");
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    let end = done.finished();
    assert_eq!(end["verdict"], "verified", "{end}");
    assert_eq!(end["gate_changes"][0]["passed_with_originals"], true, "{end}");
    assert!(world.read("gate.sh").contains("all of it"));
}

#[test]
fn truth5_without_git_it_is_said_that_nobody_can_tell() {
    let world = world("test -f parts/02.txt\n", "true");
    let done = world.segue(&["run", "TASK.md", "--json", "--no-git"]);
    done.exits(0);
    assert_eq!(done.of("gate.changed")[0]["unchecked"], "the run does not use git", "{}", done.all());
}

#[test]
fn truth5_a_crash_while_the_originals_are_in_place_is_undone_before_anything_else() {
    let world = World::new(1, small());
    let (runs, hold) = (world.root().join("runs"), world.root().join("hold"));
    std::fs::write(&hold, "").unwrap();
    // Its second run is the one with the original in place.
    let original = format!(
        "echo run >>{runs:?}\nif test -f {hold:?} && test $(wc -l <{runs:?}) -ge 2; then sleep 300; fi\ntest -f never\n"
    );
    world.write("gate.sh", &original);
    world.configure_without_gate("[[gate]]\nname = \"own\"\nrun = \"sh gate.sh\"\n");
    world.in_step("echo 'exit 0' >gate.sh");
    let running = world.launch(&["run", "TASK.md", "--json"], "run");
    until("the gate to run with the original", || {
        std::fs::read_to_string(&runs).unwrap_or_default().lines().count() == 2
    });
    let id = world.run_id().unwrap();
    until("the swap to be in the journal", || {
        world.events(&id).iter().any(|event| event.event.contains("\"gate_swapped\""))
    });
    running.signal("KILL");
    running.wait();
    assert_eq!(world.read("gate.sh"), original, "the crash left the original");
    std::fs::remove_file(&hold).unwrap();
    let resumed = world.segue(&["resume", "--json"]);
    resumed.exits(3);
    assert!(resumed.err.contains("the agent's files are back"), "{}", resumed.err);
    assert_eq!(world.read("gate.sh"), "exit 0\n");
    let run = resumed.run();
    let events: Vec<String> = world.events(&run).into_iter().map(|event| event.event).collect();
    let at =
        |what: &str| events.iter().position(|event| event.contains(what)).unwrap_or_else(|| panic!("{what}"));
    assert!(at("\"gate_swapped\"") < at("\"gate_restored\""), "{events:#?}");
    assert!(at("\"gate_restored\"") < at("\"run_resumed\""), "{events:#?}");
    assert_eq!(left_behind(&run), [""; 0]);
    world.segue(&["replay", "--json"]).exits(0);
}

#[test]
fn truth5_what_was_changed_is_in_status_show_junit_and_the_summary() {
    let world = world("test -f parts/02.txt\n", "echo '# all of it' >>gate.sh");
    let args = ["run", "TASK.md", "--junit", "junit.xml", "--step-summary", "summary.md"];
    let done = world.segue(&args);
    done.exits(0);
    for told in [
        done.out,
        world.segue(&["status"]).out,
        world.segue(&["status", "--json"]).out,
        world.segue(&["show"]).out,
        world.read("junit.xml"),
        world.read("summary.md"),
    ] {
        assert!(told.contains("gate.sh") && told.contains("was changed"), "{told}");
    }
}
