//! Reads one value by the kind of its key, and says what was expected when it does not fit.
//!
//! Files are strict about types; the environment and flags only have text, which is read more freely.

use toml::de::{DeInteger, DeValue};

use crate::config::key::{Key, Kind, nearest};
use crate::config::scalar;
use crate::config::value::{Permissions, Value};

/// Where a value is written, which decides what its text may stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// In a file.
    Toml,
    /// In the environment or on the command line.
    Plain,
}

/// The value, or what was expected and what was found.
pub(crate) fn read(key: &Key, raw: &DeValue<'_>, written: Written) -> Result<Value, String> {
    let value = match raw.as_str() {
        Some("none" | "unlimited") if key.none => Ok(Some(Value::None)),
        _ => match written {
            Written::Toml => from_toml(key.kind, raw),
            Written::Plain => from_text(key.kind, raw.as_str().unwrap_or("")),
        },
    };
    match value {
        Ok(Some(value)) => Ok(value),
        Ok(None) => Err(unfit(key, raw, written)),
        Err(why) => Err(why),
    }
}

/// What was expected, what was found, and an example.
fn unfit(key: &Key, raw: &DeValue<'_>, written: Written) -> String {
    let (toml, plain) = example(key.kind);
    let example = match written {
        Written::Toml => format!("{} = {toml}", key.leaf()),
        Written::Plain => plain.to_owned(),
    };
    let found = if key.kind == Kind::Secret { "something else".to_owned() } else { found(raw) };
    let none = if key.none { ", or \"none\"" } else { "" };
    let mut why = format!("expected {}{none}, found {found}", expected(key.kind));
    match (key.kind, raw.as_str()) {
        (Kind::Choice(words), Some(typed)) => {
            if let Some(near) = nearest(typed, words.iter().copied()) {
                why.push_str(&format!("; did you mean {near:?}?"));
            }
        }
        _ => why.push_str(&format!("; for example: {example}")),
    }
    why
}

/// A short description of what stands there.
pub(crate) fn found(raw: &DeValue<'_>) -> String {
    match raw {
        DeValue::String(text) if text.chars().count() > 40 => {
            format!("{:?}…", text.chars().take(40).collect::<String>())
        }
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(yes) => yes.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// Text that a process can be given.
pub(crate) fn text(raw: &DeValue<'_>) -> Option<String> {
    raw.as_str().filter(|text| !text.contains('\0')).map(str::to_owned)
}

/// A list of texts, none of them empty when `filled`.
pub(crate) fn texts(raw: &DeValue<'_>, filled: bool) -> Option<Vec<String>> {
    raw.as_array()?.iter().map(|item| text(item.get_ref()).filter(|t| !(filled && t.is_empty()))).collect()
}

fn from_toml(kind: Kind, raw: &DeValue<'_>) -> Result<Option<Value>, String> {
    Ok(match kind {
        Kind::Bool => raw.as_bool().map(Value::Bool),
        Kind::Count(least) => count(raw).filter(|n| *n >= least).map(Value::Count),
        Kind::Secret => text(raw).map(Value::Secret),
        Kind::Words => texts(raw, false).map(Value::List),
        Kind::List => match raw.as_str() {
            Some(one) => Some(Value::List(vec![one.to_owned()])).filter(|_| filled(one)),
            None => texts(raw, true).map(Value::List),
        },
        Kind::Command => match raw.as_str() {
            Some(line) => return from_text(kind, line),
            None => command(texts(raw, false)),
        },
        Kind::Permissions => match raw.as_str() {
            Some(word) => permission_word(word),
            None => texts(raw, true).map(|kinds| Value::Permissions(Permissions::Allow(kinds))),
        },
        Kind::Tokens
        | Kind::Percent
        | Kind::Threshold
        | Kind::Line
        | Kind::Duration
        | Kind::Money
        | Kind::Price => match raw {
            DeValue::String(text) => return from_text(kind, text),
            DeValue::Integer(number) => match integer(number) {
                Some(number) => return from_text(kind, &number.to_string()),
                None => None,
            },
            DeValue::Float(number) if kind != Kind::Tokens => return from_text(kind, number.as_str()),
            DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => None,
        },
        Kind::Text | Kind::Choice(_) => match raw.as_str() {
            Some(text) => return from_text(kind, text),
            None => None,
        },
        Kind::Stages | Kind::Gates => None,
    })
}

fn from_text(kind: Kind, text: &str) -> Result<Option<Value>, String> {
    let trimmed = text.trim();
    Ok(match kind {
        Kind::Text => Some(Value::Text(text.to_owned())).filter(|_| filled(text)),
        Kind::Secret => Some(Value::Secret(text.to_owned())),
        Kind::Choice(words) => words.contains(&trimmed).then(|| Value::Text(trimmed.to_owned())),
        Kind::List | Kind::Words => {
            let list: Vec<String> =
                text.split(',').map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned).collect();
            Some(Value::List(list)).filter(|_| filled(text))
        }
        Kind::Command => command(scalar::words(text).filter(|_| filled(text))),
        Kind::Bool => match trimmed.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Some(Value::Bool(true)),
            "false" | "0" | "no" | "off" => Some(Value::Bool(false)),
            _ => None,
        },
        Kind::Count(least) => trimmed.parse().ok().filter(|n| *n >= least).map(Value::Count),
        Kind::Tokens => scalar::tokens(trimmed).map(Value::Tokens),
        Kind::Duration => scalar::millis(trimmed).map(Value::Millis),
        Kind::Money => scalar::musd(trimmed).map(Value::Money),
        Kind::Price => scalar::price(trimmed).map(Value::Price),
        Kind::Line if matches!(trimmed, "auto" | "off") => Some(Value::Text(trimmed.to_owned())),
        Kind::Line => scalar::tokens(trimmed).map(Value::Tokens),
        Kind::Threshold if scalar::is_tokens(trimmed) => scalar::tokens(trimmed).map(Value::Tokens),
        Kind::Percent | Kind::Threshold => match scalar::percent(trimmed) {
            Some(Err(bad)) => return Err(bad.to_string()),
            Some(Ok(percent)) => Some(Value::Percent(percent)),
            None => None,
        },
        Kind::Permissions => match trimmed.strip_prefix("allow=") {
            Some(kinds) => return from_text(Kind::List, kinds).map(allow),
            None => permission_word(trimmed),
        },
        Kind::Stages | Kind::Gates => None,
    })
}

