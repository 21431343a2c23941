//! What the end of a turn means: gates first, then what the agent states in the form that every prompt asks for.

use super::scenario::{Scenario, SideReply};
use crate::{AgentEvent, Prompt, StopHow, Subject, TurnEnd, Verdict};

fn ends(scene: &mut Scenario, text: &str) {
    scene.says(AgentEvent::TurnEnded(TurnEnd::Finished { text: text.to_owned() }));
}

fn last_prompt(scene: &Scenario) -> Option<Prompt> {
    scene.prompts().last().cloned()
}

#[test]
fn v1_each_row_of_gates_and_statement_has_its_own_end() {
    let rows = [
        (1, true, "STATUS: done", Some((Verdict::Verified, 0))),
        (1, true, "Everything is there.", Some((Verdict::Verified, 0))),
        (1, true, "STATUS: not done – the docs", None),
        (1, true, "STATUS: blocked – a key", Some((Verdict::NeedsInput, 3))),
        (1, false, "STATUS: done", None),
        (1, false, "STATUS: blocked – a key", None),
        (0, true, "STATUS: done", Some((Verdict::Unverified, 0))),
        (0, true, "STATUS: not done – the docs", None),
        (0, true, "STATUS: blocked – a key", Some((Verdict::NeedsInput, 3))),
        (0, true, "I give up.", None),
    ];
    for (gates, passes, text, end) in rows {
        let mut scene = Scenario::new("seamless").gates(gates).rounds(&[passes]).start();
        ends(&mut scene, text);
        let found = scene.is_over().then(|| (scene.outcome().verdict, scene.exit_code()));
        assert_eq!(found, end, "{gates} gates, {passes}: {text}");
        let prompt = last_prompt(&scene);
        match (gates, passes, text) {
            (1, false, _) => assert!(matches!(prompt, Some(Prompt::GatesFailed { .. })), "{prompt:?}"),
            (_, _, "STATUS: not done – the docs") => {
                assert_eq!(prompt, Some(Prompt::NotDone { left: "the docs".to_owned() }));
            }
            (_, _, "I give up.") => assert_eq!(prompt, Some(Prompt::AskStatus)),
            _ => {}
        }
    }
}

#[test]
fn v1_giving_up_silence_and_part_of_the_work_are_never_done() {
    for text in ["I give up.", "", "I did 2 of 5 steps.", "Should I use tabs?", "Error: 401 Unauthorized"] {
        let mut scene = Scenario::new("seamless").start();
        ends(&mut scene, text);
        assert_eq!(last_prompt(&scene), Some(Prompt::AskStatus), "{text}");
        ends(&mut scene, text);
        let outcome = scene.outcome();
        assert_eq!((outcome.verdict, scene.exit_code()), (Verdict::NeedsInput, 3), "{text}");
        assert!(outcome.reason.contains("without saying whether it is done"), "{}", outcome.reason);
        let asked = scene.prompts().iter().filter(|prompt| **prompt == Prompt::AskStatus).count();
        assert_eq!(asked, 1, "asked once");
    }
}

#[test]
fn v1_an_answer_to_the_question_counts_and_the_message_before_it_is_still_shown() {
    let mut scene = Scenario::new("seamless").start();
    ends(&mut scene, "I rewrote the parser.");
    ends(&mut scene, "STATUS: done");
    assert_eq!(scene.outcome().verdict, Verdict::Unverified);
    let shown = scene.view().last_message.clone().unwrap_or_default();
    assert!(shown.contains("I rewrote the parser.") && shown.ends_with("STATUS: done"), "{shown}");
}

#[test]
fn v1_work_that_is_left_continues_while_there_is_progress_and_stops_without() {
    let mut scene = Scenario::new("seamless").start();
    for round in 0..5 {
        scene.tool(10);
        ends(&mut scene, "STATUS: not done – more");
        assert!(!scene.is_over(), "round {round} did something");
    }
    for _ in 0..3 {
        assert!(!scene.is_over());
        ends(&mut scene, "STATUS: not done – more");
    }
    assert_eq!((scene.outcome().verdict, scene.exit_code()), (Verdict::Stopped, 4));
    assert!(scene.outcome().reason.contains("more"), "{}", scene.outcome().reason);
}

#[test]
fn v1_a_command_that_ends_is_reported_as_that() {
    let cases = [
        ("STATUS: done", None, Verdict::Unverified, "states that it is done"),
        ("I wrote it.", None, Verdict::Unverified, "the command ended, exit 0"),
        ("", Some("new"), Verdict::Unverified, "the command ended, exit 0"),
        ("", Some("base"), Verdict::NeedsInput, "nothing on its standard output and no file changed"),
        ("STATUS: blocked – a key", None, Verdict::NeedsInput, "a key"),
    ];
    for (text, tree, verdict, reason) in cases {
        let mut scene = Scenario::new("seamless");
        scene.can.follow_up = false;
        scene.trees_seen.extend(tree);
        let mut scene = scene.start();
        ends(&mut scene, text);
        assert_eq!(scene.outcome().verdict, verdict, "{text:?} {tree:?}");
        assert!(scene.outcome().reason.contains(reason), "{}", scene.outcome().reason);
    }
}

