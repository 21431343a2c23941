//! Codex one prompt at a time (`codex exec --json`), for versions without an app-server.
//!
//! Its stream has no usage but a sum over the whole thread, so the gauge comes from the rollout file that it writes beside
//! it, one record for each response. It cannot be asked anything while it works: segue writes its checkpoints.

use std::collections::BTreeMap;

use segue_machine::gauge::weigh;
use segue_machine::{AgentEvent, Capabilities, Reading, TurnEnd};
use serde_json::Value;

use super::item::tool_title;
use super::{item, turn};
use crate::{Act, Adapter, Extras, Io, Tail, readable};

/// One prompt to Codex.
#[derive(Debug, Default)]
pub struct CodexExec {
    model: Option<String>,
    bypass: bool,
    edit: bool,
    thread: Option<String>,
    tools: BTreeMap<String, String>,
    text: String,
    over: bool,
}

impl CodexExec {
    /// A prompt with the user's model and permissions.
    pub fn new(model: Option<String>, bypass: bool) -> Self {
        Self { model, bypass, ..Self::default() }
    }

    /// The same, allowed to change files in the work tree: its sandbox decides, nobody is asked.
    #[must_use]
    pub fn with_edit(self, edit: bool) -> Self {
        Self { edit, ..self }
    }

    fn event(&mut self, line: &Value, io: &mut Io) {
        let item = &line["item"];
        match line["type"].as_str().unwrap_or_default() {
            "thread.started" => self.thread = line["thread_id"].as_str().map(str::to_owned),
            "item.started" | "item.updated" | "item.completed" if item["type"] == "todo_list" => {
                io.events.extend(todo_list(&item["items"]));
            }
            "item.started" => self.item_started(item, io),
            "item.completed" => self.item_completed(item, io),
            "error" if line["message"].as_str().is_some_and(|m| m.starts_with("Reconnecting")) => {
                io.events.push(turn::retrying(line));
            }
            "turn.completed" => {
                let text = std::mem::take(&mut self.text);
                self.end(TurnEnd::Finished { text }, io);
            }
            "turn.failed" => {
                let message = line.pointer("/error/message").and_then(Value::as_str);
                self.end(turn::failed(message.unwrap_or("no reason given"), None), io);
            }
            _ => {}
        }
    }

    fn item_started(&mut self, item: &Value, io: &mut Io) {
        let Some(title) = tool_title(&camel(item)) else { return };
        let id = item["id"].as_str().unwrap_or_default().to_owned();
        self.tools.insert(id.clone(), title.clone());
        io.events.push(AgentEvent::ToolStarted { tool: id, title });
    }

    fn item_completed(&mut self, item: &Value, io: &mut Io) {
        if item["type"] == "agent_message" {
            let text = item["text"].as_str().unwrap_or_default();
            crate::said(text, io);
            item::say(&mut self.text, text);
            return io.events.push(AgentEvent::TextSaid { chars: weigh(text) });
        }
        let id = item["id"].as_str().unwrap_or_default();
        let Some(title) = self.tools.remove(id).or_else(|| tool_title(&camel(item))) else { return };
        let ok = item["exit_code"].as_i64().unwrap_or(0) == 0 && item["status"] != "failed";
        let output = item["aggregated_output"].as_str().unwrap_or_default();
        let chars = weigh(output);
        io.events.extend(crate::described(
            id,
            item["type"] == "web_search",
            ok,
            item["exit_code"].as_i64(),
            output,
        ));
        io.events.push(AgentEvent::ToolEnded { tool: id.to_owned(), title, ok, chars });
    }

    fn end(&mut self, end: TurnEnd, io: &mut Io) {
        if !std::mem::replace(&mut self.over, true) {
            io.events.push(AgentEvent::TurnEnded(end));
        }
    }
}

impl Adapter for CodexExec {
    fn open(&mut self, io: &mut Io) {
        io.events.push(AgentEvent::Ready {
            conversation: String::new(),
            model: self.model.clone(),
            window: None,
            ceiling: None,
            can: Capabilities {
                ask: false,
                follow_up: false,
                usage: true,
                brake: false,
                tell: false,
                side: false,
                resume: false,
            },
        });
    }

