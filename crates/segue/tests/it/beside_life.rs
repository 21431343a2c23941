//! Phases side by side: what holds one up, what a failure means for the others, what they share, and what is refused.

use segue_rehearsal::script::{Fault, FaultKind, Refusal, Reply, Script};
use serde_json::{Value, json};

use crate::beside::{nothing_is_left, with_files};
use crate::beside_merge::agent_does;
use crate::plan_run::{ended, native, pairs, roomy, state, world};
use crate::plan_split::IN_THREE;
use crate::support::{Done, World, until};

fn committed(world: &World, plan: &str) {
    world.write("segue.plan.toml", plan);
    world.commit("the plan");
}

/// Pairs of phases that were at work at the same time, by their plan's own lines and their runs'.
pub(crate) fn together(done: &Done) -> Vec<(String, String)> {
    let lines = done.lines();
    let mut now: Vec<String> = Vec::new();
    let mut met = Vec::new();
    let run_of = |line: &Value| line["phase_run"].as_str().unwrap_or_default().to_owned();
    let phases: Vec<(String, String)> = lines
        .iter()
        .filter(|line| line["type"] == "phase.started")
        .map(|line| (run_of(line), line["phase"].as_str().unwrap().to_owned()))
        .collect();
    for line in &lines {
        let run = line["run"].as_str().unwrap_or_default();
        let Some((_, phase)) = phases.iter().find(|(known, _)| known == run) else { continue };
        match line["type"].as_str().unwrap_or_default() {
            "session.started" => {
                let pair = |other: &String| (other.min(phase).clone(), other.max(phase).clone());
                met.extend(now.iter().map(pair));
                now.push(phase.clone());
            }
            "session.ended" => now.retain(|other| other != phase),
            _ => {}
        }
    }
    met
}

#[test]
fn h2_paths_that_one_phase_has_claimed_are_not_given_to_another_one() {
    let world = world(4, Script { step_ms: 300, ..roomy() });
    let plan = with_files(&[("1", &[], &[1]), ("2", &[], &[2]), ("3", &[], &[3]), ("4", &[], &[4])])
        .replace("files = [\"parts/02.txt\"]", "files = [\"parts/01.txt\", \"parts/02.txt\"]")
        .replace("files = [\"parts/04.txt\"]\n", "");
    committed(&world, &plan);
    let done = world.segue(&["run", "segue.plan.toml", "--json", "--parallel", "4"]);
    done.exits(0);
    let met = together(&done);
    assert_eq!(met, pairs(&[("1", "3")]), "2 has a path of 1, and 4 does not say what it changes");
    world.assert_each_step_once(&done);
    nothing_is_left(&world);
}

#[test]
fn h2_a_claim_is_held_through_a_restart_is_seen_in_status_and_ends_with_its_owner() {
    let world = world(4, Script { step_ms: 700, ..roomy() });
    let plan = with_files(&[("1", &[], &[1, 2]), ("2", &[], &[3]), ("3", &[], &[4])])
        .replace("files = [\"parts/03.txt\"]", "files = [\"parts\"]");
    committed(&world, &plan);
    let args = ["run", "segue.plan.toml", "--json", "--parallel", "3"];
    let running = world.launch(&args, "first");
    until("the first step", || world.steps().distinct_done().contains(&1));
    let shown = world.segue(&["status"]);
    assert!(shown.out.contains("holds parts/01.txt, parts/02.txt"), "{}", shown.all());
    assert!(shown.out.contains("segue/trees/repo-") && shown.out.contains("/plan-"), "{}", shown.all());
    let runs: Vec<Value> = world.segue(&["status", "--json"]).lines();
    assert!(!runs.is_empty() && runs.iter().all(|run| run["process"].is_number()), "{runs:?}");
    running.signal("KILL");
    drop(running);
    assert_eq!(state(&world)["phases"]["1"]["work"]["claims"], json!(["parts/01.txt", "parts/02.txt"]));
    let again = world.segue(&["resume", "--json"]);
    again.exits(0);
    assert!(
        together(&again).iter().all(|(a, b)| a != "2" && b != "2"),
        "2 meets nobody: {:?}",
        together(&again)
    );
    assert!(state(&world)["phases"]["1"].get("work").is_none());
    nothing_is_left(&world);
}

fn request() -> String {
    let part = |title: &str, task: &str, file: &str| json!({ "id": "x", "title": title, "tasks": [task], "files": [file] });
    let parts = [
        part("first", "2", "parts/02.txt"),
        part("second", "3", "parts/03.txt"),
        part("third", "4", "parts/04.txt"),
    ];
    let report = json!({
        "status": "split_request", "recommendation": "halt", "summary": "It does not fit.",
        "split_details": { "reason": "three files at once", "recommended_sub_phases": parts },
    });
    format!("This is too much.\n```json\n{report}\n```\n")
}

