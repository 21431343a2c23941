//! P8: `segue loop` honours the completion word, the gates and the cap on rounds together.

use segue_rehearsal::script::Script;
use serde_json::Value;

use crate::plan_run::{roomy, world};
use crate::support::{Done, World, small};

fn after(done: &Done) -> Vec<Value> {
    done.of("gate.finished").into_iter().filter(|gate| gate["when"] == "after").collect()
}

fn looped(world: &World, more: &[&str]) -> Done {
    let args = ["loop", "TASK.md", "--json"];
    world.segue(&args.into_iter().chain(more.iter().copied()).collect::<Vec<_>>())
}

#[test]
fn p8_the_word_with_green_gates_ends_the_loop() {
    let world = world(3, roomy());
    let done = looped(&world, &["--gate", "sh check.sh", "--max-iterations", "4"]);
    done.exits(0);
    assert_eq!(done.finished()["verdict"], "verified");
    assert_eq!(after(&done).len(), 1);
    assert_eq!(done.of("run.started")[0]["policy"], "loop");
}

#[test]
fn p8_the_word_while_gates_are_red_is_no_completion() {
    let world = world(3, roomy());
    let done = looped(&world, &["--gate", "test -f never", "--max-iterations", "3"]);
    done.exits(1);
    assert_eq!(after(&done).len(), 3, "the cap holds: {}", done.all());
    assert_eq!(done.finished()["limit"], "gate_rounds");
}

#[test]
fn p8_green_gates_without_the_word_are_no_completion() {
    let quiet =
        |words: &[&str]| Script { last_words: words.iter().map(|w| (*w).to_owned()).collect(), ..roomy() };
    let world = world(3, quiet(&["I think so.", "Maybe.", "LOOP_COMPLETE"]));
    let done = looped(&world, &["--gate", "sh check.sh", "--max-iterations", "5"]);
    done.exits(0);
    assert_eq!(after(&done).len(), 3, "{}", done.all());
    world.script(quiet(&["Never."]));
    let capped = looped(&world, &["--gate", "sh check.sh", "--max-iterations", "2"]);
    capped.exits(1);
    assert!(capped.finished()["reason"].as_str().unwrap().contains("completion word"), "{}", capped.all());
}

#[test]
fn p8_rounds_count_over_restarts() {
    let world = world(8, small());
    let done = looped(&world, &["--gate", "test -f never", "--max-iterations", "4", "--max-restarts", "5"]);
    done.exits(1);
    assert!(done.finished()["sessions"].as_u64().unwrap() > 1, "{}", done.all());
    assert_eq!(after(&done).len(), 4, "{}", done.all());
}

#[test]
fn a_prompt_that_does_not_name_the_word_is_told_it() {
    let world = world(2, roomy());
    world.write("PROMPT.md", "# Parts\n\n- [ ] step 1: write it\n- [ ] step 2: write it\n");
    world.keep_conversations(roomy());
    let done = world.segue(&["loop", "PROMPT.md", "--json", "--gate", "sh check.sh"]);
    done.exits(0);
    assert!(world.prompts()[0][0].contains("say LOOP_COMPLETE"), "{:?}", world.prompts());
    for args in [
        &["loop", "PROMPT.md", "--max-iterations", "0"][..],
        &["loop", "PROMPT.md", "--completion-word", " "][..],
    ] {
        world.segue(args).exits(2);
    }
}

#[test]
fn a_loop_whose_agent_does_nothing_any_more_is_stuck() {
    let world = world(3, roomy());
    let done = looped(&world, &["--gate", "test -f never", "--max-iterations", "20"]);
    done.exits(4);
    assert_eq!(done.finished()["limit"], "no_progress", "{}", done.all());
    assert_eq!(after(&done).len(), 4, "one round of work, and three in which nothing was done");
}

#[test]
fn a_loop_leaves_progress_errors_and_an_archive_for_each_restart() {
    let world = world(8, small());
    let done = looped(&world, &["--gate", "sh check.sh", "--max-restarts", "5"]);
    done.exits(0);
    let restarts = done.of("handoff.decided").len();
    assert!(restarts > 0, "{}", done.all());
    let archived = std::fs::read_dir(world.repo().join(".segue/loop/archive")).unwrap().count();
    assert_eq!(archived, restarts);
    let progress = world.read(".segue/loop/progress.md");
    assert_eq!(progress.matches("### Done").count(), restarts, "{progress}");
    let errors: Value = serde_json::from_str(&world.read(".segue/loop/error-summary.json")).unwrap();
    assert!(errors["gates"][0]["gate"].is_string() && errors["session"].is_u64(), "{errors}");
    assert!(
        world.read(".segue/loop/error-summary.md").contains("gate"),
        "{}",
        world.read(".segue/loop/error-summary.md")
    );
}

/// A command agent: it prints, and says nothing of what it does.
fn command_agent(world: &World, script: &str) {
    world.write("agent.sh", script);
    world.configure(
        "agents = [\"plain\"]\n[agent.plain]\nkind = \"command\"\ncommand = [\"sh\", \"agent.sh\"]\nprompt = \"stdin\"\n",
    );
    world.commit("an agent");
}

#[test]
fn truth8_a_loop_does_not_say_that_its_prompt_changed_when_nobody_touched_it() {
    let world = world(2, roomy());
    world.write("P.md", "# Parts\n\n- [ ] step 1: write it\n- [ ] step 2: write it\n");
    command_agent(&world, "n=$(ls out 2>/dev/null | wc -l); mkdir -p out; cat >out/$n; echo working\n");
    let done = world.segue(&[
        "loop",
        "P.md",
        "--json",
        "--gate",
        "test $(ls out | wc -l) -ge 3",
        "--max-iterations",
        "4",
    ]);
    assert_eq!(done.of("session.started").len(), 4, "every iteration counts, with progress or without");
    assert!(done.of("run.finished").len() == 1, "{}", done.all());
    assert_eq!(done.warnings("base_moved"), [""; 0], "{}", done.all());
    let second = world.read("out/1");
    assert!(
        !second.contains("has changed since the run") && second.contains("say LOOP_COMPLETE"),
        "{second}"
    );
    assert_eq!(second.matches("LOOP_COMPLETE").count(), 1, "{second}");
}

#[test]
fn truth8_rounds_of_a_command_agent_that_wrote_files_are_not_idle() {
    let world = world(2, roomy());
    let script = "n=$(ls out 2>/dev/null | wc -l); mkdir -p out; echo x >out/$n; echo LOOP_COMPLETE\n";
    command_agent(&world, script);
    let args =
        ["loop", "TASK.md", "--json", "--gate", "test $(ls out | wc -l) -ge 6", "--max-iterations", "9"];
    let done = world.segue(&args);
    done.exits(0);
    assert_eq!(after(&done).len(), 6, "{}", done.all());
    command_agent(&world, "echo LOOP_COMPLETE\n");
    let args = ["loop", "TASK.md", "--json", "--gate", "test -f never", "--max-iterations", "9"];
    let idle = world.segue(&args);
    idle.exits(4);
    assert_eq!(idle.finished()["limit"], "no_progress", "{}", idle.all());
}
