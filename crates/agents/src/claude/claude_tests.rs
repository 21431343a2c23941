use super::*;
use segue_machine::{AgentFailure, Reading, Retry, Scope, TurnEnd};

/// A conversation that works on a prompt.
struct Talk {
    claude: Claude,
    io: Io,
}

fn options() -> Options {
    Options {
        conversation: "0a1b2c3d-0000-4000-8000-123456789abc".to_owned(),
        resume: None,
        model: Some("m1".to_owned()),
        permission: Permission::Ask,
        no_compaction: true,
        brake: None,
        archive: None,
    }
}

impl Talk {
    fn new() -> Self {
        let mut talk = Self { claude: Claude::new(options()), io: Io::default() };
        talk.claude.open(&mut talk.io);
        talk.says(&answer(&json!({ "maxTokens": 200_000, "isAutoCompactEnabled": false })));
        talk.claude.act(Act::Prompt("do it".to_owned()), &mut talk.io);
        talk.io = Io::default();
        talk
    }

    fn says(&mut self, line: &Value) {
        self.claude.line(line.to_string().as_bytes(), &mut self.io);
    }

    fn asks(&mut self) {
        self.claude.act(Act::Ask("write it down".to_owned()), &mut self.io);
    }

    fn events(&mut self) -> Vec<AgentEvent> {
        crate::without_words(&mut self.io)
    }

    fn readings(&mut self) -> Vec<Reading> {
        let reading = |e| if let AgentEvent::UsageRead(r) = e { Some(r) } else { None };
        self.events().into_iter().filter_map(reading).collect()
    }

    fn written(&mut self) -> Vec<Value> {
        let bytes = std::mem::take(&mut self.io.write);
        String::from_utf8(bytes).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
    }
}

fn answer(response: &Value) -> Value {
    json!({ "type": "control_response", "response": { "subtype": "success", "response": response } })
}

fn usage(input: u64, read: u64, write: u64, output: u64) -> Value {
    json!({ "input_tokens": input, "cache_read_input_tokens": read, "cache_creation_input_tokens": write,
            "output_tokens": output })
}

fn stream(event: &Value) -> Value {
    json!({ "type": "stream_event", "event": event, "parent_tool_use_id": null })
}

fn start(id: &str, usage: &Value) -> Value {
    stream(&json!({ "type": "message_start", "message": { "id": id, "usage": usage } }))
}

fn delta(reason: &str, output: u64) -> Value {
    stream(
        &json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": output } }),
    )
}

fn assistant(id: &str, block: &Value, usage: &Value) -> Value {
    json!({ "type": "assistant", "parent_tool_use_id": null,
            "message": { "id": id, "model": "m1", "content": [block], "usage": usage } })
}

fn bash(tool: &str) -> Value {
    json!({ "type": "tool_use", "id": tool, "name": "Bash", "input": { "command": "make" } })
}

fn text(words: &str) -> Value {
    json!({ "type": "text", "text": words })
}

fn tool_result(tool: &str) -> Value {
    let block = json!({ "type": "tool_result", "tool_use_id": tool, "content": "four", "is_error": false });
    json!({ "type": "user", "parent_tool_use_id": null, "message": { "role": "user", "content": [block] } })
}

fn result(reason: &str, words: &str) -> Value {
    json!({ "type": "result", "subtype": "success", "is_error": false, "terminal_reason": reason,
            "result": words })
}

fn call(id: &str, input: u64, read: u64, write: u64, output: u64) -> Reading {
    Reading { call: Some(id.to_owned()), ..Reading::exact(input, read, write, output) }
}

#[path = "turn_tests.rs"]
mod turns;

