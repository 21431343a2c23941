//! `session/update`: what the agent says while it works.

use agent_client_protocol_schema::v1::{
    ContentBlock, Plan, PlanEntryStatus, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolKind,
};
use segue_machine::gauge::weigh;
use segue_machine::{AgentEvent, Reading, Scope, Subject};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Acp, Call, KEPT_TEXT, TEXT_STEP};
use crate::{Io, described, list_item, readable};

#[derive(Deserialize)]
struct Notification<'a> {
    #[serde(borrow)]
    update: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kind {
    session_update: String,
}

#[derive(Deserialize)]
struct Chunk {
    content: ContentBlock,
    #[serde(default, rename = "_meta")]
    meta: Value,
}

/// What a permission request is about. The protocol has no field for a command: agents give it as input or as title.
pub(super) fn subject(kind: &str, title: &str, fields: &impl serde::Serialize) -> Subject {
    let fields = serde_json::to_value(fields).unwrap_or_default();
    let given = ["command", "cmd"].iter().find_map(|key| fields["rawInput"][*key].as_str());
    let command = given.or(Some(title)).filter(|_| kind == "execute").map(str::to_owned);
    let listed = |name: &str| fields[name].as_array().cloned().unwrap_or_default();
    let diffs = listed("content").into_iter().filter(|content| content["type"] == "diff");
    let mut paths: Vec<String> = listed("locations")
        .into_iter()
        .chain(diffs)
        .chain([fields["rawInput"].clone()])
        .flat_map(|value| ["path", "file_path", "filePath"].map(|key| value[key].as_str().map(str::to_owned)))
        .flatten()
        .collect();
    paths.sort();
    paths.dedup();
    Subject { command, paths }
}

