//! Signs of life, and signs of progress: what is ended, what is left alone, and what people are told.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use segue_rehearsal::script::{Fault, FaultKind, Script};
use serde_json::Value;

use crate::support::{Done, World, left_behind, small, until};

/// A step that writes a file and takes it away again the next time, and what it says.
fn flip(says: &str) -> String {
    format!("n=$1\nif [ -f flip ]; then rm flip; else echo x >flip; fi\necho \"{says}\"\n")
}

/// Three states, one after the other, so that a session rarely ends where it began.
const ROUND_AND_ROUND: &str = "case $(cat turn 2>/dev/null) in\n'') echo a >turn;;\na) echo b >turn;;\n*) rm turn;;\nesac\n\
                               echo \"tried step $1\"\n";

/// Closed items are believed at three handoffs, and at three more after a tree that is new. Where sessions are cut decides
/// when such a tree is seen, in the middle of an edit or of its undoing. Then three handoffs without progress stop the run.
const MOST_SESSIONS: u64 = 3 + 2 * (1 + 3) + 3;

fn stubborn(steps: u32, says: &str) -> (World, Done) {
    let world = World::new(steps, small());
    // An agent that says that it is done again and again is another limit's business.
    world.configure("[limits]\ngate_rounds = 50\n");
    world.write("step.sh", &flip(says));
    world.commit("a step that leads nowhere");
    let done = world.segue(&["run", "TASK.md", "--json"]);
    (world, done)
}

fn stopped_without_progress(done: &Done) -> u64 {
    done.exits(4);
    let end = done.finished();
    assert_eq!(
        (&end["verdict"], &end["limit"]),
        (&"stopped".into(), &"no_progress".into()),
        "{}",
        done.all()
    );
    assert!(end["reason"].as_str().unwrap().contains("3 handoffs in a row without progress"), "{end}");
    assert!(end["advice"].as_str().unwrap().contains("segue resume"), "{end}");
    end["sessions"].as_u64().unwrap()
}

#[test]
fn t8_a_stubborn_agent_that_edits_and_reverts_is_stopped_and_the_run_can_be_resumed() {
    let (world, done) = stubborn(2, "tried step $n");
    let sessions = stopped_without_progress(&done);
    assert!((3..=MOST_SESSIONS).contains(&sessions), "{}", done.all());
    assert!(done.of("handoff.decided").iter().any(|h| h["kind"] == "stop"), "{}", done.all());
    let status = world.segue(&["status", "--json"]);
    assert_eq!(status.lines()[0]["verdict"]["resumable"], true, "{}", status.all());
    // A person mends what blocked it.
    let [_, (_, step), _] = world.job.files().try_into().unwrap();
    world.write("step.sh", &step);
    let done = world.segue(&["resume", "--json"]);
    done.exits(0);
    assert_eq!(done.finished()["verdict"], "verified", "{}", done.all());
}

#[test]
fn t8_commits_that_segue_makes_of_edits_and_their_undoing_are_no_progress() {
    let world = World::new(2, small());
    world.configure("[git]\ncommit = \"branch\"\n[limits]\ngate_rounds = 50\n");
    world.write("step.sh", ROUND_AND_ROUND);
    world.commit("a step that leads nowhere");
    let done = world.segue(&["run", "TASK.md", "--json"]);
    assert!(stopped_without_progress(&done) <= MOST_SESSIONS, "{}", done.all());
    assert!(world.git(&["log", "--oneline"]).lines().count() > 2, "there were commits to be misled by");
}

#[test]
fn t8_closing_item_after_item_without_any_change_is_not_believed_for_ever() {
    let (_world, done) = stubborn(60, "step $n done");
    let sessions = stopped_without_progress(&done);
    assert!((6..=MOST_SESSIONS).contains(&sessions), "{}", done.all());
}

