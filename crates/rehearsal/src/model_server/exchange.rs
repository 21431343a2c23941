//! From a request to a reply: which API it is for, what it costs, what the persona or a fault makes of it, and the
//! line in the truth log. The line is written before the first byte of the reply.

use std::io;

use serde_json::{Value, json};

use super::answer::{Answer, Kind, Thread};
use super::cache::Cache;
use super::conversation::Conversation;
use super::count::{Count, Meter};
use super::fault::Faults;
use super::forks::Forks;
use super::http::Request;
use super::refusal::{self, Refusal};
use super::reply::{Ids, Usage};
use super::route::{Ask, route};
use super::script::{FaultKind, ServerScript, WindowError};
use super::truth::{Api, Log, Opening, TruthLine};
use super::{anthropic, chat, gemini, openai, persona};

/// What goes back.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Body,
    /// What goes wrong while it is sent.
    pub(super) fault: Option<FaultKind>,
    /// Whether a model answers, which takes its time.
    pub(super) thinks: bool,
}

/// The body of a reply.
#[derive(Debug)]
pub(super) enum Body {
    Json(Value),
    Events(Vec<String>),
}

/// All that the server remembers from request to request.
#[derive(Debug)]
pub(super) struct Desk {
    script: ServerScript,
    start_ms: u64,
    n: u64,
    cache: Cache,
    meter: Meter,
    forks: Forks,
    pub(super) faults: Faults,
    pub(super) log: Log,
    /// The body of every model call with its number in the log, where the script wants them.
    pub(super) bodies: Vec<(u64, Value)>,
}

impl Desk {
    pub(super) fn new(script: ServerScript, count: Option<Count>, start_ms: u64) -> io::Result<Self> {
        let log = Log::open(script.truth_log.as_deref())?;
        let faults = Faults::new(&script.faults);
        let (cache, meter) = (Cache::default(), Meter::new(count));
        Ok(Self {
            script,
            start_ms,
            n: 0,
            cache,
            meter,
            forks: Forks::default(),
            faults,
            log,
            bodies: Vec::new(),
        })
    }

    /// The reply to a request.
    ///
    /// # Errors
    /// The truth log cannot be written.
    pub(super) fn reply(&mut self, request: &Request, at_ms: u64) -> io::Result<Reply> {
        self.n += 1;
        let ids = Ids::new(self.start_ms, self.n, at_ms);
        let (api, ask) = route(request);
        let mut line = blank(self.n, at_ms, api);
        line.other_key = self.script.key.as_deref().is_some_and(|key| has_other_key(request, key));
        let mut reply = match ask {
            Ask::Answer | Ask::Count => match serde_json::from_slice::<Value>(&request.body) {
                Ok(body) if body.is_object() && ask == Ask::Count => self.count(request, &body, &mut line),
                Ok(body) if body.is_object() => self.model_call(request, &body, &ids, &mut line),
                _ => refused(refusal::unknown(api, 400, "the body is not a JSON object", &ids), &mut line),
            },
            Ask::Models => {
                line.kind = Kind::Models;
                line.status = 200;
                json_reply(match api {
                    Api::Anthropic => anthropic::models(),
                    Api::OpenAi | Api::Chat => openai::models(),
                    Api::Gemini => gemini::models(self.script.window),
                })
            }
            Ask::Unknown => {
                let message = format!("there is no {} {} here", request.method, request.path);
                refused(refusal::unknown(api, 404, &message, &ids), &mut line)
            }
        };
        let name = if api == Api::Anthropic { "request-id" } else { "x-request-id" };
        reply.headers.push((name.to_owned(), ids.request));
        self.log.add(line)?;
        Ok(reply)
    }

    fn model_call(&mut self, request: &Request, body: &Value, ids: &Ids, line: &mut TruthLine) -> Reply {
        let mut talk = conversation(line.api, request, body);
        talk.forked = self.forks.is_fork(&talk);
        let input = self.meter.prompt(&talk.pieces);
        describe(line, &talk, input);
        if self.script.keep_bodies {
            self.bodies.push((line.n, body.clone()));
        }
        let answer = persona::answer(&talk, &self.script.persona);
        (line.thread, line.kind) = (answer.thread, answer.kind);
        if line.thread == Thread::Main {
            self.log.openings.extend(Opening::of(self.n, &talk));
        }
        let due = self.faults.due(&answer);
        line.fault = due.map(|kind| kind.name().to_owned());
        if let Some(refusal) = due.and_then(|kind| refusal::of_fault(kind, line.api, ids)) {
            return refused(refusal, line);
        }
        if let Some(id) = talk.broken_pair() {
            return refused(refusal::broken_pair(line.api, id, ids), line);
        }
        if input > self.script.window {
            line.fault = None;
            return self.overflow(&talk, ids, line);
        }
        let answer_room = talk.max_tokens.filter(|_| self.script.counts_answer).unwrap_or(0);
        if let Some(refusal) = refusal::no_room(line.api, input, answer_room, self.script.window, ids) {
            return refused(refusal, line);
        }
        if due == Some(FaultKind::Overflow) {
            return self.overflow(&talk, ids, line);
        }
        let usage = Usage {
            input,
            cached: self.cached(&talk, line.api),
            output: self.meter.answer(&answer),
            reasoning: answer.reasoning,
            caches: talk.caches,
        };
        if due != Some(FaultKind::Hang) {
            settle(line, &answer, usage);
        }
        let model = talk.model.as_str();
        let body = match (line.api, talk.stream) {
            (Api::Anthropic, true) => Body::Events(anthropic::events(model, &answer, usage, ids)),
            (Api::Anthropic, false) => Body::Json(anthropic::message(model, &answer, usage, ids)),
            (Api::OpenAi, true) => Body::Events(openai::events(model, &answer, usage, ids)),
            (Api::OpenAi, false) => Body::Json(openai::response(model, &answer, usage, ids)),
            (Api::Chat, true) => {
                let wants_usage = body["stream_options"]["include_usage"] == true;
                Body::Events(chat::events(model, &answer, usage, wants_usage, ids))
            }
            (Api::Chat, false) => Body::Json(chat::completion(model, &answer, usage, ids)),
            (Api::Gemini, true) => {
                let pieces = gemini::pieces(model, &answer, usage, ids);
                if gemini::wants_events(request) {
                    Body::Events(pieces.iter().map(gemini::event).collect())
                } else {
                    Body::Json(pieces.into())
                }
            }
            (Api::Gemini, false) => Body::Json(gemini::response(model, &answer, usage, ids)),
        };
        Reply { status: 200, headers: Vec::new(), body, fault: due, thinks: true }
    }

