//! Builds the policy in force: the preset, then stages, then lines, then thresholds.
//!
//! Needs no agent, so that `config show` can tell the stages in force in any case.

use segue_machine::policy::{At, Lines, Moves, Percent, Place, Policy, Stage, preset};

use crate::config::layers::{Entry, Layers};
use crate::config::origin::Origin;
use crate::config::problem::{Problem, Trouble};
use crate::config::resolve::{count, name_of, text};
use crate::config::value::Value;

/// The policy in force. Problems and warnings are added to the lists.
pub(crate) fn build(layers: &Layers, problems: &mut Vec<Problem>, warnings: &mut Vec<Problem>) -> Policy {
    let name = name_of(layers.get("policy"));
    // The name was checked when it was read; the default stands in so that nothing here can fail.
    let Some(preset) = preset::find(&name).or_else(|| preset::find(preset::NAMES[0])) else {
        return empty();
    };
    let mut policy = preset.policy;
    replace_stages(&mut policy, layers, warnings);
    set_lines(&mut policy, layers, problems);
    policy.tell = !matches!(layers.get("tell").map(|e| &e.value), Some(Value::Bool(false)));
    policy.max_chars = count(layers.get("checkpoint.max_chars"));
    policy.handoff_file = text(layers.get("checkpoint.handoff_file")).is_some();
    set_economy(&mut policy, layers, warnings);
    set_threshold(&mut policy, layers, problems, warnings);
    set_tool_threshold(&mut policy, layers, warnings);
    check_restarts(&policy, layers, problems, warnings);
    match (count(layers.get("limits.max_restarts")), preset.restart_cap) {
        (Some(0), _) => policy.replacing_off = true,
        (restarts, Some(cap)) if restarts.is_none_or(|n| n > cap) => {
            if let Some(entry) = layers.get("limits.max_restarts") {
                let why = format!(
                    "{} is more than {cap}, the maximum for policy {name:?}; use {cap} or less, or another policy",
                    entry.value
                );
                let what = Trouble::BadValue { key: "limits.max_restarts".to_owned(), why };
                problems.push(Problem::at(&entry.from, what));
            }
        }
        _ => {}
    }
    policy
}

fn replace_stages(policy: &mut Policy, layers: &Layers, warnings: &mut Vec<Problem>) {
    let Some(Entry { value: Value::Stages(stages), from }) = layers.get("stage").filter(|e| e.from.is_set())
    else {
        return;
    };
    if let Some(chosen) = layers.get("policy").filter(|chosen| chosen.from.rank() > from.rank()) {
        let what = format!("the stages of policy {:?} are not used: {from} replaces them", policy.name);
        warnings.push(Problem::clash(&chosen.from, what));
    }
    policy.stages.clone_from(stages);
    "custom".clone_into(&mut policy.name);
}

fn set_lines(policy: &mut Policy, layers: &Layers, problems: &mut Vec<Problem>) {
    let (soft, hard) = (layers.get("forecast.soft"), layers.get("forecast.hard"));
    let line = |entry: Option<&Entry>, otherwise| match entry.map(|e| &e.value) {
        Some(Value::Percent(percent)) => Percent::from_f64(*percent),
        _ => otherwise,
    };
    policy.lines = Lines { soft: line(soft, policy.lines.soft), hard: line(hard, policy.lines.hard) };
    let free = |entry: Option<&Entry>| entry.is_none_or(|entry| !entry.from.is_set());
    policy.moves = Some(Moves { soft: free(soft), hard: free(hard) });
    if policy.lines.soft > policy.lines.hard {
        let set = soft.into_iter().chain(hard).max_by_key(|entry| entry.from.rank());
        let what = format!(
            "forecast.soft ({}) must not be above forecast.hard ({})",
            policy.lines.soft, policy.lines.hard
        );
        problems.extend(set.map(|entry| Problem::clash(&entry.from, what)));
    }
}

fn set_economy(policy: &mut Policy, layers: &Layers, warnings: &mut Vec<Problem>) {
    let place = |key: &str| match layers.get(key).map(|entry| &entry.value) {
        Some(Value::Tokens(tokens)) => Place::At(*tokens),
        Some(Value::Text(word)) if word == "off" => Place::Off,
        _ => Place::Auto,
    };
    if let Some(economy) = policy.economy.as_mut() {
        (economy.price, economy.quality) = (place("price_line"), place("quality_line"));
        return;
    }
    for key in ["price_line", "quality_line"] {
        if let Some(entry) = layers.get(key).filter(|entry| entry.from.is_set()) {
            let what = format!("{key} has no effect with policy {:?}: only auto has this line", policy.name);
            warnings.push(Problem::clash(&entry.from, what));
        }
    }
}

