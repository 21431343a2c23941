//! `segue checkpoint …`: what can be done with stored checkpoints, and what is noticed about them.

use std::time::{Duration, SystemTime};

use segue_rehearsal::script::Script;
use serde_json::Value;

use crate::support::{Done, World, pack, small, unpacked, until};

/// A finished run with at least two checkpoints.
fn finished() -> (World, Done) {
    let world = World::new(16, small());
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    assert!(world.checkpoint_files().len() > 1, "{}", done.all());
    (world, done)
}

/// A run that was stopped after a few steps.
fn stopped(signal: &str) -> (World, Done) {
    let world = World::new(14, Script { step_ms: 60, ..small() });
    let run = world.launch(&["run", "TASK.md", "--json"], "run");
    until("the second session", || run.so_far().matches("session.started").count() > 1);
    let done = world.steps().distinct_done().len();
    until("one more step", || world.steps().distinct_done().len() > done);
    run.signal(signal);
    (world, run.wait())
}

fn listed(world: &World) -> Vec<Value> {
    let list = world.segue(&["checkpoint", "list", "--all", "--json"]);
    list.exits(0);
    list.lines()
}

#[test]
fn they_are_listed_shown_compared_and_taken_elsewhere() {
    let (world, done) = finished();
    let list = listed(&world);
    assert_eq!(list.len(), done.of("checkpoint.taken").len());
    for (line, taken) in list.iter().zip(done.of("checkpoint.taken")) {
        assert_eq!((&line["checkpoint"], &line["path"]), (&taken["checkpoint"], &taken["path"]));
        let size = std::fs::metadata(world.repo().join(line["path"].as_str().unwrap())).unwrap().len();
        assert_eq!(line["bytes"].as_u64(), Some(size));
        assert!(line["ratio"].as_f64().unwrap() > 2.0, "{line}");
    }
    let table = world.segue(&["checkpoint", "list"]);
    assert!(table.out.contains("used") && table.out.contains("forecast"), "{}", table.out);
    let id = list[0]["checkpoint"].as_str().unwrap();
    let name = id.rsplit('-').next().unwrap();
    let page = world.segue(&["checkpoint", "show", name]);
    page.exits(0);
    for part in [
        "## Done",
        "## Remaining",
        "## Failed",
        "## How to continue",
        "step 1",
        "git restore --source=refs/segue/",
        "--at ",
    ] {
        assert!(page.out.contains(part), "{part}: {}", page.out);
    }
    let json = world.segue(&["checkpoint", "show", id, "--json"]);
    assert_eq!(json.lines()[0]["id"], id);
    let diff = world.segue(&["checkpoint", "diff", name, "last"]);
    diff.exits(0);
    assert!(diff.out.contains("+ new parts/") && diff.out.contains("\nclaims\n"), "{}", diff.out);
    let diff = &world.segue(&["checkpoint", "diff", name, "--json"]).lines()[0];
    assert!(diff["files"]["new"].to_string().contains("parts/"), "{diff}");
    assert!(diff["files"]["gone"].as_array().unwrap().is_empty(), "{diff}");
    for (file, words) in [("c.json", "\"version\": 2"), ("c.md", "## How to continue")] {
        let args = ["checkpoint", "export", id, file, if file == "c.md" { "--markdown" } else { "--json" }];
        world.segue(&args).exits(0);
        assert!(world.read(file).contains(words), "{}", world.read(file));
    }
    world.segue(&["checkpoint", "export", id, "c.json.gz"]).exits(0);
    assert!(unpacked(&world.repo().join("c.json.gz")).contains(id));
}

#[test]
fn a_name_that_fits_none_or_several_is_refused_with_those_there_are() {
    let (world, done) = finished();
    let run = done.run();
    for (typed, words) in [("c9999", "there is no checkpoint"), (run.as_str(), "is ambiguous")] {
        let refused = world.segue(&["checkpoint", "show", typed]);
        refused.exits(2);
        assert!(refused.err.contains(words) && refused.err.contains(&format!("{run}-c")), "{}", refused.err);
    }
    world.segue(&["checkpoint", "show", "--run", "20"]).exits(0);
    world.segue(&["checkpoint", "show", "--run", "19"]).exits(2);
    let empty = World::new(2, small());
    empty.segue(&["checkpoint", "list"]).exits(0);
    empty.segue(&["checkpoint", "show"]).exits(2);
    empty.segue(&["checkpoint", "create"]).exits(2);
}

