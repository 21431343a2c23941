//! OpenCode's lines, one at a time: what each means, and what is written.

use segue_machine::{Reading, Retry, Scope};

use super::*;

const SESSION: &str = "ses_1";

struct Rig {
    adapter: OpenCode,
    io: Io,
}

impl Rig {
    fn new(options: Options) -> Self {
        let mut rig = Self { adapter: OpenCode::new(options), io: Io::default() };
        rig.adapter.open(&mut rig.io);
        rig
    }

    /// A session that is open, with nothing left of the way there.
    fn open() -> Self {
        let mut rig = Self::new(options());
        rig.connect(&json!({ "model": "rig/m" }));
        rig.told();
        rig
    }

    fn connect(&mut self, config: &Value) {
        self.event("server.connected", json!({}));
        self.answer(200, config);
        let limit = json!({ "context": 60_000, "output": 4_000 });
        self.answer(200, &json!({ "providers": [{ "id": "rig", "models": { "m": { "limit": limit } } }] }));
        self.answer(200, &json!({ "id": SESSION }));
    }

    fn line(&mut self, line: &Value) -> &mut Self {
        self.adapter.line(line.to_string().as_bytes(), &mut self.io);
        self
    }

    /// Answers the last request.
    fn answer(&mut self, status: u64, body: &Value) {
        let id = self.adapter.next_id;
        self.line(&json!({ "id": id, "status": status, "body": body }));
    }

    fn event(&mut self, kind: &str, mut about: Value) -> &mut Self {
        if about.get("sessionID").is_none() {
            about["sessionID"] = json!(SESSION);
        }
        self.line(&json!({ "event": { "type": kind, "properties": about } }))
    }

    fn part(&mut self, part: Value) -> &mut Self {
        self.event("message.part.updated", json!({ "part": part }))
    }

    /// A message of ours shows up.
    fn user(&mut self, id: &str, text: &str) -> &mut Self {
        self.event("message.updated", json!({ "info": { "id": id, "role": "user" } }));
        self.part(json!({ "id": format!("p{id}"), "messageID": id, "type": "text", "text": text }))
    }

    /// An answer begins.
    fn assistant(&mut self, id: &str, parent: &str) -> &mut Self {
        self.event("session.status", json!({ "status": { "type": "busy" } }));
        let info =
            json!({ "id": id, "role": "assistant", "parentID": parent, "providerID": "rig", "modelID": "m" });
        self.event("message.updated", json!({ "info": info }))
    }

    fn says(&mut self, message: &str, text: &str) -> &mut Self {
        let time = json!({ "start": 1, "end": 2 });
        let id = format!("t{message}");
        self.part(json!({ "id": id, "messageID": message, "type": "text", "text": text, "time": time }))
    }

    fn tool(&mut self, message: &str, id: &str, state: Value) -> &mut Self {
        self.part(json!({ "id": id, "messageID": message, "type": "tool", "tool": "bash", "state": state }))
    }

    fn finishes(&mut self, message: &str, input: u64, cached: u64) -> &mut Self {
        let cache = json!({ "read": cached, "write": 0 });
        let tokens = json!({ "input": input, "output": 40, "reasoning": 2, "cache": cache });
        let id = format!("f{message}");
        self.part(
            json!({ "id": id, "messageID": message, "type": "step-finish", "tokens": tokens, "cost": 0 }),
        )
    }

    fn idle(&mut self) -> &mut Self {
        self.event("session.status", json!({ "status": { "type": "idle" } }));
        self.event("session.idle", json!({}))
    }

    fn act(&mut self, act: Act) -> &mut Self {
        self.adapter.act(act, &mut self.io);
        self
    }

    fn told(&mut self) -> Vec<AgentEvent> {
        self.io.write.clear();
        crate::without_words(&mut self.io)
    }

    fn wrote(&mut self) -> Vec<(String, Value)> {
        let written = std::mem::take(&mut self.io.write);
        let lines = written.split(|b| *b == b'\n').filter(|l| !l.is_empty());
        let lines = lines.map(|line| serde_json::from_slice::<Value>(line).unwrap());
        let word = |line: &Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
        lines.map(|l| (format!("{} {}", word(&l, "method"), word(&l, "path")), l["body"].clone())).collect()
    }
}

fn options() -> Options {
    Options { resume: None, model: None, bypass: false, edit: false, no_compaction: true }
}

fn reading(call: &str, input: u64, cached: u64, chars_after: u64) -> AgentEvent {
    let exact = Reading::exact(input, cached, 0, 42);
    AgentEvent::UsageRead(Reading { call: Some(call.to_owned()), chars_after, ..exact })
}

