//! The Responses API: its request read into a [`Conversation`], and an [`Answer`] in its words.

use serde_json::{Value, json};

use super::answer::{Answer, Call, Input};
use super::conversation::{Conversation, Link, Takes, Tool};
use super::http::Request;
use super::reply::{Ids, Usage, parts};

/// Reads a request.
///
/// Counted are, in this order: the instructions, the tools as JSON, and of each input item its text, tool output
/// (blocks joined by a newline), name and arguments of each tool call, and any other item as JSON.
pub(super) fn conversation(request: &Request, body: &Value) -> Conversation {
    let mut found = Conversation {
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        session: request.header("session-id").or(body["prompt_cache_key"].as_str()).map(str::to_owned),
        stream: body["stream"] == true,
        max_tokens: body["max_output_tokens"].as_u64(),
        schema: body.pointer("/text/format/schema").cloned(),
        caches: true,
        cache_key: body["prompt_cache_key"].as_str().map(str::to_owned),
        ..Conversation::default()
    };
    if let Some(text) = body["instructions"].as_str() {
        found.system(text);
    }
    if let Some(tools) = body["tools"].as_array().filter(|tools| !tools.is_empty()) {
        found.other(&body["tools"]);
        found.tools = tools.iter().flat_map(offered).collect();
    }
    if let Some(text) = body["input"].as_str() {
        found.user(text);
    }
    for item in body["input"].as_array().map(Vec::as_slice).unwrap_or_default() {
        add_item(&mut found, item);
    }
    found
}

fn add_item(found: &mut Conversation, item: &Value) {
    let text = |name: &str| item[name].as_str().unwrap_or_default();
    match text("type") {
        "message" | "" => add_message(found, text("role"), &item["content"]),
        kind @ ("function_call" | "custom_tool_call") => {
            found.links.push(Link::Call(text("call_id").to_owned()));
            found.call(text("name"), text(if kind == "function_call" { "arguments" } else { "input" }));
        }
        "function_call_output" | "custom_tool_call_output" => {
            found.links.push(Link::Result(text("call_id").to_owned()));
            found.result_of(&item["output"]);
        }
        "additional_tools" => {
            found.other(item);
            let tools = item["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
            found.tools.extend(tools.iter().flat_map(offered));
        }
        _ => found.other(item),
    }
}

fn add_message(found: &mut Conversation, role: &str, content: &Value) {
    let blocks = content.as_array().cloned().unwrap_or_else(|| vec![json!({ "text": content })]);
    for block in blocks {
        let Some(text) = block["text"].as_str() else {
            found.other(&block);
            continue;
        };
        match role {
            "assistant" => found.agent(text),
            "user" => found.user(text),
            _ => found.system(text),
        }
    }
}

// A namespace holds tools of its own; those of "functions" are called by their plain names.
fn offered(value: &Value) -> Vec<Tool> {
    let Some(nested) = value["tools"].as_array() else { return tool(value).into_iter().collect() };
    let space = value["name"].as_str().unwrap_or_default();
    let named = |tool: Tool| match space {
        "functions" => tool,
        _ => Tool { name: format!("{space}.{}", tool.name), ..tool },
    };
    nested.iter().filter_map(tool).map(named).collect()
}

fn tool(value: &Value) -> Option<Tool> {
    let takes = match value["type"].as_str()? {
        "function" => Takes::Object(value["parameters"]["properties"].clone()),
        "custom" => Takes::Text,
        _ => Takes::Object(Value::Null),
    };
    let name = value["name"].as_str().or(value["type"].as_str())?;
    Some(Tool { name: name.to_owned(), takes })
}

/// An answer that comes at once.
pub(super) fn response(model: &str, answer: &Answer, usage: Usage, ids: &Ids) -> Value {
    let mut response = empty_response(model, ids);
    response["status"] = "completed".into();
    response["output"] = items(answer, ids).into_iter().map(|item| item.done).collect();
    response["usage"] = usage_json(usage);
    response
}

/// An answer as the events of a stream.
pub(super) fn events(model: &str, answer: &Answer, usage: Usage, ids: &Ids) -> Vec<String> {
    let mut events = Events::default();
    let empty = empty_response(model, ids);
    events.add("response.created", json!({ "response": empty }));
    events.add("response.in_progress", json!({ "response": empty }));
    for (index, item) in items(answer, ids).into_iter().enumerate() {
        events.item(index, &item);
    }
    events.add("response.completed", json!({ "response": response(model, answer, usage, ids) }));
    events.done
}

/// A stream that tells a failure.
pub(super) fn failed(model: &str, error: &Value, ids: &Ids) -> Vec<String> {
    let mut events = Events::default();
    let mut response = empty_response(model, ids);
    events.add("response.created", json!({ "response": response }));
    response["status"] = "failed".into();
    response["error"] = json!({ "code": error["error"]["code"], "message": error["error"]["message"] });
    events.add("response.failed", json!({ "response": response }));
    events.done
}

/// An error body.
pub(super) fn error(kind: &str, code: Option<&str>, message: &str) -> Value {
    json!({ "error": { "message": message, "type": kind, "param": null, "code": code } })
}

/// The list of models.
pub(super) fn models() -> Value {
    json!({ "object": "list", "data": [
        { "id": "scripted", "object": "model", "created": 1_759_104_000, "owned_by": "rehearsal" },
    ] })
}

fn empty_response(model: &str, ids: &Ids) -> Value {
    json!({ "id": ids.response, "object": "response", "created_at": ids.at_ms / 1000, "status": "in_progress",
            "error": null, "incomplete_details": null, "model": model, "output": [], "usage": null })
}

fn usage_json(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": { "cached_tokens": usage.cached },
        "output_tokens": usage.output,
        "output_tokens_details": { "reasoning_tokens": usage.reasoning },
        "total_tokens": usage.input + usage.output,
    })
}

