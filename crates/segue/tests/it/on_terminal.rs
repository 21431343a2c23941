//! What is different on a terminal: questions of `segue init`, Ctrl-C, and terminals that can do little.

use std::io::Write;
use std::process::{Command, Stdio};

use segue_rehearsal::script::Script;

use crate::support::World;

/// Runs the program on a terminal of its own, types this, and returns what was shown.
fn typed(world: &World, args: &[&str], term: &str, keys: &str) -> (Option<i32>, String) {
    let inner = world.command(args);
    let line = format!("exec {} {}", inner.get_program().to_str().unwrap(), args.join(" "));
    let mut script = Command::new("script");
    script.args(["-qefc", &line, "/dev/null"]).env_clear();
    script.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    script.env("SHELL", "/bin/sh").env("TERM", term).current_dir(world.repo());
    let mut child =
        script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(keys.as_bytes()).unwrap();
    // The end of input would be typed before the program asks; it is held back until the program has ended.
    let output = std::thread::scope(|scope| {
        let output = scope.spawn(|| child.wait_with_output().unwrap());
        output.join().unwrap()
    });
    drop(stdin);
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn init_asks_about_permissions_once_and_enter_takes_the_recommendation() {
    let world = World::new(1, Script::default());
    std::fs::remove_file(world.repo().join("segue.toml")).unwrap();
    let (code, shown) = typed(&world, &["init", "--agent", "claude"], "xterm", "\n\nno\n");
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(shown.matches("Permissions [edit]").count(), 1, "{shown}");
    assert!(shown.contains("Rehearse now"), "{shown}");
    assert!(world.read("segue.toml").contains("permissions = \"edit\""), "{shown}");
}

#[test]
fn a_dumb_terminal_gets_no_escapes() {
    let world = World::new(2, Script::default());
    let (code, shown) = typed(&world, &["run", "TASK.md"], "dumb", "");
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    for args in [&["status"][..], &["log"], &["list"]] {
        let (_, shown) = typed(&world, args, "dumb", "");
        assert!(!shown.is_empty() && !shown.contains('\u{1b}'), "{args:?}: {shown:?}");
        let (_, colored) = typed(&world, args, "xterm", "");
        assert!(args == ["list"] || colored.contains('\u{1b}'), "{args:?}: {colored:?}");
    }
}
