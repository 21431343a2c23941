//! Writing results to standard output. A reader that went away is no error. Nothing that a terminal would act on passes
//! here, but for [`painted`] lines, whose colours are segue's own, and [`bytes`], which were asked for as they are.

use std::borrow::Cow;
use std::io::{self, Write};

use segue_report::{Time, escape_json, plain, printable, wrap};
use serde::Serialize;

use super::failure::Failure;
use crate::driver;

/// Writes one line.
pub(super) fn line(text: &str) {
    painted([harmless(text)]);
}

/// Writes something as JSON on one line.
pub(super) fn json(what: &impl Serialize) -> Result<(), Failure> {
    line(&serde_json::to_string(what)?);
    Ok(())
}

/// Writes lines; whether somebody still reads them.
pub(super) fn lines<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> bool {
    painted(lines.into_iter().map(|line| harmless(line.as_ref()).into_owned()))
}

/// Writes a sentence behind a label; on a terminal no word of it is broken at the edge.
pub(super) fn labelled(label: &str, text: &str) {
    let text = format!("{label}{text}");
    match usize::from(driver::screen_width()) {
        width if width == 0 || text.contains('\n') => line(&text),
        width => {
            lines(wrap(&text, width, label.chars().count().min(width / 2)));
        }
    }
}

/// Writes lines that a view has cleaned and painted; whether somebody still reads them.
pub(super) fn painted<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> bool {
    let mut out = io::stdout().lock();
    for line in lines {
        if writeln!(out, "{}", line.as_ref()).is_err() {
            return false;
        }
    }
    true
}

// JSON keeps what it says, as escapes.
fn harmless(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| b == b'\n' || b == b'\t' || (b' '..0x7f).contains(&b)) {
        Cow::Borrowed(text)
    } else if text.starts_with(['{', '[']) && !text.contains('\n') {
        Cow::Owned(escape_json(text))
    } else {
        Cow::Owned(printable(text))
    }
}

/// How wide each column of a table is.
pub(super) fn widths<const N: usize>(rows: &[[String; N]]) -> [usize; N] {
    std::array::from_fn(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
}

/// A row of a table, as wide as its columns are.
pub(super) fn row<const N: usize>(cells: &[String; N], widths: &[usize; N]) -> String {
    let cells = cells.iter().zip(widths).map(|(cell, width)| format!("{:<width$}", plain(cell)));
    cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

/// A moment for people, in UTC and to the second.
pub(super) fn moment(time: Time) -> String {
    time.to_string().chars().take(19).collect::<String>().replace('T', " ")
}

/// A size on disk for people.
pub(super) fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..10_000 => (1, "B"),
        10_000..10_000_000 => (1_000, "KB"),
        10_000_000..10_000_000_000 => (1_000_000, "MB"),
        _ => (1_000_000_000, "GB"),
    };
    format!("{} {name}", bytes / unit)
}

/// Writes bytes as they are.
pub(super) fn bytes(bytes: &[u8]) {
    let _ = io::stdout().lock().write_all(bytes);
}
