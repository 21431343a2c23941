//! A run read back from its journal: the same events through the same machine.

use segue_journal::{Reader, StoredEvent};
use segue_machine::{Effect, Event, Record, Run};
use thiserror::Error;

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
pub(crate) fn differences(past: &[Past]) -> Vec<Difference> {
    let mut found = Vec::new();
    replay(past, |step, effects, _| {
        if step.decided != effects {
            let lines =
                |effects: &[Effect]| effects.iter().filter_map(|e| serde_json::to_string(e).ok()).collect();
            found.push(Difference {
                seq: step.record.seq,
                event: serde_json::to_string(&step.record.event).unwrap_or_default(),
                recorded: lines(&step.decided),
                decided: lines(effects),
            });
        }
    });
    found
}

fn decode(run: &str, stored: &StoredEvent) -> Result<Past, HistoryError> {
    let bad = |why: serde_json::Error| HistoryError::Event {
        run: run.to_owned(),
        seq: stored.seq,
        why: why.to_string(),
    };
    let event: Event = serde_json::from_str(&stored.event).map_err(bad)?;
    let decided = serde_json::from_str(&stored.effects).map_err(bad)?;
    Ok(Past { record: Record { seq: stored.seq, at: stored.at, event }, decided })
}
