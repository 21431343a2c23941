//! What is kept, closed, taken back and told, each by a small example.

use super::*;
use crate::claims::{Claim, ClaimKind, Finding, Judged};
use crate::{GateResult, GateWhen};

fn said(kind: ClaimKind, text: &str) -> Judged {
    let claim = Claim { kind, text: text.to_owned(), section: None };
    Judged { claim, finding: Finding::Unknown, evidence: String::new() }
}

fn proven(kind: ClaimKind, text: &str, evidence: &str) -> Judged {
    Judged { finding: Finding::Confirmed, evidence: evidence.to_owned(), ..said(kind, text) }
}

fn at(n: u32) -> Origin {
    Origin { checkpoint: Some(format!("c{n}")), session: n, agent: "a".to_owned(), at: u64::from(n) }
}

fn merged(rounds: &[&[Judged]]) -> Ledger {
    let mut ledger = Ledger::default();
    for (n, round) in (1..).zip(rounds) {
        ledger.merge(round, &at(n));
    }
    ledger
}

fn open(ledger: &Ledger) -> Vec<&str> {
    ledger.items().iter().filter(|i| i.state == State::Open).map(|i| i.text.as_str()).collect()
}

fn gate(name: &str, passed: bool) -> GateResult {
    let tail = "running\ntest test_empty ... FAILED\n".to_owned();
    GateResult {
        gate: name.to_owned(),
        when: GateWhen::After,
        passed,
        exit: Some(1),
        ms: 1,
        output: None,
        tail,
        timed_out: false,
    }
}

#[test]
fn what_a_later_summary_forgets_stays() {
    let ledger =
        merged(&[&[said(ClaimKind::Decision, "Use SQLite")], &[said(ClaimKind::Done, "The parser")], &[]]);
    assert_eq!(open(&ledger), ["Use SQLite", "The parser"]);
}

#[test]
fn the_same_thing_in_other_words_is_one_item_and_a_replaced_word_makes_another() {
    let ledger = merged(&[
        &[said(ClaimKind::Decision, "Use SQLite for the journal of every run")],
        &[said(ClaimKind::Decision, "**use `SQLite`** for the journal of every run.")],
        &[said(ClaimKind::Decision, "Use SQLite for the journals of every single run")],
        &[said(ClaimKind::Decision, "Use Redis for the journal of every run")],
        &[said(ClaimKind::Decision, "Handler 7 checks the length of its input")],
        &[said(ClaimKind::Decision, "Handler 8 checks the length of its input")],
    ]);
    assert_eq!(
        open(&ledger),
        [
            "Use SQLite for the journals of every single run",
            "Use Redis for the journal of every run",
            "Handler 7 checks the length of its input",
            "Handler 8 checks the length of its input"
        ]
    );
    assert_eq!(ledger.items()[0].times, 3);
}

#[test]
fn of_two_that_cannot_both_hold_the_better_founded_then_the_newer_one_stands_and_it_is_recorded() {
    let mut ledger = merged(&[
        &[said(ClaimKind::Decision, "Use tabs in the printer")],
        &[said(ClaimKind::Decision, "Do not use tabs in the printer")],
        &[said(ClaimKind::Decision, "The retry limit is 3")],
        &[said(ClaimKind::Decision, "The retry limit is 5")],
    ]);
    assert_eq!(open(&ledger), ["Do not use tabs in the printer", "The retry limit is 5"]);
    assert!(ledger.render(500).text.contains("- The retry limit is 5 (before: The retry limit is 3)"));
    ledger.merge(&[said(ClaimKind::Decision, "The retry limit is 3")], &at(5));
    assert_eq!(open(&ledger), ["Do not use tabs in the printer", "The retry limit is 3"]);
    ledger.rules("- Never push to main.");
    ledger.merge(&[said(ClaimKind::Decision, "Push to main.")], &at(6));
    assert!(!open(&ledger).contains(&"Push to main."));
    assert_eq!(ledger.conflicts().len(), 4);
    assert!(ledger.conflicts()[3].resolved.starts_with("by evidence"));
}

#[test]
fn a_contradicted_claim_is_never_kept_and_takes_back_what_was_kept() {
    let file = || ClaimKind::File { path: "a.rs".to_owned(), change: crate::claims::Change::Created };
    let lie = Judged {
        finding: Finding::Contradicted,
        evidence: "git: no".to_owned(),
        ..said(file(), "Wrote a.rs")
    };
    let ledger =
        merged(&[&[said(file(), "Wrote a.rs")], std::slice::from_ref(&lie), &[said(file(), "Wrote a.rs")]]);
    assert_eq!(open(&ledger), [""; 0]);
    let ledger = merged(&[&[lie], &[proven(file(), "Wrote a.rs", "git: created")]]);
    assert_eq!(open(&ledger), ["Wrote a.rs"]);
}