#[test]
fn the_window_is_what_the_agent_says_and_the_ceiling_where_it_blocks() {
    let ready = |answered: &Value| {
        let (mut claude, mut io) = (Claude::new(options()), Io::default());
        claude.open(&mut io);
        claude.line(answer(answered).to_string().as_bytes(), &mut io);
        match io.events.pop() {
            Some(AgentEvent::Ready { window, ceiling, .. }) => (window, ceiling),
            other => panic!("{other:?}"),
        }
    };
    let off = json!({ "maxTokens": 200_000, "autoCompactThreshold": 167_000, "isAutoCompactEnabled": false });
    assert_eq!(ready(&off), (Some(200_000), Some(177_000)));
    let on = json!({ "maxTokens": 200_000, "autoCompactThreshold": 167_000, "isAutoCompactEnabled": true });
    assert_eq!(ready(&on), (Some(200_000), Some(167_000)));
    let guess = json!({ "maxTokens": 1_000_000, "autoCompactThreshold": 967_000, "isAutoCompactEnabled": true,
                        "autocompactSource": "unknown-model" });
    assert_eq!(ready(&guess), (None, None));
    let silent = json!({ "maxTokens": 1_000_000, "autocompactSource": "auto", "model": "mine" });
    assert_eq!(ready(&silent), (None, None));
    for model in ["claude-opus-5-5", "mine[1m]"] {
        let known = json!({ "maxTokens": 1_000_000, "autocompactSource": "auto", "model": model });
        assert_eq!(ready(&known), (Some(1_000_000), Some(977_000)), "{model}");
    }
    for odd in [json!(0), json!(-5), json!("many"), Value::Null] {
        assert_eq!(ready(&json!({ "maxTokens": odd })), (None, None), "m4 {odd}");
    }
}

