//! Keeps the journal of one run: what causes something is stored at once, the rest a moment later and together.

use std::time::Instant;

use segue_journal::{Entry, Journal, Status};
use segue_machine::{Effect, Event, Record};

use super::face::Said;
use crate::anchor::Anchors;

/// The journal of one run, with what has not been stored yet.
pub(crate) struct Book {
    journal: Journal,
    run: String,
    next: u64,
    waiting: Vec<Waiting>,
    since: Option<Instant>,
    anchors: Option<Anchors>,
}

struct Waiting {
    seq: u64,
    at: u64,
    event: String,
    effects: String,
    said: Said,
    /// Whether how the run stands after it is put down elsewhere, too.
    anchored: bool,
}

impl Book {
    /// A book that goes on after event `last`.
    pub(crate) fn new(journal: Journal, run: impl Into<String>, last: u64) -> Self {
        let anchors = Anchors::of_user();
        Self { journal, run: run.into(), next: last + 1, waiting: Vec::new(), since: None, anchors }
    }

    pub(super) fn next_seq(&self) -> u64 {
        self.next
    }

    /// When the oldest event that is not stored yet was taken in.
    pub(super) fn waits_since(&self) -> Option<Instant> {
        self.since
    }

    pub(super) fn add(&mut self, record: &Record, effects: &[Effect], said: Said) {
        self.next = record.seq + 1;
        self.since.get_or_insert_with(Instant::now);
        self.waiting.push(Waiting {
            seq: record.seq,
            at: record.at,
            event: serde_json::to_string(&record.event).unwrap_or_default(),
            effects: serde_json::to_string(effects).unwrap_or_default(),
            said,
            anchored: matches!(
                record.event,
                Event::RunStarted { .. } | Event::RunResumed { .. } | Event::CheckpointTaken { .. }
            ),
        });
    }

    /// Stores everything that waits, and returns what may be said now that it is true for good.
    pub(super) fn flush(
        &mut self,
        status: &str,
        finished_at: Option<u64>,
    ) -> segue_journal::Result<Vec<Said>> {
        let entries: Vec<Entry<'_>> = self
            .waiting
            .iter()
            .map(|w| Entry { seq: w.seq, at: w.at, event: &w.event, effects: &w.effects })
            .collect();
        self.journal.append(&self.run, &entries, Some(Status { text: status, finished_at }))?;
        if finished_at.is_some() || self.waiting.iter().any(|waiting| waiting.anchored) {
            self.anchor();
        }
        self.since = None;
        Ok(self.waiting.drain(..).map(|w| w.said).collect())
    }

    // A run goes on without: whoever resumes it is told.
    fn anchor(&mut self) {
        if let Some(anchors) = &self.anchors {
            let _ = anchors.set(&mut self.journal, &self.run);
        }
    }
}
