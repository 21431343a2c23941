//! What one event says in one line, in the same words for a run by itself and for one of many side by side.

use segue_machine::{
    CheckpointBy, Continued, Depth, EndReason, HandoffKind, Limit, Millis, SessionReason, Verdict, WaitRules,
};

use crate::Outer;
use crate::fields::{
    CheckpointTaken, GateFinished, GateTime, HandoffDecided, PhaseFields, PhaseStatus, SessionContinued,
    SessionEnded, SessionStarted, StageReached, WaitFields,
};
use crate::terminal::{Tint, duration, left, money, short, waiting, wall};

fn session_continued(continued: &SessionContinued) -> String {
    let place = match continued.how {
        Continued::Alive => "continues in the same process",
        Continued::Resumed => "resumes its conversation",
    };
    format!("{} {place} after: {}", continued.session, continued.after)
}

/// The event in words and how they look; `None` for one that is no sentence of its own.
pub(crate) fn sentence(event: &Outer, at: Millis, rules: &WaitRules) -> Option<(String, Tint)> {
    Some(match event {
        Outer::SessionStarted(started) => (session_started(started), Tint::Plain),
        Outer::StageReached(reached) => (stage_reached(reached), Tint::Careful),
        Outer::CheckpointTaken(taken) => (checkpoint_taken(taken), checkpoint_tint(taken)),
        Outer::HandoffDecided(decided) => (handoff_decided(decided), Tint::Bold),
        Outer::SessionContinued(continued) => (session_continued(continued), Tint::Plain),
        Outer::SessionEnded(ended) => (session_ended(ended)?, Tint::Careful),
        Outer::GateFinished(gate) => gate_finished(gate),
        Outer::GateChanged(change) => (change.sentence(), Tint::Careful),
        Outer::PhaseStarted(phase) | Outer::PhaseFinished(phase) => (phase_words(phase), Tint::Plain),
        Outer::WaitStarted(wait) => (waiting_words(wait, at, rules), Tint::Careful),
        Outer::WaitEnded(wait) => (format!("no longer waiting for {}", wait.why), Tint::Plain),
        Outer::LimitReached(reached) => {
            (format!("limit reached: {} ({})", limit_words(reached.limit), reached.value), Tint::Bad)
        }
        Outer::Warning(warning) => (format!("warning: {}", warning.text), Tint::Careful),
        Outer::RunFinished(finished) => {
            let (word, tint) = verdict_words(finished.verdict);
            (format!("{word}: {}", finished.reason), tint)
        }
        Outer::RunStarted(_)
        | Outer::GaugeRead(_)
        | Outer::AgentSaid(_)
        | Outer::ItemsSeen(_)
        // The warning and the verdict beside them say it.
        | Outer::CheckpointFailed(_)
        | Outer::PromptFailed(_)
        | Outer::CheckpointRequested(_) => return None,
    })
}

fn session_started(started: &SessionStarted) -> String {
    let model = started.model.as_ref().map(|model| format!(" ({model})")).unwrap_or_default();
    let how = match started.reason {
        SessionReason::First => "started",
        SessionReason::Restart => "started with an empty context",
        SessionReason::Fallback => "started as the fallback",
        SessionReason::Helper => "started as a helper",
        SessionReason::Split => "started on a part of the task",
        SessionReason::Resume => "started to resume the run",
    };
    // Many agents tell their window only with the first call: the status line says it then.
    let known = started.ceiling.is_some() || started.window.is_some();
    let wall = if known { wall(started.ceiling, started.window) } else { String::new() };
    format!("{} {}{model} {how}{wall}", started.session, started.agent)
}

