//! One turn whose results together pass the ceiling at once.

use std::collections::BTreeMap;

use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::script::{PersonaOptions, StepHabit};

use crate::inside::{inside, say};
use crate::support::{Done, World};

/// So many steps at a time; from `first` on each prints `large` characters.
fn jumping(window: u64, parallel: u32, first: u32, large: u64) -> ServerScript {
    let habit = StepHabit { output_chars: large, ..StepHabit::default() };
    let steps: BTreeMap<u32, StepHabit> = (first..first + parallel).map(|n| (n, habit)).collect();
    let persona = PersonaOptions { parallel, steps, ..PersonaOptions::default() };
    ServerScript { window, persona, ..ServerScript::default() }
}

fn summary(name: &str, world: &World, run: &Done) {
    let peak = world.truth().iter().filter(|line| line.is_reading()).map(|line| line.input_tokens).max();
    say(&format!(
        "jump of {name}: {} sessions, {} overflow answers, largest answered request {}, nothing lost or twice, {:.1} s",
        run.of("session.started").len(),
        world.overflow_answers(),
        peak.unwrap(),
        run.took.as_secs_f64()
    ));
}

#[test]
fn jump_of_claude_past_the_ceiling_is_caught_by_the_brake() {
    inside(90, || {
        let world = World::new(24, jumping(60_000, 8, 9, 28_000));
        let run = world.run("claude", &[]);
        run.ends("verified", 0);
        world.assert_done_once(&run);
        assert_eq!((world.overflow_answers(), &run.finished()["overflows"]), (0, &0.into()), "{}", run.all());
        assert!(run.of("session.started").len() >= 2, "{}", run.all());
        let stopped = world.kept_output(&run.run_id(), 1).contains("hook_stopped");
        assert!(stopped, "the brake did not stop it\n{}", run.all());
        summary("claude", &world, &run);
    });
}

#[test]
fn jump_of_codex_past_its_window_is_recovered_in_a_fresh_session() {
    inside(90, || {
        let world = World::new(26, jumping(34_000, 13, 1, 9_500));
        // Codex believes in more than there is, and so meets the server's own answer.
        world.codex_config(200_000, "");
        let run = world.run("codex", &[]);
        run.ends("verified", 0);
        world.assert_done_once(&run);
        assert!(world.overflow_answers() >= 1, "there was no overflow\n{}", run.all());
        assert!(run.of("session.ended").iter().any(|s| s["reason"] == "overflow"), "{}", run.all());
        summary("codex, past the server's window", &world, &run);
    });
}

#[test]
fn jump_of_gemini_past_the_ceiling_is_caught_by_the_brake() {
    inside(240, || {
        let world = World::of(&[("gemini", 45_000)], 24, jumping(45_000, 8, 9, 28_000));
        let run = world.run("gemini", &[]);
        run.ends("verified", 0);
        world.assert_done_once(&run);
        assert_eq!((world.overflow_answers(), &run.finished()["overflows"]), (0, &0.into()), "{}", run.all());
        assert!(run.of("session.started").len() >= 2, "{}", run.all());
        let past = run.of("gauge.read").iter().any(|line| line["percent"].as_f64() > Some(100.0));
        assert!(past, "nothing passed the ceiling\n{}", run.all());
        summary("gemini", &world, &run);
    });
}

#[test]
fn jump_of_opencode_past_the_ceiling_is_noticed_and_ends_in_a_fresh_session() {
    inside(400, || {
        let world = World::of(&[("opencode", 45_000)], 24, jumping(45_000, 8, 9, 28_000));
        let run = world.run("opencode", &[]);
        run.ends("verified", 0);
        world.assert_done_once(&run);
        assert!(run.of("session.started").len() >= 2, "{}", run.all());
        let past = run.of("gauge.read").iter().any(|line| line["percent"].as_f64() > Some(100.0));
        assert!(past, "nothing passed the ceiling\n{}", run.all());
        summary("opencode", &world, &run);
    });
}

#[test]
fn jump_of_opencode_past_the_ceiling_is_recovered_from() {
    inside(400, || {
        // OpenCode is told of a larger window than there is, and so meets the server's own answer.
        let world = World::of(&[("opencode", 60_000)], 24, jumping(20_000, 8, 9, 9_500));
        let run = world.run("opencode", &[]);
        run.ends("verified", 0);
        world.assert_done_once(&run);
        assert!(world.overflow_answers() >= 1, "there was no overflow\n{}", run.all());
        assert!(run.of("session.ended").iter().any(|s| s["reason"] == "overflow"), "{}", run.all());
        summary("opencode, past the server's window", &world, &run);
    });
}
