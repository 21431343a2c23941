//! Keeps the journal of one run: what causes something is stored at once, the rest a moment later and together.
//!
//! A thread of its own writes, one batch after the other, so that a disk or a lock holds up nobody else.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use segue_journal::{Entry, Error, Journal, Status};
use segue_machine::{Effect, Event, Record};
use tokio::sync::mpsc;

use super::DriverError;
use super::face::Said;
use crate::anchor::Anchors;
use crate::run_state::{self, RunState};

/// How long a full disk may stay full before the run is stopped.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long to wait before a full disk is tried again.
const RETRY: Duration = Duration::from_millis(250);

/// The most events, and bytes of them, that wait to be stored; then no more are taken in.
const MOST_ROWS: usize = 4_096;
const MOST_BYTES: usize = 16 << 20;

/// From so many events on the machine's state is stored again: about as many are folded by whoever looks at the run.
const ROWS_A_STATE: usize = 1_000;

/// The journal of one run, with what has not been stored yet.
pub(crate) struct Book {
    next: u64,
    waiting: Vec<Row>,
    /// What is to be said of events that are not stored yet, with the number of each and when it was taken in.
    unsaid: VecDeque<(u64, Instant, Said)>,
    bytes: usize,
    /// What was stored since the machine's state was.
    since: Since,
    busy: bool,
    batches: Option<SyncSender<Batch>>,
    written: mpsc::Receiver<segue_journal::Result<u64>>,
    /// Somebody removed what says elsewhere how the run stands.
    lost: Arc<AtomicBool>,
}

/// One event as it is stored.
struct Row {
    seq: u64,
    at: u64,
    event: String,
    effects: String,
    /// Whether how the run stands after it is put down elsewhere for good.
    anchored: bool,
}

struct Batch {
    rows: Vec<Row>,
    status: &'static str,
    finished_at: Option<u64>,
    /// What the rows lead to, where it is time to store that too.
    state: Option<Box<RunState>>,
}

/// What was stored since the machine's state was, and how much that took.
#[derive(Debug, Default)]
struct Since {
    rows: usize,
    bytes: usize,
    /// A session ended.
    ended: bool,
    state: Arc<AtomicUsize>,
}

impl Since {
    /// Whether the state is to be stored: now and then and at the end of a session, but never so often that states take
    /// more room than events.
    fn is_due(&self) -> bool {
        (self.rows >= ROWS_A_STATE || self.ended) && self.bytes >= self.state.load(Ordering::Relaxed)
    }

    fn begin_anew(&mut self) {
        (self.rows, self.bytes, self.ended) = (0, 0, false);
    }
}

impl Book {
    /// A book that goes on after event `last`.
    pub(crate) fn new(journal: Journal, run: impl Into<String>, last: u64) -> std::io::Result<Self> {
        let (batches, to_write) = sync_channel(1);
        let (tell, written) = mpsc::channel(1);
        let (since, lost) = (Since::default(), Arc::new(AtomicBool::new(false)));
        let scribe = Scribe {
            journal,
            run: run.into(),
            anchors: Anchors::of_user(),
            anchored: false,
            lost: Arc::clone(&lost),
            state: since.state.clone(),
        };
        std::thread::Builder::new()
            .name("segue-journal".to_owned())
            .spawn(move || scribe.serve(&to_write, &tell))?;
        let (waiting, unsaid) = (Vec::new(), VecDeque::new());
        let (batches, busy) = (Some(batches), false);
        Ok(Self { next: last + 1, waiting, unsaid, bytes: 0, since, busy, batches, written, lost })
    }

    pub(super) fn next_seq(&self) -> u64 {
        self.next
    }

