//! Plans as JSON: arrays of tasks, stories with `passes`, tasks with sub-tasks below a name.

use segue_plans::{Complexity, Format, Status};

use crate::support::{read, tasks, told};

#[test]
fn an_array_of_tasks_is_a_phase_for_each() {
    let plan = read(
        r#"[
  {"task_id": "A-1", "intent": "Add a field", "instructions": "Edit it.", "acceptance_criteria": ["`grep -c x f` returns >= 2", "It is fast"], "status": "done"},
  {"task_id": "A-2", "intent": "Use it", "depends_on": ["A-1"], "acceptance_criteria": ["cargo test"], "status": "pending"}
]"#,
    );
    assert_eq!(told(&plan), (Format::Json, 2, 2, 0, 3));
    let second = &plan.phases[1];
    assert_eq!((second.id.as_str(), second.title.as_str(), second.at.line), ("A-2", "Use it", 3));
    assert_eq!(second.needs, ["A-1"]);
    assert_eq!(second.tasks[0].criteria[0].checks[0].run, "cargo test");
    assert_eq!(plan.phases[0].status, Status::Completed);
    assert_eq!(plan.phases[0].tasks[0].action, "Edit it.");
    assert_eq!(plan.phases[0].tasks[0].criteria[0].checks[0].judge.to_string(), "at least 2");
}

#[test]
fn stories_are_done_when_they_pass() {
    let plan = read(
        r#"{"project": "Shop", "branchName": "x", "userStories": [
            {"id": "US-001", "title": "Buy", "description": "As a buyer", "acceptanceCriteria": ["Typecheck passes"], "priority": 1, "passes": true},
            {"id": "US-002", "title": "Pay", "acceptanceCriteria": [{"given": "a basket", "when": "paying", "then": "it is paid"}], "passes": false}]}"#,
    );
    assert_eq!(told(&plan), (Format::Json, 2, 2, 0, 2));
    assert_eq!(
        (plan.title.as_str(), plan.phases[0].status, plan.phases[1].status),
        ("Shop", Status::Completed, Status::Pending)
    );
    assert_eq!(plan.phases[1].tasks[0].criteria[0].text, "given a basket, when paying, then it is paid");
}

#[test]
fn sub_tasks_are_tasks_and_numbers_are_ids() {
    let plan = read(
        r#"{"master": {"tasks": [
            {"id": 1, "title": "Base", "description": "d", "details": "Do it.", "testStrategy": "pytest -q", "dependencies": [], "status": "done", "subtasks": []},
            {"id": 2, "title": "More", "dependencies": [1], "status": "in-progress", "complexity": 8,
             "subtasks": [{"id": 1, "title": "Half", "status": "done"}, {"id": 2, "title": "Rest", "dependencies": [1]}]}], "metadata": {}}}"#,
    );
    assert_eq!(told(&plan), (Format::Json, 2, 3, 0, 0));
    assert_eq!(tasks(&plan.phases[1]), ["2.1", "2.2"]);
    assert_eq!(
        (plan.phases[1].needs.as_slice(), plan.phases[1].status),
        (["1".to_owned()].as_slice(), Status::InProgress)
    );
    assert_eq!(plan.phases[0].tasks[0].verify[0].checks[0].run, "pytest -q");
    assert_eq!(plan.phases[0].tasks[0].complexity, None::<Complexity>);
}
