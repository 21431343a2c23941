//! The Chat Completions API: its request read into a [`Conversation`], and an [`Answer`] in its words.
//!
//! Its errors have the same body as those of the Responses API.

use serde_json::{Value, json};

use super::answer::{Answer, Input};
use super::conversation::{Conversation, Link, Takes, Tool};
use super::http::Request;
use super::reply::{Ids, Usage, parts};

/// Reads a request.
///
/// Counted are, in this order: the tools as JSON, and of each message its text, its reasoning, tool output (blocks
/// joined by a newline), name and arguments of each tool call, and any other block as JSON.
pub(super) fn conversation(request: &Request, body: &Value) -> Conversation {
    let named = ["x-session-id", "x-session-affinity"].iter().find_map(|name| request.header(name));
    let mut found = Conversation {
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        session: named.or(body["prompt_cache_key"].as_str()).map(str::to_owned),
        stream: body["stream"] == true,
        max_tokens: body["max_completion_tokens"].as_u64().or(body["max_tokens"].as_u64()),
        schema: body.pointer("/response_format/json_schema/schema").cloned(),
        caches: true,
        cache_key: body["prompt_cache_key"].as_str().map(str::to_owned),
        ..Conversation::default()
    };
    if let Some(tools) = body["tools"].as_array().filter(|tools| !tools.is_empty()) {
        found.other(&body["tools"]);
        found.tools = tools.iter().filter_map(tool).collect();
    }
    for message in list(&body["messages"]) {
        add_message(&mut found, message);
    }
    found
}

fn add_message(found: &mut Conversation, message: &Value) {
    let role = message["role"].as_str().unwrap_or_default();
    if role == "tool" {
        let id = message["tool_call_id"].as_str().unwrap_or_default();
        found.links.push(Link::Result(id.to_owned()));
        return found.result_of(&message["content"]);
    }
    if let Some(text) = message["reasoning_content"].as_str() {
        found.text(text);
    }
    if let Some(text) = message["content"].as_str() {
        add_text(found, role, text);
    }
    for block in list(&message["content"]) {
        match block["text"].as_str() {
            Some(text) => add_text(found, role, text),
            None => found.other(block),
        }
    }
    for call in list(&message["tool_calls"]) {
        let text = |name: &str| call["function"][name].as_str().unwrap_or_default();
        found.links.push(Link::Call(call["id"].as_str().unwrap_or_default().to_owned()));
        found.call(text("name"), text("arguments"));
    }
}

fn add_text(found: &mut Conversation, role: &str, text: &str) {
    match role {
        "assistant" => found.agent(text),
        "user" => found.user(text),
        _ => found.system(text),
    }
}

fn tool(value: &Value) -> Option<Tool> {
    let function = &value["function"];
    let takes = Takes::Object(function["parameters"]["properties"].clone());
    Some(Tool { name: function["name"].as_str()?.to_owned(), takes })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// An answer that comes at once.
pub(super) fn completion(model: &str, answer: &Answer, usage: Usage, ids: &Ids) -> Value {
    let mut message = json!({ "role": "assistant", "content": words(answer), "refusal": null });
    let calls: Vec<Value> = calls(answer, ids).into_iter().map(|call| call.whole()).collect();
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let choice =
        json!({ "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(answer) });
    json!({ "id": id(ids), "object": "chat.completion", "created": ids.at_ms / 1000, "model": model,
            "choices": [choice], "usage": usage_json(usage) })
}

/// An answer as the events of a stream; the figures come only to a client that wants them.
pub(super) fn events(
    model: &str,
    answer: &Answer,
    usage: Usage,
    wants_usage: bool,
    ids: &Ids,
) -> Vec<String> {
    let chunk = |choices: Value, figures: Value| {
        let mut chunk = json!({ "id": id(ids), "object": "chat.completion.chunk", "created": ids.at_ms / 1000,
                                "model": model, "choices": choices });
        if wants_usage {
            chunk["usage"] = figures;
        }
        format!("data: {chunk}\n\n")
    };
    let delta = |delta: Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish });
        chunk(json!([choice]), Value::Null)
    };
    let mut events = vec![delta(json!({ "role": "assistant", "content": "" }), None)];
    events.extend(parts(&answer.text).into_iter().map(|part| delta(json!({ "content": part }), None)));
    for (index, call) in calls(answer, ids).into_iter().enumerate() {
        let mut start = call.whole();
        start["index"] = index.into();
        start["function"]["arguments"] = "".into();
        events.push(delta(json!({ "tool_calls": [start] }), None));
        for part in parts(&call.arguments) {
            let more = json!({ "index": index, "function": { "arguments": part } });
            events.push(delta(json!({ "tool_calls": [more] }), None));
        }
    }
    events.push(delta(json!({}), Some(finish_reason(answer))));
    if wants_usage {
        events.push(chunk(json!([]), usage_json(usage)));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn id(ids: &Ids) -> String {
    format!("chatcmpl-{}", ids.stem)
}

fn words(answer: &Answer) -> Option<&str> {
    (!answer.text.is_empty() || answer.calls.is_empty()).then_some(answer.text.as_str())
}

fn finish_reason(answer: &Answer) -> &'static str {
    if answer.calls.is_empty() { "stop" } else { "tool_calls" }
}

fn usage_json(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": { "cached_tokens": usage.cached },
        "completion_tokens_details": { "reasoning_tokens": usage.reasoning },
    })
}

struct ToolCall {
    id: String,
    name: String,
    arguments: String,
}

impl ToolCall {
    fn whole(&self) -> Value {
        json!({ "id": self.id, "type": "function",
                "function": { "name": self.name, "arguments": self.arguments } })
    }
}

fn calls(answer: &Answer, ids: &Ids) -> Vec<ToolCall> {
    let call = |(index, call): (usize, &super::answer::Call)| ToolCall {
        id: format!("call_{}_{index}", ids.stem),
        name: call.name.clone(),
        arguments: match &call.input {
            Input::Object(value) => value.to_string(),
            Input::Text(text) => json!({ "input": text }).to_string(),
        },
    };
    answer.calls.iter().enumerate().map(call).collect()
}
