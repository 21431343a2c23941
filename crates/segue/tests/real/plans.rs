//! Plans with real CLIs: GSD, OpenSpec and spec-kit with Claude Code, a Debussy master plan and Kiro with Codex.

use segue_rehearsal::model_server::ServerScript;
use serde_json::Value;

use crate::inside::{inside, say};
use crate::support::{Done, World};

const THERE: &str = "test -f parts/$(printf %02d $1).txt\n";

fn gsd(plan: u32, needs: &str, steps: &[u32]) -> String {
    let task = |step: &u32| {
        format!(
            "<task type=\"auto\">\n  <name>Task {step}: step {step}: write it</name>\n  <action>Run the script for it.</action>\n  \
             <verify><automated>sh there.sh {step} &amp;&amp; true</automated></verify>\n  <acceptance_criteria>\n    \
             - `ls parts | grep -c txt` returns >= {step}\n  </acceptance_criteria>\n  <done>It is there.</done>\n</task>\n\n"
        )
    };
    format!(
        "---\nphase: 01-parts\nplan: 0{plan}\nwave: {plan}\ndepends_on: [{needs}]\nautonomous: true\n---\n\n<objective>\n\
         For each task run `sh step.sh N`, where N is its number.\n</objective>\n\n<tasks>\n\n{}</tasks>\n",
        steps.iter().map(task).collect::<String>()
    )
}

fn debussy(id: &str, needs: &str, reads: &str, steps: &[u32]) -> String {
    let gates: String = steps
        .iter()
        .map(|step| format!("- there{step}: it is there (command: `sh there.sh {step}`)\n"))
        .collect();
    let tasks: String = steps.iter().map(|step| format!("- [ ] 1.{step}: step {step}: write it\n")).collect();
    format!(
        "# Parts Phase {id}: Some\n\n**Status:** Pending\n**Depends On:** {needs}\n\n## Process Wrapper (MANDATORY)\n\
         - [ ] Read previous notes: {reads}\n- [ ] Write `notes/NOTES_parts_{id}.md` with:\n  - what was done\n\n\
         ## Gates (must pass before completion)\n\n{gates}\n## Tasks\n\n### 1. Work\n{tasks}"
    )
}

fn world(steps: u32) -> World {
    let world = World::new(steps, ServerScript { window: 60_000, ..ServerScript::default() });
    world.write("segue.toml", "[agent.claude]\nmodel = \"scripted-model\"\n");
    world.write("there.sh", THERE);
    world
}

#[track_caller]
fn assert_completed(world: &World, done: &Done, phases: &[&str], name: &str) {
    assert_eq!(done.code, Some(0), "{}", done.all());
    let ended = done.of("phase.finished");
    let ids: Vec<&str> = ended.iter().map(|line| line["phase"].as_str().unwrap()).collect();
    assert_eq!(ids, phases, "{}", done.all());
    assert!(ended.iter().all(|line| line["status"] == "completed"), "{}", done.all());
    assert_eq!(done.lines().last().unwrap()["verdict"], "verified", "{}", done.all());
    world.assert_done_once(done);
    for line in &ended {
        let path = world.repo().join(line["report"].as_str().unwrap());
        let stored: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        assert_eq!(
            (stored["by"].as_str(), stored["report"]["status"].as_str()),
            (Some("agent"), Some("completed")),
            "{stored}"
        );
        assert!(!stored["report"]["tasks"].as_array().unwrap().is_empty(), "{stored}");
        assert!(!stored["report"]["commits"].as_array().unwrap().is_empty(), "{stored}");
    }
    let log = world.command("git", &["log", "--reverse", "--format=%s"]).output().unwrap();
    let log = String::from_utf8_lossy(&log.stdout).into_owned();
    let places: Vec<Option<usize>> = phases.iter().map(|id| log.find(&format!("Phase {id} - "))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "commits in order: {log}");
    say(&format!(
        "plan with {name}: {} phases verified, commits in order, {:.1} s",
        phases.len(),
        done.took.as_secs_f64()
    ));
}

#[test]
fn a_folder_of_gsd_plans_with_claude() {
    inside(120, || {
        let world = world(5);
        std::fs::create_dir_all(world.repo().join("phases/01-parts")).unwrap();
        world.write("phases/01-parts/01-01-PLAN.md", &gsd(1, "", &[1, 2, 3]));
        world.write("phases/01-parts/01-02-PLAN.md", &gsd(2, "\"01-01\"", &[4, 5]));
        world.commit();
        let args =
            ["run", "phases", "--json", "--agent", "claude", "--permissions", "bypass", "--policy", "phased"];
        let done = world.segue(&args);
        assert_completed(&world, &done, &["01-01", "01-02"], "claude");
    });
}

