//! Without a permission the tools are denied and a person is asked for; with it the job is done.

use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::script::{Chore, PersonaOptions};

use crate::inside::{inside, say};
use crate::support::World;

fn asked(agent: &str, kind: &str) {
    let world = World::new(4, ServerScript { window: 100_000, ..ServerScript::default() });
    // Codex asks by its own rules; a sandbox would decide for itself.
    world.codex_config(100_000, "approval_policy = \"on-request\"\nsandbox_mode = \"danger-full-access\"");
    let shells = "prefix_rule(pattern = [[\"sh\", \"bash\", \"/bin/sh\", \"/bin/bash\", \"/usr/bin/bash\"]], decision = \"prompt\")\n";
    std::fs::create_dir_all(world.home().join(".codex/rules")).unwrap();
    std::fs::write(world.home().join(".codex/rules/default.rules"), shells).unwrap();
    let denied = world.segue(&["run", "TASK.md", "--json", "--agent", agent]);
    denied.ends("needs_input", 3);
    let flag = format!("--permissions allow={kind}");
    let advice = denied.finished()["advice"].to_string();
    assert!(advice.contains(&flag), "{}", denied.all());
    assert!(world.steps().distinct_done().is_empty(), "it worked without permission\n{}", denied.all());
    world.assert_nothing_left(&denied);

    let allowed = world.segue(&["resume", "--json", "--permissions", &format!("allow={kind}")]);
    allowed.ends("verified", 0);
    world.assert_done_once(&allowed);
    say(&format!(
        "permissions of {agent}: denied {} times, exit 3 names `{flag}`; with it verified in {:.1} s",
        denied.warnings("permission_denied").len(),
        allowed.took.as_secs_f64()
    ));
}

#[test]
fn permissions_of_claude_are_asked_for_and_can_be_given() {
    inside(60, || asked("claude", "execute"));
}

#[test]
fn permissions_of_codex_are_asked_for_and_can_be_given() {
    inside(60, || asked("codex", "execute"));
}

/// What the gate prints when the file is as it should be.
const PASSES: &str = "the gate is content";

// The model changes a file inside, writes one outside, runs the gate's command and another one that writes outside.
fn edits(agent: &str) {
    let gate = format!("grep -q mended note.txt && echo {PASSES}");
    let chores = vec![
        Chore::Read("{root}/repo/note.txt".to_owned()),
        Chore::Edit("{root}/repo/note.txt".to_owned(), "broken".to_owned(), "mended".to_owned()),
        Chore::Write("{root}/outside.txt".to_owned(), "must not be here".to_owned()),
        Chore::Run(gate.clone()),
        Chore::Run("touch {root}/other.txt".to_owned()),
    ];
    let persona = PersonaOptions { chores, ..PersonaOptions::default() };
    let script = ServerScript { window: 100_000, persona, keep_bodies: true, ..ServerScript::default() };
    let world = World::of(&[(agent, 100_000)], 0, script);
    let (inside, outside) = (world.repo().join("note.txt"), world.root().join("outside.txt"));
    let other = world.root().join("other.txt");
    world.only_gate(&gate);
    world.write("note.txt", "broken\n");
    world.commit();
    let done = world.segue(&["run", "mend the note", "--json", "--agent", agent, "--permissions", "edit"]);
    let note = std::fs::read_to_string(&inside).unwrap();
    assert_eq!(note, "mended\n", "the edit inside was not allowed\n{}", done.all());
    assert!(!outside.exists(), "it wrote outside the work tree\n{}", done.all());
    assert!(!other.exists(), "another command was run\n{}", done.all());
    let told = world.bodies().iter().any(|body| body.to_string().contains(PASSES));
    assert!(told, "the gate's command was not run for the agent\n{}", done.all());
    done.ends("verified", 0);
    world.assert_nothing_left(&done);
    say(&format!(
        "edit with {agent}: changed inside, nothing outside, the gate's command run, {} requests denied, {:.1} s",
        done.warnings("permission_denied").len(),
        done.took.as_secs_f64()
    ));
}

#[test]
fn edit_lets_claude_change_files_here_and_run_the_gates() {
    inside(300, || edits("claude"));
}

#[test]
fn edit_lets_codex_change_files_here_and_run_the_gates() {
    inside(300, || edits("codex"));
}

#[test]
fn edit_lets_gemini_change_files_here_and_run_the_gates() {
    inside(300, || edits("gemini"));
}

#[test]
fn edit_lets_opencode_change_files_here_and_run_the_gates() {
    inside(300, || edits("opencode"));
}
