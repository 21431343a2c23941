//! The two lowest layers: what holds when nobody says anything, and what the chosen preset says.

use segue_machine::policy::preset::Preset;
use segue_machine::{CommitMode, Limits, WaitRules};

use crate::config::key::KeyPath;
use crate::config::layers::{Entry, Values};
use crate::config::origin::Origin;
use crate::config::value::Value;

/// The values under the given preset, before anyone changes them.
pub(crate) fn values(preset: &Preset) -> Values {
    let limits = Limits::default();
    let wait = WaitRules::default();
    let optional = |value: Option<Value>| value.unwrap_or(Value::None);
    let default = [
        ("policy", Value::Text(preset.policy.name.clone())),
        ("require_verified", Value::Bool(false)),
        ("tell", Value::Bool(true)),
        ("price_line", Value::Text("auto".to_owned())),
        ("quality_line", Value::Text("auto".to_owned())),
        ("claims", Value::Text("shown".to_owned())),
        ("limits.max_handoffs_without_progress", Value::Count(limits.max_handoffs_without_progress)),
        ("limits.gate_rounds", Value::Count(limits.gate_rounds)),
        ("limits.deadline", optional(limits.deadline_ms.map(Value::Millis))),
        ("limits.cost_usd", optional(limits.cost_musd.map(Value::Money))),
        ("limits.tokens", optional(limits.tokens.map(Value::Tokens))),
        ("limits.idle_timeout", Value::Millis(limits.idle_ms)),
        ("limits.tool_timeout", Value::Millis(limits.tool_ms)),
        ("limits.thinking_timeout", Value::Millis(limits.thinking_ms)),
        ("limits.tool_idle_timeout", Value::Millis(limits.tool_idle_ms)),
        ("limits.tool_warning", Value::Millis(limits.tool_warning_ms)),
        ("limits.permission_timeout", Value::Millis(limits.permission_ms)),
        ("limits.retry_timeout", Value::Millis(limits.retry_ms)),
        ("limits.max_wait", optional(wait.longest_ms.map(Value::Millis))),
        ("limits.max_failures", Value::Count(wait.failures)),
        ("wait.enabled", Value::Bool(wait.enabled)),
        ("wait.on_rate_limit", Value::Text("fallback".to_owned())),
        ("wait.first", Value::Millis(wait.first_ms)),
        ("wait.most", Value::Millis(wait.most_ms)),
        ("limits.sessions", Value::None),
        ("budget.allow_unknown_cost", Value::Bool(false)),
        ("budget.day.cost_usd", Value::None),
        ("budget.day.tokens", Value::None),
        ("budget.day.sessions", Value::None),
        ("budget.day.wall", Value::None),
        ("gate", Value::Gates(Vec::new())),
        ("git.enabled", Value::Bool(true)),
        ("git.commit_on_failure", Value::Bool(false)),
        ("git.message", Value::Text("segue: {task} ({status})".to_owned())),
        ("checkpoint.ask_timeout", Value::Millis(limits.ask_timeout_ms)),
        ("checkpoint.account_tokens", Value::Tokens(6_000)),
        ("checkpoint.memory", Value::Text("ledger".to_owned())),
        ("redact.enabled", Value::Bool(true)),
        ("redact.emails", Value::Bool(false)),
        ("redact.payment", Value::Bool(false)),
        ("checkpoint.dir", Value::None),
        ("parallel.dir", Value::None),
        ("checkpoint.retention.days", Value::Count(7)),
        ("checkpoint.retention.count", Value::None),
        ("checkpoint.retention.until_done", Value::Bool(false)),
        ("notify.format", Value::Text("json".to_owned())),
        ("notify.bell", Value::Bool(false)),
        ("notify.every", Value::Millis(5 * 60_000)),
    ];
    let policy = &preset.policy;
    let from_preset = [
        ("stage", Value::Stages(policy.stages.clone())),
        ("forecast.soft", percent(policy.lines.soft)),
        ("forecast.hard", percent(policy.lines.hard)),
        ("limits.max_restarts", optional(preset.max_restarts.map(Value::Count))),
        ("git.commit", Value::Text(commit_word(preset.commit).to_owned())),
        ("checkpoint.max_chars", optional(policy.max_chars.map(Value::Count))),
        ("checkpoint.handoff_file", file(policy.handoff_file, "HANDOFF.md")),
        ("checkpoint.summary_file", file(policy.name == "loop", ".segue/context-summary.md")),
        ("checkpoint.project_dir", file(policy.name == "staged", "contexts/sandbox")),
    ];
    let named = Origin::Preset(policy.name.clone());
    default
        .into_iter()
        .map(|(path, value)| (path, value, Origin::Default))
        .chain(from_preset.into_iter().map(|(path, value)| (path, value, named.clone())))
        .map(|(path, value, from)| (KeyPath::dotted(path), Entry { value, from }))
        .collect()
}

fn file(promised: bool, path: &str) -> Value {
    if promised { Value::Text(path.to_owned()) } else { Value::None }
}

fn percent(percent: segue_machine::policy::Percent) -> Value {
    Value::Percent(f64::from(percent.hundredths()) / 100.0)
}

fn commit_word(mode: CommitMode) -> &'static str {
    match mode {
        CommitMode::Snapshot => "snapshot",
        CommitMode::Branch => "branch",
        CommitMode::Never => "never",
    }
}
