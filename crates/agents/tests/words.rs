//! What every agent's stream gives away for a checkpoint that nobody else could write: its words, its list, and how its
//! tools failed.

use segue_agents::acp::Acp;
use segue_agents::claude::{Claude, Options as ClaudeOptions, Permission};
use segue_agents::codex::{Codex, CodexExec, Options as CodexOptions};
use segue_agents::command::Command;
use segue_agents::gemini::{Gemini, Options as GeminiOptions};
use segue_agents::opencode::{OpenCode, Options as OpenCodeOptions};
use segue_agents::{Act, Adapter, Io};
use segue_machine::AgentEvent;
use serde_json::{Value, json};

/// Feeds an adapter that has been given a prompt, and returns what it makes of the lines.
fn hear(adapter: &mut dyn Adapter, opening: &[Value], lines: &[Value]) -> Vec<AgentEvent> {
    let mut io = Io::default();
    adapter.open(&mut io);
    opening.iter().for_each(|line| adapter.line(line.to_string().as_bytes(), &mut io));
    adapter.act(Act::Prompt("go".to_owned()), &mut io);
    io.events.clear();
    lines.iter().for_each(|line| adapter.line(line.to_string().as_bytes(), &mut io));
    io.events
}

fn words(events: &[AgentEvent]) -> Vec<&str> {
    let said = events.iter().filter_map(|event| {
        let AgentEvent::Said { text } = event else { return None };
        Some(text.as_str())
    });
    said.collect()
}

/// The last list, one line an item.
fn list(events: &[AgentEvent]) -> Vec<String> {
    let last = events.iter().rev().find_map(|event| {
        let AgentEvent::ItemsSeen { items, .. } = event else { return None };
        Some(items)
    });
    last.into_iter().flatten().map(|item| format!("{} {} {:?}", item.id, item.text, item.state)).collect()
}

/// Failed and reading calls: id, whether it only reads, exit code, last line.
fn calls(events: &[AgentEvent]) -> Vec<(String, bool, Option<i32>, Option<String>)> {
    let call = |event: &AgentEvent| {
        let AgentEvent::ToolDescribed { tool, reads, exit, last_line } = event else { return None };
        Some((tool.clone(), *reads, *exit, last_line.clone()))
    };
    events.iter().filter_map(call).collect()
}

fn claude() -> Claude {
    Claude::new(ClaudeOptions {
        conversation: "0a1b2c3d-0000-4000-8000-000000000000".to_owned(),
        resume: None,
        model: None,
        permission: Permission::Bypass,
        brake: None,
        no_compaction: false,
        archive: None,
    })
}

fn assistant(id: &str, block: &Value, parent: &Value) -> Value {
    let message = json!({ "id": id, "model": "m", "role": "assistant", "content": [block], "usage": {} });
    json!({ "type": "assistant", "parent_tool_use_id": parent, "message": message })
}

fn claude_tool(id: &str, name: &str, input: &Value) -> Value {
    assistant(id, &json!({ "type": "tool_use", "id": id, "name": name, "input": input }), &Value::Null)
}

