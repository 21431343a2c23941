//! Runs that are left, changed in every way that somebody might think of, and looked at again.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;
use segue_journal::{Entry, RunRow};
use tempfile::TempDir;

use super::*;

const EVENTS: u64 = 12;

struct Room {
    dir: TempDir,
}

impl Room {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn runs(&self) -> PathBuf {
        self.dir.path().join("runs")
    }

    fn anchors(&self) -> Anchors {
        Anchors::at(&self.dir.path().join("state"))
    }

    fn file(&self, run: &str) -> PathBuf {
        self.runs().join(run).join("journal.db")
    }

    fn anchor(&self, run: &str) -> PathBuf {
        self.dir.path().join("state/anchors").join(format!("{run}.json"))
    }

    /// A run with what is sent as it was typed, anchored at its start, in the middle and at its end.
    fn run(&self, id: &str) {
        let mut journal = Journal::open(&self.runs());
        let text = |text: &str| text.to_owned();
        let (task, agent, policy) = (format!("the task of {id}"), text("a"), text("auto"));
        let (id, status) = (text(id), text("running"));
        let row = RunRow { id, created_at: 1, task, agent, policy, status, finished_at: None };
        journal.create_run(&row).unwrap();
        fs::write(self.runs().join(&row.id).join("private.json"), "{\"task\":\"as it was typed\"}").unwrap();
        for seq in 1..=EVENTS {
            let event = format!("{{\"of\":\"{}\",\"n\":{seq}}}", row.id);
            let entry = Entry { seq, at: 1_000 + seq, event: &event, effects: "[\"effect\"]" };
            journal.append(&row.id, &[entry], None).unwrap();
            if [1, 6, EVENTS].contains(&seq) {
                self.anchors().set(&mut journal, &row.id).unwrap();
                fs::copy(self.anchor(&row.id), self.dir.path().join(format!("{}-{seq}", row.id))).unwrap();
            }
        }
    }

    fn check(&self, run: &str) -> segue_journal::Result<Trust> {
        self.anchors().check(&Journal::read(&self.runs()), run)
    }

    fn sql(&self, run: &str, code: &str) {
        Connection::open(self.file(run)).unwrap().execute_batch(code).unwrap();
    }
}

fn is_refused(found: &segue_journal::Result<Trust>) -> bool {
    matches!(found, Err(_) | Ok(Trust::Broken(_)))
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

#[test]
fn a_run_that_nobody_touched_is_whole_and_one_that_went_on_too() {
    let room = Room::new();
    room.run("r1");
    assert_eq!(room.check("r1"), Ok(Trust::Whole));
    for seq in [1, 6] {
        // The crash came before the journal knew of the later anchors.
        room.sql("r1", &format!("DELETE FROM anchors WHERE seq > {seq}"));
    }
    fs::copy(room.dir.path().join("r1-1"), room.anchor("r1")).unwrap();
    assert_eq!(room.check("r1"), Ok(Trust::Whole), "a tail that extends the anchor");
}

#[test]
fn without_an_anchor_it_matters_whether_there_was_one_here() {
    let room = Room::new();
    room.run("r1");
    fs::remove_file(room.anchor("r1")).unwrap();
    assert!(matches!(room.check("r1"), Ok(Trust::Broken(why)) if why.contains("removed")));
    fs::remove_dir_all(room.dir.path().join("state")).unwrap();
    assert!(matches!(room.check("r1"), Ok(Trust::Unknown(_))), "another container");
    room.sql("r1", "UPDATE events SET event = '{}' WHERE seq = 3");
    assert!(is_refused(&room.check("r1")));
}

#[test]
fn what_is_sent_as_it_was_typed_is_covered() {
    let room = Room::new();
    room.run("r1");
    let file = room.runs().join("r1/private.json");
    fs::write(&file, "{\"gates\":{\"tests\":\"true\"}}").unwrap();
    assert!(matches!(room.check("r1"), Ok(Trust::Broken(why)) if why.contains("private.json")));
    fs::remove_file(&file).unwrap();
    assert_eq!(room.check("r1"), Ok(Trust::Whole), "a run that is over has none");
}

/// Changes a run in one of the ways, and says which.
fn tamper(room: &Room, dice: &mut Dice) -> String {
    let seq = 1 + dice.roll(EVENTS);
    let repair = |code: &str| {
        room.sql("r1", code);
        let anchors = Connection::open(room.file("r1")).unwrap();
        let noted: Vec<(i64, String)> = anchors
            .prepare("SELECT seq, place FROM anchors")
            .unwrap()
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        Journal::open(&room.runs()).accept("r1").unwrap();
        for (seq, place) in noted {
            anchors.execute("INSERT INTO anchors VALUES (?1, ?2)", (seq, place)).unwrap();
        }
    };
    let column = ["event", "effects"][usize::try_from(dice.roll(2)).unwrap()];
    let flip = format!(
        "UPDATE events SET {column} = substr({column}, 1, {at}) || 'X' || substr({column}, {at} + 2) WHERE seq = {seq}",
        at = dice.roll(8)
    );
    match dice.roll(7) {
        0 => {
            room.sql("r1", &flip);
            format!("one letter: {flip}")
        }
        1 => {
            repair(&flip);
            format!("one letter, and every following hash repaired: {flip}")
        }
        2 => {
            room.sql("r1", &format!("DELETE FROM events WHERE seq >= {seq}"));
            format!("cut off from {seq}")
        }
        3 => {
            fs::copy(room.file("r2"), room.file("r1")).unwrap();
            "the journal of another run".to_owned()
        }
        4 => {
            fs::copy(room.file("r2"), room.file("r1")).unwrap();
            room.sql(
                "r1",
                "PRAGMA foreign_keys = OFF; UPDATE events SET run = 'r1'; UPDATE runs SET id = 'r1'",
            );
            repair("SELECT 1");
            "the journal of another run under this name, repaired".to_owned()
        }
        5 => {
            let old = [1, 6][usize::try_from(dice.roll(2)).unwrap()];
            fs::copy(room.dir.path().join(format!("r1-{old}")), room.anchor("r1")).unwrap();
            repair(&format!("UPDATE events SET at = at + 1 WHERE seq > {old}"));
            format!("an old anchor, of {old}, and what follows it changed and repaired")
        }
        _ => {
            room.sql("r1", &format!("DELETE FROM events WHERE seq = {seq}"));
            format!("event {seq} taken out")
        }
    }
}

#[test]
fn of_a_thousand_changes_none_goes_unnoticed() {
    let room = Room::new();
    for run in ["r1", "r2"] {
        room.run(run);
        assert_eq!(room.check(run), Ok(Trust::Whole));
        // Everything into the one file that is copied.
        room.sql(run, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE");
    }
    let (whole, anchor) = (fs::read(room.file("r1")).unwrap(), fs::read(room.anchor("r1")).unwrap());
    let mut dice = Dice(16);
    for n in 0..1_000 {
        for rest in ["-wal", "-shm"] {
            let _ = fs::remove_file(room.runs().join("r1").join(format!("journal.db{rest}")));
        }
        fs::write(room.file("r1"), &whole).unwrap();
        fs::write(room.anchor("r1"), &anchor).unwrap();
        let what = tamper(&room, &mut dice);
        let found = room.check("r1");
        assert!(is_refused(&found), "change {n}, {what}: {found:?}");
    }
}
