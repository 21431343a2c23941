//! How often which growth was seen: counts in bins that get wider with the size, eight to each doubling, so that any
//! quantile is right to about 6 % and a thousand calls take no more room than one.

use serde::{Deserialize, Serialize};

/// Bins there are; the last one takes everything from four million tokens on.
pub(super) const BINS: usize = 160;

/// Quantiles are asked for in parts of this.
pub(super) const WHOLE: u32 = 65_536;

const FINE: u32 = 3;

/// Counts by size. Weights may be parts of a call, in any unit that its user keeps to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sketch {
    /// By bin, as far as the last that is not empty.
    bins: Vec<u32>,
}

impl Sketch {
    /// Counts one growth of `tokens` with this weight.
    pub fn add(&mut self, tokens: u64, weight: u32) {
        let bin = bin_of(tokens);
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] = self.bins[bin].saturating_add(weight);
    }

    /// Adds what another one counted.
    pub fn merge(&mut self, other: &Self) {
        let most = other.bins.len().min(BINS);
        if self.bins.len() < most {
            self.bins.resize(most, 0);
        }
        for (mine, theirs) in self.bins.iter_mut().zip(&other.bins) {
            *mine = mine.saturating_add(*theirs);
        }
    }

    /// Takes a 1/`part` off every count, rounded down.
    pub fn fade(&mut self, part: u32) {
        for count in &mut self.bins {
            *count -= *count / part.max(1);
        }
    }

    /// All weights together.
    pub fn total(&self) -> u64 {
        self.bins.iter().map(|count| u64::from(*count)).sum()
    }

    /// The weight in one bin.
    pub(super) fn count(&self, bin: usize) -> u64 {
        self.bins.get(bin).copied().map_or(0, u64::from)
    }

    /// The bin below which this part of 16 lies.
    fn bin_at(&self, sixteenths: u64) -> i64 {
        let want = (self.total() * sixteenths).div_ceil(16).max(1);
        let mut below = 0;
        let bin = self.bins.iter().position(|count| {
            below += u64::from(*count);
            below >= want
        });
        bin.and_then(|bin| i64::try_from(bin).ok()).unwrap_or(0)
    }
}

/// Sizes with their weights summed up, to draw from.
#[derive(Debug, Clone)]
pub(super) struct Mixture {
    below: [u64; BINS],
}

/// How sizes from elsewhere are moved and stretched to be like those of a session: by bins, so by a factor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fit {
    from: i64,
    to: i64,
    stretch_64ths: i64,
}

impl Fit {
    /// As they are.
    pub(super) const NONE: Self = Self { from: 0, to: 0, stretch_64ths: 64 };

    /// The middle and the spread of `base` are drawn to those of `seen`, the more the more calls were seen.
    pub(super) fn new(base: &Sketch, seen: &Sketch, calls: u64) -> Self {
        const DOUBT: i64 = 6;
        let calls = i64::try_from(calls.min(10_000)).unwrap_or(0);
        if calls == 0 || base.total() == 0 || seen.total() == 0 {
            return Self::NONE;
        }
        let drawn = |base: i64, seen: i64| (base * DOUBT + seen * calls) / (calls + DOUBT);
        let spread = |sketch: &Sketch| (sketch.bin_at(13) - sketch.bin_at(3)).max(1);
        let ratio = (spread(seen) * 64 / spread(base)).clamp(4, 128);
        let (from, to) = (base.bin_at(8), seen.bin_at(8));
        Self { from, to: drawn(from, to), stretch_64ths: drawn(64, ratio) }
    }

    fn moved(self, bin: usize) -> usize {
        let bin = i64::try_from(bin).unwrap_or(0);
        let to = self.to + (bin - self.from) * self.stretch_64ths / 64;
        usize::try_from(to.max(0)).unwrap_or(0).min(BINS - 1)
    }
}

