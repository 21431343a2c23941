//! What OpenCode says while it works: messages and their parts, usage, tools, permissions, lists.

use segue_machine::checkpoint::cut_chars;
use segue_machine::gauge::weigh;
use segue_machine::{AgentEvent, Reading, Scope, Subject};
use serde_json::Value;

use super::{Answer, OpenCode, Work};
use crate::{Io, failure_of, text_weight, whole_ms};

/// How many answers are remembered; events are about the latest ones.
const ANSWERS_KEPT: usize = 64;

impl OpenCode {
    pub(super) fn event(&mut self, event: &Value, io: &mut Io) {
        let about = &event["properties"];
        let session = about["sessionID"].as_str();
        let ours = session.is_some() && session == self.session.as_deref();
        let kind = event["type"].as_str().unwrap_or_default();
        if !ours && session.is_some() && self.side_event(kind, about, io) {
            return;
        }
        match kind {
            "server.connected" => self.connected(io),
            "permission.asked" => self.permission_asked(about, io),
            "question.asked" => self.question_asked(about, io),
            "message.part.updated" if ours => self.part(&about["part"], io),
            "message.part.updated" => self.side_part(&about["part"], io),
            "message.updated" if ours => self.message_seen(&about["info"], io),
            "session.status" if ours && about["status"]["type"] == "idle" => self.idle(io),
            "session.status" if ours => {
                self.busy = true;
                io.events.extend(retrying(&about["status"]));
            }
            "session.idle" if ours => self.idle(io),
            "session.error" if ours => self.failed(&about["error"], io),
            "session.compacted" if ours => io.events.push(AgentEvent::Compacted),
            "todo.updated" if ours => io.events.extend(crate::list(&about["todos"], &["content"])),
            _ => {}
        }
    }

    fn message_seen(&mut self, info: &Value, io: &mut Io) {
        let Some(id) = info["id"].as_str().filter(|_| info["role"] == "assistant") else { return };
        if self.answers.contains_key(id) {
            return;
        }
        let parent = info["parentID"].as_str().unwrap_or_default().to_owned();
        let summary = info["summary"] == true;
        if !summary {
            self.model_seen(info, io);
        }
        // What was said before is no answer to another message.
        if self.last.as_ref().and_then(|last| self.answers.get(last)).is_none_or(|l| l.parent != parent) {
            self.texts.clear();
        }
        if let Some((ask, chars)) = self.ask.as_mut()
            && *ask == parent
        {
            *chars = 0;
        }
        self.begun = true;
        self.error = None;
        self.given = 0;
        self.last = Some(id.to_owned());
        self.answers.insert(id.to_owned(), Answer { parent, summary });
        if self.answers.len() > ANSWERS_KEPT {
            self.answers.pop_first();
        }
    }

    // The model that works may be another than the configuration has; the message names it.
    fn model_seen(&mut self, info: &Value, io: &mut Io) {
        let (Some(provider), Some(model)) = (info["providerID"].as_str(), info["modelID"].as_str()) else {
            return;
        };
        let name = format!("{provider}/{model}");
        if self.model.as_ref() == Some(&name) {
            return;
        }
        let limit = self.models.limit(&name);
        self.model = Some(name);
        if limit.window.is_some() {
            let none = Reading::reported(0, limit.window);
            io.events.push(AgentEvent::UsageRead(Reading { ceiling: limit.ceiling, ..none }));
        }
    }

    fn part(&mut self, part: &Value, io: &mut Io) {
        let message = part["messageID"].as_str().unwrap_or_default();
        let Some(answer) = self.answers.get(message) else { return self.sent_part(message, part) };
        let summary = answer.summary;
        match part["type"].as_str().unwrap_or_default() {
            "text" if !summary => self.text(part, io),
            "tool" => self.tool(part, io),
            "step-finish" => self.step_finished(part, summary, io),
            _ => {}
        }
    }

    // A message of ours is known by its words.
    fn sent_part(&mut self, message: &str, part: &Value) {
        let Some(text) = part["text"].as_str().map(str::trim).filter(|_| part["type"] == "text") else {
            return;
        };
        let Some(at) = self.sent.iter().position(|(_, sent)| sent == text) else { return };
        let (work, text) = self.sent.remove(at);
        if work == Work::Ask {
            self.ask = Some((message.to_owned(), weigh(&text)));
        }
    }

    fn text(&mut self, part: &Value, io: &mut Io) {
        let (Some(id), Some(text)) = (part["id"].as_str(), part["text"].as_str()) else { return };
        let over = part.pointer("/time/end").is_some();
        if over && !text.is_empty() && self.texts.insert(id.to_owned(), text.to_owned()).is_none() {
            crate::said(text, io);
            io.events.push(AgentEvent::TextSaid { chars: weigh(text) });
        }
    }

    fn tool(&mut self, part: &Value, io: &mut Io) {
        let (state, id) = (&part["state"], part["id"].as_str().unwrap_or_default());
        let title = title(part["tool"].as_str().unwrap_or("tool"), &state["input"]);
        match state["status"].as_str().unwrap_or_default() {
            _ if self.ended.contains(id) => {}
            "pending" | "running" => self.tool_began(id, title, io),
            ended @ ("completed" | "error") => {
                let result = if ended == "completed" { &state["output"] } else { &state["error"] };
                let chars = text_weight(result);
                self.tools.remove(id);
                self.ended.insert(id.to_owned());
                let exit = state.pointer("/metadata/exit").and_then(Value::as_i64);
                let ok = ended == "completed" && exit.is_none_or(|code| code == 0);
                let reads =
                    matches!(kind(part["tool"].as_str().unwrap_or_default()), "read" | "search" | "fetch");
                let output = result.as_str().unwrap_or_default();
                io.events.extend(crate::described(id, reads, ok, exit, output));
                let event = AgentEvent::ToolEnded { tool: id.to_owned(), title, ok, chars };
                if self.metered {
                    self.given += chars;
                    io.events.push(event);
                } else {
                    self.held.push(event);
                }
            }
            _ => {}
        }
    }

