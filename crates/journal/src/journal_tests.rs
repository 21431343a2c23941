//! Writer and reader together, on real files.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rusqlite::Connection;

use tempfile::TempDir;

use super::*;
use crate::chain::Integrity;
use crate::row::StoredEvent;
use crate::{UNREADABLE, schema};

pub(super) struct Place {
    pub(super) dir: TempDir,
}

impl Place {
    pub(super) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// The journal of run r1.
    pub(super) fn path(&self) -> PathBuf {
        self.journal().view().file("r1")
    }

    pub(super) fn journal(&self) -> Journal {
        Journal::open(self.dir.path())
    }

    pub(super) fn with_run(&self, id: &str) -> Journal {
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

pub(super) fn entry(seq: u64) -> Entry<'static> {
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
    fs::create_dir(after.dir.path().join("r1")).unwrap();
    for file in fs::read_dir(place.dir.path().join("r1")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), after.dir.path().join("r1").join(file.file_name())).unwrap();
    }
    assert_eq!(seqs(&after.journal().view().events("r1", 0, 9).unwrap()), [1]);
}

#[test]
fn a_newer_journal_is_refused_and_left_alone() {
    let place = Place::new();
    drop(place.with_run("r1"));
    Connection::open(place.path()).unwrap().pragma_update(None, "user_version", VERSION_NEXT).unwrap();
    let refused = Error::Newer { path: place.path(), found: VERSION_NEXT, known: schema::VERSION };
    assert_eq!(place.journal().append("r1", &[entry(1)], None).unwrap_err(), refused);
    assert_eq!(place.journal().view().events("r1", 0, 1).unwrap_err(), refused);
    assert_eq!(place.journal().view().runs().unwrap()[0].status, UNREADABLE);
    let said = refused.to_string();
    assert!(
        said.contains("version 4") && said.contains("up to 3") && said.contains("update segue"),
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
fn of_writers_that_make_the_same_run_at_once_one_succeeds() {
    let place = Place::new();
    let made = thread::scope(|scope| {
        let all: Vec<_> =
            (0..8).map(|_| scope.spawn(|| place.journal().create_run(&run("r1", 1)).is_ok())).collect();
        all.into_iter().map(|one| one.join().unwrap()).filter(|made| *made).count()
    });
    assert_eq!((made, place.journal().view().last_seq("r1")), (1, Ok(0)));
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
        let reader = Journal::read(place.dir.path());
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
    let file = Journal::read(place.dir.path()).open("r1").unwrap();
    assert!(file.conn.execute("DELETE FROM runs", []).is_err());
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
    let (path, unknown) = (place.path(), Err(Error::UnknownRun { run: "r1".into() }));
    let look = || Journal::read(place.dir.path()).events("r1", 0, 1);
    assert_eq!((look(), place.journal().view().runs()), (unknown.clone(), Ok(vec![])));
    fs::create_dir(path.parent().unwrap()).unwrap();
    fs::write(&path, "").unwrap();
    assert_eq!((look(), place.journal().view().runs()), (unknown, Ok(vec![])));
    fs::write(&path, "not a database at all, but long enough to be looked at twice").unwrap();
    assert!(matches!(look(), Err(Error::Corrupt { .. })));
    assert!(matches!(place.journal().append("r1", &[], None), Err(Error::Corrupt { .. })));
}

#[test]
fn a_full_disk_is_named_and_keeps_what_was_there() {
    let place = Place::new();
    let mut journal = place.with_run("r1");
    journal.append("r1", &[entry(1)], None).unwrap();
    let pages: i64 = journal
        .open
        .as_ref()
        .unwrap()
        .file
        .conn
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .unwrap();
    journal
        .open
        .as_ref()
        .unwrap()
        .file
        .conn
        .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
        .unwrap();
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
    let mut journal = Journal::open(&folder);
    let path = journal.view().file("r1");
    let run_dir = folder.join("r1");
    journal.create_run(&run("r1", 1)).unwrap();
    journal.append("r1", &[entry(1)], None).unwrap();
    drop(journal);
    mode(path.clone(), 0o444);
    mode(run_dir.clone(), 0o555);
    let seen = Journal::read(&folder).last_seq("r1");
    let immutable = crate::file::connect(&path, true).map(|conn| {
        conn.query_row("SELECT max(seq) FROM events", [], |row| row.get::<_, i64>(0)).unwrap().unsigned_abs()
    });
    // The superuser may write everywhere.
    let may_write = fs::write(run_dir.join("probe"), "").is_ok();
    let refused = Journal::open(&folder).append("r1", &[entry(2)], None).err();
    mode(run_dir, 0o755);
    assert_eq!((seen, immutable), (Ok(1), Ok(1)));
    if !may_write {
        assert_eq!(refused, Some(Error::ReadOnly { path }));
    }
}

#[test]
fn several_runs_are_written_at_the_same_moment_each_to_its_own_file() {
    let place = Place::new();
    let names: Vec<String> = (0..8).map(|n| format!("r{n}")).collect();
    thread::scope(|scope| {
        for name in &names {
            let dir = place.dir.path();
            scope.spawn(move || {
                let mut journal = Journal::open(dir);
                journal.create_run(&run(name, 1)).unwrap();
                for seq in 1..=20 {
                    journal.append(name, &[entry(seq)], None).unwrap();
                }
            });
        }
    });
    let reader = Journal::read(place.dir.path());
    assert!(names.iter().all(|name| reader.last_seq(name) == Ok(20)));
}

#[test]
fn a_journal_that_is_removed_or_replaced_under_its_writer_is_noticed() {
    for replace in [false, true] {
        let place = Place::new();
        let mut journal = place.with_run("r1");
        journal.append("r1", &[entry(1)], None).unwrap();
        let copy = fs::read(place.path()).unwrap();
        fs::remove_dir_all(place.path().parent().unwrap()).unwrap();
        if replace {
            fs::create_dir(place.path().parent().unwrap()).unwrap();
            fs::write(place.path(), copy).unwrap();
        }
        let gone = Err(Error::Gone { path: place.path() });
        assert_eq!(journal.append("r1", &[entry(2)], None), gone, "replaced: {replace}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_a_journal_is_not_followed() {
    let (place, victim) = (Place::new(), Place::new());
    drop(victim.with_run("r1"));
    let before = fs::read(victim.path()).unwrap();
    fs::create_dir(place.path().parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(victim.path(), place.path()).unwrap();
    assert!(matches!(place.journal().append("r1", &[entry(1)], None), Err(Error::Corrupt { .. })));
    assert!(matches!(place.journal().view().events("r1", 0, 1), Err(Error::Corrupt { .. })));
    assert_eq!(place.journal().view().runs().unwrap()[0].status, UNREADABLE);
    assert_eq!(fs::read(victim.path()).unwrap(), before);
}

#[test]
fn the_index_says_only_what_the_journal_says_and_can_be_lost() {
    let place = Place::new();
    let mut journal = place.with_run("r1");
    let end = Status { text: "verified", finished_at: Some(9) };
    journal.append("r1", &[entry(1)], Some(end)).unwrap();
    let row = place.path().with_file_name("row.json");
    let status = || place.journal().view().run("r1").unwrap().status;
    assert!(row.exists());
    assert_eq!(status(), "verified");
    fs::write(&row, "{half").unwrap();
    assert_eq!(status(), "verified");
    journal.append("r1", &[], Some("running".into())).unwrap();
    assert!(!row.exists());
    assert_eq!(status(), "running");
}

/// A run of ten events, anchored after the seventh.
fn anchored(place: &Place) -> (Journal, Link) {
    let mut journal = place.with_run("r1");
    let list: Vec<Entry<'_>> = (1..=10).map(entry).collect();
    journal.append("r1", &list[..7], None).unwrap();
    let link = journal.link("r1").unwrap();
    journal.append("r1", &list[7..], None).unwrap();
    (journal, link)
}

#[test]
fn a_chain_that_nobody_touched_is_whole_and_may_go_on_after_its_anchor() {
    let place = Place::new();
    let (mut journal, link) = anchored(&place);
    let last = journal.link("r1").unwrap();
    assert_eq!(last.seq, 10);
    assert_eq!(journal.view().verify("r1", Some(&link)), Ok(Integrity::Whole(last)));
    assert_eq!(place.journal().link("r1"), Ok(last), "as it is read back");
    assert_eq!(journal.view().anchored("r1"), Ok(None));
    journal.set_anchored("r1", 7, "here").unwrap();
    assert_eq!(journal.view().anchored("r1"), Ok(Some((7, "here".into()))));
}

#[test]
fn every_kind_of_change_breaks_the_chain_and_is_named() {
    for (change, repaired, seq, words) in [
        ("UPDATE events SET event = '{}' WHERE seq = 4", false, 4, "was changed"),
        ("UPDATE events SET at = 5 WHERE seq = 10", false, 10, "was changed"),
        ("UPDATE events SET effects = '[1]' WHERE seq = 4", true, 7, "replaced"),
        ("DELETE FROM events WHERE seq = 4", false, 5, "missing"),
        ("DELETE FROM events WHERE seq > 5", false, 7, "missing at the end"),
        ("UPDATE runs SET task = 'another'", false, 1, "was changed"),
        ("UPDATE runs SET task = 'another'", true, 7, "replaced"),
    ] {
        let place = Place::new();
        let (mut journal, link) = anchored(&place);
        Connection::open(place.path()).unwrap().execute(change, []).unwrap();
        if repaired {
            journal = place.journal();
            journal.accept("r1").unwrap();
        }
        match journal.view().verify("r1", Some(&link)) {
            Ok(Integrity::Broken { seq: at, what }) => {
                assert!(at == seq && what.contains(words), "{change}: {at} {what}");
            }
            other => panic!("{change}: {other:?}"),
        }
    }
}

#[test]
fn an_event_that_is_changed_under_its_writer_stops_it() {
    let place = Place::new();
    let (mut journal, _) = anchored(&place);
    Connection::open(place.path())
        .unwrap()
        .execute("UPDATE events SET chain = x'00' WHERE seq = 10", [])
        .unwrap();
    assert!(matches!(journal.append("r1", &[entry(11)], None), Err(Error::Changed { .. })));
}

#[test]
fn a_journal_in_the_folder_of_another_run_is_refused() {
    let place = Place::new();
    drop(place.with_run("r1"));
    fs::rename(place.dir.path().join("r1"), place.dir.path().join("r2")).unwrap();
    let refused = place.journal().view().last_seq("r2").unwrap_err().to_string();
    assert!(refused.contains("journal of run r1"), "{refused}");
}
