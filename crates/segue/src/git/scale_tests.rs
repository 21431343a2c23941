//! Work trees that are large, odd or in motion: nothing is lost, nothing is taken for something else.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use super::tests::Sandbox;
use super::{Facts, Repo, SnapshotRequest};

const REQUEST: SnapshotRequest<'_> =
    SnapshotRequest { run: "r", label: "1", parent: None, message: "before a restart" };

/// The facts since a tree, with nothing that could not be found out.
fn facts(repo: &Repo, tree: &str) -> Facts {
    let facts = repo.facts(repo.head().as_deref(), Some(tree));
    assert_eq!(facts.trouble, None);
    facts
}

/// The paths of a snapshot, as bytes.
fn saved(sandbox: &Sandbox, tree: &str) -> Vec<Vec<u8>> {
    let out = sandbox.ask(["ls-tree", "-r", "-z", "--name-only", tree]).1;
    out.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect()
}

#[test]
fn c5_10_000_changed_files_are_all_listed_and_saved() {
    let sandbox = Sandbox::empty();
    let path = |kind: &str, n: u32| format!("{kind}/{:02}/{n}.txt", n % 100);
    (0..5_000).for_each(|n| {
        sandbox.write(path("old", n), &format!("one {n}\n"));
    });
    sandbox.commit("first");
    let repo = sandbox.repo();
    let base = repo.tree().unwrap();
    (0..4_000).for_each(|n| {
        sandbox.write(path("old", n), &format!("two, longer {n}\n"));
    });
    (4_000..5_000).for_each(|n| {
        sandbox.remove(&path("old", n));
    });
    (0..5_000).for_each(|n| {
        sandbox.write(path("new", n), &format!("three {n}\n"));
    });
    let before = sandbox.untouched();
    let snapshot = repo.snapshot(&REQUEST).unwrap();
    let facts = facts(&repo, &base);
    assert_eq!(sandbox.untouched(), before);
    assert_eq!((facts.added.len(), facts.modified.len(), facts.deleted.len()), (5_000, 4_000, 1_000));
    let stat = "10000 files changed, too many to count their lines";
    assert_eq!(facts.diffstat.as_deref(), Some(stat));
    assert_eq!(saved(&sandbox, &snapshot.tree).len(), 9_000);
    assert_eq!(facts.tree, Some(snapshot.tree), "what is told is what was saved");
    assert_eq!(sandbox.git(["show", "refs/segue/r/1:new/07/1207.txt"]), "three 1207");
    assert_eq!(sandbox.git(["fsck", "--connectivity-only", "refs/segue/r/1"]), "");
}

#[test]
fn a_diff_of_50_megabytes_is_counted_and_the_file_saved_whole() {
    let sandbox = Sandbox::empty();
    let lines =
        |word: &str| (0..900_000).map(|n| format!("{word} line with number {n}\n")).collect::<String>();
    let (old, new) = (lines("an old"), lines("some new"));
    assert!(old.len() + new.len() > 50_000_000);
    sandbox.write("big.txt", &old).commit("first");
    let repo = sandbox.repo();
    let base = repo.tree().unwrap();
    sandbox.write("big.txt", &new);
    let facts = facts(&repo, &base);
    assert_eq!((facts.modified, facts.skipped), (vec!["big.txt".to_owned()], vec![]));
    let stat = "1 file changed, 900000 insertions(+), 900000 deletions(-)";
    assert_eq!(facts.diffstat.as_deref(), Some(stat));
    let snapshot = repo.snapshot(&REQUEST).unwrap();
    assert_eq!(sandbox.ask(["cat-file", "blob", &format!("{}:big.txt", snapshot.tree)]).1, new.as_bytes());
}

#[test]
fn binary_files_are_listed_and_come_back_byte_for_byte() {
    let sandbox = Sandbox::new();
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    fs::write(sandbox.path("old.bin"), &bytes).unwrap();
    sandbox.commit("binary");
    let repo = sandbox.repo();
    let base = repo.tree().unwrap();
    let changed: Vec<u8> = bytes.iter().rev().copied().collect();
    fs::write(sandbox.path("old.bin"), &changed).unwrap();
    fs::write(sandbox.path("new.bin"), &bytes).unwrap();
    let facts = facts(&repo, &base);
    assert_eq!((facts.added, facts.modified), (vec!["new.bin".to_owned()], vec!["old.bin".to_owned()]));
    assert_eq!(facts.diffstat.as_deref(), Some("2 files changed, 0 insertions(+), 0 deletions(-)"));
    for (name, bytes) in [("old.bin", &changed), ("new.bin", &bytes)] {
        let blob = format!("{}:{name}", facts.tree.as_deref().unwrap());
        assert_eq!(&sandbox.ask(["cat-file", "blob", &blob]).1, bytes);
    }
}

#[test]
fn paths_that_nobody_should_choose_are_saved_and_listed_as_they_are() {
    let odd: Vec<Vec<u8>> = [
        &b"a\nnew line \"and\" 'quotes'.txt"[..],
        b"-rf",
        b"--all",
        b" leading and trailing ",
        b"tab\tand\\backslash",
        b":(exclude)magic",
        b"!not",
        b"*?[glob]",
        b"#hash",
        b"\xff\xfe not text \xc3",
        "ä€😀 e\u{301}".as_bytes(),
        b"deep/ /-/\"/x",
        b"\x01\x1b[31mred",
        b"HEAD",
    ]
    .iter()
    .map(|path| path.to_vec())
    .chain([vec![b'l'; 255], [vec![b'd'; 200], vec![b'e'; 200], vec![b'f'; 200]].join(&b'/')])
    .collect();
    let sandbox = Sandbox::new();
    let repo = sandbox.repo();
    let base = repo.tree().unwrap();
    odd.iter().for_each(|path| {
        sandbox.write(OsStr::from_bytes(path), "odd\n");
    });
    let snapshot = repo.snapshot(&REQUEST).unwrap();
    assert_eq!(snapshot.trouble, None);
    let mut expected = [odd.clone(), vec![b"a.txt".to_vec(), b"b.txt".to_vec()]].concat();
    expected.sort();
    assert_eq!(saved(&sandbox, &snapshot.tree), expected);
    let facts = facts(&repo, &base);
    let mut names: Vec<String> = odd.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
    names.sort();
    let mut added = facts.added.clone();
    added.sort();
    assert_eq!(added, names);
    odd.iter().for_each(|path| fs::remove_file(sandbox.path(OsStr::from_bytes(path))).unwrap());
    assert_eq!(repo.tree().unwrap(), base, "gone as they came");
}

