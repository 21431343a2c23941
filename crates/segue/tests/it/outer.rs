//! The public contract, as the program really writes it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::demo::demo;

/// One demo of every policy that shows something of its own.
const POLICIES: [&str; 4] = ["auto", "staged", "observe", "native"];

fn position(lines: &[Value], is_it: impl Fn(&Value) -> bool) -> Option<usize> {
    lines.iter().position(is_it)
}

#[test]
fn every_line_keeps_the_published_schema_and_is_numbered_without_gaps() {
    let validator = jsonschema::validator_for(&segue_report::schema()).unwrap();
    for policy in POLICIES {
        let shown = demo(&["--json", "--policy", policy]);
        let lines = shown.done.lines();
        for (i, line) in lines.iter().enumerate() {
            let errors: Vec<String> = validator.iter_errors(line).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{policy}: {errors:?}\n{line}");
            assert_eq!(line["seq"], i + 1, "{policy}: {line}");
            assert_eq!(line["run"], lines[0]["run"]);
            assert_moment(line["at"].as_str().unwrap());
        }
        let at = |i: usize| lines[i]["at"].as_str().unwrap();
        assert!((1..lines.len()).all(|i| at(i - 1) <= at(i)), "{policy}: time does not go back");
        let logged = shown.segue(&["log", "--json"]);
        assert_eq!(logged.out, shown.done.out, "{policy}: the log is what was shown");
    }
}

/// RFC 3339 in UTC with milliseconds.
fn assert_moment(text: &str) {
    let pattern = "dddd-dd-ddTdd:dd:dd.dddZ";
    let fits =
        |(found, wanted): (char, char)| if wanted == 'd' { found.is_ascii_digit() } else { found == wanted };
    assert!(text.len() == pattern.len() && text.chars().zip(pattern.chars()).all(fits), "{text}");
}

#[test]
fn c6_lines_come_in_an_order_that_makes_sense() {
    let lines = demo(&["--json"]).done.lines();
    assert_eq!(lines[0]["type"], "run.started");
    assert_eq!(lines[0]["schema"], 2);
    assert_eq!(lines[lines.len() - 1]["type"], "run.finished");
    let at = |kind: &str, session: &str| {
        position(&lines, |l| l["type"] == kind && (l["session"] == session || l["from"] == session))
    };
    for n in 1..=4 {
        let session = format!("s{n}");
        let started = at("session.started", &session).unwrap();
        let ended = at("session.ended", &session).unwrap();
        for (i, line) in lines.iter().enumerate().filter(|(_, l)| l["session"] == session.as_str()) {
            assert!(started <= i && i <= ended, "{line}");
        }
        if n > 1 {
            let before = at("session.ended", &format!("s{}", n - 1)).unwrap();
            assert!(before < started, "one session after the other");
        }
        if n < 4 {
            let order = [
                "stage.reached",
                "checkpoint.requested",
                "checkpoint.taken",
                "handoff.decided",
                "session.ended",
            ];
            let places: Vec<_> = order.iter().map(|kind| at(kind, &session).unwrap()).collect();
            assert!(places.is_sorted(), "{session}: {places:?}");
        }
    }
    let gates: Vec<_> = lines
        .iter()
        .filter(|l| l["type"] == "gate.finished" && l["when"] != "checkpoint")
        .map(|l| &l["passed"])
        .collect();
    assert_eq!(gates, [false, true]);
}

#[test]
fn the_calls_of_a_session_are_numbered_and_each_is_final_once() {
    let lines = demo(&["--json", "--policy", "seamless"]).done.lines();
    let mut calls: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for line in lines.iter().filter(|l| l["type"] == "gauge.read" && l["final"] == true) {
        let session = line["session"].as_str().unwrap().to_owned();
        calls.entry(session).or_default().push(line["call"].as_u64().unwrap());
        assert_eq!(line["source"], "reported");
        let share = line["tokens"].as_f64().unwrap() / line["ceiling"].as_f64().unwrap() * 100.0;
        assert!((share - line["percent"].as_f64().unwrap()).abs() < 0.02, "{line}");
    }
    assert_eq!(calls.len(), 4);
    for (session, calls) in calls {
        assert_eq!(calls, (1..=calls.len() as u64).collect::<Vec<_>>(), "{session}");
    }
}

#[test]
fn what_is_unknown_is_null_and_never_zero() {
    let lines = demo(&["--json"]).done.lines();
    let kinds: BTreeSet<&str> = lines.iter().map(|l| l["type"].as_str().unwrap()).collect();
    let first = |kind: &str| lines.iter().find(|l| l["type"] == kind).unwrap();
    let is_null = |line: &Value, key: &str| line.get(key) == Some(&Value::Null);
    let started = first("session.started");
    for key in ["model", "window", "ceiling"] {
        assert!(is_null(started, key), "{key}: {started}");
    }
    for kind in ["session.ended", "run.finished"] {
        for key in ["tokens_out", "cost_usd"] {
            assert!(is_null(first(kind), key), "{key}: {}", first(kind));
        }
        assert!(first(kind)["tokens_in"].as_u64() > Some(0), "{}", first(kind));
    }
    assert!(!kinds.contains("warning"), "nothing to warn of");
}