fn asks(script: Script) -> Script {
    let reply = Reply { when: "# Phase 20 - ".to_owned(), say: request() };
    Script { replies: vec![reply], step_ms: 400, ..script }
}

const SPLIT: &[(&str, &[&str], &[u32])] =
    &[("1", &[], &[1]), ("20", &["1"], &[2, 3, 4]), ("21", &["20"], &[5])];

#[test]
fn p1_a_split_into_three_runs_side_by_side_under_observe_with_a_notice() {
    let world = world(5, asks(roomy()));
    committed(&world, &with_files(SPLIT));
    let done = world.segue(&["run", "segue.plan.toml", "--json", "--policy", "observe", "--parallel", "3"]);
    done.exits(0);
    let notice =
        "Phase 20 too large (three files at once). Splitting into 3 sub-phases, launching in parallel...";
    assert_eq!(done.warnings("split"), [notice]);
    assert_eq!(ended(&done), pairs(IN_THREE), "{}", done.all());
    let met = together(&done);
    assert_eq!(met.len(), 3, "all three at once: {met:?}");
    world.assert_each_step_once(&done);
    nothing_is_left(&world);
}

#[test]
fn p1_of_parts_side_by_side_one_failing_fails_the_phase_and_keeps_the_others() {
    let broken = Fault { at_step: 3, session: None, kind: FaultKind::Lie };
    let world = world(5, Script { faults: vec![broken], ..asks(roomy()) });
    committed(&world, &with_files(SPLIT));
    let done = world.segue(&["run", "segue.plan.toml", "--json", "--policy", "observe", "--parallel", "3"]);
    done.exits(1);
    let mut all = ended(&done);
    all.sort();
    let expected = [
        ("1", "completed"),
        ("20", "failed"),
        ("20", "split"),
        ("20a", "completed"),
        ("20b", "failed"),
        ("20c", "completed"),
        ("21", "blocked"),
    ];
    assert_eq!(all, pairs(&expected), "{}", done.all());
    assert!(!world.read("parts/02.txt").is_empty() && !world.read("parts/04.txt").is_empty());
    world.script(asks(roomy()));
    let again = world.segue(&["resume", "--json"]);
    again.exits(0);
    assert_eq!(
        ended(&again),
        pairs(&[("20b", "completed"), ("20", "completed"), ("21", "completed")]),
        "{}",
        again.all()
    );
    assert!(world.steps().lost(5).is_empty());
    nothing_is_left(&world);
}

#[test]
fn e2_killed_while_a_phase_is_split_its_parts_still_begin_with_what_it_left() {
    for point in ["kept-split", "split", "removed"] {
        let world = world(5, asks(roomy()));
        // The agent has done something before it asks.
        let first = "if [ -f parts/01.txt ] && [ ! -f left.txt ]; then echo half >left.txt; fi";
        agent_does(&world, first);
        committed(&world, &with_files(SPLIT));
        let args = ["run", "segue.plan.toml", "--json", "--policy", "observe", "--parallel", "3"];
        // The first phase is given up too, so its work tree is the first to be removed.
        let killed = world.launch_with(&args, "first", &[("SEGUE_CRASH_AT", point)]).wait();
        assert_eq!(killed.code, None, "{point}: {}", killed.all());
        let again = world.segue(&["resume", "--json"]);
        again.exits(0);
        assert_eq!(state(&world)["status"], "completed", "{point}");
        assert_eq!(world.read("left.txt"), "half\n", "{point}");
        assert!(world.steps().lost(5).is_empty() && world.steps().repeated().is_empty(), "{point}");
        nothing_is_left(&world);
    }
}

#[test]
fn p1_what_only_a_person_can_decide_about_a_phase_is_asked_of_the_last_of_its_parts() {
    let world = world(5, asks(roomy()));
    let manual = "[[phase.gate]]\nname = \"looks right\"\nmanual = true\n\n[[phase]]\nid = \"21\"";
    committed(&world, &with_files(SPLIT).replace("[[phase]]\nid = \"21\"", manual));
    let done = world.segue(&["run", "segue.plan.toml", "--json", "--policy", "observe", "--parallel", "3"]);
    done.exits(3);
    let mut all = ended(&done);
    all.sort();
    assert!(all.contains(&("20c".to_owned(), "needs_input".to_owned())), "{all:?}");
    assert!(all.contains(&("21".to_owned(), "blocked".to_owned())), "{all:?}");
    world.segue(&["plan", "accept", "20c"]).exits(0);
    world.segue(&["resume", "--json"]).exits(0);
    assert_eq!(state(&world)["status"], "completed");
    assert!(world.steps().lost(5).is_empty() && world.steps().repeated().is_empty());
    nothing_is_left(&world);
}

