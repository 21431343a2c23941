//! Secret files and what the user had changed stay out of what segue saves; branches are watched.

use std::os::unix::fs::PermissionsExt;

use segue_rehearsal::script::Script;

use crate::support::{World, small};

const TOKEN: &str = "ghp_aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC2";

/// Every object of the repository that holds a text.
fn objects_with(world: &World, text: &str) -> String {
    let all = world.git(&["cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"]);
    let blobs = all.lines().filter_map(|line| line.strip_suffix(" blob"));
    blobs.filter(|id| world.git(&["cat-file", "blob", id]).contains(text)).collect::<Vec<_>>().join(" ")
}

#[test]
fn s4_secret_files_are_in_no_ref_and_no_commit_and_come_back_with_the_snapshot() {
    for policy in ["seamless", "phased"] {
        let world = World::new(6, small());
        // The script itself is in git, so the token is put together when it runs.
        let (head, tail) = TOKEN.split_at(20);
        world.in_step(&format!(
            "t={head}; t=${{t}}{tail}; printf 'GITHUB_TOKEN=%s\\nN=%s\\n' $t $n > .env; printf 'export API_TOKEN=%s\\n' $t > settings"
        ));
        world.segue(&["run", "TASK.md", "--policy", policy]).exits(0);
        assert_eq!(objects_with(&world, TOKEN), "", "{policy}: git holds the secret");
        assert!(world.read(".env").contains(TOKEN), "it stays in the work tree");
        let to = world.root().join("back");
        world.segue(&["snapshot", "restore", "last", "--to", to.to_str().unwrap()]).exits(0);
        assert_eq!(std::fs::read_to_string(to.join(".env")).unwrap(), world.read(".env"));
        assert_eq!(std::fs::read_to_string(to.join("settings")).unwrap(), world.read("settings"));
        assert_eq!(std::fs::metadata(to.join(".env")).unwrap().permissions().mode() & 0o777, 0o600);
        let mut folders = vec![world.root().join(".local/state/segue/secrets")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
                let mode = entry.metadata().unwrap().permissions().mode() & 0o077;
                assert_eq!(mode, 0, "{} is open to others", entry.path().display());
                folders.extend(entry.file_type().unwrap().is_dir().then(|| entry.path()));
            }
        }
        world.segue(&["work", "list"]).exits(0);
    }
}

#[test]
fn s4_what_the_user_had_changed_is_not_committed_and_a_file_of_both_is_named() {
    let world = World::new(6, small());
    for name in ["mine.txt", "both.txt", "staged.txt"] {
        world.write(name, "first\n");
    }
    world.in_step("echo agent >> both.txt");
    for name in ["mine.txt", "both.txt", "staged.txt"] {
        world.write(name, "first\nuser\n");
    }
    world.write("new.txt", "user\n");
    world.git(&["add", "staged.txt"]);
    let start = world.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let done = world.segue(&["run", "TASK.md", "--policy", "phased", "--allow-dirty", "--json"]);
    done.exits(0);
    let committed = world.git(&["diff", "--name-only", &start, "HEAD"]);
    assert!(committed.contains("parts/01.txt"), "{committed}\n{}", done.all());
    for name in ["mine.txt", "both.txt", "staged.txt", "new.txt"] {
        assert!(!committed.contains(name), "{name} was committed: {committed}");
        assert!(world.read(name).contains("user"), "{name}");
    }
    assert_eq!(world.git(&["diff", "--cached", "--name-only"]).trim(), "staged.txt", "still staged");
    let told = done.warnings("git").join("\n");
    assert!(told.contains("both.txt") && !told.contains("mine.txt"), "{told}\n{}", done.all());
}

#[test]
fn s4_an_agent_that_amends_moves_or_deletes_branches_is_reported_and_nothing_is_lost() {
    let world = World::new(3, Script::default());
    let own = "git -c user.name=a -c user.email=a@a";
    world.write("kept.txt", "x");
    world.in_step(&format!(
        "case $n in 1) {own} commit -q --amend -m amended;; 2) git branch -qD side; git branch -qf moved HEAD~1;; esac"
    ));
    world.write("more.txt", "x");
    world.commit("second");
    world.git(&["branch", "side"]);
    world.git(&["branch", "moved"]);
    let start = world.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    let changes = done.finished()["branch_changes"].to_string();
    for told in ["side was deleted", "moved was rewritten or moved by force", "had its last commit amended"] {
        assert!(changes.contains(told), "{told}: {changes}");
        assert!(done.warnings("branch").join("\n").contains(told), "{told}: {}", done.all());
        let status = world.segue(&["status"]).out;
        assert!(status.split_whitespace().collect::<Vec<_>>().join(" ").contains(told), "{told}: {status}");
        assert!(world.segue(&["log"]).out.contains(told), "{told} in the log");
    }
    let refs = world.git(&["for-each-ref", "--format=%(objectname) %(refname)", "refs/segue-heads"]);
    assert!(refs.contains(&format!("{start} refs/segue-heads/{}/start", done.run())), "{refs}");
    assert_eq!(
        refs.lines().filter(|line| line.contains("/lost/") && line.starts_with(&start)).count(),
        3,
        "{refs}"
    );
}