    /// When the oldest event that is not stored yet was taken in.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.unsaid.front().map(|(_, since, _)| *since)
    }

    /// When the oldest event that nobody stores at the moment was taken in; nothing while others are being stored.
    pub(super) fn waits_since(&self) -> Option<Instant> {
        let first = self.waiting.first().filter(|_| !self.busy)?.seq;
        self.unsaid.iter().find(|(seq, _, _)| *seq == first).map(|(_, since, _)| *since)
    }

    /// Whether there is no room for more events.
    pub(super) fn is_full(&self) -> bool {
        self.unsaid.len() >= MOST_ROWS || self.bytes >= MOST_BYTES
    }

    pub(super) fn add(&mut self, record: &Record, effects: &[Effect], said: Said) -> Result<(), DriverError> {
        self.next = record.seq + 1;
        self.unsaid.push_back((record.seq, Instant::now(), said));
        let row = Row {
            seq: record.seq,
            at: record.at,
            event: serde_json::to_string(&record.event)?,
            effects: serde_json::to_string(effects)?,
            anchored: matches!(
                record.event,
                Event::RunStarted { .. } | Event::RunResumed { .. } | Event::CheckpointTaken { .. }
            ),
        };
        let bytes = row.event.len() + row.effects.len();
        self.bytes += bytes;
        self.since.rows += 1;
        self.since.bytes += bytes;
        self.since.ended |= matches!(record.event, Event::SessionExited { .. });
        self.waiting.push(row);
        Ok(())
    }

    /// Begins to store everything that waits, unless something is being stored: then it is next. `state` is what it leads to.
    pub(super) fn store(
        &mut self,
        status: &'static str,
        finished_at: Option<u64>,
        state: impl FnOnce() -> RunState,
    ) {
        if self.busy || self.waiting.is_empty() {
            return;
        }
        let rows = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        // A thread that is gone says so where its answer is waited for.
        let state = self.since.is_due().then(|| Box::new(state()));
        if state.is_some() {
            self.since.begin_anew();
        }
        let batch = Batch { rows, status, finished_at, state };
        let _ = self.batches.as_ref().map(|batches| batches.send(batch));
        self.busy = true;
    }

    /// Whether a batch is on its way to the disk.
    pub(super) fn is_busy(&self) -> bool {
        self.busy
    }

    /// Waits until a batch is on disk and says up to which event. Safe to drop and call again.
    pub(super) async fn stored(&mut self) -> segue_journal::Result<u64> {
        let written = self.written.recv().await;
        self.busy = false;
        written.unwrap_or_else(|| {
            let why = "its thread has ended".to_owned();
            Err(Error::Failed { path: std::path::PathBuf::new(), why })
        })
    }

    /// The same without waiting; nothing when there is no answer yet.
    pub(super) fn stored_now(&mut self) -> Option<segue_journal::Result<u64>> {
        let stored = self.written.try_recv().ok();
        self.busy &= stored.is_none();
        stored
    }

    /// Whether somebody removed what says elsewhere how the run stands, since this was last asked.
    pub(super) fn lost_anchor(&self) -> bool {
        self.lost.swap(false, Ordering::Relaxed)
    }

    /// Closes the journal, and waits until it is closed.
    pub(super) async fn close(&mut self) {
        self.batches = None;
        while self.written.recv().await.is_some() {}
    }

    /// What may be said now that it is true for good.
    pub(super) fn said(&mut self, upto: u64) -> Vec<Said> {
        let stored = self.unsaid.iter().take_while(|(seq, _, _)| *seq <= upto).count();
        self.unsaid.drain(..stored).map(|(_, _, said)| said).collect()
    }
}

/// What the thread writes with.
struct Scribe {
    journal: Journal,
    run: String,
    anchors: Option<Anchors>,
    anchored: bool,
    lost: Arc<AtomicBool>,
    /// How large the last state was.
    state: Arc<AtomicUsize>,
}

impl Scribe {
    fn serve(mut self, batches: &Receiver<Batch>, tell: &mpsc::Sender<segue_journal::Result<u64>>) {
        while let Ok(batch) = batches.recv() {
            let written = self.write(&batch);
            let is_written = written.is_ok();
            if tell.blocking_send(written).is_err() {
                return;
            }
            // What follows from the events need not wait for it.
            if let (true, Some(state), Some(last)) = (is_written, batch.state, batch.rows.last())
                && let Err(error) = self.keep_state(&state, last.at)
            {
                log::warn!("the state after event {} is not stored: {error}", last.seq);
            }
        }
    }

    fn keep_state(&mut self, state: &RunState, at: u64) -> std::io::Result<()> {
        let began = Instant::now();
        let packed = state.pack()?;
        self.state.store(packed.unpacked, Ordering::Relaxed);
        let stored = self.journal.keep_state(&self.run, run_state::VERSION, at, &packed.bytes);
        stored.map_err(std::io::Error::other)?;
        self.anchor(true);
        let (bytes, whole, ms) = (packed.bytes.len(), packed.unpacked, began.elapsed().as_millis());
        log::debug!("the state is stored: {bytes} bytes, {whole} unpacked, {ms} ms");
        Ok(())
    }

    fn write(&mut self, batch: &Batch) -> segue_journal::Result<u64> {
        let entries: Vec<Entry<'_>> = batch
            .rows
            .iter()
            .map(|row| Entry { seq: row.seq, at: row.at, event: &row.event, effects: &row.effects })
            .collect();
        let status = Status { text: batch.status, finished_at: batch.finished_at };
        let began = Instant::now();
        loop {
            match self.journal.append(&self.run, &entries, Some(status)) {
                Ok(()) => break,
                Err(error @ Error::Full { .. }) if began.elapsed() < PATIENCE => {
                    log::warn!("{error}");
                    std::thread::sleep(RETRY);
                }
                Err(error) => return Err(error),
            }
        }
        self.anchor(batch.finished_at.is_some() || batch.rows.iter().any(|row| row.anchored));
        log::debug!("{} events stored in {} ms", entries.len(), began.elapsed().as_millis());
        Ok(batch.rows.last().map_or(0, |row| row.seq))
    }

    // A run goes on without: whoever resumes it is told.
    fn anchor(&mut self, for_good: bool) {
        let Some(anchors) = &self.anchors else { return };
        let gone = self.anchored && !anchors.has(&self.run);
        if gone {
            self.lost.store(true, Ordering::Relaxed);
        }
        let put = if for_good || gone || !self.anchored { Anchors::set } else { Anchors::follow };
        let put = put(anchors, &mut self.journal, &self.run);
        if let Err(error) = &put {
            log::warn!("the journal's last link is not kept elsewhere: {error}");
        }
        self.anchored = put.is_ok();
    }
}
