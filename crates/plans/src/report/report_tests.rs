use super::*;
use serde_json::json;

fn is_strict(report: &Report) {
    let schema = serde_json::to_value(schema()).unwrap();
    let value = serde_json::to_value(report).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn report(answer: &str) -> Report {
    let report = read(answer).unwrap().report;
    is_strict(&report);
    report
}

const GOOD: &str = r#"{"status":"completed","tasks":[{"id":"1","status":"completed"}],"commits":["abc"],"issues":[],"recommendation":"proceed","summary":"All done."}"#;

#[test]
fn a_report_is_found_bare_fenced_and_among_words() {
    for answer in [
        GOOD.to_owned(),
        format!("Done!\n```json\n{GOOD}\n```\nBye {{x}}."),
        format!("{{not}} this: {GOOD} and more"),
    ] {
        let report = report(&answer);
        assert_eq!(
            (report.status, report.recommendation),
            (ReportStatus::Completed, Recommendation::Proceed)
        );
        assert_eq!(report.commits, ["abc"]);
    }
}

#[test]
fn the_last_of_several_reports_counts() {
    let later = GOOD.replace("All done.", "Later.");
    assert_eq!(report(&format!("{GOOD}\n\n```\n{later}\n```")).summary, "Later.");
}

#[test]
fn other_words_for_the_same_are_understood() {
    let read = read(r#"{"status":"Done","tasks_completed":["1",2],"tasks_failed":[{"task_id":"3"}],"commits":[{"sha":"a1"}],"issues":[{"description":"slow"}],"summary":"x"}"#).unwrap();
    let tasks: Vec<(&str, TaskOutcome)> =
        read.report.tasks.iter().map(|t| (t.id.as_str(), t.status)).collect();
    assert_eq!(
        tasks,
        [("1", TaskOutcome::Completed), ("2", TaskOutcome::Completed), ("3", TaskOutcome::Failed)]
    );
    assert_eq!((read.report.commits[0].as_str(), read.report.issues[0].as_str()), ("a1", "slow"));
    assert_eq!(read.mended, ["there is no recommendation that is known"]);
    is_strict(&read.report);
}

#[test]
fn a_comma_too_many_is_mended_and_said() {
    let read = read("{\"status\": \"failed\", \"issues\": [\"a,]\",], \"recommendation\": \"debug\", \"summary\": \"s\",}").unwrap();
    assert_eq!(read.report.issues, ["a,]"]);
    assert_eq!(read.mended, ["a comma before a closing bracket"]);
}

#[test]
fn p1_a_split_request_has_its_parts_or_is_asked_for_again() {
    let whole = r#"{"status":"split_request","recommendation":"halt","summary":"too much","split_details":{"reason":"40 files","recommended_sub_phases":[{"id":"20a","title":"Model","tasks":["1","2"],"files":["a.rs"]},{"title":"View","tasks":[]},"Rest"]}}"#;
    let details = report(whole).split_details.unwrap();
    let ids: Vec<&str> = details.recommended_sub_phases.iter().map(|part| part.id.as_str()).collect();
    assert_eq!((details.reason.as_str(), ids), ("40 files", vec!["20a", "b", "c"]));
    let without = r#"{"status":"split_request","recommendation":"halt","summary":"too much"}"#;
    assert!(matches!(read(without), Err(NoReport::Incomplete(_))));
}

#[test]
fn a_full_window_is_failed_and_halt_whatever_else_is_said() {
    let told = report(
        r#"{"status":"completed","failure_category":"context_exhaustion","recommendation":"proceed","summary":"half"}"#,
    );
    assert_eq!((told.status, told.recommendation), (ReportStatus::Failed, Recommendation::Halt));
    assert_eq!(told.failure, Some(FailureCategory::ContextExhaustion));
}

#[test]
fn p7_every_field_of_a_report_is_bounded() {
    let long = "ä".repeat(2_500);
    let tasks: Vec<_> = (0..TASKS + 50)
        .map(|n| json!({ "id": format!("{n}{}", "x".repeat(90)), "status": "done" }))
        .collect();
    let issues: Vec<String> = (0..150).map(|n| format!("{n} {}", "y".repeat(510))).collect();
    let parts: Vec<_> =
        (0..30).map(|n| json!({ "id": n, "title": "z".repeat(600), "tasks": ["1"], "files": [] })).collect();
    let huge = json!({ "status": "split_request", "tasks": tasks, "issues": issues, "summary": long, "recommendation": "halt",
        "split_details": { "reason": long, "recommended_sub_phases": parts } });
    let read = read(&huge.to_string()).unwrap();
    is_strict(&read.report);
    let report = &read.report;
    assert_eq!((report.tasks.len(), report.issues.len()), (TASKS, ENTRIES));
    assert_eq!(report.summary.chars().count(), SUMMARY_CHARS);
    assert_eq!(report.split_details.as_ref().unwrap().recommended_sub_phases.len(), PARTS);
    assert_eq!(read.mended.len(), 2);
}

#[test]
fn p7_of_an_endless_answer_only_the_end_is_read() {
    assert_eq!(report(&format!("{}{GOOD}", "{ ".repeat(100))).summary, "All done.");
    assert_eq!(report(&format!("{}\n{GOOD}", "é".repeat(1 << 20))).summary, "All done.");
}

#[test]
fn an_answer_without_a_report_says_what_is_missing() {
    assert_eq!(read("I am done."), Err(NoReport::Missing));
    assert_eq!(read("{\"id\": \"1\", \"status\": \"completed\"}"), Err(NoReport::Missing));
    assert!(matches!(read("{\"status\": \"completed\", \"summary\": \"x"), Err(NoReport::Broken(_))));
    assert!(matches!(read("{\"status\": \"fine\", \"summary\": \"x\"}"), Err(NoReport::Incomplete(_))));
}

#[test]
fn a_report_from_facts_is_never_better_than_the_facts() {
    let status = |facts: &Facts| Report::derived(facts).status;
    assert_eq!(status(&Facts { decided: true, ..Facts::default() }), ReportStatus::Completed);
    assert_eq!(status(&Facts::default()), ReportStatus::NeedsHumanVerification);
    assert_eq!(
        status(&Facts { decided: true, failing: vec!["tests".to_owned()], ..Facts::default() }),
        ReportStatus::Failed
    );
    let exhausted = Report::derived(&Facts { decided: true, exhausted: true, ..Facts::default() });
    assert_eq!((exhausted.status, exhausted.recommendation), (ReportStatus::Failed, Recommendation::Halt));
    is_strict(&exhausted);
}

#[test]
fn more_than_three_issues_in_a_full_window_want_a_split() {
    let mut report = report(GOOD);
    report.issues = vec!["x".to_owned(); 4];
    assert!(report.wants_split(Some(61)) && !report.wants_split(Some(60)) && !report.wants_split(None));
    report.issues.pop();
    assert!(!report.wants_split(Some(90)));
}

#[test]
fn p2_a_phase_runner_that_gives_up_in_its_own_form_is_understood() {
    let told = report(
        r#"{"phase":"16","status":"failed","tasks_completed":"2/4","tasks_failed":"0/4","commit_shas":["a1","b2"],
            "issues":["context_exhaustion: partial progress saved to HANDOFF.md"],"recommendation":"halt","summary":"Half of it."}"#,
    );
    assert_eq!(told.failure, Some(FailureCategory::ContextExhaustion));
    assert_eq!(told.commits, ["a1", "b2"]);
    assert!(told.tasks.is_empty(), "how many is not which");
    assert_eq!(told.summary, "Half of it.\nThe agent counts 2 of 4 tasks as done.");
    let other = report(r#"{"status":"failed","issues":["the context is hard to see"],"summary":"x"}"#);
    assert_eq!(other.failure, None, "words are no category");
}

#[test]
fn p1_sub_phases_are_named_as_their_tools_name_them() {
    let told = report(
        r#"{"status":"split_request","tasks_completed":"0/0","recommendation":"proceed","summary":"large","split_details":
            {"reason":"much","total_sub_phases":2,"recommended_sub_phases":[
            {"sub_phase_id":"20a","name":"Model","scope":"the tables","issues":["1.1","Sum it"],"estimated_complexity":"simple"},
            {"sub_phase_id":"20b","name":"View","issues":[{"id":"1.3"}]}]}}"#,
    );
    let parts = told.split_details.unwrap().recommended_sub_phases;
    let seen: Vec<(&str, &str, Vec<&str>)> = parts
        .iter()
        .map(|part| (part.id.as_str(), part.title.as_str(), part.tasks.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(seen, [("20a", "Model: the tables", vec!["1.1", "Sum it"]), ("20b", "View", vec!["1.3"])]);
}

#[test]
fn what_a_person_must_know_is_kept_as_text() {
    let told = report(
        r#"{"status":"needs_human_verification","recommendation":"halt","summary":"look","checkpoint_context":
            {"checkpoint_task_id":"16-04","how_to_verify":["open the page","press the button"]}}"#,
    );
    let context = told.checkpoint_context.unwrap();
    assert_eq!(context, "checkpoint task id: 16-04\nhow to verify: open the page, press the button");
}