fn running() -> Value {
    json!({ "status": "running", "input": { "command": "sh step.sh 1" } })
}

fn completed(output: &str, exit: i32) -> Value {
    let metadata = json!({ "exit": exit });
    json!({ "status": "completed", "input": { "command": "sh step.sh 1" }, "output": output, "metadata": metadata })
}

#[test]
fn a_session_is_opened_once_events_are_heard_and_has_the_servers_own_window() {
    let mut rig = Rig::new(options());
    assert!(rig.wrote().is_empty(), "nothing is asked before events are heard");
    rig.connect(&json!({ "model": "rig/m", "compaction": { "auto": false } }));
    let asked: Vec<String> = rig.wrote().into_iter().map(|(what, _)| what).collect();
    let opens = ["GET /config", "GET /config/providers", "POST /session"];
    assert_eq!(asked, [&opens[..], &["GET /session"]].concat(), "and what forks were left behind");
    let [AgentEvent::Ready { conversation, model, window, ceiling, can }] = &rig.told()[..] else { panic!() };
    assert_eq!((conversation.as_str(), model.as_deref()), (SESSION, Some("rig/m")));
    assert_eq!((*window, *ceiling, can.ask), (Some(60_000), None, true));

    let mut compacts = Rig::new(options());
    compacts.connect(&json!({ "model": "rig/m" }));
    assert!(matches!(compacts.told()[..], [AgentEvent::Ready { ceiling: Some(56_000), .. }]));
}

#[test]
fn an_old_session_is_taken_up_and_a_new_one_opened_when_it_is_gone() {
    let mut rig = Rig::new(Options { resume: Some("ses_old".to_owned()), ..options() });
    rig.event("server.connected", json!({}));
    rig.answer(200, &json!({}));
    rig.answer(200, &json!({ "providers": [] }));
    assert_eq!(rig.wrote().last().unwrap().0, "GET /session/ses_old");
    rig.answer(404, &json!({ "name": "NotFoundError" }));
    assert_eq!(rig.wrote().last().unwrap().0, "POST /session");
    rig.answer(200, &json!({ "id": "ses_new" }));
    let told = rig.told();
    assert!(
        matches!(&told[..], [AgentEvent::Ready { conversation, window: None, .. }] if conversation == "ses_new")
    );
}

#[test]
fn a_model_that_is_not_offered_is_named_and_nothing_is_started() {
    let mut rig = Rig::new(Options { model: Some("nosuch".to_owned()), ..options() });
    rig.event("server.connected", json!({}));
    rig.answer(200, &json!({}));
    rig.answer(200, &json!({ "providers": [] }));
    let told = rig.told();
    let [AgentEvent::TurnEnded(TurnEnd::Failed { failure, message, .. })] = &told[..] else {
        panic!("{told:?}")
    };
    assert!(*failure == AgentFailure::BadModel && message.contains("nosuch"), "{message}");
}

#[test]
fn a_chosen_model_goes_with_every_prompt() {
    let mut rig = Rig::new(Options { model: Some("m".to_owned()), ..options() });
    rig.connect(&json!({ "model": "rig/other" }));
    rig.told();
    rig.act(Act::Prompt("work".to_owned()));
    let (what, body) = rig.wrote().pop().unwrap();
    assert_eq!(what, "POST /session/ses_1/prompt_async");
    assert_eq!(body["model"], json!({ "providerID": "rig", "modelID": "m" }));
    assert_eq!(body["parts"][0]["text"], "work");
}

#[test]
fn a_step_is_read_after_its_tools_and_what_they_gave_is_still_to_come() {
    let mut rig = Rig::open();
    rig.act(Act::Prompt("work".to_owned())).user("u1", "work").assistant("a1", "u1").told();
    rig.tool("a1", "p1", json!({ "status": "pending", "input": {} })).tool("a1", "p1", running());
    rig.tool("a1", "p1", running()).says("a1", "I run it.");
    rig.tool("a1", "p1", completed("step 1 done\n", 0)).finishes("a1", 8_000, 100);
    let tool = || "p1".to_owned();
    let title = || "sh step.sh 1".to_owned();
    assert_eq!(
        rig.told(),
        [
            AgentEvent::ToolStarted { tool: tool(), title: "bash".to_owned() },
            AgentEvent::ToolStarted { tool: tool(), title: title() },
            AgentEvent::TextSaid { chars: 14 },
            reading("a1", 8_000, 100, 0),
            AgentEvent::ToolEnded { tool: tool(), title: title(), ok: true, chars: 16 },
        ],
        "before the first reading there is nothing to add to"
    );
    rig.assistant("a2", "u1").tool("a2", "p2", running()).told();
    rig.tool("a2", "p2", completed("step 2 failed\n", 1)).finishes("a2", 50, 8_050);
    let tool = "p2".to_owned();
    assert_eq!(
        rig.told(),
        [AgentEvent::ToolEnded { tool, title: title(), ok: false, chars: 16 }, reading("a2", 50, 8_050, 16)],
        "later the end of a tool is told at once, and its result with the reading as still to come"
    );
    rig.assistant("a3", "u1").says("a3", "All done.").finishes("a3", 60, 8_100).idle();
    assert_eq!(
        rig.told(),
        [
            AgentEvent::TextSaid { chars: 9 },
            reading("a3", 60, 8_100, 0),
            AgentEvent::TurnEnded(TurnEnd::Finished { text: "I run it.\nAll done.".to_owned() }),
        ]
    );
}

