//! The file of one run: opened for reading or for writing, always the file itself and never what a link points to.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, OptionalExtension, Row, params};

use crate::chain::{Integrity, Link};
use crate::error::{Error, Result, on};
use crate::row::{Entry, RunRow, StoredEvent, StoredState, WantedState};
use crate::schema;

/// How long a reader waits for another process that holds the journal.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a writer waits: a slow disk makes each wait for all.
const PATIENCE_TO_WRITE: Duration = Duration::from_secs(60);

/// The folder that everything of segue's is in, in git's folder and in the user's for state.
const OWN: &str = "segue";

/// How many events are read at a time to be verified.
const PAGE: usize = 2_000;

/// An open journal of one run.
#[derive(Debug)]
pub(crate) struct RunFile {
    pub(crate) conn: Connection,
    pub(crate) path: PathBuf,
    id: (u64, u64),
}

impl RunFile {
    /// Opens it without the right to change it; its folder may be read-only, too.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let id = identity(path)?.ok_or_else(|| Error::NotFound { path: path.to_owned() })?;
        let conn = match connect(path, false) {
            // Without a log beside it the file holds everything, so nothing is missed by reading it alone.
            Err(Error::CannotOpen { .. } | Error::ReadOnly { .. }) if !has_log(path) => connect(path, true),
            other => other,
        }?;
        Ok(Self { conn, path: path.to_owned(), id })
    }

    /// Opens it for writing; makes it, for its owner alone, where there is none.
    pub(crate) fn write(path: &Path) -> Result<Self> {
        if identity(path)?.is_none() {
            make(path).map_err(|error| cannot(path, &error))?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut conn = Connection::open_with_flags(real(path), flags).map_err(on(path))?;
        // Where writing is not allowed the engine opens for reading without a word.
        if conn.is_readonly(MAIN_DB).map_err(on(path))? {
            return Err(Error::ReadOnly { path: path.to_owned() });
        }
        conn.busy_timeout(PATIENCE_TO_WRITE).map_err(on(path))?;
        schema::check(&conn, path)?;
        write_ahead(&conn).map_err(on(path))?;
        conn.pragma_update(None, "synchronous", "FULL").map_err(on(path))?;
        conn.pragma_update(None, "foreign_keys", true).map_err(on(path))?;
        schema::create(&mut conn, path)?;
        let id = identity(path)?.ok_or_else(|| Error::Gone { path: path.to_owned() })?;
        Ok(Self { conn, path: path.to_owned(), id })
    }

    /// Whether the file that is open still lies where it lay.
    pub(crate) fn is_in_place(&self) -> bool {
        identity(&self.path) == Ok(Some(self.id))
    }

    /// The run that it is about.
    pub(crate) fn row(&self, run: &str) -> Result<RunRow> {
        let found = self
            .conn
            .prepare_cached("SELECT id, created_at, task, agent, policy, status, finished_at FROM runs")
            .and_then(|mut query| query.query_row([], run_row).optional())
            .map_err(on(&self.path))?;
        match found {
            Some(row) if row.id == run => Ok(row),
            Some(row) => {
                let why = format!("it is the journal of run {}", row.id);
                Err(Error::Corrupt { path: self.path.clone(), why })
            }
            None => Err(Error::UnknownRun { run: run.to_owned() }),
        }
    }

    /// At most `limit` events that follow number `after`, in order.
    pub(crate) fn events(&self, run: &str, after: u64, limit: usize) -> Result<Vec<StoredEvent>> {
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

    /// The number of the last event; 0 when there is none.
    pub(crate) fn last_seq(&self, run: &str) -> Result<u64> {
        let row = self.row(run)?;
        Ok(last_link(&self.conn, &row).map_err(on(&self.path))?.seq)
    }

    /// The highest number that was anchored, and where.
    pub(crate) fn anchored(&self) -> Result<Option<(u64, String)>> {
        self.conn
            .prepare_cached("SELECT seq, place FROM anchors ORDER BY seq DESC LIMIT 1")
            .and_then(|mut query| query.query_row([], |row| Ok((unsigned(row, 0)?, row.get(1)?))).optional())
            .map_err(on(&self.path))
    }

    /// Computes the chain anew from `at` on and compares; `link` is one that was put down elsewhere.
    pub(crate) fn verify(&self, run: &str, mut at: Link, link: Option<&Link>) -> Result<Integrity> {
        if let Some(link) = link.filter(|link| link.seq == at.seq && link.hash != at.hash) {
            let asked = "what the run was asked for was changed";
            let what = if link.seq == 0 { asked } else { "it, or an event before it, was replaced" };
            return Ok(Integrity::Broken { seq: link.seq, what });
        }
        // A writer may add events and states meanwhile: all of it is looked at as it stood at one moment.
        let _moment = self.conn.unchecked_transaction().map_err(on(&self.path))?;
        let mut states = self.states_after(at.seq)?.into_iter().peekable();
        loop {
            let page = self.links(run, at.seq)?;
            if page.is_empty() {
                break;
            }
            for (event, stored) in page {
                let broken = |what| Ok(Integrity::Broken { seq: event.seq, what });
                if event.seq != at.seq + 1 {
                    return broken("an event before it is missing");
                }
                at = at.next(&event.as_entry());
                let without_state = at.hash;
                if stored.as_deref() != Some(&at.hash[..]) {
                    return broken("it was changed");
                }
                if states.next_if_eq(&at.seq).is_some() {
                    let (version, state, stored) = self.state_at(at.seq)?;
                    at = at.with_state(&version, &state);
                    if stored != at.hash {
                        return broken("the state that was stored after it is not as it was written");
                    }
                }
                // Whoever is killed between a state and its link has put down the link before it.
                let fits = |link: &Link| [at.hash, without_state].contains(&link.hash);
                if link.is_some_and(|link| link.seq == at.seq && !fits(link)) {
                    return broken("it, or an event before it, was replaced");
                }
            }
        }
        if let Some(link) = link.filter(|link| link.seq > at.seq) {
            return Ok(Integrity::Broken { seq: link.seq, what: "events up to it are missing at the end" });
        }
        if let Some(seq) = states.next() {
            return Ok(Integrity::Broken { seq, what: "events up to it are missing, and a state is there" });
        }
        Ok(Integrity::Whole(at))
    }

    /// The newest state that is wanted and fits to its event's link.
    pub(crate) fn state(&self, run: &str, wanted: &WantedState<'_>) -> Result<Option<StoredState>> {
        let WantedState { version, upto, before } = *wanted;
        let engine = on(&self.path);
        let mut query = self
            .conn
            .prepare_cached(
                "SELECT s.seq, s.at, s.state, s.chain, e.chain FROM states s CROSS JOIN events e ON e.run = ?1 AND e.seq = s.seq
                 WHERE s.version = ?2 AND s.seq <= ?3 AND s.at < ?4 ORDER BY s.seq DESC",
            )
            .map_err(&engine)?;
        let mut rows = query.query(params![run, version, clamp(upto), clamp(before)]).map_err(&engine)?;
        while let Some(row) = rows.next().map_err(&engine)? {
            let found = stored_state(row, version).map_err(&engine)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn states_after(&self, seq: u64) -> Result<Vec<u64>> {
        self.conn
            .prepare_cached("SELECT seq FROM states WHERE seq > ?1 ORDER BY seq")
            .and_then(|mut query| query.query_map([clamp(seq)], |row| unsigned(row, 0))?.collect())
            .map_err(on(&self.path))
    }

    fn state_at(&self, seq: u64) -> Result<(String, Vec<u8>, Vec<u8>)> {
        self.conn
            .prepare_cached("SELECT version, state, chain FROM states WHERE seq = ?1")
            .and_then(|mut query| {
                query.query_row([clamp(seq)], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            })
            .map_err(on(&self.path))
    }

    fn links(&self, run: &str, after: u64) -> Result<Vec<(StoredEvent, Option<Vec<u8>>)>> {
        let mut query = self
            .conn
            .prepare_cached(
                "SELECT seq, at, event, effects, chain FROM events WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
            )
            .map_err(on(&self.path))?;
        query
            .query_map(params![run, clamp(after), clamp(PAGE as u64)], |row| {
                Ok((event_row(row)?, row.get(4)?))
            })
            .and_then(Iterator::collect)
            .map_err(on(&self.path))
    }
}

impl StoredEvent {
    fn as_entry(&self) -> Entry<'_> {
        Entry { seq: self.seq, at: self.at, event: &self.event, effects: &self.effects }
    }
}

// Nothing where the state does not belong to the event that it lies beside.
fn stored_state(row: &Row<'_>, version: &str) -> rusqlite::Result<Option<StoredState>> {
    let (seq, at, state) = (unsigned(row, 0)?, unsigned(row, 1)?, row.get::<_, Vec<u8>>(2)?);
    let event: Option<Vec<u8>> = row.get(4)?;
    let Some(hash) = event.and_then(|hash| hash.try_into().ok()) else { return Ok(None) };
    let link = Link { seq, hash }.with_state(version, &state);
    let fits = row.get::<_, Vec<u8>>(3)? == link.hash;
    Ok(fits.then_some(StoredState { seq, at, state, link }))
}

/// The last link that is stored: that of the last event, or of the state after it.
pub(crate) fn last_link(conn: &Connection, run: &RunRow) -> rusqlite::Result<Link> {
    let stored = conn
        .prepare_cached(
            "SELECT e.seq, coalesce(s.chain, e.chain) FROM events e LEFT JOIN states s ON s.seq = e.seq
             WHERE e.run = ?1 ORDER BY e.seq DESC LIMIT 1",
        )?
        .query_row([&run.id], |row| Ok((unsigned(row, 0)?, row.get::<_, Option<Vec<u8>>>(1)?)))
        .optional()?;
    Ok(stored.map_or_else(
        || Link::first(run),
        |(seq, hash)| Link { seq, hash: hash.and_then(|hash| hash.try_into().ok()).unwrap_or([0; 32]) },
    ))
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

pub(crate) fn connect(path: &Path, immutable: bool) -> Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let place = real(path);
    let conn = if immutable {
        Connection::open_with_flags(immutable_uri(&place), flags | OpenFlags::SQLITE_OPEN_URI)
    } else {
        Connection::open_with_flags(place, flags)
    }
    .map_err(on(path))?;
    conn.busy_timeout(PATIENCE).map_err(on(path))?;
    if schema::check(&conn, path)? == 0 {
        return Err(Error::NotFound { path: path.to_owned() });
    }
    Ok(conn)
}

// Links on the way to the folder are the user's own; the engine refuses every link in a path.
fn real(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Whether a link leads to it, of those that are not the user's own: from the folder that is segue's on.
pub(crate) fn is_linked(path: &Path) -> bool {
    let own = path.ancestors().position(|part| part.file_name().is_some_and(|name| name == OWN));
    path.ancestors().take(own.unwrap_or(2) + 1).any(Path::is_symlink)
}

// What a plain file is; `None` when there is none, and an error when something else is in its place.
fn identity(path: &Path) -> Result<Option<(u64, u64)>> {
    if is_linked(path) {
        return Err(Error::Corrupt { path: path.to_owned(), why: "a link leads to it".to_owned() });
    }
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(Some((found.dev(), found.ino()))),
        Ok(_) => Err(Error::Corrupt { path: path.to_owned(), why: "it is not a regular file".to_owned() }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot(path, &error)),
    }
}

fn cannot(path: &Path, error: &io::Error) -> Error {
    let path = path.to_owned();
    if [ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem].contains(&error.kind()) {
        return Error::ReadOnly { path };
    }
    if error.kind() == ErrorKind::StorageFull {
        return Error::Full { path };
    }
    Error::CannotOpen { path, why: error.to_string() }
}

fn make(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        other => other.map(drop),
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
