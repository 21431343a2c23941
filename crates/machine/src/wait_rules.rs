//! When waiting is allowed and how long: the rules of one run as data, and times in words.
//!
//! A time is named as the user's clock shows it, so the distance of that clock from UTC is part of the rules.

use serde::{Deserialize, Serialize};

use crate::Millis;

/// Below this a minute is too coarse.
const NEAR_MS: u64 = 120_000;

/// What a rate limit leads to while another agent is free.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnRateLimit {
    /// The other agent goes on, unless the limit is over within a minute.
    #[default]
    Fallback,
    /// The run waits for the agent that it has.
    Wait,
}

/// The rules of waiting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WaitRules {
    /// Waiting is allowed at all.
    pub enabled: bool,
    /// What a rate limit leads to while another agent is free.
    pub on_rate_limit: OnRateLimit,
    /// The first pause where nobody says how long; it doubles with each failure. Rate limits take three times as long.
    pub first_ms: u64,
    /// The longest of these pauses.
    pub most_ms: u64,
    /// The longest wait for a time that a provider names.
    pub longest_ms: Option<u64>,
    /// Failures of providers in a row, without progress, after which the run stops.
    pub failures: u32,
    /// What is learned about an account is told to other runs, and theirs is listened to.
    pub shared: bool,
    /// How far the user's clock is from UTC.
    pub utc_offset_s: i32,
}

impl Default for WaitRules {
    fn default() -> Self {
        Self {
            enabled: true,
            on_rate_limit: OnRateLimit::default(),
            first_ms: 5_000,
            most_ms: 5 * 60_000,
            longest_ms: Some(6 * 3_600_000),
            failures: 20,
            shared: false,
            utc_offset_s: 0,
        }
    }
}

impl WaitRules {
    /// A moment as the user's clock shows it: `14:32`, with seconds when it is near, with the date when it is another day.
    pub fn clock(&self, at: Millis, now: Millis) -> String {
        const DAY: i64 = 86_400;
        let local = |ms: Millis| {
            i64::try_from(ms / 1_000).unwrap_or(i64::MAX / 2).saturating_add(i64::from(self.utc_offset_s))
        };
        let (then, today) = (local(at), local(now).div_euclid(DAY));
        let (day, second) = (then.div_euclid(DAY), then.rem_euclid(DAY));
        let near = at > now && at - now < NEAR_MS;
        let seconds = if near { format!(":{:02}", second % 60) } else { String::new() };
        let time = format!("{:02}:{:02}{seconds}", second / 3_600, second % 3_600 / 60);
        if day == today {
            return time;
        }
        let (year, month, day) = date(day);
        format!("{year}-{month:02}-{day:02} {time}")
    }
}

// Years begin in March here, so that the odd day of February is their last.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Millis = 1_769_860_800_000; // 2026-01-31 12:00 UTC

    #[test]
    fn a_time_is_told_by_the_users_clock_and_with_its_date_on_another_day() {
        let utc = WaitRules::default();
        assert_eq!(utc.clock(NOON + 92 * 60_000, NOON), "13:32");
        assert_eq!(utc.clock(NOON + 21_000, NOON), "12:00:21");
        assert_eq!(utc.clock(NOON + 13 * 3_600_000, NOON), "2026-02-01 01:00");
        let east = WaitRules { utc_offset_s: 5 * 3_600 + 1_800, ..utc.clone() };
        assert_eq!(east.clock(NOON, NOON), "17:30");
        let west = WaitRules { utc_offset_s: -13 * 3_600, ..utc };
        assert_eq!(west.clock(NOON + 3_600_000, NOON), "2026-01-31 00:00");
    }

    #[test]
    fn dates_are_right_around_the_odd_days() {
        for (days, expected) in [
            (0, (1970, 1, 1)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (20_484, (2026, 1, 31)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
        ] {
            assert_eq!(date(days), expected);
        }
    }

    #[test]
    fn no_moment_is_too_far_to_be_told() {
        assert!(!WaitRules::default().clock(u64::MAX, 0).is_empty());
    }
}