#[test]
fn a_request_in_a_running_turn_is_answered_by_the_message_that_has_it_as_parent() {
    let mut rig = Rig::open();
    rig.act(Act::Prompt("work".to_owned())).user("u1", "work").assistant("a1", "u1");
    rig.tool("a1", "p1", running()).says("a1", "I run it.");
    rig.act(Act::Ask("checkpoint?\n".to_owned())).user("u2", "checkpoint?").told();
    rig.tool("a1", "p1", completed("done", 0)).finishes("a1", 8_000, 0);
    let told = rig.told();
    assert_eq!(told[0], reading("a1", 8_000, 0, 10), "the request is not in it");
    rig.assistant("a2", "u2").says("a2", "<checkpoint>").finishes("a2", 100, 8_000).idle();
    assert_eq!(
        rig.told()[1..],
        [reading("a2", 100, 8_000, 0), AgentEvent::Answered { text: "<checkpoint>".to_owned() }]
    );
}

#[test]
fn a_turn_that_ends_before_the_request_reached_it_has_finished_and_the_answer_comes_later() {
    let mut rig = Rig::open();
    rig.act(Act::Prompt("work".to_owned())).user("u1", "work").assistant("a1", "u1").says("a1", "done");
    rig.act(Act::Ask("checkpoint?".to_owned())).told();
    rig.idle();
    assert_eq!(rig.told(), [AgentEvent::TurnEnded(TurnEnd::Finished { text: "done".to_owned() })]);
    rig.user("u2", "checkpoint?").assistant("a2", "u2").says("a2", "<checkpoint>").told();
    rig.idle();
    assert_eq!(rig.told(), [AgentEvent::Answered { text: "<checkpoint>".to_owned() }]);
}

#[test]
fn the_news_that_a_session_is_idle_ends_one_turn_only() {
    let mut rig = Rig::open();
    rig.act(Act::Prompt("one".to_owned())).user("u1", "one").assistant("a1", "u1").told();
    let error = json!({ "name": "MessageAbortedError", "data": { "message": "Aborted" } });
    rig.event("session.error", json!({ "error": error })).idle();
    assert_eq!(rig.told(), [AgentEvent::TurnEnded(TurnEnd::Cancelled)]);
    rig.act(Act::Prompt("two".to_owned())).told();
    rig.idle();
    assert_eq!(rig.told(), [], "the second news of the first turn's end");
    rig.user("u2", "two").assistant("a2", "u2").idle();
    assert_eq!(rig.told(), [AgentEvent::TurnEnded(TurnEnd::Finished { text: String::new() })]);
}

#[test]
fn m6_sub_agents_and_summaries_are_side_calls_and_a_compaction_is_noticed() {
    let mut rig = Rig::open();
    rig.act(Act::Prompt("work".to_owned())).user("u1", "work").assistant("a1", "u1").told();
    let tokens = json!({ "input": 7_000, "output": 1, "reasoning": 0, "cache": { "read": 0, "write": 0 } });
    let part = json!({ "id": "x", "messageID": "c1", "type": "step-finish", "tokens": tokens });
    rig.event("message.part.updated", json!({ "sessionID": "ses_child", "part": part }));
    rig.event("session.idle", json!({ "sessionID": "ses_child" }));
    rig.event("session.error", json!({ "sessionID": "ses_child", "error": { "name": "APIError" } }));
    let info = json!({ "id": "a2", "role": "assistant", "parentID": "u2", "summary": true });
    rig.event("message.updated", json!({ "info": info })).says("a2", "<summary>").finishes("a2", 2_000, 0);
    rig.event("session.compacted", json!({}));
    let told = rig.told();
    let [AgentEvent::UsageRead(child), AgentEvent::UsageRead(summary), AgentEvent::Compacted] = &told[..]
    else {
        panic!("{told:?}")
    };
    assert_eq!((child.scope, summary.scope), (Scope::Side, Scope::Side));
}

