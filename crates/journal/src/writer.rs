//! Writing a journal: one owner, each call one durable transaction.
//!
//! The check of the sequence number inside that transaction is the fence: of two writers that both believe they own a
//! run, the slower one is refused and nothing of it is stored.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, TransactionBehavior, params};

use crate::error::{Error, Result, on};
use crate::reader::{Reader, clamp, last_seq};
use crate::row::{Entry, RunRow, Status};
use crate::schema;

/// How long others may write before this one gives up: several runs share a journal, and a slow disk makes each wait for all.
const PATIENCE_TO_WRITE: Duration = Duration::from_secs(60);

/// The writing side of a journal. A call that returns `Ok` has reached the disk.
#[derive(Debug)]
pub struct Journal {
    inner: Reader,
}

impl Journal {
    /// Opens the journal at `path` for writing; creates it or brings it to this version where needed.
    pub fn open(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut conn = Connection::open_with_flags(path, flags).map_err(on(path))?;
        // Where writing is not allowed the engine opens for reading without a word.
        if conn.is_readonly(MAIN_DB).map_err(on(path))? {
            return Err(Error::ReadOnly { path: path.to_owned() });
        }
        conn.busy_timeout(PATIENCE_TO_WRITE).map_err(on(path))?;
        schema::check(&conn, path)?;
        write_ahead(&conn).map_err(on(path))?;
        conn.pragma_update(None, "synchronous", "FULL").map_err(on(path))?;
        conn.pragma_update(None, "foreign_keys", true).map_err(on(path))?;
        schema::migrate(&mut conn, path)?;
        Ok(Self { inner: Reader { conn, path: path.to_owned() } })
    }

    /// Opens the journal at `path` for reading only.
    pub fn read(path: &Path) -> Result<Reader> {
        Reader::open(path)
    }

    /// The reading side, on the writer's own connection.
    pub fn view(&self) -> &Reader {
        &self.inner
    }

    /// Stores a new run, without events.
    pub fn create_run(&mut self, run: &RunRow) -> Result<()> {
        let path = &self.inner.path;
        let stored = self.inner.conn.execute(
            "INSERT INTO runs (id, created_at, task, agent, policy, status, finished_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
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
        match stored {
            Ok(_) => Ok(()),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                Err(Error::RunExists { run: run.id.clone() })
            }
            Err(error) => Err(on(path)(error)),
        }
    }

    /// Stores the next events of a run and where it stands after them, all or nothing.
    pub fn append(&mut self, run: &str, entries: &[Entry<'_>], status: Option<Status<'_>>) -> Result<()> {
        let Reader { conn, path } = &mut self.inner;
        let engine = on(path);
        let change = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&engine)?;
        let last = last_seq(&change, run).map_err(&engine)?;
        let mut last = last.ok_or_else(|| Error::UnknownRun { run: run.to_owned() })?;
        {
            let mut insert = change
                .prepare_cached(
                    "INSERT INTO events (run, seq, at, event, effects) VALUES (?1, ?2, ?3, ?4, ?5)",
                )
                .map_err(&engine)?;
            for entry in entries {
                if entry.seq != last + 1 {
                    return Err(Error::OutOfOrder {
                        run: run.to_owned(),
                        expected: last + 1,
                        given: entry.seq,
                    });
                }
                last = entry.seq;
                insert
                    .execute(params![run, clamp(entry.seq), clamp(entry.at), entry.event, entry.effects])
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
        change.commit().map_err(&engine)
    }
}

// The switch is made once in a journal's life and does not wait by itself when somebody else makes it at the same time.
fn write_ahead(conn: &Connection) -> rusqlite::Result<()> {
    let until = Instant::now() + PATIENCE_TO_WRITE;
    loop {
        match conn.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if busy(&error) && Instant::now() < until => thread::sleep(Duration::from_millis(10)),
            done => return done,
        }
    }
}

fn busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
