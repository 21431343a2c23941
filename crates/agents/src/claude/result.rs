//! How a turn of Claude Code ends. `subtype: success` is no success, and an empty result is no answer.

use segue_machine::{AgentEvent, AgentFailure, Reading, Retry, Scope, TurnEnd};
use serde_json::{Value, json};

use super::{Claude, Sent};
use crate::{Io, classify, retry};

impl Claude {
    pub(super) fn result(&mut self, line: &Value, io: &mut Io) {
        self.flush(io);
        self.call = None;
        self.tools.clear();
        self.spent(line, io);
        let said = std::mem::take(&mut self.text);
        let Some(sent) = self.sent.pop_front() else { return self.send_held(io) };
        if line["terminal_reason"] == "completed" {
            self.control(&json!({ "subtype": "get_context_usage" }), io);
        }
        let told = self.rejected_until.take().map(Retry::At);
        let end = retry::with(turn_end(line, said), told);
        // Finished work needs no checkpoint, and a turn that failed is not asked for one; a stopped turn still is.
        if end != TurnEnd::Cancelled {
            self.held = None;
        }
        io.events.push(match (sent, end) {
            (Sent::Turn, end) => AgentEvent::TurnEnded(end),
            (Sent::Ask, TurnEnd::Finished { text }) => AgentEvent::Answered { text },
            (Sent::Ask, TurnEnd::Cancelled) => {
                AgentEvent::NotAnswered { why: "it was interrupted".to_owned() }
            }
            // A request that does not fit is no overflow of the work.
            (Sent::Ask, TurnEnd::Overflow { message } | TurnEnd::Failed { message, .. }) => {
                AgentEvent::NotAnswered { why: message }
            }
        });
        self.send_held(io);
    }

    // Only the cost: the usage of a result is a sum over its calls.
    fn spent(&mut self, line: &Value, io: &mut Io) {
        let Some(cost) = line["total_cost_usd"].as_f64().filter(|c| c.is_finite() && *c > 0.0) else {
            return;
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be finite and positive"
        )]
        let musd = (cost * 1e6).round() as u64;
        let reading =
            Reading { scope: Scope::Side, session_cost_musd: Some(musd), ..Reading::exact(0, 0, 0, 0) };
        io.events.push(AgentEvent::UsageRead(reading));
    }
}

fn turn_end(line: &Value, said: String) -> TurnEnd {
    let word = |name: &str| line[name].as_str().unwrap_or_default();
    let first_error = || line["errors"].as_array().and_then(|e| e.first()).and_then(Value::as_str);
    let message = || {
        let text = Some(word("result")).filter(|t| !t.is_empty()).or_else(first_error);
        text.unwrap_or("the agent gave no reason").to_owned()
    };
    match word("terminal_reason") {
        "aborted_tools" | "aborted_streaming" | "hook_stopped" => return TurnEnd::Cancelled,
        "prompt_too_long" | "blocking_limit" | "rapid_refill_breaker" => {
            return TurnEnd::Overflow { message: message() };
        }
        _ => {}
    }
    if line["is_error"] == true || word("subtype") != "success" {
        let status = line["api_error_status"].as_u64().map(|s| s.to_string());
        let failed = classify(&message(), status.as_deref());
        // A full window is told by `terminal_reason`; words alone are not believed here.
        return match failed {
            TurnEnd::Overflow { message } if status.as_deref() != Some("400") => {
                TurnEnd::failed(AgentFailure::Other, message)
            }
            TurnEnd::Overflow { .. }
            | TurnEnd::Failed { .. }
            | TurnEnd::Finished { .. }
            | TurnEnd::Cancelled => failed,
        };
    }
    let text = word("result");
    TurnEnd::Finished { text: if text.is_empty() { said } else { text.to_owned() } }
}