#[test]
fn c9_verify_names_each_damage_and_what_to_do() {
    let (world, _) = finished();
    let verify = world.segue(&["checkpoint", "verify", "--all"]);
    verify.exits(0);
    let mut files = world.checkpoint_files();
    files.sort();
    let (file, other) = (files[0].clone(), &files[1]);
    let bytes = std::fs::read(&file).unwrap();
    let document: Value = serde_json::from_str(&unpacked(&file)).unwrap();
    let (id, snapshot) = (document["id"].as_str().unwrap(), document["snapshot"].as_str().unwrap());
    let hash = world.git(&["rev-parse", snapshot]);
    let faulty = |words: &str| {
        let found = world.segue(&["checkpoint", "verify", "--all"]);
        found.exits(1);
        assert!(found.out.contains(words) && found.out.contains(id), "{words}: {}", found.out);
        let lines = world.segue(&["checkpoint", "verify", "--all", "--json"]).lines();
        assert_eq!(lines.iter().filter(|l| l["ok"] == false).count(), 1, "{lines:?}");
    };
    pack(&file, &unpacked(&file).replacen("step 1", "step 8", 1));
    faulty("changed after it was written");
    let refused = world.segue(&["checkpoint", "show", id]);
    refused.exits(1);
    assert!(refused.err.contains("segue checkpoint create"), "{}", refused.err);
    let list = listed(&world);
    assert!(list.iter().any(|l| l["damage"].to_string().contains("changed")), "{list:?}");
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    faulty("damaged");
    std::fs::copy(other, &file).unwrap();
    faulty("holds checkpoint");
    std::fs::write(&file, &bytes).unwrap();
    world.git(&["update-ref", "-d", snapshot]);
    faulty("no longer in git");
    world.git(&["update-ref", snapshot, "HEAD"]);
    faulty("was moved");
    world.git(&["update-ref", snapshot, hash.trim()]);
    world.segue(&["checkpoint", "verify", id]).exits(0);
}

#[test]
fn one_can_be_made_beside_a_run_that_works_and_disturbs_nothing() {
    let world = World::new(10, Script { step_ms: 100, ..small() });
    let run = world.launch(&["run", "TASK.md", "--json"], "run");
    until("a second step", || world.steps().distinct_done().len() >= 2);
    let made = world.segue(&["checkpoint", "create", "--json"]);
    made.exits(0);
    let path = world.repo().join(made.lines()[0]["path"].as_str().unwrap());
    let document: Value = serde_json::from_str(&unpacked(&path)).unwrap();
    assert_eq!((&document["by"], &document["reason"]), (&"segue".into(), &"requested by the user".into()));
    assert!(document["files"]["created"].to_string().contains("parts/01.txt"), "{document}");
    assert!(document["tokens"]["used"].as_u64().is_some(), "{document}");
    let done = run.wait();
    done.exits(0);
    world.assert_each_step_once(&done);
    world.segue(&["checkpoint", "verify", "--all"]).exits(0);
    world.segue(&["replay"]).exits(0);
}

#[test]
fn e2_one_can_be_made_after_a_kill_and_the_run_goes_on_from_it() {
    let (world, killed) = stopped("KILL");
    assert_eq!(killed.code, None);
    let made = world.segue(&["checkpoint", "create"]);
    made.exits(0);
    let page = world.segue(&["checkpoint", "show", "last"]);
    assert!(page.out.contains("Written by segue") && page.out.contains("parts/01.txt"), "{}", page.out);
    let done = world.segue(&["resume", "--at", "last", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
}

#[test]
fn old_ones_are_removed_but_never_the_last_of_a_run_that_is_not_done() {
    let (world, interrupted) = stopped("INT");
    interrupted.exits(130);
    let count = world.checkpoint_files().len();
    assert!(count > 1);
    let old = SystemTime::now() - Duration::from_secs(8 * 86_400);
    for file in world.checkpoint_files() {
        std::fs::File::options().append(true).open(&file).unwrap().set_modified(old).unwrap();
    }
    let last = listed(&world).pop().unwrap()["checkpoint"].clone();
    let dry = world.segue(&["checkpoint", "prune", "--dry-run"]);
    assert!(dry.out.contains(&format!("{} would be removed, 1 kept", count - 1)), "{}", dry.out);
    assert_eq!(world.checkpoint_files().len(), count);
    let pruned = world.segue(&["checkpoint", "prune", "--json"]);
    pruned.exits(0);
    assert_eq!(pruned.lines().len(), count - 1);
    let left = listed(&world);
    assert_eq!((left.len(), &left[0]["checkpoint"]), (1, &last));
    assert_eq!(
        world.snapshots().iter().filter(|name| name.contains("-c")).count(),
        1,
        "{:?}",
        world.snapshots()
    );
    world.segue(&["checkpoint", "verify", "--all"]).exits(0);
    world.segue(&["resume", "--json"]).exits(0);
    for file in world.checkpoint_files() {
        std::fs::File::options().append(true).open(&file).unwrap().set_modified(old).unwrap();
    }
    world.segue(&["run", "say that you are done", "--json", "--gate", "true"]);
    assert!(
        !listed(&world).iter().any(|l| l["checkpoint"] == last),
        "a new run clears up after one that is done"
    );
}
