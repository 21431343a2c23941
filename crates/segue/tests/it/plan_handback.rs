//! What agents hand back: half of a phase, a HANDOFF.md of their own, a request to split; and plans that are over.

use segue_rehearsal::script::{Reply, Script};
use serde_json::json;

use crate::plan_run::{ended, native, pairs, roomy, state, world};
use crate::support::World;

/// A phase of two steps and one thing that the scripted agent does not do by itself.
const PLAN: &str = "# Phase 16 Plan: Parts\n\n<task id=\"16-01\" type=\"auto\" complexity=\"simple\">\n### Task 16-01: step 1: write it\n\
**Verify:**\n- It is there -- verified by: `sh there.sh 1` (returns 0)\n</task>\n\n<task id=\"16-02\" type=\"auto\" complexity=\"simple\">\n\
### Task 16-02: step 2: write it\n**Verify:**\n- It is there -- verified by: `sh there.sh 2` (returns 0)\n</task>\n\n\
<task id=\"16-03\" type=\"auto\" complexity=\"simple\">\n### Task 16-03: Think about it\n**Action:**\nThink.\n</task>\n";

const HANDOFF: &str = "# Phase 16 Partial Progress Handoff\n\n**Phase ID:** 16\n**Reason:** Context exhaustion detected during execute\n\n\
## Tasks Completed\n| Task ID | Status | Commit SHA | Files Modified |\n|---|---|---|---|\n| 16-01 | COMPLETED | abc | a |\n\
| 16-02 | COMPLETED | def | b |\n\n## Tasks Remaining\n| Task ID | Description | Estimated Complexity |\n|---|---|---|\n\
| 16-03 | think | simple |\n\n## Partial Progress State\n- Last successful operation: painted it blue\n";

fn gives_up(own_form: bool) -> String {
    if own_form {
        return json!({
            "status": "failed", "failure": "context_exhaustion", "recommendation": "halt", "summary": "half, painted it blue",
            "tasks": [{"id": "16-01", "status": "completed"}, {"id": "16-02", "status": "completed"}, {"id": "16-03", "status": "remaining"}],
        })
        .to_string();
    }
    json!({
        "phase": "16", "status": "failed", "tasks_completed": "2/3", "tasks_failed": "0/3", "recommendation": "halt",
        "issues": ["context_exhaustion: partial progress saved to HANDOFF.md"], "summary": "half",
    })
    .to_string()
}

#[test]
fn p2_tasks_that_were_finished_before_an_agent_gave_up_are_not_done_again() {
    for own_form in [true, false] {
        let world = world(2, Script { last_words: vec![gives_up(own_form)], ..roomy() });
        world.write("PLAN.md", PLAN);
        if !own_form {
            world.write("handoff.txt", HANDOFF);
            world.in_step("cp handoff.txt HANDOFF.md");
        }
        let done = world.segue(&["run", "PLAN.md", "--json"]);
        done.exits(1);
        let report = json!({ "status": "completed", "tasks": [{"id": "16-03", "status": "completed"}], "recommendation": "proceed", "summary": "thought" });
        let replies = vec![Reply { when: "# Phase 16".to_owned(), say: report.to_string() }];
        let script = Script { replies, ..roomy() };
        world.keep_conversations(script);
        let again = world.segue(&["resume", "--json"]);
        again.exits(0);
        world.assert_each_step_once(&again);
        let text = conversations(&world).concat().replace("\\n", "\n");
        assert!(text.contains("Think about it") && text.contains("painted it blue"), "{own_form}: {text}");
        assert!(!text.contains("- [ ] step 1"), "{own_form}: {text}");
    }
}

