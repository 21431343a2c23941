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
        ..TaskReport::default()
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
        checkpoint_context: None,
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

const OTHER_FORM: &str = "# Phase 6D Partial Progress Handoff\n\n**Phase ID:** 6D\n**Reason:** Context exhaustion detected during execute\n\
**Timestamp:** 2026-01-01T00:00:00Z\n**Last Checkpoint SHA:** abc1234\n\n## Tasks Completed\n| Task ID | Status | Commit SHA | Files Modified |\n\
|---------|--------|------------|----------------|\n| 1.1 | COMPLETED | abc1234 | src/a.rs |\n\n## Tasks Remaining\n\
| Task ID | Description | Estimated Complexity |\n|---------|-------------|---------------------|\n| 1.2 | sum it | simple |\n\
| Task 1.3 | show it | medium |\n\n## Files Modified (partial list)\n- src/a.rs: the model\n\n## Partial Progress State\n\
- Current step: execute\n- Issues encountered: the wall is high\n";

#[test]
fn p2_the_form_of_phase_runners_is_read_with_its_partial_progress() {
    assert_eq!(left(OTHER_FORM), [false, true, true]);
    let handoff = read(OTHER_FORM, &phase()).unwrap();
    assert_eq!(handoff.done(), ["1.1"]);
    let words = handoff.words();
    assert!(words.contains("the wall is high") && words.contains("src/a.rs: the model"), "{words}");
    let none = OTHER_FORM.replace("| 1.1 | COMPLETED | abc1234 | src/a.rs |", "| - | none | | |");
    assert!(read(&none, &phase()).unwrap().done().is_empty());
    let heading = OTHER_FORM.replace("**Phase ID:** 6D\n", "");
    assert_eq!(left(&heading), [false, true, true], "the heading names the phase, too");
    let other = OTHER_FORM.replace("6D", "7");
    assert_eq!(read(&other, &phase()), Err(BadHandoff::OtherPhase("7".to_owned())));
}

#[test]
fn p2_what_is_done_is_known_by_its_words_when_a_task_was_put_before_it() {
    let text = write(&phase(), &report(&["1.1"]), &Around::default());
    let mut phase = phase();
    phase.tasks.iter_mut().for_each(|task| task.title = task.title.replace("do |", "make |"));
    let renamed = read(&text, &phase).unwrap();
    assert_eq!(renamed.done(), ["1.1"], "by its id, when its words are gone");
    let titled =
        |id: &str, title: &str| Task { id: id.to_owned(), title: title.to_owned(), ..Task::default() };
    let before = Phase { tasks: vec![titled("1", "walls"), titled("2", "roof")], ..Phase::new("6D") };
    let text = write(&before, &report(&["1"]), &Around::default());
    let after = Phase {
        tasks: vec![titled("1", "cellar"), titled("2", "walls"), titled("3", "roof")],
        ..Phase::new("6D")
    };
    let handoff = read(&text, &after).unwrap();
    assert_eq!(
        (handoff.done(), handoff.remains("3"), handoff.remains("1")),
        (["2".to_owned()].as_slice(), true, false)
    );
}
