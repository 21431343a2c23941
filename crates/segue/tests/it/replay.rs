//! `segue replay`: the journal decides the same again, and one altered decision is found.

use rusqlite::Connection;

use crate::demo::demo;
use crate::support::only;

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

    let journal =
        Connection::open(only(&shown.repository().join(".git/segue/runs")).join("journal.db")).unwrap();
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
    let journal =
        Connection::open(only(&shown.repository().join(".git/segue/runs")).join("journal.db")).unwrap();
    journal.execute("UPDATE events SET event = '{\"type\":\"sung\"}' WHERE seq = 5", []).unwrap();
    drop(journal);
    // Whoever only asks how it stands reads on from the newest state.
    for command in ["replay", "log"] {
        let done = shown.segue(&[command]);
        assert_eq!(done.code, Some(1), "{}", done.all());
        assert!(done.err.contains("event 5 of run"), "{}", done.err);
    }
}

#[test]
fn another_policy_is_shown_with_what_it_would_have_decided_in_each_session() {
    let shown = demo(&["--json", "--policy", "seamless"]);
    assert_eq!(shown.done.code, Some(0), "{}", shown.done.all());

    let doc = &shown.segue(&["replay", "--policy", "phased", "--json"]).lines()[0];
    assert_eq!((&doc["recorded"], &doc["policy"]), (&"seamless".into(), &"phased".into()));
    let sessions = doc["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 4, "{doc}");
    for session in &sessions[..3] {
        let stage = |whose: &str| {
            let found =
                session[whose].as_array().unwrap().iter().find(|line| line["what"] == "stage").cloned();
            found.map(|line| (line["call"].as_u64().unwrap(), line["percent"].as_f64().unwrap()))
        };
        let (was, other) = (stage("recorded").unwrap(), stage("decided").unwrap());
        assert!((90.0..100.0).contains(&was.1) && (80.0..90.0).contains(&other.1), "{session}");
        assert!(other.0 < was.0, "{session}");
        assert_eq!(session["same"], false, "{session}");
        let last = session["decided"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(last["what"], "handoff", "{session}");
    }
    let said = shown.segue(&["replay", "--policy", "phased"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    let of =
        |mark: &str, text: &str| said.out.lines().any(|line| line.starts_with(mark) && line.contains(text));
    assert!(
        said.out.contains("session 1 (scripted): phased would have handed over at call "),
        "{}",
        said.out
    );
    assert!(of("  - ", "stage 90%: checkpoint:full, restart"), "{}", said.out);
    assert!(of("  + ", "stage 80%: checkpoint:full, restart"), "{}", said.out);
    assert!(said.out.contains("nobody knows what the agent would have done"), "{}", said.out);
}

#[test]
fn a_policy_that_waits_longer_goes_on_to_the_end_of_the_recording_and_dumps_on_the_way() {
    let shown = demo(&["--json", "--policy", "seamless"]);
    let doc = &shown.segue(&["replay", "--policy", "staged", "--json"]).lines()[0];
    let first = &doc["sessions"][0];
    let texts: Vec<&str> =
        first["decided"].as_array().unwrap().iter().map(|line| line["text"].as_str().unwrap()).collect();
    assert!(texts[0].starts_with("stage 80%: warn") && texts[1].starts_with("stage 90%: warn"), "{texts:?}");
    assert!(texts.contains(&"checkpoint (brief) by the agent, then on"), "{texts:?}");
    assert!(!first["decided"].to_string().contains("handoff ("), "{first}");
    assert!(first["says"].as_str().unwrap().contains("staged would not have handed over"), "{first}");
}

#[test]
fn the_policy_of_the_run_itself_decides_the_same_and_a_moved_threshold_does_not() {
    let shown = demo(&["--json", "--policy", "seamless"]);
    let same = shown.segue(&["replay", "--policy", "seamless"]);
    assert_eq!(same.code, Some(0), "{}", same.all());
    assert_eq!(same.out.matches("): the same").count(), 4, "{}", same.out);
    assert!(!same.out.contains("  + ") && !same.out.contains("  - "), "{}", same.out);
    let moved = shown.segue(&["replay", "--policy", "seamless", "--context-threshold", "82"]);
    assert!(moved.out.contains("seamless at 82 % would have handed over at call "), "{}", moved.out);
    for (args, says) in [
        (&["replay", "--policy", "best"][..], "auto, seamless"),
        (&["replay", "--policy", "auto", "--context-threshold", "0.9"], "percent?"),
        (&["replay", "--context-threshold", "80"], "--policy"),
    ] {
        let done = shown.segue(args);
        assert_eq!(done.code, Some(2), "{}", done.all());
        assert!(done.err.contains(says), "{}", done.err);
    }
}
