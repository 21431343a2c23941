//! The tables of a journal.
//!
//! The rule: from the first release on a program accepts every older version and refuses a newer one. What leads from one
//! version to the next only adds (tables, columns with a default, indexes), and is never edited once it is released.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::{Error, Result, on};

/// The version of the journals that this program writes, and the first one that is released.
pub const VERSION: u32 = 3;

const TABLES: &str = "
    CREATE TABLE runs (
        id          TEXT    NOT NULL PRIMARY KEY,
        created_at  INTEGER NOT NULL,
        task        TEXT    NOT NULL,
        agent       TEXT    NOT NULL,
        policy      TEXT    NOT NULL,
        status      TEXT    NOT NULL,
        finished_at INTEGER
    );
    CREATE TABLE events (
        run     TEXT    NOT NULL REFERENCES runs (id),
        seq     INTEGER NOT NULL,
        at      INTEGER NOT NULL,
        event   TEXT    NOT NULL,
        effects TEXT    NOT NULL,
        chain   BLOB    NOT NULL,
        PRIMARY KEY (run, seq)
    ) WITHOUT ROWID;
    CREATE TABLE anchors (
        seq   INTEGER NOT NULL PRIMARY KEY,
        place TEXT    NOT NULL
    );
    CREATE TABLE states (
        seq     INTEGER NOT NULL PRIMARY KEY,
        at      INTEGER NOT NULL,
        version TEXT    NOT NULL,
        state   BLOB    NOT NULL,
        chain   BLOB    NOT NULL
    );
";

/// The version of an open journal; one that this program does not know is refused. 0 is an empty file.
pub(crate) fn check(conn: &Connection, path: &Path) -> Result<u32> {
    let found: u32 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(on(path))?;
    match found {
        0 | VERSION => Ok(found),
        newer if newer > VERSION => Err(Error::Newer { path: path.to_owned(), found, known: VERSION }),
        _ => Err(Error::Corrupt {
            path: path.to_owned(),
            why: format!("version {found} was written before the first release"),
        }),
    }
}

/// Makes the tables of a journal that is empty, all of them or none.
pub(crate) fn create(conn: &mut Connection, path: &Path) -> Result<()> {
    if check(conn, path)? == VERSION {
        return Ok(());
    }
    let change = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(on(path))?;
    // Another process may have made them between the look and the lock.
    if check(&change, path)? == 0 {
        change.execute_batch(TABLES).map_err(on(path))?;
        change.pragma_update(None, "user_version", VERSION).map_err(on(path))?;
    }
    change.commit().map_err(on(path))
}
