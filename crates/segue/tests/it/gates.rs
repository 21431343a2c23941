//! Gates decide: red and green, rounds, time-outs, people; and permissions, which a person decides too.

use segue_rehearsal::script::Script;
use serde_json::Value;

use crate::support::{Done, World, left_behind, small};

/// A gate that is red until its `green_at`th run; the count lies outside the repository.
fn counting_gate(world: &World, green_at: u32) -> String {
    let count = world.root().join("count");
    format!(
        "[[gate]]\nname = \"third\"\nrun = '''n=$(cat {count:?} 2>/dev/null || echo 0); n=$((n + 1)); echo $n >{count:?}; \
         echo \"run $n of the gate\"; test $n -ge {green_at}'''\n"
    )
}

fn after(done: &Done, gate: &str) -> Vec<Value> {
    let gates = done.of("gate.finished").into_iter();
    gates.filter(|g| g["when"] == "after" && g["gate"] == gate).map(|g| g["passed"].clone()).collect()
}

#[test]
fn p8_a_red_gate_goes_back_to_the_agent_with_its_output_until_it_is_green() {
    let world = World::new(2, small());
    world.keep_conversations(small());
    world.configure(&counting_gate(&world, 4));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    assert_eq!(after(&done, "third"), [false, false, true], "{}", done.all());
    assert_eq!(done.finished()["verdict"], "verified");
    let prompts = world.prompts();
    assert_eq!(prompts.len(), 1, "the same session goes on");
    assert!(
        prompts[0][1].contains("run 2 of the gate") && prompts[0][1].contains("round 1 of 5"),
        "{}",
        prompts[0][1]
    );
}

#[test]
fn p8_a_gate_that_stays_red_fails_after_five_rounds_and_the_claim_is_not_believed() {
    let world = World::new(2, small());
    world.configure("[[gate]]\nname = \"never\"\nrun = \"echo no; exit 7\"\n");
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(1);
    // The work itself was progress, so the first failure is not one of the five.
    assert_eq!(after(&done, "never"), vec![false; 6], "{}", done.all());
    let end = done.finished();
    assert_eq!((&end["verdict"], &end["limit"]), (&"failed".into(), &"gate_rounds".into()), "{end}");
    assert!(end["reason"].as_str().unwrap().contains("never"), "{end}");
    assert!(end["advice"].as_str().unwrap().contains("segue show --gates"), "{end}");
    let shown = world.segue(&["show", "--gates"]);
    shown.exits(0);
    assert!(shown.out.contains("never  fails  exit 7") && shown.out.contains("no"), "{}", shown.out);
}

#[test]
fn t2_a_gate_that_does_not_end_is_ended_with_all_that_it_started() {
    let world = World::new(1, small());
    world.configure(
        "[limits]\ngate_rounds = 1\n[[gate]]\nname = \"slow\"\ntimeout = \"1s\"\n\
         run = \"echo begun; sleep 1000 & setsid sleep 1000 >/dev/null 2>&1 & sleep 1000\"\n",
    );
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(1);
    let slow: Vec<Value> = done.of("gate.finished").into_iter().filter(|g| g["gate"] == "slow").collect();
    assert_eq!(
        slow.len(),
        3,
        "before the work, after it, and in the one round without progress\n{}",
        done.all()
    );
    assert!(
        slow.iter().all(|g| g["exit"].is_null() && g["passed"] == false && g["timed_out"] == true),
        "{slow:?}"
    );
    let status = world.segue(&["status"]);
    assert!(status.out.contains("slow timed out"), "{}", status.out);
    let output = world.read(slow[1]["output"].as_str().unwrap());
    assert!(
        output.contains("begun") && output.contains("timed out") && output.contains("did not end within 1 s"),
        "{output}"
    );
    assert_eq!(left_behind(&done.run()), [""; 0]);
}

#[test]
fn gates_that_were_green_before_are_said_to_show_nothing() {
    let world = World::new(2, small());
    world.configure_without_gate("[[gate]]\nname = \"easy\"\nrun = \"true\"\n");
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    let end = done.finished();
    assert_eq!(end["verdict"], "verified");
    assert!(end["reason"].as_str().unwrap().contains("passed before and after"), "{end}");
}

