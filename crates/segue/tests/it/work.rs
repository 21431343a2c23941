//! Snapshots of real runs: found again, shown, brought back byte by byte, and cleared up only when nobody needs them.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::Value;

use crate::plan_run;
use crate::support::{Done, World, small, until};

/// Names with bytes, or where a link leads; and whether they can be executed.
type Files = BTreeMap<String, (Vec<u8>, bool)>;

/// What a folder holds.
fn contents(dir: &Path) -> Files {
    let mut found = Files::new();
    let mut open = vec![dir.to_owned()];
    while let Some(path) = open.pop() {
        let meta = path.symlink_metadata().unwrap();
        let name = path.strip_prefix(dir).unwrap().to_string_lossy().into_owned();
        if meta.is_symlink() {
            let target = path.read_link().unwrap().into_os_string().into_encoded_bytes();
            found.insert(format!("{name}@"), (target, false));
        } else if meta.is_dir() {
            let inside = path.read_dir().unwrap().map(|entry| entry.unwrap().path());
            open.extend(inside.filter(|path| !path.ends_with(".git")));
        } else {
            found.insert(name, (std::fs::read(&path).unwrap(), meta.permissions().mode() & 0o111 != 0));
        }
    }
    found
}

/// A finished run with a few checkpoints, in a work tree with an executable and a link that git does not track.
fn finished() -> (World, Done) {
    let world = World::new(16, small());
    world.write("tools/run me.sh", "#!/bin/sh\n");
    let tool = world.repo().join("tools/run me.sh");
    std::fs::set_permissions(tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink("../TASK.md", world.repo().join("tools/task")).unwrap();
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    (world, done)
}

fn listed(world: &World, owner: &[&str]) -> Vec<Value> {
    let list = world.segue(&[&["work", "list", "--json"], owner].concat());
    list.exits(0);
    let mut lines = list.lines();
    let total = lines.pop().unwrap();
    assert!(total["bytes"].as_u64().is_some() && total["worktree_bytes"].as_u64().is_some(), "{total}");
    lines
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// What of the user's must stay as it is.
fn users(world: &World) -> (String, Vec<u8>, Files) {
    let refs = world.git(&["for-each-ref", "refs/heads"]) + &world.git(&["rev-parse", "HEAD"]);
    (refs, std::fs::read(world.repo().join(".git/index")).unwrap(), contents(&world.repo()))
}

#[test]
fn every_snapshot_of_a_run_is_listed_shown_and_brought_back_byte_by_byte() {
    let (world, done) = finished();
    let list = listed(&world, &[]);
    let refs: Vec<String> = list.iter().map(|line| text(&line["ref"])).collect();
    let mut sorted = refs.clone();
    sorted.sort();
    assert_eq!(sorted, world.snapshots());
    assert!(list.iter().all(|line| text(&line["run"]) == done.run() && line["plan"].is_null()), "{list:?}");
    let (first, last) = (&list[0], list.last().unwrap());
    assert!(text(&last["snapshot"]).contains("/end-"), "{last}");
    assert!(first["files"].as_u64() < last["files"].as_u64() && last["bytes"].as_u64() > Some(0), "{list:?}");
    let shown = world.segue(&["work", "show", "last"]);
    shown.exits(0);
    for words in
        ["verified", "added", "tools/run me.sh", "+1 -0", "git show refs/segue/", "segue snapshot restore "]
    {
        assert!(shown.out.contains(words), "{words}: {}", shown.out);
    }
    let before = users(&world);
    let restored = world.segue(&["work", "restore", "last"]);
    restored.exits(0);
    let name = text(&last["snapshot"]).replace('/', "-");
    let folder = world.state_dir().join("restored").join(&name);
    assert_eq!(contents(&folder), before.2);
    assert!(before.2["tools/run me.sh"].1 && before.2.contains_key("tools/task@"), "{:?}", before.2.keys());
    let again = world.segue(&["work", "restore", "last"]);
    again.exits(2);
    assert!(again.err.contains("is not empty") && again.err.contains("--to"), "{}", again.err);
    std::fs::create_dir(world.root().join("out")).unwrap();
    let early = text(&first["snapshot"]);
    world.segue(&["work", "restore", &early, "--to", "../out"]).exits(0);
    assert!(contents(&world.root().join("out")).len() < before.2.len());
    world.segue(&["work", "restore", &early, "--to", "../out"]).exits(2);
    world.segue(&["work", "restore", &early, "--to", "TASK.md"]).exits(2);
    assert_eq!(users(&world), before);
    assert!(!world.repo().join(".segue").exists());
}

#[test]
fn a_branch_is_made_of_a_snapshot_and_none_is_moved() {
    let (world, _) = finished();
    let commit = text(&listed(&world, &[]).last().unwrap()["commit"]);
    let before = users(&world);
    let made = world.segue(&["work", "restore", "last", "--branch", "back/again", "--json"]);
    made.exits(0);
    assert_eq!(text(&made.lines()[0]["branch"]), "back/again");
    assert_eq!(world.git(&["rev-parse", "back/again"]).trim(), commit);
    for (name, words) in [("back/again", "already"), ("a..b", "not a valid branch name"), ("-d", "branch")] {
        let refused = world.segue(&["work", "restore", "last", &format!("--branch={name}")]);
        refused.exits(2);
        assert!(refused.err.contains(words), "{}", refused.err);
    }
    world.git(&["branch", "--delete", "--force", "back/again"]);
    assert_eq!(users(&world), before);
}

#[test]
fn a_name_that_was_used_twice_leads_to_both() {
    let (world, done) = finished();
    let end = text(&listed(&world, &[]).last().unwrap()["ref"]);
    let earlier = world.git(&["rev-parse", &end]);
    let save = |tree: &str| {
        let args = ["-c", "user.name=segue", "-c", "user.email=segue@localhost", "commit-tree", "-m"];
        let message = world.git(&["log", "-1", "--format=%s", &end]);
        world.git(&[&args[..], &[message.trim(), "-p", "HEAD", "-p", earlier.trim(), tree]].concat())
    };
    let newer = save("HEAD^{tree}");
    world.git(&["update-ref", &end, newer.trim()]);
    let list = listed(&world, &[&done.run()[..12]]);
    let names: Vec<String> = list.iter().map(|line| text(&line["snapshot"])).collect();
    let name = end.strip_prefix("refs/segue/").unwrap();
    assert_eq!(names[names.len() - 2..], [format!("{name}~1"), name.to_owned()]);
    let shown = world.segue(&["work", "show", &format!("{name}~1"), "--json"]);
    assert_eq!(text(&shown.lines()[0]["commit"]), earlier.trim());
    assert!(shown.lines()[0]["changes"].to_string().contains("parts/10.txt"), "{}", shown.out);
    world.segue(&["work", "restore", &format!("{name}~1"), "--to", "../earlier"]).exits(0);
    assert_eq!(contents(&world.root().join("earlier")), contents(&world.repo()));
}

#[test]
fn what_is_not_there_is_refused_with_what_is() {
    let (world, done) = finished();
    let near = format!("{}/emd", done.run());
    for (args, words) in [
        (["show", "nothing-like-it"], "the newest are "),
        (["show", "c"], "is ambiguous"),
        (["restore", near.as_str()], "there is no snapshot"),
        (["list", "zzz"], "no run and no plan"),
    ] {
        let refused = world.segue(&[&["work"], &args[..]].concat());
        refused.exits(2);
        assert!(refused.err.contains(words) && refused.err.contains(&done.run()), "{}", refused.err);
    }
    let empty = World::new(2, small());
    let list = empty.segue(&["work", "list"]);
    list.exits(0);
    assert!(list.out.contains("no snapshots here yet"), "{}", list.out);
    empty.segue(&["work", "show", "last"]).exits(2);
    empty.segue(&["work", "prune"]).exits(0);
    let outside = empty.segue(&["-C", &empty.root().to_string_lossy(), "work", "list", "--json"]);
    outside.exits(2);
    assert!(outside.err.contains("not in a git repository"), "{}", outside.err);
}

#[test]
fn no_secret_in_the_name_of_a_file_is_shown() {
    let (mut world, _) = finished();
    world.set_env("THE_API_KEY", "hunter2-hunter2-hunter2");
    world.write("hunter2-hunter2-hunter2\u{1b}[31m.txt", "x");
    world.segue(&["checkpoint", "create"]).exits(0);
    for json in [&[][..], &["--json"]] {
        let shown = world.segue(&[&["work", "show", "last"], json].concat());
        shown.exits(0);
        assert!(shown.out.contains(".txt") && !shown.all().contains("hunter2-hunter2"), "{}", shown.all());
        assert!(!shown.out.contains('\u{1b}'), "{}", shown.all());
    }
}

#[test]
fn those_of_a_run_that_is_not_done_are_never_removed_and_those_of_one_that_is_go_when_they_are_old() {
    let world = World::new(14, segue_rehearsal::script::Script { step_ms: 60, ..small() });
    world.configure("[checkpoint.retention]\nuntil_done = true\n");
    let run = world.launch(&["run", "TASK.md", "--json"], "run");
    until("the second session", || run.so_far().matches("session.started").count() > 1);
    run.signal("INT");
    run.wait().exits(130);
    world.git(&["update-ref", "refs/segue/nobody-knows/end-1", world.snapshots()[0].as_str()]);
    let before = world.snapshots();
    let pruned = world.segue(&["work", "prune", "--json"]);
    pruned.exits(0);
    assert_eq!((pruned.out.as_str(), world.snapshots()), ("", before.clone()));
    world.segue(&["resume", "--json"]).exits(0);
    let dry = world.segue(&["work", "prune", "--dry-run"]);
    assert!(dry.out.contains("/end-") && dry.out.contains("would be removed"), "{}", dry.out);
    assert!(world.snapshots().len() > before.len(), "a dry run removes nothing");
    let pruned = world.segue(&["work", "prune", "--json"]);
    assert!(pruned.lines().iter().all(|line| text(&line["snapshot"]).contains("/end-")), "{}", pruned.out);
    let left = world.snapshots();
    assert!(left.contains(&"refs/segue/nobody-knows/end-1".to_owned()), "{left:?}");
    assert!(left.iter().any(|name| name.contains("-c")), "those of checkpoints go with them: {left:?}");
    assert!(!left.iter().any(|name| name.contains("/end-") && !name.contains("nobody")), "{left:?}");
    world.segue(&["checkpoint", "verify", "--all"]).exits(0);
}

#[test]
fn a_plan_has_the_snapshots_of_its_phases_and_its_own_and_its_empty_folders_go() {
    let world = plan_run::world(2, plan_run::roomy());
    world.write("segue.plan.toml", &plan_run::native(&[("1", &[], &[1]), ("2", &["1"], &[2])]));
    let done = world.segue(&["run", "segue.plan.toml", "--json"]);
    done.exits(0);
    let plan = done.run();
    let alone = world.segue(&["run", "say that you are done", "--json", "--gate", "true"]).run();
    let own = format!("refs/segue/{plan}/2-before-merge");
    world.git(&["update-ref", &own, "HEAD"]);
    let list = listed(&world, &[&plan]);
    assert!(list.iter().all(|line| text(&line["plan"]) == plan && text(&line["run"]) != alone), "{list:?}");
    let phases: Vec<String> = list.iter().map(|line| text(&line["phase"])).collect();
    assert!(phases.contains(&"1".to_owned()) && phases.contains(&"2".to_owned()), "{list:?}");
    assert!(list.iter().any(|line| text(&line["ref"]) == own), "{list:?}");
    let table = world.segue(&["work", "list", &plan]);
    assert!(table.out.contains(&format!("phase 2 of {plan}")), "{}", table.out);
    let trees = text(&world.segue(&["path", "--trees", "--json"]).lines()[0]["path"]);
    let trees = Path::new(&trees).join(&plan);
    std::fs::create_dir_all(trees.join("1/x")).unwrap();
    std::fs::write(trees.join("1/x/left.txt"), "x").unwrap();
    std::fs::create_dir_all(trees.join("2/y")).unwrap();
    let pruned = world.segue(&["work", "prune", "--json"]);
    pruned.exits(0);
    assert_eq!(text(&pruned.lines()[0]["folder"]), trees.join("2").display().to_string(), "{}", pruned.out);
    assert_eq!(std::fs::read_to_string(trees.join("1/x/left.txt")).unwrap(), "x");
    assert!(world.segue(&["work", "list", &plan]).out.contains("worktrees of phases: "));
}
