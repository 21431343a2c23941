//! Phases side by side: work trees of their own, merged in plan order, and nothing lost.

use segue_rehearsal::script::Script;
use serde_json::Value;

use crate::plan_run::{ended, native, roomy, state, world};
use crate::support::World;

/// Phases with their needs and steps; each says which files it changes.
pub(crate) type Phases<'a> = &'a [(&'a str, &'a [&'a str], &'a [u32])];

/// The same as [`native`], with the files that each phase changes.
pub(crate) fn with_files(phases: Phases<'_>) -> String {
    let mut text = native(phases);
    for (id, _, steps) in phases {
        let files: Vec<String> = steps.iter().map(|step| format!("parts/{step:02}.txt")).collect();
        let head = format!("[[phase]]\nid = {id:?}\n");
        text = text.replacen(&head, &format!("{head}files = {files:?}\n"), 1);
    }
    text
}

/// One phase, ten that need it, and one that needs those.
pub(crate) fn fan() -> String {
    let ids: Vec<String> = (1..=12).map(|n: u32| n.to_string()).collect();
    let middle: Vec<&str> = ids[1..11].iter().map(String::as_str).collect();
    let steps: Vec<u32> = (1..=12).collect();
    let mut phases: Vec<(&str, &[&str], &[u32])> = vec![("1", &[], &steps[..1])];
    phases.extend((1..11).map(|n| (ids[n].as_str(), &["1"][..], &steps[n..=n])));
    phases.push(("12", &middle, &steps[11..]));
    with_files(&phases)
}

/// Nothing of a plan is left but what it made: no work tree, no branch, no process.
#[track_caller]
pub(crate) fn nothing_is_left(world: &World) {
    assert_eq!(world.git(&["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    assert_eq!(world.git(&["branch", "--list", "segue/*"]), "");
    assert_eq!(world.git(&["status", "--porcelain"]), "", "the work tree is clean");
    let trees = world.trees();
    let left = std::process::Command::new("find").arg(&trees).args(["-mindepth", "1"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
}

#[test]
fn one_then_ten_side_by_side_then_one_come_to_the_same_tree_as_one_by_one() {
    let script = Script { step_ms: 200, ..roomy() };
    let beside = world(12, script.clone());
    beside.write("segue.plan.toml", &fan());
    beside.commit("the plan");
    let done = beside.segue(&["run", "segue.plan.toml", "--json", "--parallel", "5"]);
    done.exits(0);
    beside.assert_each_step_once(&done);
    let expected: Vec<(String, String)> =
        (1..=12).map(|n: u32| (n.to_string(), "completed".to_owned())).collect();
    assert_eq!(ended(&done), expected, "in plan order: {}", done.all());
    nothing_is_left(&beside);
    let at_once = most_at_once(&done.lines());
    assert!((3..=5).contains(&at_once), "{at_once} at once");

    let serial = world(12, script);
    serial.write("segue.plan.toml", &fan());
    serial.commit("the plan");
    serial.segue(&["run", "segue.plan.toml", "--json"]).exits(0);
    serial.commit("what was done");
    let names = |world: &World| world.git(&["ls-tree", "-r", "HEAD", "parts"]);
    assert_eq!(names(&beside), names(&serial));
    assert_eq!(state(&beside)["status"], "completed");
}

/// How many phases were at work at the same time, by what was written.
fn most_at_once(lines: &[Value]) -> usize {
    let mut now: Vec<&str> = Vec::new();
    let mut most = 0;
    for line in lines {
        let run = line["run"].as_str().unwrap_or_default();
        match line["type"].as_str().unwrap_or_default() {
            "session.started" => now.push(run),
            "session.ended" => now.retain(|other| *other != run),
            _ => {}
        }
        most = most.max(now.len());
    }
    most
}
