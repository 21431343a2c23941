//! What crosses a handoff is true and is still there twenty handoffs later, whatever the agent says or forgets.

use segue_rehearsal::script::{CheckpointHabit, Script};

use crate::support::{World, small};

const GHOST: &str = "Created src/ghost.rs with the new parser.";
const TESTS: &str = "All tests pass.";
const COMMIT: &str = "Committed as 9d1e0aa.";

#[test]
fn v2_a_final_claim_that_is_not_so_is_shown_and_only_passing_gates_stand_against_it() {
    for lie in [GHOST, COMMIT] {
        for (gate, config, exit, verdict) in [
            (true, "", 0, "verified"),
            (true, "claims = \"strict\"\n", 1, "failed"),
            (false, "", 1, "failed"),
        ] {
            let words = format!("{lie}\n\nSTATUS: done");
            let world = World::new(3, Script { last_words: vec![words], ..Script::default() });
            if gate {
                world.configure(config);
            } else {
                world.configure_without_gate(config);
            }
            let done = world.segue(&["run", "TASK.md", "--json"]);
            done.exits(exit);
            assert_eq!(done.finished()["verdict"], verdict, "{}", done.all());
            let told = done.warnings("contradicted");
            // Told when it is found, and after the one correction.
            assert_eq!(told.len(), 2, "{}", done.all());
            assert!(told[0].contains("git"), "{told:?}");
            world.assert_each_step_once(&done);
        }
    }
}

#[test]
fn v1_every_prompt_ends_with_the_demand_for_a_status_line_and_giving_up_is_not_done() {
    let script = Script { last_words: vec!["I give up.".to_owned()], ..Script::default() };
    let world = World::new(1, script.clone());
    world.keep_conversations(script);
    world.configure_without_gate("");
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(3);
    let end = done.finished();
    assert_eq!(end["verdict"], "needs_input", "{end}");
    assert!(end["last_message"].as_str().unwrap().contains("I give up."), "{end}");
    let prompts = &world.prompts()[0];
    assert_eq!(prompts.len(), 2, "the task, and one question for the status: {prompts:?}");
    for prompt in prompts {
        assert!(prompt.trim_end().ends_with("STATUS: blocked \u{2013} what you need"), "{prompt}");
        assert_eq!(prompt.matches("STATUS: done").count(), 1, "one demand: {prompt}");
    }
}

#[test]
fn a_claim_that_was_not_so_is_put_right_when_the_agent_is_told() {
    let words = [GHOST, "All 3 steps are done; src/ghost.rs was not needed."].map(str::to_owned);
    let world = World::new(3, Script { last_words: words.to_vec(), ..Script::default() });
    world.keep_conversations(Script { last_words: words.to_vec(), ..Script::default() });
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    assert_eq!(
        (done.finished()["verdict"].as_str(), done.warnings("contradicted").len()),
        (Some("verified"), 1)
    );
    let correction = &world.prompts()[0][1];
    assert!(correction.contains(GHOST) && correction.contains("but git"), "{correction}");
}

#[test]
fn a_true_final_claim_is_not_doubted() {
    let words = vec!["Created parts/01.txt, parts/02.txt and parts/03.txt. All tests pass.".to_owned()];
    let world = World::new(3, Script { last_words: words, ..Script::default() });
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    assert!(done.warnings("contradicted").is_empty(), "{}", done.all());
}

#[test]
fn lies_in_a_checkpoint_are_struck_from_what_the_next_session_is_told() {
    for habit in [CheckpointHabit::Answer, CheckpointHabit::NoTags] {
        let remark =
            format!("## Completed Work\n- {GHOST}\n- {TESTS}\n- {COMMIT}\n- Decided to keep it small.");
        let script = Script { checkpoint: habit, remarks: vec![remark], ..small() };
        let world = World::new(10, script.clone());
        world.keep_conversations(script);
        let done = world.segue(&["run", "TASK.md", "--json"]);
        done.exits(0);
        world.assert_each_step_once(&done);
        let taken = &done.of("checkpoint.taken")[0];
        assert_eq!(taken["claims"]["contradicted"], 3, "{}", done.all());
        let told = done.warnings("contradicted");
        assert!(told.iter().any(|t| t.contains(TESTS) && t.contains("check")), "{told:?}");
        let next = &world.prompts()[1][0];
        for lie in [GHOST, TESTS, COMMIT] {
            assert!(!next.contains(lie), "{next}");
        }
        assert!(next.contains("keep it small"), "{next}");
        // The gate had to run for the claim; its result is a fact like any other.
        assert!(done.of("gate.finished").iter().any(|g| g["when"] == "checkpoint"), "{}", done.all());
    }
}

/// Plain sentences that are lies in one world and true in another: about files and tests.
const SENTENCES: [&str; 13] = [
    "Created src/parser.rs with the tokenizer.",
    "I added src/parser.rs.",
    "Added a new file src/parser.rs for the parser.",
    "src/parser.rs has been created.",
    "Wrote src/parser.rs.",
    "`src/parser.rs` (new)",
    "New file: src/parser.rs",
    "All tests pass.",
    "All tests are passing.",
    "The tests pass now.",
    "Tests: all green.",
    "The whole test suite passes.",
    "The test suite is green.",
];

fn told(sentences: &[&str]) -> String {
    let items: String = sentences.iter().map(|s| format!("- {s}\n")).collect();
    format!("## Completed Work\n{items}")
}

