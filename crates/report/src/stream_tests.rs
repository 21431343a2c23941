use proptest::prelude::*;
use segue_machine::{
    Asked, CheckpointBy, Claims, Depth, EndReason, GateWhen, HandoffKind, Limit, Reading, Scope, Source,
    Totals, Verdict, WorkState,
};
use serde_json::{Value, json};

use super::*;
use crate::{sample, to_json_line};

fn record(seq: u64, event: Event) -> Record {
    Record { seq, at: sample::START + seq * 1_000, event }
}

fn agent(session: u32, event: AgentEvent) -> Event {
    Event::Agent { session, event }
}

fn ready() -> AgentEvent {
    AgentEvent::Ready {
        conversation: "c".into(),
        model: None,
        window: None,
        ceiling: None,
        can: Default::default(),
    }
}

fn usage() -> AgentEvent {
    AgentEvent::UsageRead(Reading::reported(1, None))
}

fn tool_ended() -> AgentEvent {
    AgentEvent::ToolEnded { tool: "t".into(), title: "ls".into(), ok: true, chars: 1 }
}

fn values(lines: &[Line]) -> Vec<Value> {
    lines.iter().map(|line| serde_json::from_str(&to_json_line(line)).unwrap()).collect()
}

fn checkpoint(session: u32) -> Event {
    Event::CheckpointTaken {
        checkpoint: "c1".into(),
        session,
        by: CheckpointBy::Agent,
        depth: Depth::Full,
        path: ".segue/c1.md".into(),
        claims: Claims { confirmed: 5, contradicted: 1, unknown: 2 },
        work: WorkState::default(),
        ms: 40,
        judged: Vec::new(),
        source: None,
    }
}

fn stage(session: u32, stage: &str, actions: &[&str], tokens: u64, percent: u32) -> Effect {
    Effect::Announce(Notice::StageReached {
        session,
        stage: stage.into(),
        actions: actions.iter().map(ToString::to_string).collect(),
        tokens: Some(tokens),
        percent: Some(percent),
        fallback: None,
        why: None,
    })
}

fn handoff(from: u32, kind: HandoffKind) -> Effect {
    Effect::Announce(Notice::HandoffDecided {
        from,
        from_agent: "claude".into(),
        to_agent: Some("claude".into()),
        kind,
        reason: "full".into(),
        checkpoint: Some("c1".into()),
        considered: vec![],
    })
}

fn filled(policy: &str, tokens: u64) -> View {
    let mut session = sample::session(1, Some(200_000), None);
    session.gauge.read(&Reading::exact(0, tokens, 0, 0));
    sample::view(policy, Some(session))
}

#[test]
fn a_run_that_starts_says_task_agent_policy_and_workdir() {
    let spec = Box::new(sample::spec("auto", "Fix it"));
    let lines =
        OuterStream::new("r1").take(&record(1, Event::RunStarted { spec }), &[], &sample::view("auto", None));
    assert_eq!(
        values(&lines),
        [json!({
            "type": "run.started", "run": "r1", "seq": 1, "at": "2026-01-31T12:00:01.000Z", "schema": 2,
            "task": "Fix it", "agent": "claude", "policy": "auto", "workdir": "/w",
        })]
    );
}

#[test]
fn a_session_is_announced_once_and_says_what_is_unknown() {
    let mut stream = OuterStream::new("r1");
    let view = sample::view("auto", Some(sample::session(1, None, None)));
    let lines = stream.take(&record(1, agent(1, ready())), &[], &view);
    let value = &values(&lines)[0];
    assert_eq!(value["session"], "s1");
    assert_eq!(value["reason"], "first");
    assert_eq!(value.get("window"), Some(&Value::Null));
    assert!(stream.take(&record(2, agent(1, ready())), &[], &view).is_empty());
}

#[test]
fn m2_usage_repeated_for_the_same_call_is_one_line() {
    let mut stream = OuterStream::new("r1");
    let view = filled("auto", 144_860);
    let first = values(&stream.take(&record(1, agent(1, usage())), &[], &view));
    assert_eq!(
        first,
        [json!({
            "type": "gauge.read", "run": "r1", "seq": 1, "at": "2026-01-31T12:00:01.000Z", "session": "s1",
            "call": 1, "final": true, "tokens": 144_860, "projected": 144_860, "window": 200_000,
            "ceiling": 200_000, "percent": 72.43, "source": "exact", "tools": 0, "forecast": null,
        })]
    );
    assert!(stream.take(&record(2, agent(1, usage())), &[], &view).is_empty());
}

#[test]
fn m6_a_side_call_is_no_line() {
    let side = AgentEvent::UsageRead(Reading { scope: Scope::Side, ..Reading::exact(9, 0, 0, 0) });
    let view = sample::view("auto", Some(sample::session(1, Some(200_000), None)));
    assert!(OuterStream::new("r1").take(&record(1, agent(1, side)), &[], &view).is_empty());
}

