//! Snapshots taken out again, compared with what was saved and with what the user's repository was before.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::git::SnapshotRequest;
use crate::git::tests::Sandbox;

fn save(sandbox: &Sandbox) -> String {
    let request = SnapshotRequest { run: "r", label: "1", parent: None, message: "segue: 1 of run r" };
    sandbox.repo().snapshot(&request).unwrap().commit
}

#[test]
fn files_come_out_as_they_were_and_the_user_sees_nothing_of_it() {
    let sandbox = Sandbox::new();
    sandbox
        .write(".gitattributes", "*.dos text eol=crlf\nsecret export-ignore\n")
        .write("sub/secret", "kept");
    sandbox.write("x.dos", "one\r\ntwo\r\n").write("run.sh", "#!/bin/sh\n").write("a.txt", "changed");
    fs::set_permissions(sandbox.path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("../nowhere", sandbox.path("sub/link")).unwrap();
    let commit = save(&sandbox);
    sandbox.write(".gitattributes", "*.dos -text\n").write("a.txt", "later").remove("run.sh");
    sandbox.git(["config", "core.sparseCheckout", "true"]);
    sandbox.write(".git/info/sparse-checkout", "/b.txt\n");
    let before = sandbox.untouched();
    let out = tempfile::tempdir().unwrap();
    sandbox.repo().write_files(&commit, out.path()).unwrap();
    assert_eq!(sandbox.untouched(), before);
    let read = |name: &str| fs::read(out.path().join(name)).unwrap();
    assert_eq!(read("x.dos"), b"one\r\ntwo\r\n");
    assert_eq!(
        (read("a.txt"), read("b.txt"), read("sub/secret")),
        (b"changed".to_vec(), b"two\n".to_vec(), b"kept".to_vec())
    );
    assert_eq!(fs::read_link(out.path().join("sub/link")).unwrap().to_str(), Some("../nowhere"));
    let mode = |name: &str| fs::metadata(out.path().join(name)).unwrap().permissions().mode() & 0o111;
    assert!(mode("run.sh") != 0 && mode("a.txt") == 0);
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 6);
}

#[test]
fn a_branch_is_made_once_and_only_under_a_name_that_git_takes() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "changed");
    let (commit, repo) = (save(&sandbox), sandbox.repo());
    for name in ["", "-x", "a..b", "@{-1}", "a b", "HEAD", "x.lock", "/x"] {
        assert!(!repo.is_branch_name(name).unwrap(), "{name}");
    }
    assert!(repo.is_branch_name("back/to-1").unwrap() && !repo.has_branch("back/to-1").unwrap());
    repo.new_branch("back/to-1", &commit).unwrap();
    assert!(repo.has_branch("back/to-1").unwrap());
    assert!(repo.new_branch("back/to-1", &commit).is_err());
    assert!(repo.new_branch("main", &commit).is_err(), "nothing is moved");
    assert_eq!(sandbox.git(["show", "back/to-1:a.txt"]), "changed");
}
