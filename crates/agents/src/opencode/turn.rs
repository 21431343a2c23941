//! How a turn of OpenCode begins and ends, and what its errors mean.

use segue_machine::{AgentEvent, AgentFailure, TurnEnd};
use serde_json::Value;

use super::{OpenCode, Work};
use crate::{Io, classify, retry};

impl OpenCode {
    pub(super) fn prompt(&mut self, text: &str, io: &mut Io) {
        self.begin(Work::Turn);
        self.send(Work::Turn, text, io);
    }

    /// A running turn takes the request up after its tool; else it is a turn of its own.
    pub(super) fn ask(&mut self, text: &str, io: &mut Io) {
        if self.work.is_none() {
            self.begin(Work::Ask);
        }
        self.ask = None;
        self.send(Work::Ask, text, io);
    }

    fn begin(&mut self, work: Work) {
        self.work = Some(work);
        self.begun = false;
        self.error = None;
        self.texts.clear();
    }

    /// The server would not have a prompt.
    pub(super) fn not_taken(&mut self, work: Work, end: TurnEnd, io: &mut Io) {
        self.sent.retain(|(what, _)| *what != work);
        if work == Work::Ask && self.work == Some(Work::Turn) {
            let why = "the request was not taken".to_owned();
            return io.events.push(AgentEvent::NotAnswered { why });
        }
        self.error = Some(end);
        self.turn_over(io);
    }

    /// After a gap in the events: a session that is not named is idle.
    pub(super) fn status_known(&mut self, status: &Value, io: &mut Io) {
        let ours = self.session.as_deref().unwrap_or_default();
        self.busy = status[ours]["type"].as_str().is_some_and(|s| s != "idle");
        if !self.busy && self.sent.is_empty() {
            self.begun = true;
            self.idle(io);
        }
    }

    pub(super) fn failed(&mut self, error: &Value, io: &mut Io) {
        self.error = Some(meaning(error));
        // A prompt that fails before any work has begun is not followed by the news that the session is idle.
        if !self.busy {
            self.turn_over(io);
        }
    }

    /// The session has nothing to do. After an error this is told twice; an idle session that has not begun is stale.
    pub(super) fn idle(&mut self, io: &mut Io) {
        self.busy = false;
        if self.begun || self.error.is_some() {
            self.turn_over(io);
        }
    }

    fn turn_over(&mut self, io: &mut Io) {
        let Some(work) = self.work.take() else { return };
        self.flush_tools(io);
        self.begun = false;
        let text = self.said();
        let end = self.error.take().unwrap_or(TurnEnd::Finished { text });
        let parent = self.last.as_ref().and_then(|id| self.answers.get(id)).map(|answer| &answer.parent);
        let answers_ask = self.ask.as_ref().is_some_and(|(ask, _)| Some(ask) == parent);
        if work == Work::Turn && !answers_ask {
            // A request that this turn has not taken is a turn of its own.
            if self.ask.is_some() || self.sent.iter().any(|(what, _)| *what == Work::Ask) {
                self.begin(Work::Ask);
            }
            return io.events.push(AgentEvent::TurnEnded(end));
        }
        self.ask = None;
        self.sent.clear();
        io.events.push(match end {
            TurnEnd::Finished { text } => AgentEvent::Answered { text },
            end @ TurnEnd::Overflow { .. } => AgentEvent::TurnEnded(end),
            TurnEnd::Cancelled => AgentEvent::NotAnswered { why: "the turn was aborted".to_owned() },
            TurnEnd::Failed { message, .. } => AgentEvent::NotAnswered { why: message },
        });
    }

    fn said(&mut self) -> String {
        std::mem::take(&mut self.texts).into_values().collect::<Vec<_>>().join("\n")
    }

    // A turn that was cut off leaves no word about the tools it had begun.
    fn flush_tools(&mut self, io: &mut Io) {
        io.events.append(&mut self.held);
        for (tool, title) in std::mem::take(&mut self.tools) {
            self.ended.insert(tool.clone());
            io.events.push(AgentEvent::ToolEnded { tool, title, ok: false, chars: 0 });
        }
        self.given = 0;
    }
}

/// What an error means: by its name and status first, by its message where these say nothing.
pub(super) fn meaning(error: &Value) -> TurnEnd {
    let name = error["name"].as_str().unwrap_or("UnknownError");
    let data = &error["data"];
    let message = data["message"].as_str().unwrap_or(name).to_owned();
    match name {
        "ContextOverflowError" => TurnEnd::Overflow { message },
        "MessageAbortedError" => TurnEnd::Cancelled,
        "ProviderAuthError" => TurnEnd::failed(AgentFailure::Unauthorised, message),
        "APIError" => {
            let body: Value =
                data["responseBody"].as_str().and_then(|b| serde_json::from_str(b).ok()).unwrap_or_default();
            let status = match data["statusCode"].as_u64() {
                Some(503) => "503 overloaded".to_owned(),
                Some(status) => status.to_string(),
                None => String::new(),
            };
            let word = |at: &str| body.pointer(at).and_then(Value::as_str).unwrap_or_default();
            let code = format!("{status} {} {}", word("/error/code"), word("/error/type"));
            let told = retry::in_fields(&data["responseHeaders"]).or_else(|| retry::in_fields(&body));
            retry::with(classify(&message, Some(code.trim())), told)
        }
        _ if message.contains("ModelNotFound") || message.contains("Model not found") => {
            TurnEnd::failed(AgentFailure::BadModel, message)
        }
        _ => classify(&message, None),
    }
}
