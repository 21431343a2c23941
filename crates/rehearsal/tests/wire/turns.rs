//! The scripted agent as a client sees it, when nothing goes wrong that the script does not name.

use agent_client_protocol_schema::v1::{
    PlanEntryStatus, SessionUpdate, StopReason, ToolCallStatus, ToolKind,
};
use segue_rehearsal::brain::CHECKPOINT_REQUEST;
use segue_rehearsal::script::{CheckpointHabit, Script, Steer};
use serde_json::json;

use crate::client::{Client, Heard, Place, reason, tool_ends, usage, words};

const ASK: &str =
    "[segue: checkpoint request]\nWrite a <checkpoint> block with what the next session must know.";

#[test]
fn a_job_of_five_steps_is_done_and_told_in_full() {
    let place = Place::new(5);
    let mut client = Client::start(&place, place.script());
    let (updates, why) = client.turn(&place.job.task_text());
    assert_eq!(why, StopReason::EndTurn);
    assert!(words(&updates).ends_with("All 5 steps are done. LOOP_COMPLETE\n\nSTATUS: done\n"));
    assert_eq!(tool_ends(&updates), [ToolCallStatus::Completed; 5]);
    assert!(place.gate_is_green());

    let log = place.log();
    assert_eq!(
        (log.lost(5).len(), log.started_twice().len(), log.sessions()),
        (0, 0, vec![client.session.as_str()])
    );
    let used: Vec<u64> = usage(&updates).iter().map(|(used, _)| *used).collect();
    assert_eq!(used, log.calls());
    assert!(used.is_sorted() && usage(&updates).iter().all(|(_, size)| *size == 100_000));
    let growth = used[2] - used[1];
    assert!((100..120).contains(&growth), "400 characters and a sentence, not {growth}");

    let begun =
        updates.iter().find_map(|u| if let SessionUpdate::ToolCall(t) = u { Some(t) } else { None }).unwrap();
    assert_eq!(
        (begun.title.as_str(), begun.kind, begun.status),
        ("sh step.sh 1", ToolKind::Execute, ToolCallStatus::InProgress)
    );
    let plans: Vec<_> =
        updates.iter().filter_map(|u| if let SessionUpdate::Plan(p) = u { Some(p) } else { None }).collect();
    assert_eq!(plans.len(), 6);
    let states: Vec<_> = plans[1].entries.iter().map(|e| e.status.clone()).collect();
    assert_eq!(
        states[..3],
        [PlanEntryStatus::Completed, PlanEntryStatus::InProgress, PlanEntryStatus::Pending]
    );
    assert_eq!(client.end(), 0);
}

#[test]
fn what_it_can_do_is_said_at_the_start() {
    let place = Place::new(1);
    let client = Client::bare(&place, place.script());
    assert_eq!(client.init["agentCapabilities"]["_meta"], json!({ "segue.dev/steer": "supersede" }));
    assert_eq!(client.init["agentCapabilities"]["loadSession"], false);
    let script =
        Script { steer: Steer::CancelOnly, state_dir: Some(place.dir.path().join("kept")), ..place.script() };
    let client = Client::bare(&place, script);
    assert!(client.init["agentCapabilities"].get("_meta").is_none());
    assert_eq!(client.init["agentCapabilities"]["loadSession"], true);
}

#[test]
fn a_full_window_ends_the_turn_with_an_error() {
    let place = Place::new(9);
    let script = Script { window: 1_000, system_tokens: 300, step_output_chars: 400, ..place.script() };
    let mut client = Client::start(&place, script);
    let id = client.prompt(&place.job.task_text());
    let (updates, result) = client.answer(id);
    let error = result.unwrap_err();
    let tokens = place.log().overflows()[0];
    assert_eq!(error["code"], -32603);
    assert_eq!(error["message"], format!("prompt is too long: {tokens} tokens > 1000 maximum"));
    assert_eq!(error["data"], json!({ "type": "invalid_request_error", "message": error["message"] }));
    assert!(usage(&updates).iter().all(|(used, _)| *used <= 1_000));
    assert!(!place.log().lost(9).is_empty() && place.log().half_done().is_empty());
}

#[test]
fn a_prompt_that_is_too_long_at_once_fails_at_once() {
    let place = Place::new(3);
    let mut client = Client::start(&place, Script { window: 20_000, ..place.script() });
    let id = client.prompt(&"long ".repeat(10_000));
    assert!(
        client.answer(id).1.unwrap_err()["message"].as_str().unwrap().starts_with("prompt is too long: 22")
    );
}

#[test]
fn no_list_means_no_work() {
    let place = Place::new(3);
    let mut client = Client::start(&place, place.script());
    let (updates, why) = client.turn("[segue: go on]");
    assert_eq!((why, tool_ends(&updates).len()), (StopReason::EndTurn, 0));
    assert!(words(&updates).contains("no list"));
}

