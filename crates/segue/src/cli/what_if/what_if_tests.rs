//! A session from its readings, under two policies.

use segue_machine::policy::preset;
use segue_machine::{AgentEvent, AgentSpec, Capabilities, Reading, Record, RunSpec};

use super::*;

fn spec(policy: &str) -> RunSpec {
    let agent = AgentSpec {
        name: "a".to_owned(),
        model: None,
        window: Some(100_000),
        budget: None,
        allow: Vec::new(),
        account: None,
        edits: false,
    };
    RunSpec {
        workdir: "/w".to_owned(),
        ..RunSpec::new("do it", vec![agent], preset::find(policy).unwrap().policy)
    }
}

/// A run whose agent reads these percentages, one call each, as the machine records it.
fn recorded(policy: &str, percents: &[u64]) -> Vec<Past> {
    let can = Capabilities { ask: true, follow_up: true, usage: true, ..Capabilities::default() };
    let ready = AgentEvent::Ready {
        conversation: "c".to_owned(),
        model: None,
        window: Some(100_000),
        ceiling: None,
        can,
    };
    let mut events = vec![
        Event::RunStarted { spec: Box::new(spec(policy)) },
        Event::Agent { session: 1, event: ready },
        Event::PromptSent { session: 1, chars: 100 },
    ];
    for (n, percent) in percents.iter().enumerate() {
        let (tool, title) = (format!("t{n}"), "work".to_owned());
        let reading = Reading { call: Some(n.to_string()), ..Reading::exact(percent * 1_000, 0, 0, 0) };
        events.push(Event::Agent { session: 1, event: AgentEvent::UsageRead(reading) });
        events.push(Event::Agent {
            session: 1,
            event: AgentEvent::ToolStarted { tool: tool.clone(), title: title.clone() },
        });
        events.push(Event::Agent {
            session: 1,
            event: AgentEvent::ToolEnded { tool, title, ok: true, chars: 9 },
        });
    }
    let mut machine = Run::default();
    let steps = events.into_iter().zip(1..).map(|(event, seq)| {
        let record = Record { seq, at: seq * 1_000, event };
        let decided = machine.handle(&record);
        Past { record, decided }
    });
    steps.collect()
}

fn places(decisions: &[Decision]) -> Vec<(String, u32)> {
    decisions.iter().map(|decision| (decision.text.clone(), decision.call)).collect()
}

#[test]
fn an_earlier_line_hands_over_earlier_and_nothing_is_said_after_that() {
    let past = recorded("observe", &[20, 38, 55, 65, 72, 85, 91, 95]);
    let sessions = compare(&past, &Contender::new("loop", None).unwrap());
    assert_eq!(sessions.len(), 1);
    assert_eq!(
        places(&sessions[0].recorded),
        [("stage 70%: warn, tell".to_owned(), 5), ("stage 90%: warn, tell".to_owned(), 7)]
    );
    assert_eq!(
        places(&sessions[0].other),
        [
            ("stage 70%: checkpoint:brief, restart".to_owned(), 5),
            ("checkpoint (brief) by the agent".to_owned(), 5),
            ("handoff (restart) to a".to_owned(), 5),
        ]
    );
    assert!(sessions[0].parted);
}

#[test]
fn a_policy_with_several_stages_goes_on_after_each_dump() {
    let past = recorded("observe", &[65, 82, 91, 96, 99]);
    let sessions = compare(&past, &Contender::new("staged", None).unwrap());
    let texts: Vec<String> = sessions[0].other.iter().map(|decision| decision.text.clone()).collect();
    let dumps = texts.iter().filter(|text| text.ends_with("by the agent, then on")).count();
    assert_eq!(dumps, 2, "{texts:?}");
    assert_eq!(texts.last().map(String::as_str), Some("handoff (forced) to a"), "{texts:?}");
    assert_eq!(sessions[0].other.last().map(|decision| decision.call), Some(5));
}

#[test]
fn two_that_never_replace_part_only_in_what_the_agent_is_told() {
    let sessions = compare(&recorded("native", &[60, 75, 91]), &Contender::new("observe", None).unwrap());
    let without_tell = |decisions: &[Decision]| {
        let texts = decisions.iter().map(|decision| decision.text.replace(", tell", ""));
        texts.collect::<Vec<_>>()
    };
    assert_eq!(without_tell(&sessions[0].recorded), without_tell(&sessions[0].other));
    let same = compare(&recorded("native", &[60, 75, 91]), &Contender::new("native", None).unwrap());
    assert!(!same[0].parted);
    assert_eq!(places(&same[0].recorded), places(&same[0].other));
}

#[test]
fn a_session_that_begins_above_the_line_would_have_ended_the_run() {
    let past = recorded("observe", &[75, 95]);
    let sessions = compare(&past, &Contender::new("loop", None).unwrap());
    let last = sessions[0].other.last().unwrap();
    assert_eq!((last.what, last.call), (decision::What::Stop, 1), "{:?}", sessions[0].other);
}
