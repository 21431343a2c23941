//! What is believed about a session before it was seen: the growth per model call of 406 measured threads with 28,598
//! calls (median 611 tokens, 2,876 at 90 %, 13,479 at 99 %, 31,519 at 99.9 %, at most 78,006).

use super::sketch::Sketch;

/// Share of calls, in parts of 100,000, that grow by less than so many tokens.
const MEASURED: [(u32, u64); 12] = [
    (0, 40),
    (10_000, 120),
    (25_000, 290),
    (50_000, 611),
    (75_000, 1_350),
    (90_000, 2_876),
    (95_000, 5_000),
    (98_320, 10_000),
    (99_000, 13_479),
    (99_570, 20_000),
    (99_900, 31_519),
    (100_000, 78_006),
];

/// Measured calls as a sketch that weighs 100,000.
pub(super) fn measured() -> Sketch {
    let mut sketch = Sketch::default();
    for pair in MEASURED.windows(2) {
        let [(from, low), (to, high)] = pair else { continue };
        // Even steps of the logarithm, near enough: each of the parts is longer than the one before.
        const PARTS: u32 = 16;
        let ratio_16ths = |part: u32| {
            let span = high - low;
            let part = u64::from(part);
            low + span * part * (part + 8) / (u64::from(PARTS) * (u64::from(PARTS) + 8))
        };
        for part in 0..PARTS {
            sketch.add(u64::midpoint(ratio_16ths(part), ratio_16ths(part + 1)), (to - from) / PARTS);
        }
    }
    sketch
}

#[cfg(test)]
mod tests {
    use super::super::sketch::{Fit, Mixture, WHOLE};
    use super::*;

    #[test]
    fn the_measured_quantiles_come_out_again() {
        let all = Mixture::new(&measured(), 100_000, Fit::NONE, &Sketch::default());
        for (share, truth) in [(0.5, 611_u64), (0.9, 2_876), (0.99, 13_479), (0.999, 31_519)] {
            let found = all.quantile((share * f64::from(WHOLE)) as u32);
            assert!(found.abs_diff(truth) <= truth / 12, "{share}: {found} for {truth}");
        }
    }
}
