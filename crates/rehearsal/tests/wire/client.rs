//! A client that drives the scripted agent over pipes and reads all it says with the schema's own types.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::path::PathBuf;
use std::thread::JoinHandle;

use agent_client_protocol_schema::v1::{
    InitializeResponse, NewSessionResponse, PromptResponse, RequestPermissionRequest, SessionNotification,
    SessionUpdate, StopReason, ToolCallStatus,
};
use segue_rehearsal::agent::serve;
use segue_rehearsal::job::Job;
use segue_rehearsal::script::Script;
use segue_rehearsal::step_log::StepLog;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with a job in it, and the log of what really happened there.
pub(crate) struct Place {
    pub(crate) dir: TempDir,
    pub(crate) job: Job,
}

impl Place {
    pub(crate) fn new(steps: u32) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let job = Job { steps };
        std::fs::create_dir(dir.path().join("work")).unwrap();
        for (path, text) in job.files() {
            std::fs::write(dir.path().join("work").join(path), text).unwrap();
        }
        Self { dir, job }
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub(crate) fn script(&self) -> Script {
        Script { step_log: Some(self.dir.path().join("steps.log")), ..Script::default() }
    }

    pub(crate) fn log(&self) -> StepLog {
        StepLog::parse(&std::fs::read_to_string(self.dir.path().join("steps.log")).unwrap_or_default())
    }

    pub(crate) fn gate_is_green(&self) -> bool {
        let status = std::process::Command::new("sh")
            .arg("check.sh")
            .current_dir(self.work())
            .output()
            .unwrap()
            .status;
        status.success()
    }
}

/// One line of the agent's output.
#[derive(Debug)]
pub(crate) enum Heard {
    Update(Box<SessionUpdate>),
    Permission(Value, Box<RequestPermissionRequest>),
    Answer(u64, Result<Value, Value>),
    Unreadable(Vec<u8>),
    End,
}

pub(crate) struct Client {
    to: Option<PipeWriter>,
    from: BufReader<PipeReader>,
    agent: JoinHandle<std::io::Result<u8>>,
    next: u64,
    pub(crate) init: Value,
    pub(crate) session: String,
}

impl Client {
    /// Starts the agent and opens a session.
    pub(crate) fn start(place: &Place, script: Script) -> Self {
        let mut client = Self::bare(place, script);
        client.open();
        client
    }

    /// Starts the agent and says hello.
    pub(crate) fn bare(place: &Place, script: Script) -> Self {
        let (input, to) = std::io::pipe().unwrap();
        let (from, output) = std::io::pipe().unwrap();
        let cwd = place.work();
        let agent = std::thread::spawn(move || serve(script, BufReader::new(input), output, &cwd));
        let (from, to) = (BufReader::new(from), Some(to));
        let mut client = Self { to, from, agent, next: 0, init: Value::Null, session: String::new() };
        let id = client.request("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }));
        client.init = client.answer(id).1.unwrap();
        serde_json::from_value::<InitializeResponse>(client.init.clone()).unwrap();
        client
    }

    pub(crate) fn open(&mut self) {
        let id = self.request("session/new", json!({ "mcpServers": [] }));
        let answer: NewSessionResponse = serde_json::from_value(self.answer(id).1.unwrap()).unwrap();
        self.session = answer.session_id.0.to_string();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(crate) fn prompt(&mut self, text: &str) -> u64 {
        let session = self.session.clone();
        self.request(
            "session/prompt",
            json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] }),
        )
    }

    pub(crate) fn cancel(&mut self) {
        let session = self.session.clone();
        self.send(
            &json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } }),
        );
    }

    pub(crate) fn close_input(&mut self) {
        self.to = None;
    }

    pub(crate) fn hear(&mut self) -> Heard {
        let mut line = Vec::new();
        self.from.read_until(b'\n', &mut line).unwrap();
        if line.is_empty() {
            return Heard::End;
        }
        let Ok(message) = serde_json::from_slice::<Value>(&line) else { return Heard::Unreadable(line) };
        if !message.is_object() {
            return Heard::Unreadable(line);
        }
        match message["method"].as_str() {
            Some("session/update") => {
                let note: SessionNotification = serde_json::from_value(message["params"].clone()).unwrap();
                Heard::Update(Box::new(note.update))
            }
            Some("session/request_permission") => {
                let asked = serde_json::from_value(message["params"].clone()).unwrap();
                Heard::Permission(message["id"].clone(), Box::new(asked))
            }
            Some(other) => panic!("{other} is not to be sent by an agent"),
            None => {
                let error = message.get("error").cloned();
                let id = message["id"].as_u64().unwrap_or_default();
                Heard::Answer(id, error.map_or_else(|| Ok(message["result"].clone()), Err))
            }
        }
    }

    /// Everything up to the answer to `id`, and the answer.
    pub(crate) fn answer(&mut self, id: u64) -> (Vec<SessionUpdate>, Result<Value, Value>) {
        let mut updates = Vec::new();
        loop {
            match self.hear() {
                Heard::Update(update) => updates.push(*update),
                Heard::Answer(answered, result) if answered == id => return (updates, result),
                Heard::Answer(..) | Heard::Permission(..) | Heard::Unreadable(_) => {}
                Heard::End => panic!("the agent ended before its answer"),
            }
        }
    }

    /// Everything up to the end of the turn, and why it ended.
    pub(crate) fn turn(&mut self, text: &str) -> (Vec<SessionUpdate>, StopReason) {
        let id = self.prompt(text);
        let (updates, result) = self.answer(id);
        (updates, reason(result))
    }

    /// Reads until a tool has begun.
    pub(crate) fn until_tool(&mut self) {
        loop {
            if let Heard::Update(update) = self.hear()
                && matches!(*update, SessionUpdate::ToolCall(_))
            {
                return;
            }
        }
    }

    /// Closes the input, reads the rest, and gives the exit code.
    pub(crate) fn end(mut self) -> u8 {
        self.close_input();
        while !matches!(self.hear(), Heard::End) {}
        self.agent.join().unwrap().unwrap()
    }
}

/// Why a turn ended.
pub(crate) fn reason(result: Result<Value, Value>) -> StopReason {
    serde_json::from_value::<PromptResponse>(result.unwrap()).unwrap().stop_reason
}

/// What the agent said, in one piece.
pub(crate) fn words(updates: &[SessionUpdate]) -> String {
    let said = updates
        .iter()
        .filter_map(|u| if let SessionUpdate::AgentMessageChunk(c) = u { Some(c) } else { None });
    said.map(|c| serde_json::to_value(&c.content).unwrap()["text"].as_str().unwrap().to_owned() + "\n")
        .collect()
}

/// Used and size of every usage update.
pub(crate) fn usage(updates: &[SessionUpdate]) -> Vec<(u64, u64)> {
    updates
        .iter()
        .filter_map(|u| if let SessionUpdate::UsageUpdate(u) = u { Some((u.used, u.size)) } else { None })
        .collect()
}

/// The final state of every tool.
pub(crate) fn tool_ends(updates: &[SessionUpdate]) -> Vec<ToolCallStatus> {
    let ends = updates
        .iter()
        .filter_map(|u| if let SessionUpdate::ToolCallUpdate(u) = u { u.fields.status } else { None });
    ends.filter(|s| matches!(s, ToolCallStatus::Completed | ToolCallStatus::Failed)).collect()
}
