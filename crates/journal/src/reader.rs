//! Reading a journal, beside a writer or without one. A reader never changes the journal and never blocks its writer.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};

use crate::error::{Error, Result, on};
use crate::row::{RunRow, StoredEvent};
use crate::schema;

/// How long a call waits for another process that holds the journal.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// How many runs the error about an ambiguous prefix names.
const NAMED: usize = 5;

/// The reading side of a journal; what it sees is always whole transactions.
#[derive(Debug)]
pub struct Reader {
    pub(crate) conn: Connection,
    pub(crate) path: PathBuf,
}

impl Reader {
    /// Opens the journal at `path` without the right to change it; the folder may be read-only too.
    pub fn open(path: &Path) -> Result<Self> {
        match fs::metadata(path) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(Error::NotFound { path: path.to_owned() });
            }
            Err(error) => {
                return Err(Error::CannotOpen { path: path.to_owned(), why: error.to_string() });
            }
        }
        match Self::connect(path, false) {
            // Without a log beside it the file holds everything, so nothing is missed by reading it alone.
            Err(Error::CannotOpen { .. } | Error::ReadOnly { .. }) if !has_log(path) => {
                Self::connect(path, true)
            }
            other => other,
        }
    }

    pub(crate) fn connect(path: &Path, immutable: bool) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = if immutable {
            Connection::open_with_flags(immutable_uri(path), flags | OpenFlags::SQLITE_OPEN_URI)
        } else {
            Connection::open_with_flags(path, flags)
        }
        .map_err(on(path))?;
        conn.busy_timeout(PATIENCE).map_err(on(path))?;
        if schema::check(&conn, path)? == 0 {
            return Err(Error::NotFound { path: path.to_owned() });
        }
        Ok(Self { conn, path: path.to_owned() })
    }

    /// Where the journal lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All runs, newest first.
    pub fn runs(&self) -> Result<Vec<RunRow>> {
        let mut query = self
            .conn
            .prepare_cached(
                "SELECT id, created_at, task, agent, policy, status, finished_at
                 FROM runs ORDER BY created_at DESC, id DESC",
            )
            .map_err(on(&self.path))?;
        query.query_map([], run_row).and_then(Iterator::collect).map_err(on(&self.path))
    }

    /// The run with this id, or the only one whose id starts with it.
    pub fn run(&self, id: &str) -> Result<RunRow> {
        let mut query = self
            .conn
            .prepare_cached(
                "SELECT id, created_at, task, agent, policy, status, finished_at
                 FROM runs WHERE substr(id, 1, length(?1)) = ?1 AND ?1 <> ''
                 ORDER BY id <> ?1, created_at DESC, id DESC LIMIT ?2",
            )
            .map_err(on(&self.path))?;
        let mut found: Vec<RunRow> = query
            .query_map(params![id, NAMED as i64], run_row)
            .and_then(Iterator::collect)
            .map_err(on(&self.path))?;
        match found.first() {
            None => Err(Error::UnknownRun { run: id.to_owned() }),
            Some(first) if found.len() == 1 || first.id == id => Ok(found.swap_remove(0)),
            Some(_) => Err(Error::AmbiguousRun {
                prefix: id.to_owned(),
                runs: found.into_iter().map(|run| run.id).collect(),
            }),
        }
    }

    /// At most `limit` events of a run that follow number `after` (0: from the start), in order.
    pub fn events(&self, run: &str, after: u64, limit: usize) -> Result<Vec<StoredEvent>> {
        let mut query = self
            .conn
            .prepare_cached(
                "SELECT seq, at, event, effects FROM events WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
            )
            .map_err(on(&self.path))?;
        query
            .query_map(params![run, clamp(after), clamp(limit as u64)], event_row)
            .and_then(Iterator::collect)
            .map_err(on(&self.path))
    }

    /// The number of a run's last event; 0 when it has none.
    pub fn last_seq(&self, run: &str) -> Result<u64> {
        last_seq(&self.conn, run)
            .map_err(on(&self.path))?
            .ok_or_else(|| Error::UnknownRun { run: run.to_owned() })
    }
}

/// The number of a run's last event, or `None` when there is no such run.
pub(crate) fn last_seq(conn: &Connection, run: &str) -> rusqlite::Result<Option<u64>> {
    conn.prepare_cached(
        "SELECT coalesce((SELECT max(seq) FROM events WHERE run = ?1), 0) FROM runs WHERE id = ?1",
    )?
    .query_row([run], |row| unsigned(row, 0))
    .optional()
}

/// The engine counts in signed numbers; no real number or time comes near the limit.
pub(crate) fn clamp(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::unsigned_abs)
}

fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        id: row.get(0)?,
        created_at: unsigned(row, 1)?,
        task: row.get(2)?,
        agent: row.get(3)?,
        policy: row.get(4)?,
        status: row.get(5)?,
        finished_at: row.get::<_, Option<i64>>(6)?.map(i64::unsigned_abs),
    })
}

fn event_row(row: &Row<'_>) -> rusqlite::Result<StoredEvent> {
    Ok(StoredEvent {
        seq: unsigned(row, 0)?,
        at: unsigned(row, 1)?,
        event: row.get(2)?,
        effects: row.get(3)?,
    })
}

/// Whether a write-ahead log with something in it lies beside the journal.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// The path as a URI that promises the engine that nobody writes.
fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte))
            }
            other => uri.push_str(&format!("%{other:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}
