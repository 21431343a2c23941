//! What snapshots hold, beside what git itself says about it.

use super::*;
use crate::git::SnapshotRequest;
use crate::git::tests::Sandbox;

fn save(sandbox: &Sandbox, label: &str) {
    let request = SnapshotRequest { run: "r", label, parent: None, message: label };
    sandbox.repo().snapshot(&request).unwrap();
}

// Text that does not pack to nothing.
fn noise(seed: u64, lines: u64) -> String {
    (0..lines)
        .map(|line| format!("{:x}\n", (seed * 7_919 + line).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .collect()
}

#[test]
fn files_are_counted_and_what_two_need_is_needed_by_neither_alone() {
    let sandbox = Sandbox::new();
    sandbox.write("shared.txt", &noise(1, 400));
    save(&sandbox, "a");
    sandbox.write("own.txt", &noise(2, 100)).write("sub/deep/x.txt", "x\n").remove("b.txt");
    save(&sandbox, "b");
    let saved = sandbox.repo().saved().unwrap();
    let weights = sandbox.repo().weigh(&saved).unwrap();
    assert_eq!(weights.each.iter().map(|one| one.files).collect::<Vec<_>>(), [1, 4]);
    let (a, b) = (weights.each[0].bytes, weights.each[1].bytes);
    assert!(a > 0 && a < 1_000 && b > 500, "{weights:?}");
    let all = ["rev-list", "--objects", "--disk-usage", "--glob=refs/segue/*", "--not", "--branches"];
    assert_eq!(weights.total.to_string(), sandbox.git(all));
    assert!(weights.total > a + b + 1_000, "{weights:?}");
}

#[test]
fn what_a_branch_holds_as_well_is_not_counted_and_neither_are_many_at_once_mixed_up() {
    let sandbox = Sandbox::new();
    let many = AT_ONCE + 3;
    for at in 0..many {
        sandbox.write("n.txt", &at.to_string()).write(format!("f/{}.txt", at % 5), "x\n");
        save(&sandbox, &format!("{at:03}"));
    }
    save(&sandbox, "same");
    sandbox.commit("all of it");
    let saved = sandbox.repo().saved().unwrap();
    let weights = sandbox.repo().weigh(&saved).unwrap();
    let files: Vec<usize> = weights.each.iter().map(|one| one.files).collect();
    let wanted: Vec<usize> = (0..many).map(|at| 1 + (at + 1).min(5)).chain([6]).collect();
    assert_eq!(files, wanted);
    let last = &weights.each[many - 1..];
    assert!(last.iter().all(|one| one.bytes < weights.each[20].bytes), "only their commits: {last:?}");
}

#[test]
fn changes_are_told_with_their_lines_whatever_the_names_are() {
    let sandbox = Sandbox::empty();
    sandbox.write("a\tb\nc.txt", "one\ntwo\n").write("bin", "\0\u{1}\0");
    save(&sandbox, "first");
    sandbox.commit("first");
    sandbox.write("a\tb\nc.txt", "one\n").remove("bin").write("ü.txt", "x");
    save(&sandbox, "second");
    let saved = sandbox.repo().saved().unwrap();
    let change = |kind, path: &str, lines| Change { kind, path: path.to_owned(), lines };
    assert_eq!(
        sandbox.repo().changes_in(&saved[0]).unwrap(),
        [change('A', "a\tb\nc.txt", Some((2, 0))), change('A', "bin", None)]
    );
    assert_eq!(
        sandbox.repo().changes_in(&saved[1]).unwrap(),
        [
            change('M', "a\tb\nc.txt", Some((0, 1))),
            change('D', "bin", None),
            change('A', "ü.txt", Some((1, 0)))
        ]
    );
    let weights = sandbox.repo().weigh(&saved).unwrap();
    assert_eq!(weights.each.iter().map(|one| one.files).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn no_snapshots_weigh_nothing() {
    assert_eq!(Sandbox::new().repo().weigh(&[]).unwrap(), Weights::default());
}
