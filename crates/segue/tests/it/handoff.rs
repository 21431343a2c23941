//! Who goes on after a session: windows, roles, failures for good, circles, parts of a task, and a base that moved.

use segue_rehearsal::script::{Fault, FaultKind, Script};
use serde_json::Value;

use crate::support::{Done, World, small};

/// The table of a scripted agent with a script of its own.
pub(crate) fn scripted(world: &World, name: &str, script: Script) -> String {
    let script = Script { step_log: Some(world.log()), ..script };
    let file = world.root().join(format!("{name}.json"));
    std::fs::write(&file, serde_json::to_string(&script).unwrap()).unwrap();
    format!(
        "[agent.{name}]\nkind = \"acp\"\nwindow = {}\ncommand = [{:?}, \"scripted-agent\", \"--script\", {file:?}]\n",
        script.window,
        env!("CARGO_BIN_EXE_segue"),
    )
}

fn handing_over(agents: &str, tables: &[String]) -> String {
    let stage = "[[stage]]\nat = \"90%\"\ndo = [\"handoff\"]\n";
    format!("agents = [{agents}]\n{}{stage}", tables.concat())
}

fn agents(done: &Done) -> Vec<String> {
    done.of("session.started").iter().map(|s| s["agent"].as_str().unwrap().to_owned()).collect()
}

fn found(decided: &Value, agent: &str) -> (String, String) {
    let all = decided["considered"].as_array().unwrap();
    let one = all.iter().find(|c| c["agent"] == agent).unwrap_or_else(|| panic!("{decided}"));
    let text = |field: &str| one[field].as_str().unwrap().to_owned();
    (text("verdict"), text("why"))
}

#[test]
fn h4_in_a_chain_of_200k_32k_and_1m_the_small_one_is_skipped_and_the_log_says_why() {
    let world = World::new(8, small());
    let background = "Background that is worth reading. ".repeat(3_500);
    world.write("TASK.md", &format!("{}\n{background}\n", world.job.task_text()));
    let (system_tokens, step_output_chars) = (130_000, 40_000);
    let big = Script { window: 200_000, system_tokens, step_output_chars, ..Script::default() };
    let (little, huge) =
        (Script { window: 32_000, ..Script::default() }, Script { window: 1_000_000, ..big.clone() });
    let tables =
        [scripted(&world, "big", big), scripted(&world, "little", little), scripted(&world, "huge", huge)];
    world.configure(&handing_over("\"big\", \"little\", \"huge\"", &tables));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert_eq!(agents(&done), ["big", "huge"], "{}", done.all());
    let log = world.segue(&["log", "--json"]);
    let decided = &log.of("handoff.decided")[0];
    assert_eq!((&decided["kind"], &decided["to_agent"]), (&"fallback".into(), &"huge".into()));
    let (verdict, why) = found(decided, "little");
    assert_eq!(verdict, "skipped");
    assert!(why.starts_with("window 32k too small for ") && why.ends_with("of ledger and task"), "{why}");
    assert_eq!(found(decided, "huge").0, "chosen");
    let said = world.segue(&["log"]).out;
    assert!(said.contains("not little: window 32k too small"), "{said}");
    let shown = world.segue(&["show"]).out;
    assert!(shown.contains("fallback") && shown.contains("little: window 32k too small"), "{shown}");
}

