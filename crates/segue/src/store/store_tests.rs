//! Where the state of all sorts of work trees lies.

use std::process::Command;

use super::*;

fn git(dir: &Path, args: &[&str]) {
    let base = ["-c", "user.name=t", "-c", "user.email=t@t"];
    let done = Command::new("git").args(base).args(args).current_dir(dir).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn repository() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("repo");
    fs::create_dir(&root).unwrap();
    git(&root, &["init", "--quiet"]);
    git(&root, &["commit", "--quiet", "--allow-empty", "-m", "one"]);
    (dir, root)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn a_repository_keeps_everything_in_gits_folder_for_the_user_alone() {
    let (_dir, root) = repository();
    let store = Store::at(&root).create().unwrap();
    assert_eq!((store.root(), store.dir()), (&*root, root.join(".git/segue")));
    assert_eq!((store.lock_dir(), mode(&store.dir())), (store.dir(), 0o700));
    let kept = store.dir().join("checkpoints/c1.json");
    assert_eq!(store.shown(&kept), kept.display().to_string());
    assert_eq!(store.find(&store.shown(&kept)), kept);
    assert_eq!(store.shown(&root.join("src/a.rs")), "src/a.rs");
}

#[test]
fn linked_work_trees_have_a_folder_each_and_a_phase_has_its_plans() {
    let (dir, root) = repository();
    let (linked, phase) = (dir.path().join("linked"), dir.path().join("p/1/repo"));
    for (path, branch) in [(&linked, "l"), (&phase, "p")] {
        git(&root, &["worktree", "add", "--quiet", "-b", branch, path.to_str().unwrap()]);
    }
    let main = Store::at(&root);
    assert_eq!(Store::at(&linked).dir(), root.join(".git/segue/worktrees/linked"));
    main.mark_tree(&phase).unwrap();
    let seen = Store::at(&phase);
    assert_eq!((seen.dir(), seen.root(), seen.workdir()), (main.dir(), &*root, &*phase));
    assert_eq!(seen.lock_dir(), phase.parent().unwrap());
    // A mark that names another repository is none.
    let (_other, stranger) = repository();
    place::mark(&phase, &stranger).unwrap();
    assert_eq!(Store::at(&phase).root(), phase);
}

#[test]
fn a_folder_of_gits_that_others_may_write_to_is_not_used() {
    let (_dir, root) = repository();
    for open in [0o777, 0o2775] {
        fs::set_permissions(root.join(".git"), fs::Permissions::from_mode(open)).unwrap();
        let dir = Store::at(&root).dir();
        assert!(!dir.starts_with(&root) && dir.to_string_lossy().contains("/repositories/repo-"), "{dir:?}");
    }
    fs::set_permissions(root.join(".git"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(Store::at(&root).dir().starts_with(&root));
}

#[test]
fn a_link_in_the_place_of_the_folder_is_refused() {
    let (dir, root) = repository();
    let victim = dir.path().join("victim");
    fs::create_dir(&victim).unwrap();
    std::os::unix::fs::symlink(&victim, root.join(".git/segue")).unwrap();
    let refused = Store::at(&root).create().unwrap_err().to_string();
    assert!(refused.contains("is no folder"), "{refused}");
    assert_eq!(fs::read_dir(&victim).unwrap().count(), 0, "nothing was written through it");
}

#[test]
fn a_folder_without_git_has_its_own_place_in_the_users_folder() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    fs::create_dir(&a).unwrap();
    fs::create_dir(&b).unwrap();
    std::os::unix::fs::symlink(&a, dir.path().join("also-a")).unwrap();
    let place = |path: &Path| Store::at(path).dir();
    assert_ne!(place(&a), place(&b));
    assert_eq!(place(&a), place(&dir.path().join("also-a")));
}
