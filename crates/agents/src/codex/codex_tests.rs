use super::*;
use segue_machine::{Reading, Retry, Scope};

/// A thread that works on a prompt.
struct Talk {
    codex: Codex,
    io: Io,
}

fn options() -> Options {
    Options {
        cwd: "/w".to_owned(),
        resume: None,
        model: None,
        bypass: false,
        edit: false,
        compaction_guard: None,
    }
}

impl Talk {
    /// The thread is open; nothing was asked of it.
    fn idle() -> Self {
        let mut talk = Self { codex: Codex::new(options()), io: Io::default() };
        talk.codex.open(&mut talk.io);
        talk.says(&json!({ "id": 1, "result": {} }));
        talk.says(&json!({ "id": 2, "result": { "thread": { "id": "th" }, "model": "m1" } }));
        talk.io = Io::default();
        talk
    }

    fn new() -> Self {
        let mut talk = Self::idle();
        talk.codex.act(Act::Prompt("do it".to_owned()), &mut talk.io);
        talk.says(&json!({ "id": 3, "result": { "turn": { "id": "tu" } } }));
        talk.io = Io::default();
        talk
    }

    fn says(&mut self, message: &Value) {
        self.codex.line(message.to_string().as_bytes(), &mut self.io);
    }

    fn tells(&mut self, method: &str, params: &Value) {
        let mut params = params.clone();
        params["threadId"] = json!("th");
        self.says(&json!({ "method": method, "params": params }));
    }

    fn ends(&mut self, status: &str, error: &Value) {
        self.tells("turn/completed", &json!({ "turn": { "id": "tu", "status": status, "error": error } }));
    }

    fn speaks(&mut self, text: &str) {
        self.tells("item/completed", &json!({ "item": { "type": "agentMessage", "text": text } }));
    }

    fn asks(&mut self) {
        self.codex.act(Act::Ask("write it down".to_owned()), &mut self.io);
    }

    fn events(&mut self) -> Vec<AgentEvent> {
        crate::without_words(&mut self.io)
    }

