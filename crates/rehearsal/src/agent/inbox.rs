//! What reaches the agent while it works: the client's messages and the end of its own tools, in one order.

use std::io::{self, BufRead};
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::time::Instant;

use serde_json::Value;

use super::Agent;
use super::turn::Stop;
use super::wire::{self, Failure, Incoming};
use crate::context::Role;
use crate::script::Steer;

/// Something that happened.
pub(super) enum Event {
    Line(Incoming),
    ToolEnded { tool: u64, output: String },
    Eof,
}

/// A prompt that waits for its answer.
pub(super) struct PromptCall {
    pub(super) id: Value,
    pub(super) session: String,
    pub(super) text: String,
}

/// What is left of an event once everything that needs no thought is answered.
pub(super) enum Signal {
    Prompt(PromptCall),
    Cancel(String),
    Answer { id: Value, result: Value },
    ToolEnded { tool: u64, output: String },
    Closed,
}

/// Feeds the agent from its input.
pub(super) fn read(mut input: impl BufRead, events: &Sender<Event>) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let more = input.read_until(b'\n', &mut line).is_ok_and(|n| n > 0);
        if more && line.trim_ascii().is_empty() {
            continue;
        }
        let event = if more { Event::Line(wire::parse(&line)) } else { Event::Eof };
        if events.send(event).is_err() || !more {
            return;
        }
    }
}

impl Agent {
    /// The next thing that matters; `None` when the time is over or there was nothing in it for the turn.
    pub(super) fn next(&mut self, until: Option<Instant>) -> io::Result<Option<Signal>> {
        let event = match until {
            None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(until) => self.inbox.recv_timeout(until.saturating_duration_since(Instant::now())),
        };
        match event {
            Ok(Event::Line(line)) => self.line(line),
            Ok(Event::ToolEnded { tool, output }) => Ok(Some(Signal::ToolEnded { tool, output })),
            Ok(Event::Eof) => Ok(Some(Signal::Closed)),
            Err(_) => Ok(None),
        }
    }

    /// Lets time pass inside a turn; a cancel or a newer prompt ends it.
    pub(super) fn pause(&mut self, session: &str, until: Instant) -> Result<(), Stop> {
        loop {
            if !self.queue.is_empty() {
                return Err(Stop::Superseded);
            }
            let signal = self.next(Some(until))?;
            let quiet = signal.is_none();
            self.in_turn(session, signal)?;
            if quiet && Instant::now() >= until {
                return Ok(());
            }
        }
    }

    /// Takes in what concerns a running turn, and gives back the rest.
    pub(super) fn in_turn(&mut self, session: &str, signal: Option<Signal>) -> Result<Option<Signal>, Stop> {
        match signal {
            Some(Signal::Prompt(call)) if self.script.steer == Steer::CancelOnly => {
                self.wire.fail(&call.id, Failure::new(-32600, "a turn is already running"))?;
                Ok(None)
            }
            Some(Signal::Prompt(call)) => {
                self.queue.push_back(call);
                Ok(None)
            }
            Some(Signal::Cancel(id)) if id == session => Err(Stop::Cancelled),
            Some(Signal::Cancel(_)) => Ok(None),
            Some(Signal::Closed) if !self.script.ignore_eof => Err(Stop::Exit(0)),
            other => Ok(other),
        }
    }

    fn line(&mut self, line: Incoming) -> io::Result<Option<Signal>> {
        match line {
            Incoming::Request { id, method, params } => self.request(id, &method, &params),
            Incoming::Notification { method, params } if method == "session/cancel" => {
                Ok(Some(Signal::Cancel(params["sessionId"].as_str().unwrap_or_default().to_owned())))
            }
            Incoming::Notification { method, params } if method == "_segue.dev/note" && self.script.notes => {
                let text = params["text"].as_str().unwrap_or_default();
                self.note(&format!("told {text}"))?;
                self.remember(params["sessionId"].as_str().unwrap_or_default(), Role::Prompt, text)?;
                Ok(None)
            }
            Incoming::Notification { .. } => Ok(None),
            Incoming::Response { id, result } => Ok(Some(Signal::Answer { id, result })),
            Incoming::Bad => {
                self.wire.fail(&Value::Null, Failure::new(-32700, "this line is no JSON-RPC message"))?;
                Ok(None)
            }
        }
    }

    fn request(&mut self, id: Value, method: &str, params: &Value) -> io::Result<Option<Signal>> {
        let answer = match method {
            "initialize" => Ok(self.initialize()),
            "session/new" => Ok(self.new_session(params)?),
            "session/load" => self
                .load_session(params)?
                .ok_or_else(|| Failure::new(-32602, "there is no such session to load")),
            "session/prompt" => {
                let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
                if self.sessions.contains_key(&session) {
                    return Ok(Some(Signal::Prompt(PromptCall {
                        id,
                        session,
                        text: text_of(&params["prompt"]),
                    })));
                }
                Err(Failure::new(-32602, "there is no such session"))
            }
            _ => Err(Failure::new(-32601, format!("{method} is not a method of this agent"))),
        };
        match answer {
            Ok(result) => self.wire.respond(&id, result)?,
            Err(failure) => self.wire.fail(&id, failure)?,
        }
        Ok(None)
    }
}

fn text_of(blocks: &Value) -> String {
    let texts = blocks.as_array().into_iter().flatten().filter_map(|block| {
        block["text"]
            .as_str()
            .or_else(|| block["resource"]["text"].as_str())
            .or_else(|| block["uri"].as_str())
    });
    texts.collect::<Vec<_>>().join("\n")
}
