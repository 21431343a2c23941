//! JSON-RPC messages: one a line, several on a line, or a batch in an array.

use segue_machine::TurnEnd;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::{classify, retry};

/// One message, its body not yet read.
#[derive(Debug, Deserialize)]
pub(super) struct Frame<'a> {
    #[serde(default)]
    pub(super) id: Option<Value>,
    #[serde(default)]
    pub(super) method: Option<String>,
    #[serde(default, borrow)]
    pub(super) params: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub(super) result: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) error: Option<RpcError>,
}

/// An error answer.
#[derive(Debug, Deserialize)]
pub(super) struct RpcError {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Value,
}

/// What ACP answers when nobody is logged in.
const AUTH_REQUIRED: i64 = -32000;

impl RpcError {
    pub(super) fn classify(&self) -> TurnEnd {
        let detail = self.data.get("message").or_else(|| self.data.get("details")).and_then(Value::as_str);
        let message = match detail {
            Some(detail) if !self.message.contains(detail) => format!("{}: {detail}", self.message),
            _ => self.message.clone(),
        };
        let kind = self.data.get("type").or_else(|| self.data.get("code")).and_then(Value::as_str);
        // Gemini CLI puts the provider's HTTP status where the protocol has a number of its own.
        let status =
            (400..600).contains(&self.code).then(|| format!("{} {}", self.code, kind.unwrap_or_default()));
        let code =
            if self.code == AUTH_REQUIRED { Some("auth_required") } else { status.as_deref().or(kind) };
        retry::with(classify(&message, code), retry::in_fields(&self.data))
    }
}

/// Calls `each` for every message of a line.
pub(super) fn each(line: &[u8], mut each: impl FnMut(&Frame<'_>)) -> Result<(), serde_json::Error> {
    for value in serde_json::Deserializer::from_slice(line).into_iter::<&RawValue>() {
        let value = value?.get();
        if value.starts_with('[') {
            for frame in serde_json::from_str::<Vec<Frame<'_>>>(value)? {
                each(&frame);
            }
        } else {
            each(&serde_json::from_str(value)?);
        }
    }
    Ok(())
}

pub(super) fn request(id: u64, method: &str, params: &Value, to: &mut Vec<u8>) {
    write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }), to);
}

pub(super) fn notification(method: &str, params: &Value, to: &mut Vec<u8>) {
    write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }), to);
}

pub(super) fn response(id: &Value, result: &Value, to: &mut Vec<u8>) {
    write(&json!({ "jsonrpc": "2.0", "id": id, "result": result }), to);
}

pub(super) fn not_found(id: &Value, method: &str, to: &mut Vec<u8>) {
    let error = json!({ "code": -32601, "message": format!("segue does not offer {method}") });
    write(&json!({ "jsonrpc": "2.0", "id": id, "error": error }), to);
}

fn write(message: &Value, to: &mut Vec<u8>) {
    to.extend_from_slice(message.to_string().as_bytes());
    to.push(b'\n');
}

#[cfg(test)]
mod tests {
    use segue_machine::{AgentFailure, Retry};

    use super::*;

    #[test]
    fn a_status_of_the_provider_in_the_place_of_the_code_tells_the_failure() {
        let kind = |code: i64, message: &str| {
            let error = RpcError { code, message: message.to_owned(), data: Value::Null };
            if let TurnEnd::Failed { failure, .. } = error.classify() { Some(failure) } else { None }
        };
        let busy = "You exceeded your current quota, see rate-limits.\nSuggested retry after 2s.";
        assert_eq!(kind(429, busy), Some(AgentFailure::RateLimited));
        assert_eq!(kind(401, "Request had invalid credentials."), Some(AgentFailure::Unauthorised));
        assert_eq!(kind(-32603, "it broke"), Some(AgentFailure::Other));
    }

    #[test]
    fn h3_a_time_to_come_back_is_read_from_the_fields_before_the_words() {
        let retry = |data: Value| {
            let error = RpcError { code: 429, message: "Suggested retry after 2s.".to_owned(), data };
            if let TurnEnd::Failed { retry, .. } = error.classify() { retry } else { None }
        };
        assert_eq!(retry(Value::Null), Some(Retry::After(2_000)));
        let details = json!([{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "39s" }]);
        assert_eq!(retry(json!({ "details": details })), Some(Retry::After(39_000)));
    }
}
