//! The simulated driver keeps the rules, and the tally can be trusted.

use segue_machine::policy::preset;

use super::*;

/// None of those that constants were fitted with.
const SEED: u64 = 7_000;

fn world() -> World {
    World::new(200_000, CLAUDE)
}

fn run(name: &str, world: &World, runs: u64) -> Tally {
    simulate(&Contender::preset(name).unwrap(), world, runs, SEED)
}

#[test]
fn the_same_seed_gives_the_same_tally_on_any_number_of_threads() {
    let auto = Contender::preset("auto").unwrap();
    let one = simulate_on(1, &auto, &world(), 24, SEED);
    assert_eq!(simulate_on(5, &auto, &world(), 24, SEED), one);
    assert_eq!(simulate(&auto, &world(), 24, SEED), one);
    assert_ne!(simulate(&auto, &world(), 24, SEED + 1), one);
}

#[test]
fn no_preset_is_stuck_loses_a_step_or_leaves_an_overflow_without_a_fresh_session() {
    for growth in GROWTHS {
        for name in preset::NAMES {
            for world in [World::new(200_000, growth), World::new(200_000, growth).without_brake()] {
                let tally = run(name, &world, 40);
                let limited = preset::find(name).unwrap().max_restarts.is_some();
                assert_eq!((tally.runs, tally.stuck, tally.lost), (40, 0, 0), "{name}: {tally:?}");
                assert_eq!(tally.failed, 0, "{name}: {tally:?}");
                assert!(limited || tally.finished == tally.runs, "{name}: {tally:?}");
                assert!(limited || tally.recovered == tally.overflows, "{name}: {tally:?}");
            }
        }
    }
}

#[test]
fn policies_that_replace_nothing_leave_it_to_the_agents_own_compaction() {
    for name in ["observe", "native"] {
        let tally = run(name, &world(), 40);
        assert_eq!((tally.handoffs, tally.overflows), (0, 0), "{name}");
        assert!(tally.compactions > 20, "{name}: {tally:?}");
    }
}

#[test]
fn a_higher_line_means_fuller_windows_fewer_handoffs_and_more_overflows() {
    let fixed = Contender::preset("seamless").unwrap();
    let at = |percent| simulate(&fixed.moved(percent).unwrap(), &world().without_brake(), 150, SEED);
    let (low, high) = (at(65.0), at(98.0));
    assert!(low.mean_fill() < high.mean_fill() && low.handoffs > high.handoffs, "{low:?} {high:?}");
    assert!(low.overflows_per_handoff() < high.overflows_per_handoff(), "{low:?} {high:?}");
    assert!(low.respent > high.respent, "{low:?} {high:?}");
}

#[test]
fn a_fixed_line_takes_no_heed_of_the_moment() {
    let tally = run("seamless", &world(), 100);
    assert!(tally.at_good_moment().unwrap() < 40.0, "{tally:?}");
    assert!(tally.redone > tally.handoffs / 2, "{tally:?}");
}

#[test]
fn the_brake_prevents_overflows() {
    let with = run("seamless", &world(), 300);
    let without = run("seamless", &world().without_brake(), 300);
    assert!(with.overflows * 4 < without.overflows, "{with:?} {without:?}");
    assert!(with.braked > 0 && without.braked == 0);
}

#[test]
fn a_policy_that_nobody_knows_is_named_with_those_that_there_are() {
    let said = Contender::preset("Auto").unwrap_err().to_string();
    assert!(said.contains("\"Auto\"") && said.contains("auto, seamless"), "{said}");
    assert!(Contender::preset("auto").unwrap().moved(0.9).unwrap_err().to_string().contains("percent?"));
}