/// Every kept conversation; one without a step is in no log of steps.
pub(crate) fn conversations(world: &World) -> Vec<String> {
    let files = std::fs::read_dir(world.root().join("conversations")).unwrap();
    files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

fn asks(parts: serde_json::Value) -> Script {
    let report = json!({
        "status": "split_request", "recommendation": "proceed", "summary": "It does not fit.",
        "split_details": { "reason": "much", "recommended_sub_phases": parts },
    });
    Script { replies: vec![Reply { when: "# Phase 20 - ".to_owned(), say: report.to_string() }], ..roomy() }
}

const TITLES: &str = "# Parts\n\n## Phase 20: Much\n\n- [ ] T1 step 1: write it\n- [ ] T2 step 2: write it\n- [ ] T3 step 3: write it\n- [ ] T4 step 4: write it\n";

#[test]
fn p1_a_split_keyed_by_titles_or_issues_has_its_tasks_and_an_empty_part_is_refused() {
    let parts = json!([
        { "sub_phase_id": "20a", "name": "First", "issues": ["step 1: write it"] },
        { "sub_phase_id": "20b", "name": "Nothing", "issues": ["sing a song"] },
        { "sub_phase_id": "20c", "name": "Second", "tasks": ["T2", "Step 3: write it"] },
    ]);
    let world = world(4, asks(parts));
    world.write("tasks.md", TITLES);
    let done = world.segue(&["run", "tasks.md", "--json", "--policy", "observe"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let expected = [("20", "split"), ("20a", "completed"), ("20b", "completed"), ("20", "completed")];
    assert_eq!(ended(&done), pairs(&expected), "{}", done.all());
    let notes = done.warnings("split_tasks");
    assert!(notes.iter().any(|note| note.contains("\"Nothing\"")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("20b: T4")), "{notes:?}");
    assert_eq!(world.read("tasks.md"), TITLES.replace("[ ]", "[x]"));
}

#[test]
fn p1_parts_run_side_by_side_by_default_where_the_tree_is_clean() {
    let parts = json!([{ "title": "one", "tasks": ["T1", "T2"] }, { "title": "two", "tasks": ["T3", "T4"] }]);
    let world = world(4, Script { step_ms: 300, ..asks(parts) });
    world.write("tasks.md", &format!("{TITLES}\n## Phase 21: Rest\n\n- [ ] T5 step 5: write it\n"));
    world.commit("the plan");
    let done = world.segue(&["run", "tasks.md", "--json", "--policy", "observe", "--phase", "20"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert!(done.warnings("split")[0].contains("launching in parallel..."), "{}", done.all());
    let lines = done.lines();
    let place =
        |kind: &str, id: &str| lines.iter().position(|l| l["type"] == kind && l["phase"] == id).unwrap();
    assert!(place("phase.started", "20b") < place("phase.finished", "20a"), "{}", done.all());
    assert!(world.repo().join("parts/03.txt").exists() && world.repo().join("parts/01.txt").exists());
}

#[test]
fn resume_of_a_completed_plan_says_so_and_starts_nobody() {
    let world = world(
        3,
        Script {
            last_words: vec![
                "{\"status\": \"failed\", \"summary\": \"no\", \"recommendation\": \"halt\"}".to_owned(),
            ],
            ..roomy()
        },
    );
    world.write("segue.plan.toml", &native(&[("1", &[], &[1, 2]), ("2", &["1"], &[3])]));
    world.segue(&["run", "segue.plan.toml", "--json"]).exits(1);
    world.script(roomy());
    world.segue(&["resume", "--json"]).exits(0);
    let runs = world.journal().unwrap().runs().unwrap();
    for args in [&["resume"][..], &["resume", &runs.last().unwrap().id][..]] {
        let nothing = world.segue(args);
        nothing.exits(0);
        assert!(nothing.out.contains("is completed: there is nothing to resume"), "{}", nothing.all());
    }
    assert_eq!(world.journal().unwrap().runs().unwrap().len(), runs.len(), "no run was begun");
}

#[test]
fn a_range_of_phases_is_run_and_a_plan_that_is_half_written_goes_on_as_it_was() {
    let world = world(4, roomy());
    let plan = native(&[("1", &[], &[1]), ("2", &[], &[2]), ("3", &[], &[3]), ("4", &[], &[4])]);
    world.write("segue.plan.toml", &plan);
    let some = world.segue(&["run", "segue.plan.toml", "--phase", "1-2", "--json"]);
    some.exits(0);
    assert_eq!(ended(&some), pairs(&[("1", "completed"), ("2", "completed")]), "{}", some.all());
    // The third step cuts the file off in the middle of a word, as an editor does for a moment.
    world.in_step("if [ $n = 3 ]; then printf '[[phase' >segue.plan.toml; fi");
    let done = world.segue(&["run", "segue.plan.toml", "--resume", "--json"]);
    done.exits(0);
    assert_eq!(ended(&done), pairs(&[("3", "completed"), ("4", "completed")]), "{}", done.all());
    assert_eq!(done.warnings("plan_unreadable").len(), 1, "{}", done.all());
    assert_eq!(state(&world)["status"], "completed");
}

#[test]
fn what_is_no_file_is_no_plan_and_other_tools_are_answered() {
    let world = world(1, roomy());
    let made = std::process::Command::new("mkfifo").arg(world.repo().join("plan.md")).status().unwrap();
    assert!(made.success());
    let refused = world.segue(&["plan", "check", "plan.md"]);
    refused.exits(2);
    assert!(refused.err.contains("a pipe or a device"), "{}", refused.all());
    let flag = world.segue(&["run", "x", "--test-cmd", "make test"]);
    flag.exits(2);
    assert!(flag.err.contains("--gate"), "{}", flag.all());
    let config = world.read("segue.toml");
    world.write("segue.toml", &format!("auto_commit = true\n{config}"));
    let key = world.segue(&["config", "check"]);
    assert!(
        key.err.contains("commit = \"branch\"") || key.out.contains("commit = \"branch\""),
        "{}",
        key.all()
    );
    std::fs::remove_file(world.repo().join("segue.toml")).unwrap();
    world.write(".debussy/config.yaml", "context_threshold: 80.0\nauto_commit: true\n");
    let doctor = world.segue(&["doctor"]);
    assert!(
        doctor.out.contains("context_threshold = 80") && doctor.out.contains("is not applied"),
        "{}",
        doctor.all()
    );
}