fn claude_result(id: &str, failed: bool, content: &str) -> Value {
    let block = json!({ "type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed });
    json!({ "type": "user", "parent_tool_use_id": null, "message": { "role": "user", "content": [block] } })
}

#[test]
fn c9_claude_code_gives_its_words_its_tasks_and_its_failures() {
    let text = |words: &str| json!({ "type": "text", "text": words });
    let events = hear(
        &mut claude(),
        &[],
        &[
            assistant("m1", &text("The port is 7411."), &Value::Null),
            assistant("m2", &text("a sub-agent speaks"), &json!("t0")),
            claude_tool("t1", "TaskCreate", &json!({ "subject": "write a.rs", "description": "d" })),
            claude_result("t1", false, "Task #1 created successfully: write a.rs"),
            claude_tool("t2", "TaskCreate", &json!({ "subject": "write b.rs", "description": "d" })),
            claude_result("t2", false, "Task #2 created successfully: write b.rs"),
            claude_tool("t3", "TaskUpdate", &json!({ "taskId": "1", "status": "completed" })),
            claude_result("t3", false, "Updated task #1 status"),
            claude_tool("t4", "TaskUpdate", &json!({ "taskId": "2", "status": "in_progress" })),
            claude_result("t4", false, "Updated task #2 status"),
            claude_tool("t5", "Read", &json!({ "file_path": "a.rs" })),
            claude_result("t5", false, "fn main() {}"),
            claude_tool("t6", "Bash", &json!({ "command": "cargo test" })),
            claude_result("t6", true, "Exit code 101\nrunning 2 tests\ntest result: FAILED\n"),
        ],
    );
    assert_eq!(words(&events), ["The port is 7411."]);
    assert_eq!(list(&events), ["1 write a.rs Completed", "2 write b.rs InProgress"]);
    assert_eq!(
        calls(&events),
        [
            ("t5".to_owned(), true, None, None),
            ("t6".to_owned(), false, Some(101), Some("test result: FAILED".to_owned())),
        ]
    );
}

#[test]
fn c9_codex_gives_its_words_its_plan_and_its_failures() {
    let options = CodexOptions {
        cwd: "/w".to_owned(),
        resume: None,
        model: None,
        bypass: false,
        edit: false,
        compaction_guard: None,
    };
    let opening =
        [json!({ "id": 1, "result": {} }), json!({ "id": 2, "result": { "thread": { "id": "th" } } })];
    let tell = |method: &str, params: Value| json!({ "method": method, "params": params });
    let command = |id: &str, exit: i64, output: &str, action: &str| {
        json!({ "threadId": "th", "item": { "type": "commandExecution", "id": id, "command": "x", "status": "completed",
                "aggregatedOutput": output, "exitCode": exit, "commandActions": [{ "type": action }] } })
    };
    let plan =
        json!([{ "step": "read", "status": "completed" }, { "step": "write", "status": "inProgress" }]);
    let other =
        json!({ "threadId": "fork", "item": { "type": "agentMessage", "id": "m0", "text": "from a fork" } });
    let events = hear(
        &mut Codex::new(options),
        &opening,
        &[
            tell("item/completed", other),
            tell(
                "item/completed",
                json!({ "threadId": "th", "item": { "type": "agentMessage", "id": "m", "text": "I begin." } }),
            ),
            tell("turn/plan/updated", json!({ "threadId": "th", "turnId": "t", "plan": plan })),
            tell("item/completed", command("c1", 0, "text", "read")),
            tell("item/completed", command("c2", 2, "one\nno rule to make x\n", "unknown")),
        ],
    );
    assert_eq!(words(&events), ["I begin."]);
    assert_eq!(list(&events), ["1 read Completed", "2 write InProgress"]);
    assert_eq!(
        calls(&events),
        [
            ("c1".to_owned(), true, Some(0), None),
            ("c2".to_owned(), false, Some(2), Some("no rule to make x".to_owned())),
        ]
    );
}

#[test]
fn c9_codex_exec_gives_its_words_and_its_list() {
    let items = json!([{ "text": "a", "completed": true }, { "text": "b", "completed": false }]);
    let events = hear(
        &mut CodexExec::new(None, false),
        &[],
        &[
            json!({ "type": "item.completed", "item": { "id": "i1", "type": "agent_message", "text": "Hello." } }),
            json!({ "type": "item.started", "item": { "id": "i2", "type": "todo_list", "items": items } }),
            json!({ "type": "item.completed", "item": { "id": "i3", "type": "command_execution", "command": "make",
                "aggregated_output": "bad\n", "exit_code": 1, "status": "failed" } }),
        ],
    );
    assert_eq!(words(&events), ["Hello."]);
    assert_eq!(list(&events), ["1 a Completed", "2 b Pending"]);
    assert_eq!(calls(&events), [("i3".to_owned(), false, Some(1), Some("bad".to_owned()))]);
}

fn acp_update(update: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "c1", "update": update } })
}

fn chunk(text: &str) -> Value {
    acp_update(json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }))
}

fn acp_opening() -> [Value; 2] {
    [
        json!({ "id": 1, "result": { "protocolVersion": 1 } }),
        json!({ "id": 2, "result": { "sessionId": "c1" } }),
    ]
}

