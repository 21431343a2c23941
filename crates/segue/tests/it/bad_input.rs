//! Wrong input and a hostile system: each ends with its code, says what, where and what to do, and loses nothing.

use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

use crate::support::{Done, World, small};

/// Asserts the code, every word on standard error, and that no run was begun.
#[track_caller]
fn refused(world: &World, args: &[&str], code: i32, words: &[&str]) -> Done {
    let done = world.segue(args);
    done.exits(code);
    for word in words {
        assert!(done.err.contains(word), "{word:?} is not in: {}", done.all());
    }
    assert!(world.steps().sessions().is_empty(), "no agent was started: {}", done.all());
    done
}

fn world() -> World {
    World::new(2, small())
}

#[test]
fn an_empty_task_is_refused() {
    let world = world();
    for task in ["", "   \n\t "] {
        refused(&world, &["run", task], 2, &["the task is empty", "say what is to be done"]);
    }
    world.write("EMPTY.md", "\u{feff}\n  \n");
    refused(&world, &["run", "EMPTY.md"], 2, &["the task is empty"]);
    refused(&world, &["run", "-"], 2, &["the task is empty"]);
    refused(&world, &["run"], 2, &["<TASK|FILE>"]);
}

#[test]
fn a_missing_file_a_folder_and_a_file_that_is_no_text_are_refused_by_name() {
    let world = world();
    refused(&world, &["run", "NOPE.md"], 2, &["NOPE.md", "no such file"]);
    refused(&world, &["run", "sub/dir/task"], 2, &["sub/dir/task", "no such file"]);
    std::fs::create_dir(world.repo().join("folder")).unwrap();
    refused(&world, &["run", "folder"], 2, &["folder is a folder", "name a file in it"]);
    std::fs::write(world.repo().join("BIN.md"), b"abc\xff\xfe").unwrap();
    refused(&world, &["run", "BIN.md"], 2, &["BIN.md", "UTF-8"]);
    refused(&world, &["-C", "/nowhere/at/all", "run", "x y"], 2, &["/nowhere/at/all"]);
}

#[test]
fn a_file_in_the_place_of_the_state_folder_is_refused_and_kept() {
    let world = world();
    world.write(".git/segue", "precious\n");
    refused(&world, &["run", "TASK.md"], 2, &[".git/segue", "is no folder", "remove it"]);
    assert_eq!(world.read(".git/segue"), "precious\n");
}

#[test]
fn a_state_folder_that_cannot_be_written_is_refused() {
    if !rustix::process::getuid().is_root() {
        println!("skipped: only root can give the repository to somebody else");
        return;
    }
    let world = world();
    let open = |path: &Path| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    open(world.root());
    let nobody = 65_534;
    let all = Command::new("chown").args(["-R", "65534:65534"]).arg(world.root()).status();
    assert!(all.unwrap().success());
    std::fs::create_dir(world.state_dir()).unwrap();
    chown(world.state_dir(), Some(0), Some(0)).unwrap();
    let own = world.command(&[]);
    let mut command = Command::new("setpriv");
    command.args([&format!("--reuid={nobody}"), &format!("--regid={nobody}"), "--clear-groups"]);
    command
        .args([env!("CARGO_BIN_EXE_segue"), "run", "TASK.md"])
        .current_dir(world.repo())
        .env_clear()
        .env("SEGUE_TRUST", "1");
    command.envs(own.get_envs().filter_map(|(k, v)| Some((k, v?))));
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    if err.contains("setpriv") {
        println!("skipped: setpriv cannot change the user here: {err}");
        return;
    }
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(
        err.contains(".git/segue") && err.contains("owned by another user") && !err.contains("panicked"),
        "{err}"
    );
}

