//! The one place that reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

use segue_machine::Millis;

/// How far the user's clock is from UTC, in seconds.
pub(crate) fn utc_offset_s() -> i32 {
    jiff::Zoned::now().offset().seconds()
}

/// Milliseconds since the Unix epoch.
pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