fn filled(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains('\0')
}

fn command(words: Option<Vec<String>>) -> Option<Value> {
    words.filter(|words| words.first().is_some_and(|program| filled(program))).map(Value::List)
}

fn permission_word(word: &str) -> Option<Value> {
    match word {
        "deny" => Some(Value::Permissions(Permissions::Deny)),
        "edit" => Some(Value::Permissions(Permissions::Edit)),
        "bypass" => Some(Value::Permissions(Permissions::Bypass)),
        _ => None,
    }
}

fn allow(list: Option<Value>) -> Option<Value> {
    match list {
        Some(Value::List(kinds)) if !kinds.is_empty() => Some(Value::Permissions(Permissions::Allow(kinds))),
        _ => None,
    }
}

fn integer(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

fn count(raw: &DeValue<'_>) -> Option<u32> {
    u32::try_from(integer(raw.as_integer()?)?).ok()
}

/// What a value of that kind is, in words.
pub(crate) fn expected(kind: Kind) -> String {
    match kind {
        Kind::Text | Kind::Secret => "text".to_owned(),
        Kind::Choice(words) => format!("one of {}", words.join(", ")),
        Kind::List => "a name or a list of names".to_owned(),
        Kind::Words => "a list of texts".to_owned(),
        Kind::Command => "a command line or a list of its words".to_owned(),
        Kind::Bool => "true or false".to_owned(),
        Kind::Count(least) => format!("a whole number, {least} or more"),
        Kind::Tokens => "a number of tokens above 0".to_owned(),
        Kind::Percent => "a percentage".to_owned(),
        Kind::Threshold => "a percentage or a number of tokens".to_owned(),
        Kind::Line => "auto, off or a number of tokens above 0".to_owned(),
        Kind::Duration => "a duration above 0".to_owned(),
        Kind::Money => "an amount of dollars above 0".to_owned(),
        Kind::Price => "dollars per million tokens, 0 or more".to_owned(),
        Kind::Permissions => "\"deny\", \"edit\", \"bypass\" or a list of tool kinds".to_owned(),
        Kind::Stages => "[[stage]] tables (two brackets)".to_owned(),
        Kind::Gates => "[[gate]] tables (two brackets)".to_owned(),
    }
}

/// An example as it is written in a file, and in the environment or on the command line.
fn example(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Text | Kind::Secret => ("\"text\"", "text"),
        Kind::Choice(words) => (words.first().copied().unwrap_or(""), words.first().copied().unwrap_or("")),
        Kind::List => ("[\"claude\", \"codex\"]", "claude,codex"),
        Kind::Words => ("[\"--flag\", \"value\"]", "--flag,value"),
        Kind::Command => ("[\"gemini\", \"--acp\"]", "gemini --acp"),
        Kind::Bool => ("true", "true"),
        Kind::Count(_) => ("3", "3"),
        Kind::Tokens => ("200_000 or \"200k\"", "200k"),
        Kind::Percent | Kind::Threshold => ("90", "90"),
        Kind::Line => ("\"160k\"", "160k"),
        Kind::Duration => ("\"10m\"", "10m, 1h30m, or 90 for 90 seconds"),
        Kind::Money => ("\"5.50\"", "5.50"),
        Kind::Price => ("3.0", "3.0"),
        Kind::Permissions => ("\"edit\", or [\"read\", \"execute\"]", "edit, bypass, or allow=read,execute"),
        Kind::Stages => ("[{ at = \"90%\", do = [\"restart\"] }]", ""),
        Kind::Gates => ("[{ name = \"tests\", run = \"cargo test\" }]", ""),
    }
}
