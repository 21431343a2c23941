//! Finding the report in what an agent says: fenced or not, with words around it, the last of several.

use serde_json::Value;
use thiserror::Error;

use super::{Report, values};

/// No more than this much of an answer is looked at, from its end: thousands of tasks fit.
const MOST_BYTES: usize = 1 << 20;

/// How many beginnings of an object are tried.
const MOST_TRIES: usize = 400;

/// A report, and what had to be mended in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// The report.
    pub report: Report,
    /// What was not as the contract says, in words.
    pub mended: Vec<String>,
}

/// An answer without a report that can be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoReport {
    /// There is none.
    #[error(
        "there is no report in the answer: end with one JSON object that has status, recommendation and summary"
    )]
    Missing,
    /// There is one that is no JSON.
    #[error("the report is not valid JSON ({0}): give it again as one object")]
    Broken(String),
    /// There is one that lacks something.
    #[error("the report lacks something: {0}")]
    Incomplete(String),
}

/// The report in an answer.
///
/// # Errors
/// There is none, or it cannot be used; the message is what the agent can be told.
pub fn read(answer: &str) -> Result<Read, NoReport> {
    let answer = tail(answer);
    let mut last: Option<Result<Read, NoReport>> = None;
    let mut broken: Option<String> = None;
    let (mut at, mut tries) = (0, 0);
    while let Some(found) = answer.get(at..).and_then(|rest| rest.find('{')) {
        at += found;
        tries += 1;
        if tries > MOST_TRIES {
            break;
        }
        let rest = &answer[at..];
        match object(rest) {
            Ok((value, length, mended)) => {
                if values::is_report(&value) {
                    last = Some(values::report(&value).map(|mut read| {
                        read.mended.extend(mended.map(str::to_owned));
                        read
                    }));
                }
                at += length;
            }
            Err(why) => {
                if rest.get(..400.min(rest.len())).unwrap_or(rest).contains("\"status\"") {
                    broken = Some(why);
                }
                at += 1;
            }
        }
    }
    match (last, broken) {
        (Some(read), _) => read,
        (None, Some(why)) => Err(NoReport::Broken(why)),
        (None, None) => Err(NoReport::Missing),
    }
}

// The end of an answer, from a character on.
fn tail(answer: &str) -> &str {
    let mut from = answer.len().saturating_sub(MOST_BYTES);
    while !answer.is_char_boundary(from) {
        from += 1;
    }
    &answer[from..]
}

// The object that a text begins with, how long it is, and what was mended.
fn object(text: &str) -> Result<(Value, usize, Option<&'static str>), String> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match stream.next() {
        Some(Ok(value)) => Ok((value, stream.byte_offset(), None)),
        Some(Err(error)) => {
            let end = closing(text).ok_or_else(|| error.to_string())?;
            let value = serde_json::from_str(&without_commas(&text[..end])).map_err(|_| error.to_string())?;
            Ok((value, end, Some("a comma before a closing bracket")))
        }
        None => Err("nothing".to_owned()),
    }
}

// Where the object ends that a text begins with.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn without_commas(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    for char in text.chars() {
        if !quoted && matches!(char, '}' | ']') {
            let kept = out.trim_end();
            if let Some(kept) = kept.strip_suffix(',') {
                out.truncate(kept.len());
            }
        }
        match char {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        out.push(char);
    }
    out
}
