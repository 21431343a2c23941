//! What other ways of reading the same stream would have said, from the output that the run kept.

use std::collections::BTreeSet;

use serde_json::Value;

/// The other figures after one call.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rival {
    /// The agent's own total of the turn or thread, where it had given one by then.
    pub(crate) total: Option<u64>,
    /// The sum over all calls of the session so far.
    pub(crate) sum: u64,
    /// Characters that could be seen so far, 4 to a token, where the stream tells to which call they belong.
    pub(crate) seen: Option<u64>,
}

/// The figures after each call of a session, from what the agent wrote. `tokens` is what each call was, for agents whose
/// stream is not read here.
pub(crate) fn of(agent: &str, output: &str, tokens: &[u64]) -> Vec<Rival> {
    let mut state = State::default();
    let silent = ["gemini", "opencode"].contains(&agent);
    if silent {
        tokens.iter().for_each(|tokens| state.call(*tokens));
        state.calls.iter_mut().for_each(|call| call.seen = None);
    }
    for line in output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        match agent {
            "codex" => state.codex(&line),
            "gemini" => state.acp(&line),
            "opencode" => {}
            _ => state.claude(&line),
        }
    }
    if let ("gemini", Some(last)) = (agent, state.calls.last_mut()) {
        last.seen = Some(state.chars / 4);
    }
    state.calls
}

#[derive(Default)]
struct State {
    calls: Vec<Rival>,
    prompt: u64,
    sum: u64,
    chars: u64,
    messages: BTreeSet<String>,
}

impl State {
    fn call(&mut self, tokens: u64) {
        self.sum += tokens;
        self.calls.push(Rival { total: None, sum: self.sum, seen: Some(self.chars / 4) });
    }

    fn total(&mut self, tokens: u64) {
        if let Some(last) = self.calls.last_mut() {
            last.total = Some(tokens);
        }
    }

    fn claude(&mut self, line: &Value) {
        let main = line["parent_tool_use_id"].is_null();
        match (line["type"].as_str().unwrap_or_default(), &line["event"]["type"]) {
            ("stream_event", kind) if main && kind == "message_start" => {
                self.prompt = prompt_side(&line["event"]["message"]["usage"]);
            }
            ("stream_event", kind) if main && kind == "message_delta" => {
                self.call(self.prompt + count(&line["event"]["usage"]["output_tokens"]));
            }
            ("assistant" | "user", _) => {
                for block in line["message"]["content"].as_array().into_iter().flatten() {
                    self.chars += block_chars(block);
                }
            }
            ("result", _) => {
                let usage = &line["usage"];
                self.total(prompt_side(usage) + count(&usage["output_tokens"]));
            }
            _ => {}
        }
    }

    fn codex(&mut self, line: &Value) {
        let params = &line["params"];
        match line["method"].as_str().unwrap_or_default() {
            "rawResponse/completed" => {
                let id = params["responseId"].to_string();
                if self.messages.insert(id) {
                    self.call(count(&params["usage"]["totalTokens"]));
                }
            }
            "thread/tokenUsage/updated" => {
                self.total(count(&params["tokenUsage"]["total"]["totalTokens"]));
            }
            "item/completed" => {
                let item = &params["item"];
                self.chars +=
                    ["text", "command", "aggregatedOutput"].map(|key| chars(&item[key])).iter().sum::<u64>();
            }
            _ => {}
        }
    }
}

impl State {
    // The count at the end of a prompt is the sum over its calls.
    fn acp(&mut self, line: &Value) {
        let update = &line["params"]["update"];
        self.chars += chars(&update["content"]["text"]);
        let parts = update["content"].as_array().into_iter().flatten();
        self.chars += parts.map(|part| chars(&part["content"]["text"])).sum::<u64>();
        let quota = &line["result"]["_meta"]["quota"]["token_count"];
        if quota.is_object() {
            self.total(count(&quota["input_tokens"]) + count(&quota["output_tokens"]));
        }
    }
}

fn prompt_side(usage: &Value) -> u64 {
    let parts = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    parts.map(|part| count(&usage[part])).iter().sum()
}

fn block_chars(block: &Value) -> u64 {
    match block["type"].as_str().unwrap_or_default() {
        "text" => chars(&block["text"]),
        "tool_use" => block["input"].to_string().len() as u64,
        "tool_result" => {
            let parts = block["content"].as_array().into_iter().flatten();
            chars(&block["content"]) + parts.map(|part| chars(&part["text"])).sum::<u64>()
        }
        _ => 0,
    }
}

fn chars(text: &Value) -> u64 {
    text.as_str().map_or(0, |text| text.chars().count() as u64)
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}
