//! The user's own files and hooks beside a run: nothing of theirs is written, and everything of theirs stays in force.

use std::collections::BTreeMap;
use std::path::Path;

use segue_rehearsal::model_server::ServerScript;
use serde_json::json;

use crate::inside::{inside, say};
use crate::support::World;

/// Files that belong to the user, by path in the home.
const THEIRS: [&str; 2] = [".claude/settings.json", ".codex/config.toml"];

fn world_of_a_user() -> World {
    let world = World::new(4, ServerScript { window: 100_000, ..ServerScript::default() });
    let mark = world.root().join("user-hook");
    let hook = json!({ "type": "command", "command": format!("echo ran >> {}", mark.display()) });
    let settings = json!({ "hooks": { "PostToolUse": [{ "matcher": "*", "hooks": [hook] }] } });
    std::fs::create_dir_all(world.home().join(".claude")).unwrap();
    let text = serde_json::to_string_pretty(&settings).unwrap();
    std::fs::write(world.home().join(".claude/settings.json"), format!("{text}\n\n")).unwrap();
    let top = "# the user's own words\napproval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"";
    world.codex_config(100_000, top);
    world
}

fn theirs(world: &World) -> BTreeMap<&'static str, Vec<u8>> {
    THEIRS.iter().map(|name| (*name, std::fs::read(world.home().join(name)).unwrap())).collect()
}

/// What lies in the home, two levels deep.
fn entries(home: &Path) -> Vec<String> {
    let names = |dir: &Path| -> Vec<String> {
        let found = std::fs::read_dir(dir).into_iter().flatten();
        found.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    };
    let below = |top: String| names(&home.join(&top)).into_iter().map(move |name| format!("{top}/{name}"));
    names(home).into_iter().flat_map(below).collect()
}

/// Runs the CLI without segue in a home like the one of the run, and says what it changed of the user's files.
fn alone(args: &[&str]) -> (Vec<&'static str>, Vec<String>) {
    let world = world_of_a_user();
    let before = theirs(&world);
    let task = world.job.task_text();
    let program = world.root().join("bin").join(args[0]);
    let done = world.command(program, &[&args[1..], &[task.as_str()]].concat()).output().unwrap();
    assert_eq!(world.steps().distinct_done().len(), 4, "{}", String::from_utf8_lossy(&done.stderr));
    let after = theirs(&world);
    (THEIRS.into_iter().filter(|name| before[name] != after[name]).collect(), entries(&world.home()))
}

fn unharmed(agent: &str, alone_args: &[&str]) -> World {
    let (writes, makes) = alone(alone_args);
    let world = world_of_a_user();
    let before = theirs(&world);
    let run = world.run(agent, &[]);
    run.ends("verified", 0);
    world.assert_done_once(&run);
    let after = theirs(&world);
    for name in THEIRS {
        let text = String::from_utf8_lossy(&after[name]);
        assert_eq!(before[name], after[name], "{name} was changed to\n{text}");
    }
    let more: Vec<_> = entries(&world.home()).into_iter().filter(|name| !makes.contains(name)).collect();
    say(&format!(
        "isolation of {agent}: the user's files are as before (the CLI alone changes {writes:?}); \
         in the home beside what the CLI alone makes: {more:?}"
    ));
    world
}

#[test]
fn isolation_of_claude_leaves_the_users_settings_alone_and_both_hooks_run() {
    inside(60, || {
        let args = ["claude", "-p", "--dangerously-skip-permissions", "--model", "scripted-model"];
        let world = unharmed("claude", &args);
        let marks = std::fs::read_to_string(world.root().join("user-hook")).unwrap();
        assert_eq!(marks.lines().count(), 4, "the user's hook runs once per tool");
        let journal = segue_journal::Journal::read(&world.repo().join(".git/segue/runs"));
        let run = journal.runs().unwrap().remove(0).id;
        let events = journal.events(&run, 0, 100_000).unwrap();
        let asked = events.iter().filter(|event| format!("{event:?}").contains("brake_asked")).count();
        assert_eq!(asked, 4, "segue's hook asks once per tool");
    });
}

#[test]
fn isolation_of_codex_leaves_the_users_configuration_alone() {
    inside(60, || {
        unharmed("codex", &["codex", "exec", "--json", "--skip-git-repo-check"]);
    });
}
