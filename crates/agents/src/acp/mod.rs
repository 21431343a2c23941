//! The Agent Client Protocol over standard input and output, from the client's side.
//!
//! Control is the same for every agent; what differs is known by capability: whether a second prompt reaches a running
//! turn ([`Steer`]), whether old sessions can be loaded, whether usage is reported. By name only [`JOINING`].

mod frame;
mod update;

use std::collections::{BTreeMap, BTreeSet};

use agent_client_protocol_schema::v1::{
    InitializeResponse, NewSessionResponse, PermissionOption, PermissionOptionKind, PromptResponse,
    RequestPermissionRequest, StopReason,
};
use segue_machine::{AgentEvent, AgentFailure, Capabilities, TurnEnd};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::{Act, Adapter, Io, readable};
use frame::{Frame, RpcError};

/// How a request can reach an agent that works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Steer {
    /// A second prompt reaches the running turn after its tool: the turn ends and it is answered next, or the turn's own
    /// text holds the answer.
    Supersede,
    /// The turn has to be cancelled, between two tools, before anything can be asked.
    CancelFirst,
}

/// What an open request was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Initialize,
    Open,
    Load,
    Turn,
    Ask,
}

/// Agents that are known to take a second prompt into the running turn, and do not say so, by the name that they give
/// themselves. They begin a tool before they tell of it, so a cancel between two tools could break one.
const JOINING: [&str; 1] = ["codex-acp"];

/// The longest text of one turn that is kept.
const KEPT_TEXT: usize = 1 << 20;
/// Text is reported when this much has come together, so that a talkative agent does not flood the journal.
const TEXT_STEP: u64 = 8_000;

/// One ACP conversation.
#[derive(Debug)]
pub struct Acp {
    cwd: String,
    load: Option<String>,
    conversation: Option<String>,
    model: Option<String>,
    steer: Steer,
    next_id: u64,
    calls: BTreeMap<u64, Call>,
    /// Requests whose answer came in another place; it may come once more.
    late: BTreeSet<u64>,
    permissions: BTreeMap<String, (Value, Vec<PermissionOption>)>,
    tools: BTreeMap<String, String>,
    /// Those of them that only read something.
    reading: BTreeSet<String>,
    /// What was said since the last tool or prompt.
    message: String,
    text: String,
    /// Where in it the words after the last tool begin.
    words_from: usize,
    /// Words or the usage of a model call came, and none of its tools yet.
    mid_call: bool,
    unsaid: u64,
    /// A checkpoint request that waits for the running turn to end.
    waiting: Option<String>,
    cancel_sent: bool,
    /// A hook stops the agent before its next call, so nothing has to be cancelled.
    has_brake: bool,
    /// The hook did.
    braked: bool,
    /// It takes notes while it works, by a message of segue's own.
    takes_notes: bool,
    /// It takes old sessions up again.
    loads: bool,
    /// It says so and cannot be relied on.
    never_loads: bool,
    /// Calls whose own usage the agent told.
    metered: u64,
}

impl Acp {
    /// A conversation in `cwd`; with `load`, an old one is taken up again where the agent can.
    pub fn new(cwd: impl Into<String>, load: Option<String>) -> Self {
        Self {
            cwd: cwd.into(),
            load,
            conversation: None,
            model: None,
            steer: Steer::CancelFirst,
            next_id: 0,
            calls: BTreeMap::new(),
            late: BTreeSet::new(),
            permissions: BTreeMap::new(),
            tools: BTreeMap::new(),
            reading: BTreeSet::new(),
            message: String::new(),
            text: String::new(),
            words_from: 0,
            mid_call: false,
            unsaid: 0,
            waiting: None,
            cancel_sent: false,
            has_brake: false,
            braked: false,
            takes_notes: false,
            loads: false,
            never_loads: false,
            metered: 0,
        }
    }

    /// The same conversation with an agent whose own hook stops it between a tool and the next call.
    #[must_use]
    pub(crate) fn with_brake(self) -> Self {
        Self { has_brake: true, ..self }
    }

    /// The same with an agent whose old sessions are not to be taken up again, whatever it says.
    #[must_use]
    pub(crate) fn without_loading(self) -> Self {
        Self { never_loads: true, ..self }
    }

    fn call(&mut self, call: Call, method: &str, params: &Value, io: &mut Io) {
        self.next_id += 1;
        self.calls.insert(self.next_id, call);
        frame::request(self.next_id, method, params, &mut io.write);
    }

