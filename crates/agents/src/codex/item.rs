//! What Codex says while it works: usage, text, tools, compaction.

use segue_machine::checkpoint::cut_chars;
use segue_machine::gauge::weigh;
use segue_machine::{AgentEvent, Reading, Scope};
use serde_json::Value;

use super::Codex;
use crate::{Io, described, text_weight};

/// Codex reports this share of the window that is configured…
const REPORTED: u64 = 95;
/// …and compacts at this share of it.
const COMPACTS: u64 = 90;
/// The longest text of one turn that is kept.
const KEPT_TEXT: usize = 1 << 20;

/// The window as it is configured, from what Codex reports of it.
pub(super) fn window(reported: u64) -> u64 {
    reported.saturating_mul(100) / REPORTED
}

/// Where it compacts, from the same.
pub(super) fn ceiling(reported: u64) -> u64 {
    reported.saturating_mul(COMPACTS) / REPORTED
}

/// Puts what was said behind what was said before; a text without end keeps its end.
pub(super) fn say(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
    if text.len() > 2 * KEPT_TEXT {
        let from = text.ceil_char_boundary(text.len() - KEPT_TEXT);
        text.drain(..from);
    }
}

/// The command that a shell was given, without the shell: `/bin/bash -lc 'make x'` is `make x`.
pub(super) fn bare_command(command: &str) -> String {
    let bare = || {
        let (shell, rest) = command.split_once(' ')?;
        let name = shell.rsplit('/').next()?;
        let script = rest.strip_prefix("-lc ").or_else(|| rest.strip_prefix("-c "))?.trim();
        let inner = |quote: char| script.strip_prefix(quote)?.strip_suffix(quote);
        let plain = match (inner('\''), inner('"')) {
            (Some(single), _) => single.replace(r"'\''", "'"),
            (None, Some(double)) if !double.contains(['\\', '$', '`']) => double.to_owned(),
            (None, Some(_)) => return None,
            (None, None) => script.to_owned(),
        };
        ["sh", "bash", "zsh", "dash"].contains(&name).then_some(plain)
    };
    bare().unwrap_or_else(|| command.to_owned())
}

impl Codex {
    pub(super) fn item_started(&mut self, item: &Value, io: &mut Io) {
        self.compacting |= item["type"] == "contextCompaction";
        let Some(title) = tool_title(item) else { return };
        let id = item["id"].as_str().unwrap_or_default().to_owned();
        let changes = item["changes"].as_array().into_iter().flatten();
        let places = changes.flat_map(|change| [&change["path"], &change["kind"]["move_path"]]);
        let paths: Vec<String> = places.filter_map(Value::as_str).map(str::to_owned).collect();
        if !paths.is_empty() {
            self.changing.insert(id.clone(), paths);
        }
        let announced = self.called.remove(&id).is_some();
        if self.tools.insert(id.clone(), title.clone()).is_none() && !announced {
            self.flush(io);
            io.events.push(AgentEvent::ToolStarted { tool: id, title });
        }
    }

    pub(super) fn item_completed(&mut self, item: &Value, io: &mut Io) {
        match item["type"].as_str().unwrap_or_default() {
            "agentMessage" => {
                let text = item["text"].as_str().unwrap_or_default();
                self.chars += weigh(text);
                crate::said(text, io);
                say(&mut self.text, text);
            }
            "reasoning" => self.chars += text_weight(&item["content"]),
            "contextCompaction" => {
                self.compacting = false;
                self.flush(io);
                io.events.push(AgentEvent::Compacted);
            }
            _ => self.tool_completed(item, io),
        }
    }

    fn tool_completed(&mut self, item: &Value, io: &mut Io) {
        let id = item["id"].as_str().unwrap_or_default();
        let known = self.tools.remove(id).or_else(|| self.called.remove(id));
        let Some(title) = known.or_else(|| tool_title(item)) else { return };
        let ok = !matches!(item["status"].as_str(), Some("failed" | "declined"))
            && item["exitCode"].as_i64().unwrap_or(0) == 0;
        let output = item["aggregatedOutput"].as_str();
        let words = output.or_else(|| item.pointer("/error/message").and_then(Value::as_str));
        let exit = item["exitCode"].as_i64();
        io.events.extend(described(id, only_reads(item), ok, exit, words.unwrap_or_default()));
        if self.raw || self.raw_items {
            self.ended.insert(id.to_owned(), (title, ok));
            return;
        }
        let chars = output.map_or_else(|| text_weight(&item["result"]), weigh);
        self.flush(io);
        io.events.push(AgentEvent::ToolEnded { tool: id.to_owned(), title, ok, chars });
    }

    /// One item as the model's API has it: a call before its tool runs, or what the model is sent of a tool's output.
    pub(super) fn raw_item(&mut self, item: &Value, io: &mut Io) {
        self.raw_items = true;
        match item["type"].as_str().unwrap_or_default() {
            _ if is_call(item) => self.raw_call(item, io),
            kind if kind.ends_with("_output") => self.raw_output(item, io),
            _ => {}
        }
    }