#[test]
fn p3_a_manual_gate_is_for_a_person_and_never_passes_by_itself() {
    let world = World::new(2, small());
    world.configure("[[gate]]\nname = \"look\"\nmanual = true\n");
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(3);
    let end = done.finished();
    assert_eq!(end["verdict"], "needs_input");
    assert!(end["reason"].as_str().unwrap().contains("look"), "{end}");
    assert_eq!(after(&done, "check"), [true], "the other gates ran");
}

#[test]
fn t4_without_a_gate_the_verdict_is_unverified_and_not_enough_where_proof_is_required() {
    let world = World::new(2, small());
    world.configure_without_gate("");
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    assert_eq!(done.finished()["verdict"], "unverified");
    let strict = world.segue(&["run", "TASK.md", "--json", "--require-verified"]);
    strict.exits(3);
    assert_eq!(
        (&strict.finished()["verdict"], &strict.finished()["exit_code"]),
        (&"unverified".into(), &3.into())
    );
}

#[test]
fn a_gate_on_the_command_line_is_used_verbatim() {
    let world = World::new(2, small());
    world.configure_without_gate("");
    let done = world.segue(&[
        "run",
        "TASK.md",
        "--json",
        "--gate",
        "test -f parts/02.txt && test ! -e \"no such file\"",
    ]);
    done.exits(0);
    assert_eq!(done.finished()["verdict"], "verified", "{}", done.all());
}

fn asking() -> World {
    World::new(4, Script { permissions: true, ..small() })
}

#[test]
fn three_denials_of_a_kind_end_with_3_and_the_flag_that_would_allow_it() {
    let world = asking();
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(3);
    let end = done.finished();
    assert_eq!((&end["verdict"], &end["limit"]), (&"needs_input".into(), &"permissions".into()), "{end}");
    assert!(end["advice"].as_str().unwrap().contains("--permissions allow=execute"), "{end}");
    assert_eq!(done.warnings("permission_denied").len(), 3, "{}", done.all());
    assert!(world.steps().distinct_done().is_empty());
    let resumed = world.segue(&["resume", "--json", "--permissions", "allow=execute"]);
    resumed.exits(0);
    world.assert_each_step_once(&resumed);
}

#[test]
fn permissions_are_given_by_kind_or_altogether_and_by_no_other_kind() {
    for (grant, code) in
        [("bypass", 0), ("allow=execute", 0), ("allow=edit,execute", 0), ("allow=edit", 3), ("deny", 3)]
    {
        let world = asking();
        let done = world.segue(&["run", "TASK.md", "--json", "--permissions", grant]);
        done.exits(code);
        assert_eq!(world.steps().distinct_done().len(), if code == 0 { 4 } else { 0 }, "{grant}");
    }
}

#[test]
fn a_permission_is_still_given_after_a_handoff() {
    let world = World::new(7, Script { permissions: true, ..small() });
    let done = world.segue(&["run", "TASK.md", "--json", "--permissions", "allow=execute"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert!(done.finished()["sessions"].as_u64().unwrap() > 1, "{}", done.all());
}

#[test]
fn truth12_a_mistake_in_the_setup_is_said_before_the_first_session() {
    let world = World::new(1, small());
    let refused = |more: &str, args: &[&str], words: &[&str]| {
        world.configure(more);
        let done = world.segue(&[&["run", "TASK.md"], args].concat());
        done.exits(2);
        assert!(words.iter().all(|word| done.err.contains(word)), "{}", done.all());
    };
    refused("", &["--gate", "no-such-program-x test"], &["gate no-such-program-x test", "is not on PATH"]);
    refused("", &["--gate", "A=1 ./missing.sh"], &["./missing.sh does not exist", "`sh ./missing.sh`"]);
    refused("", &["--policy", "observe", "--max-restarts", "3"], &["max_restarts has no effect", "observe"]);
    refused("", &["--policy", "native", "--context-threshold", "80"], &["context_threshold has no effect"]);
    world.write("c.md", "Go on: {{ task }}\n{checkpoint}\n");
    refused("[prompts]\ncontinuation = \"c.md\"\n", &[], &["single braces", "{{ checkpoint }}"]);
    world.write("TASK.md", &"word ".repeat(30_000));
    refused("", &["--window", "20k"], &["does not fit", "20000"]);
    assert!(world.steps().distinct_done().is_empty());
}
