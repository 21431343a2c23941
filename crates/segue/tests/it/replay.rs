//! `segue replay`: the journal decides the same again, and one altered decision is found.

use rusqlite::Connection;

use crate::demo::demo;

#[test]
fn a_run_is_decided_the_same_again_and_one_altered_decision_is_shown() {
    let shown = demo(&["--json"]);
    assert_eq!(shown.done.code, Some(0), "{}", shown.done.all());
    let same = shown.segue(&["replay"]);
    assert_eq!(same.code, Some(0), "{}", same.all());
    assert!(same.out.contains("all the same"), "{}", same.out);
    let doc = &shown.segue(&["replay", "--json"]).lines()[0];
    assert_eq!(doc["differences"], serde_json::json!([]));
    assert!(doc["events"].as_u64() > Some(100) && doc["decisions"].as_u64() > Some(20), "{doc}");

    let journal = Connection::open(shown.repository().join(".segue/journal.db")).unwrap();
    let changed = journal
        .execute(
            "UPDATE events SET effects = replace(effects, '\"session\":2', '\"session\":7')
             WHERE seq = (SELECT min(seq) FROM events WHERE effects LIKE '%\"start_session\",\"session\":2%')",
            [],
        )
        .unwrap();
    assert_eq!(changed, 1);
    drop(journal);

    let other = shown.segue(&["replay"]);
    assert_eq!(other.code, Some(1), "{}", other.all());
    let line = |head: &str| other.out.lines().find(|l| l.trim_start().starts_with(head)).unwrap_or_default();
    assert!(line("- recorded").contains("\"session\":7"), "{}", other.out);
    assert!(line("+ decided").contains("\"session\":2"), "{}", other.out);
    assert!(other.out.contains("1 of "), "{}", other.out);
    let other = shown.segue(&["replay", "--json"]);
    assert_eq!(other.code, Some(1));
    let differences = other.lines()[0]["differences"].as_array().unwrap().clone();
    assert_eq!(differences.len(), 1);
    let words = |key: &str| differences[0][key].to_string();
    assert!(words("recorded").contains("7") && words("recorded") != words("decided"), "{differences:?}");
}

#[test]
fn an_event_that_cannot_be_read_is_named_and_nothing_is_claimed_about_the_run() {
    let shown = demo(&["--json"]);
    let journal = Connection::open(shown.repository().join(".segue/journal.db")).unwrap();
    journal.execute("UPDATE events SET event = '{\"type\":\"sung\"}' WHERE seq = 5", []).unwrap();
    drop(journal);
    for command in ["replay", "status", "log"] {
        let done = shown.segue(&[command]);
        assert_eq!(done.code, Some(1), "{}", done.all());
        assert!(done.err.contains("event 5 of run"), "{}", done.err);
    }
}
