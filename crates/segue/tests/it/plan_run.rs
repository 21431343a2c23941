//! Plans from end to end: phases in order, each verified by itself, and what is left behind on disk.

use std::collections::BTreeSet;

use segue_rehearsal::script::Script;
use serde_json::Value;

use crate::support::{Done, World, small};

/// A check that the part of one step is there, in words that give the scripted agent nothing away.
pub(crate) fn part_there(step: u32) -> String {
    format!("sh there.sh {step}")
}

/// A world whose agent needs no handoff, with `there.sh N` to ask for a part.
pub(crate) fn world(steps: u32, script: Script) -> World {
    let world = World::new(steps, script);
    world.configure_without_gate("");
    world.write("there.sh", "test -f parts/$(printf %02d $1).txt\n");
    world.commit("a job for a plan");
    world
}

/// A script with a window that is never full.
pub(crate) fn roomy() -> Script {
    Script { window: 200_000, step_output_chars: 100, ..small() }
}

/// A native plan: phases with their needs and steps.
pub(crate) fn native(phases: &[(&str, &[&str], &[u32])]) -> String {
    let mut text = "title = \"Parts\"\nabout = \"All parts are there.\"\n".to_owned();
    for (id, needs, steps) in phases {
        text.push_str(&format!("\n[[phase]]\nid = {id:?}\ntitle = \"Part of it\"\nneeds = {needs:?}\n"));
        for step in *steps {
            text.push_str(&format!(
                "\n[[phase.task]]\nid = \"{step}\"\ntitle = \"step {step}: write it\"\n\
                 [[phase.task.criterion]]\ntext = \"it is there\"\n[[phase.task.criterion.check]]\nrun = {:?}\n",
                part_there(*step)
            ));
        }
    }
    text
}

/// The phases that ended, with how.
pub(crate) fn ended(done: &Done) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    done.of("phase.finished").iter().map(|line| (word(&line["phase"]), word(&line["status"]))).collect()
}

pub(crate) fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(id, status)| ((*id).to_owned(), (*status).to_owned())).collect()
}

/// The state of the latest plan.
pub(crate) fn state(world: &World) -> Value {
    let done = world.segue(&["plan", "status", "--json"]);
    serde_json::from_str(done.out.trim()).unwrap_or_else(|error| panic!("{error}: {}", done.all()))
}

#[test]
fn phases_run_in_the_order_of_their_needs_each_as_a_run_of_its_own() {
    let world = world(5, roomy());
    world.write(
        "segue.plan.toml",
        &native(&[("2", &["1"], &[3, 4]), ("1", &[], &[1, 2]), ("6D", &["2"], &[5])]),
    );
    let done = world.segue(&["run", "segue.plan.toml", "--json"]);
    done.exits(0);
    assert_eq!(ended(&done), pairs(&[("1", "completed"), ("2", "completed"), ("6D", "completed")]));
    world.assert_each_step_once(&done);
    let lines = done.lines();
    let plan = lines[0]["run"].as_str().unwrap();
    assert!(plan.starts_with("plan-") && lines[0]["type"] == "run.started", "{}", done.all());
    let own: Vec<u64> =
        lines.iter().filter(|line| line["run"] == plan).map(|line| line["seq"].as_u64().unwrap()).collect();
    assert_eq!(
        own,
        (1..=own.len() as u64).collect::<Vec<_>>(),
        "the plan's own lines are numbered without gaps"
    );
    let validator = jsonschema::validator_for(&segue_report::schema()).unwrap();
    for line in &lines {
        let errors: Vec<String> = validator.iter_errors(line).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{line}");
    }
    let finished = lines.last().unwrap();
    assert_eq!((finished["run"].as_str(), finished["verdict"].as_str()), (Some(plan), Some("verified")));
    assert_eq!(finished["sessions"], 3);
    let runs: BTreeSet<String> =
        done.of("phase.started").iter().map(|line| line["phase_run"].as_str().unwrap().to_owned()).collect();
    assert_eq!(runs.len(), 3, "{}", done.all());
    for run in &runs {
        assert_eq!(world.journal().unwrap().run(run).unwrap().status, "verified");
    }
    let report = done.of("phase.finished")[0]["report"].as_str().unwrap().to_owned();
    let report: Value = serde_json::from_str(&world.read(&report)).unwrap();
    assert_eq!(
        (report["by"].as_str(), report["report"]["status"].as_str()),
        (Some("agent"), Some("completed"))
    );
    assert_eq!(report["report"]["tasks"].as_array().unwrap().len(), 2);
    assert_eq!(state(&world)["status"], "completed");
}