    fn count(&mut self, request: &Request, body: &Value, line: &mut TruthLine) -> Reply {
        let talk = conversation(line.api, request, body);
        let input = self.meter.prompt(&talk.pieces);
        describe(line, &talk, input);
        (line.kind, line.status, line.stream) = (Kind::Count, 200, false);
        let gemini = line.api == Api::Gemini;
        json_reply(if gemini { gemini::count(input) } else { json!({ "input_tokens": input }) })
    }

    fn overflow(&self, talk: &Conversation, ids: &Ids, line: &mut TruthLine) -> Reply {
        let tokens = line.input_tokens.max(self.script.window + 1);
        let refusal = refusal::too_long(line.api, tokens, self.script.window, ids);
        let streams =
            line.api == Api::OpenAi && talk.stream && self.script.window_error == WindowError::Stream;
        if !streams {
            return refused(refusal, line);
        }
        line.status = 200;
        line.error = Some(refusal.error);
        let body = Body::Events(openai::failed(&talk.model, &refusal.body, ids));
        Reply { status: 200, headers: Vec::new(), body, fault: None, thinks: false }
    }

    // OpenAI caches in steps of 128 tokens.
    fn cached(&mut self, talk: &Conversation, api: Api) -> u64 {
        let cached = self.cache.read(talk, &mut self.meter);
        if matches!(api, Api::OpenAi | Api::Chat) { cached - cached % 128 } else { cached }
    }
}

fn conversation(api: Api, request: &Request, body: &Value) -> Conversation {
    match api {
        Api::Anthropic => anthropic::conversation(request, body),
        Api::OpenAi => openai::conversation(request, body),
        Api::Chat => chat::conversation(request, body),
        Api::Gemini => gemini::conversation(request, body),
    }
}

fn blank(n: u64, at_ms: u64, api: Api) -> TruthLine {
    TruthLine {
        n,
        at_ms,
        api,
        thread: Thread::Side,
        kind: Kind::Unknown,
        session: None,
        model: String::new(),
        input_tokens: 0,
        cached: 0,
        output_tokens: 0,
        occupancy: 0,
        stream: false,
        status: 0,
        error: None,
        fault: None,
        steps: Vec::new(),
        calls: Vec::new(),
        tools: None,
        other_key: false,
    }
}

fn has_other_key(request: &Request, key: &str) -> bool {
    let names = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];
    let values = names.iter().filter_map(|name| request.header(name));
    values.map(|value| value.strip_prefix("Bearer ").unwrap_or(value)).any(|value| value != key)
}

fn describe(line: &mut TruthLine, talk: &Conversation, input: u64) {
    line.session.clone_from(&talk.session);
    line.model.clone_from(&talk.model);
    line.stream = talk.stream;
    (line.input_tokens, line.occupancy) = (input, input);
    let names: Vec<String> = talk.tool_names().into_iter().map(str::to_owned).collect();
    line.tools = (!names.is_empty()).then_some(names);
}

fn settle(line: &mut TruthLine, answer: &Answer, usage: Usage) {
    line.status = 200;
    line.cached = usage.cached;
    line.output_tokens = usage.output;
    line.occupancy = usage.input + usage.output;
    line.steps.clone_from(&answer.steps);
    line.calls = answer.calls.iter().map(|call| call.name.clone()).collect();
}

fn refused(refusal: Refusal, line: &mut TruthLine) -> Reply {
    line.status = refusal.status;
    line.error = Some(refusal.error);
    Reply {
        status: refusal.status,
        headers: refusal.headers,
        body: Body::Json(refusal.body),
        fault: None,
        thinks: false,
    }
}

fn json_reply(value: Value) -> Reply {
    Reply { status: 200, headers: Vec::new(), body: Body::Json(value), fault: None, thinks: false }
}