    // Told before it runs: the session must not be ended between the call and its tool.
    fn tool_began(&mut self, id: &str, title: String, io: &mut Io) {
        let before = self.tools.insert(id.to_owned(), title.clone());
        if before.as_ref() != Some(&title) {
            io.events.push(AgentEvent::ToolStarted { tool: id.to_owned(), title });
        }
    }

    fn step_finished(&mut self, part: &Value, summary: bool, io: &mut Io) {
        let scope = if summary { Scope::Side } else { Scope::Main };
        let waiting = self.ask.as_ref().map_or(0, |(_, chars)| *chars);
        let sent: u64 = self.sent.iter().map(|(_, text)| weigh(text)).sum();
        let after = std::mem::take(&mut self.given) + waiting + sent;
        let chars_after = if summary { 0 } else { after };
        let reading = Reading { scope, chars_after, ..self.reading(part) };
        io.events.push(AgentEvent::UsageRead(reading));
        self.metered = true;
        io.events.append(&mut self.held);
    }

    // Sub-agents are sessions of their own: they cost, and fill nothing.
    fn side_part(&mut self, part: &Value, io: &mut Io) {
        if part["type"] == "step-finish" {
            let reading = Reading { scope: Scope::Side, ..self.reading(part) };
            io.events.push(AgentEvent::UsageRead(reading));
        }
    }

    pub(super) fn reading(&mut self, part: &Value) -> Reading {
        let tokens = &part["tokens"];
        let count = |at: &str| tokens.pointer(at).and_then(Value::as_f64).map_or(0, whole);
        self.cost += part["cost"].as_f64().filter(|cost| *cost > 0.0).unwrap_or(0.0);
        let output = count("/output").saturating_add(count("/reasoning"));
        Reading {
            call: part["messageID"].as_str().map(str::to_owned),
            session_cost_musd: (self.cost > 0.0).then(|| whole(self.cost * 1e6)),
            ..Reading::exact(count("/input"), count("/cache/read"), count("/cache/write"), output)
        }
    }

    fn permission_asked(&mut self, request: &Value, io: &mut Io) {
        let Some(id) = request["id"].as_str() else { return };
        let permission = request["permission"].as_str().unwrap_or("other");
        let patterns = request["patterns"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let command = request.pointer("/metadata/command").and_then(Value::as_str).map(str::to_owned);
        let named: Vec<&str> = patterns.collect();
        let file = ["filepath", "filePath", "parentDir"]
            .iter()
            .find_map(|key| request["metadata"][*key].as_str())
            .or_else(|| named.first().copied().filter(|_| ["edit", "read", "list"].contains(&permission)));
        let command =
            command.or_else(|| named.first().filter(|_| permission == "bash").map(|c| (*c).to_owned()));
        let subject =
            Subject { command: command.clone(), paths: file.map(str::to_owned).into_iter().collect() };
        let what = command.unwrap_or_else(|| named.join(", "));
        self.requests.insert(id.to_owned(), "permission");
        let title = cut_chars(what.lines().next().unwrap_or(permission), 200);
        let kind = kind(permission).to_owned();
        io.events.push(AgentEvent::PermissionAsked { request: id.to_owned(), kind, title, subject });
    }

    fn question_asked(&mut self, request: &Value, io: &mut Io) {
        let Some(id) = request["id"].as_str() else { return };
        let question =
            request.pointer("/questions/0/question").and_then(Value::as_str).unwrap_or("a question");
        self.requests.insert(id.to_owned(), "question");
        let title = cut_chars(question.lines().next().unwrap_or_default(), 200);
        let (kind, subject) = ("question".to_owned(), Subject::default());
        io.events.push(AgentEvent::PermissionAsked { request: id.to_owned(), kind, title, subject });
    }
}

// It counts its tries and does not say how many there will be.
fn retrying(status: &Value) -> Option<AgentEvent> {
    let why = status["message"].as_str().filter(|_| status["type"] == "retry")?.to_owned();
    Some(AgentEvent::Retrying {
        attempt: status["attempt"].as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or(1),
        of: None,
        failure: failure_of(&why, None),
        why,
        delay_ms: None,
        next_at: status["next"].as_f64().map(whole_ms),
    })
}

fn whole(number: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, clamped")]
    let whole = number.clamp(0.0, 1e15).round() as u64;
    whole
}

/// The kind of a permission, in the words that permissions are given in; one of another kind keeps its name.
fn kind(permission: &str) -> &str {
    match permission {
        "bash" => "execute",
        "edit" | "write" | "patch" => "edit",
        "read" | "list" => "read",
        "glob" | "grep" => "search",
        "webfetch" | "websearch" => "fetch",
        "todowrite" | "todoread" => "think",
        other => other,
    }
}

/// A tool call in a few words: the tool and the telling part of its input.
fn title(tool: &str, input: &Value) -> String {
    let telling = ["command", "filePath", "path", "pattern", "url", "description", "prompt"];
    let part = telling.iter().find_map(|key| input[*key].as_str()).unwrap_or_default();
    let part = cut_chars(part.lines().next().unwrap_or_default(), 160);
    match (tool, part.is_empty()) {
        (tool, true) => tool.to_owned(),
        ("bash", false) => part,
        (tool, false) => format!("{tool} {part}"),
    }
}