#[test]
fn deleted_made_anew_renamed_and_turned_into_something_else() {
    let sandbox = Sandbox::new();
    sandbox.write("c.txt", "three\n").write("d.txt", "four\n").write("e.txt", "five\n").commit("more");
    let repo = sandbox.repo();
    let base = repo.tree().unwrap();
    sandbox.remove("a.txt").write("a.txt", "one\n");
    sandbox.remove("b.txt").write("b.txt", "not what it was\n");
    fs::rename(sandbox.path("c.txt"), sandbox.path("renamed.txt")).unwrap();
    sandbox.remove("d.txt").write("d.txt/inside", "a folder now\n");
    sandbox.remove("e.txt");
    symlink("nowhere\nat all", sandbox.path("e.txt")).unwrap();
    symlink("/", sandbox.path("root")).unwrap();
    let facts = facts(&repo, &base);
    assert_eq!(facts.added, ["d.txt/inside", "renamed.txt", "root"]);
    assert_eq!(facts.modified, ["b.txt", "e.txt"]);
    assert_eq!(facts.deleted, ["c.txt", "d.txt"]);
    let link = format!("{}:e.txt", facts.tree.unwrap());
    assert_eq!(sandbox.ask(["cat-file", "blob", &link]).1, b"nowhere\nat all");
}

#[test]
fn a_submodule_that_moved_is_saved_and_one_that_is_dirty_inside_is_named() {
    let (sandbox, part) = (Sandbox::new(), Sandbox::new());
    let from = part.path("").canonicalize().unwrap();
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--name", "part"];
    sandbox.git(add.map(OsStr::new).into_iter().chain([from.as_os_str(), OsStr::new("part")]));
    sandbox.commit("with a part");
    let repo = sandbox.repo();
    let base = repo.tree().unwrap();
    let inside = |args: &[&str]| {
        sandbox.git([&["-C", "part", "-c", "user.name=a", "-c", "user.email=a@a"], args].concat())
    };
    inside(&["commit", "--quiet", "--allow-empty", "-m", "moved"]);
    let moved = inside(&["rev-parse", "HEAD"]);
    let moved_facts = facts(&repo, &base);
    assert_eq!(moved_facts.modified, ["part"]);
    let entry = sandbox.git(["ls-tree", moved_facts.tree.as_deref().unwrap(), "part"]);
    assert!(entry.starts_with(&format!("160000 commit {moved}")), "{entry}");
    sandbox.write("part/a.txt", "not committed inside\n").write("part/new.txt", "new inside\n");
    let facts = repo.facts(None, Some(&base));
    assert_eq!(facts.trouble.as_deref(), Some("changes left out: part"));
    assert_eq!((facts.tree, facts.modified), (moved_facts.tree, vec!["part".to_owned()]));
}

#[test]
fn an_index_that_is_kept_gives_what_a_fresh_one_gives_whatever_happens() {
    let sandbox = Sandbox::new();
    let large = "x".repeat(11 << 20);
    let kept = sandbox.repo();
    let steps: [(&str, &dyn Fn()); 14] = [
        ("nothing", &|| {}),
        ("a new file", &|| {
            sandbox.write("new.log", "1\n").write("n/a.txt", "1\n");
        }),
        ("changed with the same size", &|| {
            sandbox.write("new.log", "2\n").write("a.txt", "eno\n");
        }),
        ("ignored now", &|| {
            sandbox.write(".gitignore", "*.log\n");
        }),
        ("not ignored any more", &|| {
            sandbox.remove(".gitignore");
        }),
        ("grown too large", &|| {
            sandbox.write("n/a.txt", &large);
        }),
        ("small again", &|| {
            sandbox.write("n/a.txt", "3\n");
        }),
        ("a repository of its own", &|| {
            sandbox.git(["init", "--quiet", "n"]);
        }),
        ("no repository any more", &|| fs::remove_dir_all(sandbox.path("n/.git")).unwrap()),
        ("staged by the user", &|| {
            sandbox.git(["add", "n"]);
        }),
        ("ignored, yet added by force", &|| {
            sandbox.write(".gitignore", "*.log\n");
            sandbox.git(["add", "-f", "new.log"]);
        }),
        ("taken out of the index", &|| {
            sandbox.git(["rm", "--quiet", "--cached", "new.log"]);
        }),
        ("committed", &|| {
            sandbox.commit("all");
        }),
        ("thrown away", &|| {
            sandbox.git(["reset", "--quiet", "--hard", "HEAD~1"]);
        }),
    ];
    for (what, step) in steps {
        step();
        assert_eq!(kept.stage().unwrap(), sandbox.repo().stage().unwrap(), "{what}");
        assert_eq!(kept.stage().unwrap(), sandbox.repo().stage().unwrap(), "{what}, once more");
        assert!(kept.kept.lock().unwrap().is_some(), "{what}: there is one to be kept");
    }
}
