//! What the agent of a phase is told: the plan and what lies beside it, all of the phase, what must be kept to, how to report.

use crate::plan_run::{roomy, world};

const SPEC_KIT: &str = "# Tasks: Parts\n\n**Input**: Design documents from `/specs/001-parts/`\n**Prerequisites**: plan.md, spec.md\n\n\
## Phase 1: Setup\n\n**Purpose**: a place for the parts\n\n- [ ] T001 step 1: write it\n\n**Checkpoint**: the first part is there\n\n\
## Phase 2: User Story 1 - Read\n\n**Goal**: somebody reads\n\n**Independent Test**: open the page\n\n- [ ] T002 [US1] step 2: write it\n\n\
## Notes\n\n- Never touch the blue wall\n\n## Out of Scope\n\n- Painting\n";

#[test]
fn the_agent_gets_the_plan_its_neighbours_and_all_of_its_phase() {
    let world = world(2, roomy());
    world.write("specs/001-parts/tasks.md", SPEC_KIT);
    world.write("specs/001-parts/spec.md", "# Spec\n");
    world.write("specs/001-parts/plan.md", "# Plan\n");
    world.keep_conversations(roomy());
    let done = world.segue(&["run", "specs/001-parts/tasks.md", "--json"]);
    done.exits(0);
    let prompts = world.prompts();
    let second = &prompts[1][0];
    for words in [
        "`specs/001-parts/tasks.md`",
        "`specs/001-parts/spec.md`",
        "`specs/001-parts/plan.md`",
        "Design documents from",
        "Independent Test",
        "open the page",
        "Never touch the blue wall",
        "Painting",
        "(task T002)",
        "\"status\": \"completed\"",
    ] {
        assert!(second.contains(words), "{words}\n{second}");
    }
    assert!(!second.contains("step 1"), "another phase's work: {second}");
    assert!(prompts[0][0].contains("the first part is there"), "{}", prompts[0][0]);
}

#[test]
fn prose_is_named_as_unchecked_and_long_texts_are_cut_with_a_notice() {
    let world = world(1, roomy());
    let long = "word ".repeat(6_000);
    world.write(
        "p.md",
        &format!(
            "# Parts\n\n{long}\n\n### Task 1: step 1: write it\n- [ ] run the script\n\n## Acceptance Criteria\n\n- [ ] People like it\n\n\
             ## Validation Commands\n- `sh there.sh 1`\n"
        ),
    );
    world.keep_conversations(roomy());
    world.segue(&["run", "p.md", "--json"]).exits(0);
    let prompt = &world.prompts()[0][0];
    let (checked, unchecked) =
        prompt.split_once("what nobody checks but you").unwrap_or_else(|| panic!("{prompt}"));
    assert!(checked.contains("`sh there.sh 1`") && unchecked.contains("People like it"), "{prompt}");
    assert!(prompt.contains("(cut off here: all of it stands in p.md)"), "{prompt}");
    assert!(prompt.chars().count() < 40_000);
}
