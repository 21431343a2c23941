//! Agents that segue knows nothing about but the protocol: a job of ten steps in a window that is too small for it, with
//! the gauge's source told as it is.

use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::script::{PersonaOptions, StepHabit};
use serde_json::Value;

use crate::compare::Compared;
use crate::inside::{inside, say};
use crate::support::{Done, World, until};

// A model takes its time, also here: without it a turn could hardly be stopped between two tools.
fn ten_steps(window: u64, output_chars: u64) -> ServerScript {
    let every = StepHabit { output_chars, ..StepHabit::default() };
    let persona = PersonaOptions { every, ..PersonaOptions::default() };
    ServerScript { window, persona, latency_ms: 1_000, ..ServerScript::default() }
}

#[track_caller]
fn assert_finished(agent: &str, source: &str, later: &str, world: &World, run: &Done) {
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
    assert!(known.iter().all(|line| [source, later].contains(&line["source"].as_str().unwrap())));
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
fn ten_steps_with_qwen_whose_gauge_is_the_usage_beside_its_words() {
    inside(400, || {
        let world = World::of(&[("qwen", 30_000)], 10, ten_steps(30_000, 9_500));
        let run = world.run("qwen", &["--context-threshold", "78"]);
        assert_finished("qwen", "exact", "estimated", &world, &run);
        assert!(run.warnings("agent_failed").is_empty(), "a cancel was taken for a failure\n{}", run.all());
        let gauge = Compared::new(&world, &run).assert_true(&run);
        say(&format!("gauge of qwen: {gauge}"));
    });
}

#[test]
fn ten_steps_with_codex_acp_whose_gauge_is_its_own_report() {
    inside(400, || {
        let world = World::of(&[("codex-acp", 30_000)], 10, ten_steps(30_000, 9_500));
        let run = world.run("codex-acp", &["--context-threshold", "80"]);
        assert_finished("codex-acp", "reported", "estimated", &world, &run);
        let gauge = Compared::new(&world, &run).assert_true(&run);
        say(&format!("gauge of codex-acp: {gauge}"));
    });
}

#[test]
fn ten_steps_with_an_agent_that_tells_its_usage_too_late_are_done_on_an_estimate() {
    inside(400, || {
        let mut world = World::of(&[("opencode", 60_000)], 10, ten_steps(60_000, 9_500));
        // OpenCode's own ACP tells what it used when a prompt is over, and not before.
        for (name, value) in world.recipe("opencode", 60_000).env {
            world.set_env(&name, value);
        }
        world.configure("[agent.mine]\nkind = \"acp\"\ncommand = [\"opencode\", \"acp\"]\nwindow = 60000\n");
        let args = ["run", "TASK.md", "--json", "--agent", "mine", "--permissions", "bypass"];
        let running = world.launch(&args);
        until(|| world.steps().distinct_done().len() >= 5);
        let status = world.segue(&["status", "--json"]).lines().remove(0);
        let run = running.wait();
        assert_eq!(status["session"]["source"], "estimated", "{status}");
        assert_finished("opencode acp", "estimated", "reported", &world, &run);
        assert!(!run.warnings("usage_missing").is_empty(), "{}", run.all());
        let lower = run.of("gauge.read").iter().any(|l| l["ceiling"] == 48_000 && l["window"] == 60_000);
        assert!(lower, "the line was not drawn lower\n{}", run.all());
    });
}

#[test]
fn ten_slow_steps_with_codex_acp_are_each_run_once_and_none_is_cut_short() {
    inside(400, || {
        // A model that answers at once: the next tool begins about when the stage is reached.
        let every = StepHabit { output_chars: 9_500, sleep_ms: 3_000, ..StepHabit::default() };
        let persona = PersonaOptions { every, ..PersonaOptions::default() };
        let script = ServerScript { window: 30_000, persona, ..ServerScript::default() };
        let world = World::of(&[("codex-acp", 30_000)], 10, script);
        let run = world.run("codex-acp", &["--context-threshold", "60"]);
        assert_finished("codex-acp, 3 s each", "reported", "estimated", &world, &run);
        let taken = run.of("checkpoint.taken");
        assert!(taken.iter().any(|line| line["by"] == "agent"), "{}", run.all());
    });
}

#[test]
fn codex_acp_goes_on_in_the_same_conversation_after_a_checkpoint_in_the_middle_of_a_turn() {
    inside(240, || {
        let world = World::of(&[("codex-acp", 60_000)], 8, ten_steps(60_000, 3_000));
        world.configure("[[stage]]\nat = \"22%\"\ndo = [\"checkpoint:full\"]\n");
        let run = world.run("codex-acp", &[]);
        run.ends("verified", 0);
        world.assert_done_once(&run);
        assert_eq!(run.of("session.started").len(), 1, "{}", run.all());
        let taken = run.of("checkpoint.taken");
        assert!(taken.iter().any(|line| line["by"] == "agent"), "{}", run.all());
        say(&format!(
            "codex-acp: {} checkpoints in one session, {:.1} s",
            taken.len(),
            run.took.as_secs_f64()
        ));
    });
}
