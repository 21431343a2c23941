use proptest::prelude::*;
use segue_machine::{CheckpointRef, GateWhen, Note};
use serde_json::json;

use super::*;
use crate::sample;
use crate::terminal::columns;

fn view() -> View {
    let mut view = sample::busy_view();
    view.handoffs = 1;
    view.restarts = 1;
    view.gates.insert("tests".into(), sample::gate(false, GateWhen::After));
    view.checkpoint = Some(CheckpointRef {
        id: "c1".into(),
        path: ".segue/c1.md".into(),
        session: 1,
        by: CheckpointBy::Agent,
        ledger: None,
    });
    view.notes = (1..=7).map(|i| Note { at: sample::START, session: 2, text: format!("note {i}") }).collect();
    view
}

#[test]
fn the_document_says_where_the_run_stands() {
    let value = serde_json::to_value(StatusDoc::new("r1", &view(), sample::START + 90_000)).unwrap();
    assert_eq!(value["task"], "Fix the parser");
    assert_eq!(value["phase"], "working");
    assert_eq!(value["verdict"], Value::Null);
    let session = &value["session"];
    assert_eq!(
        [&session["n"], &session["percent"], &session["source"]],
        [&json!(2), &json!(68.25), &json!("exact")]
    );
    assert_eq!(session["running"], json!(["cargo test"]));
    assert_eq!(value["gates"][0]["passed"], false);
    assert_eq!(value["limits"]["deadline_ms"], json!({"max": null, "used": 90_000}));
    assert_eq!(value["limits"]["gate_rounds"], json!({"max": 5, "used": 0}));
    assert_eq!(value["limits"]["tokens"], json!({"max": null, "used": null}));
    assert_eq!(value["notes"].as_array().unwrap().len(), 5);
    assert_eq!(value["notes"][0]["text"], "note 3");
    assert_eq!(value["elapsed_ms"], 90_000);
}

#[test]
fn a_run_of_which_nothing_is_known_has_a_document_too() {
    let doc = StatusDoc::new("r1", &View::default(), 5);
    assert_eq!([doc.elapsed_ms, doc.tokens_in], [None, None]);
    assert!(render(&doc, 80, false).len() > 2);
}

#[test]
fn people_read_it_in_labelled_rows() {
    let lines = render(&StatusDoc::new("r1", &view(), sample::START + 90_000), 100, false);
    let expected = [
        "Fix the parser",
        "  run         r1 · policy auto",
        "  state       working, 1 m 30 s",
        "  session     s2 claude (opus) · running `cargo test` for 1 m 30 s",
        "  window      ████████░░░░ 68 % 136k of 200k exact",
        "  calls       14 calls 31 tools",
        "  running     cargo test",
        "  so far      2 sessions · 1 handoff · 1 restart",
        "  spent       unknown cost",
        "  gates       ✗ tests failed (exit 101), 12 s",
        "  checkpoint  c1 of s1 by the agent · .segue/c1.md",
        "  limits      handoffs without progress 0 of 3, gate attempts 0 of 5",
        "  notes       s2: note 3",
    ];
    assert_eq!(lines[..expected.len()], expected);
}

#[test]
fn an_ended_run_shows_its_verdict_and_the_next_step() {
    let mut view = view();
    view.outcome = Some(Outcome::new(Verdict::Failed, "the gates still fail"));
    view.finished_at = Some(sample::START + 1_000);
    let lines = render(&StatusDoc::new("r1", &view, sample::START + 90_000), 100, false);
    assert!(lines.contains(&"  verdict     failed: the gates still fail".to_owned()), "{lines:#?}");
    assert!(lines.contains(&"  next        segue resume r1".to_owned()), "{lines:#?}");
    assert!(lines.contains(&"  time        1 s".to_owned()), "{lines:#?}");
}

#[test]
fn the_schema_requires_the_fields_that_may_be_null() {
    let schema = schema();
    assert!(schema["required"].as_array().unwrap().contains(&json!("verdict")), "{schema}");
}

proptest! {
    #[test]
    fn no_line_is_wider_than_asked_or_carries_a_control_character(text in any::<String>(), width in 1..200_u16) {
        let mut view = view();
        view.notes[6].text.clone_from(&text);
        view.spec = Some(Box::new(sample::spec("auto", &text)));
        view.session.as_mut().unwrap().agent.clone_from(&text);
        for line in render(&StatusDoc::new("r1", &view, 0), width, false) {
            prop_assert!(columns(&line) <= usize::from(width), "{} > {width}: {:?}", columns(&line), line);
            prop_assert!(!line.chars().any(char::is_control), "{:?}", line);
        }
    }
}

#[test]
fn a_wait_is_shown_with_the_time_it_ends_and_what_is_wrong_with_each_account() {
    let mut view = sample::view("auto", None);
    let until = sample::START + 18 * 60_000;
    view.phase = Phase::Waiting;
    view.spec.as_mut().unwrap().wait.utc_offset_s = 3_600;
    view.waiting = Some(Waiting {
        agent: "claude".into(),
        failure: AgentFailure::RateLimited,
        why: "claude's rate limit".into(),
        until,
        since: sample::START,
    });
    let circuit = |account: &str, failure, until| Circuit {
        account: account.into(),
        agent: None,
        failure,
        failures: 2,
        until,
        said: "401".into(),
    };
    view.circuits = vec![
        circuit("claude", AgentFailure::RateLimited, Some(until)),
        circuit("codex", AgentFailure::Unauthorised, None),
    ];
    let doc = StatusDoc::new("r1", &view, sample::START);
    let lines = render(&doc, 100, false);
    for expected in [
        "  state       waiting, 0 s",
        "  waiting     for claude's rate limit until 13:18 (18 m)",
        "  accounts    claude: rate limited until 13:18",
        "              codex: not authorised (401)",
    ] {
        assert!(lines.contains(&expected.to_owned()), "{expected} in {lines:#?}");
    }
    let value = serde_json::to_value(&doc).unwrap();
    assert_eq!(value["waiting"]["until"], "2026-01-31T12:18:00.000Z");
    assert_eq!(value["circuits"][1]["until"], Value::Null);
    assert_eq!(value["circuits"][0]["open"], true);
}