#[test]
fn an_agent_that_cannot_tell_its_window_is_ready_all_the_same() {
    let (mut claude, mut io) = (Claude::new(options()), Io::default());
    claude.line(br#"{"type":"control_response","response":{"subtype":"error","error":"no"}}"#, &mut io);
    assert!(matches!(&io.events[..], [AgentEvent::Ready { window: None, .. }]));
}

#[test]
fn m1_the_prompt_side_comes_as_the_stream_begins_and_the_answer_as_it_ends() {
    let mut talk = Talk::new();
    talk.says(&start("a", &usage(2, 12_000, 185_000, 1)));
    assert_eq!(talk.events(), []);
    talk.says(&delta("end_turn", 72));
    assert_eq!(talk.readings(), [call("a", 2, 12_000, 185_000, 72)]);
}

#[test]
fn a_prompt_side_that_is_corrected_at_the_end_is_taken_from_there() {
    let mut talk = Talk::new();
    talk.says(&start("a", &usage(0, 0, 0, 1)));
    talk.says(&stream(&json!({ "type": "message_delta", "usage": usage(3, 40, 500, 9) })));
    assert_eq!(talk.readings(), [call("a", 3, 40, 500, 9)]);
}

#[test]
fn m2_usage_that_is_repeated_for_each_block_counts_once() {
    let mut talk = Talk::new();
    talk.says(&start("a", &usage(3, 0, 21_000, 1)));
    for block in [text("one"), bash("t1"), bash("t2")] {
        talk.says(&assistant("a", &block, &usage(3, 0, 21_000, 1)));
    }
    talk.says(&delta("tool_use", 72));
    talk.says(&assistant("a", &text("late"), &usage(3, 0, 21_000, 1)));
    assert_eq!(talk.readings(), [call("a", 3, 0, 21_000, 72)]);
}

#[test]
fn m2_totals_of_a_result_are_never_read() {
    let mut talk = Talk::new();
    let mut line = result("completed", "done");
    line["usage"] = usage(314, 1_432_262, 9_000, 2_738);
    line["modelUsage"] = json!({ "m1": { "cacheReadInputTokens": 1_432_262, "contextWindow": 1_000_000 } });
    line["total_cost_usd"] = json!(0.25);
    talk.says(&line);
    let cost = Reading { scope: Scope::Side, session_cost_musd: Some(250_000), ..Reading::exact(0, 0, 0, 0) };
    assert_eq!(talk.readings(), [cost]);
}

#[test]
fn without_a_stream_of_parts_the_message_itself_is_read_once() {
    let mut talk = Talk::new();
    talk.says(&assistant("a", &text("one"), &usage(3, 100, 20, 1)));
    talk.says(&assistant("a", &bash("t1"), &usage(3, 100, 20, 1)));
    talk.says(&assistant("b", &text("two"), &usage(3, 200, 20, 1)));
    assert_eq!(talk.readings(), [call("a", 3, 100, 20, 1), call("b", 3, 200, 20, 1)]);
}

#[test]
fn m3_object_array_and_stream_spaced_and_compact_give_the_same_figure() {
    let compact = assistant("a", &text("x"), &usage(2, 30, 4, 1)).to_string();
    let spaced = compact.replace(':', " : ").replace(',', " , ");
    for line in [compact.clone(), spaced, format!("[{compact}]"), format!("{compact} {compact}")] {
        let mut talk = Talk::new();
        talk.claude.line(line.as_bytes(), &mut talk.io);
        assert_eq!(talk.readings(), [call("a", 2, 30, 4, 1)], "{line}");
    }
}

#[test]
fn m6_sub_agents_do_not_move_it() {
    let mut talk = Talk::new();
    let mut side = assistant("s", &bash("t9"), &usage(3, 0, 7_666, 1));
    side["parent_tool_use_id"] = json!("t1");
    talk.says(&side);
    talk.says(&side);
    let mut done = tool_result("t9");
    done["parent_tool_use_id"] = json!("t1");
    talk.says(&done);
    let reading = Reading { scope: Scope::Side, ..call("s", 3, 0, 7_666, 1) };
    assert_eq!(talk.events(), [AgentEvent::UsageRead(reading)]);
}

#[test]
fn m6_a_synthetic_message_is_passed_over() {
    let mut talk = Talk::new();
    let mut line = assistant("x", &text("Prompt is too long"), &usage(0, 0, 0, 0));
    line["message"]["model"] = json!("<synthetic>");
    talk.says(&line);
    assert_eq!(talk.events(), []);
}

#[test]
fn m6_a_compaction_is_told() {
    let mut talk = Talk::new();
    talk.says(&json!({ "type": "system", "subtype": "status", "status": "compacting" }));
    talk.says(&json!({ "type": "system", "subtype": "compact_boundary", "compact_metadata": { "trigger": "auto" } }));
    assert_eq!(talk.events(), [AgentEvent::Compacted]);
}

#[test]
fn m8_a_tool_is_told_as_it_starts_and_with_its_size_as_it_ends() {
    let mut talk = Talk::new();
    talk.says(&start("a", &usage(3, 0, 0, 1)));
    talk.says(&assistant("a", &bash("t1"), &usage(3, 0, 0, 1)));
    talk.says(&tool_result("t1"));
    let (tool, title) = ("t1".to_owned(), "make".to_owned());
    let ended = AgentEvent::ToolEnded { tool: tool.clone(), title: title.clone(), ok: true, chars: 3 };
    let chars = segue_machine::gauge::weigh(r#"{"command":"make"}"#);
    assert_eq!(
        talk.events(),
        [AgentEvent::TextSaid { chars }, AgentEvent::ToolStarted { tool, title }, ended]
    );
}

#[test]
fn a_background_task_is_a_tool_until_its_notification() {
    let mut talk = Talk::new();
    talk.says(
        &json!({ "type": "system", "subtype": "task_started", "task_id": "b", "is_backgrounded": false }),
    );
    assert_eq!(talk.events(), []);
    talk.says(&json!({ "type": "system", "subtype": "task_started", "task_id": "b", "is_backgrounded": true,
                       "description": "serve" }));
    assert!(
        matches!(&talk.events()[..], [AgentEvent::ToolStarted { tool, title }] if tool == "b" && title == "serve")
    );
    let over = json!({ "type": "system", "subtype": "task_notification", "task_id": "b" });
    talk.says(&over);
    talk.says(&over);
    assert!(matches!(&talk.events()[..], [AgentEvent::ToolEnded { tool, .. }] if tool == "b"));
}

#[test]
fn closing_interrupts_a_turn_that_runs_and_no_other() {
    let mut talk = Talk::new();
    talk.claude.act(Act::Close, &mut talk.io);
    assert!(talk.io.close);
    assert_eq!(talk.written()[0]["request"]["subtype"], "interrupt");
    let mut talk = Talk::new();
    talk.says(&result("completed", "done"));
    talk.written();
    talk.claude.act(Act::Close, &mut talk.io);
    assert!(talk.io.close);
    assert_eq!(talk.written(), [] as [Value; 0]);
}

#[test]
fn the_agents_own_account_is_set_beside_the_last_reading() {
    let mut talk = Talk::new();
    talk.says(&start("a", &usage(3, 100, 20, 1)));
    talk.says(&delta("end_turn", 7));
    talk.says(&result("completed", "done"));
    talk.events();
    talk.says(&answer(&json!({ "maxTokens": 200_000, "apiUsage": usage(3, 100, 20, 9) })));
    assert_eq!(talk.events(), [AgentEvent::CrossChecked { reading: 130, agent: 132 }]);
}

#[test]
fn e1_bad_lines_are_told_and_end_nothing() {
    let mut talk = Talk::new();
    for line in [&b"\xff\xfe"[..], b"plain words", b"{\"type\":\"assi", b"17", b"null", b"\"text\""] {
        talk.claude.line(line, &mut talk.io);
        assert!(matches!(&talk.events()[..], [AgentEvent::Unrecognised { .. }]), "{line:?}");
    }
    for line in [
        json!({}),
        json!([]),
        json!({ "type": 5 }),
        json!({ "type": "user", "message": 3 }),
        json!({ "type": "assistant" }),
        json!({ "type": "stream_event", "event": [] }),
    ] {
        talk.says(&line);
        assert!(talk.events().iter().all(|e| !matches!(e, AgentEvent::TurnEnded(_))), "{line}");
    }
}

#[test]
fn the_flags_say_only_what_this_run_needs() {
    let args = |options: Options| Claude::new(options).extras().args.join(" ");
    let asked = args(options());
    assert!(asked.contains("--session-id 0a1b2c3d") && asked.contains("--permission-prompt-tool stdio"));
    assert!(asked.contains(r#"{"autoCompactEnabled":false}"#));
    let bypass = args(Options {
        resume: Some("77777777-0000-4000-8000-123456789abc".to_owned()),
        permission: Permission::Bypass,
        brake: Some("segue hook".to_owned()),
        ..options()
    });
    assert!(bypass.contains("--resume 77777777") && bypass.contains("--dangerously-skip-permissions"));
    assert!(bypass.contains("PostToolUse") && bypass.contains(r#""autoCompactEnabled":false"#));
    let compacts = args(Options { no_compaction: false, ..options() });
    assert!(!compacts.contains("--settings"));
}

#[test]
fn the_agents_own_list_is_counted_as_it_is_written() {
    let mut talk = Talk::new();
    let todos =
        json!([{ "content": "a", "status": "completed" }, { "content": "b", "status": "in_progress" }]);
    let block = json!({ "type": "tool_use", "id": "t9", "name": "TodoWrite", "input": { "todos": todos } });
    talk.says(&assistant("m9", &block, &usage(1, 0, 0, 1)));
    let seen =
        |e: &AgentEvent| matches!(e, AgentEvent::ItemsSeen { open: 1, closed: 1, items } if items.len() == 2);
    assert!(talk.events().iter().any(seen));
}

#[test]
fn a_subscriptions_limits_are_told_with_their_reset_times() {
    let mut talk = Talk::new();
    let window = json!({ "five_hour": { "utilization": 0.91, "resetsAt": 1_794_800_000 } });
    talk.says(&json!({ "type": "rate_limit_event", "rate_limit_info": { "unifiedWindows": window } }));
    let (name, resets_at) = ("five hour".to_owned(), Some(1_794_800_000_000));
    assert_eq!(talk.events(), [AgentEvent::AllowanceSeen { name, used_percent: 91, resets_at }]);
}

#[test]
fn k9_messages_to_a_resumed_conversation_have_ids_that_it_does_not_know() {
    let conversation = "99999999-0000-4000-8000-123456789abc".to_owned();
    let mut claude = Claude::new(Options { resume: Some(options().conversation), conversation, ..options() });
    let mut io = Io::default();
    claude.open(&mut io);
    claude.act(Act::Prompt("continue".to_owned()), &mut io);
    let written = String::from_utf8(io.write).unwrap();
    assert!(written.contains("99999999-") && !written.contains("0a1b2c3d-"), "{written}");
}
