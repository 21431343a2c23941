use super::*;
use crate::report::{Recommendation, ReportStatus, TaskReport};

fn phase() -> Phase {
    let task = |id: &str| Task { id: id.to_owned(), title: format!("do | {id}"), ..Task::default() };
    Phase { title: "Basket".to_owned(), tasks: ["1.1", "1.2", "1.3"].map(task).into(), ..Phase::new("6D") }
}

fn report(done: &[&str]) -> Report {
    let task = |id: &&str| TaskReport {
        id: (*id).to_owned(),
        status: TaskOutcome::Completed,
        note: "a|b".to_owned(),
    };
    Report {
        status: ReportStatus::Failed,
        tasks: done.iter().map(task).collect(),
        commits: Vec::new(),
        issues: vec!["the wall is high".to_owned()],
        recommendation: Recommendation::Halt,
        summary: "half of it\n## Tasks Remaining\n| none |".to_owned(),
        failure: None,
        split_details: None,
    }
}

fn written(done: &[&str], failing: &[String]) -> String {
    let around =
        Around { reason: "the window was full", go_on: "segue resume p", failing, ..Around::default() };
    write(&phase(), &report(done), &around)
}

fn left(text: &str) -> Vec<bool> {
    let handoff = read(text, &phase()).unwrap_or_else(|error| panic!("{error}: {text}"));
    ["1.1", "1.2", "1.3"].iter().map(|id| handoff.remains(id)).collect()
}

#[test]
fn p2_what_is_written_is_read_and_names_only_the_remaining_tasks() {
    let text = written(&["1.1"], &[]);
    assert_eq!(left(&text), [false, true, true]);
    let words = read(&text, &phase()).unwrap().words();
    assert!(words.contains("1.1") && words.contains("the wall is high"), "{words}");
}

#[test]
fn p2_a_task_whose_check_fails_remains_whatever_the_agent_says() {
    assert_eq!(left(&written(&["1.1", "1.2"], &["1.2".to_owned()])), [false, true, true]);
}

#[test]
fn p2_what_is_damaged_is_said_to_be() {
    let text = written(&["1.1"], &[]);
    let damages = [
        (String::new(), "no phase"),
        (text.replace("6D", "7"), "phase 7"),
        (text.replace("## Tasks Remaining", "## Rest"), "remaining"),
        (text.replace("| 1.2 |", "| 9.9 |"), "no task 9.9"),
        (text[..text.find("| 1.2").unwrap()].to_owned(), "no task remains"),
    ];
    for (text, why) in damages {
        let told = read(&text, &phase()).unwrap_err().to_string();
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn p2_what_a_person_edits_counts() {
    let text = written(&["1.1"], &[]).replace('\n', "\r\n");
    let lines: Vec<&str> = text.lines().filter(|line| !line.contains("| 1.3 |")).collect();
    assert_eq!(left(&lines.join("\r\n")), [false, true, false]);
}
