//! When a window will be full, in words: `full in 6–9 calls (≈ 11 m)`.

use crate::fields::{ForecastBasis, ForecastFields};
use crate::terminal::numbers::{duration, thousands};

/// The forecast in words; with `basis`, also what it rests on.
pub(crate) fn outlook_words(forecast: &ForecastFields, basis: bool) -> String {
    let left = forecast.calls_left;
    let calls = match (left.low.max(1), left.high.max(1)) {
        (1, 1) => "1 call".to_owned(),
        (low, high) if low == high => format!("{low} calls"),
        (low, high) => format!("{low}–{high} calls"),
    };
    let time = forecast.ms_left.map(|ms| format!(" (≈ {})", about(ms))).unwrap_or_default();
    let words = format!("full in {calls}{time}");
    if !basis {
        return words;
    }
    let seen = forecast.session_calls;
    match forecast.basis {
        ForecastBasis::Session => format!("{words}, from {} of this session", calls_of(seen)),
        ForecastBasis::Repository => {
            let before = thousands(forecast.repository_calls);
            format!("{words}, from {} of this session and {before} of this repository", calls_of(seen))
        }
    }
}

fn calls_of(calls: u64) -> String {
    if calls == 1 { "1 call".to_owned() } else { format!("{} calls", thousands(calls)) }
}

// It is an estimate: minutes below an hour and a half, hours above.
pub(crate) fn about(ms: u64) -> String {
    const MINUTE: u64 = 60_000;
    match ms {
        0..5_400_000 => duration(((ms + MINUTE / 2) / MINUTE).max(1) * MINUTE),
        _ => duration((ms + 30 * MINUTE) / (60 * MINUTE) * (60 * MINUTE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::CallsLeft;

    fn forecast(low: u32, high: u32, ms_left: Option<u64>) -> ForecastFields {
        ForecastFields {
            calls_left: CallsLeft { low, middle: u32::midpoint(low, high), high },
            ms_left,
            basis: ForecastBasis::Session,
            session_calls: 12,
            repository_calls: 0,
        }
    }

    #[test]
    fn a_forecast_is_a_range_of_calls_and_a_time() {
        let words = |low, high, ms| outlook_words(&forecast(low, high, ms), false);
        assert_eq!(words(6, 9, Some(11 * 60_000)), "full in 6–9 calls (≈ 11 m)");
        assert_eq!(words(0, 1, None), "full in 1 call");
        assert_eq!(words(4, 4, Some(20_000)), "full in 4 calls (≈ 1 m)");
        assert_eq!(words(90, 300, Some(3 * 3_600_000)), "full in 90–300 calls (≈ 3 h)");
    }

    #[test]
    fn the_status_says_what_it_rests_on() {
        let of_session = forecast(6, 9, None);
        assert_eq!(outlook_words(&of_session, true), "full in 6–9 calls, from 12 calls of this session");
        let both = ForecastFields { basis: ForecastBasis::Repository, repository_calls: 1_240, ..of_session };
        let words = outlook_words(&both, true);
        assert!(words.ends_with("from 12 calls of this session and 1,240 of this repository"), "{words}");
    }
}
