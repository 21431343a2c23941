//! Writer and reader together, on real files.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tempfile::TempDir;

use super::*;
use crate::row::StoredEvent;

struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("journal.db")
    }

    fn journal(&self) -> Journal {
        Journal::open(&self.path()).unwrap()
    }

    fn with_run(&self, id: &str) -> Journal {
        let mut journal = self.journal();
        journal.create_run(&run(id, 1)).unwrap();
        journal
    }
}

fn run(id: &str, created_at: u64) -> RunRow {
    RunRow {
        id: id.into(),
        created_at,
        task: "fix the \"parser\"\nand the test".into(),
        agent: "claude".into(),
        policy: "auto".into(),
        status: "working".into(),
        finished_at: None,
    }
}

fn entry(seq: u64) -> Entry<'static> {
    Entry { seq, at: 1_000 + seq, event: r#"{"type":"x"}"#, effects: "[]" }
}

fn seqs(events: &[StoredEvent]) -> Vec<u64> {
    events.iter().map(|event| event.seq).collect()
}

#[test]
fn what_was_appended_is_there_after_a_reopen() {
    let place = Place::new();
    let mut journal = place.with_run("r1");
    journal.append("r1", &[entry(1), entry(2)], None).unwrap();
    journal.append("r1", &[entry(3)], Some(Status { text: "verified", finished_at: Some(9) })).unwrap();
    drop(journal);

    let journal = place.journal();
    let events = journal.view().events("r1", 0, 100).unwrap();
    assert_eq!(seqs(&events), [1, 2, 3]);
    assert_eq!(
        events[0],
        StoredEvent { seq: 1, at: 1_001, event: r#"{"type":"x"}"#.into(), effects: "[]".into() }
    );
    let expected = RunRow { status: "verified".into(), finished_at: Some(9), ..run("r1", 1) };
    assert_eq!(journal.view().run("r1").unwrap(), expected);
    assert_eq!(journal.view().last_seq("r1"), Ok(3));
}

#[test]
fn a_writer_that_vanished_without_closing_loses_nothing() {
    let place = Place::new();
    let mut journal = place.with_run("r1");
    journal.append("r1", &[entry(1)], None).unwrap();
    // A copy of the files as they lie on the disk is what a killed process leaves.
    let after = Place::new();
    for file in fs::read_dir(place.dir.path()).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), after.dir.path().join(file.file_name())).unwrap();
    }
    assert_eq!(seqs(&after.journal().view().events("r1", 0, 9).unwrap()), [1]);
}

#[test]
fn a_newer_journal_is_refused_and_left_alone() {
    let place = Place::new();
    place.with_run("r1").inner.conn.pragma_update(None, "user_version", VERSION_NEXT).unwrap();
    let refused = Error::Newer { path: place.path(), found: VERSION_NEXT, known: schema::VERSION };
    assert_eq!(Journal::open(&place.path()).unwrap_err(), refused);
    assert_eq!(Journal::read(&place.path()).unwrap_err(), refused);
    let said = refused.to_string();
    assert!(
        said.contains("version 2") && said.contains("up to 1") && said.contains("update segue"),
        "{said}"
    );
}

const VERSION_NEXT: u32 = schema::VERSION + 1;

#[test]
fn an_event_out_of_order_is_refused_with_all_that_came_along() {
    let place = Place::new();
    let mut journal = place.with_run("r1");
    journal.append("r1", &[entry(1), entry(2)], None).unwrap();
    let out = |expected, given| Err(Error::OutOfOrder { run: "r1".into(), expected, given });
    assert_eq!(journal.append("r1", &[entry(2)], None), out(3, 2), "a duplicate");
    assert_eq!(journal.append("r1", &[entry(4)], None), out(3, 4), "a gap");
    assert_eq!(journal.append("r1", &[entry(3), entry(5)], Some("odd".into())), out(4, 5), "a gap inside");
    assert_eq!(journal.append("r1", &[Entry { seq: u64::MAX, ..entry(1) }], None), out(3, u64::MAX));
    assert_eq!(journal.view().last_seq("r1"), Ok(2));
    assert_eq!(journal.view().run("r1").unwrap().status, "working");
}

#[test]
fn of_two_writers_the_slower_one_is_fenced_off() {
    let place = Place::new();
    let mut first = place.with_run("r1");
    let mut second = place.journal();
    first.append("r1", &[entry(1)], None).unwrap();
    let refused = second.append("r1", &[entry(1)], None).unwrap_err();
    assert_eq!(refused, Error::OutOfOrder { run: "r1".into(), expected: 2, given: 1 });
}

#[test]
fn writers_that_open_a_new_journal_at_once_all_succeed() {
    let place = Place::new();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| place.journal());
        }
    });
    assert_eq!(place.journal().view().runs(), Ok(vec![]));
}

#[test]
fn a_reader_follows_a_writer_at_work_and_sees_whole_transactions() {
    let place = Place::new();
    let mut journal = place.with_run("r1");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for pair in 0..200 {
                journal.append("r1", &[entry(2 * pair + 1), entry(2 * pair + 2)], None).unwrap();
            }
            done.store(true, Ordering::Release);
        });
        let reader = Journal::read(&place.path()).unwrap();
        let mut seen = 0;
        loop {
            let last_look = done.load(Ordering::Acquire);
            for event in reader.events("r1", seen, 7).unwrap() {
                assert_eq!(event.seq, seen + 1);
                seen = event.seq;
            }
            assert_eq!(reader.last_seq("r1").unwrap() % 2, 0);
            if last_look && seen == 400 {
                break;
            }
        }
    });
}

