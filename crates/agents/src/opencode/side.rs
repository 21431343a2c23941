//! Side questions to an OpenCode session: a fork of it that has to ask for every tool and is given none, is aborted at its
//! first tool, and is deleted afterwards. Nothing that a fork does is the worker's doing.

use std::collections::{BTreeMap, BTreeSet};

use segue_machine::{AgentEvent, Reading, Scope};
use serde_json::{Value, json};

use super::{Call, OpenCode, words};
use crate::Io;

/// Requests about forks are numbered from here, so that the worker's keep their numbers.
const FIRST_ID: u64 = 1 << 20;
/// What a fork is marked with, beside the session that it is a fork of.
const MARK: &str = "segue_side_question_of";
/// A marked fork that is older than a session of ours by so many milliseconds was left by somebody who died.
const LEFT_OVER: f64 = 600_000.0;

/// Side questions that are not answered, and the forks that answer them.
#[derive(Debug, Default)]
pub(super) struct Sides {
    calls: u64,
    /// A question whose fork is not there yet: its id and its text.
    asked: Option<(String, String)>,
    /// Forks by session.
    forks: BTreeMap<String, Fork>,
    /// Sessions that are neither the worker's nor its sub-agents': forks copy what was paid for already.
    others: BTreeSet<String>,
}

/// A fork of the worker's session.
#[derive(Debug, Default)]
struct Fork {
    /// The question that it is to answer; `None` when nobody waits for the answer any more.
    question: Option<String>,
    text: String,
    prompted: bool,
    /// The message that has the question.
    message: Option<String>,
    /// Messages that answer it.
    answers: BTreeSet<String>,
    /// What they say, by part.
    said: BTreeMap<String, String>,
    error: Option<String>,
    stopped: bool,
}

impl OpenCode {
    fn side_call(&mut self, call: Call, method: &str, path: &str, body: Option<&Value>, io: &mut Io) {
        self.sides.calls += 1;
        let id = FIRST_ID + self.sides.calls;
        self.send_call(id, call, method, path, body, io);
    }

    /// A question takes the place of one that is not answered.
    pub(super) fn side_question(&mut self, id: String, text: String, io: &mut Io) {
        self.stop_forks("another question took its place", io);
        if self.session.is_none() {
            return failed(id, "there is no conversation yet", io);
        }
        self.sides.asked = Some((id, text));
        self.side_call(Call::Fork, "POST", &self.session_path("/fork"), Some(&json!({})), io);
    }

    /// The fork is there: it is marked, and has to ask for everything, before it is asked anything.
    pub(super) fn forked(&mut self, fork: &Value, io: &mut Io) {
        let Some(session) = fork["id"].as_str() else {
            return self.not_forked("its fork cannot be read", io);
        };
        self.sides.others.insert(session.to_owned());
        let Some((id, text)) = self.sides.asked.take() else {
            return self.delete_fork(session, io);
        };
        self.sides.forks.insert(session.to_owned(), Fork { question: Some(id), text, ..Fork::default() });
        let body = json!({
            "title": "segue: side question",
            "metadata": { MARK: self.session },
            "permission": [{ "permission": "*", "pattern": "*", "action": "ask" }],
        });
        self.side_call(Call::Restrict, "PATCH", &format!("/session/{session}"), Some(&body), io);
    }

    pub(super) fn not_forked(&mut self, why: &str, io: &mut Io) {
        if let Some((id, _)) = self.sides.asked.take() {
            failed(id, why, io);
        }
    }

    /// A fork whose rules are not as they should be is not asked anything.
    pub(super) fn restricted(&mut self, fork: &Value, io: &mut Io) {
        let session = fork["id"].as_str().unwrap_or_default().to_owned();
        let last = fork["permission"].as_array().and_then(|rules| rules.last());
        let asks_always =
            last.is_some_and(|r| r["permission"] == "*" && r["pattern"] == "*" && r["action"] == "ask");
        let Some(asked) = self.sides.forks.get_mut(&session) else { return self.delete_fork(&session, io) };
        if !asks_always {
            return self.fork_over(&session, Some("the fork would not have to ask for its tools"), io);
        }
        asked.prompted = true;
        let mut body = json!({ "parts": [{ "type": "text", "text": asked.text }] });
        if let Some((provider, model)) = self.options.model.as_deref().and_then(|m| m.split_once('/')) {
            body["model"] = json!({ "providerID": provider, "modelID": model });
        }
        self.side_call(
            Call::SidePrompt,
            "POST",
            &format!("/session/{session}/prompt_async"),
            Some(&body),
            io,
        );
    }

    /// The server would not do what was wanted of a fork: no fork can be asked.
    pub(super) fn side_refused(&mut self, status: u64, body: &Value, io: &mut Io) {
        let why = words(status, body);
        self.not_forked(&why, io);
        for session in self.sides.forks.keys().cloned().collect::<Vec<_>>() {
            self.fork_over(&session, Some(&why), io);
        }
    }

