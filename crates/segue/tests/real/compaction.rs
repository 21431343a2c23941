//! The agents' own compaction: noticed where the policy leaves it on, prevented where the policy replaces sessions.

use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::answer::Kind;
use segue_rehearsal::model_server::script::{PersonaOptions, StepHabit};

use crate::compare::Compared;
use crate::inside::{inside, say};
use crate::support::World;

fn steps_of(window: u64, output_chars: u64, parallel: u32) -> ServerScript {
    let every = StepHabit { output_chars, ..StepHabit::default() };
    let persona = PersonaOptions { every, parallel, ..PersonaOptions::default() };
    ServerScript { window, persona, ..ServerScript::default() }
}

fn compactions(world: &World) -> usize {
    world.truth().iter().filter(|line| line.kind == Kind::Compact).count()
}

fn noticed(agent: &str, script: ServerScript) {
    let world = World::new(16, script);
    let run = world.run(agent, &["--policy", "native"]);
    run.ends("verified", 0);
    world.assert_done_once(&run);
    assert!(compactions(&world) >= 1, "it never compacted\n{}", run.all());
    assert!(!run.warnings("compacted").is_empty(), "{}", run.all());
    assert_eq!(run.of("session.started").len(), 1);
    let compared = Compared::new(&world, &run);
    let fall = compared.calls.windows(2).map(|pair| (pair[0].reading, pair[1].reading)).find(|(a, b)| b < a);
    let (from, to) = fall.unwrap_or_else(|| panic!("the gauge never fell\n{}", run.all()));
    let gauge = compared.assert_true(&run);
    say(&format!(
        "compaction of {agent}: {} times, noticed, the gauge falls from {from} to {to}, no step twice; {gauge}",
        compactions(&world)
    ));
}

#[test]
fn compaction_of_claude_is_noticed_and_repeats_no_step() {
    inside(90, || noticed("claude", steps_of(60_000, 6_000, 1)));
}

#[test]
fn compaction_of_codex_is_noticed_and_repeats_no_step() {
    inside(90, || noticed("codex", steps_of(26_000, 6_000, 1)));
}

#[test]
fn compaction_of_codex_is_prevented_while_the_policy_replaces_sessions() {
    inside(90, || {
        // One turn takes it from far below to past the point where it would compact; the server has room for all.
        let world = World::new(20, steps_of(200_000, 9_500, 10));
        world.codex_config(34_000, "");
        let run = world.run("codex", &[]);
        run.ends("verified", 0);
        world.assert_done_once(&run);
        assert_eq!(compactions(&world), 0, "{}", run.all());
        assert!(run.warnings("compacted").is_empty(), "{}", run.all());
        let sessions = run.of("session.started").len();
        assert!(sessions >= 2, "{}", run.all());
        let guarded = (1..=sessions)
            .any(|n| world.kept_output(&run.run_id(), n).contains("segue replaces the session"));
        assert!(guarded, "the guard was never asked\n{}", run.all());
        say(&format!(
            "compaction of codex under a replacing policy: prevented, {sessions} sessions, nothing twice"
        ));
    });
}
