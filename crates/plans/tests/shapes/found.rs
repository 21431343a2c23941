//! What was found in real plans: nothing vanishes, order is kept, formats are told apart.

use segue_plans::{
    Code, Format, ItemKind, NoFiles, NoPlan, Plan, Status, done_items, read_plan, read_plan_as, write_back,
};

use crate::support::{only, read, tasks};

fn open_boxes(plan: &Plan) -> usize {
    plan.all_items().filter(|item| item.mark.is_box() && item.is_open()).count()
}

#[test]
fn open_boxes_are_tasks_whatever_the_heading_above_them_says() {
    let headings =
        ["Format", "Review", "Context", "Progress", "Notes", "4. Verification", "Gates", "Test Plan"];
    for heading in headings {
        let plan = read(&format!(
            "# P\n\n## 1. Work\n- [x] 1.1 a\n\n## {heading}\n- [ ] b\n- [ ] Run `git reset --hard`\n"
        ));
        let phase = only(&plan);
        assert_eq!(
            (phase.tasks.len(), open_boxes(&plan), phase.status),
            (3, 2, Status::Pending),
            "{heading}"
        );
        assert!(phase.gates.is_empty(), "{heading}: a check box is never a gate");
    }
}

#[test]
fn boxes_below_plain_bullets_and_outside_of_phases_are_work() {
    let plan = read("# P\n\n- Group\n  - [ ] a\n  - [ ] b\n\n1. First\n   - [ ] c\n");
    assert_eq!((only(&plan).tasks.len(), open_boxes(&plan)), (3, 3));
    assert_eq!(only(&plan).tasks[0].group.as_deref(), Some("Group"));
    let plan = read(
        "# P\n\n## Before\n- [ ] x\n\n## Phase 1: A\n- [ ] a\n\n## Phase 2: B\n- [ ] b\n\n## Cleanup\n- [ ] y\n",
    );
    let ids: Vec<(&str, &str)> =
        plan.phases.iter().map(|p| (p.id.as_str(), p.needs.first().map_or("", String::as_str))).collect();
    assert_eq!(ids, [("before", ""), ("1", "before"), ("2", "1"), ("cleanup", "2")]);
    assert_eq!(open_boxes(&plan), 4);
}

#[test]
fn a_file_whose_boxes_are_all_criteria_is_one_task_held_to_them() {
    let plan = read(
        "---\nid: BACK-1\ntitle: Filter\nstatus: To Do\nassignee: []\n---\n\n## Description\nIt.\n\n## Acceptance Criteria\n- [ ] #1 a\n\n## Definition of Done\n- [ ] #1 b\n",
    );
    let phase = only(&plan);
    assert_eq!((plan.format, phase.id.as_str(), phase.tasks.len()), (Format::Backlog, "BACK-1", 1));
    assert_eq!(phase.tasks[0].items.iter().filter(|item| item.kind == ItemKind::Criterion).count(), 2);
}

#[test]
fn an_example_of_a_phase_is_no_phase_and_a_gate_status_no_gate() {
    let plan = read(
        "# Tasks: X\n\n## Phase 1: A\n- [ ] T001 [P] a\n- [ ] T002 b\n\n## Phase 2: B\n- [ ] T003 c\n\n## Parallel Example: Phase 2\n\n```\nTask: c\n```\n",
    );
    assert_eq!((plan.format, plan.phases.len()), (Format::SpecKit, 2));
    assert!(plan.phases[0].tasks[0].beside && !plan.phases[0].tasks[1].beside);
    let plan = read(
        "# Story 1.1: X\n\n## Tasks / Subtasks\n- [x] Task 1\n\n## QA Results\n\n### Gate Status\n\n- Gate: PASS → docs/qa/1.yml\n",
    );
    assert!(only(&plan).gates.is_empty());
}

