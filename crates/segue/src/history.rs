//! A run read back from its journal: the same events through the same machine, from the newest state that is stored.

use segue_journal::{Reader, StoredEvent};
use segue_machine::{Effect, Event, Millis, Record, Run};
use thiserror::Error;

use crate::anchor::Anchors;
use crate::run_state::{self, RunState};

/// How many events are read at a time.
const PAGE: usize = 5_000;

/// A journal that cannot be read back.
#[derive(Debug, Error)]
pub(crate) enum HistoryError {
    /// The journal itself.
    #[error(transparent)]
    Journal(#[from] segue_journal::Error),
    /// An event that this version does not know.
    #[error(
        "event {seq} of run {run} cannot be read ({why}): it was written by another version of segue, or damaged"
    )]
    Event {
        /// The run.
        run: String,
        /// Which event.
        seq: u64,
        /// Why.
        why: String,
    },
}

/// One event with what was decided about it when it happened.
#[derive(Debug, Clone)]
pub(crate) struct Past {
    pub(crate) record: Record,
    pub(crate) decided: Vec<Effect>,
}

/// A place where the machine decides otherwise than it did.
#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct Difference {
    pub(crate) seq: u64,
    pub(crate) event: String,
    pub(crate) recorded: Vec<String>,
    pub(crate) decided: Vec<String>,
}

/// A run as its journal has it.
#[derive(Debug)]
pub(crate) struct Folded {
    pub(crate) state: RunState,
    /// The last event that it has seen.
    pub(crate) last: u64,
}

impl Folded {
    /// Takes in what the journal has beyond it, up to a time.
    pub(crate) fn read_on(&mut self, reader: &Reader, run: &str, before: Millis) -> Result<(), HistoryError> {
        loop {
            let stored = reader.events(run, self.last, PAGE)?;
            if stored.is_empty() {
                return Ok(());
            }
            for event in &stored {
                let record = record(run, event)?;
                if record.at >= before {
                    return Ok(());
                }
                let effects = self.state.machine.handle(&record);
                self.state.stream.take(&record, &effects, self.state.machine.view());
                self.last = record.seq;
            }
        }
    }
}

/// A run as it stands, from its newest stored state on.
pub(crate) fn folded(reader: &Reader, run: &str) -> Result<Folded, HistoryError> {
    folded_before(reader, run, Millis::MAX)
}

/// A run as it stood before a time.
pub(crate) fn folded_before(reader: &Reader, run: &str, before: Millis) -> Result<Folded, HistoryError> {
    let link = Anchors::of_user().and_then(|anchors| anchors.link(run));
    let stored = run_state::proven(reader, run, link.as_ref(), before)?;
    // One that cannot be read is of no use; the events are.
    let known = stored.and_then(|stored| Some((RunState::unpack(&stored.state).ok()?, stored.seq)));
    let (state, last) = known.unwrap_or_else(|| (RunState::new(run), 0));
    let mut folded = Folded { state, last };
    folded.read_on(reader, run, before)?;
    log::debug!("run {run}: {} events folded after the state of event {last}", folded.last - last);
    Ok(folded)
}

/// Reads the events of a run after `after`, in order.
pub(crate) fn read(reader: &Reader, run: &str, after: u64) -> Result<Vec<Past>, HistoryError> {
    let mut past = Vec::new();
    let mut last = after;
    loop {
        let read = page(reader, run, last, PAGE)?;
        let Some(end) = read.last() else { return Ok(past) };
        last = end.record.seq;
        past.extend(read);
    }
}

/// At most `most` events of a run that follow number `after`.
pub(crate) fn page(reader: &Reader, run: &str, after: u64, most: usize) -> Result<Vec<Past>, HistoryError> {
    reader.events(run, after, most)?.iter().map(|stored| decode(run, stored)).collect()
}

/// The machine as it stands after these events, calling `each` with every step.
pub(crate) fn replay(past: &[Past], mut each: impl FnMut(&Past, &[Effect], &Run)) -> Run {
    let mut machine = Run::default();
    for step in past {
        let effects = machine.handle(&step.record);
        each(step, &effects, &machine);
    }
    machine
}

/// Every place where the machine decides otherwise than it did.
pub(crate) fn differences(past: &[Past]) -> serde_json::Result<Vec<Difference>> {
    let lines = |effects: &[Effect]| -> serde_json::Result<Vec<String>> {
        effects.iter().map(serde_json::to_string).collect()
    };
    let mut machine = Run::default();
    let mut found = Vec::new();
    for step in past {
        let decided = machine.handle(&step.record);
        if step.decided != decided {
            found.push(Difference {
                seq: step.record.seq,
                event: serde_json::to_string(&step.record.event)?,
                recorded: lines(&step.decided)?,
                decided: lines(&decided)?,
            });
        }
    }
    Ok(found)
}

fn decode(run: &str, stored: &StoredEvent) -> Result<Past, HistoryError> {
    let decided = serde_json::from_str(&stored.effects).map_err(|why| unreadable(run, stored, &why))?;
    Ok(Past { record: record(run, stored)?, decided })
}

fn record(run: &str, stored: &StoredEvent) -> Result<Record, HistoryError> {
    let event: Event = serde_json::from_str(&stored.event).map_err(|why| unreadable(run, stored, &why))?;
    Ok(Record { seq: stored.seq, at: stored.at, event })
}

fn unreadable(run: &str, stored: &StoredEvent, why: &serde_json::Error) -> HistoryError {
    HistoryError::Event { run: run.to_owned(), seq: stored.seq, why: why.to_string() }
}
