//! A second opinion before a run is called done, from end to end.

use segue_rehearsal::script::{Reply, Script};

use crate::handoff::scripted;
use crate::support::{Done, World, small};

/// A program that is asked for its opinion: shell code, with the times it was asked in `$n`.
fn checker(world: &World, code: &str) -> String {
    let (file, count) = (world.root().join("checker.sh"), world.root().join("asked"));
    let count = count.display();
    std::fs::write(&file, format!("echo x >>{count}\nn=$(wc -l <{count})\n{code}\n")).unwrap();
    let agent = format!("[agent.checker]\nkind = \"command\"\ncommand = [\"sh\", {file:?}]\n");
    format!("{agent}[roles.verifier]\nagents = [\"checker\"]\n")
}

fn sessions(done: &Done) -> Vec<(String, String)> {
    let text = |s: &serde_json::Value, field: &str| s[field].as_str().unwrap().to_owned();
    done.of("session.started").iter().map(|s| (text(s, "agent"), text(s, "reason"))).collect()
}

fn pair(agent: &str, reason: &str) -> (String, String) {
    (agent.to_owned(), reason.to_owned())
}

#[test]
fn what_a_helper_finds_missing_goes_back_and_its_agreement_ends_the_run() {
    let world = World::new(3, small());
    world.keep_conversations(small());
    let code = "if [ $n -eq 1 ]; then echo 'VERDICT: not done: the notes of step 2 are too short'; else echo 'VERDICT: done'; fi";
    world.configure(&checker(&world, code));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let (helper, work) = (pair("checker", "helper"), pair("scripted", "restart"));
    assert_eq!(sessions(&done), [pair("scripted", "first"), helper.clone(), work, helper], "{}", done.all());
    let end = done.finished();
    assert_eq!(end["verdict"], "verified");
    assert!(end["reason"].as_str().unwrap().contains("checker agrees"), "{end}");
    let kinds: Vec<_> = done.of("handoff.decided").iter().map(|h| h["kind"].clone()).collect();
    assert_eq!(kinds, ["helper", "restart", "helper"]);
    let told = conversations(&world).into_iter().any(|c| c.contains("the notes of step 2 are too short"));
    assert!(told, "the working agent is told what is missing");
}

fn conversations(world: &World) -> Vec<String> {
    let entries = std::fs::read_dir(world.root().join("conversations")).unwrap();
    entries.map(|e| std::fs::read_to_string(e.unwrap().path()).unwrap()).collect()
}

#[test]
fn without_a_gate_a_helpers_agreement_is_still_a_claim() {
    let world = World::new(2, small());
    world.configure_without_gate(&checker(&world, "echo 'VERDICT: done'"));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    assert_eq!(done.finished()["verdict"], "unverified", "{}", done.all());
    assert!(done.finished()["reason"].as_str().unwrap().contains("checker agrees"));
    world.segue(&["run", "TASK.md", "--json", "--require-verified"]).exits(3);
}

#[test]
fn a_helper_that_changes_files_is_told_on_its_words_do_not_count_and_nothing_is_undone() {
    let world = World::new(2, small());
    let code = "echo mine >INTRUDER; echo 'VERDICT: not done: I would do it otherwise'";
    world.configure(&checker(&world, code));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    assert_eq!(done.warnings("helper_changed_files").len(), 1, "{}", done.all());
    assert!(done.warnings("not_done").is_empty());
    assert_eq!((world.read("INTRUDER").as_str(), sessions(&done).len()), ("mine\n", 2));
    let after = done.of("gate.finished").into_iter().filter(|g| g["when"] == "after").count();
    assert_eq!(after, 2, "the gate saw the files as they are");
}

#[test]
fn a_helper_is_denied_what_the_working_agent_may() {
    let gives_up = Reply { when: "# Write the parts".into(), say: "That is all.\n\nSTATUS: done".into() };
    let world = World::new(2, Script { replies: vec![gives_up], ..small() });
    let looks = Script {
        permissions: true,
        last_words: vec!["VERDICT: not done: part 2 is missing".into()],
        ..small()
    };
    let table = scripted(&world, "looks", looks).replace("window =", "permissions = \"bypass\"\nwindow =");
    let role = "[roles.verifier]\nagents = [\"looks\"]\n[limits]\ngate_rounds = 0\n";
    world.configure_without_gate(&format!("{table}{role}"));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    assert!(!done.warnings("helper_denied").is_empty(), "{}", done.all());
    assert!(done.warnings("helper_changed_files").is_empty());
    assert!(!world.repo().join("parts/02.txt").exists(), "it may not do the work");
    assert_eq!(sessions(&done)[1], pair("looks", "helper"));
}

#[test]
fn verify_gates_switches_the_helper_off_and_verify_helper_needs_no_role() {
    let world = World::new(2, small());
    world.configure(&format!("verify = \"gates\"\n{}", checker(&world, "echo 'VERDICT: done'")));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    assert_eq!(sessions(&done).len(), 1, "{}", done.all());
    let world = World::new(2, Script { last_words: vec!["VERDICT: done".into()], ..small() });
    world.configure("verify = \"helper\"\n");
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    assert_eq!(sessions(&done), [pair("scripted", "first"), pair("scripted", "helper")], "{}", done.all());
    world.assert_each_step_once(&done);
}
