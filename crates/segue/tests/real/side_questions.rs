//! Checkpoints by side questions: what the agent said reaches its successor, and its work is not disturbed.

use std::collections::BTreeMap;

use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::script::{PersonaOptions, StepHabit};

use crate::inside::{inside, say};
use crate::support::{Done, World};

const FACTS: [&str; 3] = [
    "the importer must keep the old column order because the billing export reads by position",
    "retrying the upload with the second token is useless, the bucket belongs to another project",
    "dates stay in local time everywhere except in the audit table",
];

fn script(output_chars: u64, parallel: u32) -> ServerScript {
    let every = StepHabit { output_chars, ..StepHabit::default() };
    let facts: BTreeMap<u32, Vec<String>> = (1..)
        .step_by(parallel as usize)
        .zip(FACTS)
        .map(|(step, fact)| (step, vec![fact.to_owned()]))
        .collect();
    let persona = PersonaOptions { every, parallel, facts, ..PersonaOptions::default() };
    ServerScript { window: 200_000, persona, ..ServerScript::default() }
}

/// The context used at the end of each session that was replaced, in percent of the ceiling.
fn fills(run: &Done) -> Vec<u64> {
    let ended = run.of("session.ended");
    let replaced = ended.iter().filter(|line| line["reason"] == "replaced");
    replaced.filter_map(|line| line["fill"].as_u64()).map(|fill| fill * 100 / 177_000).collect()
}

#[track_caller]
fn assert_continued(name: &str, world: &World, run: &Done) {
    run.ends("verified", 0);
    world.assert_done_once(run);
    assert_eq!(world.overflow_answers(), 0, "{}", run.all());
    let openings = world.openings();
    let successors = &openings[1..];
    assert!(!successors.is_empty(), "there was no handoff\n{}", run.all());
    for opening in successors {
        for fact in FACTS {
            assert!(opening.text.contains(fact), "{fact:?} is not in {}\n{}", opening.text, run.all());
        }
    }
    let taken = run.of("checkpoint.taken");
    let hows: Vec<&str> = taken.iter().filter_map(|line| line["source"]["how"].as_str()).collect();
    assert!(!hows.is_empty() && hows.iter().all(|how| *how == "side"), "{hows:?}\n{}", run.all());
    say(&format!(
        "{name}: {} handoffs, {} checkpoints, all by side questions, every fact in every successor's first request, \
         context used at the handoffs {:?} %, {:.1} s",
        successors.len(),
        taken.len(),
        fills(run),
        run.took.as_secs_f64()
    ));
}

#[test]
fn k2_what_claude_said_in_its_first_steps_reaches_every_successor() {
    inside(180, || {
        let world = World::new(48, script(28_000, 1));
        let run = world.run("claude", &[]);
        assert_continued("claude, 28 kB results", &world, &run);
    });
}

/// Asked when less than a twentieth of the window that is really there is left.
/// Some large results come first, so that small ones lead up to it.
fn asked_at_the_ceiling(agent: &str, window: u64, large: u32, small: u32) {
    let of = |output_chars| StepHabit { output_chars, ..StepHabit::default() };
    let facts = BTreeMap::from([(1, FACTS.map(str::to_owned).to_vec())]);
    let habits = (1..=large).map(|step| (step, of(16_000))).collect();
    let persona = PersonaOptions { every: of(1_500), steps: habits, facts, ..PersonaOptions::default() };
    let steps = large + small;
    let script = ServerScript { window, persona, ..ServerScript::default() };
    let world = World::of(&[(agent, window)], steps, script);
    let run = world.run(agent, &["--policy", "seamless", "--context-threshold", "97"]);
    run.ends("verified", 0);
    world.assert_done_once(&run);
    let taken = run.of("checkpoint.taken");
    let percents: Vec<f64> = taken
        .iter()
        .filter(|line| line["source"]["how"] == "side")
        .filter_map(|line| line["percent"].as_f64())
        .collect();
    assert!(percents.iter().any(|percent| *percent >= 95.0), "{percents:?}\n{}", run.all());
    assert_eq!(percents.len(), taken.len(), "every checkpoint by a side question\n{}", run.all());
    for opening in &world.openings()[1..] {
        assert!(FACTS.iter().all(|fact| opening.text.contains(fact)), "{}\n{}", opening.text, run.all());
    }
    let overflows = world.overflow_answers();
    say(&format!(
        "{agent}: side questions answered at {percents:.1?} % of the ceiling, {overflows} overflow answers"
    ));
}

#[test]
fn k2_claude_answers_a_side_question_at_its_ceiling() {
    inside(180, || asked_at_the_ceiling("claude", 100_000, 13, 40));
}

#[test]
fn k2_codex_answers_a_side_question_at_its_ceiling() {
    inside(180, || asked_at_the_ceiling("codex", 40_000, 1, 60));
}

#[test]
fn k2_opencode_answers_a_side_question_at_its_ceiling() {
    inside(180, || asked_at_the_ceiling("opencode", 40_000, 5, 34));
}

#[test]
fn k2_what_claude_said_survives_a_brake_between_parallel_tools() {
    inside(180, || {
        let world = World::new(48, script(28_000, 3));
        let run = world.run("claude", &[]);
        assert_continued("claude, three tools at a time", &world, &run);
    });
}
