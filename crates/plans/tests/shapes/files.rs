//! Shapes found by looking further that need nothing but to be read right.

use segue_plans::Status;

use crate::support::{only, read, tasks};

#[test]
fn numbered_sections_of_boxes_are_groups() {
    let plan = read(
        "# Change\n\n## 1. Server\n- [x] 1.1 Add the route\n- [ ] 1.2 Test it\n\n## 2. Client\n- [ ] 2.1 Call it\n",
    );
    let phase = only(&plan);
    assert_eq!(tasks(phase), ["1.1", "1.2", "2.1"]);
    assert_eq!(phase.tasks[2].group.as_deref(), Some("2. Client"));
}

#[test]
fn a_task_file_with_front_matter_is_a_phase() {
    let plan = read(
        "---\nid: TASK-7.1\ntitle: Board\nstatus: In Progress\ndependencies:\n  - TASK-6\n---\n\n## Description\n\nShow it.\n\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [ ] #1 It shows\n- [ ] #2 It moves\n<!-- AC:END -->\n\n## Implementation Plan\n- [ ] Draw\n",
    );
    let phase = only(&plan);
    assert_eq!(
        (phase.id.as_str(), phase.title.as_str(), phase.status),
        ("TASK-7.1", "Board", Status::InProgress)
    );
    assert_eq!(
        (phase.needs.as_slice(), phase.criteria.len(), phase.tasks.len()),
        (["TASK-6".to_owned()].as_slice(), 2, 1)
    );
}

#[test]
fn elements_may_carry_their_title_and_criteria_in_prose() {
    let plan = read(
        "# P\n\n<task id=\"15-T1\" title=\"Pick a &amp; b\">\n<action>\nDo.\n</action>\n<acceptance_criteria>\n`grep -c x f` returns 1. `grep -c y f` returns 0.\n</acceptance_criteria>\n</task>\n",
    );
    let task = &only(&plan).tasks[0];
    assert_eq!((task.id.as_str(), task.title.as_str(), task.criteria.len()), ("15-T1", "Pick a & b", 1));
    let judges: Vec<String> = task.criteria[0].checks.iter().map(|check| check.judge.to_string()).collect();
    assert_eq!(judges, ["count 1", "count 0"]);
}

#[test]
fn gates_may_be_a_table() {
    let plan = read(
        "# X Phase 2: Y\n\n**Depends On:** N/A\n\n## Gates\n\n| Gate | Command | Expected |\n|---|---|---|\n| lint | `ruff check .` | 0 errors |\n| review | manual | ok |\n| size | - | small |\n\n## Tasks\n\n- [ ] 1.1: a\n",
    );
    let gates: Vec<(&str, Option<&str>, bool)> =
        only(&plan).gates.iter().map(|g| (g.name.as_str(), g.run.as_deref(), g.manual)).collect();
    assert_eq!(gates, [("lint", Some("ruff check ."), false), ("review", None, true), ("size", None, false)]);
}
