//! Without a permission the tools are denied and a person is asked for; with it the job is done.

use segue_rehearsal::model_server::ServerScript;

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