#[test]
fn a_cancel_ends_the_running_tool_detached_or_not() {
    for detach_tools in [false, true] {
        let place = Place::new(3);
        let script = Script { step_ms: 600_000, detach_tools, ..place.script() };
        let mut client = Client::start(&place, script);
        let id = client.prompt(&place.job.task_text());
        client.until_tool();
        while place.log().open_pids().is_empty() {
            std::thread::yield_now();
        }
        client.cancel();
        let (updates, result) = client.answer(id);
        assert_eq!(
            (reason(result), tool_ends(&updates)),
            (StopReason::Cancelled, vec![ToolCallStatus::Failed])
        );
        assert_eq!(place.log().half_done(), [1].into());
        assert!(
            place.log().open_pids().iter().all(|pid| !std::path::Path::new(&format!("/proc/{pid}")).exists())
        );
        assert_eq!(client.end(), 0);
    }
}

#[test]
fn a_second_prompt_waits_for_the_tool_and_then_takes_over() {
    let place = Place::new(3);
    let mut client = Client::start(&place, Script { step_ms: 300, ..place.script() });
    let first = client.prompt(&place.job.task_text());
    client.until_tool();
    let second = client.prompt(ASK);
    let (updates, result) = client.answer(first);
    assert_eq!(
        (reason(result), tool_ends(&updates)),
        (StopReason::Cancelled, vec![ToolCallStatus::Completed])
    );
    assert_eq!(place.log().distinct_done(), [1].into());
    let (updates, result) = client.answer(second);
    assert_eq!(reason(result), StopReason::EndTurn);
    assert!(words(&updates).starts_with("<checkpoint>\n## Goal\n"));

    let (_, why) = client.turn("[segue: go on]");
    assert_eq!(why, StopReason::EndTurn);
    assert!(place.gate_is_green() && place.log().started_twice().is_empty());
}

#[test]
fn a_second_prompt_is_refused_where_only_a_cancel_helps() {
    let place = Place::new(2);
    let mut client =
        Client::start(&place, Script { steer: Steer::CancelOnly, step_ms: 300, ..place.script() });
    let first = client.prompt(&place.job.task_text());
    client.until_tool();
    let second = client.prompt(ASK);
    let error = client.answer(second).1.unwrap_err();
    assert_eq!((&error["code"], &error["message"]), (&json!(-32600), &json!("a turn is already running")));
    assert_eq!(reason(client.answer(first).1), StopReason::EndTurn);
    assert!(place.gate_is_green());
}

#[test]
fn a_fresh_session_knows_only_what_the_checkpoint_says_and_does_the_rest() {
    let place = Place::new(5);
    let mut client = Client::start(&place, Script { step_ms: 300, ..place.script() });
    let first = client.prompt(&place.job.task_text());
    client.until_tool();
    client.until_tool();
    let ask = client.prompt(ASK);
    assert_eq!(reason(client.answer(first).1), StopReason::Cancelled);
    let checkpoint = words(&client.answer(ask).0);
    assert_eq!(segue_machine::checkpoint::parse(&checkpoint).items(&["completed"]).len(), 2, "{checkpoint}");

    let old = client.session.clone();
    client.open();
    assert_ne!(client.session, old);
    let (updates, why) = client.turn(&format!("{checkpoint}\n\nThe task:\n\n{}", place.job.task_text()));
    assert_eq!((why, tool_ends(&updates).len()), (StopReason::EndTurn, 3));
    let log = place.log();
    assert!(place.gate_is_green() && log.started_twice().is_empty() && log.sessions().len() == 2);
}

#[test]
fn checkpoints_come_in_every_scripted_way() {
    let place = Place::new(2);
    let said = |checkpoint| {
        let mut client = Client::start(&place, Script { checkpoint, ..place.script() });
        let id = client.prompt(&format!("{ASK}\n\n{}", place.job.task_text()));
        let (updates, result) = client.answer(id);
        result.map(|_| words(&updates))
    };
    assert!(said(CheckpointHabit::Answer).unwrap().contains("<checkpoint>"));
    let untagged = said(CheckpointHabit::NoTags).unwrap();
    assert!(
        untagged.contains("Remaining Tasks\n- step 1: write part 1\n") && !untagged.contains("<checkpoint>")
    );
    assert!(said(CheckpointHabit::Ignore).unwrap().contains("LOOP_COMPLETE"));
    assert_eq!(said(CheckpointHabit::RefuseError).unwrap_err()["code"], -32603);
    assert!(ASK.starts_with(CHECKPOINT_REQUEST));
}

#[test]
fn a_failed_gate_reopens_its_steps() {
    let place = Place::new(3);
    let mut client = Client::start(&place, place.script());
    client.turn(&place.job.task_text());
    std::fs::remove_file(place.work().join("parts/02.txt")).unwrap();
    let (updates, _) = client.turn("The gate failed (sh check.sh, exit 1):\nmissing: parts/02.txt\n");
    assert_eq!(tool_ends(&updates).len(), 1);
    assert!(place.gate_is_green());
}

