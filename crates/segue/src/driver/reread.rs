//! The lines of a run, read back from its journal: for a reader who is further behind than what is kept in memory.

use std::path::PathBuf;

use segue_journal::Journal;
use segue_machine::Run;
use segue_report::{OuterStream, to_json_line};

use crate::history::{self, HistoryError};

/// How many events are read at a time.
const PAGE: usize = 200;

/// A run that is told again, from its first event on; what it has told already is not read twice.
#[derive(Debug)]
pub(super) struct Reread {
    runs: PathBuf,
    run: String,
    machine: Run,
    stream: OuterStream,
    at: u64,
}

impl Reread {
    /// The run of this id, whose journal lies below `runs`.
    pub(super) fn of(runs: PathBuf, run: &str) -> Self {
        Self { runs, run: run.to_owned(), machine: Run::default(), stream: OuterStream::new(run), at: 0 }
    }

    /// The last event that was read.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// The lines of the next events, each with its number.
    pub(super) fn next(&mut self) -> Result<Vec<(u64, String)>, HistoryError> {
        let reader = Journal::read(&self.runs);
        let mut lines = Vec::new();
        for step in history::page(&reader, &self.run, self.at, PAGE)? {
            let effects = self.machine.handle(&step.record);
            let told = self.stream.take(&step.record, &effects, self.machine.view());
            lines.extend(told.iter().map(|line| (line.seq, to_json_line(line))));
            self.at = step.record.seq;
        }
        Ok(lines)
    }
}
