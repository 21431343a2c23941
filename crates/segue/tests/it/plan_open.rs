//! Nothing that is open is passed over: what came into a plan meanwhile, what an agent left out, what must hold and nobody checked.

use segue_rehearsal::script::{Reply, Script};
use serde_json::json;

use crate::plan_run::{ended, pairs, roomy, state, world};

const LIST: &str = "# Parts\n\n- [ ] step 1: write it\n- [ ] step 2: write it\n";

fn report(tasks: &serde_json::Value) -> Vec<String> {
    vec![
        json!({ "status": "completed", "tasks": tasks, "recommendation": "proceed", "summary": "done" })
            .to_string(),
    ]
}

#[test]
fn a_box_that_an_agent_writes_above_its_own_is_run_next_and_the_ids_of_its_report_are_those_it_was_given() {
    let looked = report(&json!([{ "id": "1", "status": "completed" }])).remove(0);
    let replies = vec![Reply { when: "## From an earlier try".to_owned(), say: looked }];
    let world = world(2, Script { replies, ..roomy() });
    world.in_step("if [ $n = 1 ]; then sed -i 's/^- \\[ \\] step 1/- [ ] look around\\n&/' todo.md; fi");
    world.write("todo.md", LIST);
    let done = world.segue(&["run", "todo.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let wanted = LIST.replace("[ ]", "[x]").replace("- [x] step 1", "- [x] look around\n- [x] step 1");
    assert_eq!(world.read("todo.md"), wanted, "{}", done.all());
    assert_eq!(done.warnings("tasks_left").len(), 1, "once for what is new: {}", done.all());
}

#[test]
fn v1_a_box_that_came_into_a_verified_phase_is_not_ticked_off_with_it() {
    let world = world(2, roomy());
    world.in_step("if [ $n = 1 ]; then sed -i 's/^- \\[ \\] step 1/- [ ] look around\\n&/' todo.md; fi");
    let plan = format!("{LIST}\n## Validation Commands\n\n- `sh there.sh 1`\n- `sh there.sh 2`\n");
    world.write("todo.md", &plan);
    let done = world.segue(&["run", "todo.md", "--json"]);
    done.exits(3);
    world.assert_each_step_once(&done);
    let wanted = plan.replace("[ ]", "[x]").replace("- [x] step 1", "- [ ] look around\n- [x] step 1");
    assert_eq!(world.read("todo.md"), wanted, "{}", done.all());
    assert!(done.warnings("items_open").concat().contains("line 3: look around"), "{}", done.all());
    assert_eq!(state(&world)["status"], "needs_input", "{}", done.all());
}

#[test]
fn v1_what_an_agent_leaves_out_is_open_and_the_plan_is_not_completed() {
    let tasks = json!([{ "id": "1", "status": "completed" }, { "id": "2", "status": "skipped" }]);
    let replies = vec![Reply { when: "# Phase 1".to_owned(), say: report(&tasks).remove(0) }];
    let world = world(2, Script { replies, ..roomy() });
    world.write("todo.md", "# Parts\n\n- [ ] Look at it\n- [ ] Paint it\n");
    let done = world.segue(&["run", "todo.md", "--json"]);
    done.exits(3);
    assert_eq!(world.read("todo.md"), "# Parts\n\n- [x] Look at it\n- [ ] Paint it\n", "{}", done.all());
    assert!(done.warnings("items_open").concat().contains("line 4: Paint it"), "{}", done.all());
}

#[test]
fn criteria_that_are_open_below_finished_work_are_named() {
    let world = world(1, roomy());
    let plan = "# Parts\n\n## Tasks\n\n- [x] 1. Look at it\n\n## Acceptance Criteria\n\n- [ ] People like it\n- [ ] It is dry\n";
    world.write("todo.md", plan);
    let done = world.segue(&["run", "todo.md", "--json"]);
    done.exits(0);
    assert_eq!(ended(&done), pairs(&[]), "nothing is left to run: {}", done.all());
    let open = done.warnings("items_open").concat();
    assert!(open.contains("People like it") && open.contains("It is dry"), "{}", done.all());
    assert_eq!(world.read("todo.md"), plan);
}

#[test]
fn open_boxes_of_a_phase_that_the_plan_calls_done_are_named() {
    let world = world(1, roomy());
    let plan = "# Story 1.1: A\n\nStatus: Done\n\n## Tasks / Subtasks\n\n- [x] Look at it\n- [ ] Paint it\n";
    world.write("docs/stories/1.1.story.md", plan);
    let done = world.segue(&["run", "docs/stories/1.1.story.md", "--json"]);
    done.exits(0);
    assert_eq!(ended(&done), pairs(&[]), "{}", done.all());
    assert!(done.warnings("items_open").concat().contains("line 8: Paint it"), "{}", done.all());
}

#[test]
fn v1_entries_of_json_without_a_word_about_order_keep_it_side_by_side() {
    let world = world(2, Script { step_ms: 500, ..roomy() });
    let plan = "[\n  {\"id\": \"A\", \"title\": \"step 1: write it\", \"files\": [\"src/01.txt\"], \"status\": \"pending\"},\n  \
                {\"id\": \"B\", \"title\": \"step 2: write it\", \"files\": [\"src/02.txt\"], \"status\": \"pending\"}\n]\n";
    world.write("work.json", plan);
    world.commit("the plan");
    let done = world.segue(&["run", "work.json", "--json", "--parallel", "2"]);
    done.exits(0);
    assert_eq!(ended(&done), pairs(&[("A", "completed"), ("B", "completed")]), "{}", done.all());
    assert!(crate::beside_life::together(&done).is_empty(), "{}", done.all());
}
