//! Agents that segue knows nothing about but the protocol: a job of ten steps in a window that is too small for it, with
//! the gauge's source told as it is.

use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::script::{PersonaOptions, StepHabit};
use serde_json::Value;

use crate::inside::{inside, say};
use crate::support::{Done, World};

// A model takes its time, also here: without it a turn could hardly be stopped between two tools.
fn ten_steps(window: u64, output_chars: u64) -> ServerScript {
    let every = StepHabit { output_chars, ..StepHabit::default() };
    let persona = PersonaOptions { every, ..PersonaOptions::default() };
    ServerScript { window, persona, latency_ms: 1_000, ..ServerScript::default() }
}

#[track_caller]
fn assert_finished(agent: &str, source: &str, world: &World, run: &Done) {
    run.ends("verified", 0);
    world.assert_done_once(run);
    assert_eq!(world.steps().distinct_done().len(), 10);
    assert_eq!(world.overflow_answers(), 0, "{}", run.all());
    let sessions = run.of("session.started").len();
    assert!(sessions >= 2, "the window is too large for this test\n{}", run.all());
    let readings = run.of("gauge.read");
    assert!(!readings.is_empty(), "{}", run.all());
    let known: Vec<&Value> = readings.iter().filter(|line| line["source"] != "none").collect();
    assert!(known.iter().any(|line| line["source"] == source), "{readings:#?}");
    assert!(known.iter().all(|line| line["source"] == source || line["source"] == "estimated"));
    let far = readings.iter().filter_map(|line| line["percent"].as_f64()).fold(0.0, f64::max);
    let peak = world.truth().iter().map(|line| line.input_tokens).max().unwrap();
    let by_agent = run.of("checkpoint.taken").iter().filter(|line| line["by"] == "agent").count();
    say(&format!(
        "10 steps, {agent}: {sessions} sessions, {by_agent} of {} checkpoints by the agent, gauge {source}, highest \
         {far:.0} %, largest request {peak}, {:.1} s",
        run.of("checkpoint.taken").len(),
        run.took.as_secs_f64()
    ));
}

#[test]
fn ten_steps_with_qwen_whose_gauge_is_an_estimate() {
    inside(300, || {
        let world = World::of(&[("qwen", 40_000)], 10, ten_steps(40_000, 9_500));
        let run = world.run("qwen", &[]);
        assert_finished("qwen", "estimated", &world, &run);
        assert!(!run.warnings("usage_missing").is_empty(), "{}", run.all());
    });
}

#[test]
fn ten_steps_with_codex_acp_whose_gauge_is_its_own_report() {
    inside(300, || {
        let world = World::of(&[("codex-acp", 24_000)], 10, ten_steps(24_000, 9_500));
        let run = world.run("codex-acp", &[]);
        assert_finished("codex-acp", "reported", &world, &run);
    });
}