#[test]
fn t8_a_slow_healthy_agent_with_repetitive_output_is_left_alone() {
    let script = Script {
        tool_title: Some("sh step.sh".to_owned()),
        step_output: Some("warning: the same line again\n".repeat(40)),
        think_ms: 900,
        step_ms: 900,
        ..small()
    };
    let world = World::new(8, script);
    world.configure("[limits]\nidle_timeout = \"6s\"\ntool_idle_timeout = \"6s\"\n");
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let end = done.finished();
    assert!(end["verdict"] == "verified" && end["handoffs"].as_u64().unwrap() >= 1, "{}", done.all());
    assert_eq!(done.of("limit.reached"), [] as [Value; 0], "{}", done.all());
    let ends: Vec<Value> = done.of("session.ended").iter().map(|e| e["reason"].clone()).collect();
    assert!(ends.iter().all(|e| e == "replaced" || e == "finished"), "{ends:?}");
}

fn with_fault(kind: FaultKind) -> World {
    let fault = Fault { at_step: 2, session: Some(1), kind };
    World::new(3, Script { faults: vec![fault], ..small() })
}

fn first_handoff(done: &Done) -> String {
    done.of("handoff.decided")[0]["reason"].as_str().unwrap().to_owned()
}

#[test]
fn a_tool_that_hangs_is_told_and_its_session_is_replaced() {
    let world = with_fault(FaultKind::Hang);
    world.configure("[limits]\ntool_idle_timeout = \"2s\"\n");
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let reason = first_handoff(&done);
    assert!(reason.starts_with("the tool hangs: running `sh step.sh 2`"), "{reason}");
    assert!(reason.ends_with("no output, no CPU, no file changes"), "{reason}");
    assert_eq!(done.warnings("tool_silent").len(), 1, "{}", done.all());
    assert_eq!(done.of("session.ended")[0]["reason"], "stalled", "{}", done.all());
    assert_eq!(done.of("checkpoint.taken")[0]["by"], "segue", "{}", done.all());
    assert_eq!(left_behind(&done.run()), [""; 0]);
}

/// Uses the processor for some seconds and says nothing.
const BUSY: &str = "if [ \"$n\" = 2 ]; then end=$(($(date +%s) + 7)); while [ \"$(date +%s)\" -lt \"$end\" ]; do :; done; fi";

#[test]
fn a_tool_that_is_busy_without_a_word_is_left_alone_and_shown() {
    let world = World::new(3, small());
    world.in_step(BUSY);
    world.configure("[limits]\ntool_idle_timeout = \"3s\"\ntool_warning = \"4s\"\n");
    let run = world.launch(&["run", "TASK.md", "--json"], "run");
    let mut shown = Value::Null;
    until("the tool to be shown as busy", || {
        let status = world.segue(&["status", "--json"]);
        shown = status.lines().into_iter().next().unwrap_or_default()["session"].clone();
        shown["state_text"].as_str().is_some_and(|text| text.contains("busy ("))
    });
    assert_eq!((&shown["state"], shown["cores"].as_f64() > Some(0.0)), (&"tool".into(), true), "{shown}");
    let text = shown["state_text"].as_str().unwrap();
    assert!(text.starts_with("running `sh step.sh 2`") && text.ends_with(" cores)"), "{text}");
    let done = run.wait();
    done.exits(0);
    world.assert_each_step_once(&done);
    assert_eq!(
        (done.of("limit.reached").len(), &done.finished()["sessions"]),
        (0, &1.into()),
        "{}",
        done.all()
    );
    assert_eq!(done.warnings("tool_long").len(), 1, "{}", done.all());
}

#[test]
fn a_busy_tool_is_ended_at_its_hard_limit() {
    let world = World::new(3, small());
    world.in_step(&BUSY.replace("+ 7", "+ 1000").replace("if [", "if [ ! -f ../once ] && ["));
    world.configure("[limits]\ntool_timeout = \"3s\"\n");
    let run = world.launch(&["run", "TASK.md", "--json"], "run");
    until("the second step to begin", || has_begun(&world, 2));
    std::fs::write(world.root().join("once"), "").unwrap();
    let done = run.wait();
    done.exits(0);
    assert!(first_handoff(&done).starts_with("`sh step.sh 2` ran for"), "{}", done.all());
    assert_eq!(left_behind(&done.run()), [""; 0]);
}

fn has_begun(world: &World, step: u32) -> bool {
    let log = std::fs::read_to_string(world.log()).unwrap_or_default();
    log.lines().any(|line| line.starts_with(&format!("start {step} ")))
}