impl Acp {
    pub(super) fn update(&mut self, params: Option<&RawValue>, io: &mut Io) {
        // While an old conversation is loaded its history is played again: that is no news.
        if self.calls.values().any(|c| *c == Call::Load) {
            return;
        }
        let update =
            params.and_then(|p| serde_json::from_str::<Notification<'_>>(p.get()).ok()).map(|n| n.update);
        let kind = update.and_then(|u| serde_json::from_str::<Kind>(u.get()).ok());
        let (Some(update), Some(kind)) = (update, kind) else {
            return io.events.push(readable(params.map_or(&b""[..], |p| p.get().as_bytes())));
        };
        let update = update.get();
        let read = match kind.session_update.as_str() {
            "agent_message_chunk" => from(update).map(|chunk: Chunk| self.said(&chunk, true, io)),
            "agent_thought_chunk" => from(update).map(|chunk: Chunk| self.said(&chunk, false, io)),
            "tool_call" => from(update).map(|call: ToolCall| self.tool_call(&call, io)),
            "tool_call_update" => from(update).map(|call: ToolCallUpdate| self.tool_update(&call, io)),
            "plan" => from(update).map(|plan: Plan| self.plan(&plan, io)),
            "usage_update" => from(update).map(|usage: Value| self.usage(&usage, io)),
            "compaction_update" => {
                self.flush(io);
                io.events.push(AgentEvent::Compacted);
                Some(())
            }
            _ => Some(()),
        };
        if read.is_none() {
            io.events.push(readable(update.as_bytes()));
        }
    }

    // Outside the protocol, but plain: some agents put the usage of the call that has just ended beside its last words.
    // A sub-agent's call names the tool call that it belongs to.
    fn call_usage(&mut self, meta: &Value, io: &mut Io) {
        let count = |name: &str| meta.pointer(&format!("/usage/{name}")).and_then(Value::as_u64);
        let (Some(input), Some(output)) = (count("inputTokens"), count("outputTokens")) else { return };
        if input == 0 {
            return;
        }
        self.flush(io);
        let cached = count("cachedReadTokens").unwrap_or(0).min(input);
        let output = count("totalTokens").map_or(output, |total| total.saturating_sub(input).max(output));
        if !meta["parentToolCallId"].is_null() {
            let side = Reading { scope: Scope::Side, ..Reading::exact(input - cached, cached, 0, output) };
            return io.events.push(AgentEvent::UsageRead(side));
        }
        self.metered += 1;
        let reading = Reading {
            call: Some(format!("call {}", self.metered)),
            ..Reading::exact(input - cached, cached, 0, output)
        };
        self.mid_call = true;
        io.events.push(AgentEvent::UsageRead(reading));
    }

    fn said(&mut self, chunk: &Chunk, aloud: bool, io: &mut Io) {
        self.call_usage(&chunk.meta, io);
        let ContentBlock::Text(text) = &chunk.content else { return };
        self.unsaid += weigh(&text.text);
        self.mid_call |= !text.text.is_empty();
        if aloud {
            // What a sub-agent says names the tool call that it belongs to.
            if chunk.meta["parentToolCallId"].is_null() {
                self.message.push_str(&text.text);
            }
            if self.message.len() > KEPT_TEXT {
                self.say_message(io);
            }
            self.text.push_str(&text.text);
            if self.text.len() > 2 * KEPT_TEXT {
                let from = self.text.ceil_char_boundary(self.text.len() - KEPT_TEXT);
                self.text.drain(..from);
                self.words_from = self.words_from.saturating_sub(from);
            }
        }
        if self.unsaid >= TEXT_STEP {
            self.flush(io);
        }
    }

    /// Reports the text that has come together.
    pub(super) fn flush(&mut self, io: &mut Io) {
        let chars = std::mem::take(&mut self.unsaid);
        if chars > 0 {
            io.events.push(AgentEvent::TextSaid { chars });
        }
    }

    fn tool_call(&mut self, call: &ToolCall, io: &mut Io) {
        self.flush(io);
        self.note_kind(&call.tool_call_id.0, Some(call.kind));
        self.start_tool(&call.tool_call_id.0, &call.title, io);
        if is_over(call.status) {
            let (content, raw) = (Some(call.content.as_slice()), call.raw_output.as_ref());
            self.end_tool(&call.tool_call_id.0, call.status, content, raw, io);
        }
    }

    fn tool_update(&mut self, call: &ToolCallUpdate, io: &mut Io) {
        self.flush(io);
        let (id, fields) = (&*call.tool_call_id.0, &call.fields);
        self.note_kind(id, fields.kind);
        if !self.tools.contains_key(id) {
            self.start_tool(id, fields.title.as_deref().unwrap_or_default(), io);
        }
        if let Some(status) = fields.status.filter(|s| is_over(*s)) {
            self.end_tool(id, status, fields.content.as_deref(), fields.raw_output.as_ref(), io);
        }
    }

    fn note_kind(&mut self, id: &str, kind: Option<ToolKind>) {
        match kind {
            Some(ToolKind::Read | ToolKind::Search | ToolKind::Fetch | ToolKind::Think) => {
                self.reading.insert(id.to_owned());
            }
            Some(_) => {
                self.reading.remove(id);
            }
            None => {}
        }
    }

    fn start_tool(&mut self, id: &str, title: &str, io: &mut Io) {
        self.mid_call = false;
        let new = self.tools.insert(id.to_owned(), title.to_owned()).is_none();
        if new {
            self.say_message(io);
            self.tool_breaks_text();
            io.events.push(AgentEvent::ToolStarted { tool: id.to_owned(), title: title.to_owned() });
        }
    }

    fn end_tool(
        &mut self,
        id: &str,
        status: ToolCallStatus,
        content: Option<&[ToolCallContent]>,
        raw: Option<&Value>,
        io: &mut Io,
    ) {
        let title = self.tools.remove(id).unwrap_or_default();
        let ok = status == ToolCallStatus::Completed;
        let chars = result_chars(content, raw);
        let exit = raw.and_then(|raw| raw["exit_code"].as_i64().or_else(|| raw["exitCode"].as_i64()));
        let output = if ok { String::new() } else { result_text(content, raw) };
        io.events.extend(described(id, self.reading.remove(id), ok, exit, &output));
        io.events.push(AgentEvent::ToolEnded { tool: id.to_owned(), title, ok, chars });
        self.ask_when_quiet(io);
    }

    fn plan(&mut self, plan: &Plan, io: &mut Io) {
        let items = plan.entries.iter().enumerate().map(|(place, entry)| {
            let state = match entry.status {
                PlanEntryStatus::InProgress => "in_progress",
                PlanEntryStatus::Completed => "completed",
                PlanEntryStatus::Pending | _ => "pending",
            };
            list_item((place + 1).to_string(), &entry.content, state)
        });
        io.events.push(AgentEvent::list(items));
    }

    /// What was said since the last tool or prompt is one message.
    pub(super) fn say_message(&mut self, io: &mut Io) {
        crate::said(&std::mem::take(&mut self.message), io);
    }

    // Read by hand: a window of 0, a negative or a textual one is an unknown window, not an unreadable message.
    fn usage(&mut self, usage: &Value, io: &mut Io) {
        self.flush(io);
        let Some(used) = usage.get("used").and_then(Value::as_u64) else { return };
        let window = usage.get("size").and_then(Value::as_u64).filter(|w| *w > 0);
        let cost =
            usage.pointer("/cost/amount").and_then(Value::as_f64).filter(|c| c.is_finite() && *c >= 0.0);
        let dollars = usage.pointer("/cost/currency").and_then(Value::as_str).is_none_or(|c| c == "USD");
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be finite and positive"
        )]
        let musd = cost.filter(|_| dollars).map(|c| (c * 1e6).round() as u64);
        let reading = Reading { session_cost_musd: musd, ..Reading::reported(used, window) };
        io.events.push(AgentEvent::UsageRead(reading));
    }
}

