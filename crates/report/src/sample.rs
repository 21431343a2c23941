//! Hand-made views and lines for the tests of this crate.

use std::collections::BTreeMap;

use segue_machine::forecast::Forecast;
use segue_machine::gauge::{Gauge, Ratio};
use segue_machine::policy::preset;
use segue_machine::{
    AgentSpec, Capabilities, CheckpointBy, Choice, Claims, Considered, Continued, Depth, Doing, EndReason,
    GateResult, GateSpec, GateWhen, GitSpec, HandoffKind, ItemState, Life, Limit, ListItem, Phase, Reading,
    RunSpec, SessionReason, SessionView, Source, Totals, Verdict, View,
};

use crate::*;

pub(crate) const START: u64 = 1_769_860_800_000;

pub(crate) fn spec(policy: &str, text: &str) -> RunSpec {
    let preset = preset::find(policy).unwrap();
    let agent = |name: &str| AgentSpec { name: name.into(), ..AgentSpec::default() };
    RunSpec {
        gates: vec![GateSpec::new("tests", "cargo test", 1)],
        git: GitSpec { enabled: true, commit: preset.commit, ..GitSpec::none() },
        workdir: "/w".into(),
        started_at: START,
        ..RunSpec::new(text, vec![agent("claude"), agent("codex")], preset.policy)
    }
}

pub(crate) fn session(n: u32, window: Option<u64>, ceiling: Option<u64>) -> SessionView {
    SessionView {
        n,
        agent: "claude".into(),
        model: Some("opus".into()),
        reason: SessionReason::First,
        doing: Doing::Working,
        conversation: None,
        pid: None,
        can: Capabilities::default(),
        gauge: Gauge::new(window, ceiling, None, Ratio::default()),
        tools: BTreeMap::new(),
        spent: Totals::default(),
        started_at: START,
        life: Life::default(),
        forecast: Forecast::new(None),
    }
}

pub(crate) fn view(policy: &str, session: Option<SessionView>) -> View {
    View {
        phase: Phase::Working,
        spec: Some(Box::new(spec(policy, "# Fix the parser\n\nAnd more."))),
        sessions: session.as_ref().map_or(0, |s| s.n),
        session,
        started_at: START,
        at: START,
        ..View::default()
    }
}

/// Session 2 of a run: 136k of 200k, one tool at work.
pub(crate) fn busy_view() -> View {
    let mut s = session(2, Some(200_000), None);
    for call in 1..=14_u64 {
        s.gauge.read(&Reading { call: Some(call.to_string()), ..Reading::exact(call, 10_000 * call, 0, 0) });
        s.gauge.add(60_000);
    }
    s.gauge.read(&Reading { call: Some("14".into()), ..Reading::exact(0, 136_000, 0, 500) });
    (0..31).for_each(|_| s.gauge.count_tool());
    s.tools.insert("t1".into(), "cargo test".into());
    s.life.tools.insert("t1".into(), START);
    s.life.heard_at = START;
    view("auto", Some(s))
}

pub(crate) fn gate(passed: bool, when: GateWhen) -> GateResult {
    GateResult {
        gate: "tests".into(),
        when,
        passed,
        exit: Some(if passed { 0 } else { 101 }),
        ms: 12_000,
        output: Some(".segue/g.log".into()),
        tail: "one\n\u{1b}[31mtwo\u{1b}[0m\nthree\nfour\n".into(),
        timed_out: false,
    }
}

pub(crate) fn line(event: Outer) -> Line {
    Line { run: "r1".into(), seq: 7, at: Time(START), event }
}

pub(crate) fn unknown_gauge() -> GaugeRead {
    GaugeRead {
        session: "s1".into(),
        call: 1,
        r#final: true,
        tokens: None,
        projected: None,
        window: None,
        ceiling: None,
        percent: None,
        source: Source::None,
        tools: 3,
        forecast: None,
        usage_pct: None,
    }
}

pub(crate) fn one_of_each() -> Vec<Line> {
    each_with("text")
}

/// Every type of line, with the same text wherever text is free.
pub(crate) fn each_with(text: &str) -> Vec<Line> {
    let events = beginnings(text).into_iter().chain(endings(text));
    events.map(line).collect()
}