// The claims of the first checkpoint that are contradicted, by sentence.
fn contradicted(world: &World) -> Vec<String> {
    let first = &world.checkpoints()[0];
    let claims = first["claims"].as_array().unwrap().iter();
    let wrong = claims.filter(|c| c["finding"] == "contradicted");
    wrong.map(|c| c["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_same_sentences_are_struck_when_they_are_lies_and_stand_when_they_are_true() {
    for habit in [CheckpointHabit::Answer, CheckpointHabit::NoTags] {
        let script = Script { checkpoint: habit, remarks: vec![told(&SENTENCES)], ..small() };
        let stage = "[[stage]]\nat = \"2 tools\"\ndo = [\"restart\"]\n";
        let liar = World::new(4, script.clone());
        liar.configure(stage);
        liar.segue(&["run", "TASK.md", "--json"]).exits(0);
        let wrong = contradicted(&liar);
        let missed: Vec<&&str> = SENTENCES.iter().filter(|s| !wrong.contains(&(**s).to_owned())).collect();
        assert!(missed.is_empty(), "{habit:?}: taken for true: {missed:#?}");
        let summary = liar.checkpoints()[0]["summary"].as_str().unwrap().to_owned();
        assert!(SENTENCES.iter().all(|s| !summary.contains(s)), "{summary}");

        let honest = World::new(4, script);
        honest.in_step(
            "mkdir -p src parts; date +%N > src/parser.rs; git add -A; \
             git -c user.name=a -c user.email=a@a commit -qm 'parser: read numbers'",
        );
        // Everything is committed only if the step's own file is made before.
        let step = honest.read("step.sh");
        let (head, tail) = step.split_once("mkdir -p src").unwrap();
        let (commit, rest) = tail.split_once('\n').unwrap();
        honest.write("step.sh", &format!("{head}{}\nmkdir -p src{commit}\n", rest.trim_end()));
        honest.configure_without_gate(&format!("{stage}[[gate]]\nname = \"tests\"\nrun = \"true\"\n"));
        honest.commit("an honest world");
        honest.segue(&["run", "TASK.md", "--json"]).exits(0);
        assert_eq!(contradicted(&honest), [""; 0], "{habit:?}");
    }
}

/// One planted fact: in which session it is said, and how.
fn facts() -> Vec<(usize, &'static str, String)> {
    let sections = ["Key Decisions", "Constraints", "Dead Ends", "Failing Tests"];
    let text = |n: usize| match n % 4 {
        0 => format!("Decided on codec zeta-{n} because frame {n}07 is the smallest."),
        1 => format!("Column legacy_{n} must stay below {n}31 bytes."),
        2 => format!("Tried mmap variant m{n}; it does not work on the {n}88 loader."),
        _ => format!("tests/wire_{n}.rs::keeps_order_{n} fails with code {n}5."),
    };
    (0..40).map(|n| (n / 4, sections[n % 4], text(n))).collect()
}

// Facts are said once, early; noise comes in every session; a lie comes in every third.
fn remarks(handoffs: usize) -> Vec<String> {
    let remark = |session: usize| {
        let mut text = String::new();
        for (_, section, fact) in facts().iter().filter(|(when, ..)| *when == session) {
            text.push_str(&format!("## {section}\n- {fact}\n"));
        }
        text.push_str("## Completed Work\n");
        for n in 0..20 {
            text.push_str(&format!("- Looked through module {session}_{n} and tidied its imports\n"));
        }
        if session.is_multiple_of(3) {
            text.push_str(&format!("- Created src/ghost_{session}.rs\n- {TESTS}\n"));
        }
        text
    };
    (0..handoffs).map(remark).collect()
}

fn kept_after_20_handoffs(memory: &str) -> (usize, usize, usize) {
    let script = Script {
        remarks: remarks(20),
        window: 400_000,
        step_output_chars: 200,
        // Time for the request to reach it before its next step, on a busy machine too.
        think_ms: 80,
        ..Script::default()
    };
    let world = World::new(50, script.clone());
    world.keep_conversations(script);
    world.configure(&format!(
        "[[stage]]\nat = \"2 tools\"\ndo = [\"restart\"]\n[checkpoint]\nmemory = \"{memory}\"\n"
    ));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let prompts = world.prompts();
    let last = &prompts.last().unwrap()[0];
    let kept = facts().iter().filter(|(.., fact)| last.contains(fact)).count();
    let lies = prompts.iter().flatten().filter(|p| p.contains("ghost_") || p.contains(TESTS)).count();
    assert!(!done.warnings("contradicted").is_empty());
    (kept, lies, done.of("handoff.decided").len())
}

#[test]
fn h6_after_20_handoffs_every_planted_fact_is_in_the_next_prompt() {
    let (with, lies, handoffs) = kept_after_20_handoffs("ledger");
    let (without, ..) = kept_after_20_handoffs("last-summary");
    println!("| memory | handoffs | facts of 40 in the last prompt | lies passed on |\n|---|---|---|---|");
    println!("| ledger | {handoffs} | {with} | {lies} |\n| last summary | {handoffs} | {without} | – |");
    assert_eq!((with, lies), (40, 0));
    assert!(handoffs >= 20, "{handoffs}");
    assert!(without < 10, "the comparison keeps {without}: it shows nothing");
}