    // The session must not be ended between the call and its tool.
    fn raw_call(&mut self, item: &Value, io: &mut Io) {
        let id = item["call_id"].as_str().unwrap_or_default().to_owned();
        if id.is_empty() || self.tools.contains_key(&id) {
            return;
        }
        let title = call_title(item);
        if self.called.insert(id.clone(), title.clone()).is_none() {
            self.flush(io);
            io.events.push(AgentEvent::ToolStarted { tool: id, title });
        }
    }

    // This may be much less than the tool printed.
    fn raw_output(&mut self, item: &Value, io: &mut Io) {
        let output = &item["output"];
        let chars = text_weight(output);
        self.flush(io);
        let tool = item["call_id"].as_str().unwrap_or_default();
        let without_item = self.called.remove(tool).map(|title| (title, true));
        match self.ended.remove(tool).or(without_item) {
            Some((title, ok)) => {
                io.events.push(AgentEvent::ToolEnded { tool: tool.to_owned(), title, ok, chars })
            }
            None => self.chars += chars,
        }
    }

    /// Reports tools whose output reached the model in some other way.
    pub(super) fn flush_ended(&mut self, io: &mut Io) {
        for (tool, (title, ok)) in std::mem::take(&mut self.ended) {
            io.events.push(AgentEvent::ToolEnded { tool, title, ok, chars: 0 });
        }
    }

    /// One response's own usage: exact, and before its tools run.
    pub(super) fn raw_usage(&mut self, params: &Value, io: &mut Io) {
        self.raw = true;
        let call = params["responseId"].as_str().map(str::to_owned);
        self.usage(&params["usage"], call, None, io);
    }

    /// The same after the tools, with the window. Only the window is news when each response was already read.
    pub(super) fn token_usage(&mut self, usage: &Value, io: &mut Io) {
        self.flush_ended(io);
        let reported = usage["modelContextWindow"].as_u64().filter(|w| *w > 0);
        if self.raw {
            let Some(reported) = reported else { return };
            return io.events.push(AgentEvent::UsageRead(Reading {
                window: Some(window(reported)),
                ceiling: Some(ceiling(reported)),
                ..Reading::reported(0, None)
            }));
        }
        self.usage(&usage["last"], None, reported, io);
    }

    // A reading without a prompt side is Codex's own estimate after a compaction or an overflow.
    fn usage(&mut self, usage: &Value, call: Option<String>, reported: Option<u64>, io: &mut Io) {
        let count = |name: &str| usage[name].as_u64().unwrap_or(0);
        let (input, cached) = (count("inputTokens"), count("cachedInputTokens"));
        if input == 0 {
            return;
        }
        self.flush(io);
        // The request for a summary is a call of its own and says nothing about what is in the window.
        let scope = if self.compacting { Scope::Side } else { Scope::Main };
        io.events.push(AgentEvent::UsageRead(Reading {
            scope,
            call,
            window: reported.map(window),
            ceiling: reported.map(ceiling),
            ..Reading::exact(input.saturating_sub(cached), cached, 0, count("outputTokens"))
        }));
    }

    /// Reports the text that has come together.
    pub(super) fn flush(&mut self, io: &mut Io) {
        let chars = std::mem::take(&mut self.chars);
        if chars > 0 {
            io.events.push(AgentEvent::TextSaid { chars });
        }
    }
}

/// Whether Codex itself took a command for one that only reads, lists or searches.
pub(super) fn only_reads(item: &Value) -> bool {
    let actions = item["commandActions"].as_array().map_or(&[][..], Vec::as_slice);
    let reads = |action: &Value| matches!(action["type"].as_str(), Some("read" | "listFiles" | "search"));
    item["type"] == "webSearch" || (!actions.is_empty() && actions.iter().all(reads))
}

/// Whether an item of the model's API calls a tool.
pub(super) fn is_call(item: &Value) -> bool {
    matches!(item["type"].as_str(), Some("function_call" | "custom_tool_call" | "local_shell_call"))
}

pub(super) fn call_title(item: &Value) -> String {
    let name = item["name"].as_str().unwrap_or("tool");
    let arguments = item["arguments"].as_str().and_then(|a| serde_json::from_str::<Value>(a).ok());
    let command = arguments.as_ref().and_then(|a| a["cmd"].as_str().or_else(|| a["command"].as_str()));
    cut_chars(command.unwrap_or(name).lines().next().unwrap_or_default(), 200)
}

pub(super) fn tool_title(item: &Value) -> Option<String> {
    let word = |name: &str| item[name].as_str().unwrap_or_default();
    let title = match word("type") {
        "commandExecution" => word("command").to_owned(),
        "fileChange" => {
            let paths = item["changes"].as_array().into_iter().flatten().filter_map(|c| c["path"].as_str());
            format!("edit {}", paths.collect::<Vec<_>>().join(", "))
        }
        "mcpToolCall" | "dynamicToolCall" => word("tool").to_owned(),
        "collabAgentToolCall" => format!("sub-agent {}", word("prompt")),
        "webSearch" => format!("search {}", word("query")),
        _ => return None,
    };
    Some(cut_chars(title.lines().next().unwrap_or_default(), 200))
}
