//! Judging what came of a command, and the one notation for what is expected of it.
//!
//! Pure: exit code and output come in, a verdict with its reason goes out. A command that could not do its work is
//! never a pass, whatever it printed.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use regex::Regex;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use crate::command::{Prints, prints};
use crate::model::Check;

/// What must come of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judge {
    /// It ends with this code.
    Exit(i32),
    /// It ends with any code but this.
    ExitNot(i32),
    /// It prints `EXIT:n` with this number, or ends with it.
    Told(i32),
    /// It counts or lists exactly this many.
    Count(u64),
    /// It counts or lists this many or more.
    AtLeast(u64),
    /// It counts or lists this many or fewer.
    AtMost(u64),
    /// A regular expression is found in what it prints.
    Matches(String),
    /// A text is found in what it prints.
    Contains(String),
}

impl Default for Judge {
    fn default() -> Self {
        Self::Exit(0)
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy)]
pub struct Outcome<'a> {
    /// Its exit code; `None` when a signal or a time-out ended it.
    pub exit: Option<i32>,
    /// What it printed.
    pub output: &'a str,
}

/// Whether it was as expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Whether it was.
    pub passed: bool,
    /// What was found, and what was wanted.
    pub why: String,
}

/// Judges what came of a check's command.
pub fn judge(check: &Check, outcome: Outcome<'_>) -> Verdict {
    let Some(exit) = outcome.exit else {
        return Verdict { passed: false, why: "it was ended by a signal or a time-out".to_owned() };
    };
    match &check.judge {
        Judge::Exit(wanted) => verdict(exit == *wanted, format!("exit {exit}, wanted {wanted}")),
        Judge::ExitNot(not) => verdict(exit != *not, format!("exit {exit}, wanted any but {not}")),
        Judge::Told(wanted) => match told_exit(outcome.output) {
            Some(told) => verdict(told == *wanted, format!("it reported EXIT:{told}, wanted EXIT:{wanted}")),
            None => verdict(exit == *wanted, format!("exit {exit}, wanted {wanted}")),
        },
        Judge::Count(wanted) => counted(check, exit, outcome.output, |n| n == *wanted),
        Judge::AtLeast(wanted) => counted(check, exit, outcome.output, |n| n >= *wanted),
        Judge::AtMost(wanted) => counted(check, exit, outcome.output, |n| n <= *wanted),
        Judge::Matches(pattern) => match Regex::new(pattern) {
            Ok(regex) => verdict(
                regex.is_match(outcome.output),
                format!("exit {exit}, wanted output that matches {pattern}"),
            ),
            Err(_) => verdict(false, format!("{pattern} is no regular expression")),
        },
        Judge::Contains(text) => verdict(
            outcome.output.contains(text.as_str()),
            format!("exit {exit}, wanted output that contains {text}"),
        ),
    }
}

fn verdict(passed: bool, why: String) -> Verdict {
    Verdict { passed, why }
}

// `grep -c` ends with 1 when it counts 0, and with 2 when it could not look.
fn counted(check: &Check, exit: i32, output: &str, fits: impl Fn(u64) -> bool) -> Verdict {
    if !(0..=1).contains(&exit) {
        return verdict(false, format!("the command failed (exit {exit}), wanted {}", check.judge));
    }
    match count(&check.run, output) {
        Some(n) => verdict(fits(n), format!("counted {n}, wanted {}", check.judge)),
        None => verdict(false, format!("no number was printed (exit {exit}), wanted {}", check.judge)),
    }
}

// What a command counted: the number it printed, one number per file, or its lines.
fn count(command: &str, output: &str) -> Option<u64> {
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let all = || u64::try_from(lines.len()).ok();
    let last = lines.last().copied().unwrap_or("");
    match prints(command) {
        Prints::Lines => all(),
        Prints::Count if lines.is_empty() => Some(0),
        Prints::Count if lines.len() > 1 && lines.iter().all(|line| per_file(line).is_some()) => {
            Some(lines.iter().filter_map(|line| per_file(line)).fold(0, u64::saturating_add))
        }
        Prints::Count => last.split_whitespace().next()?.parse().ok().or_else(|| per_file(last)),
        Prints::Other => last.parse().ok().or_else(all),
    }
}

fn per_file(line: &str) -> Option<u64> {
    line.rsplit_once(':')?.1.trim().parse().ok()
}

fn told_exit(output: &str) -> Option<i32> {
    let at = output.rfind("EXIT:")?;
    let digits: String =
        output[at + 5..].trim_start().chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect();
    digits.parse().ok()
}

/// A text that says nothing about the outcome of a command.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{0:?} is no expectation: write \"exit 0\", \"exit not 0\", \"EXIT:0\", \"count 3\", \"at least 3\", \"at most 3\", \
     \"matches PATTERN\" or \"contains TEXT\""
)]
pub struct BadJudge(pub String);

impl fmt::Display for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit {code}"),
            Self::ExitNot(code) => write!(f, "exit not {code}"),
            Self::Told(code) => write!(f, "EXIT:{code}"),
            Self::Count(n) => write!(f, "count {n}"),
            Self::AtLeast(n) => write!(f, "at least {n}"),
            Self::AtMost(n) => write!(f, "at most {n}"),
            Self::Matches(pattern) => write!(f, "matches {pattern}"),
            Self::Contains(text) => write!(f, "contains {text}"),
        }
    }
}

impl FromStr for Judge {
    type Err = BadJudge;

    fn from_str(text: &str) -> Result<Self, BadJudge> {
        let bad = || BadJudge(text.to_owned());
        let number = |rest: &str| rest.trim().parse().map_err(|_| bad());
        let code = |rest: &str| rest.trim().parse().map_err(|_| bad());
        if let Some(pattern) = text.strip_prefix("matches ") {
            return Ok(Self::Matches(pattern.to_owned()));
        }
        if let Some(inner) = text.strip_prefix("contains ") {
            return Ok(Self::Contains(inner.to_owned()));
        }
        if let Some(rest) = text.strip_prefix("exit not ") {
            return Ok(Self::ExitNot(code(rest)?));
        }
        if let Some(rest) = text.strip_prefix("exit ") {
            return Ok(Self::Exit(code(rest)?));
        }
        if let Some(rest) = text.strip_prefix("EXIT:") {
            return Ok(Self::Told(code(rest)?));
        }
        if let Some(rest) = text.strip_prefix("count ") {
            return Ok(Self::Count(number(rest)?));
        }
        if let Some(rest) = text.strip_prefix("at least ") {
            return Ok(Self::AtLeast(number(rest)?));
        }
        text.strip_prefix("at most ").map_or_else(|| Err(bad()), |rest| Ok(Self::AtMost(number(rest)?)))
    }
}

impl Serialize for Judge {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Judge {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Judge {
    fn schema_name() -> Cow<'static, str> {
        "Judge".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "What must come of a command.",
            "pattern": "^(exit (not )?-?[0-9]+|EXIT:-?[0-9]+|(count|at least|at most) [0-9]+|(matches|contains) [\\s\\S]*)$",
            "examples": ["exit 0", "at least 3", "matches ^ok$"],
        })
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
