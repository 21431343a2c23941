//! The stream and the terminal beside the real machine: one run over two windows.

use segue_machine::{
    AgentEvent, Capabilities, CheckpointBy, Claims, Depth, Event, GateWhen, Reading, Record, Run, TurnEnd,
    WorkState,
};

use crate::{Line, Outer, OuterStream, Style, Terminal, sample};

fn agent(session: u32, event: AgentEvent) -> Event {
    Event::Agent { session, event }
}

fn ready(session: u32) -> Event {
    let can = Capabilities {
        ask: true,
        follow_up: true,
        usage: true,
        brake: false,
        tell: false,
        side: false,
        resume: false,
    };
    let (model, window) = (Some("opus".into()), Some(200_000));
    agent(
        session,
        AgentEvent::Ready { conversation: format!("c{session}"), model, window, ceiling: None, can },
    )
}

fn usage(session: u32, call: &str, tokens: u64) -> Event {
    let reading = Reading { call: Some(call.into()), ..Reading::exact(0, tokens, 0, 100) };
    agent(session, AgentEvent::UsageRead(reading))
}

fn work(tree: &str) -> WorkState {
    WorkState { tree: Some(tree.into()), changed: 1, ..WorkState::default() }
}

fn story() -> Vec<Event> {
    let checkpoint = Event::CheckpointTaken {
        checkpoint: "c1".into(),
        session: 1,
        by: CheckpointBy::Agent,
        depth: Depth::Full,
        path: ".segue/c1.md".into(),
        claims: Claims::default(),
        work: work("t1"),
        ms: 9,
        judged: Vec::new(),
        source: None,
    };
    vec![
        Event::RunStarted { spec: Box::new(sample::spec("seamless", "Fix it")) },
        Event::GateFinished(sample::gate(false, GateWhen::Before)),
        Event::SessionSpawned { session: 1, pid: 1, pid_start: 1 },
        ready(1),
        Event::PromptSent { session: 1, chars: 100 },
        usage(1, "a", 150_000),
        usage(1, "a", 150_000),
        usage(1, "b", 181_000),
        agent(1, AgentEvent::Answered { text: "<checkpoint>all</checkpoint>".into() }),
        checkpoint,
        Event::SessionExited { session: 1, exit: Some(0), orphans: 0 },
        ready(2),
        Event::PromptSent { session: 2, chars: 100 },
        usage(2, "c", 20_000),
        agent(2, AgentEvent::TurnEnded(TurnEnd::Finished { text: "done".into() })),
        Event::GateFinished(sample::gate(true, GateWhen::After)),
        Event::WordsJudged { session: 2, judged: Vec::new(), tree: None, trouble: None },
        Event::WorkSaved { work: work("t2") },
        Event::SessionExited { session: 2, exit: Some(0), orphans: 0 },
        Event::WorkSaved { work: work("t2") },
    ]
}

fn told() -> (Vec<Line>, Vec<String>) {
    let (mut run, mut stream) = (Run::default(), OuterStream::new("r1"));
    let terminal = Terminal::new(Style { color: false, width: 100, live: true, ascii: false });
    let (mut lines, mut screen) = (Vec::new(), Vec::new());
    for (event, seq) in story().into_iter().zip(1..) {
        let record = Record { seq, at: sample::START + seq * 1_000, event };
        let effects = run.handle(&record);
        let step = stream.take(&record, &effects, run.view());
        screen.extend(terminal.take(&step, run.view()).lines);
        lines.extend(step);
    }
    (lines, screen)
}

#[test]
fn t1_two_windows_are_told_in_order_and_once() {
    let (lines, screen) = told();
    let names: Vec<&str> = lines.iter().map(|line| line.event.name()).collect();
    let expected = [
        "run.started",
        "gate.finished",
        "session.started",
        "gauge.read",
        "gauge.read",
        "stage.reached",
        "checkpoint.requested",
        "checkpoint.taken",
        "handoff.decided",
        "session.ended",
        "session.started",
        "gauge.read",
        "gate.finished",
        "session.ended",
        "run.finished",
    ];
    assert_eq!(names, expected, "{screen:#?}");
    assert!(lines.iter().zip(1..).all(|(line, seq)| line.seq == seq));
    let Outer::HandoffDecided(decided) = &lines[8].event else { panic!("the ninth line is the handoff") };
    assert_eq!(decided.text.as_deref(), Some("context restart #1 at 90.55%"));
    assert!(screen.iter().any(|line| line.starts_with("verified: ")), "{screen:#?}");
}

#[test]
fn a_replay_tells_the_same() {
    assert_eq!(told(), told());
}
