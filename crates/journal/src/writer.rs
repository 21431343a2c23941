//! Writing a journal: one owner, each call one durable transaction.
//!
//! The check of the last link inside that transaction is the fence: of two writers that both believe they own a run, the
//! slower one is refused and nothing of it is stored.

use std::path::Path;

use rusqlite::{ErrorCode, TransactionBehavior, params};

use crate::chain::Link;
use crate::error::{Error, Result, on};
use crate::file::{RunFile, clamp, last_link};
use crate::index;
use crate::reader::{Reader, is_name};
use crate::row::{Entry, RunRow, Status};

/// The writing side of the journals below one folder. A call that returns `Ok` has reached the disk.
#[derive(Debug)]
pub struct Journal {
    reader: Reader,
    pub(crate) open: Option<Open>,
}

/// The run that was written to last.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) file: RunFile,
    row: RunRow,
    /// The last link that was written or found here.
    last: Link,
}

impl Journal {
    /// The journals of the runs below `dir`, for writing; a run's file is opened when it is written to.
    #[must_use]
    pub fn open(dir: &Path) -> Self {
        Self { reader: Reader::at(dir), open: None }
    }

    /// The journals of the runs below `dir`, for reading only.
    #[must_use]
    pub fn read(dir: &Path) -> Reader {
        Reader::at(dir)
    }

    /// The reading side.
    #[must_use]
    pub fn view(&self) -> &Reader {
        &self.reader
    }

    /// Stores a new run, without events.
    pub fn create_run(&mut self, run: &RunRow) -> Result<()> {
        if !is_name(&run.id) {
            return Err(Error::UnknownRun { run: run.id.clone() });
        }
        let path = self.reader.file(&run.id);
        let file = RunFile::write(&path)?;
        let stored = file.conn.execute(
            "INSERT INTO runs (id, created_at, task, agent, policy, status, finished_at)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (SELECT 1 FROM runs)",
            params![
                run.id,
                clamp(run.created_at),
                run.task,
                run.agent,
                run.policy,
                run.status,
                run.finished_at.map(clamp)
            ],
        );
        let exists = || Err(Error::RunExists { run: run.id.clone() });
        match stored {
            Ok(0) => exists(),
            Ok(_) => {
                self.open = Some(Open { file, row: run.clone(), last: Link::first(run) });
                Ok(())
            }
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => exists(),
            Err(error) => Err(on(&path)(error)),
        }
    }

    /// Stores the next events of a run and where it stands after them, all or nothing.
    pub fn append(&mut self, run: &str, entries: &[Entry<'_>], status: Option<Status<'_>>) -> Result<()> {
        let dir = self.reader.path().join(run);
        let Open { file, row, last } = self.opened(run)?;
        if !file.is_in_place() {
            return Err(Error::Gone { path: file.path.clone() });
        }
        if status.is_some_and(|status| status.finished_at.is_none()) {
            index::remove(&dir);
        }
        let path = file.path.clone();
        let engine = on(&path);
        let change = file.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&engine)?;
        let stored = last_link(&change, row).map_err(&engine)?;
        if stored != *last && stored.seq == last.seq {
            let why = format!("event {} was changed", stored.seq);
            return Err(Error::Changed { path: path.clone(), why });
        }
        let mut link = stored;
        {
            let mut insert = change
                .prepare_cached(
                    "INSERT INTO events (run, seq, at, event, effects, chain) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )
                .map_err(&engine)?;
            for entry in entries {
                // Events that somebody else has added or taken away show here, too.
                if entry.seq != link.seq + 1 {
                    let (run, expected) = (run.to_owned(), link.seq + 1);
                    return Err(Error::OutOfOrder { run, expected, given: entry.seq });
                }
                link = link.next(entry);
                let (seq, at) = (clamp(entry.seq), clamp(entry.at));
                insert
                    .execute(params![run, seq, at, entry.event, entry.effects, &link.hash[..]])
                    .map_err(&engine)?;
            }
        }
        if let Some(status) = status {
            change
                .prepare_cached("UPDATE runs SET status = ?2, finished_at = ?3 WHERE id = ?1")
                .and_then(|mut update| {
                    update.execute(params![run, status.text, status.finished_at.map(clamp)])
                })
                .map_err(&engine)?;
        }
        change.commit().map_err(&engine)?;
        *last = link;
        if let Some(status) = status {
            (row.status, row.finished_at) = (status.text.to_owned(), status.finished_at);
            if row.finished_at.is_some() {
                index::write(&dir, row);
            }
        }
        if file.is_in_place() { Ok(()) } else { Err(Error::Gone { path: path.clone() }) }
    }

    /// Stores what the events so far led to; every later event covers it. `at` is the time of the last one.
    pub fn keep_state(&mut self, run: &str, version: &str, at: u64, state: &[u8]) -> Result<()> {
        let Open { file, row, last } = self.opened(run)?;
        let path = file.path.clone();
        let engine = on(&path);
        let change = file.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&engine)?;
        let stored = last_link(&change, row).map_err(&engine)?;
        if stored != *last {
            let why = format!("event {} is not the last one any more, or not as it was written", last.seq);
            return Err(Error::Changed { path: path.clone(), why });
        }
        let link = stored.with_state(version, state);
        change
            .execute(
                "INSERT INTO states (seq, at, version, state, chain) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![clamp(link.seq), clamp(at), version, state, &link.hash[..]],
            )
            .map_err(&engine)?;
        change.commit().map_err(&engine)?;
        *last = link;
        Ok(())
    }

