//! Turns the merged layers into settings. All problems are collected before any is returned.

use std::collections::BTreeMap;

use segue_machine::ledger::Memory;
use segue_machine::{CommitMode, GateSpec, Limits, OnRateLimit, RoleSpec, WaitRules};

use crate::child_env::EnvRules;
use crate::config::key::{KeyPath, nearest};
use crate::config::layers::{Entry, Layers, Values};
use crate::config::lists::{GATE_TIMEOUT_MS, gate_fault};
use crate::config::origin::Origin;
use crate::config::paths::path_fault;
use crate::config::problem::{ConfigErrors, Problem, Trouble};
use crate::config::settings::{
    AgentSettings, CheckpointSettings, Forms, GitSettings, RedactSettings, Retention, Role, Settings,
};
use crate::config::value::Value;
use crate::config::{agents, budget, notify, policy};

/// The settings that the layers add up to.
///
/// # Errors
/// Everything that does not go together, and a missing or unknown agent.
pub(crate) fn resolve(layers: &Layers) -> Result<Settings, ConfigErrors> {
    let (mut problems, mut warnings) = (Vec::new(), layers.warnings().to_vec());
    let policy = policy::build(layers, &mut problems, &mut warnings);
    let named_gates = named_gates(layers.values(), &mut problems);
    let roles = roles(layers, &mut problems);
    let role = role(layers, &roles, &mut problems);
    let agents = match role.as_ref().and_then(|role| roles.get(&role.name)) {
        Some(role) if !role.agents.is_empty() && !typed(layers.get("agents")) => role.agents.clone(),
        _ => agents::resolve(layers, &mut problems, &mut warnings),
    };
    let verifiers = verifiers(layers, &roles, &agents);
    check_paths(layers, &mut problems);
    let budget = budget::resolve(layers, &mut problems);
    let env = env_rules(layers, &mut problems);
    let notify = notify::resolve(layers, &mut problems);
    ConfigErrors::check(problems)?;
    let max_chars = policy.max_chars;
    Ok(Settings {
        agents,
        preset: name_of(layers.get("policy")),
        policy,
        limits: limits(layers),
        wait: wait(layers),
        gates: match layers.get("gate").map(|entry| &entry.value) {
            Some(Value::Gates(gates)) => gates.clone(),
            _ => Vec::new(),
        },
        named_gates,
        env,
        plan_gates_first: yes(layers.get("plan_gates_first")),
        git: git(layers),
        require_verified: yes(layers.get("require_verified")),
        strict_claims: name_of(layers.get("claims")) == "strict",
        checkpoint: CheckpointSettings {
            forms: forms(layers),
            retention: retention(layers),
            max_chars,
            account_tokens: tokens(layers.get("checkpoint.account_tokens")).unwrap_or(6_000),
            memory: match name_of(layers.get("checkpoint.memory")).as_str() {
                "last-summary" => Memory::LastSummary,
                _ => Memory::Ledger,
            },
        },
        redact: redaction(layers),
        role,
        verifiers,
        roles,
        prompts: prompts(layers),
        budget,
        notify,
        warnings,
    })
}

/// The gates of `[gates.NAME]`.
pub(crate) fn named_gates(values: &Values, problems: &mut Vec<Problem>) -> BTreeMap<String, GateSpec> {
    let mut gates = BTreeMap::new();
    for (name, first) in names_in(values, "gates") {
        let get = |leaf| values.get(&KeyPath::named("gates", name, leaf));
        let (run, manual) = (text(get("run")), yes(get("manual")));
        if let Some(fault) = gate_fault(run.as_deref(), manual) {
            let key = KeyPath::dotted("gates").child(name).to_string();
            problems.push(Problem::at(&first.from, Trouble::BadValue { key, why: fault.to_owned() }));
        }
        let timeout_ms = millis(get("timeout")).unwrap_or(GATE_TIMEOUT_MS);
        gates.insert(
            name.to_owned(),
            GateSpec {
                manual,
                protect: list(get("protect")).unwrap_or_default(),
                may_change: yes(get("may_change")),
                ..GateSpec::new(name, run.unwrap_or_default(), timeout_ms)
            },
        );
    }
    gates
}

fn limits(layers: &Layers) -> Limits {
    let base = Limits::default();
    let time = |path, otherwise| millis(layers.get(path)).unwrap_or(otherwise);
    let number = |path, otherwise| count(layers.get(path)).unwrap_or(otherwise);
    Limits {
        deadline_ms: millis(layers.get("limits.deadline")),
        max_restarts: count(layers.get("limits.max_restarts")),
        max_handoffs_without_progress: number(
            "limits.max_handoffs_without_progress",
            base.max_handoffs_without_progress,
        ),
        gate_rounds: number("limits.gate_rounds", base.gate_rounds),
        cost_musd: money(layers.get("limits.cost_usd")),
        tokens: tokens(layers.get("limits.tokens")),
        idle_ms: time("limits.idle_timeout", base.idle_ms),
        tool_ms: time("limits.tool_timeout", base.tool_ms),
        thinking_ms: time("limits.thinking_timeout", base.thinking_ms),
        tool_idle_ms: time("limits.tool_idle_timeout", base.tool_idle_ms),
        tool_warning_ms: time("limits.tool_warning", base.tool_warning_ms),
        permission_ms: time("limits.permission_timeout", base.permission_ms),
        retry_ms: time("limits.retry_timeout", base.retry_ms),
        ask_timeout_ms: time("checkpoint.ask_timeout", base.ask_timeout_ms),
        sessions: count(layers.get("limits.sessions")),
        ..base
    }
}