    fn last(&mut self) -> Option<AgentEvent> {
        self.events().pop()
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

fn usage(input: u64, cached: u64, output: u64) -> Value {
    json!({ "inputTokens": input, "cachedInputTokens": cached, "outputTokens": output,
            "totalTokens": input + output })
}

fn raw(id: &str, usage: &Value) -> Value {
    json!({ "responseId": id, "usage": usage })
}

fn updated(last: &Value, window: &Value) -> Value {
    let total = usage(1_432_262, 1_400_000, 9_000);
    json!({ "tokenUsage": { "last": last, "total": total, "modelContextWindow": window } })
}

fn command(status: &str, exit: Option<i64>) -> Value {
    json!({ "item": { "type": "commandExecution", "id": "c1", "command": "make", "status": status,
                      "aggregatedOutput": "x".repeat(9_000), "exitCode": exit } })
}

fn function_call() -> Value {
    json!({ "item": { "type": "function_call", "name": "exec_command", "call_id": "c1",
                      "arguments": "{\"cmd\":\"make\"}" } })
}

fn output(text: &str) -> Value {
    json!({ "item": { "type": "function_call_output", "call_id": "c1", "output": text } })
}

fn finished(text: &str) -> AgentEvent {
    AgentEvent::TurnEnded(TurnEnd::Finished { text: text.to_owned() })
}

#[test]
fn opening_starts_a_thread_and_is_ready() {
    let (mut codex, mut io) = (Codex::new(options()), Io::default());
    codex.open(&mut io);
    codex.line(br#"{"id":1,"result":{}}"#, &mut io);
    codex.line(br#"{"id":2,"result":{"thread":{"id":"t9"},"model":"m"}}"#, &mut io);
    assert!(
        matches!(&io.events[..], [AgentEvent::Ready { conversation, window: None, .. }] if conversation == "t9")
    );
}

#[test]
fn an_old_thread_is_taken_up_again() {
    let options = Options { resume: Some("old".to_owned()), ..options() };
    let mut talk = Talk { codex: Codex::new(options), io: Io::default() };
    talk.codex.open(&mut talk.io);
    talk.says(&json!({ "id": 1, "result": {} }));
    let written = talk.written();
    let opening = written.last().unwrap();
    assert_eq!(
        (&opening["method"], &opening["params"]["threadId"]),
        (&json!("thread/resume"), &json!("old"))
    );
}

#[test]
fn the_guard_is_trusted_for_this_thread_by_the_hash_that_codex_gives_it_and_no_other_hook_is() {
    let guarded = Options { compaction_guard: Some("segue hook".to_owned()), ..options() };
    let mut talk = Talk { codex: Codex::new(guarded), io: Io::default() };
    talk.codex.open(&mut talk.io);
    talk.says(&json!({ "id": 1, "result": {} }));
    let hooks = json!([{ "source": "sessionFlags", "command": "segue hook", "key": "ours", "currentHash": "h1" },
                       { "source": "user", "command": "segue hook", "key": "theirs", "currentHash": "h2" }]);
    talk.says(&json!({ "id": 2, "result": { "data": [{ "hooks": hooks }] } }));
    let written = talk.written();
    let state = &written.last().unwrap()["params"]["config"]["hooks.state"];
    assert_eq!(state, &json!({ "ours": { "trusted_hash": "h1" } }));
}

#[test]
fn a_thread_that_cannot_be_opened_is_a_refusal() {
    let (mut codex, mut io) = (Codex::new(options()), Io::default());
    codex.open(&mut io);
    codex.line(br#"{"id":1,"error":{"code":-1,"message":"not logged in"}}"#, &mut io);
    assert_eq!(io.events, [refused("not logged in")]);
}

#[test]
fn m1_each_response_is_read_with_its_own_usage() {
    let mut talk = Talk::new();
    talk.tells("rawResponse/completed", &raw("r1", &usage(9_385, 9_216, 36)));
    let expected = Reading { call: Some("r1".to_owned()), ..Reading::exact(169, 9_216, 0, 36) };
    assert_eq!(talk.readings(), [expected]);
}

#[test]
fn after_a_raw_reading_the_later_one_brings_only_the_window() {
    let mut talk = Talk::new();
    talk.tells("rawResponse/completed", &raw("r1", &usage(9_385, 0, 36)));
    talk.events();
    talk.tells("thread/tokenUsage/updated", &updated(&usage(7_777, 0, 1), &json!(38_000)));
    let expected = Reading { window: Some(40_000), ceiling: Some(36_000), ..Reading::reported(0, None) };
    assert_eq!(talk.readings(), [expected]);
}

#[test]
fn m2_without_raw_readings_the_last_call_is_read_and_the_threads_total_is_not() {
    let mut talk = Talk::new();
    talk.tells("thread/tokenUsage/updated", &updated(&usage(9_385, 9_216, 36), &json!(38_000)));
    let expected =
        Reading { window: Some(40_000), ceiling: Some(36_000), ..Reading::exact(169, 9_216, 0, 36) };
    assert_eq!(talk.readings(), [expected]);
}

#[test]
fn m4_a_window_that_is_none_is_unknown() {
    for odd in [json!(0), json!(-1), json!("large"), Value::Null] {
        let mut talk = Talk::new();
        talk.tells("thread/tokenUsage/updated", &updated(&usage(100, 0, 1), &odd));
        assert_eq!(talk.readings(), [Reading::exact(100, 0, 0, 1)], "{odd}");
    }
}

#[test]
fn a_reading_without_a_prompt_side_is_an_estimate_and_is_passed_over() {
    let mut talk = Talk::new();
    talk.tells("thread/tokenUsage/updated", &updated(&usage(0, 0, 6_016), &json!(38_000)));
    talk.tells("rawResponse/completed", &raw("r1", &usage(0, 0, 237_154)));
    assert_eq!(talk.readings(), []);
}

#[test]
fn m6_what_another_thread_does_is_passed_over() {
    let mut talk = Talk::new();
    for (method, mut params) in [
        ("rawResponse/completed", raw("r1", &usage(50_000, 0, 9))),
        ("thread/tokenUsage/updated", updated(&usage(50_000, 0, 9), &json!(38_000))),
        ("item/started", command("inProgress", None)),
        ("turn/completed", json!({ "turn": { "id": "tu", "status": "completed" } })),
    ] {
        params["threadId"] = json!("a sub-agent's");
        talk.says(&json!({ "method": method, "params": params }));
    }
    assert_eq!(talk.events(), []);
}

#[test]
fn m6_a_compaction_is_told_and_its_own_call_does_not_move_the_gauge() {
    let mut talk = Talk::new();
    let item = json!({ "item": { "type": "contextCompaction", "id": "k" } });
    talk.tells("item/started", &item);
    talk.tells("rawResponse/completed", &raw("summary", &usage(7_511, 0, 95)));
    talk.tells("item/completed", &item);
    talk.tells("rawResponse/completed", &raw("next", &usage(9_389, 0, 64)));
    let side =
        Reading { scope: Scope::Side, call: Some("summary".to_owned()), ..Reading::exact(7_511, 0, 0, 95) };
    let main = Reading { call: Some("next".to_owned()), ..Reading::exact(9_389, 0, 0, 64) };
    assert_eq!(
        talk.events(),
        [AgentEvent::UsageRead(side), AgentEvent::Compacted, AgentEvent::UsageRead(main)]
    );
}

#[test]
fn m8_a_tool_is_known_from_the_moment_it_is_called_and_ends_with_what_the_model_is_sent() {
    let mut talk = Talk::new();
    talk.tells("rawResponseItem/completed", &function_call());
    let started = AgentEvent::ToolStarted { tool: "c1".to_owned(), title: "make".to_owned() };
    assert_eq!(talk.events(), [started]);
    talk.tells("rawResponse/completed", &raw("r1", &usage(100, 0, 9)));
    talk.events();
    talk.tells("item/started", &command("inProgress", None));
    talk.tells("item/completed", &command("completed", Some(2)));
    assert_eq!(talk.events(), []);
    talk.tells("rawResponseItem/completed", &output("cut"));
    let ended =
        AgentEvent::ToolEnded { tool: "c1".to_owned(), title: "make".to_owned(), ok: false, chars: 3 };
    assert_eq!(talk.events(), [ended]);
}

#[test]
fn a_call_that_never_becomes_an_item_ends_with_its_output() {
    let mut talk = Talk::new();
    talk.tells("rawResponseItem/completed", &function_call());
    talk.events();
    talk.tells("rawResponseItem/completed", &output("Plan updated"));
    assert!(matches!(&talk.events()[..], [AgentEvent::ToolEnded { tool, chars: 7, .. }] if tool == "c1"));
}

#[test]
fn a_command_that_goes_on_in_the_background_is_a_tool_until_its_item_ends() {
    let mut talk = Talk::new();
    talk.tells("rawResponseItem/completed", &function_call());
    talk.tells("rawResponse/completed", &raw("r1", &usage(100, 0, 9)));
    talk.tells("item/started", &command("inProgress", None));
    talk.tells("rawResponseItem/completed", &output("still running"));
    let over = |e: &AgentEvent| matches!(e, AgentEvent::ToolEnded { .. });
    assert!(!talk.events().iter().any(over));
    talk.tells("item/completed", &command("completed", Some(0)));
    talk.tells("thread/tokenUsage/updated", &updated(&usage(100, 0, 9), &Value::Null));
    assert!(talk.events().iter().any(over));
}

#[test]
fn without_raw_items_a_tool_ends_with_what_it_printed() {
    let mut talk = Talk::new();
    talk.tells("item/started", &command("inProgress", None));
    talk.tells("item/completed", &command("completed", Some(0)));
    let ended =
        AgentEvent::ToolEnded { tool: "c1".to_owned(), title: "make".to_owned(), ok: true, chars: 14_032 };
    assert_eq!(talk.last(), Some(ended));
}

#[test]
fn a_steer_that_is_taken_is_answered_by_the_end_of_the_turn() {
    let mut talk = Talk::new();
    talk.speaks("Next is number 3.");
    talk.asks();
    let steer = &talk.written()[0];
    assert_eq!((&steer["method"], &steer["params"]["expectedTurnId"]), (&json!("turn/steer"), &json!("tu")));
    talk.says(&json!({ "id": 4, "result": { "turnId": "tu" } }));
    talk.speaks("<checkpoint>");
    talk.ends("completed", &Value::Null);
    assert_eq!(talk.last(), Some(AgentEvent::Answered { text: "<checkpoint>".to_owned() }));
}

#[test]
fn t3_a_turn_that_is_over_before_the_steer_is_taken_is_finished() {
    let mut talk = Talk::new();
    talk.asks();
    talk.speaks("done");
    talk.ends("completed", &Value::Null);
    assert_eq!(talk.last(), Some(finished("done")));
    talk.says(&json!({ "id": 4, "error": { "code": -1, "message": "no active turn" } }));
    assert_eq!(talk.events(), []);
}

#[test]
fn t3_a_steer_that_is_refused_leaves_the_turn_as_it_is() {
    let mut talk = Talk::new();
    talk.asks();
    talk.says(&json!({ "id": 4, "error": { "code": -1, "message": "no active turn" } }));
    talk.speaks("done");
    talk.ends("completed", &Value::Null);
    assert_eq!(talk.last(), Some(finished("done")));
}

#[test]
fn a_request_before_the_turn_has_its_name_waits_for_it() {
    let mut talk = Talk::idle();
    talk.codex.act(Act::Prompt("do it".to_owned()), &mut talk.io);
    talk.written();
    talk.asks();
    assert_eq!(talk.written(), [] as [Value; 0]);
    talk.tells("turn/started", &json!({ "turn": { "id": "tu" } }));
    assert_eq!(talk.written()[0]["method"], "turn/steer");
}

#[test]
fn a_request_between_turns_is_a_turn_of_its_own() {
    let mut talk = Talk::idle();
    talk.asks();
    assert_eq!(talk.written()[0]["method"], "turn/start");
    talk.speaks("<checkpoint>");
    talk.ends("completed", &Value::Null);
    assert_eq!(talk.last(), Some(AgentEvent::Answered { text: "<checkpoint>".to_owned() }));
}

#[test]
fn a_steered_turn_that_fails_is_not_answered_and_one_that_does_not_fit_is_an_overflow() {
    let error = |info: &str| json!({ "message": "no", "codexErrorInfo": info });
    for (status, error, overflow) in [
        ("failed", error("serverOverloaded"), false),
        ("interrupted", Value::Null, false),
        ("failed", error("contextWindowExceeded"), true),
    ] {
        let mut talk = Talk::new();
        talk.asks();
        talk.says(&json!({ "id": 4, "result": {} }));
        talk.ends(status, &error);
        let last = talk.last();
        let is_overflow = matches!(last, Some(AgentEvent::TurnEnded(TurnEnd::Overflow { .. })));
        let not_answered = matches!(last, Some(AgentEvent::NotAnswered { .. }));
        assert_eq!((is_overflow, not_answered), (overflow, !overflow), "{status} {error}");
    }
}

#[test]
fn each_failure_is_known_by_codexs_own_word_for_it() {
    let failure = |message: &str, info: &Value| match turn::failed(message, Some(info)) {
        TurnEnd::Failed { failure, .. } => Some(failure),
        TurnEnd::Overflow { .. } => None,
        end @ (TurnEnd::Finished { .. } | TurnEnd::Cancelled) => panic!("{end:?}"),
    };
    let status = |code: u64| json!({ "responseTooManyFailedAttempts": { "httpStatusCode": code } });
    let api =
        r#"{"error":{"message":"Your input exceeds the context window","code":"context_length_exceeded"}}"#;
    for (message, info, expected) in [
        ("ran out of room", json!("contextWindowExceeded"), None),
        (api, json!("other"), None),
        ("Quota exceeded.", json!("usageLimitExceeded"), Some(AgentFailure::Quota)),
        ("slow down", status(429), Some(AgentFailure::RateLimited)),
        ("who are you", status(401), Some(AgentFailure::Unauthorised)),
        ("busy", json!("serverOverloaded"), Some(AgentFailure::Overloaded)),
        ("what model", json!("modelNotFound"), Some(AgentFailure::BadModel)),
        ("the file is about the context window", json!("other"), Some(AgentFailure::Other)),
        ("anything", Value::Null, Some(AgentFailure::Other)),
    ] {
        assert_eq!(failure(message, &info), expected, "{message} {info}");
    }
}

#[test]
fn an_error_that_is_tried_again_ends_nothing() {
    let mut talk = Talk::new();
    let info = json!({ "responseStreamDisconnected": { "httpStatusCode": 429 } });
    let error =
        json!({ "message": "Reconnecting... 1/2", "codexErrorInfo": info, "additionalDetails": "too many" });
    talk.tells("error", &json!({ "error": error, "willRetry": true }));
    let (why, failure) = ("too many".to_owned(), AgentFailure::RateLimited);
    let retrying =
        AgentEvent::Retrying { attempt: 1, of: Some(2), why, failure, delay_ms: None, next_at: None };
    assert_eq!(talk.events(), [retrying]);
    talk.tells("error", &json!({ "error": { "message": "Reconnecting... 1/2" }, "willRetry": false }));
    assert_eq!(talk.events(), []);
}

#[test]
fn the_end_of_another_turn_is_not_this_ones() {
    let mut talk = Talk::new();
    talk.tells("turn/completed", &json!({ "turn": { "id": "older", "status": "completed" } }));
    assert_eq!(talk.events(), []);
}

#[test]
fn an_approval_is_asked_by_kind_and_answered_once_under_its_own_id() {
    for (allow, decision) in [(true, "accept"), (false, "decline")] {
        let mut talk = Talk::new();
        let params = json!({ "threadId": "th", "itemId": "c1", "command": "/bin/bash -lc 'make \"x y\"'" });
        talk.says(
            &json!({ "id": "a-1", "method": "item/commandExecution/requestApproval", "params": params }),
        );
        let Some(AgentEvent::PermissionAsked { request, kind, title, subject }) = talk.last() else {
            panic!("nothing was asked");
        };
        assert_eq!((kind.as_str(), title.as_str()), ("execute", "make \"x y\""));
        assert_eq!(subject.command.as_deref(), Some("make \"x y\""));
        for _ in 0..2 {
            talk.codex.act(Act::Permission { request: request.clone(), allow }, &mut talk.io);
        }
        assert_eq!(talk.written(), [json!({ "id": "a-1", "result": { "decision": decision } })]);
    }
}

#[test]
fn what_segue_does_not_offer_is_refused() {
    let mut talk = Talk::new();
    talk.says(&json!({ "id": 7, "method": "item/tool/requestUserInput", "params": {} }));
    assert_eq!(talk.written()[0]["error"]["code"], -32601);
    assert_eq!(talk.events(), []);
}

#[test]
fn closing_interrupts_a_turn_that_runs_and_no_other() {
    let mut talk = Talk::new();
    talk.codex.act(Act::Close, &mut talk.io);
    assert!(talk.io.close);
    assert_eq!(talk.written()[0]["method"], "turn/interrupt");
    let mut talk = Talk::new();
    talk.ends("completed", &Value::Null);
    talk.codex.act(Act::Close, &mut talk.io);
    assert!(talk.io.close);
    assert_eq!(talk.written(), [] as [Value; 0]);
}

#[test]
fn m3_object_array_and_stream_spaced_and_compact_give_the_same_figure() {
    let mut params = raw("r1", &usage(9_385, 9_216, 36));
    params["threadId"] = json!("th");
    let compact = json!({ "method": "rawResponse/completed", "params": params }).to_string();
    let spaced = compact.replace(':', " : ").replace(',', " , ");
    let expected = Reading { call: Some("r1".to_owned()), ..Reading::exact(169, 9_216, 0, 36) };
    for line in [compact.clone(), spaced, format!("[{compact}]"), format!(" {compact} ")] {
        let mut talk = Talk::new();
        talk.codex.line(line.as_bytes(), &mut talk.io);
        assert_eq!(talk.readings(), std::slice::from_ref(&expected), "{line}");
    }
}

#[test]
fn e1_bad_lines_are_told_and_end_nothing() {
    let mut talk = Talk::new();
    for line in [&b"\xff\xfe"[..], b"plain words", b"{\"meth", b"17", b"null", b"{}", b"{\"id\":99}"] {
        talk.codex.line(line, &mut talk.io);
        assert!(matches!(&talk.events()[..], [AgentEvent::Unrecognised { .. }]), "{line:?}");
    }
    for method in ["item/started", "item/completed", "rawResponse/completed", "thread/tokenUsage/updated"] {
        talk.says(&json!({ "method": method, "params": 5 }));
        assert!(talk.events().iter().all(|e| !matches!(e, AgentEvent::TurnEnded(_))), "{method}");
    }
}

#[test]
fn the_accounts_limits_are_told_with_their_reset_times() {
    let mut talk = Talk::new();
    let primary = json!({ "usedPercent": 92.4, "windowDurationMins": 300, "resetsAt": 1_794_800_000 });
    talk.says(&json!({ "method": "account/rateLimits/updated", "params": { "rateLimits": { "primary": primary } } }));
    let (name, resets_at) = ("5 h".to_owned(), Some(1_794_800_000_000));
    assert_eq!(talk.events(), [AgentEvent::AllowanceSeen { name, used_percent: 92, resets_at }]);
}

#[test]
fn h3_a_time_to_come_back_is_read_from_the_body_and_else_from_the_words() {
    let retry = |message: &str, info: &Value| {
        let end = turn::failed(message, Some(info));
        let TurnEnd::Failed { retry, .. } = end else { panic!("{end:?}") };
        retry
    };
    let body = r#"{"error":{"type":"usage_limit_reached","resets_in_seconds":3600}}"#;
    assert_eq!(retry(body, &json!("usageLimitExceeded")), Some(Retry::After(3_600_000)));
    let status = json!({ "responseTooManyFailedAttempts": { "httpStatusCode": 429 } });
    assert_eq!(retry("Rate limit reached. Please try again in 1s.", &status), Some(Retry::After(1_000)));
    assert_eq!(retry("busy", &json!("serverOverloaded")), None);
}

#[test]
fn edit_is_the_sandbox_of_the_work_tree_with_approvals() {
    let args = |edit: bool| Codex::new(Options { edit, ..options() }).extras().args.join(" ");
    let edit = args(true);
    assert!(
        edit.contains("sandbox_mode=\"workspace-write\"") && edit.contains("approval_policy=\"on-request\"")
    );
    assert!(!args(false).contains("sandbox_mode"));
    let exec = CodexExec::new(None, false).with_edit(true).extras().args.join(" ");
    assert!(exec.contains("workspace-write") && !exec.contains("bypass"), "{exec}");
}

#[test]
fn a_change_is_asked_for_with_all_files_that_it_touches() {
    let mut talk = Talk::new();
    let change = json!({ "path": "/w/a", "kind": { "type": "update", "move_path": "/etc/x" }, "diff": "" });
    talk.tells("item/started", &json!({ "item": { "type": "fileChange", "id": "f1", "changes": [change] } }));
    let params = json!({ "threadId": "th", "itemId": "f1" });
    talk.says(&json!({ "id": "a-2", "method": "item/fileChange/requestApproval", "params": params }));
    let Some(AgentEvent::PermissionAsked { kind, subject, .. }) = talk.last() else {
        panic!("nothing was asked")
    };
    assert_eq!((kind.as_str(), subject.paths), ("edit", vec!["/w/a".to_owned(), "/etc/x".to_owned()]));
}

#[test]
fn a_command_is_known_without_the_shell_around_it() {
    for (wire, bare) in [
        ("/bin/bash -lc 'npm test && echo \"a\"'", "npm test && echo \"a\""),
        (r"bash -lc 'echo '\''x'\'''", "echo 'x'"),
        ("zsh -lc \"make test\"", "make test"),
        ("bash -lc ls", "ls"),
        ("bash -lc \"echo $HOME\"", "bash -lc \"echo $HOME\""),
        ("cargo test", "cargo test"),
        ("evil -lc 'npm test'", "evil -lc 'npm test'"),
    ] {
        assert_eq!(item::bare_command(wire), bare);
    }
}
