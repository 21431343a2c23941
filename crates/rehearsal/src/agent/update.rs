//! The bodies of `session/update` notifications.

use serde_json::{Value, json};

use crate::brain::{Action, Belief};

pub(super) fn message(text: &str) -> Value {
    json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } })
}

pub(super) fn prompt(text: &str) -> Value {
    json!({ "sessionUpdate": "user_message_chunk", "content": { "type": "text", "text": text } })
}

pub(super) fn usage(used: u64, size: u64) -> Value {
    json!({ "sessionUpdate": "usage_update", "used": used, "size": size })
}

pub(super) fn tool_call(id: &str, title: &str, status: &str) -> Value {
    json!({
        "sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": "execute", "status": status,
        "rawInput": { "command": title },
    })
}

pub(super) fn tool_status(id: &str, status: &str) -> Value {
    json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status })
}

pub(super) fn tool_result(id: &str, status: &str, text: &str, exit: Option<i32>) -> Value {
    let mut update = tool_status(id, status);
    update["content"] = json!([{ "type": "content", "content": { "type": "text", "text": text } }]);
    if let Some(exit) = exit {
        update["rawOutput"] = json!({ "exitCode": exit });
    }
    update
}

pub(super) fn past_tool(serial: u64, text: &str) -> Value {
    let mut update = tool_result(&format!("past-{serial}"), "completed", text, None);
    update["sessionUpdate"] = json!("tool_call");
    update["title"] = json!("an earlier command");
    update["kind"] = json!("execute");
    update
}

/// The whole list with its states; the next open step counts as begun.
pub(super) fn plan(belief: &Belief) -> Value {
    let next = belief.next();
    let entries: Vec<Value> = belief
        .listed
        .iter()
        .map(|(n, text)| {
            let status = match () {
                () if belief.done.contains(n) => "completed",
                () if next == Action::Step(*n) => "in_progress",
                () => "pending",
            };
            json!({ "content": format!("step {n}: {text}"), "priority": "medium", "status": status })
        })
        .collect();
    json!({ "sessionUpdate": "plan", "entries": entries })
}

pub(super) fn permission(session: &str, tool: &str, title: &str) -> Value {
    json!({
        "sessionId": session,
        "toolCall": { "toolCallId": tool, "title": title, "kind": "execute", "status": "pending" },
        "options": [
            { "optionId": "allow", "name": "Allow", "kind": "allow_once" },
            { "optionId": "reject", "name": "Reject", "kind": "reject_once" },
        ],
    })
}
