//! OpenCode as a server, through a bridge that makes lines of it: requests and answers by number, and its events.
//!
//! The gauge is the usage of each step of the main session; it comes after the step's tools, so what these gave back is
//! told with it as still to come. A request for a checkpoint is a second prompt: the running tool finishes, and the next
//! answer belongs to the request, which its parent message proves.

mod event;
mod model;
mod side;
mod turn;

use std::collections::{BTreeMap, BTreeSet};

use segue_machine::{AgentEvent, AgentFailure, Capabilities, TurnEnd};
use serde_json::{Value, json};

use crate::{Act, Adapter, Extras, Io, classify, readable};
use model::Models;

/// What a conversation is started with.
#[derive(Debug, Clone)]
pub struct Options {
    /// An old session to take up again.
    pub resume: Option<String>,
    /// The model, if the user chose one: `provider/model`.
    pub model: Option<String>,
    /// Its permission checks are switched off, because the user said so.
    pub bypass: bool,
    /// It asks for everything, so that what lies in the work tree can be allowed and the rest denied.
    pub edit: bool,
    /// Switch its own compaction off, because the policy may replace the session.
    pub no_compaction: bool,
}

/// What an open request was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Config,
    Providers,
    Load,
    Open,
    Prompt(Work),
    Status,
    /// A fork for a side question.
    Fork,
    /// Its rules.
    Restrict,
    /// The question that is put to it.
    SidePrompt,
    /// Sessions, to find forks that were left behind.
    Forks,
    Other,
}

/// What the running turn is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Turn,
    Ask,
}

/// One answer of the model: an assistant's message.
#[derive(Debug, Clone)]
struct Answer {
    parent: String,
    /// It is a summary of the conversation and no part of it.
    summary: bool,
}

/// One OpenCode session.
#[derive(Debug)]
pub struct OpenCode {
    options: Options,
    next_id: u64,
    calls: BTreeMap<u64, Call>,
    connected: bool,
    models: Models,
    session: Option<String>,
    /// The model as the server named it last.
    model: Option<String>,
    work: Option<Work>,
    /// Texts that were sent and whose message has not shown up.
    sent: Vec<(Work, String)>,
    /// The message that asks for a checkpoint, and its characters while no answer to it has begun.
    ask: Option<(String, u64)>,
    busy: bool,
    /// An answer has begun since the prompt.
    begun: bool,
    error: Option<TurnEnd>,
    answers: BTreeMap<String, Answer>,
    last: Option<String>,
    /// What was said in the answers to the same message, by part.
    texts: BTreeMap<String, String>,
    /// Tools at work, by call.
    tools: BTreeMap<String, String>,
    /// Tools whose end was told.
    ended: BTreeSet<String>,
    /// Characters that tools have given back since the step began.
    given: u64,
    /// A step was read: only then is what tools give back more than a guess without its ground.
    metered: bool,
    /// Ends of tools that wait for the first reading.
    held: Vec<AgentEvent>,
    /// Permission requests and questions that wait for an answer.
    requests: BTreeMap<String, &'static str>,
    cost: f64,
    sides: side::Sides,
}

