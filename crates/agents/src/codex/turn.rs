//! How a turn of Codex ends.

use segue_machine::{AgentEvent, AgentFailure, TurnEnd};
use serde_json::Value;

use super::{Codex, Steer, Work};
use crate::{Io, classify, failure_of, retry};

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
            return retry::with(classify(message, code.as_deref()), retry::in_fields_of(message));
        }
    };
    TurnEnd::Failed {
        failure,
        message: message.to_owned(),
        retry: retry::in_fields_of(message).or_else(|| retry::in_words(message)),
    }
}

/// An error that Codex means to get over by itself. It counts its tries in the message: "Reconnecting... 1/5".
pub(super) fn retrying(error: &Value) -> AgentEvent {
    let message = error["message"].as_str().unwrap_or_default();
    let count = message.split_whitespace().rev().find_map(|word| {
        let (attempt, of) = word.trim_end_matches(['.', ')']).split_once('/')?;
        Some((attempt.trim_start_matches('(').parse().ok()?, of.parse().ok()?))
    });
    let (attempt, of) = count.map_or((1, None), |(attempt, of): (u32, u32)| (attempt, Some(of)));
    let why = error["additionalDetails"].as_str().unwrap_or(message).to_owned();
    let info = error["codexErrorInfo"].as_object().and_then(|info| info.values().next());
    let status = info.and_then(|info| info["httpStatusCode"].as_u64());
    let failure = failure_of(&why, status);
    AgentEvent::Retrying { attempt, of, why, failure, delay_ms: None, next_at: None }
}

// An HTTP error comes as the API's own body, with its code inside.
fn api_code(message: &str) -> Option<String> {
    let body: Value = serde_json::from_str(message).ok()?;
    body.pointer("/error/code").and_then(Value::as_str).map(str::to_owned)
}
