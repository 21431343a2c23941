//! Snapshots of work trees in every odd state, each compared with what the user's repository was before.

use std::fs::{self, File};

use super::*;
use crate::git::tests::Sandbox;

fn request<'a>(label: &'a str, parent: Option<&'a str>) -> SnapshotRequest<'a> {
    SnapshotRequest { run: "0197-ab", label, parent, message: "-- before a restart\n\n# kept" }
}

/// Takes a snapshot and checks that nothing of the user's has changed.
fn take(sandbox: &Sandbox) -> Snapshot {
    let before = sandbox.untouched();
    let snapshot = sandbox.repo().snapshot(&request("1", None)).unwrap();
    assert_eq!(sandbox.untouched(), before);
    let litter = fs::read_dir(sandbox.path(".git")).unwrap();
    assert!(litter.flatten().all(|file| !file.file_name().to_string_lossy().starts_with("segue-")));
    snapshot
}

fn files(sandbox: &Sandbox, commit: &str) -> Vec<String> {
    let out = sandbox.git(["ls-tree", "-r", "-z", "--name-only", commit]);
    out.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[test]
fn c6_new_changed_and_deleted_files_are_saved_and_the_user_sees_nothing_of_it() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "*.log\n").write("x.log", "ignored").write("new/c.txt", "three\n");
    sandbox.write("a.txt", "staged\n").git(["add", "a.txt"]);
    sandbox.write("a.txt", "staged, then changed\n").remove("b.txt");
    sandbox.write(".segue/journal.db", "x").write("new/.segue/lock", "x");
    let snapshot = take(&sandbox);
    assert_eq!(files(&sandbox, &snapshot.commit), [".gitignore", "a.txt", "new/c.txt"]);
    assert_eq!(sandbox.git(["show", "refs/segue/0197-ab/1:a.txt"]), "staged, then changed");
    assert_eq!(snapshot.reference, "refs/segue/0197-ab/1");
    assert_eq!(sandbox.git(["rev-parse", &snapshot.reference]), snapshot.commit);
    assert_eq!(
        sandbox.git(["log", "-1", "--format=%an %cn|%B", &snapshot.commit]).trim_end(),
        "segue segue|-- before a restart\n\n# kept"
    );
    assert_eq!((snapshot.skipped, snapshot.trouble), (vec![], None));
}

#[test]
fn c6_a_snapshot_follows_head_and_the_one_before() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo();
    let parents = |commit: &str| sandbox.git(["log", "-1", "--format=%P", commit]);
    let head = repo.head().unwrap();
    let first = repo.snapshot(&request("1", Some(&head))).unwrap();
    assert_eq!(parents(&first.commit), head);
    let second = repo.snapshot(&request("2", Some(&first.commit))).unwrap();
    assert_eq!(parents(&second.commit), format!("{head} {}", first.commit));
    let again = repo.snapshot(&request("2", None)).unwrap();
    assert_eq!(
        parents(&again.commit),
        format!("{head} {}", second.commit),
        "an earlier one of that name stays"
    );
}

#[test]
fn c6_a_repository_without_a_commit_can_be_saved() {
    let sandbox = Sandbox::empty();
    assert_eq!(files(&sandbox, &take(&sandbox).commit), [""; 0]);
    sandbox.write("a.txt", "one\n");
    let snapshot = take(&sandbox);
    assert_eq!(files(&sandbox, &snapshot.commit), ["a.txt"]);
    assert_eq!(sandbox.repo().head(), None);
    assert_eq!(sandbox.repo().tree().unwrap(), snapshot.tree);
}

#[test]
fn c6_new_files_over_10_mb_are_named_and_tracked_ones_saved() {
    let sandbox = Sandbox::new();
    let size = 10 * 1024 * 1024 + 1;
    sandbox.write("known.bin", "").commit("second");
    for name in ["known.bin", "[big]*.bin"] {
        File::create(sandbox.path(name)).unwrap().set_len(size).unwrap();
    }
    sandbox.write("b.bin", "small: a pattern in a name must not hide others");
    let snapshot = take(&sandbox);
    assert_eq!(snapshot.skipped, [("[big]*.bin".to_owned(), size)]);
    assert_eq!(files(&sandbox, &snapshot.commit), ["a.txt", "b.bin", "b.txt", "known.bin"]);
    assert_eq!(sandbox.git(["cat-file", "-s", "refs/segue/0197-ab/1:known.bin"]), size.to_string());
}

#[cfg(unix)]
#[test]
fn c6_odd_names_links_and_modes_are_kept() {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};
    let sandbox = Sandbox::new();
    let odd = "new\nline \"quoted\" 'too' \\ ü :(glob)*";
    sandbox
        .write(odd, "x")
        .write("-n", "x")
        .write("run.sh", "x")
        .write(std::ffi::OsStr::from_bytes(b"\xff"), "x");
    fs::set_permissions(sandbox.path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("nowhere/at all", sandbox.path("link")).unwrap();
    let snapshot = take(&sandbox);
    let names = files(&sandbox, &snapshot.commit);
    assert!(names.contains(&odd.to_owned()) && names.len() == 7, "{names:?}");
    let mode = |name: &str| sandbox.git(["ls-tree", &snapshot.commit, name])[..6].to_owned();
    assert_eq!(
        (mode("run.sh"), mode("link"), mode("a.txt")),
        ("100755".into(), "120000".into(), "100644".into())
    );
    assert_eq!(sandbox.git(["show", "refs/segue/0197-ab/1:link"]), "nowhere/at all");
}

