use super::*;
use segue_machine::{Reading, Source};

/// A conversation that is open and works on a prompt.
struct Talk {
    acp: Acp,
    io: Io,
}

impl Talk {
    fn with(capabilities: &Value) -> Self {
        Self::opened(&json!({"protocolVersion": 1, "agentCapabilities": capabilities}))
    }

    fn opened(initialized: &Value) -> Self {
        let mut talk = Self { acp: Acp::new("/w", None), io: Io::default() };
        talk.acp.open(&mut talk.io);
        talk.says(&json!({"id": 1, "result": initialized}));
        talk.says(&json!({"id": 2, "result": {"sessionId": "c1"}}));
        talk.acp.act(Act::Prompt("do it".to_owned()), &mut talk.io);
        talk.io = Io::default();
        talk
    }

    fn superseding() -> Self {
        Self::with(&json!({"_meta": {"segue.dev/steer": "supersede"}}))
    }

    fn plain() -> Self {
        Self::with(&json!({}))
    }

    fn says(&mut self, message: &Value) {
        self.acp.line(message.to_string().as_bytes(), &mut self.io);
    }

    fn updates(&mut self, update: &Value) {
        self.says(&update_message(update));
    }

    fn asks(&mut self) {
        self.acp.act(Act::Ask("write it down".to_owned()), &mut self.io);
    }

    fn events(&mut self) -> Vec<AgentEvent> {
        crate::without_words(&mut self.io)
    }

    fn written(&mut self) -> Vec<String> {
        let bytes = std::mem::take(&mut self.io.write);
        let lines = String::from_utf8(bytes).unwrap();
        let method = |l: &str| {
            serde_json::from_str::<Value>(l).unwrap()["method"].as_str().unwrap_or("answer").to_owned()
        };
        lines.lines().map(method).collect()
    }
}

fn update_message(update: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "c1", "update": update}})
}

fn usage(used: &Value, size: &Value) -> Value {
    json!({"sessionUpdate": "usage_update", "used": used, "size": size})
}

fn tool(status: &str, text: &str) -> Value {
    let content = json!([{"type": "content", "content": {"type": "text", "text": text}}]);
    json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": status, "content": content})
}

