//! Writing results to standard output. A reader that went away is no error.

use std::io::{self, Write};

use segue_report::{Time, plain};

/// Writes one line.
pub(super) fn line(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// Writes lines.
pub(super) fn lines<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) {
    let mut out = io::stdout().lock();
    for line in lines {
        if writeln!(out, "{}", line.as_ref()).is_err() {
            return;
        }
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