#[test]
fn h4_a_roles_own_order_decides_who_begins_and_who_follows() {
    let world = World::new(14, small());
    let tables = ["one", "two", "three"].map(|name| scripted(&world, name, small()));
    let role = "[roles.backend]\nagents = [\"three\", \"one\"]\n";
    world.configure(&format!("{}{role}", handing_over("\"one\", \"two\", \"three\"", &tables)));
    let done = world.segue(&["run", "TASK.md", "--json", "--role", "backend"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let order = agents(&done);
    assert_eq!(order[..2], ["three", "one"], "{}", done.all());
    assert!(!order.contains(&"two".to_owned()), "{order:?}");
    let done = world.segue(&["run", "TASK.md", "--json", "--gate", "true"]);
    assert_eq!(agents(&done)[0], "one", "{}", done.all());
}

#[test]
fn h4_agents_that_cannot_be_started_are_accounted_for_and_the_run_can_be_resumed() {
    let world = World::new(2, small());
    let broken = |name: &str, code: u8| {
        format!("[agent.{name}]\nkind = \"acp\"\ncommand = [\"sh\", \"-c\", \"exit {code}\"]\n")
    };
    world.configure(&handing_over("\"x\", \"y\"", &[broken("x", 3), broken("y", 4)]));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(1);
    let reason = done.finished()["reason"].as_str().unwrap().to_owned();
    for part in
        ["no agent can continue", "x: failed permanently", "code 3", "y: failed permanently", "code 4"]
    {
        assert!(reason.contains(part), "{reason}");
    }
    let again = world.segue(&["resume", "--json", "--agent", "scripted"]);
    again.exits(0);
    world.assert_each_step_once(&again);
}

#[test]
fn the_same_failure_again_and_again_stops_with_its_message() {
    let world = World::new(2, small());
    let agent = "[agent.broken]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", \"echo request $$ went wrong; exit 7\"]\n";
    let limits = "[limits]\nmax_handoffs_without_progress = 20\n";
    world.configure(&format!("agents = [\"broken\"]\n{agent}{limits}"));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(4);
    let end = done.finished();
    assert_eq!((&end["limit"], &end["sessions"]), (&"same_error".into(), &3.into()), "{}", done.all());
    assert!(end["reason"].as_str().unwrap().contains("went wrong"), "{end}");
}

#[test]
fn two_agents_that_fail_in_turn_are_stopped_with_an_account_of_both() {
    let world = World::new(3, small());
    let failing = |kind| Script { faults: vec![Fault { at_step: 1, session: None, kind }], ..small() };
    let tables = [
        scripted(&world, "crashes", failing(FaultKind::Crash)),
        scripted(&world, "hushes", failing(FaultKind::Silent)),
    ];
    let stages =
        "[[stage]]\nat = \"20%\"\ndo = [\"choose-fallback\"]\n[[stage]]\nat = \"90%\"\ndo = [\"handoff\"]\n";
    let limits = "[limits]\nmax_handoffs_without_progress = 20\nidle_timeout = \"3s\"\n";
    world.configure(&format!("agents = [\"crashes\", \"hushes\"]\n{}{stages}{limits}", tables.concat()));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(4);
    let end = done.finished();
    assert_eq!((&end["limit"], &end["sessions"]), (&"oscillation".into(), &3.into()), "{}", done.all());
    let reason = end["reason"].as_str().unwrap();
    assert!(reason.contains("crashes: ") && reason.contains("hushes: "), "{reason}");
    assert_eq!(agents(&done), ["crashes", "hushes", "crashes"]);
}

/// A task with a list of long items, too long for one window of [`small`].
fn long_task(world: &World, chars: usize) {
    let words = "lorem ipsum ".repeat(chars / 12);
    let item = |n| format!("- [ ] step {n}: write part {n}\n  {words}\n");
    let list: String = (1..=world.job.steps).map(item).collect();
    let head = "Work through this list in order, one step at a time. For each step run `sh step.sh N`.";
    world.write("TASK.md", &format!("# Write the parts\n\n{head}\n\n{list}\nThen say LOOP_COMPLETE.\n"));
    world.commit("the task");
}

#[test]
fn t7_a_task_that_fills_a_fresh_window_is_split_and_all_of_it_is_done() {
    let script = Script { step_output_chars: 400, ..small() };
    let world = World::new(6, script.clone());
    long_task(&world, 12_000);
    world.keep_conversations(script);
    let done = world.segue(&["run", "TASK.md", "--json", "--policy", "seamless"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert_eq!(done.finished()["verdict"], "verified");
    let kinds: Vec<Value> = done.of("handoff.decided").iter().map(|h| h["kind"].clone()).collect();
    assert!(kinds.contains(&"split".into()), "{kinds:?}");
    assert!(done.of("session.started").iter().any(|s| s["reason"] == "split"), "{}", done.all());
    let prompts = world.prompts().concat();
    let first = prompts.iter().find(|p| p.contains("This is a part of the task")).unwrap();
    assert!(first.contains("step 1:") && !first.contains("- [ ] step 6:"), "the rest follows later");
}

#[test]
fn t7_a_task_that_is_no_list_and_fills_a_fresh_window_stops_with_advice() {
    let world = World::new(2, small());
    world.write("TASK.md", &format!("Write the parts.\n{}\n", "lorem ipsum ".repeat(7_000)));
    let done = world.segue(&["run", "TASK.md", "--json", "--policy", "seamless"]);
    done.exits(4);
    let end = done.finished();
    assert_eq!((&end["limit"], &end["sessions"]), (&"futile".into(), &1.into()), "{}", done.all());
    assert!(end["advice"].as_str().unwrap().contains("smaller tasks"));
    assert_eq!(done.of("handoff.decided")[0]["kind"], "stop");
}

#[test]
fn t6_a_fourth_breach_under_phased_fails_with_the_offer_to_split() {
    let world = World::new(30, small());
    let done = world.segue(&["run", "TASK.md", "--json", "--policy", "phased", "--no-auto-commit"]);
    done.exits(4);
    let end = done.finished();
    assert_eq!((&end["limit"], &end["sessions"]), (&"max_restarts".into(), &4.into()), "{}", done.all());
    assert!(end["advice"].as_str().unwrap().contains("split"), "{end}");
    assert_eq!(done.of("handoff.decided").last().unwrap()["kind"], "stop");
}

#[test]
fn h2_a_commit_that_moved_under_the_run_is_told_to_people_and_to_the_next_session() {
    let world = World::new(26, small());
    world.write("extra.txt", "one\n");
    world.commit("one more");
    world.keep_conversations(small());
    world.segue(&["run", "TASK.md", "--json", "--policy", "seamless", "--max-restarts", "1"]).exits(4);
    world.git(&["checkout", "--quiet", "HEAD~1"]);
    let done = world.segue(&["resume", "--json", "--max-restarts", "9"]);
    done.exits(0);
    let told = done.warnings("base_moved");
    assert_eq!(told.len(), 1, "{}", done.all());
    assert!(told[0].contains("does not follow from it"), "{told:?}");
    let prompts = world.prompts().concat();
    assert_eq!(prompts.iter().filter(|p| p.contains("does not follow from it")).count(), 1);
    world.assert_each_step_once(&done);
}

#[test]
fn h2_a_commit_that_follows_is_nothing_to_tell_and_another_task_file_is() {
    let world = World::new(26, small());
    world.segue(&["run", "TASK.md", "--json", "--policy", "seamless", "--max-restarts", "1"]).exits(4);
    world.commit("what is there so far");
    world.write("TASK.md", "Do something else.\n");
    let done = world.segue(&["resume", "--json", "--max-restarts", "9"]);
    done.exits(0);
    let told = done.warnings("base_moved");
    assert!(told.iter().all(|text| text.contains("TASK.md has changed")), "{told:?}");
    assert!(!told.is_empty(), "{}", done.all());
}
