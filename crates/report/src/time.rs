//! A moment as the outer contract writes it: RFC 3339, UTC, milliseconds. It reads no clock.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use segue_machine::Millis;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment, in milliseconds since the Unix epoch; `2026-01-31T12:00:00.000Z` in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub Millis);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = i64::try_from(self.0).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        write!(f, "{:.3}", moment.unwrap_or(Timestamp::MAX))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'_, str>::deserialize(deserializer)?;
        let moment: Timestamp = text.parse().map_err(D::Error::custom)?;
        u64::try_from(moment.as_millisecond()).map(Self).map_err(D::Error::custom)
    }
}

impl JsonSchema for Time {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_milliseconds_even_when_they_are_zero() {
        assert_eq!(Time(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Time(1_769_860_800_123).to_string(), "2026-01-31T12:00:00.123Z");
    }

    #[test]
    fn it_reads_back_what_it_wrote() {
        let written = serde_json::to_string(&Time(1_769_860_800_123)).unwrap();
        assert_eq!(serde_json::from_str::<Time>(&written).unwrap(), Time(1_769_860_800_123));
    }

    #[test]
    fn a_moment_past_the_calendar_is_the_last_one() {
        assert!(Time(u64::MAX).to_string().starts_with("9999-"));
    }
}