#[test]
fn dependencies_on_stories_are_kept_and_what_is_unknown_is_an_error() {
    let text = "# Tasks\n\n## Phase 1: Foundational (Blocking Prerequisites)\n- [ ] T001 a\n\n## Phase 2: User Story 1 - A\n- [ ] T002 b\n\n## Phase 3: User Story 2 - B\n**Depends on**: US1 (it must build)\n- [ ] T003 c\n\n## Phase 4: User Story 3 - C\n**Depends on**: None\n- [ ] T004 d\n";
    let plan = read(text);
    let needs: Vec<String> = plan.phases.iter().map(|phase| phase.needs.join(" ")).collect();
    assert_eq!(needs, ["", "1", "1 2", "1"]);
    let plan = read(&text.replace("US1 (it must build)", "US1, US9"));
    assert_eq!(plan.phases[2].needs, ["1", "2", "US9"], "beside one that is known none is lost");
    let plan = read(&text.replace("US1 (it", "US7 (it"));
    let around = segue_plans::Circumstances {
        named: Default::default(),
        gated: true,
        budget: None,
        history: &[],
        files: &NoFiles,
    };
    let found = segue_plans::audit(&plan, &around);
    assert!(
        found
            .iter()
            .any(|finding| finding.code == Code::UnknownDependency && finding.message.contains("US7")),
        "{found:?}"
    );
}

#[test]
fn stages_with_bullets_are_phases_with_tasks() {
    let plan = read_plan(
        "IMPLEMENTATION_PLAN.md",
        "# Implementation Plan\n\n## Stage 1 – A\n- Fix x: in `src/a.rs`.\n- Do y.\n\n## Stage 2 – B\n- Z\n"
            .as_bytes(),
        &NoFiles,
    )
    .unwrap();
    assert_eq!((plan.format, plan.phases.len()), (Format::Stages, 2));
    assert_eq!(
        (tasks(&plan.phases[0]), plan.phases[1].needs.as_slice()),
        (vec!["1", "2"], ["1".to_owned()].as_slice())
    );
}

#[test]
fn to_dos_of_the_front_matter_are_tasks_and_are_written_back() {
    let text = "---\nname: x\ntodos:\n  - id: one\n    content: \"Do: this\"\n    status: pending\n  - id: two\n    content: Do that\n    status: completed\n---\n\n# X\n\nstatus: pending\n";
    let plan = read_plan("x.plan.md", text.as_bytes(), &NoFiles).unwrap();
    assert_eq!((plan.format, tasks(only(&plan))), (Format::Cursor, vec!["one", "two"]));
    assert_eq!(only(&plan).tasks[0].title, "Do: this");
    let back = write_back("x.plan.md", text, plan.format, &[("one", Status::Completed)]).unwrap();
    assert_eq!(back.text, text.replacen("status: pending", "status: completed", 1));
}

#[test]
fn a_group_is_done_with_the_last_of_its_tasks() {
    let plan = read(
        "# Implementation Plan\n\n- [ ] 1. Group\n  - [ ] 1.1 a\n  - [x] 1.2 b\n- [ ] 2. Other\n  - _Requirements: 1_\n",
    );
    let phase = only(&plan);
    let keys = |done: &[&str]| -> Vec<String> {
        let found = done_items(phase, |task| done.contains(&task.id.as_str()), false);
        found.into_iter().map(|item| item.key.clone()).collect()
    };
    assert_eq!(keys(&["1.1"]), ["1.1", "1"]);
    assert_eq!(keys(&["2"]), ["2"]);
}

#[test]
fn a_text_of_two_formats_is_refused_with_the_choices_and_a_choice_is_kept() {
    let text = "---\nphase: 01\nplan: 02\ntodos:\n  - id: a\n    content: b\n    status: pending\n---\n\n<task id=\"1\">\n<name>A</name>\n</task>\n";
    let error = read_plan("x.md", text.as_bytes(), &NoFiles).unwrap_err();
    assert!(matches!(&error, NoPlan::Ambiguous { formats, .. } if formats.len() == 2), "{error:?}");
    assert!(error.to_string().contains("segue run --format cursor x.md"), "{error}");
    let plan = read_plan_as("x.md", text.as_bytes(), &NoFiles, Format::named("gsd")).unwrap();
    assert_eq!((plan.format, plan.recognition.told), (Format::Gsd, true));
    assert!(Format::ALL.iter().all(|format| Format::named(&format.name()) == Some(*format)));
}

#[test]
fn utf_16_is_refused_with_the_fix() {
    let error = read_plan("x.md", &[0xff, 0xfe, b'-', 0], &NoFiles).unwrap_err();
    assert!(error.to_string().contains("iconv -f UTF-16 -t UTF-8 'x.md'"), "{error}");
}