#[test]
fn m8_every_tool_result_is_a_new_projection() {
    let mut stream = OuterStream::new("r1");
    let mut view = filled("auto", 100_000);
    stream.take(&record(1, agent(1, usage())), &[], &view);
    view.session.as_mut().unwrap().gauge.add(32_000);
    let read = &values(&stream.take(&record(2, agent(1, tool_ended())), &[], &view))[0];
    assert_eq!([&read["final"], &read["call"], &read["tokens"]], [&json!(false), &json!(1), &json!(100_000)]);
    assert_eq!([&read["projected"], &read["percent"]], [&json!(110_000), &json!(55.0)]);
}

#[test]
fn what_an_earlier_session_says_late_is_not_told_as_the_present_one() {
    let view = sample::busy_view();
    assert!(OuterStream::new("r1").take(&record(1, agent(1, tool_ended())), &[], &view).is_empty());
}

#[test]
fn one_step_gives_its_own_line_then_the_notices_then_the_verdict() {
    let mut view = filled("auto", 180_000);
    view.past = Totals { tokens_in: Some(7), tokens_out: None, cost_musd: Some(3_210_000), unpriced: 0 };
    let effects = [
        Effect::Finish(Outcome::new(Verdict::Stopped, "too dear").because_of(Limit::Cost)),
        stage(1, "90%", &["warn"], 180_000, 9_000),
        Effect::Announce(Notice::LimitReached { limit: Limit::Cost, value: "$3".into() }),
        Effect::Announce(Notice::Warned { code: "w".into(), text: "careful".into() }),
    ];
    let lines = OuterStream::new("r1").take(&record(9, agent(1, usage())), &effects, &view);
    let names: Vec<&str> = lines.iter().map(|l| l.event.name()).collect();
    assert_eq!(names, ["gauge.read", "stage.reached", "limit.reached", "warning", "run.finished"]);
    assert_eq!(lines.iter().map(|l| l.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    let last = values(&lines).pop().unwrap();
    assert_eq!(last["tokens_in"], 7);
    assert_eq!(last.get("tokens_out"), Some(&Value::Null));
    assert_eq!(
        [&last["cost_usd"], &last["ms"], &last["exit_code"]],
        [&json!(3.21), &json!(9_000), &json!(4)]
    );
}

#[test]
fn a_checkpoint_names_the_stage_that_asked_for_it_and_the_fill() {
    let mut stream = OuterStream::new("r1");
    let asked = Asked { depth: Depth::Full, stage: Some("90%".into()), reason: "full".into() };
    let take = Effect::TakeCheckpoint {
        session: 1,
        asked,
        by: CheckpointBy::Agent,
        answer: None,
        commit: false,
        next: None,
        source: None,
    };
    let effects = [stage(1, "70%", &["warn"], 180_000, 9_000), take];
    stream.take(&record(1, agent(1, usage())), &effects, &filled("seamless", 181_000));
    let gone = sample::view("seamless", None);
    let taken = &values(&stream.take(&record(2, checkpoint(1)), &[], &gone))[0];
    assert_eq!(
        [&taken["stage"], &taken["percent"], &taken["by"]],
        [&json!("90%"), &json!(90.5), &json!("agent")]
    );
    assert_eq!(taken["claims"], json!({"confirmed": 5, "contradicted": 1, "unknown": 2}));
    let later = &values(&stream.take(&record(3, checkpoint(1)), &[], &gone))[0];
    assert_eq!(later["stage"], "70%");
}

#[test]
fn the_seamless_preset_counts_its_full_windows_and_not_other_restarts() {
    let mut stream = OuterStream::new("r1");
    let mut view = filled("seamless", 183_000);
    let mut text = |restarts| {
        view.restarts = restarts;
        let saved = Event::WorkSaved { work: WorkState::default() };
        values(&stream.take(&record(1, saved), &[handoff(1, HandoffKind::Restart)], &view))[0]["text"].clone()
    };
    assert_eq!(text(1), "context restart #1 at 91.5%");
    assert_eq!(text(1), Value::Null);
    assert_eq!(text(2), "context restart #2 at 91.5%");
    assert_eq!(text(0), Value::Null);
    assert_eq!(text(1), "context restart #3 at 91.5%");
}

#[test]
fn t9_the_staged_preset_gets_its_alert_with_what_remains() {
    let view = filled("staged", 181_000);
    let effects = [stage(1, "90%", &["warn", "checkpoint:brief"], 181_000, 9_050)];
    let reached =
        values(&OuterStream::new("42").take(&record(1, agent(1, usage())), &effects, &view)).pop().unwrap();
    assert_eq!(reached["text"], "[TOKEN ALERT] Task 42 at 90% capacity. Remaining: 19K tokens.");
    assert_eq!(reached.get("usage_pct"), None);
}

#[test]
fn the_loop_preset_speaks_of_usage_pct() {
    let view = filled("loop", 141_000);
    let effects = [stage(1, "70%", &["restart"], 141_000, 7_050), handoff(1, HandoffKind::Restart)];
    let lines = values(&OuterStream::new("r1").take(&record(1, agent(1, usage())), &effects, &view));
    assert_eq!(lines.iter().map(|l| &l["usage_pct"]).collect::<Vec<_>>(), [70.5, 70.5, 70.5]);
}

#[test]
fn a_session_that_is_gone_from_the_view_still_says_how_it_ended() {
    let ended = Notice::SessionEnded {
        session: 1,
        reason: EndReason::Overflow,
        exit: None,
        fill: Some(9),
        tokens_in: None,
        tokens_out: None,
        cost_musd: None,
        orphans: 0,
        reread: None,
    };
    let exited = Event::SessionExited { session: 1, exit: None, orphans: 0 };
    let lines = OuterStream::new("r1").take(
        &record(1, exited),
        &[Effect::Announce(ended)],
        &sample::view("auto", None),
    );
    let value = &values(&lines)[0];
    assert_eq!(
        [&value["type"], &value["reason"], &value["fill"]],
        [&json!("session.ended"), &json!("overflow"), &json!(9)]
    );
    assert_eq!(value.get("cost_usd"), Some(&Value::Null));
}

fn odd_text() -> impl Strategy<Value = String> {
    let nasty = prop::sample::select(vec![
        '\0', '\n', '\u{1b}', '"', '\\', '\u{7f}', '\u{9b}', '\u{2028}', '\u{202e}', '\u{fffd}', '🦀',
    ]);
    prop::collection::vec(prop_oneof![any::<char>(), nasty], 0..40)
        .prop_map(|chars| chars.into_iter().collect())
}

/// Steps that carry free text, each with what it would come with.
fn step(kind: u8, text: &str, n: u32) -> (Event, Vec<Effect>) {
    let gate = GateResultWith(text).into();
    match kind % 7 {
        0 => (Event::RunStarted { spec: Box::new(sample::spec("staged", text)) }, vec![]),
        1 => (agent(n, tool_ended()), vec![stage(n, text, &[text, "handoff"], u64::from(n), n)]),
        2 => (agent(n, ready()), vec![handoff(n, HandoffKind::Restart)]),
        3 => (
            Event::GateFinished(gate),
            vec![Effect::Finish(Outcome::new(Verdict::Failed, text).advise(text))],
        ),
        4 => (checkpoint(n), vec![Effect::Announce(Notice::Warned { code: text.into(), text: text.into() })]),
        5 => (
            Event::NoteLeft { text: text.into() },
            vec![Effect::Announce(Notice::LimitReached { limit: Limit::Stall, value: text.into() })],
        ),
        _ => (agent(n, usage()), vec![]),
    }
}

struct GateResultWith<'a>(&'a str);

impl From<GateResultWith<'_>> for segue_machine::GateResult {
    fn from(with: GateResultWith<'_>) -> Self {
        Self { gate: with.0.into(), output: Some(with.0.into()), ..sample::gate(false, GateWhen::After) }
    }
}

