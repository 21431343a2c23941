//! JSON-RPC lines, out and in.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::script::Refusal;

/// The agent's output: one JSON object a line, flushed at once.
pub(super) struct Wire {
    output: Box<dyn Write + Send>,
    deaf: bool,
}

impl Wire {
    /// With `deaf` set, an output that nobody reads any more is no error.
    pub(super) fn new(output: Box<dyn Write + Send>, deaf: bool) -> Self {
        Self { output, deaf }
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.output.write_all(bytes).and_then(|()| self.output.flush()) {
            Err(_) if self.deaf => Ok(()),
            result => result,
        }
    }

    pub(super) fn respond(&mut self, id: &Value, result: Value) -> io::Result<()> {
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    pub(super) fn fail(&mut self, id: &Value, error: Failure) -> io::Result<()> {
        let mut body = json!({ "code": error.code, "message": error.message });
        if let Some(data) = error.data {
            body["data"] = data;
        }
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "error": body }))
    }

    pub(super) fn request(&mut self, id: &str, method: &str, params: Value) -> io::Result<()> {
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    pub(super) fn update(&mut self, session: &str, update: Value) -> io::Result<()> {
        let params = json!({ "sessionId": session, "update": update });
        self.line(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }))
    }

    fn line(&mut self, message: &Value) -> io::Result<()> {
        self.raw(format!("{message}\n").as_bytes())
    }
}

/// A JSON-RPC error.
pub(super) struct Failure {
    code: i32,
    message: String,
    data: Option<Value>,
}

impl Failure {
    pub(super) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(super) fn too_long(tokens: u64, window: u64) -> Self {
        let message = format!("prompt is too long: {tokens} tokens > {window} maximum");
        let data = json!({ "type": "invalid_request_error", "message": message });
        Self { code: -32603, message, data: Some(data) }
    }
}

impl Failure {
    /// What a provider says, in the place where agents pass it on.
    pub(super) fn provider(says: Refusal, retry_after_ms: Option<u64>) -> Self {
        let (code, kind, message) = match says {
            Refusal::Overloaded => (529, "overloaded_error", "Overloaded"),
            Refusal::RateLimited => (429, "rate_limit_error", "This request would exceed the rate limit"),
            Refusal::Quota => (429, "insufficient_quota", "You exceeded your current quota"),
            Refusal::Unauthorised => (401, "authentication_error", "invalid x-api-key"),
            Refusal::BadModel => (404, "model_not_found", "The model does not exist"),
            Refusal::Network => (-32603, "connection", "connect ECONNREFUSED 127.0.0.1:9"),
        };
        let mut data = json!({ "type": kind });
        if let Some(ms) = retry_after_ms {
            data["retry_after_ms"] = json!(ms);
        }
        Self { code, message: message.to_owned(), data: Some(data) }
    }
}

/// What a line of input is.
pub(super) enum Incoming {
    Request { id: Value, method: String, params: Value },
    Notification { method: String, params: Value },
    Response { id: Value, result: Value },
    Bad,
}

/// Reads one line of input.
pub(super) fn parse(line: &[u8]) -> Incoming {
    let Ok(mut message) = serde_json::from_slice::<Value>(line) else { return Incoming::Bad };
    let id = message.get_mut("id").map(Value::take);
    let params = message.get_mut("params").map(Value::take).unwrap_or_default();
    let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
    match (id, method) {
        (Some(id), Some(method)) => Incoming::Request { id, method, params },
        (None, Some(method)) => Incoming::Notification { method, params },
        (Some(id), None) => {
            Incoming::Response { id, result: message.get_mut("result").map(Value::take).unwrap_or_default() }
        }
        (None, None) => Incoming::Bad,
    }
}