    /// Takes in an event of another session; whether it was a fork's.
    pub(super) fn side_event(&mut self, kind: &str, about: &Value, io: &mut Io) -> bool {
        let session = about["sessionID"].as_str().unwrap_or_default();
        if kind == "session.created" && about["info"]["parentID"].is_null() && self.session.is_some() {
            self.sides.others.insert(session.to_owned());
        }
        let Some(fork) = self.sides.forks.get_mut(session) else {
            return self.sides.others.contains(session);
        };
        match kind {
            "permission.asked" | "question.asked" => self.refuse_fork(session, kind, about, io),
            "message.updated" => fork.message_seen(&about["info"]),
            "message.part.updated" => {
                let part = &about["part"];
                let (runs_tool, finished) = fork.part(part);
                if finished {
                    let reading = Reading { scope: Scope::Side, ..self.reading(part) };
                    io.events.push(AgentEvent::UsageRead(reading));
                }
                if runs_tool {
                    self.stop_fork(session, io);
                }
            }
            "session.error" => {
                let error = &about["error"];
                let message = error.pointer("/data/message").or(error.get("name")).and_then(Value::as_str);
                fork.error = Some(message.unwrap_or("no reason given").to_owned());
            }
            "session.idle" if !fork.answers.is_empty() || fork.error.is_some() || fork.stopped => {
                self.fork_over(session, None, io);
            }
            _ => {}
        }
        true
    }

    // Without words the whole turn of the fork ends here.
    fn refuse_fork(&mut self, session: &str, kind: &str, request: &Value, io: &mut Io) {
        let id = request["id"].as_str().unwrap_or_default();
        let (path, body) = if kind == "permission.asked" {
            (format!("/permission/{id}/reply"), json!({ "reply": "reject" }))
        } else {
            (format!("/question/{id}/reject"), json!({}))
        };
        self.side_call(Call::Other, "POST", &path, Some(&body), io);
        self.stop_fork(session, io);
    }

    fn stop_fork(&mut self, session: &str, io: &mut Io) {
        let Some(fork) = self.sides.forks.get_mut(session) else { return };
        if !std::mem::replace(&mut fork.stopped, true) {
            self.side_call(Call::Other, "POST", &format!("/session/{session}/abort"), Some(&json!({})), io);
        }
    }

    /// Nobody waits for an answer any more: what was asked fails, and whoever would answer is stopped and deleted.
    pub(super) fn stop_forks(&mut self, why: &str, io: &mut Io) {
        self.not_forked(why, io);
        for session in self.sides.forks.keys().cloned().collect::<Vec<_>>() {
            self.stop_fork(&session, io);
            self.fork_over(&session, Some(why), io);
        }
    }

    fn fork_over(&mut self, session: &str, why: Option<&str>, io: &mut Io) {
        let Some(fork) = self.sides.forks.remove(session) else { return };
        self.delete_fork(session, io);
        let Some(id) = fork.question else { return };
        let said = fork.said.into_values().collect::<Vec<_>>().join("\n");
        if why.is_none() && !said.trim().is_empty() {
            return io.events.push(AgentEvent::SideAnswered { id, text: said });
        }
        let none = if fork.stopped { "it called a tool instead of answering" } else { "it gave no answer" };
        failed(id, why.or(fork.error.as_deref()).unwrap_or(none), io);
    }

    fn delete_fork(&mut self, session: &str, io: &mut Io) {
        self.side_call(Call::Other, "DELETE", &format!("/session/{session}"), None, io);
    }

    /// Asks for sessions that somebody who died may have left.
    pub(super) fn look_for_forks(&mut self, io: &mut Io) {
        self.side_call(Call::Forks, "GET", "/session", None, io);
    }

    /// Deletes forks of this very session, and those that are too old to belong to anybody.
    pub(super) fn forks_listed(&mut self, sessions: &Value, io: &mut Io) {
        let sessions = sessions.as_array().map(Vec::as_slice).unwrap_or_default();
        let created = |session: &Value| session.pointer("/time/created").and_then(Value::as_f64);
        let ours = sessions.iter().find(|session| session["id"].as_str() == self.session.as_deref());
        let since = ours.and_then(created).unwrap_or(0.0);
        let left: Vec<String> = sessions
            .iter()
            .filter(|session| {
                let of = session["metadata"][MARK].as_str();
                let old = created(session).is_some_and(|at| at + LEFT_OVER < since);
                of.is_some() && (old || of == self.session.as_deref())
            })
            .filter_map(|session| Some(session["id"].as_str()?.to_owned()))
            .filter(|session| !self.sides.forks.contains_key(session))
            .collect();
        for session in left {
            self.delete_fork(&session, io);
        }
    }
}

impl Fork {
    fn message_seen(&mut self, info: &Value) {
        let answers = info["role"] == "assistant"
            && self.message.is_some()
            && info["parentID"].as_str() == self.message.as_deref();
        if let Some(id) = info["id"].as_str().filter(|_| answers) {
            self.answers.insert(id.to_owned());
        }
    }

    /// Whether a part of an answer runs a tool, and whether it ends a call.
    fn part(&mut self, part: &Value) -> (bool, bool) {
        let message = part["messageID"].as_str().unwrap_or_default();
        let text = part["text"].as_str().unwrap_or_default();
        let kind = part["type"].as_str().unwrap_or_default();
        if !self.answers.contains(message) {
            // The question is known by its words; what the fork copied came before it was asked.
            if self.prompted && kind == "text" && text.trim() == self.text.trim() {
                self.message = Some(message.to_owned());
            }
            return (false, false);
        }
        if kind == "text" && part.pointer("/time/end").is_some() {
            self.said.insert(part["id"].as_str().unwrap_or_default().to_owned(), text.to_owned());
        }
        (kind == "tool", kind == "step-finish")
    }
}

fn failed(id: String, why: &str, io: &mut Io) {
    io.events.push(AgentEvent::SideFailed { id, why: why.to_owned() });
}
