//! The policy simulator: thousands of runs in a world of figures, so that policies can be compared before they are
//! trusted with real work. What decides is the machine that decides in real runs; only the world is simulated.

mod dice;
mod growth;
mod page;
mod play;
mod session;
mod spec;
mod table;
mod tally;
mod words;
mod world;

pub(crate) use dice::Dice;
pub(crate) use growth::WEIGHT_PER_TOKEN;
pub(crate) use page::command;

use growth::ALL as GROWTHS;
#[cfg(test)]
use growth::CLAUDE;
use spec::Contender;
use table::{Comparison, Row};
use tally::Tally;
use world::World;

/// Seeds below this one are for trying out constants of policies; tables are made with others.
pub(crate) const FITTING_SEEDS: u64 = 1_000;

/// Plays so many runs of a contender in a world. The result depends on nothing but the arguments.
fn simulate(contender: &Contender, world: &World, runs: u64, seed: u64) -> Tally {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64).min(runs.max(1));
    simulate_on(threads, contender, world, runs, seed)
}

fn simulate_on(threads: u64, contender: &Contender, world: &World, runs: u64, seed: u64) -> Tally {
    let spec = contender.spec(world);
    let part = |first: u64| {
        let mut tally = Tally::default();
        for run in (first..runs).step_by(usize::try_from(threads).unwrap_or(1)) {
            tally.add(&play::play(world, &spec, Dice::new(seed, run)));
        }
        tally
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|first| scope.spawn(move || part(first))).collect();
        let mut whole = Tally::default();
        for worker in workers {
            match worker.join() {
                Ok(tally) => whole.add(&tally),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        whole
    })
}

#[cfg(test)]
#[path = "simulate_tests.rs"]
mod tests;
