//! Agents as they are found: scripts that answer like the real programs stand in for them.

use super::*;

fn look_at(kind: AgentKind, script: Option<&str>, bypass: bool) -> Look {
    let dir = tempfile::tempdir().unwrap();
    let command = match script {
        Some(script) => {
            std::fs::write(dir.path().join("agent"), script).unwrap();
            vec!["sh".to_owned(), dir.path().join("agent").display().to_string()]
        }
        None => vec!["./no-agent".to_owned()],
    };
    let env = BTreeMap::from([("GREETING".to_owned(), "2.1.325".to_owned())]);
    let look =
        Wanted { name: "mine".to_owned(), configured: true, kind, command, env, bypass, from_project: false }
            .look(dir.path());
    assert!(!dir.path().join("ran").exists());
    look
}

#[test]
fn a_tested_version_is_called_tested_and_asked_nothing_more() {
    let look =
        look_at(AgentKind::Claude, Some("[ $1 = --version ] && echo \"$GREETING (Claude Code)\""), false);
    assert_eq!(look.version_words(), "2.1.325 (tested)");
    assert_eq!(look.trouble(), None);
    let json = look.json();
    assert_eq!(
        (&json["version"], &json["tested"], &json["driven_by"]),
        (&json!("2.1.325"), &json!(true), &json!("stream-json"))
    );
    assert_eq!(json["installed"], true);
}

#[test]
fn an_unknown_version_that_can_do_what_is_needed_works() {
    let script =
        "case $1 in --version) echo codex-cli 9.9.9;; app-server) echo Usage: codex app-server;; esac";
    let look = look_at(AgentKind::Codex, Some(script), false);
    assert_eq!(look.version_words(), "9.9.9 (not tested; 0.166.0 was)");
    assert_eq!(look.trouble(), None);
    assert_eq!(look.json()["tested"], false);
}

#[test]
fn a_version_that_lacks_something_says_what_and_how_to_update() {
    let script = "case $1 in --version) echo codex-cli 0.1.0;; *) echo Usage: codex PROMPT;; esac";
    let trouble = look_at(AgentKind::Codex, Some(script), false).trouble().unwrap();
    assert_eq!(
        trouble,
        "this version lacks codex app-server; update it: npm install -g @openai/codex, or use codex-exec"
    );
}

#[test]
fn a_program_that_gives_no_version_is_still_looked_at() {
    let look = look_at(AgentKind::Claude, Some("exit 3"), false);
    assert!(look.version_words().starts_with("version unknown: "), "{}", look.version_words());
    assert_eq!(look.trouble(), None);
}

#[test]
fn a_missing_agent_says_how_to_get_it() {
    let look = look_at(AgentKind::Claude, None, false);
    let trouble = look.trouble().unwrap();
    assert!(
        trouble.ends_with("does not exist; get it: npm install -g @anthropic-ai/claude-code"),
        "{trouble}"
    );
    assert!(look.words()[0].starts_with("missing  mine"));
}

#[test]
fn a_program_of_the_users_own_is_not_run_to_ask_its_version() {
    let look = look_at(AgentKind::Command, Some("touch ran"), false);
    assert!(look.version_words().contains("was not started"));
    assert_eq!(look.trouble(), None);
}

#[test]
fn bypass_as_root_is_trouble_on_claude_code_only() {
    let version = Some("echo 2.1.325");
    let root = rustix::process::geteuid().is_root() && std::env::var_os("IS_SANDBOX").is_none();
    assert_eq!(look_at(AgentKind::Claude, version, true).refuses.is_some(), root);
    assert_eq!(look_at(AgentKind::Codex, version, true).refuses, None);
}

#[test]
fn the_table_of_windows_carries_its_date() {
    assert!(window_lines(false)[0].contains(windows::AS_OF));
    assert_eq!(window_lines(false).len(), windows::TABLE.len() + 1);
    for line in window_lines(true) {
        let row: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(row["as_of"], windows::AS_OF);
        assert!(row["window"].as_u64().unwrap() > 0);
    }
}