fn stage_reached(reached: &StageReached) -> String {
    let tokens = reached.tokens.map(|tokens| format!("{} tokens", short(tokens)));
    let percent = reached.percent.map(|percent| format!("{:.0} %", percent.floor()));
    let amount: Vec<String> = tokens.into_iter().chain(percent).collect();
    let amount = if amount.is_empty() || reached.why.is_some() {
        String::new()
    } else {
        format!(" ({})", amount.join(", "))
    };
    let what = match reached.stage.as_str() {
        "forecast" if reached.why.is_some() => reached.why.clone().unwrap_or_default(),
        "forecast" => "context is forecast to fill soon".to_owned(),
        stage => format!("context used reached {stage}"),
    };
    let actions: Vec<&str> = reached.r#do.iter().map(|action| action_words(action)).collect();
    let fallback =
        reached.fallback.as_ref().map_or_else(String::new, |agent| format!(" · fallback: {agent}"));
    match &reached.text {
        Some(text) => format!("{text}{fallback}"),
        None => format!("{} {what}{amount}: {}{fallback}", reached.session, actions.join(", ")),
    }
}

/// What a stage does, by the action's name in the configuration.
fn action_words(action: &str) -> &str {
    match action {
        "warn" => "warning",
        "tell" => "sending a usage hint",
        "checkpoint:brief" => "asking for a checkpoint (brief)",
        "checkpoint:full" => "asking for a checkpoint (complete)",
        "checkpoint:emergency" => "taking a checkpoint (emergency)",
        "choose-fallback" => "choosing the fallback agent",
        "restart" => "starting a fresh session",
        "handoff" => "handing over",
        "split" => "splitting the task",
        "stop" => "stopping",
        other => other,
    }
}

fn checkpoint_taken(taken: &CheckpointTaken) -> String {
    let by = match taken.by {
        CheckpointBy::Agent => "the agent",
        CheckpointBy::Segue => "segue",
    };
    let depth = match taken.depth {
        Depth::Emergency => "emergency",
        Depth::Brief => "brief",
        Depth::Full => "complete",
    };
    let claims = taken.claims;
    let verdicts =
        [(claims.confirmed, "confirmed"), (claims.contradicted, "false"), (claims.unknown, "not checked")];
    let checked = claims.confirmed + claims.contradicted > 0;
    let verdicts: Vec<String> =
        verdicts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    let claims = if !checked { String::new() } else { format!(" · claims: {}", verdicts.join(", ")) };
    let stem = taken.path.strip_suffix(".gz").unwrap_or(&taken.path).strip_suffix(".json");
    let readable = stem.map_or_else(|| taken.path.clone(), |stem| format!("{stem}.md"));
    format!("{} {by} wrote a checkpoint ({depth}){claims} · {readable}", taken.session)
}

fn checkpoint_tint(taken: &CheckpointTaken) -> Tint {
    if taken.claims.contradicted > 0 { Tint::Careful } else { Tint::Plain }
}

fn handoff_decided(decided: &HandoffDecided) -> String {
    let kind = match decided.kind {
        HandoffKind::Continue => "continues",
        HandoffKind::Restart => "fresh session",
        HandoffKind::Fallback => "fallback",
        HandoffKind::Helper => "helper",
        HandoffKind::Forced => "forced handoff",
        HandoffKind::Split => "next part of the task",
        HandoffKind::Stop => "no further session",
    };
    let to = match &decided.to_agent {
        Some(agent) if *agent == decided.from_agent => format!("{agent}, "),
        Some(agent) => format!("{} → {agent}, ", decided.from_agent),
        None => String::new(),
    };
    let text = decided.text.as_ref().map(|text| format!(" · {text}")).unwrap_or_default();
    format!("{} → {to}{kind}: {}{text}", decided.from, decided.reason)
}

// A session that finished or was replaced says so elsewhere; only what went wrong is worth a line.
/// Less than this says nothing about the checkpoint.
const NOTABLE_REREAD: u64 = 1_000;

fn session_ended(ended: &SessionEnded) -> Option<String> {
    let why = match ended.reason {
        EndReason::Finished | EndReason::Replaced if ended.orphans == 0 => {
            let again = ended.reread_tokens.filter(|tokens| *tokens >= NOTABLE_REREAD)?;
            return Some(format!("{} read {} tokens again after the handoff", ended.session, short(again)));
        }
        EndReason::Finished => "ended",
        EndReason::Replaced => "was replaced",
        EndReason::Overflow => "overflowed its window",
        EndReason::Failed => "failed",
        EndReason::Stalled => "was silent and was stopped",
        EndReason::Stopped => "was stopped",
        EndReason::Lost => "was lost when segue crashed",
    };
    let exit = ended.exit.filter(|exit| *exit != 0).map(|exit| format!(" (exit {exit})")).unwrap_or_default();
    let orphans = match ended.orphans {
        0 => String::new(),
        1 => " · 1 process outlived it and was stopped".to_owned(),
        n => format!(" · {n} processes outlived it and were stopped"),
    };
    Some(format!("{} {why}{exit}{orphans}", ended.session))
}