fn beginnings(text: &str) -> Vec<Outer> {
    let t = || text.to_owned();
    vec![
        Outer::RunStarted(RunStarted {
            schema: SCHEMA,
            task: t(),
            agent: Some(t()),
            policy: t(),
            workdir: t(),
        }),
        Outer::SessionStarted(SessionStarted {
            session: "s1".into(),
            n: 1,
            agent: t(),
            model: Some(t()),
            window: Some(200_000),
            ceiling: Some(177_000),
            reason: SessionReason::First,
        }),
        Outer::GaugeRead(GaugeRead { percent: Some(72.43), ..unknown_gauge() }),
        Outer::AgentSaid(AgentSaid { session: "s1".into(), text: t() }),
        Outer::ItemsSeen(ItemsSeen {
            session: "s1".into(),
            open: 1,
            closed: 0,
            items: vec![ListItem { id: "1".into(), text: t(), state: ItemState::InProgress }],
        }),
        Outer::StageReached(StageReached {
            session: "s1".into(),
            stage: "90%".into(),
            r#do: vec![t()],
            tokens: Some(1),
            percent: Some(90.0),
            usage_pct: None,
            text: Some(t()),
            fallback: Some(t()),
            why: Some(t()),
        }),
        Outer::CheckpointRequested(CheckpointRequested {
            session: "s1".into(),
            depth: Depth::Full,
            deadline: Some(Time(START)),
            side: true,
        }),
        Outer::CheckpointTaken(CheckpointTaken {
            checkpoint: t(),
            session: "s1".into(),
            by: CheckpointBy::Segue,
            depth: Depth::Brief,
            stage: None,
            percent: None,
            path: t(),
            claims: Claims { confirmed: 5, contradicted: 1, unknown: 2 },
            ms: 12,
            source: None,
        }),
        Outer::CheckpointFailed(CheckpointFailed {
            checkpoint: t(),
            session: "s1".into(),
            by: CheckpointBy::Agent,
            depth: Depth::Full,
            why: t(),
        }),
        Outer::PromptFailed(PromptFailed { session: "s1".into(), why: t() }),
    ]
}

fn endings(text: &str) -> Vec<Outer> {
    let t = || text.to_owned();
    let some = || Some(t());
    let phase = |status| PhaseFields { phase: t(), status, report: some(), title: some(), phase_run: some() };
    let wait = || WaitFields {
        why: t(),
        until: Some(Time(START + 1)),
        agent: Some(t()),
        failure: Some(segue_machine::AgentFailure::RateLimited),
    };
    vec![
        Outer::HandoffDecided(HandoffDecided {
            from: "s1".into(),
            from_agent: t(),
            to_agent: Some(t()),
            kind: HandoffKind::Fallback,
            reason: t(),
            checkpoint: Some(t()),
            considered: vec![Considered { agent: t(), verdict: Choice::Skipped, why: t() }],
            usage_pct: None,
            text: None,
        }),
        Outer::SessionContinued(SessionContinued { session: t(), how: Continued::Resumed, after: t() }),
        Outer::SessionEnded(SessionEnded {
            session: "s1".into(),
            reason: EndReason::Failed,
            exit: Some(2),
            fill: None,
            tokens_in: None,
            tokens_out: None,
            cost_usd: None,
            orphans: 2,
            reread_tokens: Some(3),
        }),
        Outer::GateFinished(GateFinished {
            gate: t(),
            passed: false,
            exit: None,
            ms: 3,
            when: GateTime::After,
            output: Some(t()),
            timed_out: true,
        }),
        Outer::GateChanged(segue_machine::GateChange {
            gate: t(),
            files: vec![segue_machine::ChangedFile { path: t(), what: t() }],
            how: segue_machine::ChangeHow::Swapped,
            passed_with_originals: Some(false),
            stops: true,
            unchecked: None,
        }),
        Outer::PhaseStarted(phase(None)),
        Outer::PhaseFinished(phase(Some(PhaseStatus::Split))),
        Outer::WaitStarted(wait()),
        Outer::WaitEnded(wait()),
        Outer::LimitReached(LimitReached { limit: Limit::Cost, value: t() }),
        Outer::Warning(Warning { code: "c".into(), text: t() }),
        Outer::RunFinished(RunFinished {
            verdict: Verdict::Stopped,
            reason: t(),
            sessions: 3,
            handoffs: 2,
            overflows: 0,
            redacted: 0,
            tokens_in: Some(1_432_262),
            tokens_out: None,
            cost_usd: Some(3.21),
            ms: 2_530_000,
            advice: Some(t()),
            limit: Some(Limit::Cost),
            exit_code: 4,
            until: Some(Time(START + 1)),
            gate_changes: Vec::new(),
            branch_changes: Vec::new(),
            last_message: Some("the parser reads every file".into()),
        }),
    ]
}