#[test]
fn a_full_disk_stops_the_run_with_a_word_and_leaves_the_work() {
    let world = World::new(40, small());
    std::fs::create_dir(world.state_dir()).unwrap();
    let own = world.command(&[]);
    let mut command = Command::new("unshare");
    let code = "mount -t tmpfs -o size=400k tmpfs .git/segue || exit 99\n\"$0\" run TASK.md; code=$?\ndf .git/segue >&2; exit $code";
    command
        .args(["-m", "sh", "-c", code, env!("CARGO_BIN_EXE_segue")])
        .current_dir(world.repo())
        .env_clear()
        .env("SEGUE_TRUST", "1");
    command.envs(own.get_envs().filter_map(|(k, v)| Some((k, v?))));
    let output = match command.output() {
        Ok(output) if output.status.code() != Some(99) && !output.stderr.starts_with(b"unshare") => output,
        _ => {
            println!("skipped: a small file system cannot be mounted here");
            return;
        }
    };
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}\n{}", String::from_utf8_lossy(&output.stdout));
    assert!(err.contains("journal") && !err.contains("panicked"), "{err}");
    let done = world.steps().distinct_done();
    assert!(!done.is_empty(), "{err}");
    for step in done {
        assert!(world.repo().join(segue_rehearsal::job::Job::part(step)).exists(), "{step}");
    }
    world.git(&["fsck", "--no-dangling"]);
}

#[test]
fn a_journal_of_a_newer_segue_is_refused_and_left_as_it_is() {
    let world = world();
    world.segue(&["run", "TASK.md"]).exits(0);
    let path = world.state_dir().join("runs").join(world.run_id().unwrap()).join("journal.db");
    std::fs::remove_file(path.with_file_name("row.json")).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    // `PRAGMA user_version`: four bytes of the header.
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(&path, &bytes).unwrap();
    let id = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
    assert!(world.segue(&["status", "--all"]).out.contains("unreadable"));
    for args in [&["status"][..], &["log"], &["resume", id]] {
        let done = world.segue(args);
        done.exits(1);
        assert!(
            done.err.contains("version 99") && done.err.contains("update segue"),
            "{args:?}: {}",
            done.err
        );
    }
    assert_eq!(std::fs::read(&path).unwrap(), bytes, "not a byte was changed");
    world.segue(&["run", "TASK.md"]).exits(0);
}

#[test]
fn a_journal_that_is_none_is_refused_and_left_as_it_is() {
    let world = world();
    world.write(".git/segue/runs/r1/journal.db", &"this is not a database\n".repeat(200));
    for args in [&["status"][..], &["log", "r1"], &["resume", "r1"]] {
        let done = world.segue(args);
        done.exits(1);
        assert!(done.err.contains("journal"), "{args:?}: {}", done.err);
    }
    assert!(world.read_state("runs/r1/journal.db").starts_with("this is not a database"));
}

#[test]
fn an_agent_that_nobody_knows_is_refused_with_the_nearest_name() {
    let world = world();
    refused(
        &world,
        &["run", "TASK.md", "--agent", "scriptd"],
        2,
        &["scriptd", "did you mean \"scripted\"?", "[agent.scriptd]"],
    );
    std::fs::remove_file(world.repo().join("segue.toml")).unwrap();
    refused(&world, &["run", "TASK.md"], 2, &["no agent is chosen", "--agent NAME", "segue agents"]);
}

#[test]
fn an_agent_that_is_not_there_or_cannot_be_run_is_refused_before_anything_is_written() {
    let world = world();
    let plain = world.root().join("plain.txt");
    std::fs::write(&plain, "not a program").unwrap();
    for (command, words) in [
        ("no-such-program-at-all", "no-such-program-at-all is not on PATH"),
        ("/no/such/file", "/no/such/file does not exist"),
        (plain.to_str().unwrap(), "is not executable"),
    ] {
        world.configure(&format!(
            "agents = [\"own\"]\n[agent.own]\nkind = \"acp\"\ncommand = [{command:?}]\n"
        ));
        refused(&world, &["run", "TASK.md"], 2, &["agent own", words, "[agent.own]"]);
        assert!(!world.state_dir().exists());
    }
}

#[test]
fn a_program_that_cannot_be_executed_after_all_fails_the_run() {
    let world = world();
    let broken = world.root().join("broken");
    std::fs::write(&broken, "\u{7f}ELF but not really").unwrap();
    std::fs::set_permissions(&broken, std::fs::Permissions::from_mode(0o755)).unwrap();
    world.configure(&format!("agents = [\"own\"]\n[agent.own]\nkind = \"acp\"\ncommand = [{broken:?}]\n"));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(1);
    let end = done.finished();
    assert!(end["reason"].as_str().unwrap().contains("agent own"), "{end}");
    assert!(end["advice"].as_str().unwrap().contains("segue doctor"), "{end}");
}

