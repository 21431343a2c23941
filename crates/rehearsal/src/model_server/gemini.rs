//! The Gemini API: its request read into a [`Conversation`], and an [`Answer`] in its words.

use serde_json::{Value, json};

use super::answer::{Answer, Input};
use super::conversation::{Conversation, Link, Takes, Tool, chars, text_of, tokens};
use super::http::Request;
use super::reply::{Ids, Usage, parts};

/// What a path asks of which model: `/v1beta/models/MODEL:METHOD`.
pub(super) fn target(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix("/v1beta/models/")?.rsplit_once(':')
}

/// Reads a request.
///
/// Counted are, in this order: the system instruction, the tools as JSON, and of each content its text and thoughts,
/// name and arguments of each function call, of each function response its output or error (or all of it as JSON when
/// it has neither), and any other part as JSON.
pub(super) fn conversation(request: &Request, body: &Value) -> Conversation {
    let (model, method) = target(&request.path).unwrap_or_default();
    // A count may carry the request that it is about.
    let body = body.get("generateContentRequest").unwrap_or(body);
    let config = &body["generationConfig"];
    let mut found = Conversation {
        model: model.to_owned(),
        stream: method == "streamGenerateContent",
        max_tokens: config["maxOutputTokens"].as_u64(),
        schema: config.get("responseJsonSchema").or(config.get("responseSchema")).cloned(),
        caches: true,
        ..Conversation::default()
    };
    for part in list(&body["systemInstruction"]["parts"]) {
        found.system(part["text"].as_str().unwrap_or_default());
    }
    if let Some(tools) = body["tools"].as_array().filter(|tools| !tools.is_empty()) {
        found.other(&body["tools"]);
        let declared = tools.iter().flat_map(|tool| list(&tool["functionDeclarations"]));
        found.tools = declared.filter_map(tool).collect();
    }
    for content in list(&body["contents"]) {
        for part in list(&content["parts"]) {
            add_part(&mut found, content["role"] == "model", part);
        }
    }
    found
}

fn add_part(found: &mut Conversation, own: bool, part: &Value) {
    if let Some(text) = part["text"].as_str() {
        match (part["thought"] == true, own) {
            (true, _) => found.text(text),
            (false, true) => found.agent(text),
            (false, false) => found.user(text),
        }
    } else if let Some(call) = part.get("functionCall") {
        found.links.push(Link::Call(nth(found, |link| matches!(link, Link::Call(_)))));
        found.call(call["name"].as_str().unwrap_or_default(), &call["args"].to_string());
    } else if let Some(result) = part.get("functionResponse") {
        found.links.push(Link::Result(nth(found, |link| matches!(link, Link::Result(_)))));
        let response = &result["response"];
        let told = response.get("output").or(response.get("error")).unwrap_or(response);
        found.result(&if told.is_object() { told.to_string() } else { text_of(told) });
    } else {
        found.other(part);
    }
}

// Calls have no ids here: results belong to them in order.
fn nth(found: &Conversation, is: fn(&Link) -> bool) -> String {
    found.links.iter().filter(|link| is(link)).count().to_string()
}

fn tool(value: &Value) -> Option<Tool> {
    let schema = value.get("parametersJsonSchema").or(value.get("parameters")).unwrap_or(&Value::Null);
    let takes = Takes::Object(schema["properties"].clone());
    Some(Tool { name: value["name"].as_str()?.to_owned(), takes })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Whether a stream is to come as events; if not, it is one list.
pub(super) fn wants_events(request: &Request) -> bool {
    request.query.split('&').any(|pair| pair == "alt=sse")
}

/// An answer that comes at once.
pub(super) fn response(model: &str, answer: &Answer, usage: Usage, ids: &Ids) -> Value {
    let mut parts: Vec<Value> = Vec::new();
    if !answer.text.is_empty() || answer.calls.is_empty() {
        parts.push(json!({ "text": answer.text }));
    }
    parts.extend(calls(answer));
    candidate(model, parts, true, usage, ids)
}

/// An answer as the pieces of a stream. Each tells the figures so far, the last one the true ones.
pub(super) fn pieces(model: &str, answer: &Answer, usage: Usage, ids: &Ids) -> Vec<Value> {
    let mut said = 0;
    let texts = parts(&answer.text).into_iter().map(|part| {
        said += chars(&part);
        (json!({ "text": part }), tokens(said))
    });
    let mut pieces: Vec<(Value, u64)> = texts.collect();
    let before = tokens(said);
    pieces.extend(calls(answer).into_iter().map(|call| (call, before)));
    if pieces.is_empty() {
        pieces.push((json!({ "text": "" }), 0));
    }
    let last = pieces.len() - 1;
    let piece = |(index, (part, so_far)): (usize, (Value, u64))| {
        let output = if index == last { usage.output } else { (so_far + usage.reasoning).min(usage.output) };
        candidate(model, vec![part], index == last, Usage { output, ..usage }, ids)
    };
    pieces.into_iter().enumerate().map(piece).collect()
}

/// One piece as a server-sent event.
pub(super) fn event(piece: &Value) -> String {
    format!("data: {piece}\r\n\r\n")
}

/// The answer to a count.
pub(super) fn count(tokens: u64) -> Value {
    json!({ "totalTokens": tokens, "promptTokensDetails": [{ "modality": "TEXT", "tokenCount": tokens }] })
}

/// An error body.
pub(super) fn error(code: u16, status: &str, message: &str, details: &[Value]) -> Value {
    let mut error = json!({ "code": code, "message": message, "status": status });
    if !details.is_empty() {
        error["details"] = details.into();
    }
    json!({ "error": error })
}

/// The list of models.
pub(super) fn models(window: u64) -> Value {
    let model = |name: &str| {
        json!({ "name": format!("models/{name}"), "displayName": name, "inputTokenLimit": window,
                "outputTokenLimit": 65_536, "supportedGenerationMethods": ["generateContent", "countTokens"] })
    };
    json!({ "models": [model("gemini-2.5-pro"), model("gemini-2.5-flash"), model("scripted")] })
}

fn candidate(model: &str, parts: Vec<Value>, ends: bool, usage: Usage, ids: &Ids) -> Value {
    let mut candidate = json!({ "content": { "parts": parts, "role": "model" }, "index": 0 });
    if ends {
        candidate["finishReason"] = "STOP".into();
    }
    json!({ "candidates": [candidate], "usageMetadata": usage_json(usage), "modelVersion": model,
            "responseId": ids.stem })
}

// The prompt contains what was cached; the candidates do not contain the thoughts.
fn usage_json(usage: Usage) -> Value {
    json!({
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "cachedContentTokenCount": usage.cached,
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": usage.input + usage.output,
        "promptTokensDetails": [{ "modality": "TEXT", "tokenCount": usage.input }],
    })
}

fn calls(answer: &Answer) -> Vec<Value> {
    let call = |call: &super::answer::Call| {
        let args = match &call.input {
            Input::Object(value) => value.clone(),
            Input::Text(text) => json!({ "input": text }),
        };
        json!({ "functionCall": { "name": call.name, "args": args } })
    };
    answer.calls.iter().map(call).collect()
}