impl Mixture {
    /// `base` as `fit` moves it and weighing `base_weight` in all, with `seen` as it is.
    pub(super) fn new(base: &Sketch, base_weight: u64, fit: Fit, seen: &Sketch) -> Self {
        let whole = base.total().max(1);
        let mut below = [0; BINS];
        for bin in 0..base.bins.len().min(BINS) {
            below[fit.moved(bin)] += base.count(bin) * base_weight / whole;
        }
        let mut sum = 0;
        for (bin, slot) in below.iter_mut().enumerate() {
            sum += *slot + seen.count(bin);
            *slot = sum;
        }
        Self { below }
    }

    /// The size below which `part` of [`WHOLE`] lies.
    pub(super) fn quantile(&self, part: u32) -> u64 {
        let total = self.below[BINS - 1];
        // In 1/256 of a weight, so that small totals interpolate.
        let want = total * 256 * u64::from(part.min(WHOLE)) / u64::from(WHOLE);
        let bin = self.below.partition_point(|below| below * 256 < want.max(1)).min(BINS - 1);
        let under = if bin == 0 { 0 } else { self.below[bin - 1] * 256 };
        let inside = (self.below[bin] * 256).saturating_sub(under).max(1);
        let (low, high) = (floor_of(bin), floor_of(bin + 1));
        low + (high - low) * want.saturating_sub(under).min(inside) / inside
    }

    /// Mean and variance, of sizes cut at `most`.
    pub(super) fn moments(&self, most: u64) -> (u64, u128) {
        let total = u128::from(self.below[BINS - 1].max(1));
        let (mut sum, mut squares, mut before) = (0_u128, 0_u128, 0);
        for (bin, below) in self.below.iter().enumerate() {
            let weight = u128::from(below - before);
            before = *below;
            let size = u128::from(((floor_of(bin) + floor_of(bin + 1)) / 2).min(most));
            sum += weight * size;
            squares += weight * size * size;
        }
        let mean = sum / total;
        (u64::try_from(mean).unwrap_or(u64::MAX), (squares / total).saturating_sub(mean * mean))
    }
}

fn bin_of(tokens: u64) -> usize {
    let Some(octave) = tokens.checked_ilog2().filter(|octave| *octave >= FINE) else {
        return usize::try_from(tokens).unwrap_or(0);
    };
    let part = (tokens >> (octave - FINE)) & 7;
    let bin = u64::from(octave - FINE + 1) * 8 + part;
    usize::try_from(bin).unwrap_or(BINS).min(BINS - 1)
}

/// The smallest size of a bin.
fn floor_of(bin: usize) -> u64 {
    let bin = bin.min(BINS) as u64;
    if bin < 8 { bin } else { (8 + bin % 8) << (bin / 8 - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_lies_in_its_bin_and_bins_follow_each_other() {
        for tokens in (0..5_000).chain([40_000, 177_000, 1_000_000, 3_000_000]) {
            let bin = bin_of(tokens);
            assert!(floor_of(bin) <= tokens && tokens < floor_of(bin + 1), "{tokens} in {bin}");
        }
        assert_eq!(bin_of(u64::MAX), BINS - 1);
    }

    #[test]
    fn quantiles_are_near_the_truth() {
        let mut seen = Sketch::default();
        (1..=1_000).for_each(|n| seen.add(n * 10, 1));
        let all = Mixture::new(&Sketch::default(), 0, Fit::NONE, &seen);
        for (part, truth) in [(0.1, 1_000_u64), (0.5, 5_000), (0.9, 9_000), (0.99, 9_900)] {
            let found = all.quantile((part * f64::from(WHOLE)) as u32);
            assert!(found.abs_diff(truth) <= truth / 15, "{part}: {found}");
        }
        let (mean, variance) = all.moments(u64::MAX);
        assert!(mean.abs_diff(5_000) < 200 && variance.abs_diff(8_333_333) < 600_000, "{mean} {variance}");
    }

    #[test]
    fn a_sketch_is_read_as_it_was_written() {
        let mut seen = Sketch::default();
        seen.add(611, 3);
        let text = serde_json::to_string(&seen).unwrap();
        assert_eq!(serde_json::from_str::<Sketch>(&text).unwrap(), seen);
    }
}
