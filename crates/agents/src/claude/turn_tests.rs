//! How turns end, how requests for a checkpoint reach them, and how permissions are asked for.

use super::*;
use segue_machine::Subject;

#[test]
fn each_way_a_turn_can_end_is_known_by_its_own_fields() {
    let failed =
        |failure| move |end: &TurnEnd| matches!(end, TurnEnd::Failed { failure: f, .. } if *f == failure);
    let overflow = |end: &TurnEnd| matches!(end, TurnEnd::Overflow { .. });
    let cancelled = |end: &TurnEnd| *end == TurnEnd::Cancelled;
    let row = |subtype: &str, error: bool, reason: &str, status: Value, words: &str| {
        json!({ "type": "result", "subtype": subtype, "is_error": error, "terminal_reason": reason,
                "api_error_status": status, "result": words })
    };
    type Check<'a> = &'a dyn Fn(&TurnEnd) -> bool;
    let none = Value::Null;
    let rows: [(Value, Check<'_>); 14] = [
        (
            row("success", false, "completed", none.clone(), "x"),
            &|e| matches!(e, TurnEnd::Finished { text } if text == "x"),
        ),
        (row("success", true, "prompt_too_long", json!(400), "Prompt is too long"), &overflow),
        (row("success", true, "blocking_limit", none.clone(), "Prompt is too long"), &overflow),
        (row("success", true, "rapid_refill_breaker", none.clone(), "thrashing"), &overflow),
        (
            row("success", true, "api_error", json!(401), "Invalid API key"),
            &failed(AgentFailure::Unauthorised),
        ),
        (row("success", true, "api_error", json!(429), "slow down"), &failed(AgentFailure::RateLimited)),
        (row("success", true, "api_error", json!(500), "broken"), &failed(AgentFailure::Overloaded)),
        (row("success", true, "api_error", json!(529), "busy"), &failed(AgentFailure::Overloaded)),
        (
            row("success", true, "api_error", none.clone(), "Request timed out"),
            &failed(AgentFailure::Network),
        ),
        (row("error_max_turns", true, "max_turns", none.clone(), ""), &failed(AgentFailure::Other)),
        (row("error_during_execution", true, "aborted_tools", none.clone(), ""), &cancelled),
        (row("error_during_execution", true, "aborted_streaming", none.clone(), ""), &cancelled),
        (row("success", false, "aborted_tools", none.clone(), ""), &cancelled),
        (row("success", false, "hook_stopped", none, ""), &cancelled),
    ];
    for (line, is_right) in rows {
        let mut talk = Talk::new();
        talk.says(&line);
        let events = talk.events();
        assert!(matches!(&events[..], [AgentEvent::TurnEnded(end)] if is_right(end)), "{line}: {events:?}");
    }
}

#[test]
fn an_end_without_a_reason_is_told_by_its_first_error() {
    let mut talk = Talk::new();
    talk.says(&json!({ "type": "result", "subtype": "error_during_execution", "is_error": true,
                       "errors": ["No conversation found with session ID: x"] }));
    let events = talk.events();
    assert!(
        matches!(&events[..], [AgentEvent::TurnEnded(TurnEnd::Failed { message, .. })] if message.starts_with("No conv")),
        "{events:?}"
    );
}

#[test]
fn m9_words_about_limits_are_only_text() {
    let mut talk = Talk::new();
    let words = "prompt is too long: 213224 tokens > 200000 maximum, rate limit 429";
    talk.says(&assistant("a", &text(words), &usage(3, 0, 0, 1)));
    talk.says(&result("completed", words));
    assert!(matches!(talk.events().last(), Some(AgentEvent::TurnEnded(TurnEnd::Finished { .. }))));
}

#[test]
fn an_empty_result_is_told_with_what_was_said() {
    let mut talk = Talk::new();
    talk.says(&assistant("a", &text("all done"), &usage(3, 0, 0, 1)));
    talk.says(&result("completed", ""));
    let end = TurnEnd::Finished { text: "all done".to_owned() };
    assert_eq!(talk.events().last(), Some(&AgentEvent::TurnEnded(end)));
}

#[test]
fn a_request_for_a_checkpoint_ends_the_turn_and_is_answered_in_the_next() {
    let mut talk = Talk::new();
    talk.asks();
    assert_eq!(talk.written()[0]["priority"], "now");
    talk.says(&result("aborted_streaming", ""));
    talk.says(&result("completed", "<checkpoint>"));
    let answered = AgentEvent::Answered { text: "<checkpoint>".to_owned() };
    assert_eq!(talk.events(), [AgentEvent::TurnEnded(TurnEnd::Cancelled), answered]);
}

#[test]
fn t2_a_request_waits_for_the_running_tool_which_it_would_kill() {
    let mut talk = Talk::new();
    talk.says(&start("a", &usage(3, 0, 0, 1)));
    talk.says(&assistant("a", &bash("t1"), &usage(3, 0, 0, 1)));
    talk.says(&assistant("a", &bash("t2"), &usage(3, 0, 0, 1)));
    talk.asks();
    for line in [delta("tool_use", 9), tool_result("t1")] {
        talk.says(&line);
        assert_eq!(talk.written(), [] as [Value; 0], "{line}");
    }
    talk.says(&tool_result("t2"));
    assert_eq!(talk.written()[0]["priority"], "now");
}

#[test]
fn a_request_while_an_answer_streams_waits_for_its_end_and_for_a_retry_it_does_not() {
    let mut talk = Talk::new();
    talk.says(&start("a", &usage(3, 0, 0, 1)));
    talk.asks();
    assert_eq!(talk.written(), [] as [Value; 0]);
    talk.says(&json!({ "type": "system", "subtype": "api_retry", "attempt": 1 }));
    assert_eq!(talk.written()[0]["priority"], "now");
}

#[test]
fn a_request_that_waits_is_sent_after_a_turn_that_was_stopped() {
    let mut talk = Talk::new();
    talk.says(&assistant("a", &bash("t1"), &usage(3, 0, 0, 1)));
    talk.asks();
    talk.says(&result("hook_stopped", ""));
    assert_eq!(talk.written()[0]["priority"], "now");
    talk.says(&result("completed", "<checkpoint>"));
    assert_eq!(talk.events().last(), Some(&AgentEvent::Answered { text: "<checkpoint>".to_owned() }));
}

#[test]
fn t3_a_turn_that_finished_before_the_request_was_sent_is_finished_and_nothing_more_is_asked() {
    let mut talk = Talk::new();
    talk.says(&start("a", &usage(3, 0, 0, 1)));
    talk.asks();
    talk.says(&delta("end_turn", 9));
    talk.says(&result("completed", "done"));
    let end = TurnEnd::Finished { text: "done".to_owned() };
    assert_eq!(talk.events().last(), Some(&AgentEvent::TurnEnded(end)));
    assert!(talk.written().iter().all(|w| w["priority"].is_null()));
}

#[test]
fn t3_a_turn_that_finished_before_the_request_was_seen_is_finished_and_then_answered() {
    let mut talk = Talk::new();
    talk.asks();
    talk.says(&result("completed", "done"));
    talk.says(&result("completed", "<checkpoint>"));
    let end = TurnEnd::Finished { text: "done".to_owned() };
    let answered = AgentEvent::Answered { text: "<checkpoint>".to_owned() };
    assert_eq!(talk.events(), [AgentEvent::TurnEnded(end), answered]);
}

#[test]
fn a_request_that_fails_or_does_not_fit_is_not_answered_and_is_no_overflow() {
    for reason in ["api_error", "aborted_streaming", "blocking_limit", "prompt_too_long"] {
        let mut talk = Talk::new();
        talk.says(&result("completed", "done"));
        talk.asks();
        talk.events();
        let mut end = result(reason, "no");
        end["is_error"] = json!(true);
        talk.says(&end);
        let events = talk.events();
        assert!(matches!(&events[..], [AgentEvent::NotAnswered { .. }]), "{reason}: {events:?}");
    }
}

#[test]
fn a_permission_is_asked_by_kind_and_answered_once() {
    for (allow, behaviour) in [(true, "allow"), (false, "deny")] {
        let mut talk = Talk::new();
        let request =
            json!({ "subtype": "can_use_tool", "tool_name": "Write", "input": { "file_path": "/w/a" } });
        talk.says(&json!({ "type": "control_request", "request_id": "r1", "request": request }));
        let asked = AgentEvent::PermissionAsked {
            request: "r1".to_owned(),
            kind: "edit".to_owned(),
            title: "Write /w/a".to_owned(),
            subject: Subject { command: None, paths: vec!["/w/a".to_owned()] },
        };
        assert_eq!(talk.events(), [asked]);
        for _ in 0..2 {
            talk.claude.act(Act::Permission { request: "r1".to_owned(), allow }, &mut talk.io);
        }
        let written = talk.written();
        assert_eq!(written.len(), 1);
        let response = &written[0]["response"];
        assert_eq!(
            (&response["request_id"], &response["response"]["behavior"]),
            (&json!("r1"), &json!(behaviour))
        );
        assert_eq!(response["response"]["updatedInput"].is_null(), !allow);
    }
}

#[test]
fn tools_have_the_kinds_that_permissions_are_given_for() {
    let kinds = ["Bash", "Edit", "Read", "Grep", "WebFetch", "mcp__x__y"].map(stream::kind);
    assert_eq!(kinds, ["execute", "edit", "read", "search", "fetch", "mcp__x__y"]);
}

#[test]
fn what_segue_does_not_offer_is_refused() {
    let mut talk = Talk::new();
    talk.says(
        &json!({ "type": "control_request", "request_id": "r", "request": { "subtype": "mcp_message" } }),
    );
    assert_eq!(talk.written()[0]["response"]["subtype"], "error");
    assert_eq!(talk.events(), []);
}

#[test]
fn h3_a_limit_that_turned_a_request_down_says_when_to_come_back() {
    let refused = json!({ "type": "result", "subtype": "success", "is_error": true, "terminal_reason": "api_error",
                          "api_error_status": 429, "result": "slow down" });
    for (status, retry) in [("rejected", Some(Retry::At(1_794_800_000_000))), ("allowed_warning", None)] {
        let mut talk = Talk::new();
        let info = json!({ "status": status, "resetsAt": 1_794_800_000, "rateLimitType": "five_hour" });
        talk.says(&json!({ "type": "rate_limit_event", "rate_limit_info": info }));
        talk.says(&refused);
        let told = talk.events().into_iter().find_map(|event| {
            let AgentEvent::TurnEnded(TurnEnd::Failed { failure, retry, .. }) = event else { return None };
            Some((failure, retry))
        });
        assert_eq!(told, Some((AgentFailure::RateLimited, retry)), "{status}");
    }
}

#[test]
fn k1_a_side_question_is_answered_under_its_own_id_and_touches_no_turn() {
    let mut talk = Talk::new();
    for (id, text) in [("q1", "where do you stand?"), ("q2", "and now?")] {
        let act = Act::SideQuestion { id: id.to_owned(), text: text.to_owned() };
        talk.claude.act(act, &mut talk.io);
    }
    let asked = talk.written();
    assert!(asked.iter().all(|w| w["request"]["subtype"] == "side_question"), "{asked:?}");
    assert_eq!(asked[0]["request"]["question"], "where do you stand?");
    talk.events();
    let answer = |request: &Value, text: &str, synthetic: bool| {
        let response = json!({ "response": text, "synthetic": synthetic });
        let response = json!({ "subtype": "success", "request_id": request, "response": response });
        json!({ "type": "control_response", "response": response })
    };
    talk.says(&answer(&asked[1]["request_id"], "(API error: Prompt is too long)", true));
    talk.says(&answer(&asked[0]["request_id"], "at step 3", false));
    talk.says(&answer(&asked[0]["request_id"], "at step 3", false));
    let expected = [
        AgentEvent::SideFailed { id: "q2".to_owned(), why: "(API error: Prompt is too long)".to_owned() },
        AgentEvent::SideAnswered { id: "q1".to_owned(), text: "at step 3".to_owned() },
    ];
    assert_eq!(talk.events(), expected);
}
