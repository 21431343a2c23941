//! Side questions to a Codex thread: a fork of it that lives only in memory, may not write, and is stopped at its first
//! tool. Nothing that a fork does is the worker's doing.

use std::collections::BTreeMap;

use segue_machine::{AgentEvent, Reading, Scope};
use serde_json::{Value, json};

use super::{Call, Codex, item, write};
use crate::Io;

/// Side questions that are not answered, and the forks that answer them.
#[derive(Debug, Default)]
pub(super) struct Sides {
    /// A question whose fork is not there yet: its id and its text.
    asked: Option<(String, String)>,
    /// Forks by thread.
    forks: BTreeMap<String, Fork>,
    /// The worker is in no sandbox.
    pub(super) worker_is_free: bool,
}

/// A fork of the worker's thread.
#[derive(Debug, Default)]
struct Fork {
    /// The question that it is to answer; `None` when nobody waits for the answer any more.
    question: Option<String>,
    turn: Option<String>,
    said: String,
    /// It called a tool, or the session is over: its turn is to end.
    stopped: bool,
}

impl Sides {
    /// Whether a thread is a fork of ours.
    pub(super) fn has(&self, thread: Option<&str>) -> bool {
        thread.is_some_and(|thread| self.forks.contains_key(thread))
    }
}

impl Codex {
    /// A question takes the place of one that is not answered.
    pub(super) fn side_question(&mut self, id: String, text: String, io: &mut Io) {
        self.stop_forks("another question took its place", io);
        if self.thread.is_none() {
            return failed(id, "there is no conversation yet", io);
        }
        self.sides.asked = Some((id, text));
        self.list_hooks(Call::SideHooks, io);
    }

    pub(super) fn fork(&mut self, config: Option<Value>, io: &mut Io) {
        let mut params = json!({
            "threadId": self.thread,
            "ephemeral": true,
            "excludeTurns": true,
            "approvalPolicy": "never",
            "sandbox": "read-only",
        });
        let mut config = config.unwrap_or_else(|| json!({}));
        // Outside a sandbox Codex offers another kind of search: with other tools nothing would come from the cache.
        if self.sides.worker_is_free {
            config["web_search"] = json!("live");
        }
        params["config"] = config;
        self.call(Call::Fork, "thread/fork", &params, io);
    }

    pub(super) fn forked(&mut self, result: &Value, io: &mut Io) {
        let Some(thread) = result.pointer("/thread/id").and_then(Value::as_str) else {
            return self.not_forked("its fork cannot be read", io);
        };
        let Some((id, text)) = self.sides.asked.take() else {
            return self.forget_fork(thread, io);
        };
        // A fork that may write is not asked anything.
        if result.pointer("/sandbox/type").and_then(Value::as_str) != Some("readOnly") {
            failed(id, "the fork would not be read-only", io);
            return self.forget_fork(thread, io);
        }
        self.sides.forks.insert(thread.to_owned(), Fork { question: Some(id), ..Fork::default() });
        let input = json!([{ "type": "text", "text": text }]);
        self.call(Call::SideTurn, "turn/start", &json!({ "threadId": thread, "input": input }), io);
    }

    pub(super) fn not_forked(&mut self, why: &str, io: &mut Io) {
        if let Some((id, _)) = self.sides.asked.take() {
            failed(id, why, io);
        }
    }

    /// The fork would not take the question.
    pub(super) fn side_turn_refused(&mut self, why: &str, io: &mut Io) {
        let refused: Vec<String> =
            self.sides.forks.iter().filter(|(_, f)| f.turn.is_none()).map(|(t, _)| t.clone()).collect();
        for thread in refused {
            self.fork_over(&thread, Some(why), io);
        }
    }

    /// What a fork says and does.
    pub(super) fn side_notification(&mut self, thread: &str, method: &str, params: &Value, io: &mut Io) {
        let Some(fork) = self.sides.forks.get_mut(thread) else { return };
        match method {
            "turn/started" => {
                fork.turn = params.pointer("/turn/id").and_then(Value::as_str).map(str::to_owned);
                if fork.stopped {
                    self.interrupt_fork(thread, io);
                }
            }
            "item/started" if item::tool_title(&params["item"]).is_some() => self.stop_fork(thread, io),
            "rawResponseItem/completed" if item::is_call(&params["item"]) => self.stop_fork(thread, io),
            "item/completed" if params["item"]["type"] == "agentMessage" => {
                item::say(&mut fork.said, params["item"]["text"].as_str().unwrap_or_default());
            }
            "thread/tokenUsage/updated" => io.events.extend(spent(&params["tokenUsage"]["last"])),
            "turn/completed" => {
                let error = params.pointer("/turn/error/message").and_then(Value::as_str).map(str::to_owned);
                self.fork_over(thread, error.as_deref(), io);
            }
            _ => {}
        }
    }

    fn stop_fork(&mut self, thread: &str, io: &mut Io) {
        let Some(fork) = self.sides.forks.get_mut(thread) else { return };
        if !std::mem::replace(&mut fork.stopped, true) {
            self.interrupt_fork(thread, io);
        }
    }

    fn interrupt_fork(&mut self, thread: &str, io: &mut Io) {
        let turn = self.sides.forks.get(thread).and_then(|fork| fork.turn.clone());
        if let Some(turn) = turn {
            self.call(Call::Other, "turn/interrupt", &json!({ "threadId": thread, "turnId": turn }), io);
        }
    }

    /// Nobody waits for an answer any more: what was asked fails, and whoever would answer is stopped.
    pub(super) fn stop_forks(&mut self, why: &str, io: &mut Io) {
        self.not_forked(why, io);
        let threads: Vec<String> = self.sides.forks.keys().cloned().collect();
        for thread in threads {
            let question = self.sides.forks.get_mut(&thread).and_then(|fork| fork.question.take());
            if let Some(id) = question {
                failed(id, why, io);
            }
            self.stop_fork(&thread, io);
        }
    }

    fn fork_over(&mut self, thread: &str, error: Option<&str>, io: &mut Io) {
        let Some(fork) = self.sides.forks.remove(thread) else { return };
        self.forget_fork(thread, io);
        let Some(id) = fork.question else { return };
        if error.is_none() && !fork.said.trim().is_empty() {
            return io.events.push(AgentEvent::SideAnswered { id, text: fork.said });
        }
        let why = if fork.stopped { "it called a tool instead of answering" } else { "it gave no answer" };
        failed(id, error.unwrap_or(why), io);
    }

    // It is not on disk, so nothing is left of it once nobody listens.
    fn forget_fork(&mut self, thread: &str, io: &mut Io) {
        self.call(Call::Other, "thread/unsubscribe", &json!({ "threadId": thread }), io);
    }

    /// A fork asks for something: it may not.
    pub(super) fn decline_fork(&mut self, id: &Value, thread: &str, io: &mut Io) {
        write(&json!({ "id": id, "result": { "decision": "cancel" } }), io);
        self.stop_fork(thread, io);
    }
}

fn failed(id: String, why: &str, io: &mut Io) {
    io.events.push(AgentEvent::SideFailed { id, why: why.to_owned() });
}

// What a fork used was paid for and fills no window.
fn spent(last: &Value) -> Option<AgentEvent> {
    let count = |name: &str| last[name].as_u64().unwrap_or(0);
    let (input, cached) = (count("inputTokens"), count("cachedInputTokens"));
    let reading = Reading::exact(input.saturating_sub(cached), cached, 0, count("outputTokens"));
    (input > 0).then_some(AgentEvent::UsageRead(Reading { scope: Scope::Side, ..reading }))
}