    fn prompt(&mut self, call: Call, text: &str, io: &mut Io) {
        self.mid_call = false;
        let params = json!({
            "sessionId": self.conversation.as_deref().unwrap_or_default(),
            "prompt": [{ "type": "text", "text": text }],
        });
        self.call(call, "session/prompt", &params, io);
    }

    fn is_busy(&self) -> bool {
        self.calls.values().any(|c| matches!(c, Call::Turn | Call::Ask))
    }

    fn cancel(&mut self, io: &mut Io) {
        if std::mem::replace(&mut self.cancel_sent, true) {
            return;
        }
        let params = json!({ "sessionId": self.conversation.as_deref().unwrap_or_default() });
        frame::notification("session/cancel", &params, &mut io.write);
        for (id, _) in std::mem::take(&mut self.permissions).into_values() {
            frame::response(&id, &json!({ "outcome": { "outcome": "cancelled" } }), &mut io.write);
        }
    }

    fn ask(&mut self, text: String, io: &mut Io) {
        if !self.is_busy() || self.steer == Steer::Supersede {
            return self.prompt(Call::Ask, &text, io);
        }
        self.waiting = Some(text);
        // A call whose answer is coming in may start its tools at any moment: a cancel now could cut the first of them.
        if self.tools.is_empty() && !self.has_brake && !self.mid_call {
            self.cancel(io);
        }
    }

    fn answer(&mut self, request: &str, allow: bool, io: &mut Io) {
        let Some((id, options)) = self.permissions.remove(request) else { return };
        let kinds = if allow {
            [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways]
        } else {
            [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways]
        };
        let chosen = kinds.iter().find_map(|kind| options.iter().find(|o| o.kind == *kind));
        let outcome = match chosen {
            Some(option) => json!({ "outcome": "selected", "optionId": option.option_id }),
            None => json!({ "outcome": "cancelled" }),
        };
        frame::response(&id, &json!({ "outcome": outcome }), &mut io.write);
    }

    fn frame(&mut self, frame: &Frame<'_>, io: &mut Io) {
        match (frame.method.as_deref(), &frame.id) {
            (Some("session/update"), None) => self.update(frame.params, io),
            (Some("session/request_permission"), Some(id)) => self.permission_asked(id, frame.params, io),
            (Some(_), None) => {}
            (Some(method), Some(id)) => frame::not_found(id, method, &mut io.write),
            (None, Some(id)) => self.response(id, frame, io),
            (None, None) => io.events.push(readable(b"a message with neither method nor id")),
        }
    }

    fn permission_asked(&mut self, id: &Value, params: Option<&RawValue>, io: &mut Io) {
        let Some(request) =
            params.and_then(|p| serde_json::from_str::<RequestPermissionRequest>(p.get()).ok())
        else {
            frame::response(id, &json!({ "outcome": { "outcome": "cancelled" } }), &mut io.write);
            return io.events.push(readable(b"a permission request that cannot be read"));
        };
        self.flush(io);
        let fields = &request.tool_call.fields;
        let kind = fields.kind.and_then(|k| serde_json::to_value(k).ok());
        let kind = kind.and_then(|k| k.as_str().map(str::to_owned)).unwrap_or_else(|| "other".to_owned());
        let known = self.tools.get(&*request.tool_call.tool_call_id.0).cloned();
        let title = fields.title.clone().or(known).unwrap_or_else(|| kind.clone());
        let key = id.to_string();
        let subject = update::subject(&kind, &title, fields);
        self.permissions.insert(key.clone(), (id.clone(), request.options));
        io.events.push(AgentEvent::PermissionAsked { request: key, kind, title, subject });
    }

    fn response(&mut self, id: &Value, frame: &Frame<'_>, io: &mut Io) {
        if id.as_u64().is_some_and(|id| self.late.remove(&id)) {
            return; // It was answered already, in another place.
        }
        let Some(call) = id.as_u64().and_then(|id| self.calls.remove(&id)) else {
            return io.events.push(readable(b"an answer to a question that was not asked"));
        };
        self.flush(io);
        self.say_message(io);
        match (call, &frame.error) {
            (Call::Initialize, None) => self.initialized(frame.result, io),
            (Call::Open | Call::Load, None) => self.opened(call, frame.result, io),
            (Call::Load, Some(_)) => self.open_new(io),
            (Call::Initialize | Call::Open, Some(error)) => {
                let end = error.classify();
                let end = if let TurnEnd::Failed { failure: AgentFailure::Other, message, .. } = end {
                    refused(message)
                } else {
                    end
                };
                io.events.push(AgentEvent::TurnEnded(end));
            }
            (Call::Turn, error) => self.turn_over(frame.result, error.as_ref(), io),
            (Call::Ask, error) => self.ask_over(frame.result, error.as_ref(), io),
        }
    }

