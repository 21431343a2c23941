//! P1: a phase that is too large becomes several, one after the other, each verified by itself.

use segue_rehearsal::script::{Fault, FaultKind, Reply, Script};
use serde_json::{Value, json};

use crate::plan_run::{ended, native, pairs, roomy, state, world};
use crate::support::World;

/// How a plan of phases 1, 20 and 21 ends when 20 is split into three.
pub(crate) const IN_THREE: &[(&str, &str)] = &[
    ("1", "completed"),
    ("20", "split"),
    ("20a", "completed"),
    ("20b", "completed"),
    ("20c", "completed"),
    ("20", "completed"),
    ("21", "completed"),
];

fn request(parts: &[(&str, &[u32])]) -> String {
    let parts: Vec<Value> = parts
        .iter()
        .map(|(title, steps)| json!({ "id": "x", "title": title, "tasks": steps.iter().map(u32::to_string).collect::<Vec<_>>() }))
        .collect();
    let report = json!({
        "status": "split_request", "recommendation": "halt", "summary": "It does not fit.",
        "split_details": { "reason": "six files at once", "recommended_sub_phases": parts },
    });
    format!("This is too much.\n```json\n{report}\n```\n")
}

/// An agent that asks for three parts when it is given phase 20 as a whole.
fn asks(script: Script) -> Script {
    let say = request(&[("first", &[2, 3]), ("second", &[4]), ("third", &[5, 6])]);
    Script { replies: vec![Reply { when: "# Phase 20 - ".to_owned(), say }], ..script }
}

fn plan(world: &World) {
    world.write(
        "segue.plan.toml",
        &native(&[("1", &[], &[1]), ("20", &["1"], &[2, 3, 4, 5, 6]), ("21", &["20"], &[7])]),
    );
}

#[test]
fn p1_a_split_request_becomes_three_parts_and_the_phase_is_completed_when_all_are() {
    let world = world(7, asks(roomy()));
    plan(&world);
    let done = world.segue(&["run", "segue.plan.toml", "--json", "--policy", "observe"]);
    done.exits(0);
    assert_eq!(ended(&done), pairs(IN_THREE), "{}", done.all());
    world.assert_each_step_once(&done);
    let notice = "Phase 20 too large (six files at once). Splitting into 3 sub-phases, launching one after another (there are changes that are not committed)...";
    assert_eq!(done.warnings("split"), [notice]);
    let gates = done.of("gate.finished");
    assert!(
        gates.iter().all(|gate| gate["gate"] != "criterion 4.1: it is there" || gate["passed"].is_boolean())
    );
    let whole: Value = done.of("phase.finished").into_iter().rfind(|line| line["phase"] == "20").unwrap();
    let report: Value = serde_json::from_str(&world.read(whole["report"].as_str().unwrap())).unwrap();
    let inline: Vec<&str> =
        report["parts"].as_array().unwrap().iter().map(|part| part["phase"].as_str().unwrap()).collect();
    assert_eq!(inline, ["20a", "20b", "20c"]);
    assert_eq!(report["parts"][2]["report"]["status"], "completed");
}

#[test]
fn p1_one_part_failing_fails_the_phase_and_keeps_the_others() {
    let broken = Fault { at_step: 4, session: None, kind: FaultKind::Lie };
    let world = world(7, Script { faults: vec![broken], ..asks(roomy()) });
    plan(&world);
    let done = world.segue(&["run", "segue.plan.toml", "--json", "--split", "auto"]);
    done.exits(1);
    let expected = [
        ("1", "completed"),
        ("20", "split"),
        ("20a", "completed"),
        ("20b", "failed"),
        ("20c", "completed"),
        ("20", "failed"),
        ("21", "blocked"),
    ];
    assert_eq!(ended(&done), pairs(&expected), "{}", done.all());
    assert_eq!(state(&world)["status"], "failed");
    world.script(asks(roomy()));
    let again = world.segue(&["resume", "--json"]);
    again.exits(0);
    assert_eq!(
        ended(&again),
        pairs(&[("20b", "completed"), ("20", "completed"), ("21", "completed")]),
        "what was completed is not run again: {}",
        again.all()
    );
    assert!(world.steps().lost(7).is_empty());
}

#[test]
fn p1_a_split_that_is_only_proposed_waits_for_a_person() {
    let world = world(7, asks(roomy()));
    plan(&world);
    let done = world.segue(&["run", "segue.plan.toml", "--json", "--split", "propose"]);
    done.exits(3);
    assert_eq!(ended(&done), pairs(&[("1", "completed"), ("20", "needs_input"), ("21", "blocked")]));
    assert!(done.warnings("split_proposed")[0].contains("20c (tasks 5, 6)"), "{}", done.all());
    let again = world.segue(&["resume", "--json", "--split", "auto"]);
    again.exits(0);
    world.assert_each_step_once(&again);
    assert_eq!(state(&world)["status"], "completed");
}

#[test]
fn a_phase_that_cannot_fit_is_split_before_it_begins_when_that_is_asked_for() {
    let world = world(6, roomy());
    world.write("segue.plan.toml", &native(&[("1", &[], &[1, 2, 3, 4, 5, 6])]));
    let args = ["run", "segue.plan.toml", "--json", "--split", "auto", "--window", "75k"];
    let done = world.segue(&args);
    done.exits(0);
    let phases: Vec<String> = ended(&done).into_iter().map(|(id, _)| id).collect();
    assert_eq!(phases, ["1", "1a", "1b", "1c", "1"], "{}", done.all());
    world.assert_each_step_once(&done);
    assert!(done.warnings("split")[0].contains("% of a session"), "{}", done.all());
}

#[test]
fn a_window_that_fills_up_again_and_again_is_too_large_and_is_split() {
    let world =
        world(6, Script { window: 40_000, system_tokens: 20_000, step_output_chars: 40_000, ..roomy() });
    world.write("segue.plan.toml", &native(&[("1", &[], &[1, 2, 3, 4, 5, 6])]));
    let args = ["run", "segue.plan.toml", "--json", "--split", "auto", "--max-restarts", "1"];
    let done = world.segue(&args);
    done.exits(0);
    let phases: Vec<String> = ended(&done).into_iter().map(|(id, _)| id).collect();
    assert_eq!((phases[0].as_str(), phases[1].as_str()), ("1", "1a"), "{}", done.all());
    assert!(world.steps().lost(6).is_empty());
}

#[test]
fn many_issues_in_a_full_window_lead_to_a_proposal_to_split() {
    let say = json!({
        "status": "failed", "recommendation": "debug", "summary": "stuck", "failure": "test_failure",
        "issues": ["one", "two", "three", "four"],
    });
    let replies = vec![Reply { when: "# Phase 1".to_owned(), say: say.to_string() }];
    let world = world(4, Script { window: 30_000, system_tokens: 20_000, replies, ..roomy() });
    world.write("segue.plan.toml", &native(&[("1", &[], &[1, 2, 3, 4])]));
    let done = world.segue(&["run", "segue.plan.toml", "--json"]);
    done.exits(1);
    assert!(done.warnings("split_proposed")[0].contains("1a (tasks 1, 2)"), "{}", done.all());
}
