//! Codex through its app-server: JSON-RPC lines without the version field.
//!
//! The gauge is each response's own usage (`rawResponse/completed`), which comes before the tools run; totals of a turn or
//! thread are sums and are not read. A request for a checkpoint is a steer: the running tool finishes, the next request
//! carries the message, and the turn ends with the answer.

mod exec;
mod item;
mod side;
mod turn;

use std::collections::BTreeMap;

use segue_machine::{AgentEvent, AgentFailure, Capabilities, Subject, TurnEnd};
use serde_json::{Value, json};

use crate::{Act, Adapter, Extras, Io, readable};

pub use exec::CodexExec;

/// What a conversation is started with.
#[derive(Debug, Clone)]
pub struct Options {
    /// The work tree.
    pub cwd: String,
    /// An old thread to take up again.
    pub resume: Option<String>,
    /// The model, if the user chose one.
    pub model: Option<String>,
    /// Its sandbox and approvals are switched off, because the user said so.
    pub bypass: bool,
    /// It may change files in the work tree; its own sandbox holds it there.
    pub edit: bool,
    /// The command that stops it from compacting, because the policy may replace the session.
    pub compaction_guard: Option<String>,
}

/// What an open request was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Initialize,
    Hooks,
    Open,
    /// An old thread is taken up again.
    Resume,
    Turn,
    Steer,
    /// The hooks that a fork must not run.
    SideHooks,
    /// A fork for a side question.
    Fork,
    /// The question that is put to it.
    SideTurn,
    Other,
}

/// What the running turn is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Turn,
    Ask,
}

/// Where a checkpoint request stands that was put to a running turn.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Steer {
    /// The turn's id is not known yet.
    Waiting(String),
    /// Sent; not yet taken.
    Sent,
    /// The turn will end with the answer.
    Taken,
}

/// One Codex thread.
#[derive(Debug)]
pub struct Codex {
    options: Options,
    next_id: u64,
    calls: BTreeMap<u64, Call>,
    thread: Option<String>,
    turn: Option<String>,
    work: Option<Work>,
    steer: Option<Steer>,
    approvals: BTreeMap<String, Value>,
    /// The files of changes that have begun, by item.
    changing: BTreeMap<String, Vec<String>>,
    tools: BTreeMap<String, String>,
    /// Calls that the model has made and that no item stands for yet: their tools are about to run.
    called: BTreeMap<String, String>,
    /// Tools that have ended and whose output the model has not been sent.
    ended: BTreeMap<String, (String, bool)>,
    text: String,
    chars: u64,
    /// It says what each response used.
    raw: bool,
    /// It says what the model is sent of each tool's output.
    raw_items: bool,
    compacting: bool,
    sides: side::Sides,
}

