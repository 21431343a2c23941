//! What the command line says about the configuration. An absent flag says nothing.

use segue_machine::GateSpec;
use toml::de::DeValue;

use crate::config::key::{KEYS, KeyPath};
use crate::config::layers::{Entry, Values};
use crate::config::lists::gate_from_command;
use crate::config::origin::Origin;
use crate::config::problem::{Problem, Trouble};
use crate::config::read::{Written, read};
use crate::config::resolve;
use crate::config::value::Value;

/// The flags as they were typed; the command line fills them in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flags {
    /// `--agent NAME[,NAME…]`
    pub(crate) agent: Option<String>,
    /// `--role NAME`
    pub(crate) role: Option<String>,
    /// `--model NAME`, for the first agent
    pub(crate) model: Option<String>,
    /// `--policy NAME`
    pub(crate) policy: Option<String>,
    /// `--context-threshold PERCENT|TOKENS`
    pub(crate) context_threshold: Option<String>,
    /// `--tool-call-threshold N`
    pub(crate) tool_call_threshold: Option<String>,
    /// `--window TOKENS`, for the first agent
    pub(crate) window: Option<String>,
    /// `--max-restarts N`
    pub(crate) max_restarts: Option<String>,
    /// `--max-cost DOLLARS`
    pub(crate) max_cost: Option<String>,
    /// `--deadline DURATION`
    pub(crate) deadline: Option<String>,
    /// `--idle-timeout DURATION`
    pub(crate) idle_timeout: Option<String>,
    /// `--permissions bypass|deny|allow=a,b`, for every agent of the run
    pub(crate) permissions: Option<String>,
    /// `--gate COMMAND`, each; a configured name stands for its gate
    pub(crate) gates: Vec<String>,
    /// `--gate-rounds N`
    pub(crate) gate_rounds: Option<String>,
    /// `--require-verified`
    pub(crate) require_verified: bool,
    /// `--no-auto-commit`: a snapshot where the policy would commit to the branch
    pub(crate) no_auto_commit: bool,
    /// `--no-git`
    pub(crate) no_git: bool,
    /// `--allow-dirty`
    pub(crate) allow_dirty: bool,
    /// `--no-wait`
    pub(crate) no_wait: bool,
    /// `--max-tokens TOKENS`
    pub(crate) max_tokens: Option<String>,
    /// `--max-sessions N`
    pub(crate) max_sessions: Option<String>,
    /// `--allow-unknown-cost`
    pub(crate) allow_unknown_cost: bool,
    /// `--no-tell`
    pub(crate) no_tell: bool,
    /// `--trust`: no value of the configuration, but how its questions are answered
    pub(crate) trust: bool,
}

impl Flags {
    /// The values of the flags that are there. `below` is what the lower layers say.
    pub(crate) fn parse(&self, below: &Values) -> (Vec<(KeyPath, Entry)>, Vec<Problem>) {
        let mut read = ReadFlags::default();
        read.text("--agent", "agents", self.agent.as_ref());
        read.text("--role", "role", self.role.as_ref());
        read.text("--model", "agent.*.model", self.model.as_ref());
        read.text("--policy", "policy", self.policy.as_ref());
        read.text("--context-threshold", "context_threshold", self.context_threshold.as_ref());
        read.text("--tool-call-threshold", "tool_call_threshold", self.tool_call_threshold.as_ref());
        read.text("--window", "agent.*.window", self.window.as_ref());
        read.text("--max-restarts", "limits.max_restarts", self.max_restarts.as_ref());
        read.text("--gate-rounds", "limits.gate_rounds", self.gate_rounds.as_ref());
        read.text("--max-cost", "limits.cost_usd", self.max_cost.as_ref());
        read.text("--max-tokens", "limits.tokens", self.max_tokens.as_ref());
        read.text("--max-sessions", "limits.sessions", self.max_sessions.as_ref());
        let allowed = self.allow_unknown_cost;
        read.when(allowed, "--allow-unknown-cost", "budget.allow_unknown_cost", true);
        read.text("--deadline", "limits.deadline", self.deadline.as_ref());
        read.text("--idle-timeout", "limits.idle_timeout", self.idle_timeout.as_ref());
        read.text("--permissions", "agent.*.permissions", self.permissions.as_ref());
        read.when(self.require_verified, "--require-verified", "require_verified", true);
        read.when(self.no_git, "--no-git", "git.enabled", false);
        read.when(self.allow_dirty, "--allow-dirty", "git.allow_dirty", true);
        read.when(self.no_wait, "--no-wait", "wait.enabled", false);
        read.when(self.no_tell, "--no-tell", "tell", false);
        if !self.gates.is_empty() {
            read.gates(&self.gates, below);
        }
        (read.values, read.problems)
    }
}

#[derive(Default)]
struct ReadFlags {
    values: Vec<(KeyPath, Entry)>,
    problems: Vec<Problem>,
}

impl ReadFlags {
    fn text(&mut self, flag: &'static str, path: &str, typed: Option<&String>) {
        let Some(typed) = typed else { return };
        let Some(key) = KEYS.iter().find(|key| key.path == path) else { return };
        let from = Origin::Flag(flag);
        match read(key, &DeValue::String(typed.as_str().into()), Written::Plain) {
            Ok(value) => self.values.push((KeyPath::dotted(path), Entry { value, from })),
            Err(why) => {
                self.problems.push(Problem::at(&from, Trouble::BadValue { key: path.to_owned(), why }));
            }
        }
    }

    fn when(&mut self, there: bool, flag: &'static str, path: &str, value: bool) {
        if there {
            let entry = Entry { value: Value::Bool(value), from: Origin::Flag(flag) };
            self.values.push((KeyPath::dotted(path), entry));
        }
    }

    fn gates(&mut self, typed: &[String], below: &Values) {
        let from = Origin::Flag("--gate");
        let configured = configured_gates(below);
        let mut gates: Vec<GateSpec> = Vec::new();
        for command in typed {
            if command.trim().is_empty() || command.contains('\0') {
                let why = "expected a command or the name of a gate, found nothing; for example: --gate \"cargo test\"";
                let what = Trouble::BadValue { key: "gate".to_owned(), why: why.to_owned() };
                self.problems.push(Problem::at(&from, what));
                continue;
            }
            let named = configured.iter().find(|gate| gate.name == command.trim()).cloned();
            let gate = named.unwrap_or_else(|| gate_from_command(command, &gates));
            if !gates.iter().any(|g| g.name == gate.name || g.run == gate.run && !gate.manual) {
                gates.push(gate);
            }
        }
        self.values.push((KeyPath::dotted("gate"), Entry { value: Value::Gates(gates), from }));
    }
}

/// Gates that have a name in a file; broken ones are reported when they are resolved.
pub(crate) fn configured_gates(below: &Values) -> Vec<GateSpec> {
    let listed = match below.get(&KeyPath::dotted("gate")).map(|entry| &entry.value) {
        Some(Value::Gates(gates)) => gates.clone(),
        _ => Vec::new(),
    };
    listed.into_iter().chain(resolve::named_gates(below, &mut Vec::new()).into_values()).collect()
}