impl OpenCode {
    /// A session as the options say.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            next_id: 0,
            calls: BTreeMap::new(),
            connected: false,
            models: Models::default(),
            session: None,
            model: None,
            work: None,
            sent: Vec::new(),
            ask: None,
            busy: false,
            begun: false,
            error: None,
            answers: BTreeMap::new(),
            last: None,
            texts: BTreeMap::new(),
            tools: BTreeMap::new(),
            ended: BTreeSet::new(),
            given: 0,
            metered: false,
            held: Vec::new(),
            requests: BTreeMap::new(),
            cost: 0.0,
            sides: side::Sides::default(),
        }
    }

    fn call(&mut self, call: Call, method: &str, path: &str, body: Option<&Value>, io: &mut Io) {
        self.next_id += 1;
        self.send_call(self.next_id, call, method, path, body, io);
    }

    fn send_call(
        &mut self,
        id: u64,
        call: Call,
        method: &str,
        path: &str,
        body: Option<&Value>,
        io: &mut Io,
    ) {
        self.calls.insert(id, call);
        let mut line = json!({ "id": id, "method": method, "path": path });
        if let Some(body) = body {
            line["body"] = body.clone();
        }
        io.write.extend_from_slice(line.to_string().as_bytes());
        io.write.push(b'\n');
    }

    fn session_path(&self, rest: &str) -> String {
        format!("/session/{}{rest}", self.session.as_deref().unwrap_or_default())
    }

    // Nothing is asked before events are heard, so none is missed.
    fn connected(&mut self, io: &mut Io) {
        if !std::mem::replace(&mut self.connected, true) {
            return self.call(Call::Config, "GET", "/config", None, io);
        }
        if self.work.is_some() {
            self.call(Call::Status, "GET", "/session/status", None, io);
        }
    }

    fn answered(&mut self, id: u64, line: &Value, io: &mut Io) {
        let Some(call) = self.calls.remove(&id) else {
            return io.events.push(readable(b"an answer to a question that was not asked"));
        };
        let (status, body) = (line["status"].as_u64().unwrap_or(0), &line["body"]);
        let fine = (200..300).contains(&status);
        match (call, fine) {
            (Call::Config, true) => {
                self.models.configured(body);
                self.call(Call::Providers, "GET", "/config/providers", None, io);
            }
            (Call::Providers, true) => {
                self.models.offered(body);
                self.open_session(io);
            }
            (Call::Load | Call::Open, true) => self.opened(body, io),
            (Call::Load, false) => self.call(Call::Open, "POST", "/session", Some(&json!({})), io),
            (Call::Config | Call::Providers | Call::Open, false) => {
                io.events.push(AgentEvent::TurnEnded(refused(&words(status, body))));
            }
            (Call::Prompt(work), false) => self.not_taken(work, classify(&words(status, body), None), io),
            (Call::Status, true) => self.status_known(body, io),
            (Call::Fork, true) => self.forked(body, io),
            (Call::Restrict, true) => self.restricted(body, io),
            (Call::Fork | Call::Restrict | Call::SidePrompt, false) => self.side_refused(status, body, io),
            (Call::Forks, true) => self.forks_listed(body, io),
            (Call::Prompt(_) | Call::SidePrompt | Call::Other, _) | (Call::Status | Call::Forks, false) => {}
        }
    }

    fn open_session(&mut self, io: &mut Io) {
        if let Some(name) = &self.options.model {
            let Some(model) = self.models.find(name) else {
                let message = format!("OpenCode has no model {name:?}; `opencode models` lists them");
                let failure = AgentFailure::BadModel;
                return io.events.push(AgentEvent::TurnEnded(TurnEnd::failed(failure, message)));
            };
            self.options.model = Some(model);
        }
        match self.options.resume.take() {
            Some(session) => self.call(Call::Load, "GET", &format!("/session/{session}"), None, io),
            None => self.call(Call::Open, "POST", "/session", Some(&json!({})), io),
        }
    }

    fn opened(&mut self, session: &Value, io: &mut Io) {
        let Some(id) = session["id"].as_str() else {
            return io.events.push(AgentEvent::TurnEnded(refused("its session cannot be read")));
        };
        self.session = Some(id.to_owned());
        self.model = self.options.model.clone().or_else(|| self.models.default_model());
        let limit = self.model.as_deref().map(|m| self.models.limit(m)).unwrap_or_default();
        io.events.push(AgentEvent::Ready {
            conversation: id.to_owned(),
            model: self.model.clone(),
            window: limit.window,
            ceiling: limit.ceiling,
            can: Capabilities {
                ask: true,
                follow_up: true,
                usage: true,
                brake: false,
                tell: false,
                side: true,
                resume: true,
            },
        });
        self.look_for_forks(io);
    }

    fn send(&mut self, work: Work, text: &str, io: &mut Io) {
        self.sent.push((work, text.trim().to_owned()));
        self.post_prompt(Call::Prompt(work), text, false, io);
    }

    fn post_prompt(&mut self, call: Call, text: &str, no_reply: bool, io: &mut Io) {
        let mut body = json!({ "parts": [{ "type": "text", "text": text }] });
        if let Some((provider, model)) = self.options.model.as_deref().and_then(|m| m.split_once('/')) {
            body["model"] = json!({ "providerID": provider, "modelID": model });
        }
        if no_reply {
            body["noReply"] = json!(true);
        }
        self.call(call, "POST", &self.session_path("/prompt_async"), Some(&body), io);
    }

    fn permit(&mut self, request: &str, allow: bool, io: &mut Io) {
        let Some(kind) = self.requests.remove(request) else { return };
        let (path, body) = match (kind, allow) {
            ("permission", true) => (format!("/permission/{request}/reply"), json!({ "reply": "once" })),
            // Without words the whole turn would end here.
            ("permission", false) => {
                let message = "This is not allowed in this run. Continue without it, or say what you need.";
                (format!("/permission/{request}/reply"), json!({ "reply": "reject", "message": message }))
            }
            // There is nobody to answer a question.
            _ => (format!("/question/{request}/reject"), json!({})),
        };
        self.call(Call::Other, "POST", &path, Some(&body), io);
    }

    fn message(&mut self, line: &Value, io: &mut Io) {
        if line["event"].is_object() {
            return self.event(&line["event"], io);
        }
        match (line["id"].as_u64(), line["bridge"].as_object()) {
            (Some(id), _) if line.get("status").is_some() => self.answered(id, line, io),
            // What follows from it is seen when the stream is there again, or when the bridge ends.
            (_, Some(_)) => {}
            _ => io.events.push(readable(line.to_string().as_bytes())),
        }
    }
}