impl Codex {
    /// A thread as the options say.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            next_id: 0,
            calls: BTreeMap::new(),
            thread: None,
            turn: None,
            work: None,
            steer: None,
            approvals: BTreeMap::new(),
            changing: BTreeMap::new(),
            tools: BTreeMap::new(),
            called: BTreeMap::new(),
            ended: BTreeMap::new(),
            text: String::new(),
            chars: 0,
            raw: false,
            raw_items: false,
            compacting: false,
            sides: side::Sides::default(),
        }
    }

    fn call(&mut self, call: Call, method: &str, params: &Value, io: &mut Io) {
        self.next_id += 1;
        self.calls.insert(self.next_id, call);
        write(&json!({ "id": self.next_id, "method": method, "params": params }), io);
    }

    fn initialized(&mut self, io: &mut Io) {
        write(&json!({ "method": "initialized", "params": {} }), io);
        self.open_conversation(io);
    }

    fn open_conversation(&mut self, io: &mut Io) {
        if self.options.compaction_guard.is_some() {
            return self.list_hooks(Call::Hooks, io);
        }
        self.open_thread(None, io);
    }

    fn list_hooks(&mut self, call: Call, io: &mut Io) {
        self.call(call, "hooks/list", &json!({ "cwds": [self.options.cwd] }), io);
    }

    // Codex runs no hook that is not trusted. Ours is trusted for this thread alone, by the hash that Codex itself gives it;
    // the user's own hooks keep whatever trust they have, and are switched off for a fork.
    fn hook_states(&self, result: &Value, others_off: bool) -> Option<Value> {
        let lists = result["data"].as_array().into_iter().flatten();
        let hooks = lists.flat_map(|d| d["hooks"].as_array().into_iter().flatten());
        let guard = self.options.compaction_guard.as_deref();
        let state: serde_json::Map<String, Value> = hooks
            .filter_map(|h| {
                let ours = h["source"] == "sessionFlags" && guard.is_some() && h["command"].as_str() == guard;
                let state = if ours {
                    json!({ "trusted_hash": h["currentHash"] })
                } else {
                    others_off.then(|| json!({ "enabled": false }))?
                };
                Some((h["key"].as_str()?.to_owned(), state))
            })
            .collect();
        (!state.is_empty()).then(|| json!({ "hooks.state": state }))
    }

    fn open_thread(&mut self, config: Option<Value>, io: &mut Io) {
        // The process runs in the work tree; a folder named here would be written into the user's own file as trusted.
        let mut params = json!({ "experimentalRawEvents": true });
        if let Some(config) = config {
            params["config"] = config;
        }
        if let Some(model) = &self.options.model {
            params["model"] = json!(model);
        }
        match self.options.resume.take() {
            Some(thread) => {
                params["threadId"] = json!(thread);
                self.call(Call::Resume, "thread/resume", &params, io);
            }
            None => self.call(Call::Open, "thread/start", &params, io),
        }
    }

    fn opened(&mut self, result: &Value, io: &mut Io) {
        let Some(thread) = result.pointer("/thread/id").and_then(Value::as_str) else {
            return io.events.push(refused("its thread cannot be read"));
        };
        self.thread = Some(thread.to_owned());
        self.sides.worker_is_free =
            result.pointer("/sandbox/type").is_some_and(|kind| kind == "dangerFullAccess");
        io.events.push(AgentEvent::Ready {
            conversation: thread.to_owned(),
            model: result["model"].as_str().map(str::to_owned),
            window: None,
            ceiling: None,
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
    }

    fn start_turn(&mut self, work: Work, text: &str, io: &mut Io) {
        self.work = Some(work);
        self.text.clear();
        let params = json!({ "threadId": self.thread, "input": [{ "type": "text", "text": text }] });
        self.call(Call::Turn, "turn/start", &params, io);
    }

    fn ask(&mut self, text: String, io: &mut Io) {
        match (&self.turn, self.work) {
            (_, None) => self.start_turn(Work::Ask, &text, io),
            (None, Some(_)) => self.steer = Some(Steer::Waiting(text)),
            (Some(turn), Some(_)) => {
                let turn = turn.clone();
                self.send_steer(&turn, &text, io);
            }
        }
    }

    fn send_steer(&mut self, turn: &str, text: &str, io: &mut Io) {
        let input = json!([{ "type": "text", "text": text }]);
        let params = json!({ "threadId": self.thread, "expectedTurnId": turn, "input": input });
        self.steer = Some(Steer::Sent);
        self.call(Call::Steer, "turn/steer", &params, io);
    }

    fn response(&mut self, id: u64, message: &Value, io: &mut Io) {
        let Some(call) = self.calls.remove(&id) else {
            return io.events.push(readable(b"an answer to a question that was not asked"));
        };
        let error = message.get("error").filter(|e| !e.is_null());
        let why = || error.and_then(|e| e["message"].as_str()).unwrap_or("no reason given").to_owned();
        match (call, error) {
            (Call::Initialize, None) => self.initialized(io),
            (Call::Hooks, None) => self.open_thread(self.hook_states(&message["result"], false), io),
            // An older Codex without hooks compacts by itself; that is noticed when it happens.
            (Call::Hooks, Some(_)) => self.open_thread(None, io),
            (Call::Open | Call::Resume, None) => self.opened(&message["result"], io),
            // A thread that cannot be taken up again is not a reason to do nothing.
            (Call::Resume, Some(_)) => self.open_conversation(io),
            (Call::Turn, None) => self.turn_has_id(message["result"].pointer("/turn/id"), io),
            (Call::Steer, None) => {
                // What was said before the request was taken is no answer to it.
                self.text.clear();
                self.steer = self.steer.take().map(|_| Steer::Taken);
            }
            (Call::Initialize | Call::Open, Some(_)) => io.events.push(refused(&why())),
            (Call::Turn, Some(_)) => self.turn_over(&turn::failed(&why(), None), io),
            // The turn was over before the request reached it; its end says how.
            (Call::Steer, Some(_)) => self.steer = None,
            (Call::SideHooks, None) => self.fork(self.hook_states(&message["result"], true), io),
            (Call::SideHooks, Some(_)) => self.fork(None, io),
            (Call::Fork, None) => self.forked(&message["result"], io),
            (Call::Fork, Some(_)) => self.not_forked(&why(), io),
            (Call::SideTurn, Some(_)) => self.side_turn_refused(&why(), io),
            (Call::SideTurn, None) | (Call::Other, _) => {}
        }
    }

    fn turn_has_id(&mut self, id: Option<&Value>, io: &mut Io) {
        let Some(id) = id.and_then(Value::as_str).map(str::to_owned) else { return };
        if self.work.is_some() {
            self.turn = Some(id.clone());
            if let Some(Steer::Waiting(text)) = self.steer.take_if(|s| matches!(s, Steer::Waiting(_))) {
                self.send_steer(&id, &text, io);
            }
        }
    }

    fn server_request(&mut self, id: &Value, method: &str, params: &Value, io: &mut Io) {
        let thread = params["threadId"].as_str();
        let kind = match method {
            "item/commandExecution/requestApproval" => "execute",
            "item/fileChange/requestApproval" => "edit",
            _ => {
                let error = json!({ "code": -32601, "message": format!("segue does not offer {method}") });
                return write(&json!({ "id": id, "error": error }), io);
            }
        };
        if let Some(thread) = thread.filter(|thread| self.sides.has(Some(thread))) {
            return self.decline_fork(id, thread, io);
        }
        let item = params["itemId"].as_str().unwrap_or_default();
        let command = params["command"].as_str().map(item::bare_command);
        let known = self.tools.get(item).cloned();
        let title = command.clone().or(known).unwrap_or_else(|| kind.to_owned());
        let mut paths = self.changing.get(item).cloned().unwrap_or_default();
        paths.extend(params["cwd"].as_str().map(str::to_owned));
        let subject = Subject { command, paths };
        let key = id.to_string();
        self.approvals.insert(key.clone(), id.clone());
        io.events.push(AgentEvent::PermissionAsked { request: key, kind: kind.to_owned(), title, subject });
    }

    fn message(&mut self, message: &Value, io: &mut Io) {
        match (message["method"].as_str(), message.get("id")) {
            (Some(method), Some(id)) => self.server_request(id, method, &message["params"], io),
            (Some(method), None) => self.notification(method, &message["params"], io),
            (None, Some(id)) => self.response(id.as_u64().unwrap_or_default(), message, io),
            (None, None) => io.events.push(readable(b"a message with neither method nor id")),
        }
    }

    fn notification(&mut self, method: &str, params: &Value, io: &mut Io) {
        let other = params["threadId"].as_str().filter(|t| Some(*t) != self.thread.as_deref());
        match method {
            _ if other.is_some() => self.side_notification(other.unwrap_or_default(), method, params, io),
            "turn/started" => self.turn_has_id(params.pointer("/turn/id"), io),
            "turn/completed" => self.turn_completed(&params["turn"], io),
            "item/started" => self.item_started(&params["item"], io),
            "item/completed" => self.item_completed(&params["item"], io),
            "turn/plan/updated" => io.events.extend(crate::list(&params["plan"], &["step"])),
            "rawResponseItem/completed" => self.raw_item(&params["item"], io),
            "rawResponse/completed" => self.raw_usage(params, io),
            "error" if params["willRetry"] == true => io.events.push(turn::retrying(&params["error"])),
            "account/rateLimits/updated" => allowances(&params["rateLimits"], io),
            "thread/tokenUsage/updated" => self.token_usage(&params["tokenUsage"], io),
            _ => {}
        }
    }
}

impl Adapter for Codex {
    fn open(&mut self, io: &mut Io) {
        let client = json!({ "name": "segue", "title": "segue", "version": env!("CARGO_PKG_VERSION") });
        let params = json!({ "clientInfo": client, "capabilities": { "experimentalApi": true } });
        self.call(Call::Initialize, "initialize", &params, io);
    }

    fn line(&mut self, line: &[u8], io: &mut Io) {
        for value in serde_json::Deserializer::from_slice(line).into_iter::<Value>() {
            match value {
                Ok(Value::Array(messages)) => messages.iter().for_each(|m| self.message(m, io)),
                Ok(message) if message.is_object() => self.message(&message, io),
                _ => return io.events.push(readable(line)),
            }
        }
    }

    fn act(&mut self, act: Act, io: &mut Io) {
        match act {
            Act::Prompt(text) => self.start_turn(Work::Turn, &text, io),
            Act::Ask(text) => self.ask(text, io),
            // It would be a message of the user's, which models answer.
            Act::Tell(_) => {}
            Act::Permission { request, allow } => {
                if let Some(id) = self.approvals.remove(&request) {
                    let decision = if allow { "accept" } else { "decline" };
                    write(&json!({ "id": id, "result": { "decision": decision } }), io);
                }
            }
            Act::SideQuestion { id, text } => self.side_question(id, text, io),
            Act::Braked => {}
            Act::Close => {
                self.stop_forks("the session is over", io);
                if let Some(turn) = &self.turn {
                    let params = json!({ "threadId": self.thread, "turnId": turn });
                    self.call(Call::Other, "turn/interrupt", &params, io);
                }
                io.close = true;
            }
        }
    }

    fn exited(&mut self, _exit: Option<i32>, io: &mut Io) {
        self.flush(io);
    }

    fn extras(&self) -> Extras {
        let mut args = vec!["app-server".to_owned()];
        if self.options.bypass {
            // As flags and not with the thread: Codex would write the latter into the user's own file as trust in the folder.
            args.extend(settings(&["approval_policy=\"never\"", "sandbox_mode=\"danger-full-access\""]));
        } else if self.options.edit {
            args.extend(settings(&["approval_policy=\"on-request\""]));
            args.extend(settings(&WORK_TREE_ONLY));
        }
        if let Some(command) = &self.options.compaction_guard {
            let command = serde_json::to_string(command).unwrap_or_default();
            let hook = format!("{{type=\"command\",command={command},timeout=10}}");
            args.extend(["-c".to_owned(), format!("hooks.PreCompact=[{{matcher=\"*\",hooks=[{hook}]}}]")]);
        }
        // It lingers for seconds after the end of its input, with nothing left to do.
        Extras { args, grace_ms: Some(300), ..Extras::default() }
    }
}

fn allowances(limits: &Value, io: &mut Io) {
    for name in ["primary", "secondary"] {
        let window = &limits[name];
        let Some(used) = window["usedPercent"].as_f64().filter(|used| *used >= 0.0) else { continue };
        let minutes = window["windowDurationMins"].as_u64();
        let name = minutes.map_or_else(|| name.to_owned(), |minutes| format!("{} h", minutes.div_ceil(60)));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a percentage, clamped")]
        let used_percent = used.round().min(1_000.0) as u32;
        let resets_at = window["resetsAt"].as_u64().map(|seconds| seconds.saturating_mul(1_000));
        io.events.push(AgentEvent::AllowanceSeen { name, used_percent, resets_at });
    }
}

/// Commands and edits can write in the work tree and in `$TMPDIR`, and reach no network.
const WORK_TREE_ONLY: [&str; 2] =
    ["sandbox_mode=\"workspace-write\"", "sandbox_workspace_write.exclude_slash_tmp=true"];

/// Settings as arguments of the command line.
fn settings(settings: &[&str]) -> Vec<String> {
    settings.iter().flat_map(|setting| ["-c".to_owned(), (*setting).to_owned()]).collect()
}

fn refused(why: &str) -> AgentEvent {
    AgentEvent::TurnEnded(TurnEnd::failed(AgentFailure::Refused, why))
}

fn write(message: &Value, io: &mut Io) {
    io.write.extend_from_slice(message.to_string().as_bytes());
    io.write.push(b'\n');
}

#[cfg(test)]
#[path = "codex_tests.rs"]
mod tests;
