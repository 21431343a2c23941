//! Formats of known methods that nothing else here reads, and sizes: nothing is left out, whatever a file begins with.

use segue_plans::{
    Files, Format, ItemKind, NoFiles, NoPlan, Status, plans, read_folder, read_plan, write_back,
};

use crate::support::{only, read, tasks};

#[test]
fn a_file_whose_first_line_is_a_rule_has_its_boxes() {
    let boxes: String = (1..=26).map(|n| format!("- [ ] item {n}\n")).collect();
    for text in [
        format!("---\n# Plan\n\n{boxes}"),
        format!("---\n\n# Plan\n\nwords\n\n---\n\n{boxes}"),
        format!("---\n{boxes}---\n"),
        format!("---\ntitle: x\n---\n{boxes}"),
    ] {
        let plan = read(&text);
        assert_eq!((only(&plan).tasks.len(), plan.all_items().count()), (26, 26), "{text}");
    }
}

#[test]
fn kiro_and_open_spec_without_a_command_are_plans_with_open_items() {
    let text = "# Implementation Plan\n\n## 1. Server\n- [ ] 1.1 Add the route\n- [ ] 1.2 Test it\n";
    for (name, format) in
        [(".kiro/specs/a/tasks.md", Format::Kiro), ("openspec/changes/a/tasks.md", Format::OpenSpec)]
    {
        let plan = read_plan(name, text.as_bytes(), &NoFiles).unwrap();
        assert_eq!((plan.format, tasks(only(&plan))), (format, vec!["1.1", "1.2"]));
        assert!(only(&plan).gates.is_empty() && plan.all_items().all(|item| item.is_open()));
        assert!(plan.recognition.score >= 50 && !plan.recognition.reasons.is_empty());
    }
}

#[test]
fn the_progress_of_an_exec_plan_is_its_tasks() {
    let plan = read(
        "# Skills\n\nThis ExecPlan is a living document.\n\n## Progress\n\n- [x] (2026-01-01 10:00Z) Read it.\n- [ ] (2026-01-01 11:00Z) Write it.\n\n## Decision Log\n\n- Decision: none.\n",
    );
    assert_eq!((plan.format, only(&plan).tasks.len()), (Format::ExecPlan, 2));
    let status: Vec<Status> = only(&plan).tasks.iter().map(|task| task.status).collect();
    assert_eq!(status, [Status::Completed, Status::Pending]);
}

#[test]
fn a_feature_is_held_to_its_steps_and_open_until_it_passes() {
    let plan = read(
        r#"[{"category": "a", "description": "Log in", "steps": ["Open", "Type"], "passes": true},
            {"category": "a", "description": "Log out", "steps": ["Press"], "passes": false}]"#,
    );
    assert_eq!((plan.format, plan.phases.len()), (Format::FeatureList, 2));
    assert_eq!((plan.phases[0].status, plan.phases[1].status), (Status::Completed, Status::Pending));
    assert_eq!(plan.phases[0].unchecked().count(), 2);
}

#[test]
fn an_issue_waits_for_none_that_was_deleted_and_one_that_is_missing_is_not_lost() {
    let text = concat!(
        r#"{"id":"a-1","title":"One","status":"tombstone"}"#,
        "\n",
        r#"{"id":"a-2","title":"Two","status":"open","dependencies":[{"depends_on_id":"a-1","type":"blocks"},{"depends_on_id":"a-9","type":"blocks"}]}"#,
        "\n"
    );
    let plan = read_plan(".beads/issues.jsonl", text.as_bytes(), &NoFiles).unwrap();
    assert_eq!((plan.phases.len(), plan.phases[0].needs.join(" ")), (1, "a-9".to_owned()));
}

#[test]
fn criteria_with_a_command_are_judged_and_prose_is_kept_apart() {
    let plan = read(
        "# P\n\n## Tasks\n- [ ] 1.1 a\n\n## Acceptance Criteria\n- [ ] `grep -c x f` returns 1\n- [ ] It looks good\n",
    );
    let phase = only(&plan);
    let judged: usize = phase.all_criteria().map(|criterion| criterion.checks.len()).sum();
    let apart: Vec<&str> = phase.unchecked().map(|criterion| criterion.text.as_str()).collect();
    assert_eq!((judged, apart), (1, vec!["It looks good"]));
    assert_eq!(phase.all_items().filter(|item| item.kind == ItemKind::Criterion).count(), 2);
    assert!(phase.gates.is_empty());
}

