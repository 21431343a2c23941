//! The row of a finished run beside its journal, so that a list of many runs opens few files.
//!
//! The row is written after the end is in the journal and taken away before anything follows it there. So one that is there
//! is right, and one that is lost costs only a look into the journal.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::row::RunRow;

const NAME: &str = "row.json";

/// The most that a row may take.
const MOST: u64 = 64 * 1024;

pub(crate) fn read(run_dir: &Path) -> Option<RunRow> {
    let mut text = Vec::new();
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(run_dir.join(NAME)).ok()?;
    file.take(MOST).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok().filter(|row: &RunRow| row.finished_at.is_some())
}

pub(crate) fn write(run_dir: &Path, row: &RunRow) {
    remove(run_dir);
    // Without the index everything is found a little later.
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(run_dir.join(NAME));
    if let (Ok(mut file), Ok(text)) = (file, serde_json::to_vec(row))
        && file.write_all(&text).is_err()
    {
        remove(run_dir);
    }
}

pub(crate) fn remove(run_dir: &Path) {
    let _ = fs::remove_file(run_dir.join(NAME));
}
