//! The Messages API: its request read into a [`Conversation`], and an [`Answer`] in its words.

use serde_json::{Value, json};

use super::answer::{Answer, Input};
use super::conversation::{Conversation, Link, Takes, Tool, text_of};
use super::http::Request;
use super::reply::{Ids, Usage};

/// Reads a request.
///
/// Counted are, in this order: the tools as JSON, the system blocks, and of each message its text, thinking, tool
/// results (blocks joined by a newline), name and input of each tool call, and any other block as JSON.
pub(super) fn conversation(request: &Request, body: &Value) -> Conversation {
    let mut found = Conversation {
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        session: request.header("x-claude-code-session-id").map(str::to_owned),
        stream: body["stream"] == true,
        max_tokens: body["max_tokens"].as_u64(),
        schema: body
            .pointer("/output_config/format/schema")
            .or(body.pointer("/output_format/schema"))
            .cloned(),
        caches: String::from_utf8_lossy(&request.body).contains("\"cache_control\""),
        ..Conversation::default()
    };
    if let Some(tools) = body["tools"].as_array().filter(|tools| !tools.is_empty()) {
        found.other(&body["tools"]);
        found.tools = tools.iter().filter_map(tool).collect();
    }
    if let Some(text) = body["system"].as_str() {
        found.system(text);
    }
    for block in list(&body["system"]) {
        found.system(block["text"].as_str().unwrap_or_default());
    }
    for message in list(&body["messages"]) {
        // Claude Code puts what its hooks said between the messages, as the system's words.
        if message["role"] == "system" {
            found.system(&text_of(&message["content"]));
            continue;
        }
        let own = message["role"] == "assistant";
        if let Some(text) = message["content"].as_str() {
            if own { found.agent(text) } else { found.user(text) }
        }
        for block in list(&message["content"]) {
            add_block(&mut found, own, block);
        }
    }
    found
}

fn add_block(found: &mut Conversation, own: bool, block: &Value) {
    let text = |name: &str| block[name].as_str().unwrap_or_default();
    match text("type") {
        "text" if own => found.agent(text("text")),
        "text" => found.user(text("text")),
        "thinking" => found.text(text("thinking")),
        "tool_use" => {
            found.links.push(Link::Call(text("id").to_owned()));
            found.call(text("name"), &block["input"].to_string());
        }
        "tool_result" => {
            found.links.push(Link::Result(text("tool_use_id").to_owned()));
            found.result_of(&block["content"]);
        }
        _ => found.other(block),
    }
}

fn tool(value: &Value) -> Option<Tool> {
    let takes = Takes::Object(value["input_schema"]["properties"].clone());
    Some(Tool { name: value["name"].as_str()?.to_owned(), takes })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// An answer that comes at once.
pub(super) fn message(model: &str, answer: &Answer, usage: Usage, ids: &Ids) -> Value {
    let mut message = empty_message(model, ids);
    let blocks = blocks(answer, ids).into_iter().map(|(block, _)| block);
    message["content"] = blocks.collect();
    message["stop_reason"] = stop_reason(answer).into();
    message["usage"] = usage_json(usage, usage.output);
    message
}

/// An answer as the events of a stream.
pub(super) fn events(model: &str, answer: &Answer, usage: Usage, ids: &Ids) -> Vec<String> {
    let mut start = empty_message(model, ids);
    start["usage"] = usage_json(usage, 1);
    let mut events =
        vec![event(json!({ "type": "message_start", "message": start })), event(json!({ "type": "ping" }))];
    for (index, (mut block, delta)) in blocks(answer, ids).into_iter().enumerate() {
        let parts = delta.parts();
        delta.empty(&mut block);
        events.push(event(json!({ "type": "content_block_start", "index": index, "content_block": block })));
        events.extend(
            parts
                .into_iter()
                .map(|d| event(json!({ "type": "content_block_delta", "index": index, "delta": d }))),
        );
        events.push(event(json!({ "type": "content_block_stop", "index": index })));
    }
    events.push(event(json!({
        "type": "message_delta",
        "delta": { "stop_reason": stop_reason(answer), "stop_sequence": null },
        "usage": usage_json(usage, usage.output),
    })));
    events.push(event(json!({ "type": "message_stop" })));
    events
}

/// An error body.
pub(super) fn error(kind: &str, message: &str, ids: &Ids) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": ids.request })
}

/// The list of models.
pub(super) fn models() -> Value {
    let model = |id: &str| json!({ "type": "model", "id": id, "display_name": id, "created_at": "2025-09-29T00:00:00Z" });
    json!({ "data": [model("claude-sonnet-4-5"), model("scripted")], "has_more": false,
            "first_id": "claude-sonnet-4-5", "last_id": "scripted" })
}

fn empty_message(model: &str, ids: &Ids) -> Value {
    json!({ "id": ids.message, "type": "message", "role": "assistant", "model": model, "content": [],
            "stop_reason": null, "stop_sequence": null })
}

fn stop_reason(answer: &Answer) -> &'static str {
    if answer.calls.is_empty() { "end_turn" } else { "tool_use" }
}

// The three input figures add up to the whole prompt, as they do at the real API.
fn usage_json(usage: Usage, output: u64) -> Value {
    let fresh = usage.input - usage.cached;
    let uncached = if usage.caches { fresh.min(3) } else { fresh };
    json!({
        "input_tokens": uncached,
        "cache_creation_input_tokens": fresh - uncached,
        "cache_read_input_tokens": usage.cached,
        "cache_creation": { "ephemeral_5m_input_tokens": fresh - uncached, "ephemeral_1h_input_tokens": 0 },
        "output_tokens": output,
        "service_tier": "standard",
    })
}

enum Delta {
    Text(String),
    Json(String),
}

impl Delta {
    fn parts(&self) -> Vec<Value> {
        match self {
            Self::Text(text) => super::reply::parts(text)
                .into_iter()
                .map(|part| json!({ "type": "text_delta", "text": part }))
                .collect(),
            Self::Json(text) => super::reply::parts(text)
                .into_iter()
                .map(|part| json!({ "type": "input_json_delta", "partial_json": part }))
                .collect(),
        }
    }

    fn empty(&self, block: &mut Value) {
        match self {
            Self::Text(_) => block["text"] = "".into(),
            Self::Json(_) => block["input"] = json!({}),
        }
    }
}

fn blocks(answer: &Answer, ids: &Ids) -> Vec<(Value, Delta)> {
    let mut blocks = Vec::new();
    if !answer.text.is_empty() || answer.calls.is_empty() {
        blocks.push((json!({ "type": "text", "text": answer.text }), Delta::Text(answer.text.clone())));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        let input = match &call.input {
            Input::Object(value) => value.clone(),
            Input::Text(text) => json!({ "input": text }),
        };
        let block = json!({
            "type": "tool_use", "id": format!("toolu_{}_{index}", ids.stem), "name": call.name, "input": input,
        });
        blocks.push((block, Delta::Json(input.to_string())));
    }
    blocks
}

fn event(data: Value) -> String {
    let name = data["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n")
}
