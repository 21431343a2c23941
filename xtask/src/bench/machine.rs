//! The pure part: what one event costs from its bytes to a decision.

use std::hint::black_box;
use std::time::Instant;

use segue_agents::acp::Acp;
use segue_agents::{Act, Adapter, Io};
use segue_machine::policy::preset;
use segue_machine::{AgentEvent, AgentSpec, Event, Reading, Record, Run, RunSpec};

use super::Row;

const EVENTS: u64 = 200_000;

pub(super) fn rows() -> Vec<Row> {
    let (whole, parse) = (decode_and_decide(), parse_only());
    let (check, map) = (threshold_check(), map_look_up());
    vec![
        Row {
            what: "decode + gauge + policy, per line of an agent",
            figure: format!("{whole:.2} µs"),
            beside: format!("reading the same line as JSON: {parse:.2} µs ({:.1} times)", whole / parse),
            bar: "–",
        },
        Row {
            what: "threshold check, per reading",
            figure: format!("{check:.3} µs"),
            beside: format!("a look-up in a map of 100: {map:.3} µs ({:.1} times)", check / map),
            bar: "< 10 µs",
        },
    ]
}

fn lines() -> Vec<String> {
    let usage = |n: u64| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"c1","update":{{"sessionUpdate":"usage_update","used":{},"size":1000000}}}}}}"#,
            10_000 + n % 500
        )
    };
    let tool = |n: u64, status: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"c1","update":{{"sessionUpdate":"tool_call_update","toolCallId":"t{n}","title":"cargo test","status":"{status}","content":[{{"type":"content","content":{{"type":"text","text":"test result: ok. 12 passed"}}}}]}}}}}}"#
        )
    };
    (0..1_000).flat_map(|n| [tool(n, "in_progress"), tool(n, "completed"), usage(n)]).collect()
}

fn started() -> (Run, Acp) {
    let (mut run, mut acp, mut io) = (Run::default(), Acp::new("/w", None), Io::default());
    run.handle(&Record { seq: 1, at: 0, event: Event::RunStarted { spec: Box::new(spec()) } });
    acp.open(&mut io);
    acp.line(br#"{"id":1,"result":{"protocolVersion":1}}"#, &mut io);
    acp.line(br#"{"id":2,"result":{"sessionId":"c1"}}"#, &mut io);
    acp.act(Act::Prompt("go".to_owned()), &mut io);
    for event in io.events {
        run.handle(&Record { seq: 2, at: 0, event: Event::Agent { session: 1, event } });
    }
    run.handle(&Record { seq: 3, at: 0, event: Event::PromptSent { session: 1, chars: 100 } });
    (run, acp)
}

fn decode_and_decide() -> f64 {
    let (mut run, mut acp) = started();
    let lines = lines();
    let mut seq = 3;
    per_event(|| {
        for line in &lines {
            let mut io = Io::default();
            acp.line(line.as_bytes(), &mut io);
            for event in io.events {
                seq += 1;
                black_box(run.handle(&Record { seq, at: seq, event: Event::Agent { session: 1, event } }));
            }
        }
        lines.len() as u64
    })
}

fn parse_only() -> f64 {
    let lines = lines();
    per_event(|| {
        for line in &lines {
            black_box(serde_json::from_str::<serde_json::Value>(line).ok());
        }
        lines.len() as u64
    })
}

fn threshold_check() -> f64 {
    let (mut run, _) = started();
    let mut seq = 3;
    per_event(|| {
        for n in 0..1_000_u64 {
            seq += 1;
            let reading = Reading::reported(10_000 + n, Some(1_000_000));
            let event = Event::Agent { session: 1, event: AgentEvent::UsageRead(reading) };
            black_box(run.handle(&Record { seq, at: seq, event }));
        }
        1_000
    })
}

fn map_look_up() -> f64 {
    let map: std::collections::BTreeMap<String, u64> = (0..100).map(|n| (format!("key {n}"), n)).collect();
    let keys: Vec<&String> = map.keys().collect();
    per_event(|| {
        for key in &keys {
            black_box(map.get(*key));
        }
        keys.len() as u64
    })
}

// Microseconds per event, over at least `EVENTS` of them.
fn per_event(mut round: impl FnMut() -> u64) -> f64 {
    round();
    let (began, mut events) = (Instant::now(), 0);
    while events < EVENTS {
        events += round();
    }
    #[expect(clippy::cast_precision_loss, reason = "a count of events is far below 2^52")]
    let events = events as f64;
    began.elapsed().as_secs_f64() * 1e6 / events
}

fn spec() -> RunSpec {
    let policy =
        preset::find("staged").map(|p| p.policy).unwrap_or_else(|| unreachable!("a preset of our own"));
    let agent = AgentSpec { name: "a".to_owned(), ..AgentSpec::default() };
    RunSpec { workdir: "/w".to_owned(), ..RunSpec::new("bench", vec![agent], policy) }
}
