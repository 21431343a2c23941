//! Plans as JSON: arrays of tasks, stories with `passes`, tasks with sub-tasks below a name.

use segue_plans::{Complexity, Format, NoFiles, Status, read_plan, write_back};

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
    assert_eq!(told(&plan), (Format::RalphPrd, 2, 2, 0, 2));
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
    assert_eq!(told(&plan), (Format::TaskMaster, 2, 3, 0, 0));
    assert_eq!(tasks(&plan.phases[1]), ["2.1", "2.2"]);
    assert_eq!(
        (plan.phases[1].needs.as_slice(), plan.phases[1].status),
        (["1".to_owned()].as_slice(), Status::InProgress)
    );
    assert_eq!(plan.phases[0].tasks[0].verify[0].checks[0].run, "pytest -q");
    assert_eq!(plan.phases[0].tasks[0].complexity, None::<Complexity>);
    assert_eq!(plan.phases[1].tasks[1].needs, ["2.1"]);
}

#[test]
fn the_current_tag_is_read_and_the_others_are_said() {
    let text = r#"{"alpha": {"tasks": [{"id": 9, "title": "Other", "status": "pending"}]},
        "master": {"tasks": [{"id": 1, "title": "Mine", "details": "How.", "status": "pending", "subtasks": [
            {"id": 1, "title": "Half", "description": "What half is.", "details": "Cut it.", "status": "pending"}]}]}}"#;
    let plan = read(text);
    assert_eq!((plan.phases.len(), plan.phases[0].title.as_str()), (1, "Mine"));
    assert!(plan.oddities[0].what.contains("1 open tasks of the tag alpha"), "{:?}", plan.oddities);
    assert!(plan.phases[0].about.contains("How."), "a parent's details reach the agent");
    assert_eq!(plan.phases[0].tasks[0].action, "What half is.\nCut it.");
    let state =
        |path: &str| (path == ".taskmaster/state.json").then(|| br#"{"currentTag": "alpha"}"#.to_vec());
    let plan = read_plan(".taskmaster/tasks/tasks.json", text.as_bytes(), &state).unwrap();
    assert_eq!(plan.phases[0].title, "Other");
}

#[test]
fn states_are_written_back_into_json_and_nothing_else_changes() {
    let text = "\u{feff}{\r\n  \"tasks\": [\r\n    {\"id\": 1, \"title\": \"a\", \"status\":  \"pending\", \"testStrategy\": \"x\"},\r\n    {\"id\": 2, \"title\": \"b\", \"status\": \"done\"}\r\n  ]\r\n}\r\n";
    let plan = read_plan("tasks.json", text.as_bytes(), &NoFiles).unwrap();
    let back = write_back("tasks.json", text, plan.format, &[("1", Status::Completed)]).unwrap();
    assert_eq!(back.text, text.replace("\"pending\"", "\"done\""));
    let features =
        r#"[{"category": "x", "description": "d", "steps": ["Given a", "Then b"], "passes": false}]"#;
    let plan = read(features);
    assert_eq!((told(&plan), plan.phases[0].tasks[0].criteria.len()), ((Format::FeatureList, 1, 1, 0, 2), 2));
    let back = write_back("feature_list.json", features, plan.format, &[("1", Status::Completed)]).unwrap();
    assert_eq!(back.text, features.replace("false", "true"));
}

#[test]
fn issues_of_beads_are_phases_and_only_what_blocks_comes_first() {
    let text = concat!(
        r#"{"id":"a-1","title":"One","description":"d","status":"closed","dependencies":[{"depends_on_id":"gone","type":"blocks"}]}"#,
        "\n",
        r#"{"id":"a-2","title":"Two","status":"open","dependencies":[{"depends_on_id":"a-1","type":"blocks"},{"depends_on_id":"a-9","type":"discovered-from"}]}"#,
        "\n"
    );
    let plan = read_plan(".beads/issues.jsonl", text.as_bytes(), &NoFiles).unwrap();
    assert_eq!(told(&plan), (Format::Beads, 2, 2, 0, 0));
    assert_eq!(
        (plan.phases[0].needs.len(), plan.phases[1].needs.as_slice()),
        (0, ["a-1".to_owned()].as_slice())
    );
    let back = write_back("issues.jsonl", text, plan.format, &[("a-2", Status::Completed)]).unwrap();
    assert_eq!(back.text, text.replace(r#""status":"open""#, r#""status":"closed""#));
}