impl Adapter for OpenCode {
    fn open(&mut self, _io: &mut Io) {}

    fn line(&mut self, line: &[u8], io: &mut Io) {
        match serde_json::from_slice::<Value>(line) {
            Ok(message) if message.is_object() => self.message(&message, io),
            _ => io.events.push(readable(line)),
        }
    }

    fn act(&mut self, act: Act, io: &mut Io) {
        match act {
            Act::Prompt(text) => self.prompt(&text, io),
            Act::Ask(text) => self.ask(&text, io),
            // It would be a message of the user's, which models answer.
            Act::Tell(_) => {}
            Act::Permission { request, allow } => self.permit(&request, allow, io),
            Act::SideQuestion { id, text } => self.side_question(id, text, io),
            Act::Braked => {}
            Act::Close => {
                self.stop_forks("the session is over", io);
                if self.busy && self.session.is_some() {
                    self.call(Call::Other, "POST", &self.session_path("/abort"), Some(&json!({})), io);
                }
                io.close = true;
            }
        }
    }

    fn exited(&mut self, _exit: Option<i32>, _io: &mut Io) {}

    fn extras(&self) -> Extras {
        let args = ["serve", "--hostname", "127.0.0.1", "--port", "0"].map(str::to_owned).to_vec();
        let mut env = Vec::new();
        let mut set = |name: &str, value: &str| env.push((name.to_owned(), value.to_owned()));
        if self.options.no_compaction {
            set("OPENCODE_DISABLE_AUTOCOMPACT", "1");
            set("OPENCODE_DISABLE_PRUNE", "1");
        }
        if self.options.bypass {
            set("OPENCODE_PERMISSION", "{\"*\":\"allow\"}");
        } else if self.options.edit {
            set("OPENCODE_PERMISSION", "{\"*\":\"ask\"}");
        }
        Extras { args, env, ..Extras::default() }
    }
}

/// What an answer that is no success says.
fn words(status: u64, body: &Value) -> String {
    let texts = ["/data/message", "/message", "/error/message", "/name"];
    let found = texts.iter().find_map(|at| body.pointer(at).and_then(Value::as_str));
    let text = found.or_else(|| body.as_str()).map_or_else(|| body.to_string(), str::to_owned);
    if status == 0 { text } else { format!("{status}: {text}") }
}

fn refused(why: &str) -> TurnEnd {
    TurnEnd::failed(AgentFailure::Refused, why)
}

#[cfg(test)]
#[path = "opencode_tests.rs"]
mod tests;