#[test]
fn a_wrong_key_is_named_with_its_line_and_the_nearest_one() {
    let world = world();
    world.configure("[limits]\nmax_restart = 3\n");
    let line = world.read("segue.toml").lines().position(|l| l.starts_with("max_restart")).unwrap() + 1;
    let place = format!("segue.toml:{line}:1");
    refused(&world, &["run", "TASK.md"], 2, &[&place, "max_restart", "max_restarts"]);
    world.write("segue.toml", "agents = [\"scripted\"\n");
    refused(&world, &["run", "TASK.md"], 2, &["segue.toml:", "not valid TOML"]);
    let checked = world.segue(&["config", "check"]);
    checked.exits(2);
}

#[test]
fn several_wrong_keys_are_all_named_at_once() {
    let world = world();
    world.configure("polcy = \"auto\"\n[limits]\ndeadline = \"soon\"\n[checkpoint]\nask_timeout = -1\n");
    refused(&world, &["run", "TASK.md"], 2, &["polcy", "policy", "deadline", "ask_timeout"]);
}

#[test]
fn a_threshold_that_looks_like_a_fraction_is_asked_about() {
    let world = world();
    for (value, words) in [
        ("0.9", "percent?"),
        ("1", "percent?"),
        ("0", "percent"),
        ("-3", "percent"),
        ("many", "context-threshold"),
    ] {
        refused(
            &world,
            &["run", "TASK.md", &format!("--context-threshold={value}")],
            2,
            &["--context-threshold", words],
        );
    }
}

#[test]
fn flags_that_make_no_sense_are_refused_by_name() {
    let world = world();
    for (flag, value) in [
        ("--policy", "sesame"),
        ("--deadline", "soon"),
        ("--deadline", "0s"),
        ("--window", "0"),
        ("--max-restarts", "-1"),
        ("--max-cost", "free"),
        ("--tool-call-threshold", "x"),
        ("--permissions", "maybe"),
        ("--idle-timeout", ""),
    ] {
        refused(&world, &["run", "TASK.md", &format!("{flag}={value}")], 2, &[flag]);
    }
    refused(&world, &["run", "TASK.md", "--no-such-flag"], 2, &["--no-such-flag"]);
}

#[test]
fn changes_that_are_not_committed_are_kept_from_a_policy_that_commits() {
    let world = world();
    world.write("README.md", "changed by hand\n");
    let words = ["uncommitted changes", "--allow-dirty", "--no-auto-commit"];
    refused(&world, &["run", "TASK.md", "--policy", "phased"], 2, &words);
    assert_eq!(world.read("README.md"), "changed by hand\n");
    world.segue(&["run", "TASK.md", "--policy", "phased", "--no-auto-commit"]).exits(0);
    assert_eq!(world.git(&["rev-list", "--count", "HEAD"]).trim(), "1", "nothing was committed");
    assert_eq!(world.read("README.md"), "changed by hand\n");
}

#[test]
fn what_does_not_exist_cannot_be_shown_stopped_or_resumed() {
    let world = world();
    for args in [&["status"][..], &["log"], &["show"], &["resume"], &["replay"]] {
        refused(&world, args, 2, &["no runs", "segue run"]);
    }
    refused(&world, &["stop"], 2, &["no active run in this directory"]);
    world.segue(&["run", "TASK.md"]).exits(0);
    let done = world.segue(&["resume"]);
    done.exits(2);
    assert!(done.err.contains("nothing to resume"), "{}", done.err);
    let done = world.segue(&["status", "1999"]);
    done.exits(2);
    assert!(done.err.contains("1999"), "{}", done.err);
}

#[test]
fn errors_are_json_where_json_was_asked_for() {
    let world = world();
    let done = refused(&world, &["run", "NOPE.md", "--json"], 2, &["NOPE.md"]);
    let error: serde_json::Value = serde_json::from_str(&done.err).unwrap();
    assert_eq!(error["exit"], 2);
    assert!(done.out.is_empty());
}
