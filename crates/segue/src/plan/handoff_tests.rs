use segue_plans::Task;
use segue_plans::report::{Recommendation, ReportStatus, TaskReport};

use super::*;

fn phase() -> Phase {
    let task = |id: &str| Task { id: id.to_owned(), title: format!("do | {id}"), ..Task::default() };
    Phase { title: "Basket".to_owned(), tasks: ["1.1", "1.2", "1.3"].map(task).into(), ..Phase::new("6D") }
}

fn written(dir: &Path) -> String {
    let tasks =
        vec![TaskReport { id: "1.1".to_owned(), status: TaskOutcome::Completed, note: "a|b".to_owned() }];
    let report = Report {
        status: ReportStatus::Failed,
        tasks,
        commits: Vec::new(),
        issues: vec!["the wall is high".to_owned()],
        recommendation: Recommendation::Halt,
        summary: "half of it".to_owned(),
        failure: None,
        split_details: None,
    };
    write(dir, &phase(), &report, &Facts::default(), "the window was full", "segue resume p").unwrap();
    std::fs::read_to_string(dir.join(NAME)).unwrap()
}

#[test]
fn p2_what_is_written_is_read_and_names_only_the_remaining_tasks() {
    let dir = tempfile::tempdir().unwrap();
    written(dir.path());
    let Found::Rest(handoff) = read(dir.path(), &phase()) else { panic!("{:?}", read(dir.path(), &phase())) };
    let left: Vec<bool> = ["1.1", "1.2", "1.3"].iter().map(|id| handoff.remains(id)).collect();
    assert_eq!(left, [false, true, true]);
    assert!(
        handoff.words().contains("1.1") && handoff.words().contains("the wall is high"),
        "{}",
        handoff.words()
    );
}

#[test]
fn p2_missing_and_damaged_are_two_things() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(read(dir.path(), &phase()), Found::Missing);
    let text = written(dir.path());
    let damages = [
        (String::new(), "no phase"),
        (text.replace("6D", "7"), "phase 7"),
        (text.replace("## Tasks Remaining", "## Rest"), "remaining"),
        (text.replace("| 1.2 |", "| 9.9 |"), "no task 9.9"),
        (text[..text.find("| 1.2").unwrap()].to_owned(), "no task remains"),
    ];
    for (text, why) in damages {
        std::fs::write(dir.path().join(NAME), &text).unwrap();
        let Found::Damaged(told) = read(dir.path(), &phase()) else { panic!("{text}") };
        assert!(told.contains(why), "{told}");
    }
    std::fs::write(dir.path().join(NAME), b"\xff\xfe").unwrap();
    assert!(matches!(read(dir.path(), &phase()), Found::Damaged(_)));
}

#[test]
fn p2_what_a_person_edits_counts() {
    let dir = tempfile::tempdir().unwrap();
    let text = written(dir.path()).replace("\n", "\r\n");
    let lines: Vec<&str> = text.lines().filter(|line| !line.contains("| 1.3 |")).collect();
    std::fs::write(dir.path().join(NAME), lines.join("\r\n")).unwrap();
    let Found::Rest(handoff) = read(dir.path(), &phase()) else { panic!() };
    assert!(handoff.remains("1.2") && !handoff.remains("1.3"));
}

#[test]
fn p2_a_task_whose_check_fails_remains_whatever_the_agent_says() {
    let dir = tempfile::tempdir().unwrap();
    let report = segue_plans::report::read(
        r#"{"status": "failed", "summary": "s", "tasks": [{"id": "1.1", "status": "completed"}, {"id": "1.2", "status": "completed"}]}"#,
    );
    let gate = |name: &str, passed: bool| segue_machine::GateResult {
        gate: name.to_owned(),
        when: segue_machine::GateWhen::After,
        passed,
        exit: None,
        ms: 0,
        output: None,
        tail: String::new(),
    };
    let gates = vec![gate("criterion 1.2.1: it is there", false), gate("criterion 1.1.1: it is there", true)];
    let facts = Facts { gates, ..Facts::default() };
    write(dir.path(), &phase(), &report.unwrap().report, &facts, "red", "segue resume p").unwrap();
    let Found::Rest(handoff) = read(dir.path(), &phase()) else { panic!() };
    assert!(!handoff.remains("1.1") && handoff.remains("1.2") && handoff.remains("1.3"));
}
