//! The head of a run: what is to be done, by whom, and what holds it in check.

use segue_machine::{DayLimits, Limits, RunSpec, View};

use crate::fields::RunStarted;
use crate::terminal::{Entry, Style, Tint, count, duration, money, plain, thousands};

/// The entries at the head of a run.
pub(crate) fn entries(run: &str, started: &RunStarted, view: &View, style: Style) -> Vec<Entry> {
    let title = style.cut(&title(&started.task), style.columns());
    let mut entries = vec![Entry::new("", title, Tint::Bold)];
    let spec = view.spec.as_deref();
    let agents = spec.map(agents).or_else(|| started.agent.clone()).unwrap_or_else(|| "none".to_owned());
    entries.push(Entry::new("  ", format!("run {run} in {}", started.workdir), Tint::Dim));
    entries.push(Entry::new("  ", format!("agent {agents} · policy {}", started.policy), Tint::Plain));
    if let Some(spec) = spec {
        entries.push(Entry::new("  ", gates(spec), Tint::Plain));
        entries.extend(limits(&spec.limits).map(|words| Entry::new("  ", words, Tint::Plain)));
        entries.extend(day(&spec.budget.day).map(|words| Entry::new("  ", words, Tint::Plain)));
    }
    entries
}

/// The first line of a task that says something, without its Markdown mark.
pub(crate) fn title(task: &str) -> String {
    let lines = task.lines().map(plain).map(|line| line.trim_start_matches(['#', ' ']).to_owned());
    let said = lines.into_iter().find(|line| !line.is_empty());
    said.unwrap_or_else(|| "(an empty task)".to_owned())
}

fn agents(spec: &RunSpec) -> String {
    let names: Vec<&str> = spec.agents.iter().map(|agent| agent.name.as_str()).collect();
    names.join(", then ")
}

fn gates(spec: &RunSpec) -> String {
    if spec.gates.is_empty() {
        return "no gates: nothing verifies the work".to_owned();
    }
    let name = |gate: &segue_machine::GateSpec| {
        format!("{}{}", gate.name, if gate.manual { " (manual)" } else { "" })
    };
    format!("gates {}", spec.gates.iter().map(name).collect::<Vec<_>>().join(", "))
}

// Those that the user set.
fn limits(limits: &Limits) -> Option<String> {
    let usual = Limits::default();
    let mut said = Vec::new();
    said.extend(limits.deadline_ms.map(|ms| format!("deadline {}", duration(ms))));
    said.extend(limits.max_restarts.map(|n| count(n, "restart")));
    let handoffs = Some(limits.max_handoffs_without_progress);
    let handoffs = handoffs.filter(|n| *n != usual.max_handoffs_without_progress);
    said.extend(handoffs.map(|n| format!("{} without progress", count(n, "handoff"))));
    let rounds = Some(limits.gate_rounds).filter(|n| *n != usual.gate_rounds);
    said.extend(rounds.map(|n| count(n, "gate round")));
    said.extend(limits.cost_musd.map(|musd| format!("cost {}", money(crate::stream::dollars(musd)))));
    said.extend(limits.tokens.map(|tokens| format!("{} tokens", thousands(tokens))));
    said.extend(limits.sessions.map(|sessions| count(sessions, "session")));
    (!said.is_empty()).then(|| format!("limits: {}", said.join(", ")))
}

fn day(limits: &DayLimits) -> Option<String> {
    let said = [
        limits.cost_musd.map(|musd| format!("cost {}", money(crate::stream::dollars(musd)))),
        limits.tokens.map(|tokens| format!("{} tokens", thousands(tokens))),
        limits.sessions.map(|sessions| count(sessions, "session")),
        limits.wall_ms.map(duration),
    ];
    let said: Vec<String> = said.into_iter().flatten().collect();
    (!said.is_empty()).then(|| format!("all runs of the day: {}", said.join(", ")))
}