    fn initialized(&mut self, result: Option<&RawValue>, io: &mut Io) {
        let Some(init) = read::<InitializeResponse>(result) else {
            return io
                .events
                .push(AgentEvent::TurnEnded(refused("its initialize answer cannot be read".to_owned())));
        };
        let caps = init.agent_capabilities;
        let meta = caps.meta.as_ref();
        let supersedes = meta.and_then(|m| m.get("segue.dev/steer")).is_some_and(|v| v == "supersede");
        let joins = init.agent_info.is_some_and(|info| JOINING.contains(&info.name.as_str()));
        if supersedes || joins {
            self.steer = Steer::Supersede;
        }
        self.takes_notes = meta.and_then(|m| m.get("segue.dev/notes")).is_some_and(|v| v == true);
        self.loads = caps.load_session && !self.never_loads;
        match self.load.take().filter(|_| caps.load_session) {
            Some(conversation) => {
                let params = json!({ "sessionId": conversation, "cwd": self.cwd, "mcpServers": [] });
                self.conversation = Some(conversation);
                self.call(Call::Load, "session/load", &params, io);
            }
            None => self.open_new(io),
        }
    }

    fn open_new(&mut self, io: &mut Io) {
        self.conversation = None;
        let params = json!({ "cwd": self.cwd, "mcpServers": [] });
        self.call(Call::Open, "session/new", &params, io);
    }

    fn opened(&mut self, call: Call, result: Option<&RawValue>, io: &mut Io) {
        if call == Call::Open {
            let Some(session) = read::<NewSessionResponse>(result) else {
                return io
                    .events
                    .push(AgentEvent::TurnEnded(refused("its session cannot be read".to_owned())));
            };
            self.conversation = Some(session.session_id.to_string());
        }
        self.text.clear();
        self.words_from = 0;
        self.unsaid = 0;
        io.events.push(AgentEvent::Ready {
            conversation: self.conversation.clone().unwrap_or_default(),
            model: self.model.clone(),
            window: None,
            ceiling: None,
            can: Capabilities {
                ask: true,
                follow_up: true,
                usage: true,
                brake: self.has_brake,
                tell: self.takes_notes,
                side: false,
                resume: self.loads,
            },
        });
    }

    fn turn_over(&mut self, result: Option<&RawValue>, error: Option<&RpcError>, io: &mut Io) {
        let was_cancelled = std::mem::take(&mut self.cancel_sent);
        let left = std::mem::take(&mut self.tools);
        if let Some(answer) = self.answer_in_the_turn(result) {
            io.events
                .extend([AgentEvent::TurnEnded(TurnEnd::Cancelled), AgentEvent::Answered { text: answer }]);
            return;
        }
        let braked = std::mem::take(&mut self.braked);
        let words_from = std::mem::take(&mut self.words_from);
        let end = self.turn_end(result, error);
        // A turn that the hook stopped ends like one that is done.
        let stopped = braked && matches!(end, TurnEnd::Finished { .. });
        // Some agents answer a cancelled prompt with an error that only says so.
        let other = matches!(end, TurnEnd::Failed { failure: AgentFailure::Other, .. });
        let aborted = was_cancelled && error.is_some() && other;
        let end = if stopped || aborted { TurnEnd::Cancelled } else { end };
        let end = if let TurnEnd::Finished { text } = end {
            TurnEnd::Finished { text: last_words(text, words_from) }
        } else {
            end
        };
        let finished = matches!(end, TurnEnd::Finished { .. });
        let cancelled = matches!(end, TurnEnd::Cancelled);
        io.events.push(AgentEvent::TurnEnded(end));
        if cancelled {
            self.keep_tools(left, io);
            return self.ask_when_quiet(io);
        }
        if self.waiting.take().is_some() && !finished {
            io.events.push(AgentEvent::NotAnswered { why: "the turn failed".to_owned() });
        }
    }

    // Some agents leave a tool running when a turn is cancelled. It is not over until they say so: its end is waited for,
    // before anything is asked and before the session is ended, as long as the run's own limits allow.
    fn keep_tools(&mut self, left: BTreeMap<String, String>, io: &mut Io) {
        for (tool, title) in &left {
            io.events.push(AgentEvent::ToolStarted { tool: tool.clone(), title: title.clone() });
        }
        self.tools = left;
    }

    fn ask_when_quiet(&mut self, io: &mut Io) {
        if !self.tools.is_empty() {
            return;
        }
        if self.is_busy() {
            if self.waiting.is_some() && !self.has_brake {
                self.cancel(io);
            }
        } else if let Some(text) = self.waiting.take() {
            self.prompt(Call::Ask, &text, io);
        }
    }