    /// The last link of a run.
    pub fn link(&mut self, run: &str) -> Result<Link> {
        Ok(self.opened(run)?.last)
    }

    /// Notes that the run was anchored up to this event, and where.
    pub fn set_anchored(&mut self, run: &str, seq: u64, place: &str) -> Result<()> {
        let file = &self.opened(run)?.file;
        file.conn
            .execute(
                "INSERT OR REPLACE INTO anchors (seq, place) VALUES (?1, ?2)",
                params![clamp(seq), place],
            )
            .map(drop)
            .map_err(on(&file.path))
    }

    /// Takes what is stored as it is: every link is computed anew.
    pub fn accept(&mut self, run: &str) -> Result<()> {
        let Open { file, row, last } = self.opened(run)?;
        let path = file.path.clone();
        let events = file.events(run, 0, usize::MAX)?;
        let change =
            file.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(on(&path))?;
        let mut link = Link::first(row);
        for event in &events {
            let (at, text, effects) = (event.at, event.event.as_str(), event.effects.as_str());
            link = link.next(&Entry { seq: event.seq, at, event: text, effects });
            change
                .execute(
                    "UPDATE events SET chain = ?3 WHERE run = ?1 AND seq = ?2",
                    params![run, clamp(event.seq), &link.hash[..]],
                )
                .map_err(on(&path))?;
        }
        // States are only worth what the old links proved.
        change.execute_batch("DELETE FROM anchors; DELETE FROM states").map_err(on(&path))?;
        change.commit().map_err(on(&path))?;
        *last = link;
        Ok(())
    }

    /// Removes a state after the last event that the link which was put down elsewhere does not cover: nothing says that it
    /// is the one that was stored.
    pub fn drop_unproven_state(&mut self, run: &str, link: &Link) -> Result<()> {
        let Open { file, last, .. } = self.opened(run)?;
        if link.seq != last.seq || link.hash == last.hash {
            return Ok(());
        }
        file.conn.execute("DELETE FROM states WHERE seq = ?1", [clamp(link.seq)]).map_err(on(&file.path))?;
        *last = *link;
        Ok(())
    }

    fn opened(&mut self, run: &str) -> Result<&mut Open> {
        if self.open.as_ref().is_none_or(|open| open.row.id != run) {
            // Looked for before it is opened for writing, which would make one.
            drop(self.reader.open(run)?);
            let file = RunFile::write(&self.reader.file(run))?;
            let row = file.row(run)?;
            let last = last_link(&file.conn, &row).map_err(on(&file.path))?;
            return Ok(self.open.insert(Open { file, row, last }));
        }
        self.open.as_mut().ok_or_else(|| Error::UnknownRun { run: run.to_owned() })
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "state_tests.rs"]
mod state_tests;