#[test]
fn a_dead_stream_is_told_for_what_it_is_and_replaced() {
    let world = with_fault(FaultKind::Silent);
    let done = world.segue(&["run", "TASK.md", "--json", "--idle-timeout", "2s"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let reason = first_handoff(&done);
    assert!(reason.starts_with("the agent was silent for"), "{reason}");
    assert!(reason.ends_with("no bytes, no CPU, no file changes"), "{reason}");
    assert_eq!(done.warnings("silent").len(), 1, "{}", done.all());
    assert_eq!(done.of("checkpoint.taken")[0]["by"], "segue", "{}", done.all());
}

#[test]
fn an_agent_whose_process_is_killed_is_noticed_at_once_and_replaced() {
    // It hangs, with the usual limits of many minutes: only the end of its process can lead on.
    let world = with_fault(FaultKind::Silent);
    let run = world.launch(&["run", "TASK.md", "--json"], "run");
    until("the first step to end", || world.steps().distinct_done().contains(&1));
    let spawned = |world: &World| {
        let events = world.events(&world.run_id()?);
        let event = events.iter().find(|e| e.event.contains("\"session_spawned\""))?;
        serde_json::from_str::<Value>(&event.event).ok()?["pid"].as_u64()
    };
    let pid = spawned(&world).unwrap();
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
    let done = run.wait();
    done.exits(0);
    world.assert_each_step_once(&done);
    let reason = first_handoff(&done);
    assert_eq!(reason, "the agent's process ended by a signal in the middle of its work");
    assert_eq!(done.of("limit.reached"), [] as [Value; 0], "{}", done.all());
}

/// Claude Code as far as a retry needs it: lines as the real one writes them, from a shell script.
fn retrying(world: &World, retries: u32, status: u32, word: &str) {
    let agent = world.root().join("claude.sh");
    let retry = format!(
        "{{\"type\":\"system\",\"subtype\":\"api_retry\",\"attempt\":'$n',\"max_retries\":10,\
         \"retry_delay_ms\":524.7,\"error_status\":{status},\"error\":\"{word}\"}}"
    );
    let code = format!(
        "#!/bin/sh\nread -r line\n\
         echo '{{\"type\":\"control_response\",\"response\":{{\"subtype\":\"error\",\"request_id\":\"x\",\"error\":\"no\"}}}}'\n\
         read -r line\nn=1\n\
         while [ \"$n\" -le {retries} ]; do echo '{retry}'; sleep 3; n=$((n + 1)); done\n\
         for n in 1 2 3; do sh step.sh $n >/dev/null; done\n\
         echo '{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"terminal_reason\":\"completed\",\"result\":\"done\"}}'\n\
         read -r line\n"
    );
    std::fs::write(&agent, code).unwrap();
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
    world.configure(&format!(
        "agents = [\"claude\"]\n[limits]\nidle_timeout = \"2s\"\nretry_timeout = \"20s\"\n\
         [agent.claude]\nkind = \"claude\"\ncommand = [{agent:?}]\nwindow = 100000\n"
    ));
}

#[test]
fn a_silent_retry_is_told_and_is_life_beyond_the_limit_of_silence() {
    let world = World::new(3, small());
    retrying(&world, 2, 529, "overloaded");
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    assert_eq!(
        done.warnings("retrying"),
        ["retrying: attempt 1 of 10, overloaded", "retrying: attempt 2 of 10, overloaded"]
    );
    assert_eq!(
        (done.of("limit.reached").len(), &done.finished()["sessions"]),
        (0, &1.into()),
        "{}",
        done.all()
    );
}

#[test]
fn retries_without_end_become_the_failure_that_they_are_about() {
    let world = World::new(3, small());
    retrying(&world, 10, 401, "authentication_failed");
    world.write("segue.toml", &world.read("segue.toml").replace("\"20s\"", "\"4s\""));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(3);
    let end = done.finished();
    let reason = end["reason"].as_str().unwrap();
    assert!(
        reason.contains("not authorised") && reason.contains("401 authentication_failed"),
        "{}",
        done.all()
    );
    assert_eq!(done.of("limit.reached")[0]["limit"], "stall", "{}", done.all());
    assert_eq!(left_behind(&done.run()), [""; 0]);
}