/// Phases 1 to 3 side by side, of which the first fails at once; 4 needs the second.
fn failing(flags: &[&str]) -> (World, Done) {
    let broken = Fault { at_step: 1, session: None, kind: FaultKind::Lie };
    let world = world(6, Script { faults: vec![broken], step_ms: 900, ..roomy() });
    world.configure_without_gate("[limits]\ngate_rounds = 1\n");
    committed(
        &world,
        &with_files(&[("1", &[], &[1]), ("2", &[], &[2, 3, 4]), ("3", &["1"], &[5]), ("4", &["2"], &[6])]),
    );
    let done = world.segue(&[&["run", "segue.plan.toml", "--json", "--parallel", "2"], flags].concat());
    done.exits(1);
    (world, done)
}

#[test]
fn a_failed_phase_lets_the_others_finish_and_begins_nothing_new() {
    let (world, done) = failing(&[]);
    let expected = [("1", "failed"), ("2", "completed"), ("3", "blocked")];
    assert_eq!(ended(&done), pairs(&expected), "{}", done.all());
    assert!(!world.read("parts/04.txt").is_empty() && world.read("parts/06.txt").is_empty());
    assert!(world.git(&["for-each-ref", "refs/segue"]).contains("1-failed"));
}

#[test]
fn keep_going_goes_on_with_everything_that_does_not_need_what_failed() {
    let (world, done) = failing(&["--keep-going"]);
    let expected = [("1", "failed"), ("2", "completed"), ("4", "completed"), ("3", "blocked")];
    assert_eq!(ended(&done), pairs(&expected), "{}", done.all());
    world.script(roomy());
    world.segue(&["resume", "--json"]).exits(0);
    assert!(world.steps().lost(6).is_empty());
    nothing_is_left(&world);
}

#[test]
fn fail_fast_stops_the_others_and_they_can_go_on() {
    let (world, done) = failing(&["--fail-fast"]);
    assert_eq!(ended(&done), pairs(&[("1", "failed"), ("3", "blocked"), ("4", "blocked")]), "{}", done.all());
    assert!(world.read("parts/04.txt").is_empty());
    world.script(roomy());
    world.segue(&["resume", "--json"]).exits(0);
    assert!(world.steps().lost(6).is_empty() && world.steps().repeated().is_empty());
    nothing_is_left(&world);
}

#[test]
fn one_that_waits_for_a_rate_limit_does_not_hold_the_others() {
    let world = world(4, Script { step_ms: 100, ..roomy() });
    let limited = Fault {
        at_step: 1,
        session: None,
        kind: FaultKind::Provider { says: Refusal::RateLimited, resets_in_ms: Some(20_000), times: None },
    };
    let script = Script { faults: vec![limited], step_log: Some(world.log()), ..roomy() };
    let path = world.root().join("second.json");
    std::fs::write(&path, serde_json::to_string(&script).unwrap()).unwrap();
    world.configure_without_gate(&format!(
        "[wait]\nfirst = \"100ms\"\nmost = \"400ms\"\n\
         [agent.second]\nkind = \"acp\"\ncommand = [{:?}, \"scripted-agent\", \"--script\", {path:?}]\n",
        env!("CARGO_BIN_EXE_segue")
    ));
    let plan = with_files(&[("1", &[], &[1]), ("2", &[], &[2]), ("3", &["2"], &[3]), ("4", &["3"], &[4])]);
    let plan = plan.replacen("id = \"1\"\n", "id = \"1\"\nagent = \"second\"\n", 1);
    committed(&world, &plan);
    let done = world.segue(&["run", "segue.plan.toml", "--json", "--parallel", "2"]);
    done.exits(0);
    let order: Vec<String> = ended(&done).into_iter().map(|(id, _)| id).collect();
    assert_eq!(order, ["2", "3", "4", "1"], "{}", done.all());
    assert_eq!(done.of("wait.started").len(), 1, "{}", done.all());
    nothing_is_left(&world);
}

#[test]
fn where_phases_come_one_after_the_other_one_that_waits_keeps_its_place() {
    let kind = FaultKind::Provider { says: Refusal::RateLimited, resets_in_ms: Some(2_000), times: None };
    let world = world(2, Script { faults: vec![Fault { at_step: 1, session: None, kind }], ..roomy() });
    committed(&world, &with_files(&[("1", &[], &[1]), ("2", &[], &[2])]));
    let done = world.segue(&["run", "segue.plan.toml", "--json"]);
    done.exits(0);
    assert_eq!(done.of("wait.started").len(), 1, "{}", done.all());
    let lines = done.lines();
    let place =
        |kind: &str, id: &str| lines.iter().position(|line| line["type"] == kind && line["phase"] == id);
    assert!(place("phase.finished", "1") < place("phase.started", "2"), "{}", done.all());
}