proptest! {
    #[test]
    fn e3_any_steps_with_odd_text_give_numbered_valid_lines_and_the_same_ones_again(
        steps in prop::collection::vec((any::<u8>(), odd_text(), 0..3_u32), 0..20),
    ) {
        let mut view = sample::busy_view();
        view.session.as_mut().unwrap().agent = steps.first().map(|s| s.1.clone()).unwrap_or_default();
        let run = || {
            let mut stream = OuterStream::new("r1");
            let all = steps.iter().zip(1..).flat_map(|((kind, text, n), seq)| {
                let (event, effects) = step(*kind, text, *n);
                stream.take(&record(seq, event), &effects, &view)
            });
            all.collect::<Vec<Line>>()
        };
        let lines = run();
        prop_assert_eq!(&lines, &run());
        for (line, seq) in lines.iter().zip(1..) {
            let json = to_json_line(line);
            prop_assert!(!json.chars().any(char::is_control), "{:?}", json);
            prop_assert_eq!(line.seq, seq);
            prop_assert_eq!(&serde_json::from_str::<Line>(&json).unwrap(), line);
        }
    }
}

#[test]
fn a_gauge_that_knows_nothing_says_null() {
    let view = sample::view("auto", Some(sample::session(1, None, None)));
    let read = &values(&OuterStream::new("r1").take(&record(1, agent(1, tool_ended())), &[], &view))[0];
    assert_eq!(read["source"], serde_json::to_value(Source::None).unwrap());
    assert_eq!([&read["tokens"], &read["percent"]], [&Value::Null, &Value::Null]);
}