fn wait(layers: &Layers) -> WaitRules {
    let base = WaitRules::default();
    WaitRules {
        enabled: yes(layers.get("wait.enabled")),
        on_rate_limit: match name_of(layers.get("wait.on_rate_limit")).as_str() {
            "wait" => OnRateLimit::Wait,
            _ => OnRateLimit::Fallback,
        },
        first_ms: millis(layers.get("wait.first")).unwrap_or(base.first_ms),
        most_ms: millis(layers.get("wait.most")).unwrap_or(base.most_ms),
        longest_ms: millis(layers.get("limits.max_wait")),
        failures: count(layers.get("limits.max_failures")).unwrap_or(base.failures),
        shared: true,
        utc_offset_s: base.utc_offset_s,
    }
}

fn git(layers: &Layers) -> GitSettings {
    GitSettings {
        enabled: yes(layers.get("git.enabled")),
        commit: match name_of(layers.get("git.commit")).as_str() {
            "branch" => CommitMode::Branch,
            "never" => CommitMode::Never,
            _ => CommitMode::Snapshot,
        },
        commit_on_failure: yes(layers.get("git.commit_on_failure")),
        message: name_of(layers.get("git.message")),
        allow_dirty: yes(layers.get("git.allow_dirty")),
    }
}

/// What is written for people, and where.
pub(crate) fn forms(layers: &Layers) -> Forms {
    let path = |name: &str| text(layers.get(&format!("checkpoint.{name}")));
    Forms {
        dir: path("dir"),
        handoff_file: path("handoff_file"),
        summary_file: path("summary_file"),
        project_dir: path("project_dir"),
        project: path("project"),
        task: path("task"),
    }
}

/// Where the work trees of phases side by side are made, as it was typed.
pub(crate) fn trees_dir(layers: &Layers) -> Option<String> {
    text(layers.get("parallel.dir"))
}

/// How long checkpoints are kept.
pub(crate) fn retention(layers: &Layers) -> Retention {
    Retention {
        days: count(layers.get("checkpoint.retention.days")),
        count: count(layers.get("checkpoint.retention.count")),
        until_done: yes(layers.get("checkpoint.retention.until_done")),
    }
}

/// What is taken out of everything that is stored, shown or passed on.
pub(crate) fn redaction(layers: &Layers) -> RedactSettings {
    RedactSettings {
        enabled: yes(layers.get("redact.enabled")),
        allow: list(layers.get("redact.allow")).unwrap_or_default(),
        patterns: patterns(layers),
        payment: yes(layers.get("redact.payment")),
        emails: yes(layers.get("redact.emails")),
    }
}

// Whatever is broken keeps nothing back, so it is an error and not a warning.
fn env_rules(layers: &Layers, problems: &mut Vec<Problem>) -> EnvRules {
    let names = |key: &str| list(layers.get(key)).unwrap_or_default();
    EnvRules::new(&names("env.pass"), &names("env.drop")).unwrap_or_else(|(key, why)| {
        if let Some(entry) = layers.get(key) {
            problems.push(Problem::at(&entry.from, Trouble::BadValue { key: key.to_owned(), why }));
        }
        EnvRules::default()
    })
}

fn check_paths(layers: &Layers, problems: &mut Vec<Problem>) {
    for (key, path) in forms(layers).paths() {
        if let (Some(why), Some(entry)) = (path_fault(path), layers.get(key)) {
            let why = format!("{path:?} {why}; name a place below the work tree");
            problems.push(Problem::at(&entry.from, Trouble::BadValue { key: key.to_owned(), why }));
        }
    }
}

fn roles(layers: &Layers, problems: &mut Vec<Problem>) -> BTreeMap<String, Role> {
    let mut roles = BTreeMap::new();
    for (name, _) in names_in(layers.values(), "roles") {
        let get = |leaf| layers.values().get(&KeyPath::named("roles", name, leaf));
        let mut role = Role {
            agents: Vec::new(),
            sections: list(get("sections")).unwrap_or_default(),
            track: list(get("track")).unwrap_or_default(),
        };
        if let Some(entry) = get("agents") {
            for agent in list(Some(entry)).unwrap_or_default() {
                match agents::one(layers, &agent, &entry.from) {
                    Ok(agent) => role.agents.push(agent),
                    Err(problem) => problems.push(problem),
                }
            }
        }
        roles.insert(name.to_owned(), role);
    }
    roles
}

