//! Plans in plain Markdown: headings, check boxes, commands for validation.

use segue_plans::{Format, Status, counts};

use crate::support::{only, read, tasks, told};

#[test]
fn tasks_with_boxes_and_validation_commands_are_read() {
    let plan = read(include_str!("../plans/ralphex.md"));
    assert_eq!(told(&plan), (Format::Ralphex, 1, 3, 2, 0));
    let phase = only(&plan);
    let runs: Vec<&str> = phase.gates.iter().filter_map(|gate| gate.run.as_deref()).collect();
    assert_eq!(runs, ["go test ./...", "golangci-lint run"]);
    assert_eq!(phase.tasks[0].status, Status::Completed);
    assert_eq!(phase.tasks[0].files, ["pkg/lines.go", "pkg/lines_test.go"]);
    assert_eq!(phase.tasks[1].steps.len(), 2);
    assert_eq!(phase.tasks[2].title, "[Final] Say so");
    assert_eq!(counts(&plan).boxes, 5);
}

#[test]
fn steps_that_run_a_command_and_expect_it_to_pass_verify_a_task() {
    let plan = read(include_str!("../plans/superpowers.md"));
    assert_eq!(told(&plan), (Format::Tasks, 1, 2, 0, 0));
    let first = &only(&plan).tasks[0];
    assert_eq!(first.files, ["tests/export.test.mjs", "package.json"]);
    assert_eq!(first.steps.len(), 3);
    assert_eq!(first.steps[0].text, "Step 1: Write the failing test");
    assert_eq!(first.verify.len(), 1, "what is expected to fail on the way decides nothing");
    assert_eq!(first.verify[0].checks[0].run, "npm test -- export");
}

#[test]
fn numbered_boxes_below_a_box_are_the_tasks_and_it_is_their_group() {
    let plan = read(include_str!("../plans/kiro.md"));
    assert_eq!(told(&plan), (Format::Kiro, 1, 5, 0, 0));
    let phase = only(&plan);
    assert_eq!(tasks(phase), ["1", "2.1", "2.2", "2.3", "3"]);
    let status: Vec<Status> = phase.tasks.iter().map(|task| task.status).collect();
    assert_eq!(
        status,
        [Status::Completed, Status::Completed, Status::InProgress, Status::Pending, Status::Pending]
    );
    assert_eq!(phase.tasks[1].group.as_deref(), Some("Read messages"));
    assert_eq!(phase.tasks[2].needs, ["2.1"]);
}

#[test]
fn boxes_with_named_parts_are_read() {
    let plan = read(include_str!("../plans/smart-ralph.md"));
    assert_eq!(told(&plan), (Format::Checklist, 1, 2, 2, 0));
    let phase = only(&plan);
    assert_eq!(tasks(phase), ["T01", "T02"]);
    assert_eq!(phase.tasks[0].title, "Add the field `est:30m`");
    assert_eq!(phase.tasks[0].files, ["lib.py"]);
    assert_eq!(phase.tasks[0].done, "it can be called");
    assert_eq!(phase.tasks[0].verify[0].checks[0].judge.to_string(), "at least 2");
    assert_eq!(phase.tasks[1].verify[0].checks[0].run, "pytest tests/test_lib.py");
}

#[test]
fn a_story_has_its_criteria_and_groups() {
    let plan = read(include_str!("../plans/story.md"));
    assert_eq!(told(&plan), (Format::Bmad, 1, 4, 0, 2));
    let phase = only(&plan);
    assert_eq!(tasks(phase), ["1", "2.1", "2.2", "4"]);
    assert_eq!(phase.tasks[0].steps.len(), 2);
    assert_eq!(phase.criteria[1].text, "It runs: Given a step Then it is taken");
}

#[test]
fn numbered_headings_of_a_section_of_tasks_are_tasks() {
    let plan = read(include_str!("../plans/chore.md"));
    assert_eq!(told(&plan), (Format::Checklist, 1, 2, 4, 0));
    let phase = only(&plan);
    let runs: Vec<&str> = phase.gates.iter().filter_map(|gate| gate.run.as_deref()).collect();
    let wanted = [
        "uv run ruff check .",
        "cd app && npm test",
        "cd src/frontend && npx tsc --noEmit",
        "cd src/frontend && npm run build",
    ];
    assert_eq!(runs, wanted);
}

#[test]
fn a_prompt_with_an_ending_is_one_task() {
    let plan = read(include_str!("../plans/prompt.md"));
    assert_eq!(told(&plan), (Format::Prompt, 1, 1, 0, 2));
    assert!(only(&plan).tasks[0].action.contains("Profile it"));
}

#[test]
fn boxes_and_headings_in_code_are_no_work() {
    let plan = read(
        "# A\n\n- [ ] one\n\n```markdown\n## Phase 9: x\n- [ ] two\n```sh\nls\n```\n- [ ] three\n```\n\n~~~\n### Task 1: y\n~~~\n\n- [ ] four\n",
    );
    assert_eq!(told(&plan), (Format::Checklist, 1, 2, 0, 0));
    assert_eq!(only(&plan).tasks[1].title, "four");
}

#[test]
fn p4_several_thousand_lines_are_read_whole() {
    let tasks: String =
        (0..2_000).map(|n| format!("### Task {n}: Do {n}\n\n- [ ] a\n- [ ] b\n\nwords\n")).collect();
    let plan = read(&format!("# Much\n\n{tasks}"));
    assert_eq!(told(&plan), (Format::Tasks, 1, 2_000, 0, 0));
    assert_eq!(counts(&plan).boxes, 4_000);
}