#[test]
fn v1_an_answer_reaches_the_agent_that_was_blocked() {
    let mut scene = Scenario::new("seamless").start();
    ends(&mut scene, "STATUS: blocked – SQLite or Postgres?");
    assert_eq!(scene.exit_code(), 3);
    scene.answered("Postgres");
    let told = match last_prompt(&scene) {
        Some(Prompt::Answered { answer }) => answer,
        Some(Prompt::Continuation { answer, .. }) => answer.unwrap_or_default(),
        other => panic!("{other:?}"),
    };
    assert_eq!(told, "Postgres");
    scene.finishes();
    assert_eq!(scene.outcome().verdict, Verdict::Unverified);
}

#[test]
fn v1_a_question_through_the_agents_own_mechanism_needs_input_and_takes_an_answer() {
    let asks = |scene: &mut Scenario| {
        let (request, kind, title) = ("q".to_owned(), "question".to_owned(), "Tabs or spaces?".to_owned());
        scene.says(AgentEvent::PermissionAsked { request, kind, title, subject: Subject::default() });
    };
    let mut scene = Scenario::new("seamless").start();
    asks(&mut scene);
    ends(&mut scene, "I asked how to indent.");
    let outcome = scene.outcome();
    assert_eq!((outcome.verdict, scene.exit_code()), (Verdict::NeedsInput, 3));
    assert!(outcome.reason.contains("Tabs or spaces?"), "{}", outcome.reason);
    assert!(outcome.advice.as_deref().unwrap_or_default().contains("--answer"), "{outcome:?}");
    scene.answered("Spaces");
    ends(&mut scene, "STATUS: done");
    assert_eq!(scene.outcome().verdict, Verdict::Unverified);

    // An agent that decides for itself has no question left.
    let mut scene = Scenario::new("seamless").start();
    asks(&mut scene);
    ends(&mut scene, "STATUS: done");
    assert_eq!(scene.outcome().verdict, Verdict::Unverified);
    // Gates decide.
    let mut scene = Scenario::new("seamless").gates(1).rounds(&[true]).start();
    asks(&mut scene);
    ends(&mut scene, "I asked how to indent.");
    assert_eq!(scene.outcome().verdict, Verdict::Verified);
}

#[test]
fn truth1_a_missing_status_line_is_asked_for_beside_the_conversation() {
    let ended = |reply: SideReply| {
        let mut scene = Scenario::new("seamless");
        (scene.can.side, scene.side_reply) = (true, reply);
        let mut scene = scene.start();
        ends(&mut scene, "I rewrote the parser.");
        scene
    };
    let in_band = |scene: &Scenario| scene.prompts().iter().filter(|p| **p == Prompt::AskStatus).count();

    let scene = ended(SideReply::Says("STATUS: done"));
    assert_eq!((scene.outcome().verdict, scene.count("side"), in_band(&scene)), (Verdict::Unverified, 1, 0));
    let shown = scene.view().last_message.clone().unwrap_or_default();
    assert!(shown.contains("I rewrote the parser.") && shown.ends_with("STATUS: done"), "{shown}");

    let scene = ended(SideReply::Says("STATUS: blocked – a key"));
    assert!(scene.outcome().reason.contains("a key"), "{}", scene.outcome().reason);
    let scene = ended(SideReply::Says("STATUS: not done – the docs"));
    assert_eq!(last_prompt(&scene), Some(Prompt::NotDone { left: "the docs".to_owned() }));

    let scene = ended(SideReply::Says("I am at step three."));
    assert_eq!((scene.outcome().verdict, scene.exit_code()), (Verdict::NeedsInput, 3));
    assert_eq!((scene.count("side"), in_band(&scene)), (1, 0), "asked once");

    let mut scene = ended(SideReply::Fails);
    assert_eq!((scene.is_over(), in_band(&scene)), (false, 1), "nobody answered beside it");
    ends(&mut scene, "I rewrote the parser.");
    assert_eq!(scene.outcome().verdict, Verdict::NeedsInput);
    assert_eq!((scene.count("side"), in_band(&scene)), (1, 1));
}

#[test]
fn truth1_a_side_question_for_a_status_line_never_holds_up_the_end() {
    let held = || {
        let mut scene = Scenario::new("seamless").hold("side");
        scene.can.side = true;
        let mut scene = scene.start();
        ends(&mut scene, "I rewrote the parser.");
        assert_eq!((scene.count("side"), scene.is_over()), (1, false));
        scene
    };
    let mut silent = held();
    silent.wait(31_000);
    assert_eq!(last_prompt(&silent), Some(Prompt::AskStatus));
    let mut stopped = held();
    stopped.stop(StopHow::Gently);
    assert_eq!(stopped.outcome().verdict, Verdict::Stopped);
    let mut gone = held();
    gone.crashes();
    assert_eq!(gone.outcome().verdict, Verdict::NeedsInput);
}
