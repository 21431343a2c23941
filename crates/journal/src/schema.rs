//! The tables, and how a journal of an older version becomes one of this version.
//!
//! The rule: a program accepts every older version and refuses a newer one. A migration only adds (tables, columns
//! with a default, indexes), and one that has been released is never edited.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::{Error, Result, on};

/// The version of the journals that this program writes.
pub const VERSION: u32 = MIGRATIONS.len() as u32;

/// What leads from version `i` to version `i + 1`.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE runs (
        id          TEXT    NOT NULL PRIMARY KEY,
        created_at  INTEGER NOT NULL,
        task        TEXT    NOT NULL,
        agent       TEXT    NOT NULL,
        policy      TEXT    NOT NULL,
        status      TEXT    NOT NULL,
        finished_at INTEGER
    );
    CREATE INDEX runs_by_age ON runs (created_at);
    CREATE TABLE events (
        run     TEXT    NOT NULL REFERENCES runs (id),
        seq     INTEGER NOT NULL,
        at      INTEGER NOT NULL,
        event   TEXT    NOT NULL,
        effects TEXT    NOT NULL,
        PRIMARY KEY (run, seq)
    ) WITHOUT ROWID;
",
    "
    ALTER TABLE events ADD COLUMN chain BLOB;
    CREATE TABLE anchors (
        seq   INTEGER NOT NULL PRIMARY KEY,
        place TEXT    NOT NULL
    );
",
];

/// The version of an open journal; a newer one than this program knows is refused. 0 is an empty file.
pub(crate) fn check(conn: &Connection, path: &Path) -> Result<u32> {
    let found: u32 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(on(path))?;
    if found > VERSION {
        return Err(Error::Newer { path: path.to_owned(), found, known: VERSION });
    }
    Ok(found)
}

/// Brings an open journal to this program's version, all steps or none.
pub(crate) fn migrate(conn: &mut Connection, path: &Path) -> Result<()> {
    if check(conn, path)? == VERSION {
        return Ok(());
    }
    let change = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(on(path))?;
    // Another process may have migrated between the look and the lock.
    let found = check(&change, path)?;
    for step in MIGRATIONS.iter().skip(found as usize) {
        change.execute_batch(step).map_err(on(path))?;
    }
    change.pragma_update(None, "user_version", VERSION).map_err(on(path))?;
    change.commit().map_err(on(path))
}
