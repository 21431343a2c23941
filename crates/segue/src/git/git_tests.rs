//! Finding a repository, and the sandbox that all tests of this folder share.

use std::ffi::OsStr;
use std::fs;
use std::process::Command;

use tempfile::TempDir;

use super::*;

/// A repository of its own, thrown away at the end.
pub(crate) struct Sandbox {
    dir: TempDir,
}

/// What a snapshot must leave as it was.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Untouched {
    status: Vec<u8>,
    index: Option<Vec<u8>>,
    head: Vec<u8>,
    branches: Vec<u8>,
}

impl Sandbox {
    /// A repository without a commit.
    pub(crate) fn empty() -> Self {
        let sandbox = Self { dir: tempfile::tempdir().unwrap() };
        sandbox.git(["init", "--quiet", "--initial-branch=main"]);
        for (key, value) in
            [("user.name", "Ada"), ("user.email", "ada@example.org"), ("commit.gpgsign", "false")]
        {
            sandbox.git(["config", key, value]);
        }
        sandbox
    }

    /// A repository with one commit of `a.txt` and `b.txt`.
    pub(crate) fn new() -> Self {
        let sandbox = Self::empty();
        sandbox.write("a.txt", "one\n").write("b.txt", "two\n").commit("first");
        sandbox
    }

    pub(crate) fn repo(&self) -> Repo {
        Repo::find(self.dir.path()).unwrap()
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: impl AsRef<Path>, text: &str) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn remove(&self, name: &str) -> &Self {
        fs::remove_file(self.path(name)).unwrap();
        self
    }

    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(["add", "--all"]);
        self.git(["commit", "--quiet", "--message", message]);
        self.repo().head().unwrap()
    }

    /// Calls git and gives its output, whatever its exit code.
    pub(crate) fn ask<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> (bool, Vec<u8>) {
        let mut command = Command::new("git");
        command.current_dir(self.dir.path()).env("GIT_OPTIONAL_LOCKS", "0").args(args);
        let output = command.output().unwrap();
        (output.status.success(), output.stdout)
    }

    pub(crate) fn git<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> String {
        let (fine, out) = self.ask(args);
        assert!(fine, "a call of git in a test failed");
        String::from_utf8_lossy(&out).trim_end_matches('\n').to_owned()
    }

    pub(crate) fn untouched(&self) -> Untouched {
        Untouched {
            status: self.ask(["status", "--porcelain", "-z"]).1,
            index: fs::read(self.path(".git/index")).ok(),
            head: fs::read(self.path(".git/HEAD")).unwrap(),
            branches: self.ask(["for-each-ref", "refs/heads"]).1,
        }
    }
}

#[test]
fn a_repository_is_found_from_a_folder_below_its_top() {
    let sandbox = Sandbox::new();
    sandbox.write("deep/er/c.txt", "x");
    let repo = Repo::find(&sandbox.path("deep/er")).unwrap();
    assert_eq!(repo.root(), sandbox.dir.path().canonicalize().unwrap());
    assert_eq!(repo.head().unwrap(), sandbox.git(["rev-parse", "HEAD"]));
}

#[test]
fn c5_before_the_first_commit_there_is_no_head() {
    assert_eq!(Sandbox::empty().repo().head(), None);
}

#[test]
fn c5_a_folder_without_a_repository_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for path in [dir.path().to_owned(), dir.path().join("nowhere")] {
        let refused = Repo::find(&path).unwrap_err();
        assert_eq!(refused, GitError::NotARepository { path });
        assert!(refused.to_string().contains("git init"));
    }
}

#[test]
fn a_repository_without_a_work_tree_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let made = Command::new("git").args(["init", "--quiet", "--bare"]).arg(dir.path()).status().unwrap();
    assert!(made.success());
    assert_eq!(Repo::find(dir.path()).unwrap_err(), GitError::Bare { path: dir.path().to_owned() });
}

#[test]
fn a_folder_name_with_a_new_line_is_no_obstacle() {
    let sandbox = Sandbox::empty();
    let odd = sandbox.path("odd\n \"name\"");
    fs::create_dir(&odd).unwrap();
    assert!(Command::new("git").args(["init", "--quiet"]).arg(&odd).status().unwrap().success());
    assert_eq!(Repo::find(&odd).unwrap().root(), odd.canonicalize().unwrap());
}

#[test]
fn a_linked_work_tree_has_its_own_root_and_can_be_saved() {
    let sandbox = Sandbox::new();
    sandbox.git(["worktree", "add", "--quiet", "linked"]);
    let repo = Repo::find(&sandbox.path("linked")).unwrap();
    assert_eq!(repo.root(), sandbox.path("linked").canonicalize().unwrap());
    assert_eq!(repo.tree().unwrap(), sandbox.git(["rev-parse", "HEAD^{tree}"]));
}

#[test]
fn only_changes_outside_segues_own_folder_make_it_dirty() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo();
    sandbox.write(".segue/journal.db", "x");
    assert_eq!(repo.is_dirty(), Ok(false));
    sandbox.write("new.txt", "x");
    assert_eq!(repo.is_dirty(), Ok(true));
    sandbox.remove("new.txt").remove("a.txt");
    assert_eq!(repo.is_dirty(), Ok(true));
}

#[cfg(unix)]
#[test]
fn c5_a_git_that_hangs_is_ended_and_named() {
    let sandbox = Sandbox::new();
    sandbox.git(["config", "filter.slow.clean", "sleep 60"]);
    sandbox.write(".gitattributes", "*.slow filter=slow\n").write("x.slow", "x");
    let mut repo = sandbox.repo();
    repo.patience = Duration::from_millis(400);
    let facts = repo.facts(None, None);
    assert_eq!(facts.branch.as_deref(), Some("main"));
    let trouble = facts.trouble.unwrap();
    assert!(trouble.contains("git add did not finish"), "{trouble}");
}