fn set_threshold(
    policy: &mut Policy,
    layers: &Layers,
    problems: &mut Vec<Problem>,
    warnings: &mut Vec<Problem>,
) {
    let Some(entry) = layers.get("context_threshold") else { return };
    if let Some(later) = later_than(entry, policy, layers) {
        let what = format!("context_threshold has no effect: {later} takes precedence");
        warnings.push(Problem::clash(&entry.from, what));
        return;
    }
    let replaces = policy.stages.iter().any(|s| s.replaces() && s.at.percent(policy.lines).is_some());
    if let Value::Tokens(tokens) = entry.value {
        policy.set_threshold_tokens(tokens);
    } else if let Value::Percent(percent) = entry.value
        && let Err(bad) = policy.set_threshold(percent)
    {
        let what = Trouble::BadValue { key: "context_threshold".to_owned(), why: bad.to_string() };
        problems.push(Problem::at(&entry.from, what));
        return;
    }
    if !replaces {
        let what = format!(
            "context_threshold has no effect with policy {:?}: no stage at a percentage replaces the session",
            policy.name
        );
        no_effect(entry, what, problems, warnings);
    }
}

/// What was typed for this run is a mistake when it does nothing; what stands in a file may be meant for other runs.
fn no_effect(entry: &Entry, what: String, problems: &mut Vec<Problem>, warnings: &mut Vec<Problem>) {
    let to = if matches!(entry.from, Origin::Flag(_)) { problems } else { warnings };
    to.push(Problem::clash(&entry.from, what));
}

fn check_restarts(
    policy: &Policy,
    layers: &Layers,
    problems: &mut Vec<Problem>,
    warnings: &mut Vec<Problem>,
) {
    let Some(entry) = layers.get("limits.max_restarts").filter(|entry| entry.from.is_set()) else { return };
    if policy.stages.iter().any(Stage::replaces) || count(Some(entry)) == Some(0) {
        return;
    }
    let what = format!(
        "limits.max_restarts has no effect with policy {:?}: it never replaces a session by itself",
        policy.name
    );
    no_effect(entry, what, problems, warnings);
}

/// What a higher layer than the threshold's says about the same line.
fn later_than(threshold: &Entry, policy: &Policy, layers: &Layers) -> Option<String> {
    let forecasts = policy.stages.iter().any(|s| s.at == At::Forecast && s.replaces());
    let keys = if forecasts { ["stage", "forecast.hard"].as_slice() } else { &["stage"] };
    let later = keys.iter().filter_map(|key| Some((key, layers.get(key)?)));
    let mut later =
        later.filter(|(_, entry)| entry.from.is_set() && entry.from.rank() > threshold.from.rank());
    later.next().map(|(key, entry)| format!("{key} (from {})", entry.from))
}

fn set_tool_threshold(policy: &mut Policy, layers: &Layers, warnings: &mut Vec<Problem>) {
    let Some(entry) = layers.get("tool_call_threshold") else { return };
    let Value::Count(tools) = entry.value else { return };
    if let Some(stage) = layers.get("stage").filter(|s| s.from.is_set() && s.from.rank() > entry.from.rank())
    {
        let what = format!("tool_call_threshold has no effect: stage (from {}) comes later", stage.from);
        warnings.push(Problem::clash(&entry.from, what));
        return;
    }
    if tools > 0 && !policy.stages.iter().any(Stage::replaces) {
        let what = format!(
            "policy {:?} replaces nothing by itself; this adds a fresh session after {tools} tool calls",
            policy.name
        );
        warnings.push(Problem::clash(&entry.from, what));
    }
    policy.set_tool_threshold(tools);
}

fn empty() -> Policy {
    Policy {
        name: "custom".to_owned(),
        stages: Vec::new(),
        lines: Lines::default(),
        moves: Some(Moves::default()),
        tell: true,
        replacing_off: false,
        max_chars: None,
        handoff_file: false,
        economy: None,
        native: false,
    }
}
