//! The one place that reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

use segue_machine::Millis;

/// Milliseconds since the Unix epoch.
pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
