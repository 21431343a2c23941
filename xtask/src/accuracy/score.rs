//! Cases added up: how often the interval held, how far off the middle was, how wide it was; and the same for two naive
//! forecasts, whose intervals are made to hold as often as ours does.

use super::Case;

/// A forecast that anyone could make.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Naive {
    /// Mean distance from what came.
    pub(crate) error: f64,
    /// Mean width of an interval that holds as often as the forecast's.
    pub(crate) width: f64,
}

/// How good the forecast was.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Score {
    /// What it was held against.
    pub(crate) name: &'static str,
    /// Forecasts that were looked at.
    pub(crate) cases: usize,
    /// Share of intervals that held.
    pub(crate) held: f64,
    /// Mean distance of the middle from what came, in tokens.
    pub(crate) error: f64,
    /// Mean width of the interval, in tokens.
    pub(crate) width: f64,
    /// "Nothing will be added."
    pub(crate) no_change: Naive,
    /// "It goes on as it did on average."
    pub(crate) running_mean: Naive,
}

impl Score {
    pub(super) fn of(name: &'static str, cases: Vec<Case>) -> Self {
        let mean = |of: &dyn Fn(&Case) -> f64| average(cases.iter().map(of));
        let held = mean(&|case| f64::from(u8::from(case.low <= case.grown && case.grown <= case.high)));
        // Both are given the session's own mean as the measure of their width, and in hindsight the factor that makes
        // them hold as often.
        let up = factor(&cases, held, |case| case.grown / case.mean);
        let around = factor(&cases, held, |case| (case.grown - case.mean).abs() / case.mean);
        Self {
            name,
            cases: cases.len(),
            held,
            error: mean(&|case| (case.middle - case.grown).abs()),
            width: mean(&|case| case.high - case.low),
            no_change: Naive { error: mean(&|case| case.grown), width: mean(&|case| case.mean * up) },
            running_mean: Naive {
                error: mean(&|case| (case.mean - case.grown).abs()),
                width: mean(&|case| case.mean * (1.0 + around - (1.0 - around).max(0.0))),
            },
        }
    }

    /// Whether the interval holds between 85 and 95 times in 100 and neither naive forecast is nearer to what came. Their
    /// intervals are chosen in hindsight, ours is not, so ours may be a tenth wider.
    pub(crate) fn meets_the_bar(&self) -> bool {
        let naive = [self.no_change, self.running_mean];
        (0.85..=0.95).contains(&self.held)
            && naive.iter().all(|n| self.error <= n.error * 1.005 && self.width <= n.width * 1.1)
    }
}

fn average(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    if count > 0.0 { sum / count } else { 0.0 }
}

// The smallest factor with which this share of the cases lies inside.
fn factor(cases: &[Case], share: f64, of: impl Fn(&Case) -> f64) -> f64 {
    let mut factors: Vec<f64> = cases.iter().filter(|case| case.mean > 0.0).map(of).collect();
    factors.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a count"
    )]
    let place = (share * factors.len() as f64).ceil() as usize;
    factors.get(place.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(grown: f64) -> Case {
        Case { low: 50.0, middle: 100.0, high: 150.0, mean: 100.0, grown }
    }

    #[test]
    fn a_naive_interval_holds_as_often_as_the_forecasts_does() {
        let score = Score::of("x", [60.0, 80.0, 120.0, 140.0, 400.0].map(case).to_vec());
        assert_eq!((score.cases, score.held, score.width), (5, 0.8, 100.0));
        assert_eq!((score.no_change.width, score.running_mean.width), (140.0, 80.0));
        assert_eq!((score.error, score.running_mean.error, score.no_change.error), (84.0, 84.0, 160.0));
        assert!(!score.meets_the_bar());
    }
}
