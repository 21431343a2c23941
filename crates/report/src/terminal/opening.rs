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
        entries.push(Entry::new("  ", limits(&spec.limits), Tint::Plain));
        entries.extend(day(&spec.budget.day).map(|words| Entry::new("  ", words, Tint::Plain)));
    }
    entries
}

/// The first line of a task that says something, without its Markdown mark.
pub(crate) fn title(task: &str) -> String {
    let lines = task.lines().map(plain).map(|line| line.trim_start_matches(['#', ' ']).to_owned());
    let said = lines.into_iter().find(|line| !line.is_empty());
    said.unwrap_or_else(|| "(a task without words)".to_owned())
}

fn agents(spec: &RunSpec) -> String {
    let names: Vec<&str> = spec.agents.iter().map(|agent| agent.name.as_str()).collect();
    names.join(", then ")
}

fn gates(spec: &RunSpec) -> String {
    if spec.gates.is_empty() {
        return "no gates: done is what the agent says".to_owned();
    }
    let name = |gate: &segue_machine::GateSpec| {
        format!("{}{}", gate.name, if gate.manual { " (a person)" } else { "" })
    };
    format!("gates {}", spec.gates.iter().map(name).collect::<Vec<_>>().join(", "))
}

fn limits(limits: &Limits) -> String {
    let mut said = vec![
        limits
            .deadline_ms
            .map_or_else(|| "no deadline".to_owned(), |ms| format!("deadline {}", duration(ms))),
        limits.max_restarts.map_or_else(|| "any number of restarts".to_owned(), |n| count(n, "restart")),
        format!("{} without progress", count(limits.max_handoffs_without_progress, "handoff")),
        count(limits.gate_rounds, "gate round"),
    ];
    said.extend(limits.cost_musd.map(|musd| format!("cost {}", money(crate::stream::dollars(musd)))));
    said.extend(limits.tokens.map(|tokens| format!("{} tokens", thousands(tokens))));
    said.extend(limits.sessions.map(|sessions| count(sessions, "session")));
    format!("limits: {}", said.join(", "))
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