#[test]
fn an_error_is_known_by_its_name_and_status() {
    let api = |status: u64, code: &str| {
        let body = json!({ "error": { "code": code } }).to_string();
        json!({ "name": "APIError", "data": { "message": "no", "statusCode": status, "responseBody": body } })
    };
    let failure = |error: &Value| match turn::meaning(error) {
        TurnEnd::Failed { failure, .. } => Some(failure),
        TurnEnd::Finished { .. } | TurnEnd::Cancelled | TurnEnd::Overflow { .. } => None,
    };
    let overflow = json!({ "name": "ContextOverflowError", "data": { "message": "too long" } });
    assert!(matches!(turn::meaning(&overflow), TurnEnd::Overflow { .. }));
    assert_eq!(failure(&api(401, "invalid_api_key")), Some(AgentFailure::Unauthorised));
    assert_eq!(failure(&api(429, "rate_limit_exceeded")), Some(AgentFailure::RateLimited));
    assert_eq!(failure(&api(429, "insufficient_quota")), Some(AgentFailure::Quota));
    assert_eq!(failure(&api(503, "")), Some(AgentFailure::Overloaded));
    assert_eq!(failure(&api(500, "server_error")), Some(AgentFailure::Overloaded));
    let mut limited = api(429, "rate_limit_exceeded");
    limited["data"]["responseHeaders"] = json!({ "retry-after": "20", "content-type": "application/json" });
    assert!(matches!(turn::meaning(&limited), TurnEnd::Failed { retry: Some(Retry::After(20_000)), .. }));
    let auth = json!({ "name": "ProviderAuthError", "data": { "message": "no key" } });
    assert_eq!(failure(&auth), Some(AgentFailure::Unauthorised));
    assert_eq!(failure(&json!({ "name": "Odd" })), Some(AgentFailure::Other));
    assert_eq!(failure(&Value::Null), Some(AgentFailure::Other));
}

#[test]
fn a_prompt_that_fails_before_any_work_ends_the_turn_at_once() {
    let mut rig = Rig::open();
    rig.act(Act::Prompt("work".to_owned())).told();
    let error = json!({ "name": "UnknownError", "data": { "message": "Model not found: rig/x" } });
    rig.event("session.error", json!({ "error": error }));
    let told = rig.told();
    assert!(matches!(
        told[..],
        [AgentEvent::TurnEnded(TurnEnd::Failed { failure: AgentFailure::BadModel, .. })]
    ));
    rig.act(Act::Prompt("work".to_owned())).told();
    rig.answer(400, &json!({ "name": "BadRequest", "data": { "message": "what?" } }));
    assert!(
        matches!(&rig.told()[..], [AgentEvent::TurnEnded(TurnEnd::Failed { message, .. })] if message == "400: what?")
    );
}

#[test]
fn an_error_that_a_compaction_makes_good_is_forgotten() {
    let mut rig = Rig::open();
    rig.act(Act::Prompt("work".to_owned())).user("u1", "work").assistant("a1", "u1").told();
    let error = json!({ "name": "ContextOverflowError", "data": { "message": "too long" } });
    rig.event("session.error", json!({ "error": error })).assistant("a2", "u9").says("a2", "done").idle();
    assert_eq!(rig.told()[1..], [AgentEvent::TurnEnded(TurnEnd::Finished { text: "done".to_owned() })]);
}

#[test]
fn a_permission_is_answered_as_decided_and_a_question_is_turned_down() {
    let mut rig = Rig::open();
    let ask = |id: &str| json!({ "id": id, "permission": "bash", "metadata": { "command": "rm x" }, "patterns": [] });
    rig.event("permission.asked", ask("per_1"));
    let mut foreign = ask("per_2");
    foreign["sessionID"] = json!("ses_child");
    rig.event("permission.asked", foreign);
    rig.event("question.asked", json!({ "id": "que_1", "questions": [{ "question": "Which?" }] }));
    let kinds: Vec<(String, String)> = rig
        .told()
        .into_iter()
        .map(|e| {
            if let AgentEvent::PermissionAsked { kind, title, .. } = e {
                (kind, title)
            } else {
                panic!("{e:?}")
            }
        })
        .collect();
    let pair = |kind: &str, title: &str| (kind.to_owned(), title.to_owned());
    assert_eq!(kinds, [pair("execute", "rm x"), pair("execute", "rm x"), pair("question", "Which?")]);
    for (request, allow) in
        [("per_1", true), ("per_2", false), ("que_1", true), ("per_1", false), ("none", true)]
    {
        rig.act(Act::Permission { request: request.to_owned(), allow });
    }
    let wrote = rig.wrote();
    assert_eq!(wrote.len(), 3, "each is answered once: {wrote:?}");
    assert_eq!(wrote[0], ("POST /permission/per_1/reply".to_owned(), json!({ "reply": "once" })));
    assert_eq!((&wrote[1].0[..], &wrote[1].1["reply"]), ("POST /permission/per_2/reply", &json!("reject")));
    assert!(wrote[1].1["message"].is_string(), "a refusal without words would end the turn");
    assert_eq!(wrote[2].0, "POST /question/que_1/reject");
}

