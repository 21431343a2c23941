//! When to come back, as an error tells it: in fields where there are any, else in words with a number and a unit.
//!
//! Adapters have no clock, so a span stays a span; whoever has one makes a moment of it.

use segue_machine::{Retry, TurnEnd};
use serde_json::Value;

/// Fields nested deeper than this are not looked at.
const DEEPEST: u32 = 8;
/// From here on a number of a moment counts milliseconds; as seconds it would be the year 5138.
const MILLIS_FROM: u64 = 100_000_000_000;
const UNITS: [(&str, f64); 14] = [
    ("ms", 1.0),
    ("s", 1e3),
    ("sec", 1e3),
    ("secs", 1e3),
    ("second", 1e3),
    ("seconds", 1e3),
    ("m", 6e4),
    ("min", 6e4),
    ("mins", 6e4),
    ("minute", 6e4),
    ("minutes", 6e4),
    ("h", 36e5),
    ("hour", 36e5),
    ("hours", 36e5),
];
/// What stands before a span.
const BEFORE: [&str; 5] = ["try again in", "retry after", "retry-after", "retry in", "retrydelay"];

/// The end of a turn with a time that was told elsewhere; what it already has is the worse source.
pub(crate) fn with(end: TurnEnd, told: Option<Retry>) -> TurnEnd {
    match end {
        TurnEnd::Failed { failure, message, retry } => {
            TurnEnd::Failed { failure, message, retry: told.or(retry) }
        }
        TurnEnd::Finished { .. } | TurnEnd::Cancelled | TurnEnd::Overflow { .. } => end,
    }
}

/// The time in the fields of an error.
pub(crate) fn in_fields(fields: &Value) -> Option<Retry> {
    find(fields, DEEPEST)
}

/// The same where the message itself is the body of an answer.
pub(crate) fn in_fields_of(message: &str) -> Option<Retry> {
    in_fields(&serde_json::from_str(message).ok()?)
}

fn find(value: &Value, deep: u32) -> Option<Retry> {
    let deep = deep.checked_sub(1)?;
    match value {
        Value::Object(fields) => fields
            .iter()
            .find_map(|(name, value)| field(name, value))
            .or_else(|| fields.values().find_map(|value| find(value, deep))),
        Value::Array(items) => items.iter().find_map(|item| find(item, deep)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn field(name: &str, value: &Value) -> Option<Retry> {
    let name: String = name.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_lowercase();
    match name.as_str() {
        "retryafterms" => Some(Retry::After(number(value)?)),
        "retryafter" | "resetsinseconds" | "resetinseconds" => {
            Some(Retry::After(number(value)?.saturating_mul(1_000)))
        }
        "retrydelay" => Some(Retry::After(span(value.as_str()?, false)?)),
        "resetsat" | "resetat" => {
            let at = number(value)?;
            Some(Retry::At(if at < MILLIS_FROM { at * 1_000 } else { at }))
        }
        _ => None,
    }
}

fn number(value: &Value) -> Option<u64> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
    number.filter(|n| (1.0..1e15).contains(n)).map(|n| n.ceil() as u64)
}

/// The span in the words of an error.
pub(crate) fn in_words(text: &str) -> Option<Retry> {
    let text = text.to_lowercase();
    let after = |words: &&str| text.find(*words).map(|at| &text[at + words.len()..]);
    let rest = BEFORE.iter().find_map(after)?;
    let rest = rest.trim_start_matches([' ', ':', '"', '=']);
    span(rest, true).map(Retry::After)
}

/// `1s`, `1.5 s`, `6m0s`, `2 minutes`, in milliseconds; never 0. `open`: more words may follow.
fn span(text: &str, open: bool) -> Option<u64> {
    let (mut total, mut rest, mut any) = (0.0, text.trim(), false);
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start();
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let unit = UNITS.iter().find(|(name, _)| *name == &after[..letters]);
        let part = number.parse::<f64>().ok().zip(unit).map(|(number, (_, factor))| number * factor);
        let Some(part) = part.filter(|_| any || !number.is_empty()) else { break };
        total += part;
        any = true;
        rest = &after[letters..];
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
    let ms = (1.0..1e15).contains(&total).then(|| f64::ceil(total) as u64);
    ms.filter(|_| open || rest.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn spans_are_read_as_providers_write_them() {
        for (text, ms) in [
            ("Please try again in 1s. Visit us", 1_000),
            ("Suggested retry after 2s.", 2_000),
            ("try again in 6m0s", 360_000),
            ("try again in 1.5 seconds", 1_500),
            ("retry in 2 minutes", 120_000),
            ("try again in 20ms", 20),
            ("\"retryDelay\": \"39s\"", 39_000),
            ("try again in 1h2m3s", 3_723_000),
        ] {
            assert_eq!(in_words(text), Some(Retry::After(ms)), "{text}");
        }
        for text in ["try again in a while", "try again in 0s", "retry after", "in 5s", "try again in 5", "é"]
        {
            assert_eq!(in_words(text), None, "{text}");
        }
    }

    #[test]
    fn fields_are_found_by_name_however_deep() {
        for (fields, retry) in [
            (json!({ "retry-after": "20" }), Retry::After(20_000)),
            (json!({ "retry-after-ms": "1500", "retry-after": "2" }), Retry::After(1_500)),
            (json!({ "error": { "resets_in_seconds": 3600 } }), Retry::After(3_600_000)),
            (json!({ "error": { "resets_at": 1_769_860_800 } }), Retry::At(1_769_860_800_000)),
            (json!([{ "x": 1 }, { "resetsAt": 1_769_860_800_123_u64 }]), Retry::At(1_769_860_800_123)),
            (json!({ "details": [{ "@type": "RetryInfo", "retryDelay": "2s" }] }), Retry::After(2_000)),
        ] {
            assert_eq!(in_fields(&fields), Some(retry), "{fields}");
        }
        for fields in [
            json!({ "retry-after": "Fri, 31 Jan 2026 12:00:00 GMT" }),
            json!({ "retryDelay": "soon", "resets_at": -5, "retry_after": 0 }),
            json!({ "retry_after": 1e300 }),
            json!("retry-after 5s"),
        ] {
            assert_eq!(in_fields(&fields), None, "{fields}");
        }
    }
}