#[test]
fn what_a_plan_may_spend_is_shared_by_its_phases() {
    let world = world(12, Script { step_ms: 150, ..roomy() });
    let phases: &[(&str, &[&str], &[u32])] =
        &[("1", &[], &[1, 2, 3, 4]), ("2", &[], &[5, 6, 7, 8]), ("3", &[], &[9, 10, 11, 12])];
    committed(&world, &with_files(phases));
    let whole = world.segue(&["run", "segue.plan.toml", "--json", "--parallel", "3", "--max-sessions", "2"]);
    whole.exits(4);
    assert_eq!(whole.of("session.started").len(), 2, "{}", whole.all());
    let again = world.segue(&["resume", "--json", "--max-tokens", "30000"]);
    again.exits(4);
    let reached = again.of("limit.reached");
    assert!(reached.iter().any(|line| line["limit"] == "tokens"), "{}", again.all());
    let last = world.segue(&["resume", "--json", "--max-tokens", "100M", "--max-sessions", "50"]);
    last.exits(0);
    assert!(world.steps().lost(12).is_empty() && world.steps().repeated().is_empty());
    nothing_is_left(&world);
}

#[test]
fn files_that_git_does_not_take_come_along_and_come_back() {
    let world = world(2, roomy());
    world.write(".gitignore", "notes/\nsegue.local\n");
    world.in_step(
        "mkdir -p notes; cat notes/in.md >notes/out-$n.md 2>/dev/null || echo none >notes/out-$n.md",
    );
    world.write("notes/in.md", "what to know\n");
    world.write("notes/out-2.md", "older\n");
    let plan = with_files(&[("1", &[], &[1]), ("2", &[], &[2])])
        .replace("needs = []\n", "needs = []\nread = [\"notes/in.md\"]\n")
        .replacen("id = \"1\"\n", "id = \"1\"\nwrite = [\"notes/out-1.md\"]\n", 1)
        .replacen("id = \"2\"\n", "id = \"2\"\nwrite = [\"notes/out-2.md\"]\n", 1);
    committed(&world, &plan);
    world.segue(&["run", "segue.plan.toml", "--json", "--parallel", "2"]).exits(0);
    assert_eq!(world.read("notes/out-1.md"), "what to know\n");
    assert_eq!(world.read("notes/out-2.md"), "what to know\n");
    let id = state(&world)["id"].as_str().unwrap().to_owned();
    assert_eq!(
        std::fs::read_to_string(world.trees().join(&id).join("2/replaced/notes/out-2.md")).unwrap(),
        "older\n",
        "nothing is overwritten"
    );
}

#[test]
fn what_cannot_run_side_by_side_is_refused_with_what_to_do() {
    let world = world(2, roomy());
    world.write("segue.plan.toml", &native(&[("1", &[], &[1]), ("2", &[], &[2])]));
    world.write("README.md", "changed\n");
    let refused = |args: &[&str], words: &str| {
        let done = world.segue(&[&["run", "segue.plan.toml", "--parallel"], args].concat());
        done.exits(2);
        assert!(done.err.contains(words), "{}", done.all());
    };
    refused(&["2"], "--allow-dirty");
    refused(&["0"], "1..=64");
    refused(&["many"], "invalid");
    refused(&["2", "--no-git"], "needs git");
    refused(&["2", "--keep-going", "--fail-fast"], "cannot be used with");
    let task = world.segue(&["run", "TASK.md", "--parallel", "2", "--dry-run"]);
    assert!(!task.all().contains("panicked"), "{}", task.all());
    world.git(&["checkout", "--quiet", "README.md"]);
    let mine = world.read("README.md") + "mine\n";
    world.write("README.md", &mine);
    world.segue(&["run", "segue.plan.toml", "--parallel", "2", "--allow-dirty", "--phase", "1"]).exits(0);
    assert_eq!(world.read("README.md"), mine, "it stays where it is");
    assert!(!world.git(&["show", "HEAD:README.md"]).contains("mine"), "to leave them out of the phases");
    world.git(&["checkout", "--quiet", "README.md"]);
    // The plan itself need not be committed.
    let done = world.segue(&["run", "segue.plan.toml", "--json", "--parallel", "2", "--restart"]);
    done.exits(0);
    assert!(world.git(&["status", "--porcelain"]).contains("?? segue.plan.toml"));
}