fn gate_finished(gate: &GateFinished) -> (String, Tint) {
    let (mark, word, tint) =
        if gate.passed { ("✓", "passed", Tint::Good) } else { ("✗", "failed", Tint::Bad) };
    let exit = gate.exit.filter(|_| !gate.passed).map(|exit| format!(" (exit {exit})")).unwrap_or_default();
    let (word, exit) = if gate.timed_out { ("timed out", String::new()) } else { (word, exit) };
    let took = duration(gate.ms);
    if gate.when == GateTime::Before {
        return (format!("gate {} before the work: {word}{exit}, {took}", gate.gate), Tint::Dim);
    }
    let output = gate.output.as_ref().filter(|_| !gate.passed);
    let output = output.map(|path| format!(" · {path}")).unwrap_or_default();
    (format!("{mark} gate {} {word}{exit}, {took}{output}", gate.gate), tint)
}

fn phase_words(phase: &PhaseFields) -> String {
    let status = match phase.status {
        None => "started",
        Some(PhaseStatus::Completed) => "completed",
        Some(PhaseStatus::Failed) => "failed",
        Some(PhaseStatus::Blocked) => "is blocked",
        Some(PhaseStatus::NeedsInput) => "needs input",
        Some(PhaseStatus::Split) => "was split",
    };
    let report = phase.report.as_ref().map(|path| format!(" · {path}")).unwrap_or_default();
    format!("phase {} {status}{report}", phase.phase)
}

fn waiting_words(wait: &WaitFields, now: Millis, rules: &WaitRules) -> String {
    wait.until.map_or_else(
        || format!("waiting for {}", wait.why),
        |until| waiting(&wait.why, until.0, now, rules) + &left(until.0, now),
    )
}

/// A limit as a person would call it.
pub fn limit_words(limit: Limit) -> &'static str {
    match limit {
        Limit::Deadline => "deadline of the run",
        Limit::MaxRestarts => "restarts",
        Limit::NoProgress => "handoffs without progress",
        Limit::GateRounds => "failed gate attempts",
        Limit::Cost => "cost",
        Limit::Tokens => "tokens",
        Limit::Stall => "the agent was silent",
        Limit::Permissions => "repeated denied permission requests",
        Limit::Futile => "a fresh session starts above the line",
        Limit::Wait => "waiting",
        Limit::Failures => "provider failures in a row without progress",
        Limit::SameError => "repeats of the same failure",
        Limit::Oscillation => "agents failing in turn",
        Limit::Sessions => "sessions",
        Limit::AgentCost => "cost of the agent",
        Limit::UnknownCost => "the cost is not known",
        Limit::DayCost => "cost of the day",
        Limit::DayTokens => "tokens of the day",
        Limit::DaySessions => "sessions of the day",
        Limit::DayTime => "time of the day",
    }
}

/// What something cost, in words; an unknown cost is never nothing.
pub(crate) fn cost_words(cost_usd: Option<f64>) -> String {
    cost_usd.map_or_else(|| "unknown cost".to_owned(), |cost| format!("cost {}", money(cost)))
}

/// The verdict in a word, and how it looks.
pub(crate) fn verdict_words(verdict: Verdict) -> (&'static str, Tint) {
    match verdict {
        Verdict::Verified => ("verified", Tint::Good),
        Verdict::Unverified => ("unverified", Tint::Careful),
        Verdict::Failed => ("failed", Tint::Bad),
        Verdict::Stopped => ("stopped", Tint::Careful),
        Verdict::NeedsInput => ("needs input", Tint::Careful),
    }
}
