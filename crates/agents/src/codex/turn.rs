//! How a turn of Codex ends.

use segue_machine::{AgentEvent, AgentFailure, TurnEnd};
use serde_json::Value;

use super::{Codex, Steer, Work};
use crate::{Io, classify};

impl Codex {
    pub(super) fn turn_completed(&mut self, turn: &Value, io: &mut Io) {
        if self.turn.is_some() && turn["id"].as_str() != self.turn.as_deref() {
            return;
        }
        let end = match turn["status"].as_str().unwrap_or_default() {
            "completed" => TurnEnd::Finished { text: std::mem::take(&mut self.text) },
            "interrupted" => TurnEnd::Cancelled,
            _ => failed(
                turn.pointer("/error/message").and_then(Value::as_str).unwrap_or("no reason given"),
                turn.pointer("/error/codexErrorInfo"),
            ),
        };
        self.turn_over(&end, io);
    }

    pub(super) fn turn_over(&mut self, end: &TurnEnd, io: &mut Io) {
        self.flush_ended(io);
        self.flush(io);
        self.turn = None;
        self.tools.clear();
        self.called.clear();
        self.compacting = false;
        let Some(work) = self.work.take() else { return };
        // A request that the turn had not taken when it ended was not answered by it.
        let answers = work == Work::Ask || self.steer.take() == Some(Steer::Taken);
        io.events.push(match (answers, end.clone()) {
            (false, end) => AgentEvent::TurnEnded(end),
            (true, TurnEnd::Finished { text }) => AgentEvent::Answered { text },
            (true, end @ TurnEnd::Overflow { .. }) => AgentEvent::TurnEnded(end),
            (true, TurnEnd::Cancelled) => {
                AgentEvent::NotAnswered { why: "the turn was interrupted".to_owned() }
            }
            (true, TurnEnd::Failed { message, .. }) => AgentEvent::NotAnswered { why: message },
        });
    }
}

/// What a failed turn means: by Codex's own word for it first, by the message where there is none.
pub(super) fn failed(message: &str, info: Option<&Value>) -> TurnEnd {
    let (word, status) = match info {
        Some(Value::String(word)) => (word.as_str(), None),
        Some(info) => (
            info.as_object().and_then(|o| o.keys().next()).map_or("", String::as_str),
            info.as_object().and_then(|o| o.values().next()).and_then(|v| v["httpStatusCode"].as_u64()),
        ),
        None => ("", None),
    };
    let failure = match word {
        "contextWindowExceeded" => return TurnEnd::Overflow { message: message.to_owned() },
        "usageLimitExceeded" | "sessionBudgetExceeded" => AgentFailure::Quota,
        "rateLimitExceeded" => AgentFailure::RateLimited,
        "serverOverloaded" => AgentFailure::Overloaded,
        "modelNotFound" => AgentFailure::BadModel,
        "unauthorized" => AgentFailure::Unauthorised,
        _ => {
            let code = api_code(message).or_else(|| status.map(|s| s.to_string()));
            return classify(message, code.as_deref());
        }
    };
    TurnEnd::Failed { failure, message: message.to_owned() }
}

// An HTTP error comes as the API's own body, with its code inside.
fn api_code(message: &str) -> Option<String> {
    let body: Value = serde_json::from_str(message).ok()?;
    body.pointer("/error/code").and_then(Value::as_str).map(str::to_owned)
}
