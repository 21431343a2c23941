//! Gates that the agent changed: it is run with the originals, and what it changed is told.

use serde_json::json;

use crate::support::{World, small};

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
    assert_eq!(done.of("gate.changed")[0]["unchecked"], "the run does without git", "{}", done.all());
}
