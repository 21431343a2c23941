//! The gauge of each CLI against the server's count after every model call, and what other figures would have said.
//!
//! The tables are kept in `docs/gauge.md`; `SEGUE_BLESS=1` writes them there.

use std::collections::BTreeMap;
use std::io::{Read, Seek, Write};

use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::answer::{Kind, Thread};
use segue_rehearsal::model_server::script::{PersonaOptions, StepHabit};

use crate::compare::{Compared, error, percent};
use crate::inside::{inside, say};
use crate::rivals::{self, Rival};
use crate::support::{Done, World};

/// Two tools at a time, some with large outputs, one or two done by a sub-agent, and a model that talks now and then.
fn lively(output_chars: u64, large: u64, subagents: &[u32]) -> PersonaOptions {
    let habit = |n: u32| StepHabit {
        output_chars: if n.is_multiple_of(9) { large } else { output_chars + u64::from(n % 5) * 300 },
        say_chars: if n.is_multiple_of(7) { 4_000 } else { 0 },
        subagent: subagents.contains(&n),
        ..StepHabit::default()
    };
    let steps: BTreeMap<u32, StepHabit> = (1..=80).map(|n| (n, habit(n))).collect();
    PersonaOptions { parallel: 2, steps, ..PersonaOptions::default() }
}

#[test]
fn gauge_of_claude_is_true_at_every_call_with_large_outputs_parallel_tools_sub_agents_and_a_compaction() {
    inside(120, || {
        let persona = lively(4_000, 28_000, &[5, 41]);
        let world = World::new(70, ServerScript { window: 100_000, persona, ..ServerScript::default() });
        let run = world.run("claude", &["--policy", "native"]);
        run.ends("verified", 0);
        world.assert_done_once(&run);
        assert!(!run.warnings("compacted").is_empty(), "it never compacted\n{}", run.all());
        let truth = world.truth();
        assert!(truth.iter().any(|line| line.kind == Kind::Compact));
        assert!(
            truth.iter().any(|line| line.thread == Thread::Side && line.kind == Kind::Work),
            "no sub-agent"
        );
        report("claude", &world, &run);
    });
}

#[test]
fn gauge_of_codex_is_true_at_every_call_with_large_outputs_and_parallel_tools() {
    inside(120, || {
        let persona = lively(4_000, 28_000, &[]);
        let world = World::new(70, ServerScript { window: 100_000, persona, ..ServerScript::default() });
        let run = world.run("codex", &[]);
        run.ends("verified", 0);
        world.assert_done_once(&run);
        report("codex", &world, &run);
    });
}

#[test]
fn gauge_of_gemini_is_true_at_every_call_with_large_outputs_and_parallel_tools() {
    inside(300, || {
        let mut persona = lively(4_000, 28_000, &[]);
        // Gemini CLI takes an answer that repeats itself for a loop and ends the turn.
        persona.steps.values_mut().for_each(|habit| habit.say_chars = 0);
        let script = ServerScript { window: 100_000, persona, ..ServerScript::default() };
        let world = World::of(&[("gemini", 100_000)], 70, script);
        let run = world.run("gemini", &[]);
        run.ends("verified", 0);
        world.assert_done_once(&run);
        report("gemini", &world, &run);
    });
}

#[test]
fn gauge_of_opencode_is_true_at_every_call_with_large_outputs_and_parallel_tools() {
    inside(400, || {
        let persona = lively(4_000, 28_000, &[]);
        let script = ServerScript { window: 100_000, persona, ..ServerScript::default() };
        let world = World::of(&[("opencode", 100_000)], 70, script);
        let run = world.run("opencode", &[]);
        run.ends("verified", 0);
        world.assert_done_once(&run);
        report("opencode", &world, &run);
    });
}

#[track_caller]
fn report(agent: &str, world: &World, run: &Done) {
    let compared = Compared::new(world, run);
    assert!(compared.calls.len() >= 30, "only {} calls", compared.calls.len());
    assert!(compared.calls.iter().any(|c| c.truth.calls.len() > 1), "no parallel tools");
    let summary = compared.assert_true(run);
    let table = table(agent, world, run, &compared);
    say(&format!("gauge of {agent}: {summary}\n{table}"));
    if std::env::var_os("SEGUE_BLESS").is_some() {
        keep(agent, &format!("{summary}.\n\n{table}"));
    }
}

fn table(agent: &str, world: &World, run: &Done, compared: &Compared) -> String {
    let mut rows = String::from(
        "| session | call | truth | segue | projected before the call | agent's own totals | sum over calls | chars/4 of the stream |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let mut worst = [0.0_f64; 4];
    for session in 1..=run.of("session.started").len() {
        let calls: Vec<_> = compared.calls.iter().filter(|c| c.session == session).collect();
        let tokens: Vec<u64> = calls.iter().map(|call| call.reading).collect();
        let rivals = rivals::of(agent, &world.kept_output(&run.run_id(), session), &tokens);
        assert_eq!(calls.len(), rivals.len(), "s{session}: every call was read by both");
        for (i, (call, rival)) in calls.iter().zip(&rivals).enumerate() {
            let truth = call.truth.occupancy;
            let Rival { total, sum, seen } = *rival;
            let errors = [Some(call.reading), total, Some(sum), seen];
            for (worst, said) in worst.iter_mut().zip(errors) {
                *worst = worst.max(said.map_or(0.0, |said| error(said, truth)));
            }
            if i % 4 != 0 && i + 1 != calls.len() {
                continue;
            }
            let said = |said: Option<u64>, truth: u64| {
                said.map_or_else(|| "–".to_owned(), |said| format!("{said} ({})", off(said, truth)))
            };
            rows += &format!(
                "| {session} | {} | {truth} | {} | {} | {} | {} | {} |\n",
                call.call,
                said(Some(call.reading), truth),
                said(call.projected, call.truth.input_tokens),
                said(total, truth),
                said(Some(sum), truth),
                said(seen, truth),
            );
        }
    }
    let [segue, total, sum, seen] = worst.map(percent);
    rows + &format!("| | worst of all | | {segue} | | {total} | {sum} | {seen} |\n")
}

fn off(said: u64, truth: u64) -> String {
    let sign = if said < truth { "−" } else { "+" };
    format!("{sign}{}", percent(error(said, truth)))
}

// Between the agent's two marks in the document; both tests may be at it at once.
fn keep(agent: &str, text: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/gauge.md");
    let mut file = std::fs::File::options().read(true).write(true).open(path).unwrap();
    file.lock().unwrap();
    let mut page = String::new();
    file.read_to_string(&mut page).unwrap();
    let (before, rest) = page.split_once(&format!("<!-- {agent} -->\n")).unwrap();
    let (_, after) = rest.split_once(&format!("<!-- end of {agent} -->\n")).unwrap();
    let page = format!("{before}<!-- {agent} -->\n{text}<!-- end of {agent} -->\n{after}");
    file.rewind().unwrap();
    file.set_len(0).unwrap();
    file.write_all(page.as_bytes()).unwrap();
}
