//! A newcomer: the built program, Node, git and one agent, nothing else. From there to the first verified run.

use std::process::Command;

use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::script::{Chore, PersonaOptions};

use crate::inside::{inside, on_path, say};
use crate::support::World;

const TEST: &str = "const fs = require('fs');\nif (!fs.readFileSync('greeting.txt', 'utf8').includes('hello')) process.exit(1);\n";

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
    let commands: [&[&str]; 3] =
        [&["init", "--yes"], &["doctor"], &["run", "greet people properly", "--json"]];
    let mut last = None;
    for args in commands {
        let mut command: Command = world.command(bin.join("segue"), args);
        for (name, value) in world.recipe(agent, 200_000).env {
            command.env(name, value);
        }
        let output = command.env_remove("SEGUE_WAIT_FIRST").output().unwrap();
        let text = format!(
            "$ segue {}\n{}{}",
            args.join(" "),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(output.status.success(), "{text}");
        last = Some(text);
    }
    let took = began.elapsed();
    let last = last.unwrap();
    assert!(last.contains("\"verdict\":\"verified\""), "{last}");
    assert_eq!(std::fs::read_to_string(world.repo().join("greeting.txt")).unwrap(), "hello\n");
    let written = std::fs::read_to_string(world.repo().join("segue.toml")).unwrap();
    assert!(
        written.contains("run = \"npm test\"") && written.contains("permissions = \"edit\""),
        "{written}"
    );
    say(&format!(
        "a newcomer with {agent}: 3 commands from init to the first verified run, {:.1} s",
        took.as_secs_f64()
    ));
}

#[test]
fn a_newcomer_gets_from_init_to_a_verified_run_with_claude() {
    inside(300, || newcomer("claude"));
}
