//! What Claude Code says while it works: usage, text, tools, compaction.

use segue_machine::checkpoint::cut_chars;
use segue_machine::gauge::weigh;
use segue_machine::{AgentEvent, Reading, Scope, Subject};
use serde_json::Value;

use super::{Call, Claude, KEPT_TEXT};
use crate::{Io, failure_of, whole_ms};

/// A picture of the largest size that is sent takes 1,600 tokens: as many characters of usual text.
const IMAGE_CHARS: u64 = 6_400;

impl Claude {
    pub(super) fn stream_event(&mut self, event: &Value, io: &mut Io) {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => {
                let message = &event["message"];
                self.call = Some(Call {
                    id: message["id"].as_str().unwrap_or_default().to_owned(),
                    input: count(&message["usage"]["input_tokens"]),
                    cache_read: count(&message["usage"]["cache_read_input_tokens"]),
                    cache_write: count(&message["usage"]["cache_creation_input_tokens"]),
                    cache_write_1h: for_an_hour(&message["usage"]),
                });
            }
            "message_delta" => {
                self.call_ended(&event["usage"], io);
                // Without a tool the turn is about to end by itself, and its end says what becomes of the request.
                if event["delta"]["stop_reason"] == "tool_use" {
                    self.send_held(io);
                }
            }
            _ => {}
        }
    }

    // The answer's tokens stand in the last delta; some servers repeat the prompt side there, corrected.
    fn call_ended(&mut self, usage: &Value, io: &mut Io) {
        let Some(call) = self.call.take() else { return };
        let either = |name: &str, before: u64| usage[name].as_u64().filter(|n| *n > 0).unwrap_or(before);
        let reading = Reading {
            call: Some(call.id.clone()),
            cache_write_1h: for_an_hour(usage).max(call.cache_write_1h),
            ..Reading::exact(
                either("input_tokens", call.input),
                either("cache_read_input_tokens", call.cache_read),
                either("cache_creation_input_tokens", call.cache_write),
                count(&usage["output_tokens"]),
            )
        };
        self.flush(io);
        self.last_fill = Some(reading.fill());
        self.metered.insert(call.id);
        io.events.push(AgentEvent::UsageRead(reading));
    }

    pub(super) fn assistant(&mut self, line: &Value, main: bool, io: &mut Io) {
        let message = &line["message"];
        // A synthetic message stands for an error; its usage is all zero and says nothing.
        if message["model"] == "<synthetic>" {
            return;
        }
        let id = message["id"].as_str().unwrap_or_default();
        if !main {
            return self.side_call(id, &message["usage"], io);
        }
        for block in message["content"].as_array().into_iter().flatten() {
            self.block(block, io);
        }
        let streams = self.call.as_ref().is_some_and(|call| call.id == id);
        if !streams {
            self.call = None;
        }
        if !streams && message["usage"].is_object() && self.metered.insert(id.to_owned()) {
            self.flush(io);
            io.events.push(AgentEvent::UsageRead(reading(id, &message["usage"])));
        }
    }

    // A sub-agent has a window of its own; only what it spends is of interest.
    fn side_call(&mut self, id: &str, usage: &Value, io: &mut Io) {
        if self.side.insert(id.to_owned()) {
            io.events.push(AgentEvent::UsageRead(Reading { scope: Scope::Side, ..reading(id, usage) }));
        }
    }

    fn block(&mut self, block: &Value, io: &mut Io) {
        match block["type"].as_str().unwrap_or_default() {
            "text" => {
                let text = block["text"].as_str().unwrap_or_default();
                self.chars += weigh(text);
                crate::said(text, io);
                self.text.push_str(text);
                if self.text.len() > 2 * KEPT_TEXT {
                    let from = self.text.ceil_char_boundary(self.text.len() - KEPT_TEXT);
                    self.text.drain(..from);
                }
            }
            "tool_use" => {
                let (id, name) =
                    (block["id"].as_str().unwrap_or_default(), block["name"].as_str().unwrap_or_default());
                self.chars += weigh(&block["input"].to_string());
                let title = title(name, &block["input"]);
                if matches!(kind(name), "read" | "search" | "fetch") {
                    self.reading.insert(id.to_owned());
                }
                if self.tools.insert(id.to_owned(), title.clone()).is_none() {
                    self.flush(io);
                    io.events.push(AgentEvent::ToolStarted { tool: id.to_owned(), title });
                    io.events.extend(crate::list(&block["input"]["todos"], &["content"]));
                    self.list.asked(id, name, &block["input"]);
                }
            }
            "thinking" => self.chars += weigh(block["thinking"].as_str().unwrap_or_default()),
            _ => {}
        }
    }

    pub(super) fn user(&mut self, line: &Value, io: &mut Io) {
        let message = &line["message"];
        for block in message["content"].as_array().into_iter().flatten() {
            if block["type"] != "tool_result" {
                continue;
            }
            let id = block["tool_use_id"].as_str().unwrap_or_default();
            let title = self.tools.remove(id).unwrap_or_default();
            let ok = block["is_error"] != true;
            self.flush(io);
            let chars = content_chars(&block["content"]);
            let output = content_text(&block["content"]);
            let reads = self.reading.remove(id);
            io.events.extend(crate::described(id, reads, ok, exit_code(&output), &output));
            io.events.extend(self.list.answered(id, ok, &line["tool_use_result"], &output));
            io.events.push(AgentEvent::ToolEnded { tool: id.to_owned(), title, ok, chars });
        }
        self.send_held(io);
    }

    pub(super) fn system(&mut self, line: &Value, io: &mut Io) {
        let task = || line["task_id"].as_str().unwrap_or_default().to_owned();
        match line["subtype"].as_str().unwrap_or_default() {
            "compact_boundary" => {
                self.flush(io);
                self.last_fill = None;
                io.events.push(AgentEvent::Compacted);
            }
            // The answer that streamed is lost; the next try may be far away.
            "api_retry" => {
                self.call = None;
                io.events.push(retrying(line));
                self.send_held(io);
            }
            "task_started" if line["is_backgrounded"] == true => {
                let title = line["description"].as_str().unwrap_or("background task").to_owned();
                if self.background.insert(task()) {
                    io.events.push(AgentEvent::ToolStarted { tool: task(), title });
                }
            }
            "task_notification" if self.background.remove(&task()) => {
                let title = line["summary"].as_str().unwrap_or_default().to_owned();
                io.events.push(AgentEvent::ToolEnded { tool: task(), title, ok: true, chars: 0 });
            }
            _ => {}
        }
    }

    // Only a limit that turned a request down says when the next one is worth it.
    pub(super) fn rate_limit(&mut self, info: &Value, io: &mut Io) {
        let resets_at = info["resetsAt"].as_u64().map(|seconds| seconds.saturating_mul(1_000));
        self.rejected_until = resets_at.filter(|_| info["status"] == "rejected");
        allowances(info, io);
    }

    /// Reports the text that has come together.
    pub(super) fn flush(&mut self, io: &mut Io) {
        let chars = std::mem::take(&mut self.chars);
        if chars > 0 {
            io.events.push(AgentEvent::TextSaid { chars });
        }
    }
}

