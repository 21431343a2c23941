//! Thirty steps in a window that holds about eight.

use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::script::{PersonaOptions, StepHabit};

use crate::compare::Compared;
use crate::inside::{inside, say};
use crate::support::{Done, World};

fn steps_of(window: u64, output_chars: u64) -> ServerScript {
    let every = StepHabit { output_chars, ..StepHabit::default() };
    ServerScript {
        window,
        persona: PersonaOptions { every, ..PersonaOptions::default() },
        ..ServerScript::default()
    }
}

#[track_caller]
fn assert_finished(name: &str, world: &World, run: &Done) {
    run.ends("verified", 0);
    world.assert_done_once(run);
    assert_eq!(world.steps().distinct_done().len(), 30);
    assert_eq!(world.overflow_answers(), 0, "{}", run.all());
    assert_eq!(run.finished()["overflows"], 0, "{}", run.all());
    let sessions = run.of("session.started").len();
    assert!(sessions >= 3, "the window is too large for this test: {sessions} sessions");
    let untold = world.openings().iter().filter(|opening| !opening.prompt.contains("step.sh")).count();
    assert_eq!(untold, 0, "a session was not told the task\n{}", run.all());
    let gauge = Compared::new(world, run).assert_true(run);
    let peak = world.truth().iter().map(|line| line.input_tokens).max().unwrap();
    say(&format!(
        "30 steps, {name}: {sessions} sessions, {} of {} checkpoints by the agent, {:.1} s, peak {peak}; {gauge}",
        asked(run),
        run.of("checkpoint.taken").len(),
        run.took.as_secs_f64()
    ));
}

/// How many checkpoints the agents wrote themselves.
fn asked(run: &Done) -> usize {
    run.of("checkpoint.taken").iter().filter(|line| line["by"] == "agent").count()
}

#[test]
fn thirty_steps_with_claude_in_a_window_that_holds_eight() {
    inside(90, || {
        let world = World::new(30, steps_of(60_000, 12_000));
        let run = world.run("claude", &[]);
        assert_finished("claude", &world, &run);
    });
}

#[test]
fn thirty_steps_with_codex_in_a_window_that_holds_eight() {
    inside(90, || {
        let world = World::new(30, steps_of(40_000, 9_500));
        let run = world.run("codex", &["--context-threshold", "75"]);
        assert_finished("codex", &world, &run);
        assert!(asked(&run) >= 3, "the agent was not asked\n{}", run.all());
    });
}

#[test]
fn thirty_steps_that_start_with_claude_and_end_with_codex() {
    inside(90, || {
        let mut world = World::new(30, steps_of(60_000, 9_500));
        world.codex_config(34_000, "");
        world.set_env("CLAUDE_CODE_MAX_CONTEXT_TOKENS", "60000");
        world.configure("agents = [\"claude\", \"codex\"]\n[[stage]]\nat = \"80%\"\ndo = [\"checkpoint:full\", \"handoff\"]\n");
        world.commit();
        let run = world.segue(&["run", "TASK.md", "--json", "--permissions", "bypass"]);
        assert_finished("claude, then codex", &world, &run);
        let agents: Vec<_> = run.of("session.started").iter().map(|s| s["agent"].clone()).collect();
        assert_eq!((&agents[0], agents.last().unwrap()), (&"claude".into(), &"codex".into()));
        assert!(run.of("handoff.decided").iter().any(|h| h["kind"] == "fallback"), "{}", run.all());
    });
}

#[test]
fn thirty_steps_with_gemini_in_a_window_that_holds_eight() {
    inside(240, || {
        let world = World::of(&[("gemini", 32_000)], 30, steps_of(32_000, 9_500));
        let run = world.run("gemini", &["--context-threshold", "65"]);
        assert_finished("gemini", &world, &run);
        assert!(asked(&run) >= 2, "the agent was not asked\n{}", run.all());
    });
}

#[test]
fn thirty_steps_with_opencode_in_a_window_that_holds_eight() {
    inside(400, || {
        let world = World::of(&[("opencode", 36_000)], 30, steps_of(36_000, 9_500));
        let run = world.run("opencode", &["--context-threshold", "75"]);
        assert_finished("opencode", &world, &run);
        assert!(asked(&run) >= 2, "the agent was not asked\n{}", run.all());
    });
}

#[test]
fn thirty_steps_of_three_agents_gemini_then_opencode_then_claude() {
    inside(400, || {
        let agents = [("gemini", 32_000), ("opencode", 32_000), ("claude", 120_000)];
        let world = World::of(&agents, 30, steps_of(120_000, 9_500));
        world.configure(
            "agents = [\"gemini\", \"opencode\", \"claude\"]\n[[stage]]\nat = \"75%\"\n\
             do = [\"checkpoint:full\", \"choose-fallback\", \"handoff\"]\n",
        );
        world.commit();
        let run = world.segue(&["run", "TASK.md", "--json", "--permissions", "bypass"]);
        assert_finished("gemini, then opencode, then claude", &world, &run);
        let agents: Vec<_> = run.of("session.started").iter().map(|s| s["agent"].clone()).collect();
        assert_eq!(agents, ["gemini", "opencode", "claude"], "{}", run.all());
        let handoffs = run.of("handoff.decided");
        assert!(handoffs.iter().all(|h| h["kind"] == "fallback"), "{}", run.all());
        let steps = |session: usize| world.kept_output(&run.run_id(), session).contains("sh step.sh");
        assert!((1..=3).all(steps), "one of them did nothing\n{}", run.all());
    });
}