#[test]
fn a_debussy_master_plan_with_codex() {
    inside(120, || {
        let world = world(5);
        let step = world.job.files().into_iter().find(|(name, _)| name == "step.sh").unwrap().1;
        let note = "mkdir -p notes; echo \"step $n\" >>notes/NOTES_parts_1.md; echo \"step $n\" >>notes/NOTES_parts_6D.md\nnote end\n";
        world.write("step.sh", &step.replace("note end\n", note));
        std::fs::create_dir_all(world.repo().join("plans")).unwrap();
        world.write(
            "plans/MASTER_PLAN.md",
            "# Parts - Master Plan\n\n## Overview\n\nFor each task run `sh step.sh N`.\n\n## Phases\n\n| Phase | Title | Status |\n|---|---|---|\n\
             | 1 | [First](parts-phase-1.md) | Pending |\n| 6D | [Second](parts-phase-6D.md) | Pending |\n",
        );
        world.write("plans/parts-phase-1.md", &debussy("1", "N/A", "N/A", &[1, 2, 3]));
        world.write(
            "plans/parts-phase-6D.md",
            &debussy("6D", "[Phase 1](parts-phase-1.md)", "`notes/NOTES_parts_1.md`", &[4, 5]),
        );
        world.commit();
        let args = [
            "run",
            "plans/MASTER_PLAN.md",
            "--json",
            "--agent",
            "codex",
            "--permissions",
            "bypass",
            "--policy",
            "phased",
        ];
        let done = world.segue(&args);
        assert_completed(&world, &done, &["1", "6D"], "codex");
    });
}

const OPENSPEC: &str = "# Tasks: Parts\n\nFor each task run `sh step.sh N`.\n\n## 1. First\n\n- [ ] 1.1 step 1: write it\n- [ ] 1.2 step 2: write it\n\n\
    ## 2. Second\n\n- [ ] 2.1 step 3: write it\n";

const SPEC_KIT: &str = "# Tasks: Parts\n\nFor each task run `sh step.sh N`.\n\n## Phase 1: Foundational (Blocking Prerequisites)\n\n\
    - [ ] T001 step 1: write it\n\n## Phase 2: User Story 1 - Read\n\n**Independent Test**: Read it\n\n- [ ] T002 [US1] step 2: write it\n\
    - [ ] T003 [P] [US1] step 3: write it\n\n## Parallel Example: Phase 2\n\n- Task: T003\n";

const KIRO: &str = "# Implementation Plan\n\nFor each task run `sh step.sh N`.\n\n- [ ] 1. First\n  - [ ] 1.1 step 1: write it\n    - _Requirements: 1.1_\n  \
    - [ ] 1.2 step 2: write it\n    - _Requirements: 1.2_\n- [ ] 2. step 3: write it\n  - _Requirements: 2_\n";

/// A list without a command: every box is ticked by the ids that the agent reports, with the commit of its phase.
fn list(agent: &str, plan: &str, text: &str, phases: usize) {
    let world = world(3);
    std::fs::create_dir_all(world.repo().join(plan).parent().unwrap()).unwrap();
    world.write(plan, text);
    world.commit();
    let args = ["run", plan, "--json", "--agent", agent, "--permissions", "bypass", "--policy", "phased"];
    let done = world.segue(&args);
    assert_eq!(done.code, Some(0), "{}", done.all());
    let ended = done.of("phase.finished");
    assert_eq!(ended.len(), phases, "{}", done.all());
    assert!(ended.iter().all(|line| line["status"] == "completed"), "{}", done.all());
    assert_eq!(done.lines().last().unwrap()["verdict"], "unverified", "{}", done.all());
    world.assert_done_once(&done);
    let after = std::fs::read_to_string(world.repo().join(plan)).unwrap();
    assert_eq!(after, text.replace("[ ]", "[x]"), "{}", done.all());
    let git = |args: &[&str]| {
        String::from_utf8_lossy(&world.command("git", args).output().unwrap().stdout).into_owned()
    };
    assert_eq!(git(&["status", "--porcelain"]), "", "{}", done.all());
    let subjects = git(&["log", "--format=%s"]);
    assert_eq!(subjects.matches("Phase ").count(), phases, "a commit for each phase: {subjects}");
    say(&format!("{plan} with {agent}: {phases} phases, every box ticked, {:.1} s", done.took.as_secs_f64()));
}

#[test]
fn v1_an_openspec_change_with_claude() {
    inside(240, || list("claude", "openspec/changes/parts/tasks.md", OPENSPEC, 1));
}

#[test]
fn v1_spec_kit_tasks_with_claude() {
    inside(240, || list("claude", "specs/001-parts/tasks.md", SPEC_KIT, 2));
}

#[test]
fn v1_a_kiro_spec_with_codex() {
    inside(240, || list("codex", ".kiro/specs/parts/tasks.md", KIRO, 1));
}
