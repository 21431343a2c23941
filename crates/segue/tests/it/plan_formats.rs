//! Plans as people write them, from end to end: every shape leads to phases that are run and verified.

use crate::plan_run::{ended, pairs, roomy, world};
use crate::support::{Done, World};

const GSD: &str = "---\nphase: 01-parts\nplan: 01\nwave: 1\ndepends_on: []\nfiles_modified: [one.txt]\nautonomous: true\n\
must_haves:\n  truths:\n    - \"All of them are there\"\n---\n\n<objective>\nWrite the parts.\n</objective>\n\n<tasks>\n\n\
<task type=\"auto\">\n  <name>Task 1: step 1: write it</name>\n  <files>one.txt</files>\n  <action>Run the script.</action>\n  \
<verify><automated>sh there.sh 1 &amp;&amp; test 1 -lt 2</automated></verify>\n  <acceptance_criteria>\n    \
- `ls parts | grep -c txt` returns >= 1\n    - `grep -c nothing README.md` returns 0\n  </acceptance_criteria>\n  <done>It is there.</done>\n</task>\n\n\
<task type=\"auto\">\n  <name>Task 2: step 2: write it</name>\n  <files>two.txt</files>\n  <action>Run the script.</action>\n  \
<verify><automated>sh there.sh 2</automated></verify>\n  <done>It is there.</done>\n</task>\n\n</tasks>\n";

const AUTOPILOT: &str = "# Phase 16 Plan: Parts\r\n\r\n## Wave 1\r\n\r\n<task id=\"16-01\" type=\"auto\" complexity=\"simple\">\r\n\r\n\
### Task 16-01: step 1: write it\r\n\r\n**Action:**\r\nRun the script.\r\n\r\n**Verify:**\r\n\
- It is there -- verified by: `sh there.sh 1; echo EXIT:$?` (expect EXIT:0)\r\n\
- There is one -- verified by: `ls parts | grep -c txt` (returns at least 1)\r\n\r\n**Done:** It is there.\r\n\r\n</task>\r\n\r\n\
## Wave 2\r\n\r\n<task id=\"16-02\" type=\"auto\" complexity=\"simple\">\r\n\r\n### Task 16-02: step 2: write it\r\n\r\n\
**Verify:**\r\n- It is there -- verified by: `sh there.sh 2` (returns 0)\r\n\r\n</task>\r\n";

const MASTER: &str = "# Parts - Master Plan\n\n## Overview\n\nAll parts.\n\n## Phases\n\n| Phase | Title | Status |\n|---|---|---|\n\
| 1 | [First](parts-phase-1.md) | Pending |\n| 6D | [Second](parts-phase-6D.md) | Pending |\n";

fn debussy_phase(id: &str, needs: &str, reads: &str, step: u32) -> String {
    format!(
        "# Parts Phase {id}: Some\n\n**Status:** Pending\n**Depends On:** {needs}\n\n## Process Wrapper (MANDATORY)\n\
         - [ ] Read previous notes: {reads}\n- [ ] Write `notes/NOTES_parts_{id}.md` with:\n  - what was done\n\n\
         ## Gates (must pass before completion)\n\n- there: it is there (command: `sh there.sh {step}`)\n\
         - **any**: `test -d parts` → 0 errors\n\n## Tasks\n\n### 1. Work\n- [ ] {step}.1: step {step}: write it\n\n\
         ## Acceptance Criteria\n\n- [ ] All tasks completed\n"
    )
}

const TASKS: &str = "# Parts\n\n## Validation Commands\n- `sh there.sh 1`\n- `sh there.sh 2`\n\n### Task 1: step 1: write it\n\
- [ ] run the script\n\n### Task 2: step 2: write it\n- [ ] run the script\n";

const CHECKLIST: &str = "# Parts\n\n## Tasks\n\n- [ ] step 1: write it\n- [ ] step 2: write it\n\n## Validation Commands\n\n```bash\nsh there.sh 1\nsh there.sh 2\n```\n";

const JSON: &str = r#"[
  {"task_id": "A-2", "intent": "step 2: write it", "depends_on": ["A-1"], "acceptance_criteria": ["`sh there.sh 2` returns 0"], "status": "pending"},
  {"task_id": "A-1", "intent": "step 1: write it", "instructions": "Run the script.", "acceptance_criteria": ["`ls parts | grep -c txt` returns >= 1"], "status": "pending"}
]"#;

const SPEC_KIT: &str = "# Tasks: Parts\n\n## Phase 1: Setup\n\n- [ ] T001 step 1: write it\n\n## Phase 2: Rest\n\n- [ ] T002 step 2: write it\n";

