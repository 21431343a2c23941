//! What several calls add together: sums over a fixed set of points that fill the space evenly, so that the same
//! figures always give the same answer, for the same work.

use super::Interval;
use super::sketch::{Fit, Mixture, Sketch, WHOLE};

const POINTS: usize = 128;

/// The multiplier of a lattice whose points lie well apart in the first dozen dimensions.
const STRIDE: u64 = 35;

/// How many tokens a result really is, in 1/1,000 of the estimate, at even steps from the least to the most: text of
/// 8 kB and more holds 3.6 to 1.5 bytes a token around a middle of 2.86.
const RATIO: [u64; 9] = [780, 865, 905, 950, 1_000, 1_060, 1_140, 1_300, 1_900];

/// Results that the next call will carry, in estimated tokens.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pending {
    /// About as many as other calls carry.
    Usual(u64),
    /// Far more than that.
    Large(u64),
}

/// What is known of the first of the calls before it is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// Estimated tokens of results and messages that it will carry.
    pub(super) pending: Pending,
    /// Estimated tokens of the answer that it has begun to give.
    pub(super) said: u64,
}

impl Known {
    fn first(self, point: &mut Point, rest: &Mixture) -> u64 {
        let others = rest.quantile(point.next()).max(self.said);
        let real = match self.pending {
            Pending::Usual(tokens) => tokens,
            Pending::Large(tokens) => tokens.saturating_mul(error(point.next())) / 1_000,
        };
        real.saturating_add(others)
    }
}

/// What five calls add that each are as `each`, one independent of the other.
pub(super) fn of_five(each: &Sketch) -> Sketch {
    let each = Mixture::new(&Sketch::default(), 0, Fit::NONE, each);
    let mut sums = Sketch::default();
    for i in 0..POINTS {
        let mut point = Point::new(i);
        sums.add((0..5).map(|_| each.quantile(point.next())).sum(), 1_000);
    }
    sums
}

/// The sums of five calls at every point, smallest first.
pub(super) struct Sums([u64; POINTS]);

impl Sums {
    /// `four` is what the calls after the first add, `rest` what the first adds beside results that are known.
    pub(super) fn new(known: Known, four: &Mixture, rest: &Mixture) -> Self {
        let mut sums = [0; POINTS];
        for (i, sum) in sums.iter_mut().enumerate() {
            let mut point = Point::new(i);
            let first = known.first(&mut point, rest);
            *sum = first.saturating_add(four.quantile(point.next()));
        }
        sums.sort_unstable();
        Self(sums)
    }

    /// The sums of `calls` calls that each add as `each` does.
    pub(super) fn independent(calls: u32, known: Option<Known>, each: &Mixture, rest: &Mixture) -> Self {
        let mut sums = [0; POINTS];
        for (i, sum) in sums.iter_mut().enumerate() {
            let mut point = Point::new(i);
            *sum = known.map_or(0, |known| known.first(&mut point, rest));
            for _ in u32::from(known.is_some())..calls {
                *sum = each.quantile(point.next()).saturating_add(*sum);
            }
        }
        sums.sort_unstable();
        Self(sums)
    }

    /// Where they lie nine times in ten.
    pub(super) fn interval(&self) -> Interval {
        Interval {
            low: self.quantile(super::LOW),
            middle: self.quantile(500),
            high: self.quantile(super::HIGH),
        }
    }

    /// The sum below which `per_mille` of the points lie.
    pub(super) fn quantile(&self, per_mille: u32) -> u64 {
        let at = u64::from(per_mille.min(1_000)) * (POINTS as u64 - 1);
        let (place, part) = (usize::try_from(at / 1_000).unwrap_or(0), at % 1_000);
        let (low, high) = (self.0[place], self.0[(place + 1).min(POINTS - 1)]);
        low + (high - low) * part / 1_000
    }
}

fn error(part: u32) -> u64 {
    let steps = RATIO.len() as u64 - 1;
    let at = u64::from(part) * steps;
    let place = usize::try_from(at / u64::from(WHOLE)).unwrap_or(0).min(RATIO.len() - 2);
    let inside = at % u64::from(WHOLE);
    let (low, high) = (RATIO[place], RATIO[place + 1]);
    low + (high - low) * inside / u64::from(WHOLE)
}

/// One point, one coordinate after the other: each is a multiple of 1/[`POINTS`], moved into the middle of its cell.
struct Point {
    index: u64,
    step: u64,
}

impl Point {
    fn new(index: usize) -> Self {
        Self { index: index as u64, step: 1 }
    }

    fn next(&mut self) -> u32 {
        let cell = self.index * self.step % POINTS as u64;
        self.step = self.step * STRIDE % POINTS as u64;
        let width = u64::from(WHOLE) / POINTS as u64;
        u32::try_from(cell * width + width / 2).unwrap_or(WHOLE)
    }
}

#[cfg(test)]
mod tests {
    use super::super::sketch::Sketch;
    use super::*;

    fn even() -> Mixture {
        let mut seen = Sketch::default();
        (0..1_000).for_each(|n| seen.add(1_000 + n, 1));
        Mixture::new(&Sketch::default(), 0, Fit::NONE, &seen)
    }

    #[test]
    fn the_sum_of_five_even_draws_has_the_spread_it_must_have() {
        let mut each = Sketch::default();
        (0..1_000).for_each(|n| each.add(1_000 + n, 1));
        let five = Mixture::new(&Sketch::default(), 0, Fit::NONE, &of_five(&each));
        // Five draws from 1,000 to 2,000: the middle is 7,500, the deviation 645.
        for (share, truth) in [(0.05, 6_440_u64), (0.5, 7_500), (0.95, 8_560)] {
            let found = five.quantile((share * f64::from(WHOLE)) as u32);
            assert!(found.abs_diff(truth) < truth / 15, "{share}: {found}");
        }
    }

    #[test]
    fn a_known_result_is_in_every_sum() {
        let sums = Sums::new(Known { pending: Pending::Large(50_000), said: 0 }, &even(), &even());
        assert!(sums.quantile(0) > 39_000 && sums.quantile(500) > 52_000, "{}", sums.quantile(500));
    }
}
