//! `segue progress` and `segue done`, as the worker inside a run calls them.

use crate::support::{World, small};

const SEGUE: &str = env!("CARGO_BIN_EXE_segue");

#[test]
fn c7_a_note_from_a_step_is_kept_and_reaches_the_checkpoint() {
    let world = World::new(6, small());
    world.in_step(&format!(
        "{SEGUE:?} progress note number \"$n\" 'with \"quotes\" and ü€😀' >>{0:?} 2>&1; echo $? >>{0:?}",
        world.root().join("answers")
    ));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let answers = std::fs::read_to_string(world.root().join("answers")).unwrap();
    assert_eq!(answers, "noted\n0\n".repeat(6));
    let notes = world.checkpoints()[0]["notes"].clone();
    assert_eq!(notes[0], "note number 1 with \"quotes\" and ü€😀", "{notes}");
}

#[test]
fn done_from_a_step_is_a_claim_and_the_gates_still_decide() {
    let world = World::new(3, small());
    world.in_step(&format!("if [ \"$n\" = 1 ]; then {SEGUE:?} done all of it >/dev/null || exit 1; fi"));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert_eq!(done.finished()["verdict"], "verified", "{}", done.all());
}

#[test]
fn a_wrong_token_is_refused_and_leaves_no_note() {
    let world = World::new(6, small());
    let answers = world.root().join("answers");
    world.in_step(&format!(
        "SEGUE_TOKEN=wrong {SEGUE:?} progress forged note >>{answers:?} 2>&1; echo $? >>{answers:?}"
    ));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    let said = std::fs::read_to_string(&answers).unwrap();
    assert_eq!(said.matches("the token belongs to another run").count(), 6, "{said}");
    assert_eq!(said.lines().filter(|l| *l == "1").count(), 6, "{said}");
    assert!(!done.all().contains("forged"));
    assert!(world.checkpoints().iter().all(|c| c["notes"].as_array().unwrap().is_empty()));
}

#[test]
fn outside_a_run_a_note_is_refused_with_2() {
    let mut world = World::new(1, small());
    for args in [["progress", "x"], ["done", "x"]] {
        let done = world.segue(&args);
        done.exits(2);
        assert!(done.err.contains("inside a run"), "{}", done.err);
    }
    world.segue(&["progress"]).exits(2);
    world.set_env("SEGUE_SOCKET", world.root().join("gone.sock").display().to_string());
    world.set_env("SEGUE_TOKEN", "t");
    let gone = world.segue(&["progress", "x"]);
    gone.exits(1);
    assert!(gone.err.contains("cannot reach the run"), "{}", gone.err);
    world.segue(&["progress", "  "]).exits(2);
}