fn from<'a, T: Deserialize<'a>>(json: &'a str) -> Option<T> {
    serde_json::from_str(json).ok()
}

fn is_over(status: ToolCallStatus) -> bool {
    matches!(status, ToolCallStatus::Completed | ToolCallStatus::Failed)
}

// What the model will be sent: the content, or the raw output where there is none.
fn result_chars(content: Option<&[ToolCallContent]>, raw: Option<&Value>) -> u64 {
    let shown: u64 = content.unwrap_or_default().iter().map(content_chars).sum();
    if shown > 0 {
        return shown;
    }
    raw.map_or(0, longest_text)
}

// A raw output may have the same text several times, as it came and as it was cut for the model.
fn longest_text(value: &Value) -> u64 {
    match value {
        Value::String(text) => weigh(text),
        Value::Array(items) => items.iter().map(longest_text).sum(),
        Value::Object(fields) => fields.values().map(longest_text).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn content_chars(content: &ToolCallContent) -> u64 {
    if let ToolCallContent::Diff(diff) = content {
        return changed_weight(diff.old_text.as_deref().unwrap_or_default(), &diff.new_text);
    }
    let ToolCallContent::Content(content) = content else { return 0 };
    if let ContentBlock::Text(text) = &content.content {
        return weigh(&text.text);
    }
    serde_json::to_string(&content.content).map_or(0, |json| weigh(&json))
}

// The model is sent the lines that change, not the file around them.
fn changed_weight(old: &str, new: &str) -> u64 {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(a, b)| a == b).count();
    let head = same(&mut old.iter().zip(&new));
    let tail = same(&mut old[head..].iter().rev().zip(new[head..].iter().rev()));
    [&old, &new].iter().flat_map(|lines| &lines[head..lines.len() - tail]).map(|line| weigh(line) + 1).sum()
}

// What it said when it failed: the text that it shows, or the longest of what it gives back raw.
fn result_text(content: Option<&[ToolCallContent]>, raw: Option<&Value>) -> String {
    let shown = content.unwrap_or_default().iter().filter_map(|content| {
        let ToolCallContent::Content(content) = content else { return None };
        let ContentBlock::Text(text) = &content.content else { return None };
        Some(text.text.as_str())
    });
    let shown = shown.collect::<Vec<_>>().join("\n");
    if !shown.trim().is_empty() {
        return shown;
    }
    match raw {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Object(fields)) => {
            let texts = fields.values().filter_map(Value::as_str);
            texts.max_by_key(|text| text.len()).unwrap_or_default().to_owned()
        }
        _ => String::new(),
    }
}
