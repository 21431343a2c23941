//! One outer line as one line of JSON that is safe to print, whatever a goal or a path contains.

use std::fmt::Write;

use crate::Line;
use crate::terminal::reorders;

/// The line as JSON without a line end. No control character and no line separator in it is raw.
pub fn to_json_line(line: &Line) -> String {
    let json = serde_json::to_string(line).unwrap_or_else(|_| unwritable(line));
    if json.chars().any(must_escape) { escape_json(&json) } else { json }
}

// serde_json writes these raw: valid JSON, but a terminal or a JavaScript reader may act on them.
fn must_escape(c: char) -> bool {
    c.is_control() || reorders(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

/// JSON on one line with everything escaped that a terminal would act on. Outside strings JSON has none of these
/// characters, so each one stands inside a string.
pub fn escape_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if must_escape(c) {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

// A line is made of strings, numbers and lists only, which serde_json can always write; a gap in `seq` would be worse
// than a line that says less.
fn unwritable(line: &Line) -> String {
    serde_json::json!({
        "type": "warning", "run": line.run, "seq": line.seq, "at": line.at.to_string(),
        "code": "unwritable", "text": format!("a {} event could not be written", line.event.name()),
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outer, Warning, sample};

    fn said(text: &str) -> String {
        to_json_line(&sample::line(Outer::Warning(Warning { code: "c".into(), text: text.into() })))
    }

    #[test]
    fn e3_a_line_is_one_line_of_valid_json_whatever_it_says() {
        let lossy = String::from_utf8_lossy(b"half \xed\xa0\x80 surrogate").into_owned();
        for text in [
            "two\nlines\r\n",
            r#"a "quote" and a \"#,
            "\0\u{1b}[31m\u{7f}\u{9b}2J",
            "a\u{2028}b\u{2029}c",
            &lossy,
            "🦀e\u{301}",
        ] {
            let json = said(text);
            assert!(!json.chars().any(must_escape), "{json:?}");
            let back: serde_json::Value = serde_json::from_str(&json).unwrap();
            assert_eq!(back["text"], text);
        }
    }
}
