//! What the scripted agent believes from which text.

use super::*;
use crate::context::Role;
use crate::job::Job;

fn from(texts: &[(Role, &str)]) -> Belief {
    let entries: Vec<Entry> =
        texts.iter().map(|(role, text)| Entry { role: *role, text: (*text).to_owned() }).collect();
    believe(&entries)
}

fn done_after_task(role: Role, text: &str) -> Vec<u32> {
    let task = Job { steps: 12 }.task_text();
    from(&[(Role::Prompt, &task), (role, text)]).done.into_iter().collect()
}

#[test]
fn a_fresh_task_has_everything_open() {
    let belief = from(&[(Role::Prompt, &Job { steps: 12 }.task_text())]);
    assert_eq!((belief.listed.len(), belief.done.len(), belief.next()), (12, 0, Action::Step(1)));
    assert_eq!(belief.listed[&3], "write part 3");
}

#[test]
fn without_a_list_there_is_nothing_to_do_even_if_a_checkpoint_names_steps() {
    assert_eq!(from(&[]).next(), Action::NoList);
    assert_eq!(from(&[(Role::Prompt, "## Remaining Tasks\n- step 3: write part 3")]).next(), Action::NoList);
}

#[test]
fn tool_results_close_steps() {
    assert_eq!(done_after_task(Role::Tool, "step 1 done\nfiller about step 4 and parts/05.txt"), [1]);
    assert_eq!(done_after_task(Role::Tool, "sh: step.sh: not found"), [0; 0]);
}

#[test]
fn every_usual_way_to_say_done_is_understood() {
    for text in [
        "## Completed Work\n- step 1: write part 1\n- step 2: write part 2\n",
        "Done:\n1. step 1\n2. step 2",
        "**Done so far**\n* step 1 and step 2",
        "- [x] step 1: write part 1\n- [x] step 2: write part 2",
        "Files added: parts/01.txt, parts/02.txt",
        "| parts/01.txt | new |\n| parts/02.txt | new |",
        "Commands run:\n- `sh step.sh 1` exit 0\n- `sh step.sh 2` (exit code 0)",
        "Completed: step 1, step 2",
        "## Do Not Redo\n- step 1\n- step 2",
        "> Completed Work:\n> - step 1\n> - step 2",
        "## Tasks Completed\n| step 1 | ok |\n| step 2 | ok |",
    ] {
        assert_eq!(done_after_task(Role::Prompt, text), [1, 2], "{text}");
    }
}

#[test]
fn what_is_not_done_is_not_taken_for_done() {
    for text in [
        "## Remaining Tasks\n- step 1: write part 1\nparts/02.txt",
        "Not done:\n- step 1",
        "## Claims that were contradicted\n- step 1: write part 1",
        "## Completed Work\n- none\n\nGo on with step 1 now.",
        "Commands:\n- `sh step.sh 1` was running when the session ended\n- `sh step.sh 2` exit 143",
        "Next: step 1",
        "- [ ] step 1: write part 1",
        "step 1 done, or so I hope",
        "Files deleted: parts/01.txt",
        "## Completed Work\n- step 1: not done after all",
    ] {
        assert_eq!(done_after_task(Role::Prompt, text), [0; 0], "{text}");
    }
}

#[test]
fn the_task_after_a_checkpoint_reopens_nothing_and_closes_nothing() {
    let before = from(&[(Role::Prompt, &Job { steps: 12 }.task_text()), (Role::Tool, "step 1 done")]);
    let prompt = format!("{}\n\nThe task:\n{}", before.checkpoint(true), Job { steps: 12 }.task_text());
    assert_eq!(from(&[(Role::Prompt, &prompt)]), before);
    let prompt = format!("{}\n{}", Job { steps: 12 }.task_text(), before.checkpoint(false));
    assert_eq!(from(&[(Role::Prompt, &prompt)]), before);
}

#[test]
fn a_failed_gate_reopens_what_it_misses() {
    let task = Job { steps: 3 }.task_text();
    let all = [
        (Role::Prompt, task.as_str()),
        (Role::Tool, "step 1 done"),
        (Role::Tool, "step 2 done"),
        (Role::Tool, "step 3 done"),
    ];
    assert_eq!(from(&all).next(), Action::Finished);
    let mut failed = all.to_vec();
    failed.push((Role::Prompt, "The gate failed:\nmissing: parts/02.txt\nwrong: parts/03.txt\n"));
    assert_eq!(from(&failed).next(), Action::Step(2));
    failed.push((Role::Tool, "step 2 done"));
    assert_eq!(from(&failed).next(), Action::Step(3));
}

#[test]
fn an_old_gate_quoted_beside_newer_facts_reopens_nothing() {
    let text = "Gate before the work:\n- missing: parts/01.txt\n- missing: parts/02.txt\nFiles added:\n- parts/01.txt\n";
    assert_eq!(done_after_task(Role::Prompt, text), [1]);
}

#[test]
fn a_lie_is_believed_and_passed_on() {
    let task = Job { steps: 2 }.task_text();
    let belief = from(&[(Role::Prompt, &task), (Role::Agent, "step 1 done\nCreated src/ghost.rs")]);
    assert_eq!(belief.next(), Action::Step(2));
    let said = belief.checkpoint(true);
    assert!(said.contains("Completed Work\n- step 1: write part 1\n- Created src/ghost.rs\n"), "{said}");
}

#[test]
fn a_summary_is_enough_to_go_on() {
    let task = Job { steps: 3 }.task_text();
    let before = from(&[(Role::Prompt, &task), (Role::Tool, "step 1 done"), (Role::Tool, "step 2 done")]);
    assert_eq!(from(&[(Role::Prompt, &task), (Role::Agent, &before.summary())]), before);
}

#[test]
fn its_own_words_close_nothing() {
    let task = Job { steps: 3 }.task_text();
    let belief = from(&[(Role::Prompt, &task)]);
    for action in [Action::Step(1), Action::Finished, Action::NoList] {
        assert!(from(&[(Role::Prompt, &task), (Role::Agent, &belief.sentence(action))]).done.is_empty());
    }
}

#[test]
fn strange_text_is_no_trouble() {
    for text in [
        "step ",
        "- [ ] step 99999999999: x",
        "parts/é.txt",
        "[x]",
        "- [x",
        "**",
        "#",
        ":",
        "exit",
        "１. step 1",
    ] {
        assert!(done_after_task(Role::Prompt, text).is_empty(), "{text}");
    }
}
