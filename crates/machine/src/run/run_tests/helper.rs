//! A second opinion before a run is called done: when it is asked for, what it may do, and what becomes of it.

use super::scenario::{Birth, Scenario};
use crate::claims::{Claim, ClaimKind, Finding, Judged};
use crate::{
    AgentEvent, AgentFailure, AgentSpec, Choice, Circuit, Effect, EndReason, HandoffKind, Prompt,
    SessionReason, StopHow, TurnEnd, Verdict,
};

fn helped(gates: usize) -> Scenario {
    let verifier = |name: &str| AgentSpec {
        account: None,
        edits: false,
        name: name.to_owned(),
        model: None,
        window: Some(50_000),
        budget: None,
        allow: vec!["*".to_owned()],
    };
    Scenario::new("seamless").gates(gates).spec(|s| s.next.verifiers = vec![verifier("v"), verifier("w")])
}

fn says(scene: &mut Scenario, text: &str) {
    scene.says(AgentEvent::TurnEnded(TurnEnd::Finished { text: text.to_owned() }));
}

fn sessions(scene: &Scenario) -> Vec<(String, SessionReason)> {
    scene.started()
}

fn missing(scene: &Scenario) -> Option<String> {
    match scene.prompts().pop() {
        Some(Prompt::Continuation { missing, .. }) => missing,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_second_opinion_is_asked_for_after_green_gates_and_its_agreement_changes_no_verdict() {
    let mut scene = helped(1).start();
    scene.usage(40_000).finishes();
    assert_eq!(sessions(&scene)[1], ("v".to_owned(), SessionReason::Helper));
    assert_eq!(scene.handoffs(), [(HandoffKind::Helper, Some("v".to_owned()))]);
    assert_eq!((scene.prompts().pop(), scene.ended()), (Some(Prompt::Verify), vec![EndReason::Finished]));
    says(&mut scene, "VERDICT: done");
    let outcome = scene.outcome();
    assert_eq!((outcome.verdict, scene.exit_code()), (Verdict::Verified, 0));
    assert!(outcome.reason.contains("v agrees"), "{}", outcome.reason);
}

#[test]
fn without_a_gate_an_agreeing_second_opinion_is_still_only_a_claim() {
    let mut scene = helped(0).start();
    scene.finishes();
    says(&mut scene, "All is there.\nVERDICT: done");
    assert_eq!(scene.outcome().verdict, Verdict::Unverified);
    let mut strict = helped(0).spec(|s| s.require_verified = true).start();
    strict.finishes();
    says(&mut strict, "VERDICT: done");
    assert_eq!(strict.exit_code(), 3);
}

#[test]
fn not_done_goes_back_to_the_working_agent_with_what_is_missing() {
    let mut scene = helped(1).start();
    scene.usage(40_000).finishes();
    says(&mut scene, "VERDICT: not done: part 3 is empty");
    let to = sessions(&scene);
    assert_eq!(to[2], ("a".to_owned(), SessionReason::Restart));
    assert_eq!(missing(&scene).as_deref(), Some("part 3 is empty"));
    scene.usage(40_000).finishes();
    says(&mut scene, "VERDICT: done");
    assert_eq!((scene.outcome().verdict, sessions(&scene).len()), (Verdict::Verified, 4));
}

#[test]
fn not_done_goes_back_as_often_as_failed_gates_may_and_then_a_person_decides() {
    let mut scene = helped(0).spec(|s| s.limits.gate_rounds = 2).start();
    for n in 0..3 {
        scene.usage(40_000).finishes();
        says(&mut scene, &format!("VERDICT: not done: {}", ["a", "b", "c"][n]));
    }
    assert_eq!((scene.outcome().verdict, scene.exit_code()), (Verdict::NeedsInput, 3));
    assert!(scene.outcome().reason.contains("not done: c"), "{}", scene.outcome().reason);
    let mut gated = helped(1).spec(|s| s.limits.gate_rounds = 1).start();
    for _ in 0..2 {
        gated.usage(40_000).finishes();
        says(&mut gated, "VERDICT: not done: x");
    }
    assert_eq!((gated.outcome().verdict, gated.warned("not_done")), (Verdict::Verified, 2), "gates decide");
}

#[test]
fn a_helper_may_not_write_and_its_requests_end_no_run() {
    let mut scene = helped(0).start();
    scene.finishes();
    for _ in 0..5 {
        scene.wants("edit");
    }
    let answers =
        scene.collect(|e| if let Effect::AnswerPermission { allow, .. } = e { Some(*allow) } else { None });
    assert_eq!((answers, scene.limits(), scene.warned("helper_denied")), (vec![false; 5], vec![], 1));
    says(&mut scene, "VERDICT: done");
    assert_eq!(scene.exit_code(), 0);
}

#[test]
fn files_that_changed_while_it_looked_are_told_its_words_discarded_and_the_gates_run_again() {
    let mut scene = helped(1).trees(&["before"]).start();
    scene.trees_seen.extend(["", "after"]);
    scene.usage(40_000).finishes();
    says(&mut scene, "VERDICT: not done: x");
    assert_eq!((scene.warned("helper_changed_files"), scene.warned("not_done")), (1, 0));
    assert_eq!((scene.count("gates"), scene.outcome().verdict), (3, Verdict::Verified));
    assert_eq!(sessions(&scene).len(), 2, "the helper is not called again");
}

#[test]
fn words_of_a_helper_that_evidence_contradicts_do_not_count() {
    let mut scene = helped(0).start();
    let claim = Claim { kind: ClaimKind::Done, text: "tests fail".into(), section: None };
    let wrong = Judged { claim, finding: Finding::Contradicted, evidence: "they do not".into() };
    scene.claims.extend([vec![], vec![], vec![wrong]]);
    scene.finishes();
    says(&mut scene, "Tests fail.\nVERDICT: not done: tests");
    assert_eq!((scene.warned("opinion_discarded"), scene.outcome().verdict), (1, Verdict::Unverified));
}

#[test]
fn a_helper_that_fails_is_silent_or_says_nothing_clear_leaves_the_verdict_as_it_is() {
    let mut scene = helped(1).start();
    scene.finishes().crashes();
    assert_eq!((scene.outcome().verdict, scene.warned("no_opinion")), (Verdict::Verified, 1));
    let mut scene = helped(1).start();
    scene.finishes().wait(299_000);
    assert!(!scene.is_over());
    scene.wait(2_000);
    assert_eq!((scene.outcome().verdict, scene.warned("no_opinion")), (Verdict::Verified, 1));
    let mut scene = helped(1).start();
    scene.finishes();
    says(&mut scene, "I looked at it.");
    assert_eq!((scene.outcome().verdict, scene.warned("no_opinion")), (Verdict::Verified, 1));
    let mut scene = helped(1).start();
    scene.finishes().reads(49_000).usage(49_500);
    for _ in 0..6 {
        scene.usage(49_500);
    }
    assert_eq!(
        (scene.outcome().verdict, scene.warned("no_opinion")),
        (Verdict::Verified, 1),
        "too much spent"
    );
}

#[test]
fn a_helper_that_cannot_be_started_gives_way_to_the_next_and_then_to_none() {
    let mut scene = helped(0).births(&[Birth::Ready, Birth::NotFound]).start();
    scene.finishes();
    assert_eq!(sessions(&scene)[2], ("w".to_owned(), SessionReason::Helper));
    says(&mut scene, "VERDICT: done");
    assert_eq!(scene.exit_code(), 0);
    let mut scene = helped(0).births(&[Birth::Ready, Birth::NotFound, Birth::ExitsFirst]).start();
    scene.finishes();
    assert_eq!((scene.outcome().verdict, scene.warned("no_opinion")), (Verdict::Unverified, 2));
}

#[test]
fn a_stop_while_a_helper_looks_is_a_stop_and_a_resume_asks_again() {
    for held in ["", "take", "end", "judge"] {
        let mut scene = helped(1).hold(held).start();
        scene.finishes();
        if held.is_empty() || held == "judge" {
            scene.usage(20_000);
        }
        scene.stop(StopHow::Gently).release();
        assert!(scene.is_over(), "{held}");
        assert!([0, 130].contains(&scene.exit_code()), "{held}: {}", scene.exit_code());
    }
    let mut scene = helped(1).start();
    scene.finishes().killed_and_resumed();
    assert_eq!(sessions(&scene).last(), Some(&("v".to_owned(), SessionReason::Helper)));
    says(&mut scene, "VERDICT: done");
    assert_eq!(scene.exit_code(), 0);
}

#[test]
fn h1_the_conversation_of_a_helper_is_never_taken_up_for_work() {
    let mut scene = helped(0).spec(|s| s.next.verifiers[0].name = "a".to_owned()).start();
    scene.finishes();
    says(&mut scene, "VERDICT: not done: x");
    scene.killed_and_resumed_with(None, true);
    let given = scene.collect(|e| {
        if let Effect::StartSession { conversation, .. } = e { conversation.clone() } else { None }
    });
    assert_eq!(given, ["conversation-3"]);
}

#[test]
fn truth11_a_helper_whose_circuit_is_open_is_passed_over_and_that_is_in_the_decision() {
    let open = |agent: &str| Circuit {
        account: agent.to_owned(),
        agent: Some(agent.to_owned()),
        failure: AgentFailure::RateLimited,
        failures: 1,
        until: Some(u64::MAX),
        said: String::new(),
    };
    let mut scene = helped(1).spec(|s| s.circuits = vec![open("v")]).start();
    scene.finishes();
    assert_eq!(scene.handoffs(), [(HandoffKind::Helper, Some("w".to_owned()))]);
    assert_eq!(sessions(&scene)[1], ("w".to_owned(), SessionReason::Helper));
    let looked: Vec<_> = scene.considered().into_iter().map(|(name, verdict, _)| (name, verdict)).collect();
    assert_eq!(looked, [("v".to_owned(), Choice::Skipped), ("w".to_owned(), Choice::Chosen)]);
    let mut scene = helped(1).spec(|s| s.circuits = vec![open("v"), open("w")]).start();
    scene.finishes();
    assert_eq!((sessions(&scene).len(), scene.handoffs().len(), scene.warned("no_opinion")), (1, 0, 1));
    assert_eq!(scene.outcome().verdict, Verdict::Verified);
}
