//! What went wrong with plans that people really have: work that vanished, order that was lost, folders of which one file was
//! read, choices that nobody was asked for.

use segue_rehearsal::script::Script;

use crate::beside_life::together;
use crate::plan_each_format::prompts;
use crate::plan_run::{ended, pairs, roomy, state, world};
use crate::support::{Done, World};

fn run(world: &World, plan: &str, more: &[&str]) -> Done {
    let args: Vec<&str> = ["run", plan, "--json"].into_iter().chain(more.iter().copied()).collect();
    world.segue(&args)
}

#[test]
fn v1_open_boxes_below_any_heading_are_run_before_a_plan_is_completed() {
    let plan = "# Parts\n\n## 1. Work\n\n- [ ] 1.1 step 1: write it\n\n## Format\n\n- [ ] step 2: write it\n\n## Review\n\n\
                - [ ] step 3: write it\n\n## 4. Verification\n\n- [ ] step 4: write it\n\n## Notes\n\n- [ ] step 5: write it\n";
    let world = world(5, roomy());
    world.write("tasks.md", plan);
    let done = run(&world, "tasks.md", &[]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert_eq!(world.read("tasks.md"), plan.replace("[ ]", "[x]"));
}

const STORIES: &str = "# Tasks: Parts\n\n## Phase 1: Setup\n\n- [ ] T001 step 1: write it in src/01.txt\n\n\
    ## Phase 2: Foundational (Blocking Prerequisites)\n\n- [ ] T002 step 2: write it in src/02.txt\n\n\
    ## Phase 3: User Story 1 - Read (Priority: P1)\n\n- [ ] T003 [P] [US1] step 3: write it in src/03.txt\n\n\
    ## Phase 4: User Story 2 - Write\n\n**Depends on**: US1 (it is read there)\n\n- [ ] T004 [US2] step 4: write it in src/04.txt\n\n\
    ## Phase 5: User Story 3 - Draw\n\n**Depends on**: Foundational\n\n- [ ] T005 [US3] step 5: write it in src/05.txt\n\n\
    ## Parallel Example: Phase 3\n\n- Task: T003\n";

#[test]
fn h2_side_by_side_keeps_what_was_said_about_order_and_the_rest_overlaps() {
    let world = world(5, Script { step_ms: 700, ..roomy() });
    world.write("specs/1-parts/tasks.md", STORIES);
    world.commit("the plan");
    let done = run(&world, "specs/1-parts/tasks.md", &["--parallel", "3"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert_eq!(ended(&done).len(), 5, "an example of a phase is none: {}", done.all());
    let met = together(&done);
    let pair = |a: &str, b: &str| met.contains(&(a.to_owned(), b.to_owned()));
    assert!(pair("3", "5"), "two stories without a word about one another: {met:?}");
    let before = met.iter().filter(|(a, b)| ["1", "2"].contains(&a.as_str()) || (a == "3" && b == "4"));
    assert_eq!(before.count(), 0, "what blocks comes first, and US1 before US2: {met:?}");
    assert_eq!(world.read("specs/1-parts/tasks.md"), STORIES.replace("[ ]", "[x]"));
    assert_eq!(world.git(&["status", "--porcelain"]), "", "{}", done.all());
}

#[test]
fn agents_that_tick_the_same_file_side_by_side_are_merged_item_by_item() {
    let world = world(4, Script { step_ms: 300, ..roomy() });
    let plan = "# Tasks: Parts\n\n## Phase 1: One\n\n**Depends on**: none\n\n- [ ] T001 step 1: write it in src/01.txt\n\
                ## Phase 2: Two\n\n**Depends on**: none\n\n- [ ] T002 step 2: write it in src/02.txt\n- [ ] T003 step 3: write it in src/03.txt\n\
                ## Progress\n\n**Depends on**: Phase 1, Phase 2\n\n- [ ] T004 step 4: write it in src/04.txt\n";
    world.write("tasks.md", plan);
    // Each agent ticks its box in its own work tree, and adds to its line.
    world.in_step("sed -i \"s/^- \\[ \\] \\(T00$n .*\\)/- [x] \\1 (by hand)/\" tasks.md");
    let done = run(&world, "tasks.md", &["--parallel", "2"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert!(together(&done).contains(&("1".to_owned(), "2".to_owned())), "{}", done.all());
    assert!(done.warnings("merge").is_empty(), "no conflict: {}", done.all());
    let by_hand = plan.replace("[ ]", "[x]").replace(".txt\n", ".txt (by hand)\n");
    assert_eq!(world.read("tasks.md"), by_hand, "{}", done.all());
    assert_eq!(world.git(&["status", "--porcelain"]), "", "{}", done.all());
}

/// Files of a folder, what is typed, and the phases that must run, in order.
type Folder = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

const TASK: &str = "### Task 1: step 1: write it\n- [ ] run the script\n";
const GSD: &str = "---\nphase: 01-parts\nplan: 01\nwave: 1\n---\n\n<tasks>\n<task type=\"auto\">\n  <name>Task 1: step 1: write it</name>\n  \
    <action>Run the script.</action>\n  <verify><automated>sh there.sh 1</automated></verify>\n</task>\n</tasks>\n";

const FOLDERS: &[Folder] = &[
    (
        ".planning/phases",
        &[
            (".planning/phases/01-parts/01-01-PLAN.md", GSD),
            (
                ".planning/phases/01-parts/01-01-SUMMARY.md",
                "---\nphase: 01-parts\nplan: 01\ncompleted: 2026-01-01\n---\nDone.\n",
            ),
            (".planning/phases/01-parts/01-02-PLAN.md", GSD),
        ],
        &["01-02"],
    ),
    (
        "docs/plans",
        &[
            ("docs/plans/README.md", "- [ ] no plan\n"),
            ("docs/plans/completed/0-old.md", TASK),
            ("docs/plans/2-next.md", TASK),
            ("docs/plans/10-last.md", TASK),
        ],
        &["2-next", "10-last"],
    ),
    (
        ".kiro/specs",
        &[
            (".kiro/specs/alpha/requirements.md", "# Requirements\n\n- [ ] no task\n"),
            (
                ".kiro/specs/alpha/tasks.md",
                "# Implementation Plan\n\n- [ ] 1. step 1: write it\n  - _Requirements: 1_\n",
            ),
            (".kiro/specs/beta/design.md", "# Design\n"),
            (
                ".kiro/specs/beta/tasks.md",
                "# Implementation Plan\n\n- [ ] 1. step 2: write it\n  - _Requirements: 1_\n",
            ),
        ],
        &["alpha", "beta"],
    ),
    (
        "specs",
        &[
            ("specs/002-two/tasks.md", "# Tasks\n\n## Phase 1: A\n- [ ] T001 step 2: write it\n"),
            ("specs/001-one/spec.md", "# Spec\n"),
            ("specs/001-one/tasks.md", "# Tasks\n\n## Phase 1: A\n- [x] T001 step 1: write it\n"),
        ],
        &["002-two"],
    ),
    (
        "stories",
        &[
            (
                "stories/1-1-a.md",
                "# Story 1.1: A\n\nStatus: done\n\n## Tasks / Subtasks\n- [ ] step 1: write it\n",
            ),
            (
                "stories/1-2-b.md",
                "# Story 1.2: B\n\nStatus: ready-for-dev\n\n## Tasks / Subtasks\n- [ ] step 2: write it\n",
            ),
            (
                "stories/sprint-status.yaml",
                "development_status:\n  epic-1: in-progress\n  1-1-a: done\n  1-2-b: ready-for-dev\n",
            ),
        ],
        &["1-2-b"],
    ),
    (
        "conductor/tracks",
        &[
            ("conductor/tracks/a_20260101/plan.md", "# Plan\n\n- [x] Task: step 1: write it\n"),
            ("conductor/tracks/a_20260101/spec.md", "# Spec\n"),
            ("conductor/tracks/b_20260102/plan.md", "# Plan\n\n- [ ] Task: step 2: write it\n"),
            ("conductor/tracks/b_20260102/spec.md", "# Spec\n"),
        ],
        &["b_20260102"],
    ),
];

#[test]
fn a_folder_is_a_list_of_plans_in_order_without_those_that_are_finished() {
    for (folder, files, phases) in FOLDERS {
        let world = world(2, roomy());
        world.keep_conversations(roomy());
        for (name, text) in *files {
            world.write(
                name,
                &text.replace(
                    "plan: 01\nwave",
                    if name.contains("01-02-PLAN") { "plan: 02\nwave" } else { "plan: 01\nwave" },
                ),
            );
        }
        let done = run(&world, folder, &[]);
        done.exits(0);
        let expected: Vec<(&str, &str)> = phases.iter().map(|id| (*id, "completed")).collect();
        assert_eq!(ended(&done), pairs(&expected), "{folder}: {}", done.all());
        let prompts = prompts(&world).concat();
        let documents = files.iter().filter(|(name, _)| {
            name.ends_with("spec.md") || name.ends_with("design.md") || name.ends_with("requirements.md")
        });
        for (name, _) in
            documents.filter(|(name, _)| phases.iter().any(|id| name.contains(id.split('/').next().unwrap())))
        {
            assert!(prompts.contains(&format!("`{name}`")), "{folder}: {name}\n{prompts}");
        }
        let again = run(&world, folder, &[]);
        again.exits(0);
        assert_eq!(ended(&again), pairs(&[]), "{folder}: {}", again.all());
    }
}

const TWO_FORMATS: &str = "---\nphase: 01\nplan: 02\ntodos:\n  - id: a\n    content: \"step 1: write it\"\n    status: pending\n---\n\n\
    <task id=\"1\">\n<name>step 2: write it</name>\n</task>\n";

#[test]
fn a_tie_between_formats_is_asked_about_and_the_answer_is_kept() {
    let world = world(2, roomy());
    world.write("x.md", TWO_FORMATS);
    for args in [&["run", "x.md"][..], &["plan", "check", "x.md"], &["plan", "show", "x.md"]] {
        let asked = world.segue(args);
        asked.exits(2);
        for line in ["segue run --format gsd x.md", "segue run --format cursor x.md"] {
            assert!(asked.err.contains(line), "{}", asked.all());
        }
    }
    assert!(world.steps().distinct_done().is_empty());
    world.segue(&["plan", "show", "x.md", "--format", "gsd"]).exits(0);
    let wrong = world.segue(&["run", "x.md", "--format", "keero"]);
    wrong.exits(2);
    assert!(wrong.err.contains("kiro"), "{}", wrong.all());
    run(&world, "x.md", &["--format", "cursor"]).exits(0);
    assert!(world.read("x.md").contains("status: completed"), "{}", world.read("x.md"));
    assert_eq!(state(&world)["options"]["format"], "cursor");
    let again = run(&world, "x.md", &[]);
    again.exits(0);
    assert_eq!(ended(&again), pairs(&[]), "the choice is kept: {}", again.all());
}

#[test]
fn what_is_no_file_is_refused_at_once_whatever_is_asked_of_it() {
    let world = world(1, roomy());
    let made = std::process::Command::new("mkfifo").arg(world.repo().join("plan.md")).status().unwrap();
    assert!(made.success());
    for file in ["plan.md", "/dev/zero"] {
        for args in [&["run", file, "--json"][..], &["plan", "check", file], &["plan", "estimate", file]] {
            let refused = world.segue(args);
            refused.exits(2);
            assert!(refused.err.contains("a pipe or a device"), "{args:?}: {}", refused.all());
        }
    }
    let words: Vec<u8> = "- [ ] a\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(world.repo().join("wide.md"), [&[0xff, 0xfe], words.as_slice()].concat()).unwrap();
    let refused = world.segue(&["run", "wide.md"]);
    refused.exits(2);
    assert!(refused.err.contains("iconv -f UTF-16"), "{}", refused.all());
}

#[test]
fn an_estimate_has_the_rounds_that_were_asked_for_and_names_what_is_missing() {
    let world = world(1, roomy());
    let row = |id: &str, file: &str, status: &str| format!("| {id} | [Part]({file}) | {status} |\n");
    let phase = "# Parts Phase 1: One\n\n**Depends On:** N/A\n\n## Gates\n\n- there: it is there (command: `sh there.sh 1`)\n\n## Tasks\n\n- [ ] 1.1: step 1: write it\n";
    let table = "# Parts - Master Plan\n\n## Phases\n\n| Phase | Title | Status |\n|---|---|---|\n";
    world.write(
        "plans/MASTER_PLAN.md",
        &format!(
            "{table}{}{}{}",
            row("1", "one.md", "Completed"),
            row("2", "two.md", "Pending"),
            row("3", "three.md", "Pending")
        ),
    );
    world.write("plans/one.md", phase);
    world.write("plans/two.md", &phase.replace("Phase 1", "Phase 2"));
    let tokens = |more: &[&str]| {
        let args: Vec<&str> = ["plan", "estimate", "plans/MASTER_PLAN.md", "--json"]
            .into_iter()
            .chain(more.iter().copied())
            .collect();
        let told = world.segue(&args);
        told.exits(0);
        assert_eq!(told.lines()[0]["missing"], serde_json::json!(["plans/three.md"]), "{}", told.all());
        told.lines()[0]["estimate"]["tokens"].as_u64().unwrap()
    };
    let plain = tokens(&[]);
    assert!(tokens(&["--force"]) > plain, "with the phase that is completed");
    assert!(tokens(&["--quality"]) > plain, "with one more round");
    let refused = world.segue(&["run", "plans/MASTER_PLAN.md"]);
    refused.exits(2);
    assert!(refused.err.contains("three.md"), "{}", refused.all());
}

#[test]
fn a_master_plan_and_settings_of_other_tools_are_answered_with_what_means_the_same() {
    let world = world(1, roomy());
    let phase = "# Parts Phase 1: One\n\n**Depends On:** N/A\n\n## Gates\n\n- there: it is there (command: `sh there.sh 1`)\n\n## Tasks\n\n- [ ] 1.1: step 1: write it\n";
    world.write("MASTER_PLAN.md", "# Parts - Master Plan\n\n## Phases\n\n| Phase | Title | Status |\n|---|---|---|\n| 1 | [One](one.md) | Pending |\n");
    world.write("one.md", phase);
    let done = run(&world, "MASTER_PLAN.md", &[]);
    done.exits(0);
    assert!(done.err.contains("--policy phased"), "{}", done.all());
    let own =
        world.segue(&["run", "MASTER_PLAN.md", "--force", "--json", "--policy", "phased", "--allow-dirty"]);
    assert!(!own.err.contains("--policy phased` runs"), "{}", own.all());
    for (typed, here) in [
        (&["run", "x", "--test-cmd", "make test"][..], "--gate"),
        (&["run", "x", "--checkpoint-file", "c.json"], "--from-checkpoint"),
        (&["run", "x", "--context-limit", "200k"], "--window"),
        (&["run", "x", "--max-iterations", "3"], "segue loop"),
    ] {
        let flag = world.segue(typed);
        flag.exits(2);
        assert!(flag.err.contains(here), "{}", flag.all());
    }
    let config = world.read("segue.toml");
    for (key, here) in
        [("auto_commit = true", "commit = \"branch\""), ("context_limit = \"200k\"", "window = ")]
    {
        world.write("segue.toml", &format!("{key}\n{config}"));
        let answer = world.segue(&["config", "check"]);
        assert!(answer.all().contains(here), "{key}: {}", answer.all());
    }
    std::fs::remove_file(world.repo().join("segue.toml")).unwrap();
    world.write("mala.yaml", "context_restart_threshold: 0.9\ncontext_limit: 200000\n");
    world.write(".planning/config.json", "{\"project\": {\"commands\": {\"test\": \"make test\"}}}");
    world.write(".claude/daemon-config.json", "{\"max_parallel\": 2}");
    let told = world.segue(&["run", "say hello"]);
    for line in ["context_threshold = 90", "window = \"200000\"", "run = \"make test\"", "--parallel 2"] {
        assert!(told.err.contains(line), "{line}: {}", told.all());
    }
}