#[test]
fn c6_a_work_tree_with_conflicts_is_saved_as_it_lies() {
    let sandbox = Sandbox::new();
    sandbox.git(["checkout", "--quiet", "-b", "side"]);
    sandbox.write("a.txt", "side\n").commit("side");
    sandbox.git(["checkout", "--quiet", "main"]);
    sandbox.write("a.txt", "main\n").commit("main");
    assert!(!sandbox.ask(["merge", "--quiet", "side"]).0);
    let snapshot = take(&sandbox);
    assert!(sandbox.git(["show", "refs/segue/0197-ab/1:a.txt"]).contains("<<<<<<<"));
    assert_eq!(snapshot.trouble, None);
}

#[test]
fn c6_nested_repositories_are_left_out_and_named() {
    let sandbox = Sandbox::new();
    for name in ["empty", "full"] {
        fs::create_dir(sandbox.path(name)).unwrap();
        sandbox.git(["-C", name, "init", "--quiet"]);
        sandbox.write(format!("{name}/x.txt"), "x");
    }
    sandbox.git(["-C", "full", "add", "x.txt"]);
    sandbox.git(["-C", "full", "-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "-m", "x"]);
    let snapshot = take(&sandbox);
    assert_eq!(files(&sandbox, &snapshot.commit), ["a.txt", "b.txt"]);
    let trouble = snapshot.trouble.unwrap();
    assert!(trouble.contains("empty, full"), "{trouble}");
}

#[test]
fn c6_a_submodule_is_saved_as_its_commit_and_changes_inside_are_named() {
    let inner = Sandbox::new();
    let sandbox = Sandbox::new();
    let from = inner.path("").to_string_lossy().into_owned();
    sandbox.git(["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &from, "sub"]);
    sandbox.commit("second");
    assert_eq!(take(&sandbox).trouble, None);
    sandbox.write("sub/a.txt", "changed\n");
    let snapshot = take(&sandbox);
    assert_eq!(files(&sandbox, &snapshot.commit), [".gitmodules", "a.txt", "b.txt", "sub"]);
    assert_eq!(snapshot.trouble.as_deref(), Some("changes left out: sub"));
}

#[test]
fn c6_a_filter_that_fails_does_not_keep_work_from_being_saved() {
    let sandbox = Sandbox::new();
    sandbox.git(["config", "filter.broken.clean", "false"]);
    sandbox.git(["config", "filter.broken.required", "true"]);
    sandbox.write(".gitattributes", "*.bin filter=broken\n").write("x.bin", "x").write("y.txt", "y");
    let snapshot = take(&sandbox);
    assert_eq!(files(&sandbox, &snapshot.commit), [".gitattributes", "a.txt", "b.txt", "x.bin", "y.txt"]);
    let trouble = snapshot.trouble.unwrap();
    assert!(trouble.contains("without filters") && trouble.contains("broken"), "{trouble}");
}

#[cfg(unix)]
#[test]
fn c6_a_file_that_cannot_be_read_is_named_and_the_rest_saved() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    sandbox.write("secret.txt", "x").write("z.txt", "x");
    fs::set_permissions(sandbox.path("secret.txt"), fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser may read everything.
    let readable = File::open(sandbox.path("secret.txt")).is_ok();
    let snapshot = take(&sandbox);
    assert!(files(&sandbox, &snapshot.commit).contains(&"z.txt".to_owned()));
    assert!(readable || snapshot.trouble.unwrap().contains("secret.txt"));
}

#[test]
fn c6_a_damaged_index_does_not_stop_a_snapshot() {
    let sandbox = Sandbox::new();
    sandbox.write("c.txt", "three\n").write(".git/index", "not an index");
    let snapshot = take(&sandbox);
    assert_eq!(files(&sandbox, &snapshot.commit), ["a.txt", "b.txt", "c.txt"]);
    assert!(snapshot.trouble.unwrap().contains("index could not be read"));
}

#[test]
fn c6_a_lock_on_the_users_index_is_no_obstacle() {
    let sandbox = Sandbox::new();
    sandbox.write("c.txt", "three\n").write(".git/index.lock", "");
    assert_eq!(files(&sandbox, &take(&sandbox).commit), ["a.txt", "b.txt", "c.txt"]);
}

#[test]
fn any_name_becomes_one_part_of_a_reference() {
    let sandbox = Sandbox::new();
    let odd = SnapshotRequest { run: "../x y", label: "", parent: None, message: "" };
    assert_eq!(sandbox.repo().snapshot(&odd).unwrap().reference, "refs/segue/---x-y/-");
}
