//! Which snapshots are found, also those of a name that was used again, and that a removal takes nothing else.

use crate::git::SnapshotRequest;
use crate::git::tests::Sandbox;

fn save(sandbox: &Sandbox, run: &str, label: &str, message: &str) -> String {
    let request = SnapshotRequest { run, label, parent: None, message };
    sandbox.repo().snapshot(&request).unwrap().commit
}

fn names(sandbox: &Sandbox) -> Vec<String> {
    let saved = sandbox.repo().saved().unwrap();
    saved.iter().map(|one| format!("{}/{}~{}", one.run, one.label, one.back)).collect()
}

#[test]
fn every_snapshot_is_found_with_its_head_and_nothing_else_is() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.repo().saved().unwrap(), []);
    let head = sandbox.git(["rev-parse", "HEAD"]);
    sandbox.write("new.txt", "x\n");
    let first = save(&sandbox, "r1", "c3", "segue: c3 of run r1");
    save(&sandbox, "plan-2", "a.b-before merge", "segue: before merging a.b of plan 2");
    sandbox.git(["update-ref", "refs/segue/odd", "HEAD"]);
    sandbox.git(["update-ref", "refs/segue/r1/blob", &sandbox.git(["rev-parse", "HEAD:a.txt"])]);
    assert_eq!(names(&sandbox), ["plan-2/a-b-before-merge~0", "r1/c3~0"]);
    let found = sandbox.repo().saved().unwrap().pop().unwrap();
    assert_eq!((found.commit, found.head), (first, Some(head)));
    assert!(found.at > 1_600_000_000_000);
}

#[test]
fn those_that_a_newer_one_of_the_same_name_has_replaced_are_found_behind_it() {
    let sandbox = Sandbox::new();
    let mut commits = Vec::new();
    for text in ["1", "2", "3"] {
        sandbox.write("new.txt", text);
        commits.push(save(&sandbox, "p", "1-merge", &format!("segue: try {text}")));
    }
    assert_eq!(names(&sandbox), ["p/1-merge~0", "p/1-merge~1", "p/1-merge~2"]);
    let found: Vec<String> = sandbox.repo().saved().unwrap().into_iter().map(|one| one.commit).collect();
    assert_eq!(found, commits.iter().rev().cloned().collect::<Vec<_>>());
}

#[test]
fn a_commit_of_segues_own_on_the_branch_is_a_head_and_no_snapshot() {
    let sandbox = Sandbox::new();
    sandbox.git([
        "-c",
        "user.name=segue",
        "-c",
        "user.email=segue@localhost",
        "commit",
        "--allow-empty",
        "-m",
        "segue: x",
    ]);
    let head = sandbox.git(["rev-parse", "HEAD"]);
    for _ in 0..2 {
        sandbox.write("new.txt", "x");
        save(&sandbox, "r1", "end-1", "segue: end-1 of run r1");
    }
    let found = sandbox.repo().saved().unwrap();
    assert!(found.iter().all(|one| one.head.as_ref() == Some(&head)), "{found:?}");
    assert_eq!(names(&sandbox), ["r1/end-1~0", "r1/end-1~1"]);
}

#[test]
fn before_the_first_commit_there_is_no_head_and_a_name_can_be_used_again() {
    let sandbox = Sandbox::empty();
    for text in ["1", "2"] {
        sandbox.write("new.txt", text);
        save(&sandbox, "r1", "c1", "segue: c1 of run r1");
    }
    assert_eq!(names(&sandbox), ["r1/c1~0", "r1/c1~1"]);
    assert!(sandbox.repo().saved().unwrap().iter().all(|one| one.head.is_none()));
}

#[test]
fn what_is_forgotten_is_gone_with_its_earlier_ones_and_one_that_was_moved_stops_it() {
    let sandbox = Sandbox::new();
    for (label, text) in [("a", "1"), ("a", "2"), ("b", "3")] {
        sandbox.write("new.txt", text);
        save(&sandbox, "r", label, &format!("segue: {label} of run r"));
    }
    let repo = sandbox.repo();
    let found = repo.saved().unwrap();
    let before = sandbox.untouched();
    sandbox.git(["update-ref", "refs/segue/r/b", "HEAD"]);
    assert!(repo.forget(found.iter().filter(|one| one.back == 0)).is_err());
    assert_eq!(names(&sandbox).len(), 3, "all or none");
    repo.forget(found.iter().filter(|one| one.back == 0 && one.label == "a")).unwrap();
    assert_eq!(names(&sandbox), ["r/b~0"]);
    assert_eq!(sandbox.untouched(), before);
}
