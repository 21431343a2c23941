//! A whole comparison: every policy with and without the brake, and for each the curve of fill against overflow.

use serde::Serialize;

use super::spec::{Contender, UnknownPolicy};
use super::tally::Tally;
use super::world::World;
use super::{FITTING_SEEDS, simulate};

/// Where the thresholds of a curve lie, in percent of the ceiling.
pub(crate) const CURVE: [u32; 10] = [60, 65, 70, 75, 80, 85, 88, 90, 95, 98];

/// What is to be compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Comparison {
    /// The policies, by name.
    pub(crate) policies: Vec<String>,
    /// The world; its brake is overruled by `brakes`.
    pub(crate) world: World,
    /// With the brake, without it, or both.
    pub(crate) brakes: Vec<bool>,
    /// Runs of each policy.
    pub(crate) runs: u64,
    /// Runs of each point of a curve; 0 draws none.
    pub(crate) curve_runs: u64,
    /// Where the draws begin.
    pub(crate) seed: u64,
}

/// One policy in one world.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Row {
    /// The policy.
    pub(crate) policy: String,
    /// Whether the agent had a brake.
    pub(crate) brake: bool,
    /// What was counted.
    pub(crate) tally: Tally,
    /// The same with the threshold moved, lowest first; empty where the policy replaces nothing.
    pub(crate) curve: Vec<Point>,
}

/// One threshold of one policy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Point {
    /// The threshold, in percent of the ceiling.
    pub(crate) threshold: u32,
    /// What was counted.
    pub(crate) tally: Tally,
}

impl Comparison {
    /// Whether constants of the policies may have been chosen on the very runs that are drawn.
    pub(crate) fn draws_fitting_seeds(&self) -> bool {
        self.seed < FITTING_SEEDS
    }

    /// Plays everything, telling `each` row as soon as it is there.
    ///
    /// # Errors
    /// A policy is not known.
    pub(crate) fn play(&self, mut each: impl FnMut(&Row)) -> Result<Vec<Row>, UnknownPolicy> {
        let contenders: Vec<Contender> =
            self.policies.iter().map(|name| Contender::preset(name)).collect::<Result<_, _>>()?;
        let mut rows = Vec::new();
        for brake in &self.brakes {
            let world = if *brake { self.world } else { self.world.without_brake() };
            for contender in &contenders {
                let tally = simulate(contender, &world, self.runs, self.seed);
                let curve = self.curve(contender, &world)?;
                let row = Row { policy: contender.name.clone(), brake: *brake, tally, curve };
                each(&row);
                rows.push(row);
            }
        }
        Ok(rows)
    }

    fn curve(&self, contender: &Contender, world: &World) -> Result<Vec<Point>, UnknownPolicy> {
        if self.curve_runs == 0 || !contender.replaces() {
            return Ok(Vec::new());
        }
        let point = |threshold: u32| {
            let moved = contender.moved(f64::from(threshold))?;
            Ok(Point { threshold, tally: simulate(&moved, world, self.curve_runs, self.seed) })
        };
        CURVE.iter().map(|threshold| point(*threshold)).collect()
    }
}
