//! What the repository says about a run.

use std::fs;

use super::*;
use crate::git::tests::Sandbox;

#[test]
fn c3_committed_new_and_changed_files_are_all_seen_since_the_run_began() {
    let sandbox = Sandbox::new();
    sandbox.write("before.txt", "not committed, but there before the run\n");
    let repo = sandbox.repo();
    let (base, tree) = (repo.head().unwrap(), repo.tree().unwrap());
    sandbox.write("c.txt", "1\n2\n").commit("add c: \"quoted\"\tand a tab");
    sandbox.write("a.txt", "changed\n").write("new\nline.txt", "x\n").remove("b.txt");
    let before = sandbox.untouched();
    let facts = repo.facts(Some(&base), Some(&tree));
    assert_eq!(sandbox.untouched(), before);
    let hash = sandbox.git(["rev-parse", "--short", "HEAD"]);
    let expected = Facts {
        head: repo.head(),
        branch: Some("main".into()),
        commits: vec![(hash, "add c: \"quoted\"\tand a tab".into())],
        commit_count: 1,
        tree: Some(repo.tree().unwrap()),
        added: vec!["c.txt".into(), "new\nline.txt".into()],
        modified: vec!["a.txt".into()],
        deleted: vec!["b.txt".into()],
        diffstat: Some("4 files changed, 4 insertions(+), 2 deletions(-)".into()),
        skipped: vec![],
        trouble: None,
    };
    assert_eq!(facts, expected);
}

#[test]
fn a_run_that_changed_nothing_has_no_diffstat() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo();
    let facts = repo.facts(repo.head().as_deref(), Some(&repo.tree().unwrap()));
    assert_eq!((facts.diffstat, facts.commit_count, facts.trouble), (None, 0, None));
    let facts = repo.facts(repo.head().as_deref(), None);
    assert_eq!((facts.diffstat, facts.added, facts.trouble), (None, vec![], None));
}

#[test]
fn c5_a_repository_without_a_commit_has_facts() {
    let sandbox = Sandbox::empty();
    let repo = sandbox.repo();
    assert_eq!(repo.facts(None, None).trouble, None);
    let tree = repo.tree().unwrap();
    sandbox.write("a.txt", "one\n");
    for base in [None, Some(tree.as_str())] {
        let facts = repo.facts(None, base);
        assert_eq!((facts.head, facts.branch.as_deref()), (None, Some("main")));
        assert_eq!(facts.added, ["a.txt"]);
        assert_eq!(facts.diffstat.as_deref(), Some("1 file changed, 1 insertion(+)"));
    }
    sandbox.commit("first");
    assert_eq!(repo.facts(None, Some(&tree)).commits.len(), 1, "every commit is new when there was none");
}

#[test]
fn of_many_commits_50_are_listed_and_all_counted() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo();
    let base = repo.head().unwrap();
    for n in 0..52 {
        sandbox.git(["commit", "--quiet", "--allow-empty", "-m", &format!("n {n}")]);
    }
    let facts = repo.facts(Some(&base), None);
    assert_eq!((facts.commits.len(), facts.commit_count), (50, 52));
    assert_eq!(facts.commits[0].1, "n 51");
}

#[test]
fn c5_hundreds_of_changed_files_are_one_list() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo();
    let tree = repo.tree().unwrap();
    for n in 0..300 {
        sandbox.write(format!("many/{n}.txt"), "x\n");
    }
    let facts = repo.facts(repo.head().as_deref(), Some(&tree));
    assert_eq!(facts.added.len(), 300);
    assert_eq!(facts.diffstat.as_deref(), Some("300 files changed, 300 insertions(+)"));
}

#[test]
fn c5_a_base_that_is_gone_gives_the_rest_and_names_the_trouble() {
    let sandbox = Sandbox::new();
    let gone = "1234567890123456789012345678901234567890";
    let facts = sandbox.repo().facts(Some(gone), Some(gone));
    assert_eq!(facts.head, sandbox.repo().head());
    let trouble = facts.trouble.unwrap();
    assert!(trouble.contains("git rev-list") && trouble.contains("git diff-tree"), "{trouble}");
}

#[test]
fn c5_a_repository_that_vanished_gives_empty_facts_and_the_trouble() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo();
    fs::rename(sandbox.path(".git"), sandbox.path("gone")).unwrap();
    let facts = repo.facts(None, None);
    assert_eq!((facts.head, facts.tree), (None, None));
    assert!(facts.trouble.is_some());
}

#[test]
fn a_detached_head_has_no_branch() {
    let sandbox = Sandbox::new();
    sandbox.git(["checkout", "--quiet", "--detach"]);
    let facts = sandbox.repo().facts(None, None);
    assert_eq!((facts.branch, facts.trouble), (None, None));
    assert!(facts.head.is_some());
}