#[test]
fn the_agents_own_list_is_counted() {
    let mut rig = Rig::open();
    let todos =
        ["completed", "cancelled", "in_progress", "pending"].map(|status| json!({ "status": status }));
    rig.event("todo.updated", json!({ "todos": todos }));
    assert!(matches!(&rig.told()[..], [AgentEvent::ItemsSeen { open: 2, closed: 2, .. }]));
}

#[test]
fn a_model_other_than_the_configured_one_brings_its_own_window() {
    let mut rig = Rig::new(options());
    rig.connect(&json!({ "model": "other/x" }));
    assert!(matches!(rig.told()[..], [AgentEvent::Ready { window: None, .. }]));
    rig.act(Act::Prompt("work".to_owned())).user("u1", "work").assistant("a1", "u1");
    let told = rig.told();
    let [AgentEvent::UsageRead(reading)] = &told[..] else { panic!("{told:?}") };
    assert_eq!((reading.fill(), reading.window, reading.ceiling), (0, Some(60_000), Some(56_000)));
}

#[test]
fn after_a_gap_in_the_events_a_session_that_is_idle_has_ended_its_turn() {
    let mut rig = Rig::open();
    rig.act(Act::Prompt("work".to_owned()))
        .user("u1", "work")
        .assistant("a1", "u1")
        .says("a1", "done")
        .told();
    rig.line(&json!({ "bridge": { "broken": "cut", "breaks": 1 } }));
    assert_eq!(rig.told(), []);
    rig.event("server.connected", json!({}));
    assert_eq!(rig.wrote().last().unwrap().0, "GET /session/status");
    rig.answer(200, &json!({}));
    assert_eq!(rig.told(), [AgentEvent::TurnEnded(TurnEnd::Finished { text: "done".to_owned() })]);
}

#[test]
fn the_end_of_a_session_aborts_what_runs_and_closes_the_input() {
    let mut rig = Rig::open();
    rig.act(Act::Prompt("work".to_owned())).user("u1", "work").assistant("a1", "u1").told();
    rig.act(Act::Close);
    assert_eq!(rig.wrote().pop().unwrap().0, "POST /session/ses_1/abort");
    assert!(rig.io.close);
    let mut idle = Rig::open();
    idle.act(Act::Close);
    assert!(idle.wrote().is_empty() && idle.io.close);
}

#[test]
fn what_it_needs_is_passed_by_variables_that_leave_its_files_alone() {
    let names = |options: Options| OpenCode::new(options).extras().env;
    assert_eq!(names(Options { no_compaction: false, ..options() }), []);
    let env = names(Options { bypass: true, ..options() });
    let env: Vec<&str> = env.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(env, ["OPENCODE_DISABLE_AUTOCOMPACT", "OPENCODE_DISABLE_PRUNE", "OPENCODE_PERMISSION"]);
    let asks = names(Options { edit: true, ..options() }).pop().unwrap();
    assert_eq!(asks, ("OPENCODE_PERMISSION".to_owned(), r#"{"*":"ask"}"#.to_owned()));
}

#[test]
fn e1_lines_that_mean_nothing_are_told_and_change_nothing() {
    let mut rig = Rig::open();
    for line in ["", "null", "[]", "{}", "{\"id\":99,\"status\":200}", "opencode: warning", "{\"event\":7}"] {
        rig.adapter.line(line.as_bytes(), &mut rig.io);
        assert!(matches!(rig.told()[..], [AgentEvent::Unrecognised { .. }]), "{line}");
    }
    for kind in ["server.heartbeat", "from.the.future", ""] {
        rig.event(kind, json!({}));
    }
    rig.part(json!({ "messageID": "none", "type": "step-finish" })).part(Value::Null);
    assert_eq!(rig.told(), []);
}