// The status is null where the connection was lost.
fn retrying(line: &Value) -> AgentEvent {
    let word = line["error"].as_str().unwrap_or("unknown");
    let status = line["error_status"].as_u64();
    let why = status.map_or_else(|| word.to_owned(), |status| format!("{status} {word}"));
    let number = |name: &str| line[name].as_u64().and_then(|n| u32::try_from(n).ok());
    AgentEvent::Retrying {
        attempt: number("attempt").unwrap_or(1),
        of: number("max_retries"),
        failure: failure_of(&why, status),
        why,
        delay_ms: line["retry_delay_ms"].as_f64().map(whole_ms),
        next_at: None,
    }
}

/// What a subscription's limits say; only logins that have such limits send it.
fn allowances(info: &Value, io: &mut Io) {
    for (name, window) in info["unifiedWindows"].as_object().into_iter().flatten() {
        let Some(used) = window["utilization"].as_f64().filter(|used| *used >= 0.0) else { continue };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a percentage, clamped")]
        let used_percent = (used * 100.0).round().min(1_000.0) as u32;
        let resets_at = window["resetsAt"].as_u64().map(|seconds| seconds.saturating_mul(1_000));
        let name = name.replace('_', " ");
        io.events.push(AgentEvent::AllowanceSeen { name, used_percent, resets_at });
    }
}

/// A tool call in a few words: the tool and the telling part of its input.
pub(super) fn title(name: &str, input: &Value) -> String {
    let telling = ["command", "file_path", "path", "pattern", "url", "description", "prompt"];
    let question = input.pointer("/questions/0/question").and_then(Value::as_str);
    if let Some(question) = question.filter(|_| name == ASKS) {
        return cut_chars(question.lines().next().unwrap_or_default(), 160);
    }
    let part = telling.iter().find_map(|key| input[*key].as_str()).unwrap_or_default();
    let part = cut_chars(part.lines().next().unwrap_or_default(), 160);
    if part.is_empty() {
        name.to_owned()
    } else if name == "Bash" {
        part
    } else {
        format!("{name} {part}")
    }
}

/// What a tool call is about.
pub(super) fn subject(input: &Value) -> Subject {
    let paths = ["file_path", "notebook_path", "path"].iter().filter_map(|key| input[*key].as_str());
    Subject {
        command: input["command"].as_str().map(str::to_owned),
        paths: paths.map(str::to_owned).collect(),
    }
}

/// The tool by which the agent asks a person.
const ASKS: &str = "AskUserQuestion";

/// The kind of a tool, in the words that permissions are given in; a tool of unknown kind is one of its own.
pub(super) fn kind(name: &str) -> &str {
    match name {
        "Bash" | "BashOutput" | "KillShell" => "execute",
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => "edit",
        "Read" | "LS" => "read",
        "Glob" | "Grep" => "search",
        "WebFetch" | "WebSearch" => "fetch",
        ASKS => "question",
        other => other,
    }
}

fn reading(id: &str, usage: &Value) -> Reading {
    let exact = Reading::exact(
        count(&usage["input_tokens"]),
        count(&usage["cache_read_input_tokens"]),
        count(&usage["cache_creation_input_tokens"]),
        count(&usage["output_tokens"]),
    );
    Reading { call: Some(id.to_owned()), cache_write_1h: for_an_hour(usage), ..exact }
}

fn for_an_hour(usage: &Value) -> u64 {
    count(&usage["cache_creation"]["ephemeral_1h_input_tokens"])
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

fn content_chars(content: &Value) -> u64 {
    if let Some(text) = content.as_str() {
        return weigh(text);
    }
    let blocks = content.as_array().into_iter().flatten();
    let size = |block: &Value| match block["type"].as_str() {
        Some("image") => IMAGE_CHARS,
        _ => block["text"].as_str().map_or_else(|| weigh(&block.to_string()), weigh),
    };
    blocks.map(size).sum()
}

fn content_text(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let texts = content.as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

// A command that failed is answered with its code on the first line.
fn exit_code(output: &str) -> Option<i64> {
    output.lines().next()?.trim().strip_prefix("Exit code ")?.parse().ok()
}
