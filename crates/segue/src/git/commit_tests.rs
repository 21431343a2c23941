//! Commits on the user's branch.

use crate::git::GitError;
use crate::git::tests::Sandbox;

#[test]
fn every_change_but_segues_own_is_committed_as_the_user() {
    let sandbox = Sandbox::new();
    sandbox.write("new.txt", "x").write(".segue/journal.db", "x").remove("b.txt");
    let commit = sandbox.repo().commit_all("-- phase 1\n\n# kept", false).unwrap();
    assert_eq!(commit, sandbox.repo().head());
    assert_eq!(sandbox.git(["ls-tree", "-r", "--name-only", "HEAD"]), "a.txt\nnew.txt");
    assert_eq!(sandbox.git(["log", "-1", "--format=%an|%B"]).trim_end(), "Ada|-- phase 1\n\n# kept");
    assert_eq!(sandbox.git(["symbolic-ref", "HEAD"]), "refs/heads/main");
}

#[test]
fn with_nothing_to_commit_there_is_no_commit_unless_asked_for() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo();
    let head = repo.head();
    assert_eq!(repo.commit_all("nothing", false), Ok(None));
    assert_eq!(repo.head(), head);
    assert!(repo.commit_all("nothing", true).unwrap().is_some());
    assert_ne!(repo.head(), head);
    assert_eq!(Sandbox::empty().repo().commit_all("nothing", false), Ok(None));
}

#[test]
fn the_first_commit_of_a_repository_can_be_segues() {
    let sandbox = Sandbox::empty();
    sandbox.write("a.txt", "one\n");
    assert!(sandbox.repo().commit_all("first", false).unwrap().is_some());
}

#[cfg(unix)]
#[test]
fn a_hook_of_the_user_can_refuse_and_its_words_are_passed_on() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    sandbox.write(".git/hooks/pre-commit", "#!/bin/sh\necho 'no tests, no commit' >&2\nexit 1\n");
    let hook = sandbox.path(".git/hooks/pre-commit");
    std::fs::set_permissions(hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.git(["config", "core.hooksPath", ".git/hooks"]);
    sandbox.write("new.txt", "x");
    let refused = sandbox.repo().commit_all("x", false).unwrap_err();
    assert_eq!(refused.to_string(), "git commit failed: no tests, no commit");
}

#[test]
fn files_with_conflicts_are_not_committed() {
    let sandbox = Sandbox::new();
    sandbox.git(["checkout", "--quiet", "-b", "side"]);
    sandbox.write("a.txt", "side\n").commit("side");
    sandbox.git(["checkout", "--quiet", "main"]);
    sandbox.write("a.txt", "main\n").commit("main");
    assert!(!sandbox.ask(["merge", "--quiet", "side"]).0);
    let refused = sandbox.repo().commit_all("x", false);
    assert_eq!(refused, Err(GitError::Unmerged { paths: vec!["a.txt".into()] }));
}

#[test]
fn without_an_identity_the_commit_is_segues() {
    let sandbox = Sandbox::new();
    for key in ["user.name", "user.email"] {
        sandbox.git(["config", "--unset", key]);
    }
    sandbox.git(["config", "user.useConfigOnly", "true"]);
    // Whoever runs the tests may have an identity for all repositories.
    let someone = sandbox.ask(["var", "GIT_AUTHOR_IDENT"]).0;
    sandbox.write("new.txt", "x");
    assert!(sandbox.repo().commit_all("x", false).unwrap().is_some());
    assert!(someone || sandbox.git(["log", "-1", "--format=%an %cn"]) == "segue segue");
}
