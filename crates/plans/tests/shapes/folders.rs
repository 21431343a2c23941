//! Folders of plans: which file is the plan, in which order several are run, and which are finished.

use segue_plans::{Files, Format, Plan, Status, plans, read_folder};

struct Tree(&'static [(&'static str, &'static str)]);

impl Files for Tree {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.0.iter().find(|(name, _)| *name == path).map(|(_, text)| text.as_bytes().to_vec())
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

fn told(plan: &Plan) -> Vec<(String, String, bool)> {
    plan.phases
        .iter()
        .map(|phase| (phase.id.clone(), phase.needs.join(" "), phase.status.is_over()))
        .collect()
}

fn row(id: &str, needs: &str, over: bool) -> (String, String, bool) {
    (id.to_owned(), needs.to_owned(), over)
}

#[test]
fn a_feature_folder_has_its_tasks_file_and_its_documents() {
    let tree = Tree(&[
        (".kiro/specs/auth/design.md", "# Design\n\n- [ ] no task\n"),
        (".kiro/specs/auth/requirements.md", "# Requirements\n\n- [ ] no task\n"),
        (".kiro/specs/auth/tasks.md", "# Implementation Plan\n\n- [ ] 1. Build\n  - _Requirements: 1.1_\n"),
    ]);
    let plan = read_folder(".kiro/specs/auth", &tree).unwrap();
    assert_eq!((plan.format, plan.files[0].name.as_str()), (Format::Kiro, ".kiro/specs/auth/tasks.md"));
    assert_eq!(plan.documents, [".kiro/specs/auth/design.md", ".kiro/specs/auth/requirements.md"]);
}

#[test]
fn several_features_run_in_the_order_of_their_names() {
    let tree = Tree(&[
        ("specs/10-last/tasks.md", "## Phase 1: A\n- [ ] T001 a\n## Phase 2: B\n- [ ] T002 b\n"),
        ("specs/2-first/spec.md", "# Spec\n"),
        ("specs/2-first/tasks.md", "# Tasks\n- [ ] T001 c\n"),
    ]);
    let plan = read_folder("specs", &tree).unwrap();
    let wanted =
        [row("2-first", "", false), row("10-last/1", "2-first", false), row("10-last/2", "10-last/1", false)];
    assert_eq!(told(&plan), wanted);
    assert_eq!(plan.file(plan.phases[2].tasks[0].items[0].at), "specs/10-last/tasks.md");
}

#[test]
fn finished_plans_are_marked_by_what_their_formats_say() {
    let tree = Tree(&[
        ("docs/plans/README.md", "- [ ] not a plan\n"),
        ("docs/plans/b.md", "# B\n\n### Task 1: x\n- [ ] y\n"),
        ("docs/plans/completed/a.md", "# A\n\n### Task 1: x\n- [ ] y\n"),
    ]);
    let plan = read_folder("docs/plans", &tree).unwrap();
    assert_eq!(told(&plan), [row("b", "", false), row("a", "b", true)]);
    let why: Vec<Option<String>> = plans("docs/plans", &tree).into_iter().map(|plan| plan.finished).collect();
    assert_eq!(why, [None, Some("it lies in completed".to_owned())]);
    let stories = Tree(&[
        ("s/1-1-a.md", "# Story 1.1: A\n\n## Tasks / Subtasks\n- [ ] Task 1\n"),
        ("s/1-2-b.md", "# Story 1.2: B\n\n## Tasks / Subtasks\n- [ ] Task 1\n"),
        ("s/sprint-status.yaml", "development_status:\n  1-1-a: done\n  1-2-b: ready-for-dev # next\n"),
    ]);
    assert_eq!(
        told(&read_folder("s", &stories).unwrap()),
        [row("1-1-a", "", true), row("1-2-b", "1-1-a", false)]
    );
}

#[test]
fn a_gsd_plan_with_a_summary_beside_it_is_finished() {
    const PLAN: &str = "---\nphase: 01-x\nplan: 01\n---\n<task id=\"1\">\n<name>A</name>\n</task>\n";
    let tree = Tree(&[
        ("p/01-01-PLAN.md", PLAN),
        ("p/01-01-SUMMARY.md", "---\nphase: 01-x\nplan: 01\ncompleted: 2026-01-01\n---\nDone.\n"),
        ("p/01-02-PLAN.md", "---\nphase: 01-x\nplan: 02\n---\n<task id=\"1\">\n<name>B</name>\n</task>\n"),
    ]);
    let status: Vec<Status> =
        read_folder("p", &tree).unwrap().phases.iter().map(|phase| phase.status).collect();
    assert_eq!(status, [Status::Completed, Status::Pending]);
}
