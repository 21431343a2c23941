//! What becomes of a verdict when the agent's last words are not so, and what the run remembers.

use super::scenario::Scenario;
use crate::claims::{Change, Claim, ClaimKind, Finding, Judged};
use crate::{Effect, Prompt, Verdict};

fn said(finding: Finding) -> Vec<Judged> {
    let kind = ClaimKind::File { path: "src/ghost.rs".to_owned(), change: Change::Created };
    let claim = Claim { kind, text: "Created src/ghost.rs".to_owned(), section: None };
    vec![Judged { claim, finding, evidence: "git: no such file was created".to_owned() }]
}

fn corrections(scene: &Scenario) -> usize {
    let prompts = scene
        .effects
        .iter()
        .filter(|effect| matches!(effect, Effect::SendPrompt { prompt: Prompt::ClaimsWrong { .. }, .. }));
    prompts.count()
}

#[test]
fn a_last_word_that_is_not_so_goes_back_to_the_agent_and_a_true_one_ends_the_run() {
    let mut scene = Scenario::new("seamless").gates(1).start();
    scene.claims.extend([said(Finding::Contradicted), said(Finding::Confirmed)]);
    scene.finishes();
    assert_eq!((corrections(&scene), scene.warned("contradicted"), scene.is_over()), (1, 1, false));
    scene.finishes();
    assert_eq!((scene.outcome().verdict, corrections(&scene)), (Verdict::Verified, 1));
}

#[test]
fn v2_passing_gates_stand_against_words_unless_claims_are_strict_and_without_gates_the_words_fail() {
    for (gates, strict, verdict) in
        [(1, false, Verdict::Verified), (1, true, Verdict::Failed), (0, false, Verdict::Failed)]
    {
        let mut scene = Scenario::new("seamless").gates(gates);
        scene.spec.strict_claims = strict;
        let mut scene = scene.start();
        scene.claims.extend(std::iter::repeat_n(said(Finding::Contradicted), 9));
        while !scene.is_over() {
            scene.finishes();
        }
        assert_eq!((scene.outcome().verdict, corrections(&scene)), (verdict, 1), "{gates} gates, {strict}");
        assert!(scene.warned("contradicted") >= 1, "it is shown");
        let said = scene.outcome().reason.contains("src/ghost.rs");
        assert_eq!(said, verdict == Verdict::Failed, "{}", scene.outcome().reason);
    }
}

#[test]
fn an_agent_that_takes_no_second_prompt_fails_at_once_with_the_reason() {
    let mut scene = Scenario::new("seamless");
    scene.can.follow_up = false;
    let mut scene = scene.start();
    scene.claims.push_back(said(Finding::Contradicted));
    scene.finishes();
    assert_eq!((scene.outcome().verdict, corrections(&scene)), (Verdict::Failed, 0));
}

#[test]
fn v1_a_command_that_ends_without_a_statement_and_with_a_lie_is_no_success() {
    let mut scene = Scenario::new("seamless");
    scene.can.follow_up = false;
    let mut scene = scene.start();
    scene.claims.push_back(said(Finding::Contradicted));
    let end = crate::TurnEnd::Finished { text: "Created src/ghost.rs.".to_owned() };
    scene.says(crate::AgentEvent::TurnEnded(end));
    assert_eq!((scene.outcome().verdict, scene.warned("contradicted")), (Verdict::Failed, 1));
}

#[test]
fn nothing_is_held_against_words_that_nobody_can_check() {
    let mut scene = Scenario::new("seamless").gates(1).start();
    scene.claims.push_back(said(Finding::Unknown));
    scene.finishes();
    assert_eq!((scene.outcome().verdict, scene.warned("contradicted")), (Verdict::Verified, 0));
}

#[test]
fn what_a_checkpoint_says_is_remembered_and_what_is_not_so_is_told_and_left_out() {
    let mut scene = Scenario::new("seamless").start();
    let decision = Claim { kind: ClaimKind::Decision, text: "use SQLite".to_owned(), section: None };
    let decided = Judged { claim: decision, finding: Finding::Unknown, evidence: String::new() };
    scene.claims.push_back([said(Finding::Contradicted), vec![decided]].concat());
    scene.usage(50_000).usage(91_000);
    let ledger = scene.view().ledger.render(1_000).text;
    assert!(ledger.contains("use SQLite") && !ledger.contains("ghost"), "{ledger}");
    assert_eq!(scene.warned("contradicted"), 1);
}

#[test]
fn a_gate_that_is_run_for_the_last_words_and_is_red_takes_the_verdict_back() {
    let mut scene = Scenario::new("seamless").gates(1).hold("judge").start();
    scene.finishes();
    let (gate, when, exit, tail) = ("g1".to_owned(), crate::GateWhen::Checkpoint, Some(1), String::new());
    let result =
        crate::GateResult { gate, when, passed: false, exit, ms: 1, output: None, tail, timed_out: false };
    scene.feed(crate::Event::GateFinished(result)).release();
    let failed = |e: &&Effect| matches!(e, Effect::SendPrompt { prompt: Prompt::GatesFailed { .. }, .. });
    assert_eq!((scene.is_over(), scene.effects.iter().filter(failed).count()), (false, 1));
    scene.finishes();
    assert_eq!(scene.outcome().verdict, Verdict::Verified);
}

#[test]
fn truth4_facts_that_cannot_be_collected_are_said_beside_the_verdict() {
    let mut scene = Scenario::new("seamless").gates(1).start();
    scene.trouble = Some("git add had not finished".to_owned());
    scene.finishes();
    let reason = &scene.outcome().reason;
    assert!(reason.contains("were not checked: git add had not finished"), "{reason}");
    assert_eq!((scene.outcome().verdict, scene.warned("not_checked")), (Verdict::Verified, 1));
}