#[test]
fn compaction_lets_it_finish_in_one_window() {
    let place = Place::new(12);
    let small = Script { window: 2_000, system_tokens: 500, step_output_chars: 1_000, ..place.script() };
    let mut client = Client::start(&place, Script { compact_at_percent: Some(80), ..small });
    let (updates, why) = client.turn(&place.job.task_text());
    assert_eq!(why, StopReason::EndTurn);
    let used: Vec<u64> = usage(&updates).iter().map(|(used, _)| *used).collect();
    assert!(!used.is_sorted() && used.iter().all(|u| *u <= 2_000), "{used:?}");
    assert!(place.gate_is_green() && place.log().started_twice().is_empty());
}

#[test]
fn without_usage_reports_nothing_is_said_about_the_window() {
    let place = Place::new(2);
    let mut client = Client::start(&place, Script { report_usage: false, ..place.script() });
    let (updates, _) = client.turn(&place.job.task_text());
    assert_eq!((usage(&updates), place.log().calls().len()), (vec![], 3));
}

#[test]
fn permission_is_asked_for_each_tool_and_no_means_no() {
    for (option, tools_done) in [("allow", 2), ("reject", 0)] {
        let place = Place::new(2);
        let mut client = Client::start(&place, Script { permissions: true, ..place.script() });
        let id = client.prompt(&place.job.task_text());
        let mut asked = 0;
        loop {
            match client.hear() {
                Heard::Permission(request, body) => {
                    assert_eq!(body.options.len(), 2);
                    asked += 1;
                    let outcome = json!({ "outcome": { "outcome": "selected", "optionId": option } });
                    client.send(&json!({ "jsonrpc": "2.0", "id": request, "result": outcome }));
                }
                Heard::Answer(answered, result) if answered == id => {
                    break assert_eq!(reason(result), StopReason::EndTurn);
                }
                Heard::Update(_) | Heard::Answer(..) | Heard::Unreadable(_) | Heard::End => {}
            }
        }
        assert_eq!(
            (place.log().distinct_done().len(), asked),
            (tools_done, if tools_done == 0 { 3 } else { 2 })
        );
    }
}

#[test]
fn a_kept_session_is_loaded_by_another_process() {
    let place = Place::new(4);
    let script = Script { state_dir: Some(place.dir.path().join("kept")), step_ms: 300, ..place.script() };
    let mut client = Client::start(&place, script.clone());
    let id = client.prompt(&place.job.task_text());
    client.until_tool();
    client.until_tool();
    client.cancel();
    assert_eq!(reason(client.answer(id).1), StopReason::Cancelled);
    let session = client.session.clone();
    assert_eq!(client.end(), 0);

    let mut client = Client::bare(&place, script);
    for wrong in ["nobody", "../kept/x", ""] {
        let id = client.request("session/load", json!({ "sessionId": wrong, "cwd": "/", "mcpServers": [] }));
        assert_eq!(client.answer(id).1.unwrap_err()["code"], -32602);
    }
    let id = client
        .request("session/load", json!({ "sessionId": session, "cwd": place.work(), "mcpServers": [] }));
    let (told, result) = client.answer(id);
    assert!(result.is_ok() && told.iter().any(|u| matches!(u, SessionUpdate::UserMessageChunk(_))));
    client.session = session;
    client.turn("[segue: go on]");
    assert!(place.gate_is_green());
    assert_eq!((place.log().repeated().len(), place.log().sessions().len()), (0, 1));
}

#[test]
fn bad_input_is_answered_and_changes_nothing() {
    let place = Place::new(1);
    let mut client = Client::start(&place, place.script());
    for line in [
        json!([1]),
        json!("x"),
        json!({ "jsonrpc": "2.0" }),
        json!({ "method": "session/cancel", "params": 3 }),
    ] {
        client.send(&line);
    }
    let id = client.request("session/fly", json!({}));
    assert_eq!(client.answer(id).1.unwrap_err()["code"], -32601);
    let id = client.request("session/prompt", json!({ "sessionId": "other", "prompt": 3 }));
    assert_eq!(client.answer(id).1.unwrap_err()["code"], -32602);
    assert_eq!(client.turn(&place.job.task_text()).1, StopReason::EndTurn);
}

#[test]
fn a_step_that_cannot_work_is_given_up() {
    let place = Place::new(2);
    std::fs::remove_file(place.work().join("step.sh")).unwrap();
    let mut client = Client::start(&place, place.script());
    let (updates, why) = client.turn(&place.job.task_text());
    assert_eq!((why, tool_ends(&updates)), (StopReason::EndTurn, vec![ToolCallStatus::Failed; 3]));
}