#[test]
fn opening_asks_for_a_session_and_is_ready() {
    let (mut acp, mut io) = (Acp::new("/w", None), Io::default());
    acp.open(&mut io);
    acp.line(br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#, &mut io);
    acp.line(br#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"c9"}}"#, &mut io);
    assert!(matches!(&io.events[..], [AgentEvent::Ready { conversation, .. }] if conversation == "c9"));
}

#[test]
fn an_old_conversation_is_loaded_where_the_agent_can_and_its_history_is_no_news() {
    let (mut acp, mut io) = (Acp::new("/w", Some("old".to_owned())), Io::default());
    acp.open(&mut io);
    acp.line(br#"{"id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}"#, &mut io);
    let history = update_message(&tool("completed", "old result"));
    acp.line(history.to_string().as_bytes(), &mut io);
    acp.line(br#"{"id":2,"result":{}}"#, &mut io);
    assert!(matches!(&io.events[..], [AgentEvent::Ready { conversation, .. }] if conversation == "old"));
}

#[test]
fn a_conversation_that_cannot_be_loaded_is_opened_anew() {
    let (mut acp, mut io) = (Acp::new("/w", Some("old".to_owned())), Io::default());
    acp.open(&mut io);
    acp.line(br#"{"id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}"#, &mut io);
    acp.line(br#"{"id":2,"error":{"code":-32603,"message":"No previous sessions found"}}"#, &mut io);
    acp.line(br#"{"id":3,"result":{"sessionId":"new"}}"#, &mut io);
    assert!(matches!(&io.events[..], [AgentEvent::Ready { conversation, .. }] if conversation == "new"));
}

#[test]
fn m2_the_total_at_the_end_of_a_turn_is_no_reading() {
    let mut talk = Talk::plain();
    let total = json!({"totalTokens": 1_435_000, "inputTokens": 1_432_262, "outputTokens": 2_738});
    talk.says(&json!({"id": 3, "result": {"stopReason": "end_turn", "usage": total}}));
    assert_eq!(talk.events(), [AgentEvent::TurnEnded(TurnEnd::Finished { text: String::new() })]);
}

#[test]
fn m3_object_array_and_stream_spaced_and_compact_give_the_same_figure() {
    let message = update_message(&usage(&json!(91_000), &json!(200_000)));
    let compact = message.to_string();
    let spaced = compact.replace(':', " : ").replace(',', " , ");
    let expected = vec![AgentEvent::UsageRead(Reading::reported(91_000, Some(200_000)))];
    for line in [compact.clone(), spaced, format!("[{compact}]"), format!(" {compact} ")] {
        let mut talk = Talk::plain();
        talk.acp.line(line.as_bytes(), &mut talk.io);
        assert_eq!(talk.events(), expected, "{line}");
    }
    let mut talk = Talk::plain();
    talk.acp.line(format!("{compact}{compact}").as_bytes(), &mut talk.io);
    assert_eq!(talk.events().len(), 2);
}

#[test]
fn m4_a_window_that_is_none_is_unknown() {
    for size in [json!(0), json!(-5), json!("200k"), Value::Null] {
        let mut talk = Talk::plain();
        talk.updates(&usage(&json!(50_000), &size));
        let events = talk.events();
        let [AgentEvent::UsageRead(reading)] = &events[..] else { panic!("{size}: {events:?}") };
        assert_eq!((reading.fill(), reading.window, reading.source), (50_000, None, Source::Reported));
    }
    let mut talk = Talk::plain();
    talk.updates(&usage(&json!("many"), &json!(5)));
    assert_eq!(talk.events(), []);
}

#[test]
fn m8_a_tool_result_is_reported_with_its_size() {
    let mut talk = Talk::plain();
    talk.updates(&tool("completed", &"ä".repeat(300_000)));
    let events = talk.events();
    assert!(matches!(
        &events[..],
        [AgentEvent::ToolStarted { .. }, AgentEvent::ToolEnded { chars: 960_000, ok: true, .. }]
    ));
}

#[test]
fn m9_words_about_limits_in_text_and_tool_results_are_only_characters() {
    let mut talk = Talk::plain();
    let words = "prompt is too long: 213224 tokens > 200000 maximum; 429 rate limit";
    talk.updates(
        &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": words}}),
    );
    talk.updates(&tool("completed", words));
    talk.says(&json!({"id": 3, "result": {"stopReason": "end_turn"}}));
    let events = talk.events();
    assert!(
        events
            .iter()
            .all(|e| !matches!(e, AgentEvent::TurnEnded(TurnEnd::Overflow { .. } | TurnEnd::Failed { .. })))
    );
}

#[test]
fn an_error_answer_with_a_number_is_an_overflow() {
    let mut talk = Talk::plain();
    talk.says(
        &json!({"id": 3, "error": {"code": -32603, "message": "prompt is too long: 9 tokens > 8 maximum"}}),
    );
    assert!(matches!(&talk.events()[..], [AgentEvent::TurnEnded(TurnEnd::Overflow { .. })]));
}

#[test]
fn where_a_second_prompt_supersedes_it_is_sent_at_once_and_its_answer_is_the_checkpoint() {
    let mut talk = Talk::superseding();
    talk.asks();
    assert_eq!(talk.written(), ["session/prompt"]);
    talk.says(&json!({"id": 3, "result": {"stopReason": "cancelled"}}));
    talk.updates(
        &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "here"}}),
    );
    talk.says(&json!({"id": 4, "result": {"stopReason": "end_turn"}}));
    let events = talk.events();
    assert_eq!(events[0], AgentEvent::TurnEnded(TurnEnd::Cancelled));
    assert_eq!(events[2], AgentEvent::Answered { text: "here".to_owned() });
}

#[test]
fn t2_without_that_the_running_tool_ends_first_then_the_turn_is_cancelled_then_it_is_asked() {
    let mut talk = Talk::plain();
    talk.updates(
        &json!({"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "sleep", "status": "in_progress"}),
    );
    talk.asks();
    assert_eq!(talk.written(), [""; 0], "nothing is sent while the tool runs");
    talk.updates(&tool("completed", "ok"));
    assert_eq!(talk.written(), ["session/cancel"]);
    talk.says(&json!({"id": 3, "result": {"stopReason": "cancelled"}}));
    assert_eq!(talk.written(), ["session/prompt"]);
    talk.says(&json!({"id": 4, "result": {"stopReason": "end_turn"}}));
    assert!(matches!(talk.events().last(), Some(AgentEvent::Answered { .. })));
}

#[test]
fn t3_a_turn_that_finished_all_the_same_is_finished_and_nothing_more_is_asked() {
    let mut talk = Talk::plain();
    talk.asks();
    talk.written();
    talk.says(&json!({"id": 3, "result": {"stopReason": "end_turn"}}));
    assert_eq!(talk.written(), [""; 0]);
    assert!(matches!(&talk.events()[..], [AgentEvent::TurnEnded(TurnEnd::Finished { .. })]));
}

#[test]
fn a_permission_request_is_answered_with_an_option_that_the_agent_offers() {
    for (allow, expected) in [(true, "yes"), (false, "no")] {
        let mut talk = Talk::plain();
        let options = json!([
            {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"},
        ]);
        let call = json!({"toolCallId": "t1", "title": "rm -rf build", "kind": "execute"});
        let params = json!({"sessionId": "c1", "toolCall": call, "options": options});
        talk.says(&json!({"id": "p1", "method": "session/request_permission", "params": params}));
        let events = talk.events();
        let [AgentEvent::PermissionAsked { request, kind, title, subject }] = &events[..] else {
            panic!("{events:?}")
        };
        assert_eq!((kind.as_str(), title.as_str()), ("execute", "rm -rf build"));
        assert_eq!(subject.command.as_deref(), Some("rm -rf build"));
        talk.acp.act(Act::Permission { request: request.clone(), allow }, &mut talk.io);
        let answer: Value = serde_json::from_slice(&talk.io.write).unwrap();
        assert_eq!(
            (&answer["id"], &answer["result"]["outcome"]["optionId"]),
            (&json!("p1"), &json!(expected))
        );
    }
}

#[test]
fn e1_broken_lines_are_kept_as_unrecognised_and_the_rest_goes_on() {
    let mut talk = Talk::plain();
    for line in [
        &br#"{"jsonrpc":"2.0","method":"session/upd"#[..],
        b"\xff\xfe\x00",
        b"plain text",
        b"[]]",
        b"7",
        b"{}",
    ] {
        talk.acp.line(line, &mut talk.io);
    }
    talk.updates(&usage(&json!(5), &json!(10)));
    let events = talk.events();
    assert!(matches!(events.last(), Some(AgentEvent::UsageRead(_))));
    let known = |e: &AgentEvent| matches!(e, AgentEvent::Unrecognised { .. } | AgentEvent::UsageRead(_));
    assert!(events.iter().all(known), "{events:?}");
}

#[test]
fn what_segue_does_not_offer_is_refused_and_unknown_updates_are_passed_over() {
    let mut talk = Talk::plain();
    talk.says(&json!({"id": 7, "method": "fs/read_text_file", "params": {}}));
    assert!(String::from_utf8_lossy(&talk.io.write).contains("-32601"));
    talk.updates(&json!({"sessionUpdate": "something_new", "x": 1}));
    talk.says(&json!({"method": "_vendor/thing", "params": {}}));
    assert_eq!(talk.events(), []);
}

fn begins(tool: &str) -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": tool, "title": "sleep", "status": "in_progress"})
}

fn says_words(text: &str) -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
}

#[test]
fn t2_a_tool_that_a_cancel_leaves_running_is_waited_for_before_anything_is_asked() {
    let mut talk = Talk::plain();
    talk.asks();
    talk.updates(&begins("t1"));
    talk.says(&json!({"id": 3, "result": {"stopReason": "cancelled"}}));
    assert_eq!(talk.written(), ["session/cancel"], "it is not asked while the tool runs");
    let events = talk.events();
    let started = |e: &AgentEvent| matches!(e, AgentEvent::ToolStarted { tool, .. } if tool == "t1");
    assert_eq!(events.iter().filter(|e| started(e)).count(), 2, "it runs on after the turn: {events:?}");
    assert!(started(events.last().unwrap()));
    talk.updates(&tool("completed", "ok"));
    assert_eq!(talk.written(), ["session/prompt"]);
    assert!(matches!(&talk.events()[..], [AgentEvent::ToolEnded { ok: true, .. }]));
    talk.says(&json!({"id": 4, "result": {"stopReason": "end_turn"}}));
    assert!(matches!(&talk.events()[..], [AgentEvent::Answered { .. }]));
}

#[test]
fn a_second_prompt_that_is_never_answered_is_answered_by_the_text_of_the_first() {
    let mut talk = Talk::superseding();
    talk.asks();
    talk.updates(&says_words("A warning of mine. <checkpoint>\ndone: 1\n</checkpoint>"));
    talk.says(&json!({"id": 3, "result": {"stopReason": "end_turn"}}));
    let events = talk.events();
    assert_eq!(events[1], AgentEvent::TurnEnded(TurnEnd::Cancelled), "the work was cut short, not finished");
    let text = "<checkpoint>\ndone: 1\n</checkpoint>".to_owned();
    assert_eq!(events[2..], [AgentEvent::Answered { text }]);
    talk.says(&json!({"id": 4, "result": {"stopReason": "end_turn"}}));
    assert_eq!(talk.events(), [], "an answer that comes all the same is no news");
}

#[test]
fn t2_an_agent_that_tells_of_its_tools_late_is_not_cancelled_where_a_second_prompt_is_known_to_join() {
    let info = json!({"name": "codex-acp", "version": "0.16.0"});
    let mut talk = Talk::opened(&json!({"protocolVersion": 1, "agentInfo": info}));
    talk.asks();
    assert_eq!(talk.written(), ["session/prompt"]);
    talk.updates(&begins("t1"));
    talk.updates(&tool("completed", "ok"));
    assert_eq!(talk.written(), [""; 0]);
}

#[test]
fn t3_a_second_prompt_that_came_too_late_for_the_turn_does_not_hide_that_it_finished() {
    let mut talk = Talk::superseding();
    talk.asks();
    talk.updates(&says_words("All is done."));
    talk.says(&json!({"id": 3, "result": {"stopReason": "end_turn"}}));
    assert!(matches!(talk.events().last(), Some(AgentEvent::TurnEnded(TurnEnd::Finished { .. }))));
}

#[test]
fn where_a_second_prompt_would_be_queued_the_turn_is_cancelled_first() {
    let mut talk = Talk::with(&json!({"_meta": {"claudeCode": {"promptQueueing": true}}}));
    talk.asks();
    assert_eq!(talk.written(), ["session/cancel"]);
}

#[test]
fn the_usage_of_a_call_beside_its_last_words_is_a_reading_and_a_sub_agents_only_costs() {
    let mut talk = Talk::plain();
    let usage =
        json!({"inputTokens": 20_718, "outputTokens": 58, "totalTokens": 20_776, "cachedReadTokens": 19_584});
    let words = |meta: Value| {
        let mut update = says_words("");
        update["_meta"] = meta;
        update
    };
    talk.updates(&words(json!({"usage": usage.clone()})));
    talk.updates(&words(json!({"usage": usage, "parentToolCallId": "t9"})));
    talk.updates(&words(json!({"usage": {"inputTokens": 0, "outputTokens": 0}})));
    let events = talk.events();
    let [AgentEvent::UsageRead(reading), AgentEvent::UsageRead(side)] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((reading.fill(), reading.prompt(), reading.source), (20_776, Some(20_718), Source::Exact));
    assert_eq!((side.scope, side.fill()), (segue_machine::Scope::Side, 20_776));
}

#[test]
fn m8_a_raw_result_with_several_copies_of_a_text_counts_once() {
    let mut talk = Talk::plain();
    let text = "x".repeat(500);
    let raw =
        json!({"stdout": text, "aggregated_output": text, "formatted_output": format!("{text}y"), "code": 0});
    talk.updates(
        &json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed", "rawOutput": raw}),
    );
    assert!(matches!(talk.events().last(), Some(AgentEvent::ToolEnded { chars: 773, .. })));
}

#[test]
fn an_error_in_answer_to_a_cancel_is_its_end_unless_it_says_that_something_else_failed() {
    let error = |details: &str| json!({"id": 3, "error": {"code": -32603, "message": "Internal error", "data": {"details": details}}});
    let mut talk = Talk::plain();
    talk.asks();
    talk.says(&error("Request was aborted."));
    assert_eq!(talk.events(), [AgentEvent::TurnEnded(TurnEnd::Cancelled)]);
    assert_eq!(talk.written(), ["session/cancel", "session/prompt"]);

    let mut talk = Talk::plain();
    talk.asks();
    talk.says(&error("prompt is too long: 213224 tokens > 200000 maximum"));
    assert!(matches!(talk.events()[0], AgentEvent::TurnEnded(TurnEnd::Overflow { .. })));
    assert_eq!(talk.written(), ["session/cancel"]);

    let mut talk = Talk::plain();
    talk.says(&error("Request was aborted."));
    assert!(matches!(talk.events()[0], AgentEvent::TurnEnded(TurnEnd::Failed { .. })));
}

#[test]
fn t2_a_call_that_is_over_is_cancelled_only_after_its_tools() {
    let mut talk = Talk::plain();
    let mut words = says_words("");
    words["_meta"] = json!({"usage": {"inputTokens": 20_000, "outputTokens": 9}});
    talk.updates(&words);
    talk.asks();
    assert_eq!(talk.written(), [""; 0], "its tool is about to start");
    talk.updates(&json!({"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "step 5", "status": "in_progress"}));
    assert_eq!(talk.written(), [""; 0]);
    talk.updates(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed"}));
    assert_eq!(talk.written(), ["session/cancel"], "the next call is under way");
}

#[test]
fn t2_an_answer_that_is_coming_in_is_not_cancelled_for_it_may_start_a_tool() {
    let mut talk = Talk::plain();
    talk.updates(&says_words("Step 5 is next."));
    talk.asks();
    assert_eq!(talk.written(), [""; 0], "its tool may be about to start");
    talk.updates(&json!({"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "step 5", "status": "in_progress"}));
    talk.updates(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed"}));
    assert_eq!(talk.written(), ["session/cancel"], "the next call is under way");
}
