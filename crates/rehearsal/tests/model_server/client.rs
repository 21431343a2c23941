//! A plain HTTP client, and requests as the CLIs send them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use segue_rehearsal::job::Job;
use segue_rehearsal::model_server::script::{Fault, FaultKind};
use segue_rehearsal::model_server::{ModelServer, ServerScript};
use serde_json::{Value, json};

pub(crate) const INSTRUCTIONS: &str = "You are an agent that works through a list of steps, one after the other, \
                                        with the tools that it has, and says so when it is done.";

pub(crate) struct Client {
    reader: BufReader<TcpStream>,
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// The connection ended before the body did.
    pub(crate) cut: bool,
}

impl Client {
    pub(crate) fn new(server: &ModelServer) -> Self {
        let stream = TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
        Self { reader: BufReader::new(stream) }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.reader.get_mut().write_all(bytes).unwrap();
    }

    pub(crate) fn post(&mut self, path: &str, body: &Value) -> Reply {
        let body = body.to_string();
        self.send(
            format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes(),
        );
        self.send(body.as_bytes());
        self.read()
    }

    pub(crate) fn get(&mut self, path: &str, header: &str) -> Reply {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: x\r\n{header}\r\n\r\n").as_bytes());
        self.read()
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap_or(0);
        line.trim_end().to_owned()
    }

    pub(crate) fn read(&mut self) -> Reply {
        let first = self.line();
        let status = first.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        let mut reply = Reply { status, headers: Vec::new(), body: String::new(), cut: status == 0 };
        if reply.cut {
            return reply;
        }
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(':') else { break };
            reply.headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        if reply.header("transfer-encoding").is_some() {
            self.read_chunks(&mut reply);
        } else {
            let length = reply.header("content-length").unwrap().parse().unwrap();
            reply.cut = !self.read_some(length, &mut reply.body);
        }
        reply
    }

    fn read_chunks(&mut self, reply: &mut Reply) {
        loop {
            let Ok(size) = usize::from_str_radix(&self.line(), 16) else {
                reply.cut = true;
                return;
            };
            if !self.read_some(size, &mut reply.body) {
                reply.cut = true;
                return;
            }
            self.line();
            if size == 0 {
                return;
            }
        }
    }

    fn read_some(&mut self, length: usize, body: &mut String) -> bool {
        let mut bytes = Vec::new();
        let _ = self.reader.by_ref().take(length as u64).read_to_end(&mut bytes);
        body.push_str(&String::from_utf8_lossy(&bytes));
        bytes.len() == length
    }
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The events of a stream; the `event` line names what the data says it is.
    pub(crate) fn events(&self) -> Vec<Value> {
        let event = |block: &str| {
            let (name, data) = block.split_once('\n').unwrap();
            let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
            assert_eq!(name.strip_prefix("event: ").unwrap(), data["type"]);
            data
        };
        self.body.split_terminator("\n\n").map(event).collect()
    }
}

impl Reply {
    /// The data of a stream without names.
    pub(crate) fn data(&self) -> Vec<String> {
        let body = self.body.replace("\r\n", "\n");
        let data = |block: &str| block.strip_prefix("data: ").unwrap().to_owned();
        body.split_terminator("\n\n").map(data).collect()
    }

    /// The same, each as JSON, without the mark of the end.
    pub(crate) fn chunks(&self) -> Vec<Value> {
        let data = self.data();
        data.iter().filter(|text| *text != "[DONE]").map(|text| serde_json::from_str(text).unwrap()).collect()
    }
}

pub(crate) fn server(script: ServerScript) -> (ModelServer, Client) {
    let server = ModelServer::start(script).unwrap();
    let client = Client::new(&server);
    (server, client)
}

pub(crate) fn with_fault(kind: FaultKind) -> ServerScript {
    let fault = Fault { at_request: None, at_step: Some(1), at_checkpoint: false, kind, times: 1 };
    ServerScript { faults: vec![fault], ..ServerScript::default() }
}

/// A first request to `/v1/messages` with a task of 3 steps.
pub(crate) fn messages(stream: bool) -> Value {
    json!({
        "model": "claude-sonnet-4-5", "max_tokens": 32_000, "stream": stream,
        "system": [{ "type": "text", "text": INSTRUCTIONS, "cache_control": { "type": "ephemeral" } }],
        "tools": [{ "name": "Bash", "description": "Runs a command.", "input_schema": { "type": "object",
            "properties": { "command": { "type": "string" }, "description": { "type": "string" } } } }],
        "messages": [{ "role": "user", "content": [
            { "type": "text", "text": "<system-reminder>\nToday is a day.\n</system-reminder>" },
            { "type": "text", "text": Job { steps: 3 }.task_text() },
        ] }],
    })
}

/// A first request to `/v1/responses` with a task of 3 steps.
pub(crate) fn responses(stream: bool) -> Value {
    let message = |role: &str, text: &str| json!({ "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }] });
    json!({
        "model": "scripted", "stream": stream, "instructions": INSTRUCTIONS, "prompt_cache_key": "s-1",
        "tools": [
            { "type": "function", "name": "exec_command", "parameters": { "type": "object",
                "properties": { "cmd": { "type": "string" }, "yield_time_ms": { "type": "number" } } } },
            { "type": "web_search" },
        ],
        "input": [message("developer", "Be brief."), message("user", &Job { steps: 3 }.task_text())],
    })
}

/// A first request to `/v1/chat/completions` with a task of 3 steps.
pub(crate) fn completions(stream: bool) -> Value {
    let mut request = json!({
        "model": "scripted", "max_tokens": 4_000,
        "tools": [{ "type": "function", "function": { "name": "bash", "description": "Runs a command.",
            "parameters": { "type": "object", "properties": {
                "command": { "type": "string" }, "description": { "type": "string" } } } } }],
        "messages": [
            { "role": "system", "content": INSTRUCTIONS },
            { "role": "user", "content": [{ "type": "text", "text": Job { steps: 3 }.task_text() }] },
        ],
    });
    if stream {
        request["stream"] = true.into();
        request["stream_options"] = json!({ "include_usage": true });
    }
    request
}

/// A first request to `/v1beta/models/MODEL:METHOD` with a task of 3 steps.
pub(crate) fn contents(_stream: bool) -> Value {
    json!({
        "systemInstruction": { "role": "user", "parts": [{ "text": INSTRUCTIONS }] },
        "tools": [{ "functionDeclarations": [{ "name": "run_shell_command", "description": "Runs a command.",
            "parametersJsonSchema": { "type": "object", "properties": {
                "command": { "type": "string" }, "description": { "type": "string" } } } }] }],
        "generationConfig": { "temperature": 1 },
        "contents": [{ "role": "user", "parts": [
            { "text": "<session_context>\nToday is a day.\n</session_context>" },
            { "text": Job { steps: 3 }.task_text() },
        ] }],
    })
}

/// 4 characters a token.
pub(crate) fn tokens(texts: &[&str]) -> u64 {
    let chars: usize = texts.iter().map(|text| text.chars().count()).sum();
    (chars as u64).div_ceil(4)
}
