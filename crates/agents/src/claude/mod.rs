//! Claude Code, long-lived, with stream-json in and out.
//!
//! The gauge is the last call of the main thread: its prompt side as the stream begins, its answer as the stream ends.
//! A request for a checkpoint is a message with priority "now": the turn ends and the message runs next. Such a message
//! kills a tool that has only just begun, so it is held back until the answer has streamed and its tools have ended. The
//! end of input does not stop a turn, so a turn is interrupted before the input is closed.

mod launch;
mod list;
mod result;
mod stream;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use segue_machine::{AgentEvent, Capabilities};
use serde_json::{Value, json};

use crate::{Act, Adapter, Extras, Io, readable, windows};

pub use launch::{Options, Permission};

/// What a message to the agent was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    Turn,
    Ask,
}

/// How far the space below the window reaches that Claude Code keeps for itself when it may not compact.
const BLOCKED: u64 = 23_000;
/// The window that Claude Code takes for granted when it does not know the model.
const GUESS: u64 = 1_000_000;
/// The longest text of one turn that is kept.
const KEPT_TEXT: usize = 1 << 20;

/// One Claude Code conversation.
#[derive(Debug)]
pub struct Claude {
    options: Options,
    count: u64,
    ready: bool,
    /// Messages that have not come to an end, oldest first.
    sent: VecDeque<Sent>,
    /// A request for a checkpoint that waits for a good moment.
    held: Option<String>,
    call: Option<Call>,
    last_fill: Option<u64>,
    /// When a limit that turned a request down is over.
    rejected_until: Option<u64>,
    /// Calls whose usage came with the stream, so that their messages need not be read for it.
    metered: BTreeSet<String>,
    side: BTreeSet<String>,
    tools: BTreeMap<String, String>,
    /// Those of them that only read something.
    reading: BTreeSet<String>,
    list: list::TaskList,
    background: BTreeSet<String>,
    permissions: BTreeMap<String, Value>,
    /// Side questions that are not answered, by the id of their control request.
    side_questions: BTreeMap<String, String>,
    text: String,
    chars: u64,
}

/// The prompt side of a call whose answer still streams.
#[derive(Debug, Clone)]
struct Call {
    id: String,
    input: u64,
    cache_read: u64,
    cache_write: u64,
    cache_write_1h: u64,
}