    fn line(&mut self, line: &[u8], io: &mut Io) {
        match serde_json::from_slice::<Value>(line) {
            Ok(value) if value.is_object() => self.event(&value, io),
            _ => io.events.push(readable(line)),
        }
    }

    fn tailed(&mut self, line: &[u8], io: &mut Io) {
        let Ok(line) = serde_json::from_slice::<Value>(line) else { return };
        let payload = &line["payload"];
        match line["type"].as_str().unwrap_or_default() {
            "token_usage_record" => {
                let count = |name: &str| payload["usage"][name].as_u64().unwrap_or(0);
                let (input, cached) = (count("input_tokens"), count("cached_input_tokens"));
                if input > 0 {
                    let exact =
                        Reading::exact(input.saturating_sub(cached), cached, 0, count("output_tokens"));
                    let call = payload["response_id"].as_str().map(str::to_owned);
                    io.events.push(AgentEvent::UsageRead(Reading { call, ..exact }));
                }
            }
            "event_msg" => {
                let window = payload.pointer("/info/model_context_window").and_then(Value::as_u64);
                if let Some(reported) = window.filter(|w| *w > 0) {
                    io.events.push(AgentEvent::UsageRead(Reading {
                        window: Some(item::window(reported)),
                        ceiling: Some(item::ceiling(reported)),
                        ..Reading::reported(0, None)
                    }));
                }
            }
            "compacted" => io.events.push(AgentEvent::Compacted),
            _ => {}
        }
    }

    fn tail(&self) -> Option<Tail> {
        let thread = self.thread.as_ref()?;
        Some(Tail {
            home: "CODEX_HOME",
            below: "",
            fallback: ".codex",
            folder: "sessions",
            ends_with: format!("-{thread}.jsonl"),
        })
    }

    fn act(&mut self, act: Act, io: &mut Io) {
        match act {
            Act::SideQuestion { id, .. } => crate::no_side_question(id, io),
            Act::Close => io.close = true,
            Act::Prompt(_) | Act::Ask(_) | Act::Tell(_) | Act::Permission { .. } | Act::Braked => {}
        }
    }

    fn exited(&mut self, exit: Option<i32>, io: &mut Io) {
        let code = exit.map_or_else(|| "by a signal".to_owned(), |c| format!("with code {c}"));
        self.end(turn::failed(&format!("codex ended {code} without a word"), None), io);
    }

    fn extras(&self) -> Extras {
        let mut args: Vec<String> = ["exec", "--json", "--skip-git-repo-check"].map(str::to_owned).to_vec();
        if let Some(model) = &self.model {
            args.extend(["--model".to_owned(), model.clone()]);
        }
        if self.bypass {
            args.push("--dangerously-bypass-approvals-and-sandbox".to_owned());
        } else if self.edit {
            args.extend(super::settings(&super::WORK_TREE_ONLY));
        }
        Extras { args, grace_ms: Some(300), ..Extras::default() }
    }

    fn starts_with_prompt(&self) -> bool {
        true
    }
}

fn todo_list(items: &Value) -> Option<AgentEvent> {
    let items = items.as_array()?.iter().enumerate().map(|(place, item)| {
        let state = if item["completed"] == true { "completed" } else { "pending" };
        crate::list_item((place + 1).to_string(), item["text"].as_str().unwrap_or_default(), state)
    });
    Some(AgentEvent::list(items))
}

// The two front ends of Codex name the same things in two ways.
fn camel(item: &Value) -> Value {
    let kind = match item["type"].as_str().unwrap_or_default() {
        "command_execution" => "commandExecution",
        "file_change" => "fileChange",
        "mcp_tool_call" => "mcpToolCall",
        "web_search" => "webSearch",
        other => other,
    };
    let mut named = item.clone();
    if let Some(fields) = named.as_object_mut() {
        fields.insert("type".to_owned(), Value::String(kind.to_owned()));
    }
    named
}

#[cfg(test)]
#[path = "exec_tests.rs"]
mod tests;
