//! A newcomer: the built program, Node, git and one agent, nothing else. From there to the first verified run, by the
//! commands of the README.

use std::process::Command;

use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::script::{Chore, PersonaOptions};

use crate::inside::{inside, on_path, say};
use crate::support::World;

const TEST: &str = "const fs = require('fs');\nif (!fs.readFileSync('greeting.txt', 'utf8').includes('hello')) process.exit(1);\n";

/// The command lines below the README's "First run", without their comments.
fn first_run() -> Vec<String> {
    let readme = include_str!("../../../../README.md");
    let block = readme.split_once("\n## First run\n").unwrap().1.split("```").nth(1).unwrap();
    block
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| line.split("  #").next().unwrap().to_owned())
        .collect()
}

// Only what a newcomer has: no Rust, no configuration, no other agent.
fn newcomer(agent: &str) {
    let chores = vec![
        Chore::Read("{root}/repo/greeting.txt".to_owned()),
        Chore::Edit("{root}/repo/greeting.txt".to_owned(), "helo".to_owned(), "hello".to_owned()),
        Chore::Run("npm test".to_owned()),
    ];
    let persona = PersonaOptions { chores, ..PersonaOptions::default() };
    let world = World::of(&[(agent, 200_000)], 0, ServerScript { persona, ..ServerScript::default() });
    std::fs::remove_file(world.repo().join("segue.toml")).unwrap();
    world.write("package.json", "{ \"name\": \"greeting\", \"scripts\": { \"test\": \"node test.js\" } }\n");
    world.write("test.js", TEST);
    world.write("greeting.txt", "helo\n");
    world.commit();
    let bin = world.root().join("bin");
    for program in ["npm", "git", "sh"] {
        let from = on_path(program).unwrap();
        let _ = std::os::unix::fs::symlink(from, bin.join(program));
    }
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_segue"), bin.join("segue")).unwrap();
    let began = std::time::Instant::now();
    let mut last = String::new();
    let lines = first_run();
    assert!((3..=5).contains(&lines.len()), "{lines:?}");
    for line in &lines {
        // As it is pasted into a shell, in which segue asks nothing: there is no terminal.
        let mut command: Command = world.command("/bin/sh", &["-c", line]);
        for (name, value) in world.recipe(agent, 200_000).env {
            command.env(name, value);
        }
        let output = command.env_remove("SEGUE_WAIT_FIRST").env_remove("SEGUE_TRUST").output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        last = format!("$ {line}\n{out}{err}");
        assert!(output.status.success(), "{last}");
    }
    let took = began.elapsed();
    assert!(last.contains("verified: all gates pass"), "{last}");
    assert_eq!(std::fs::read_to_string(world.repo().join("greeting.txt")).unwrap(), "hello\n");
    let written = std::fs::read_to_string(world.repo().join("segue.toml")).unwrap();
    assert!(
        written.contains("run = \"npm test\"") && written.contains("permissions = \"edit\""),
        "{written}"
    );
    say(&format!(
        "a newcomer with {agent}: {} commands from init to the first verified run, {:.1} s",
        lines.len(),
        took.as_secs_f64()
    ));
}

#[test]
fn a_newcomer_gets_from_init_to_a_verified_run_with_claude() {
    inside(300, || newcomer("claude"));
}