impl Claude {
    /// A conversation as the options say.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            count: 0,
            ready: false,
            sent: VecDeque::new(),
            held: None,
            call: None,
            last_fill: None,
            rejected_until: None,
            metered: BTreeSet::new(),
            side: BTreeSet::new(),
            tools: BTreeMap::new(),
            reading: BTreeSet::new(),
            list: list::TaskList::default(),
            background: BTreeSet::new(),
            permissions: BTreeMap::new(),
            side_questions: BTreeMap::new(),
            text: String::new(),
            chars: 0,
        }
    }

    fn next_id(&mut self) -> String {
        self.count += 1;
        // A UUID of this process's own, without chance: its first groups and a counter.
        let head = self.options.conversation.get(..24).unwrap_or("00000000-0000-4000-8000-");
        format!("{head}{:012x}", self.count)
    }

    fn message(&mut self, text: &str, priority: &str, io: &mut Io) {
        let uuid = self.next_id();
        let message = json!({
            "type": "user",
            "message": { "role": "user", "content": text },
            "parent_tool_use_id": null,
            "session_id": "",
            "uuid": uuid,
            "priority": priority,
        });
        write(&message, io);
    }

    /// Sends the request for a checkpoint, unless an answer streams or a tool runs.
    fn send_held(&mut self, io: &mut Io) {
        let busy = self.call.is_some() || !self.tools.is_empty();
        if let Some(text) = self.held.take_if(|_| !busy) {
            self.sent.push_back(Sent::Ask);
            self.message(&text, "now", io);
        }
    }

    fn control(&mut self, request: &Value, io: &mut Io) -> String {
        let id = self.next_id();
        write(&json!({ "type": "control_request", "request_id": id, "request": request }), io);
        id
    }

    /// Past its ceiling the CLI answers itself and marks that as synthetic: nobody was asked.
    fn side_answer(id: String, response: &Value, io: &mut Io) {
        let answer = &response["response"];
        let text = answer["response"].as_str().unwrap_or_default();
        let real = response["subtype"] == "success" && answer["synthetic"] != true && !text.trim().is_empty();
        io.events.push(if real {
            AgentEvent::SideAnswered { id, text: text.to_owned() }
        } else {
            let why = response["error"].as_str().filter(|why| !why.is_empty()).unwrap_or(text);
            AgentEvent::SideFailed { id, why: why.to_owned() }
        });
    }

    /// The window that the CLI believes in is only worth something when it knows the model.
    fn usage_answer(&mut self, answer: &Value, io: &mut Io) {
        if std::mem::replace(&mut self.ready, true) {
            return self.cross_check(answer, io);
        }
        let model = answer.get("model").and_then(Value::as_str).map(str::to_owned);
        let largest = answer.get("maxTokens").and_then(Value::as_u64).filter(|w| *w > 0);
        let known = !self.guesses(answer, model.as_deref(), largest);
        let window = largest.filter(|_| known);
        let threshold =
            answer.get("autoCompactThreshold").and_then(Value::as_u64).filter(|t| *t > 0 && known);
        let compacts = answer.get("isAutoCompactEnabled").and_then(Value::as_bool).unwrap_or(false);
        let ceiling = if compacts { threshold } else { window.and_then(|w| w.checked_sub(BLOCKED)) };
        self.say_ready(model, window, ceiling, io);
    }

    // It says that it guesses only while it may compact; else the guess is known by its size.
    fn guesses(&self, answer: &Value, model: Option<&str>, largest: Option<u64>) -> bool {
        let name = model.or(self.options.model.as_deref()).unwrap_or_default();
        let in_table = name.ends_with("[1m]") || windows::window(name).is_some();
        answer["autocompactSource"] == "unknown-model" || (largest == Some(GUESS) && !in_table)
    }

    // The same call by another way: the agent's own account of what it last sent and got.
    fn cross_check(&mut self, answer: &Value, io: &mut Io) {
        let part = |name: &str| answer["apiUsage"][name].as_u64().unwrap_or(0);
        let names =
            ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"];
        let agent: u64 = names.iter().map(|name| part(name)).sum();
        if let Some(reading) = self.last_fill.filter(|_| agent > 0) {
            io.events.push(AgentEvent::CrossChecked { reading, agent });
        }
    }

    fn say_ready(&self, model: Option<String>, window: Option<u64>, ceiling: Option<u64>, io: &mut Io) {
        io.events.push(AgentEvent::Ready {
            conversation: self.options.talk().to_owned(),
            model: model.or_else(|| self.options.model.clone()),
            window,
            ceiling,
            can: Capabilities {
                ask: true,
                follow_up: true,
                usage: true,
                brake: self.options.brake.is_some(),
                tell: self.options.brake.is_some(),
                side: true,
                resume: true,
            },
        });
    }

    fn control_response(&mut self, line: &Value, io: &mut Io) {
        let response = &line["response"];
        let asked = response["request_id"].as_str().and_then(|request| self.side_questions.remove(request));
        if let Some(id) = asked {
            return Self::side_answer(id, response, io);
        }
        let answer = &response["response"];
        if response["subtype"] == "success" && answer.get("maxTokens").is_some() {
            self.usage_answer(answer, io);
        } else if response["subtype"] == "error" && !std::mem::replace(&mut self.ready, true) {
            self.say_ready(None, None, None, io);
        }
    }

    fn control_request(&mut self, line: &Value, io: &mut Io) {
        let id = line["request_id"].as_str().unwrap_or_default().to_owned();
        let request = &line["request"];
        if request["subtype"] != "can_use_tool" {
            let error = json!({ "subtype": "error", "request_id": id, "error": "segue does not offer this" });
            return write(&json!({ "type": "control_response", "response": error }), io);
        }
        let name = request["tool_name"].as_str().unwrap_or("tool");
        let (kind, title) = (stream::kind(name).to_owned(), stream::title(name, &request["input"]));
        let subject = stream::subject(&request["input"]);
        self.permissions.insert(id.clone(), request["input"].clone());
        io.events.push(AgentEvent::PermissionAsked { request: id, kind, title, subject });
    }

    fn permit(&mut self, id: &str, allow: bool, io: &mut Io) {
        let Some(input) = self.permissions.remove(id) else { return };
        let answer = if allow {
            json!({ "behavior": "allow", "updatedInput": input })
        } else {
            json!({ "behavior": "deny", "message": "not allowed in this unattended run; continue without it" })
        };
        let response = json!({ "subtype": "success", "request_id": id, "response": answer });
        write(&json!({ "type": "control_response", "response": response }), io);
    }

    fn object(&mut self, line: &Value, io: &mut Io) {
        let main = line.get("parent_tool_use_id").is_none_or(Value::is_null);
        match line["type"].as_str().unwrap_or_default() {
            "stream_event" if main => self.stream_event(&line["event"], io),
            "assistant" => self.assistant(line, main, io),
            "user" if main => self.user(line, io),
            "system" => self.system(line, io),
            "result" => self.result(line, io),
            "rate_limit_event" => self.rate_limit(&line["rate_limit_info"], io),
            "control_response" => self.control_response(line, io),
            "control_request" => self.control_request(line, io),
            _ => {}
        }
    }
}

impl Adapter for Claude {
    fn open(&mut self, io: &mut Io) {
        self.control(&json!({ "subtype": "get_context_usage" }), io);
    }

    fn line(&mut self, line: &[u8], io: &mut Io) {
        for value in serde_json::Deserializer::from_slice(line).into_iter::<Value>() {
            match value {
                Ok(Value::Array(lines)) => lines.iter().for_each(|line| self.object(line, io)),
                Ok(line) if line.is_object() => self.object(&line, io),
                _ => return io.events.push(readable(line)),
            }
        }
    }

    fn act(&mut self, act: Act, io: &mut Io) {
        match act {
            Act::Prompt(text) => {
                self.sent.push_back(Sent::Turn);
                self.message(&text, "next", io);
            }
            Act::Ask(text) => {
                self.held = Some(text);
                self.send_held(io);
            }
            // As a message it would be answered, by models that then stop their work.
            Act::Tell(text) => io.hook_context = Some(text),
            Act::SideQuestion { id, text } => {
                let question = json!({ "subtype": "side_question", "question": text });
                let request = self.control(&question, io);
                self.side_questions.insert(request, id);
            }
            Act::Permission { request, allow } => self.permit(&request, allow, io),
            // Its own result line says so.
            Act::Braked => {}
            Act::Close => {
                if !self.sent.is_empty() {
                    self.control(&json!({ "subtype": "interrupt" }), io);
                }
                io.close = true;
            }
        }
    }

    fn exited(&mut self, _exit: Option<i32>, io: &mut Io) {
        self.flush(io);
    }

    fn extras(&self) -> Extras {
        self.options.extras()
    }
}

fn write(message: &Value, io: &mut Io) {
    io.write.extend_from_slice(message.to_string().as_bytes());
    io.write.push(b'\n');
}

#[cfg(test)]
#[path = "claude_tests.rs"]
mod tests;