fn run(world: &World, file: &str, more: &[&str]) -> Done {
    let args: Vec<&str> = ["run", file, "--json"].into_iter().chain(more.iter().copied()).collect();
    let done = world.segue(&args);
    done.exits(0);
    world.assert_each_step_once(&done);
    done
}

#[test]
fn p4_p5_each_shape_of_one_file_is_run_and_verified() {
    let shapes = [
        ("01-01-PLAN.md", GSD, vec![("01-01", "completed")]),
        ("PLAN.md", AUTOPILOT, vec![("16", "completed")]),
        ("tasks.md", TASKS, vec![("1", "completed")]),
        ("list.md", CHECKLIST, vec![("1", "completed")]),
        ("prd.json", JSON, vec![("A-1", "completed"), ("A-2", "completed")]),
    ];
    for (file, text, phases) in shapes {
        let world = world(2, roomy());
        world.write(file, text);
        let done = run(&world, file, &[]);
        assert_eq!(ended(&done), pairs(&phases), "{file}");
        assert_eq!(done.lines().last().unwrap()["verdict"], "verified", "{file}: {}", done.all());
    }
}

#[test]
fn phases_without_a_gate_are_unverified_and_with_one_of_the_configuration_verified() {
    for (more, verdict) in [(&[][..], "unverified"), (&["--gate", "test -d parts"][..], "verified")] {
        let world = world(2, roomy());
        world.write("tasks.md", SPEC_KIT);
        let done = run(&world, "tasks.md", more);
        assert_eq!(ended(&done), pairs(&[("1", "completed"), ("2", "completed")]));
        assert_eq!(done.lines().last().unwrap()["verdict"], verdict);
    }
}

#[test]
fn a_master_plan_with_notes_runs_its_phases_and_commits_them_in_order() {
    let world = world(2, roomy());
    world.in_step("mkdir -p notes; if [ $n = 1 ]; then echo 'the wall is blue' >notes/NOTES_parts_1.md; else echo done >notes/NOTES_parts_6D.md; fi");
    world.write("plans/MASTER_PLAN.md", MASTER);
    world.write("plans/parts-phase-1.md", &debussy_phase("1", "N/A", "N/A", 1));
    world.write(
        "plans/parts-phase-6D.md",
        &debussy_phase("6D", "[Phase 1](parts-phase-1.md)", "`notes/NOTES_parts_1.md`", 2),
    );
    world.commit("the plan");
    world.keep_conversations(roomy());
    let done = run(&world, "plans/MASTER_PLAN.md", &["--policy", "phased"]);
    assert_eq!(ended(&done), pairs(&[("1", "completed"), ("6D", "completed")]));
    let subjects = world.git(&["log", "--reverse", "--format=%s", "-2"]);
    let subjects: Vec<&str> = subjects.lines().collect();
    assert!(subjects[0].contains("Phase 1 - ") && subjects[1].contains("Phase 6D - "), "{subjects:?}");
    assert!(subjects.iter().all(|subject| subject.contains("completed")), "{subjects:?}");
    let prompts = world.prompts();
    assert!(
        prompts[1][0].contains("the wall is blue"),
        "a note that must be read is given: {}",
        prompts[1][0]
    );
}

#[test]
fn a_note_that_must_be_written_is_asked_for_until_it_is_there() {
    let world = world(1, roomy());
    world.write("p.md", &debussy_phase("1", "N/A", "N/A", 1));
    let done = world.segue(&["run", "p.md", "--json"]);
    done.exits(1);
    let gates = done.of("gate.finished");
    assert!(
        gates.iter().any(|gate| gate["gate"] == "note notes/NOTES_parts_1.md" && gate["passed"] == false)
    );
}

#[test]
fn a_folder_of_plans_is_one_plan() {
    let world = world(2, roomy());
    let second = GSD.replace("plan: 01", "plan: 02").replace("depends_on: []", "depends_on: [\"01-01\"]");
    let cut = |text: &str, keep: &str| {
        let tasks: Vec<&str> = text.split("<task type").collect();
        let body: String = tasks[1..]
            .iter()
            .filter(|task| task.contains(keep))
            .map(|task| format!("<task type{task}"))
            .collect();
        format!("{}{}", tasks[0], body)
    };
    world.write("phases/01-parts/01-01-PLAN.md", &cut(GSD, "step 1"));
    world.write("phases/01-parts/01-02-PLAN.md", &cut(&second, "step 2"));
    let done = run(&world, "phases", &[]);
    assert_eq!(ended(&done), pairs(&[("01-01", "completed"), ("01-02", "completed")]));
}