#[test]
fn a_quoted_box_is_no_work_and_is_said() {
    let plan = read("# P\n\n- [ ] a\n\n> - [ ] b\n");
    assert_eq!(plan.all_items().count(), 1);
    assert!(plan.oddities[0].what.contains("line 5") && plan.oddities[0].at.line == 5, "{:?}", plan.oddities);
}

struct Tree(Vec<(String, String)>);

impl Files for Tree {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.0.iter().find(|(name, _)| name == path).map(|(_, text)| text.clone().into_bytes())
    }

    fn list(&self, dir: &str) -> Vec<String> {
        let inside = self.0.iter().filter_map(|(name, _)| name.strip_prefix(dir)?.strip_prefix('/'));
        let mut names: Vec<String> =
            inside.filter_map(|rest| rest.split('/').next().map(str::to_owned)).collect();
        names.sort();
        names.dedup();
        names
    }
}

#[test]
fn of_fifty_eight_plans_in_a_folder_none_is_left_out() {
    let file = |n: usize| (format!("docs/plans/{n}-x.md"), format!("# P{n}\n\n### Task 1: a\n- [ ] b\n"));
    let tree = Tree((1..=58).map(file).collect());
    assert_eq!(plans("docs/plans", &tree).len(), 58);
    let plan = read_folder("docs/plans", &tree).unwrap();
    let ids: Vec<&str> = plan.phases.iter().map(|phase| phase.id.as_str()).collect();
    assert_eq!((ids.len(), ids[0], ids[1], ids[57]), (58, "1-x", "2-x", "58-x"));
    assert_eq!(plan.phases[1].needs, ["1-x"]);
}

#[test]
fn a_folder_of_tracks_has_the_plan_of_each() {
    let track =
        |name: &str, file: &str, text: &str| (format!("conductor/tracks/{name}/{file}"), text.to_owned());
    let tree = Tree(vec![
        track("a_1", "spec.md", "# Spec\n\n- [ ] no task\n"),
        track("a_1", "plan.md", "# A\n\n## Phase 1: X\n- [ ] Task: a\n"),
        track("b_2", "metadata.json", "{}"),
        track("b_2", "plan.md", "# B\n\n## Phase 1: X\n- [ ] Task: b\n\n## Phase 2: Y\n- [ ] Task: c\n"),
    ]);
    let plan = read_folder("conductor/tracks", &tree).unwrap();
    assert_eq!((plan.format, plan.all_items().count()), (Format::Conductor, 3));
    let one = read_folder("conductor/tracks/a_1", &tree).unwrap();
    assert_eq!((one.files[0].name.as_str(), one.phases.len()), ("conductor/tracks/a_1/plan.md", 1));
    assert_eq!(one.documents, ["conductor/tracks/a_1/spec.md"]);
}

#[test]
fn a_file_of_more_than_sixteen_megabytes_is_refused_with_advice() {
    let mut text = b"{\"tasks\": [".to_vec();
    text.resize((16 << 20) + 1, b' ');
    let error = read_plan("tasks.json", &text, &NoFiles).unwrap_err();
    assert!(matches!(error, NoPlan::TooLarge(..)));
    assert!(error.to_string().contains("move what is done to another file"), "{error}");
}

#[test]
#[expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "how long reading takes")]
fn p4_two_hundred_thousand_boxes_take_no_longer_than_their_number_says() {
    let text = |count: usize| {
        let line = |n: usize| match n % 20 {
            0 => format!("\n## {n}. Group\n\n- [ ] {n}.1 do `src/a{n}.rs`\n"),
            _ => format!("- [ ] {n}.1 words of it\n"),
        };
        format!("# Much\n{}", (0..count).map(line).collect::<String>())
    };
    let timed = |count: usize| {
        let text = text(count);
        let start = std::time::Instant::now();
        let plan = read_plan("openspec/changes/a/tasks.md", text.as_bytes(), &NoFiles).unwrap();
        assert_eq!(only(&plan).tasks.len(), count);
        assert_eq!(write_back("tasks.md", &text, plan.format, &[]).unwrap().text.len(), text.len());
        start.elapsed()
    };
    let (few, many) = (timed(20_000), timed(200_000));
    println!("20,000 boxes: {few:?}, 200,000: {many:?}");
    // Ten times as many; a busy machine may slow one of them down, a square would be a hundred times.
    assert!(many < few * 50, "{few:?} {many:?}");
}
