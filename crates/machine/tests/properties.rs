//! What holds for every run, whatever happens: many random worlds, each checked after every record.
//!
//! The worlds are drawn with a fixed seed, so every machine sees the same ones. The table of what they covered is
//! shown with `--nocapture`; a share below 1 % fails, so that the checks cannot lose their subject unnoticed.

#[path = "properties/dice.rs"]
mod dice;
#[path = "properties/names.rs"]
mod names;
#[path = "properties/wild.rs"]
mod wild;
#[path = "properties/world.rs"]
mod world;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestCaseError, TestRng, TestRunner};
use segue_machine::{Effect, Limit, Record, Run};

use world::World;

const WORLDS: u32 = 10_000;

#[test]
fn every_run_keeps_its_limits_and_can_be_replayed_and_resumed() {
    let config = ProptestConfig {
        cases: WORLDS,
        failure_persistence: None,
        max_shrink_iters: 4_000,
        ..ProptestConfig::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let covered = RefCell::new(BTreeMap::<String, u32>::new());
    let records = RefCell::new(0usize);
    let steps = prop::collection::vec(any::<u64>(), 30..=120);
    let result = runner.run(&(any::<u64>(), steps, any::<u64>()), |(seed, steps, end)| {
        let mut world = World::new(seed);
        world.begin()?;
        for step in steps {
            world.step(step)?;
        }
        world.end(end)?;
        replays_the_same(&world.records, &world.effects, seed)?;
        *records.borrow_mut() += world.records.len();
        for name in names_of(&world.effects) {
            *covered.borrow_mut().entry(name).or_default() += 1;
        }
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    let covered = covered.into_inner();
    println!("{WORLDS} worlds, {} records", records.into_inner());
    for (name, worlds) in &covered {
        println!("{:>6.2} %  {name}", f64::from(*worlds) * 100.0 / f64::from(WORLDS));
    }
    let limits = Limit::ALL.iter().map(|limit| format!("limit {limit:?}"));
    let others = names::EFFECTS.iter().chain(&names::NOTICES).map(ToString::to_string);
    for name in limits.chain(others) {
        let worlds = covered.get(&name).copied().unwrap_or(0);
        assert!(worlds * 100 >= WORLDS, "{name} is seen in {worlds} of {WORLDS} worlds only");
    }
}

// A journal is text: what is replayed is what was written and read back.
// Somewhere on the way the machine itself is stored and read back, and must go on as if it had not been.
fn replays_the_same(records: &[Record], effects: &[Vec<Effect>], chance: u64) -> Result<(), TestCaseError> {
    let mut run = Run::default();
    let mut stored: Option<Run> = None;
    let stored_at = chance % (records.len().max(1) as u64);
    for (n, (record, before)) in (0..).zip(records.iter().zip(effects)) {
        let text = serde_json::to_string(record).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let read: Record = serde_json::from_str(&text)
            .map_err(|e| TestCaseError::fail(format!("{text} cannot be read: {e}")))?;
        prop_assert_eq!(&read, record);
        let again = run.handle(&read);
        prop_assert_eq!(&again, before, "record {} is answered differently in the replay", record.seq);
        if let Some(stored) = &mut stored {
            prop_assert_eq!(
                &stored.handle(&read),
                before,
                "record {} after the state was stored",
                record.seq
            );
        } else if n == stored_at {
            let text = text_of(&run)?;
            let read =
                serde_json::from_str(&text).map_err(|e| TestCaseError::fail(format!("{text}: {e}")))?;
            stored = Some(read);
        }
        for effect in before {
            let text = serde_json::to_string(effect).map_err(|e| TestCaseError::fail(e.to_string()))?;
            let read: Effect = serde_json::from_str(&text)
                .map_err(|e| TestCaseError::fail(format!("{text} cannot be read: {e}")))?;
            prop_assert_eq!(&read, effect);
        }
    }
    if let Some(stored) = &stored {
        prop_assert_eq!(text_of(stored)?, text_of(&run)?, "the state was stored after {}", stored_at);
    }
    Ok(())
}

fn text_of(run: &Run) -> Result<String, TestCaseError> {
    serde_json::to_string(run).map_err(|e| TestCaseError::fail(e.to_string()))
}

fn names_of(effects: &[Vec<Effect>]) -> BTreeSet<String> {
    effects.iter().flatten().flat_map(names::of).collect()
}