#[test]
fn a_remaining_item_is_closed_by_proven_work_and_marked_by_an_agents_word() {
    let file = ClaimKind::File { path: "src/p.rs".to_owned(), change: crate::claims::Change::Created };
    let ledger = merged(&[
        &[
            said(ClaimKind::Remaining, "the parser in src/p.rs"),
            said(ClaimKind::Remaining, "the pretty printer"),
        ],
        &[
            proven(file, "Wrote the parser in src/p.rs", "git: created"),
            said(ClaimKind::Done, "Finished the pretty printer"),
        ],
    ]);
    assert_eq!(ledger.items()[0].state, State::Closed { by: "git: created".to_owned() });
    assert_eq!(ledger.items()[1].state, State::SaidDone { by: "c2".to_owned() });
    assert!(ledger.render(500).text.contains("- [R2] the pretty printer (said done in c2, not confirmed)"));
}

#[test]
fn a_failure_stays_until_the_gate_is_green_or_the_same_command_succeeds() {
    let mut ledger = merged(&[&[
        said(ClaimKind::Failure, "test_empty fails"),
        said(ClaimKind::Failure, "TLS is broken on macOS"),
    ]]);
    ledger.gate(&gate("tests", false), 5);
    ledger.gate(&gate("tests", false), 6);
    ledger.tool("cargo check", false, "error: no", &at(1));
    let pass = || ClaimKind::TestsPass { gate: Some("tests".to_owned()) };
    let lie = Judged { finding: Finding::Contradicted, ..said(pass(), "All tests pass") };
    ledger.merge(&[lie], &at(2));
    ledger.gate(&gate("lint", true), 7);
    assert_eq!(
        open(&ledger),
        [
            "test_empty fails",
            "TLS is broken on macOS",
            "Gate tests fails (exit 1): test test_empty ... FAILED",
            "`cargo check` failed: error: no"
        ]
    );
    ledger.gate(&gate("tests", true), 8);
    ledger.tool("cargo check", true, "", &at(1));
    assert_eq!(open(&ledger), ["TLS is broken on macOS"]);
    ledger.gate(&gate("tests", false), 9);
    assert_eq!(open(&ledger).len(), 2);
}

#[test]
fn the_users_rules_come_first_and_what_is_left_out_is_named() {
    let mut ledger = Ledger::default();
    let many: Vec<Judged> =
        (0..200).map(|n| said(ClaimKind::Done, &format!("Looked at file number {n}"))).collect();
    ledger.merge(&many, &at(7));
    ledger.merge(&[said(ClaimKind::Decision, "Use SQLite")], &at(8));
    ledger.rules("Build it.\n- Never touch `legacy/`.\n- You must not use the network. Is that clear?\n```\nnever\n```\n");
    let made = ledger.render(200);
    assert!(
        made.text
            .starts_with("## The user's rules\n- Never touch `legacy/`.\n- You must not use the network.\n")
    );
    assert!(made.text.contains("## Decisions\n- Use SQLite\n"));
    let left = made.left_out[0].1;
    assert!(
        made.text.contains(&format!("({left} older done items are left out; see checkpoint c7)")),
        "{}",
        made.text
    );
    assert_eq!(made.shown + left, 203);
}

#[test]
fn a_swollen_category_does_not_push_the_others_out() {
    let mut ledger = Ledger::default();
    let many: Vec<Judged> =
        (0..500).map(|n| said(ClaimKind::Constraint, &format!("Value {n} must stay below {n}"))).collect();
    ledger.merge(&many, &at(1));
    ledger.merge(
        &[said(ClaimKind::Failure, "test_empty fails"), said(ClaimKind::Remaining, "the printer")],
        &at(2),
    );
    let text = ledger.render(600).text;
    assert!(text.contains("test_empty fails") && text.contains("the printer"));
}

#[test]
fn truth10_what_an_agent_wrote_stands_under_no_heading_as_a_fact() {
    let mut ledger = merged(&[&[said(ClaimKind::Failure, "TLS is broken on macOS")]]);
    ledger.note("Known issue: the cache is never emptied", &at(2));
    ledger.gate(&gate("tests", false), 9);
    let told = ledger.render(2_000).text;
    let failures = told.split("## Open failures\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let (said, seen): (Vec<_>, Vec<_>) =
        failures.lines().partition(|line| line.contains("(the agent says so, session "));
    assert!(said.iter().any(|line| line.contains("TLS is broken on macOS")), "{told}");
    assert_eq!(seen, ["- Gate tests fails (exit 1): test test_empty ... FAILED"]);
}
