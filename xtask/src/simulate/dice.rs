//! Draws that depend on nothing but a seed, so that a table can be made again to the last figure.

/// A row of draws.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    /// The draws of one run: each run of a seed has a row of its own.
    pub(crate) fn new(seed: u64, run: u64) -> Self {
        let mut dice =
            Self(seed.wrapping_mul(0xD134_2543_DE82_EF95) ^ run.wrapping_mul(0x2545_F491_4F6C_DD1D));
        dice.next();
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to but not including 1.
    pub(crate) fn share(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
        let bits = (self.next() >> 11) as f64;
        bits / 9_007_199_254_740_992.0
    }

    /// A number between two others, both included.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most.saturating_sub(least) + 1)
    }

    /// Whether something that happens with this chance happens.
    pub(crate) fn chance(&mut self, chance: f64) -> bool {
        self.share() < chance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_run_draw_the_same_and_others_do_not() {
        let row = |seed, run| {
            let mut dice = Dice::new(seed, run);
            (0..8).map(|_| dice.between(0, 1_000_000)).collect::<Vec<_>>()
        };
        assert_eq!(row(7, 3), row(7, 3));
        assert_ne!(row(7, 3), row(7, 4));
        assert_ne!(row(7, 3), row(8, 3));
    }

    #[test]
    fn draws_are_spread_evenly() {
        let mut dice = Dice::new(1, 1);
        let mut counts = [0_u32; 10];
        for _ in 0..100_000 {
            counts[usize::try_from(dice.between(0, 9)).unwrap()] += 1;
        }
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
    }
}
