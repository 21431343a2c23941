//! States in the journal: found, proven by the chain, and not believed when they were tampered with.

use rusqlite::Connection;

use super::tests::{Place, entry};
use super::*;
use crate::chain::Integrity;
use crate::row::WantedState;

fn wanted(version: &str) -> WantedState<'_> {
    WantedState { version, upto: u64::MAX, before: u64::MAX }
}

/// Five events, and states of version `v` after the second and the fourth.
fn with_states(place: &Place) -> Journal {
    let mut journal = place.with_run("r1");
    journal.append("r1", &[entry(1), entry(2)], None).unwrap();
    journal.keep_state("r1", "v", 1_002, b"two").unwrap();
    journal.append("r1", &[entry(3), entry(4)], None).unwrap();
    journal.keep_state("r1", "v", 1_004, b"four").unwrap();
    journal.append("r1", &[entry(5)], None).unwrap();
    journal
}

fn sql(place: &Place, code: &str) {
    Connection::open(place.path()).unwrap().execute_batch(code).unwrap();
}

#[test]
fn the_newest_state_of_a_version_is_found_up_to_an_event_or_a_time() {
    let place = Place::new();
    let mut journal = with_states(&place);
    let of = |wanted: WantedState<'_>| {
        place.journal().view().state("r1", &wanted).unwrap().map(|s| (s.seq, s.at, s.state))
    };
    assert_eq!(of(wanted("v")), Some((4, 1_004, b"four".to_vec())));
    assert_eq!(of(WantedState { upto: 3, ..wanted("v") }), Some((2, 1_002, b"two".to_vec())));
    assert_eq!(of(WantedState { before: 1_004, ..wanted("v") }), Some((2, 1_002, b"two".to_vec())));
    assert_eq!((of(wanted("w")), of(WantedState { upto: 1, ..wanted("v") })), (None, None));
    let link = journal.link("r1").unwrap();
    assert_eq!(journal.view().verify("r1", Some(&link)), Ok(Integrity::Whole(link)));
    journal.accept("r1").unwrap();
    assert_eq!(of(wanted("v")), None, "what was accepted proves no state");
}

#[test]
fn the_chain_covers_states_and_from_a_state_on_proves_it() {
    let place = Place::new();
    let mut journal = with_states(&place);
    let link = journal.link("r1").unwrap();
    drop(journal);
    let view = Journal::read(place.dir.path());
    let state = view.state("r1", &wanted("v")).unwrap().unwrap();
    assert_eq!(view.verify_from("r1", &state, Some(&link)), Ok(Integrity::Whole(link)));

    // A state that somebody made up, with a link that fits to its event, is not the one that later events cover.
    let row = view.run("r1").unwrap();
    let fourth = (1..=4).fold(Link::first(&row), |at, seq| {
        let at = at.next(&entry(seq));
        if seq == 2 { at.with_state("v", b"two") } else { at }
    });
    let forged = fourth.with_state("v", b"evil");
    let hex = forged.hex();
    sql(&place, &format!("UPDATE states SET state = CAST('evil' AS BLOB), chain = x'{hex}' WHERE seq = 4"));
    let state = view.state("r1", &wanted("v")).unwrap().unwrap();
    assert_eq!(state.state, b"evil");
    assert!(matches!(view.verify_from("r1", &state, Some(&link)), Ok(Integrity::Broken { seq: 5, .. })));
    assert!(matches!(view.verify("r1", Some(&link)), Ok(Integrity::Broken { seq: 5, .. })));
}

#[test]
fn a_state_that_is_damaged_is_passed_over_and_one_that_is_gone_is_noticed() {
    for (code, seq, newest) in [
        ("UPDATE states SET state = x'00' WHERE seq = 4", 4, 2),
        ("DELETE FROM states WHERE seq = 4", 5, 2),
        ("INSERT INTO states SELECT 3, at, version, state, chain FROM states WHERE seq = 2", 3, 4),
        ("INSERT INTO states SELECT 9, at, version, state, chain FROM states WHERE seq = 2", 9, 4),
    ] {
        let place = Place::new();
        drop(with_states(&place));
        sql(&place, code);
        let view = Journal::read(place.dir.path());
        let found = view.verify("r1", None).unwrap();
        assert!(matches!(found, Integrity::Broken { seq: at, .. } if at == seq), "{code}: {found:?}");
        let state = view.state("r1", &wanted("v")).unwrap().unwrap();
        assert_eq!(state.seq, newest, "{code}");
    }
}

#[test]
fn a_state_is_stored_only_by_whoever_wrote_the_last_event() {
    let place = Place::new();
    let mut first = place.with_run("r1");
    first.append("r1", &[entry(1)], None).unwrap();
    let mut second = place.journal();
    second.append("r1", &[entry(2)], None).unwrap();
    assert!(matches!(first.keep_state("r1", "v", 1_001, b"one"), Err(Error::Changed { .. })));
}

#[test]
fn a_state_whose_link_was_not_put_down_yet_breaks_nothing_and_is_not_believed() {
    let place = Place::new();
    let mut journal = place.with_run("r1");
    journal.append("r1", &[entry(1), entry(2)], None).unwrap();
    let link = journal.link("r1").unwrap();
    journal.keep_state("r1", "v", 1_002, b"two").unwrap();
    let whole = journal.view().verify("r1", Some(&link)).unwrap();
    assert!(matches!(whole, Integrity::Whole(_)), "{whole:?}");
    let state = journal.view().state("r1", &wanted("v")).unwrap().unwrap();
    let from_it = journal.view().verify_from("r1", &state, Some(&link)).unwrap();
    assert!(matches!(from_it, Integrity::Broken { .. }), "{from_it:?}");
    journal.drop_unproven_state("r1", &link).unwrap();
    assert_eq!(journal.view().state("r1", &wanted("v")).unwrap(), None);
    journal.append("r1", &[entry(3)], None).unwrap();
    let last = journal.link("r1").unwrap();
    assert_eq!(journal.view().verify("r1", Some(&last)), Ok(Integrity::Whole(last)));
}