#[test]
fn a_reader_can_not_write() {
    let place = Place::new();
    drop(place.with_run("r1"));
    let reader = Journal::read(&place.path()).unwrap();
    assert!(reader.conn.execute("DELETE FROM runs", []).is_err());
}

#[test]
fn runs_come_newest_first_and_are_found_by_prefix() {
    let place = Place::new();
    let mut journal = place.with_run("aa-1");
    for (id, at) in [("aa-12", 3), ("b%", 2), ("aa-2", 2)] {
        journal.create_run(&run(id, at)).unwrap();
    }
    let view = journal.view();
    let ids: Vec<String> = view.runs().unwrap().into_iter().map(|run| run.id).collect();
    assert_eq!(ids, ["aa-12", "b%", "aa-2", "aa-1"]);
    assert_eq!(view.run("aa-1").unwrap().id, "aa-1", "an exact id wins over a longer one");
    assert_eq!(view.run("aa-12").unwrap().id, "aa-12");
    assert_eq!(view.run("b").unwrap().id, "b%");
    let several = vec!["aa-12".to_owned(), "aa-2".into(), "aa-1".into()];
    assert_eq!(view.run("aa"), Err(Error::AmbiguousRun { prefix: "aa".into(), runs: several }));
    for nothing in ["", "%", "c"] {
        assert_eq!(view.run(nothing), Err(Error::UnknownRun { run: nothing.into() }));
    }
}

#[test]
fn a_run_must_exist_once() {
    let place = Place::new();
    let mut journal = place.with_run("r1");
    assert_eq!(journal.create_run(&run("r1", 5)), Err(Error::RunExists { run: "r1".into() }));
    assert_eq!(journal.append("r2", &[entry(1)], None), Err(Error::UnknownRun { run: "r2".into() }));
    assert_eq!(journal.view().last_seq("r2"), Err(Error::UnknownRun { run: "r2".into() }));
    assert_eq!(journal.view().last_seq("r1"), Ok(0));
}

#[test]
fn no_journal_an_empty_one_and_a_file_of_something_else_are_told_apart() {
    let place = Place::new();
    let path = place.path();
    assert_eq!(Journal::read(&path).unwrap_err(), Error::NotFound { path: path.clone() });
    fs::write(&path, "").unwrap();
    assert_eq!(Journal::read(&path).unwrap_err(), Error::NotFound { path: path.clone() });
    fs::write(&path, "not a database at all, but long enough to be looked at twice").unwrap();
    assert!(matches!(Journal::read(&path), Err(Error::Corrupt { .. })));
    assert!(matches!(Journal::open(&path), Err(Error::Corrupt { .. })));
    let nowhere = path.with_file_name("no/such/folder.db");
    assert!(matches!(Journal::open(&nowhere), Err(Error::CannotOpen { .. })));
}

#[test]
fn a_full_disk_is_named_and_keeps_what_was_there() {
    let place = Place::new();
    let mut journal = place.with_run("r1");
    journal.append("r1", &[entry(1)], None).unwrap();
    let pages: i64 = journal.inner.conn.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    journal.inner.conn.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
    let long = "x".repeat(100_000);
    let refused = journal.append("r1", &[Entry { event: &long, ..entry(2) }], None);
    assert_eq!(refused, Err(Error::Full { path: place.path() }));
    assert_eq!(journal.view().last_seq("r1"), Ok(1));
    journal.append("r1", &[entry(2)], None).unwrap();
}

#[cfg(unix)]
#[test]
fn a_journal_in_a_read_only_folder_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: PathBuf, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    // A percent sign and a space, since the fallback goes through a URI.
    let place = Place::new();
    let folder = place.dir.path().join("a %41?b#c");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("journal.db");
    let mut journal = Journal::open(&path).unwrap();
    journal.create_run(&run("r1", 1)).unwrap();
    journal.append("r1", &[entry(1)], None).unwrap();
    drop(journal);
    mode(path.clone(), 0o444);
    mode(folder.clone(), 0o555);
    let seen = Journal::read(&path).and_then(|reader| reader.last_seq("r1"));
    let immutable = Reader::connect(&path, true).and_then(|reader| reader.last_seq("r1"));
    // The superuser may write everywhere.
    let may_write = fs::write(folder.join("probe"), "").is_ok();
    let refused = Journal::open(&path).err();
    mode(folder, 0o755);
    assert_eq!((seen, immutable), (Ok(1), Ok(1)));
    if !may_write {
        assert_eq!(refused, Some(Error::ReadOnly { path }));
    }
}

#[test]
fn several_runs_share_a_journal_that_all_of_them_open_at_the_same_moment() {
    let place = Place::new();
    let names: Vec<String> = (0..8).map(|n| format!("r{n}")).collect();
    std::thread::scope(|scope| {
        for name in &names {
            let path = place.path();
            scope.spawn(move || {
                let mut journal = Journal::open(&path).unwrap();
                journal.create_run(&run(name, 1)).unwrap();
                for seq in 1..=20 {
                    journal.append(name, &[entry(seq)], None).unwrap();
                }
            });
        }
    });
    let reader = Journal::read(&place.path()).unwrap();
    assert!(names.iter().all(|name| reader.last_seq(name) == Ok(20)));
}