#[derive(Default)]
struct Events {
    done: Vec<String>,
}

impl Events {
    fn add(&mut self, name: &str, mut data: Value) {
        data["type"] = name.into();
        data["sequence_number"] = self.done.len().into();
        self.done.push(format!("event: {name}\ndata: {data}\n\n"));
    }

    fn item(&mut self, index: usize, item: &Item) {
        let at = |mut data: Value| {
            data["output_index"] = index.into();
            data["item_id"] = item.done["id"].clone();
            data
        };
        self.add("response.output_item.added", json!({ "output_index": index, "item": item.added }));
        if item.field == "text" {
            let part = json!({ "type": "output_text", "text": "", "annotations": [] });
            self.add("response.content_part.added", at(json!({ "content_index": 0, "part": part })));
        }
        for part in parts(&item.text) {
            self.add(&format!("{}.delta", item.event), at(json!({ "content_index": 0, "delta": part })));
        }
        let mut end = at(json!({ "content_index": 0 }));
        end[item.field] = item.text.as_str().into();
        self.add(&format!("{}.done", item.event), end);
        if item.field == "text" {
            let part = item.done["content"][0].clone();
            self.add("response.content_part.done", at(json!({ "content_index": 0, "part": part })));
        }
        self.add("response.output_item.done", json!({ "output_index": index, "item": item.done }));
    }
}

struct Item {
    added: Value,
    done: Value,
    event: &'static str,
    field: &'static str,
    text: String,
}

fn items(answer: &Answer, ids: &Ids) -> Vec<Item> {
    let mut items = Vec::new();
    if !answer.text.is_empty() || answer.calls.is_empty() {
        let mut done = json!({ "id": ids.message, "type": "message", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": answer.text, "annotations": [] }] });
        let whole = done.clone();
        done["status"] = "in_progress".into();
        done["content"] = json!([]);
        items.push(Item {
            added: done,
            done: whole,
            event: "response.output_text",
            field: "text",
            text: answer.text.clone(),
        });
    }
    items.extend(answer.calls.iter().enumerate().map(|(index, call)| call_item(index, call, ids)));
    items
}

fn call_item(index: usize, call: &Call, ids: &Ids) -> Item {
    let (kind, field, event, prefix) = match call.input {
        Input::Object(_) => ("function_call", "arguments", "response.function_call_arguments", "fc"),
        Input::Text(_) => ("custom_tool_call", "input", "response.custom_tool_call_input", "ctc"),
    };
    let text = call.input.text();
    let mut added = json!({
        "id": format!("{prefix}_{}_{index}", ids.stem), "type": kind, "status": "in_progress",
        "call_id": format!("call_{}_{index}", ids.stem), "name": call.name,
    });
    added[field] = "".into();
    let mut done = added.clone();
    done["status"] = "completed".into();
    done[field] = text.as_str().into();
    Item { added, done, event, field, text }
}
