//! Merging beside all work trees, going forward, and what a step that was cut off leaves.

use std::fs;

use crate::git::tests::Sandbox;

#[test]
fn versions_of_git_are_read_as_they_are_written_everywhere() {
    for (said, found) in [
        ("git version 2.47.3", Some((2, 47))),
        ("git version 2.39.5 (Apple Git-154)", Some((2, 39))),
        ("git version 2.37.1.windows.1", Some((2, 37))),
        ("git version unknown", None),
    ] {
        assert_eq!(super::version(said), found, "{said}");
    }
    assert_eq!(Sandbox::new().repo().cannot_merge(), Ok(None));
}

/// Two lines of work from one commit; where each has its head.
fn forked(ours: &[(&str, &str)], theirs: &[(&str, &str)]) -> (Sandbox, String, String) {
    let sandbox = Sandbox::new();
    sandbox.git(["checkout", "--quiet", "-b", "side"]);
    for (name, text) in theirs {
        sandbox.write(name, text);
    }
    let side = sandbox.commit("theirs");
    sandbox.git(["checkout", "--quiet", "main"]);
    for (name, text) in ours {
        sandbox.write(name, text);
    }
    let main = sandbox.commit("ours");
    (sandbox, main, side)
}

#[test]
fn what_does_not_meet_is_merged_without_touching_the_work_tree() {
    let (sandbox, main, side) =
        forked(&[("a.txt", "ours\n")], &[("b.txt", "theirs\n"), ("new/ü \"x\".txt", "n\n")]);
    let merged = sandbox.repo().merged(&main, &side).unwrap();
    assert!(merged.conflicts.is_empty() && merged.words.is_empty(), "{merged:?}");
    assert_eq!(sandbox.git(["status", "--porcelain"]), "");
    let commit = sandbox.repo().commit_of(&merged.tree, &[&main, &side], "both\n").unwrap();
    sandbox.repo().forward(&commit).unwrap();
    assert_eq!(sandbox.git(["show", "HEAD:b.txt"]), "theirs");
    assert_eq!(sandbox.git(["log", "-1", "--format=%an|%s"]), "Ada|both");
    assert!(sandbox.path("new/ü \"x\".txt").exists());
}

#[test]
fn what_meets_is_named_and_holds_both_sides_between_markers() {
    let (sandbox, main, side) =
        forked(&[("a.txt", "ours\n"), ("c.txt", "1\n")], &[("a.txt", "theirs\n"), ("c.txt", "2\n")]);
    let repo = sandbox.repo();
    let merged = repo.merged(&main, &side).unwrap();
    assert_eq!(merged.conflicts, ["a.txt", "c.txt"]);
    assert!(merged.words.contains("Merge conflict in a.txt"), "{}", merged.words);
    let commit = repo.commit_of(&merged.tree, &[&main, &side], "both\n").unwrap();
    repo.forward(&commit).unwrap();
    assert_eq!(repo.with_markers(&merged.conflicts), ["a.txt", "c.txt"]);
    sandbox.write("a.txt", "ours and theirs\n").remove("c.txt");
    assert_eq!(repo.with_markers(&merged.conflicts), [""; 0]);
    let done = sandbox.commit("mended");
    let files = repo.tree_of("HEAD").unwrap().unwrap();
    let one = repo.commit_of(&files, &[&main, &side], "as one\n").unwrap();
    repo.rebase_same(&one).unwrap();
    assert_eq!(sandbox.git(["status", "--porcelain"]), "");
    assert_ne!(repo.head(), Some(done));
    assert!(!sandbox.git(["log", "-p", "--first-parent"]).contains("+<<<<<<<"));
}

#[test]
fn a_heading_of_equals_signs_is_no_marker() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "Title\n=======\n<<<<<<<x\n");
    assert_eq!(sandbox.repo().with_markers(&["a.txt".to_owned()]), [""; 0]);
}

#[test]
fn going_forward_never_overwrites_what_is_not_committed() {
    let (sandbox, main, side) =
        forked(&[("z.txt", "z\n")], &[("a.txt", "theirs\n"), ("new.txt", "theirs\n")]);
    let repo = sandbox.repo();
    let merged = repo.merged(&main, &side).unwrap();
    let commit = repo.commit_of(&merged.tree, &[&main, &side], "both\n").unwrap();
    sandbox.write("a.txt", "mine\n");
    assert!(repo.forward(&commit).is_err());
    sandbox.git(["checkout", "--quiet", "a.txt"]);
    sandbox.write("new.txt", "mine\n");
    assert!(repo.forward(&commit).is_err());
    repo.undo_half(&commit).unwrap();
    assert_eq!(
        fs::read_to_string(sandbox.path("new.txt")).unwrap(),
        "mine\n",
        "it is not what the commit has"
    );
    assert_eq!(repo.head(), Some(main));
}

#[test]
fn of_a_step_that_was_cut_off_only_what_it_wrote_is_taken_back() {
    let (sandbox, main, side) =
        forked(&[("z.txt", "z\n")], &[("a.txt", "theirs\n"), ("b.txt", "theirs\n"), ("new.txt", "theirs\n")]);
    let repo = sandbox.repo();
    let merged = repo.merged(&main, &side).unwrap();
    let commit = repo.commit_of(&merged.tree, &[&main, &side], "both\n").unwrap();
    sandbox.write("a.txt", "theirs\n").write("new.txt", "theirs\n").write("z.txt", "the user's\n");
    assert!(repo.forward(&commit).is_err());
    repo.undo_half(&commit).unwrap();
    repo.forward(&commit).unwrap();
    assert_eq!(sandbox.git(["status", "--porcelain"]), " M z.txt");
    assert_eq!(fs::read_to_string(sandbox.path("z.txt")).unwrap(), "the user's\n");
}

#[test]
fn a_work_tree_is_made_completed_and_removed_but_never_with_something_in_it() {
    let sandbox = Sandbox::new();
    let (repo, head) = (sandbox.repo(), sandbox.repo().head().unwrap());
    let place = sandbox.path(".segue/work/p/1/r");
    let tree = repo.add_tree(&place, "segue/p/1", &head).unwrap();
    assert_eq!((tree.head(), tree.root()), (Some(head.clone()), place.as_path()));
    // As it is when its making is cut off.
    fs::remove_file(place.join("a.txt")).unwrap();
    tree.complete().unwrap();
    assert!(place.join("a.txt").exists());
    repo.add_tree(&place, "segue/p/1", &head).unwrap();
    fs::write(place.join("mine.txt"), "x").unwrap();
    assert_eq!(tree.untracked().unwrap(), [std::path::PathBuf::from("mine.txt")]);
    assert!(repo.remove_tree(&place).is_err());
    assert!(place.join("mine.txt").exists());
    fs::remove_file(place.join("mine.txt")).unwrap();
    repo.remove_tree(&place).unwrap();
    assert!(!place.exists());
    assert_eq!(repo.branch_head("segue/p/1").unwrap(), Some(head.clone()));
    repo.remove_branch("segue/p/1", &head).unwrap();
    repo.remove_branch("segue/p/1", &head).unwrap();
    assert_eq!(repo.branch_head("segue/p/1").unwrap(), None);
}
