//! The scripted agent itself: ACP over two streams, one conversation turn at a time.
//!
//! One thread reads the input; everything else happens here, in the order in which it is received. Nothing is kept
//! between sessions but what `state_dir` holds, and no session knows what another one did.

mod fault;
mod inbox;
mod step;
mod tool;
mod turn;
mod update;
mod wire;

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use serde_json::{Value, json};

use crate::context::{Context, Entry, Role};
use crate::script::{Script, Steer};
use inbox::{Event, PromptCall, Signal};
use wire::Wire;

/// Runs the agent until its input ends or a fault ends it, and tells its exit code.
///
/// Commands run in the session's own `cwd`, or in `cwd` when the client names none.
///
/// # Errors
/// The output cannot be written, or a file of `state_dir` or the step log cannot.
pub fn serve(
    script: Script,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
    cwd: &Path,
) -> io::Result<u8> {
    let (events, inbox) = mpsc::channel();
    let to_agent = events.clone();
    thread::spawn(move || inbox::read(input, &to_agent));
    let log = script.step_log.clone().or_else(|| std::env::var_os("SEGUE_STEP_LOG").map(PathBuf::from));
    let wire = Wire::new(Box::new(output), script.ignore_eof);
    let agent = Agent {
        script,
        wire,
        inbox,
        events,
        queue: VecDeque::new(),
        sessions: BTreeMap::new(),
        cwd: cwd.to_owned(),
        log,
        opened: 0,
        serial: 0,
        said: 0,
    };
    agent.run()
}

struct Session {
    context: Context,
    cwd: PathBuf,
    ordinal: u32,
}

struct Agent {
    script: Script,
    wire: Wire,
    inbox: Receiver<Event>,
    events: Sender<Event>,
    queue: VecDeque<PromptCall>,
    sessions: BTreeMap<String, Session>,
    cwd: PathBuf,
    log: Option<PathBuf>,
    opened: u32,
    serial: u64,
    said: usize,
}

impl Agent {
    fn run(mut self) -> io::Result<u8> {
        loop {
            let Some(call) = self.queue.pop_front() else {
                match self.next(None)? {
                    Some(Signal::Prompt(call)) => self.queue.push_back(call),
                    Some(Signal::Closed) if !self.script.ignore_eof => return Ok(0),
                    _ => {}
                }
                continue;
            };
            if let Some(code) = self.turn(&call)? {
                return Ok(code);
            }
        }
    }

    fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    fn initialize(&self) -> Value {
        let mut capabilities = json!({
            "loadSession": self.script.state_dir.is_some(),
            "promptCapabilities": { "image": false, "audio": false, "embeddedContext": true },
        });
        if self.script.steer == Steer::Supersede {
            capabilities["_meta"] = json!({ "segue.dev/steer": "supersede" });
        }
        if self.script.notes {
            capabilities["_meta"]["segue.dev/notes"] = json!(true);
        }
        json!({
            "protocolVersion": 1,
            "agentCapabilities": capabilities,
            "agentInfo": { "name": "segue-rehearsal", "title": "Scripted agent", "version": env!("CARGO_PKG_VERSION") },
            "authMethods": [],
        })
    }

    fn new_session(&mut self, params: &Value) -> io::Result<Value> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let id = format!("rehearsal-{:x}-{:x}-{}", now.as_millis(), std::process::id(), self.next_serial());
        self.note(&format!("session {id}"))?;
        self.opened += 1;
        let ordinal = self.sessions_in_log().unwrap_or(self.opened);
        let session = Session { context: Context::default(), cwd: self.cwd_of(params), ordinal };
        self.sessions.insert(id.clone(), session);
        Ok(json!({ "sessionId": id }))
    }

    /// Takes up a kept conversation and tells it again, as the protocol wants; `None` when there is none.
    fn load_session(&mut self, params: &Value) -> io::Result<Option<Value>> {
        let id = params["sessionId"].as_str().unwrap_or_default();
        let Some(text) = self.kept(id).and_then(|path| fs::read_to_string(path).ok()) else {
            return Ok(None);
        };
        let mut context = Context::default();
        for entry in text.lines().filter_map(|line| serde_json::from_str::<Entry>(line).ok()) {
            let told = match entry.role {
                Role::Prompt => update::prompt(&entry.text),
                Role::Agent => update::message(&entry.text),
                Role::Tool => update::past_tool(self.next_serial(), &entry.text),
            };
            self.wire.update(id, told)?;
            context.push(entry.role, entry.text);
        }
        let ordinal = self.sessions_in_log().unwrap_or(self.opened);
        self.sessions.insert(id.to_owned(), Session { context, cwd: self.cwd_of(params), ordinal });
        Ok(Some(json!({})))
    }

    fn cwd_of(&self, params: &Value) -> PathBuf {
        let named = params["cwd"].as_str().map(PathBuf::from).filter(|p| p.is_absolute());
        named.unwrap_or_else(|| self.cwd.clone())
    }

    fn remember(&mut self, id: &str, role: Role, text: &str) -> io::Result<()> {
        if let Some(path) = self.kept(id) {
            let line = serde_json::to_string(&Entry { role, text: text.to_owned() })?;
            append(&path, &line)?;
        }
        if let Some(session) = self.sessions.get_mut(id) {
            session.context.push(role, text);
        }
        Ok(())
    }

    /// Writes a kept conversation anew, as it is after a compaction.
    fn keep_all(&self, id: &str) -> io::Result<()> {
        let (Some(path), Some(session)) = (self.kept(id), self.sessions.get(id)) else { return Ok(()) };
        let lines: Result<Vec<String>, _> =
            session.context.entries().iter().map(serde_json::to_string).collect();
        fs::write(path, lines?.join("\n") + "\n")
    }

    // Ids are made here, of these characters only: no other name reaches the file system.
    fn kept(&self, id: &str) -> Option<PathBuf> {
        let plain = !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        Some(self.script.state_dir.as_ref().filter(|_| plain)?.join(format!("{id}.jsonl")))
    }

    fn note(&self, line: &str) -> io::Result<()> {
        self.log.as_deref().map_or(Ok(()), |path| append(path, line))
    }

    fn sessions_in_log(&self) -> Option<u32> {
        let text = fs::read_to_string(self.log.as_deref()?).ok()?;
        u32::try_from(text.lines().filter(|l| l.starts_with("session ")).count()).ok()
    }
}

fn append(path: &Path, line: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    OpenOptions::new().create(true).append(true).open(path)?.write_all(format!("{line}\n").as_bytes())
}