    // Some agents take a second prompt into the running turn and never answer it by itself: the checkpoint then stands in
    // the turn's own text.
    fn answer_in_the_turn(&mut self, result: Option<&RawValue>) -> Option<String> {
        let asked = self.calls.iter().find(|(_, call)| **call == Call::Ask).map(|(id, _)| *id)?;
        let ended = read::<PromptResponse>(result).is_some_and(|r| r.stop_reason == StopReason::EndTurn);
        let at = self.text.rfind("<checkpoint").filter(|_| ended)?;
        self.calls.remove(&asked);
        self.late.insert(asked);
        Some(std::mem::take(&mut self.text).split_off(at))
    }

    fn ask_over(&mut self, result: Option<&RawValue>, error: Option<&RpcError>, io: &mut Io) {
        self.cancel_sent = false;
        io.events.push(match self.turn_end(result, error) {
            TurnEnd::Finished { text } => AgentEvent::Answered { text },
            TurnEnd::Overflow { message } => AgentEvent::TurnEnded(TurnEnd::Overflow { message }),
            TurnEnd::Cancelled => AgentEvent::NotAnswered { why: "it was cancelled".to_owned() },
            TurnEnd::Failed { message, .. } => AgentEvent::NotAnswered { why: message },
        });
    }

    // What is said before and after a tool are two things.
    fn tool_breaks_text(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push_str("\n\n");
        }
        self.words_from = self.text.len();
    }

    fn turn_end(&mut self, result: Option<&RawValue>, error: Option<&RpcError>) -> TurnEnd {
        let text = std::mem::take(&mut self.text);
        if let Some(error) = error {
            return error.classify();
        }
        let failed = |failure, message: &str| TurnEnd::failed(failure, message);
        match read::<PromptResponse>(result).map(|r| r.stop_reason) {
            Some(StopReason::EndTurn) => TurnEnd::Finished { text },
            Some(StopReason::Cancelled) => TurnEnd::Cancelled,
            Some(StopReason::Refusal) => failed(AgentFailure::Refused, "the agent refuses to continue"),
            Some(StopReason::MaxTokens) => {
                failed(AgentFailure::Other, "the answer was cut at the model's limit")
            }
            Some(StopReason::MaxTurnRequests) => {
                failed(AgentFailure::Other, "the turn reached its limit of requests")
            }
            _ => failed(AgentFailure::Other, "the turn ended for a reason that is not understood"),
        }
    }
}

impl Adapter for Acp {
    fn open(&mut self, io: &mut Io) {
        let params = json!({
            "protocolVersion": 1,
            "clientCapabilities": { "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false },
            "clientInfo": { "name": "segue", "version": env!("CARGO_PKG_VERSION") },
        });
        self.call(Call::Initialize, "initialize", &params, io);
    }

    fn line(&mut self, line: &[u8], io: &mut Io) {
        let read = frame::each(line, |frame| self.frame(frame, io));
        if read.is_err() {
            io.events.push(readable(line));
        }
    }

    fn act(&mut self, act: Act, io: &mut Io) {
        match act {
            Act::Prompt(text) => self.prompt(Call::Turn, &text, io),
            Act::Ask(text) => self.ask(text, io),
            // The protocol has no way to say something to an agent at work; a second prompt would cancel the first.
            Act::Tell(text) if self.takes_notes => {
                let session = self.conversation.as_deref().unwrap_or_default();
                let params = json!({ "sessionId": session, "text": text });
                frame::notification("_segue.dev/note", &params, &mut io.write);
            }
            Act::Tell(_) => {}
            Act::SideQuestion { id, .. } => crate::no_side_question(id, io),
            Act::Permission { request, allow } => self.answer(&request, allow, io),
            Act::Braked => self.braked = true,
            Act::Close => {
                if self.is_busy() {
                    self.cancel(io);
                }
                io.close = true;
            }
        }
    }

    fn exited(&mut self, _exit: Option<i32>, io: &mut Io) {
        self.flush(io);
        self.say_message(io);
    }
}

fn read<T: DeserializeOwned>(raw: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

// An agent that says nothing after its last tool has said its last words before.
fn last_words(text: String, from: usize) -> String {
    match text.get(from..).filter(|words| !words.trim().is_empty()) {
        Some(words) => words.to_owned(),
        None => text,
    }
}

fn refused(message: String) -> TurnEnd {
    TurnEnd::failed(AgentFailure::Refused, message)
}

#[cfg(test)]
#[path = "acp_tests.rs"]
mod tests;