#[test]
fn c9_acp_makes_one_message_of_chunks_and_tells_plan_and_failures() {
    let content = json!([{ "type": "content", "content": { "type": "text", "text": "a\nnot found" } }]);
    let mut of_sub_agent = chunk("a sub-agent speaks");
    of_sub_agent["params"]["update"]["_meta"] = json!({ "parentToolCallId": "t0" });
    let plan = json!([{ "content": "look", "priority": "high", "status": "completed" },
                      { "content": "do", "priority": "high", "status": "pending" }]);
    let events = hear(
        &mut Acp::new("/w", None),
        &acp_opening(),
        &[
            chunk("I take "),
            chunk("port 7411."),
            of_sub_agent,
            acp_update(json!({ "sessionUpdate": "plan", "entries": plan })),
            acp_update(
                json!({ "sessionUpdate": "tool_call", "toolCallId": "t1", "title": "cat x", "kind": "read", "status": "in_progress" }),
            ),
            acp_update(
                json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "failed", "content": content }),
            ),
            chunk("Done."),
            json!({ "id": 3, "result": { "stopReason": "end_turn" } }),
        ],
    );
    assert_eq!(words(&events), ["I take port 7411.", "Done."]);
    assert_eq!(list(&events), ["1 look Completed", "2 do Pending"]);
    assert_eq!(calls(&events), [("t1".to_owned(), true, None, Some("not found".to_owned()))]);
}

#[test]
fn c9_gemini_cli_gives_the_list_that_its_chat_file_shows() {
    let options = GeminiOptions { cwd: "/w".to_owned(), model: None, bypass: false, brake: None };
    let mut gemini = Gemini::new(options);
    let mut events = hear(
        &mut gemini,
        &acp_opening(),
        &[
            chunk("I plan."),
            acp_update(
                json!({ "sessionUpdate": "tool_call", "toolCallId": "w1", "title": "todos", "kind": "other", "status": "in_progress" }),
            ),
        ],
    );
    let todos = json!([{ "description": "a", "status": "completed" }, { "description": "b", "status": "in_progress" }]);
    let call = json!({ "id": "w1", "name": "write_todos", "args": { "todos": todos }, "result": [] });
    let mut io = Io::default();
    for _ in 0..2 {
        gemini.tailed(
            json!({ "type": "gemini", "id": "m", "toolCalls": [call] }).to_string().as_bytes(),
            &mut io,
        );
    }
    assert_eq!(
        io.events.iter().filter(|e| matches!(e, AgentEvent::ItemsSeen { .. })).count(),
        1,
        "the file repeats it"
    );
    events.append(&mut io.events);
    assert_eq!(words(&events), ["I plan."]);
    assert_eq!(list(&events), ["1 a Completed", "2 b InProgress"]);
}

#[test]
fn c9_opencode_gives_its_words_its_list_and_its_failures() {
    let options =
        OpenCodeOptions { resume: None, model: None, bypass: false, edit: false, no_compaction: true };
    let event = |kind: &str, about: Value| json!({ "event": { "type": kind, "properties": about } });
    let opening = [
        event("server.connected", json!({})),
        json!({ "id": 1, "status": 200, "body": {} }),
        json!({ "id": 2, "status": 200, "body": { "providers": [] } }),
        json!({ "id": 3, "status": 200, "body": { "id": "ses" } }),
    ];
    let part = |part: Value| event("message.part.updated", json!({ "sessionID": "ses", "part": part }));
    let info = json!({ "id": "a1", "role": "assistant", "parentID": "u1" });
    let state = json!({ "status": "completed", "input": { "command": "make" }, "output": "x\nno rule\n", "metadata": { "exit": 2 } });
    let todos = json!([{ "id": "7", "content": "a", "status": "cancelled" }, { "id": "8", "content": "b", "status": "pending" }]);
    let events = hear(
        &mut OpenCode::new(options),
        &opening,
        &[
            event("message.updated", json!({ "sessionID": "ses", "info": info })),
            part(
                json!({ "id": "p1", "messageID": "a1", "type": "text", "text": "I look.", "time": { "end": 1 } }),
            ),
            event("todo.updated", json!({ "sessionID": "ses", "todos": todos })),
            part(json!({ "id": "p2", "messageID": "a1", "type": "tool", "tool": "bash", "state": state })),
        ],
    );
    assert_eq!(words(&events), ["I look."]);
    assert_eq!(list(&events), ["7 a Cancelled", "8 b Pending"]);
    assert_eq!(calls(&events), [("p2".to_owned(), false, Some(2), Some("no rule".to_owned()))]);
}

#[test]
fn c9_a_command_gives_what_it_prints_up_to_a_bound() {
    let (mut command, mut io) = (Command::default(), Io::default());
    (0..10_000).for_each(|n| command.line(format!("line {n} {}", "x".repeat(80)).as_bytes(), &mut io));
    command.exited(Some(0), &mut io);
    let told: usize = words(&io.events).iter().map(|text| text.len()).sum();
    assert!(words(&io.events)[0].starts_with("line 0 ") && told <= 256 * 1024, "{told}");
}