// A flag beats a role: whoever types an agent means it.
fn typed(entry: Option<&Entry>) -> bool {
    entry.is_some_and(|entry| matches!(entry.from, Origin::Flag(_)))
}

fn role(layers: &Layers, roles: &BTreeMap<String, Role>, problems: &mut Vec<Problem>) -> Option<RoleSpec> {
    let entry = layers.get("role")?;
    let name = text(Some(entry))?;
    let Some(role) = roles.get(&name) else {
        let near = nearest(&name, roles.keys().map(String::as_str));
        let hint = near.map_or_else(String::new, |near| format!(" (did you mean {near:?}?)"));
        let why = format!("there is no [roles.{name}]{hint}");
        problems.push(Problem::at(&entry.from, Trouble::BadValue { key: "role".to_owned(), why }));
        return None;
    };
    for glob in &role.track {
        if let Err(error) = globset::Glob::new(glob) {
            let key = format!("roles.{name}.track");
            problems.push(Problem::at(&entry.from, Trouble::BadValue { key, why: error.to_string() }));
        }
    }
    Some(RoleSpec { name, sections: role.sections.clone(), track: role.track.clone() })
}

// A role of that name is enough of a wish; without one the run's own agents give the second opinion, if it is wanted.
fn verifiers(
    layers: &Layers,
    roles: &BTreeMap<String, Role>,
    agents: &[AgentSettings],
) -> Vec<AgentSettings> {
    let named = roles.get("verifier").map(|role| role.agents.clone()).filter(|agents| !agents.is_empty());
    match text(layers.get("verify")).as_deref() {
        Some("gates") => Vec::new(),
        Some(_) => named.unwrap_or_else(|| agents.to_vec()),
        None => named.unwrap_or_default(),
    }
}

fn patterns(layers: &Layers) -> BTreeMap<String, String> {
    let pairs = layers.values().iter().filter_map(|(path, entry)| match (path.parts(), &entry.value) {
        ([section, table, name], Value::Text(pattern)) if section == "redact" && table == "patterns" => {
            Some((name.clone(), pattern.clone()))
        }
        _ => None,
    });
    pairs.collect()
}

fn prompts(layers: &Layers) -> BTreeMap<String, String> {
    let pairs = layers.values().iter().filter_map(|(path, entry)| match (path.parts(), &entry.value) {
        ([section, name], Value::Text(file)) if section == "prompts" => Some((name.clone(), file.clone())),
        _ => None,
    });
    pairs.collect()
}

/// Each name in `[section.NAME]`, with its first entry.
pub(crate) fn names_in<'a>(values: &'a Values, section: &str) -> BTreeMap<&'a str, &'a Entry> {
    let mut names = BTreeMap::new();
    for (path, entry) in values {
        if let [first, name, ..] = path.parts()
            && first == section
        {
            names.entry(name.as_str()).or_insert(entry);
        }
    }
    names
}

/// The text of an entry.
pub(crate) fn text(entry: Option<&Entry>) -> Option<String> {
    match entry.map(|e| &e.value) {
        Some(Value::Text(text)) => Some(text.clone()),
        _ => None,
    }
}

/// The text of an entry that always has one.
pub(crate) fn name_of(entry: Option<&Entry>) -> String {
    text(entry).unwrap_or_default()
}

/// The texts of an entry.
pub(crate) fn list(entry: Option<&Entry>) -> Option<Vec<String>> {
    match entry.map(|e| &e.value) {
        Some(Value::List(list)) => Some(list.clone()),
        _ => None,
    }
}

/// The number of an entry.
pub(crate) fn count(entry: Option<&Entry>) -> Option<u32> {
    match entry.map(|e| &e.value) {
        Some(Value::Count(count)) => Some(*count),
        _ => None,
    }
}

/// The tokens of an entry.
pub(crate) fn tokens(entry: Option<&Entry>) -> Option<u64> {
    match entry.map(|e| &e.value) {
        Some(Value::Tokens(tokens)) => Some(*tokens),
        _ => None,
    }
}

/// The money of an entry.
pub(crate) fn money(entry: Option<&Entry>) -> Option<u64> {
    match entry.map(|e| &e.value) {
        Some(Value::Money(musd)) => Some(*musd),
        _ => None,
    }
}

/// The duration of an entry.
pub(crate) fn millis(entry: Option<&Entry>) -> Option<u64> {
    match entry.map(|e| &e.value) {
        Some(Value::Millis(millis)) => Some(*millis),
        _ => None,
    }
}

/// Whether an entry says yes.
pub(crate) fn yes(entry: Option<&Entry>) -> bool {
    matches!(entry.map(|e| &e.value), Some(Value::Bool(true)))
}
