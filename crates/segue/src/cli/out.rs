//! Writing results to standard output. A reader that went away is no error.

use std::io::{self, Write};

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

/// Writes bytes as they are.
pub(super) fn bytes(bytes: &[u8]) {
    let _ = io::stdout().lock().write_all(bytes);
}
