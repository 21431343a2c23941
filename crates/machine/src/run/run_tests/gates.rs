//! Gates and permissions: what decides that the work is done, and what the agent may not do by itself.

use super::scenario::Scenario;
use crate::{
    AgentEvent, Effect, EndReason, Event, GateResult, GateWhen, HandoffKind, Limit, Prompt, Verdict,
};

#[test]
fn gates_run_before_the_work_and_after_it() {
    let mut scene = Scenario::new("seamless").gates(2).start();
    scene.finishes();
    let ran = scene
        .collect(|e| if let Effect::RunGates { when, round } = e { Some((*when, *round)) } else { None });
    assert_eq!(ran, [(GateWhen::Before, 0), (GateWhen::After, 1)]);
    assert_eq!((scene.outcome().verdict, scene.ended()), (Verdict::Verified, vec![EndReason::Finished]));
}

#[test]
fn red_gates_go_back_to_the_agent_with_what_they_said() {
    let mut scene = Scenario::new("seamless").gates(1).rounds(&[false, true]).start();
    scene.finishes();
    assert!(
        matches!(&scene.prompts()[1], Prompt::GatesFailed { round: 1, of: 5, failed } if failed.len() == 1)
    );
    scene.finishes();
    assert_eq!((scene.outcome().verdict, scene.started().len()), (Verdict::Verified, 1));
}

#[test]
fn after_5_red_rounds_the_run_has_failed() {
    let mut scene = Scenario::new("seamless").gates(1).rounds(&[false; 9]).start();
    for _ in 0..5 {
        assert!(!scene.is_over());
        scene.finishes();
    }
    assert_eq!((scene.outcome().verdict, scene.exit_code()), (Verdict::Failed, 1));
    assert_eq!((scene.limits(), scene.count("save")), (vec![Limit::GateRounds], 1));
}

#[test]
fn red_gates_above_the_line_go_to_a_fresh_session() {
    let mut scene = Scenario::new("seamless").gates(1).rounds(&[false]).hold("ask").start();
    scene.usage(50_000).usage(92_000).finishes().release();
    assert_eq!((scene.started().len(), scene.view().restarts), (2, 1));
    assert!(matches!(&scene.prompts()[1], Prompt::Continuation { failed, .. } if failed.len() == 1));
}

#[test]
fn red_gates_of_an_agent_that_takes_one_prompt_go_to_a_fresh_session() {
    let mut scene = Scenario::new("seamless").gates(1).rounds(&[false]);
    scene.can.follow_up = false;
    let mut scene = scene.start();
    scene.finishes();
    assert_eq!(scene.handoffs(), [(HandoffKind::Restart, Some("a".to_owned()))]);
    assert_eq!(scene.view().restarts, 0, "the window was not full");
}

#[test]
fn red_gates_after_the_agent_has_left_go_to_a_fresh_session() {
    let mut scene = Scenario::new("seamless").gates(1).rounds(&[false]).hold("gates").start();
    scene.release();
    let mut scene = scene.hold("gates");
    scene.finishes().crashes().release();
    assert_eq!((scene.ended(), scene.started().len()), (vec![EndReason::Finished], 2));
    assert!(matches!(&scene.prompts()[1], Prompt::Continuation { failed, .. } if failed.len() == 1));
}

#[test]
fn green_before_with_open_items_is_asked_once_more() {
    let mut scene = Scenario::new("seamless").gates(1).green_before().spec(|s| s.task.open_items = 3).start();
    scene.finishes();
    assert_eq!(scene.prompts()[1], Prompt::GreenBefore { open: 3 });
    scene.finishes();
    assert_eq!((scene.outcome().verdict, scene.count("prompt")), (Verdict::Verified, 2));
    assert!(scene.outcome().reason.contains("passed before and after"));
}

#[test]
fn green_before_with_every_item_closed_is_not_asked_again() {
    let mut scene = Scenario::new("seamless").gates(1).green_before().spec(|s| s.task.open_items = 3).start();
    scene.says(AgentEvent::ItemsSeen { open: 0, closed: 3, items: Vec::new() }).finishes();
    assert_eq!((scene.outcome().verdict, scene.count("prompt")), (Verdict::Verified, 1));
}

#[test]
fn a_manual_gate_needs_a_person() {
    for count in [1, 2] {
        let mut scene = Scenario::new("seamless").gates(count).spec(|s| s.gates[0].manual = true).start();
        scene.finishes();
        assert_eq!((scene.outcome().verdict, scene.exit_code()), (Verdict::NeedsInput, 3));
        assert_eq!(scene.view().gates.len(), count - 1, "a manual gate is never run");
    }
}

#[test]
fn without_a_gate_the_work_is_unverified_and_that_can_be_too_little() {
    for (require_verified, code) in [(false, 0), (true, 3)] {
        let mut scene = Scenario::new("seamless").spec(|s| s.require_verified = require_verified).start();
        scene.finishes();
        assert_eq!((scene.outcome().verdict, scene.exit_code()), (Verdict::Unverified, code));
    }
}

#[test]
fn news_of_a_turn_that_is_over_does_not_disturb_its_gates() {
    for held in ["gates", "save"] {
        let mut scene = Scenario::new("seamless").gates(1).start().hold(held);
        scene.finishes().overflows().wants("x").wants("x").wants("x").release();
        let expected = if held == "save" { Verdict::Verified } else { Verdict::NeedsInput };
        assert_eq!((scene.outcome().verdict, scene.started().len()), (expected, 1), "{held}");
    }
}

fn answers(scene: &Scenario) -> Vec<bool> {
    scene.collect(|e| if let Effect::AnswerPermission { allow, .. } = e { Some(*allow) } else { None })
}

#[test]
fn permissions_are_denied_and_three_of_one_kind_need_a_person() {
    let mut scene = Scenario::new("seamless").start();
    scene.wants("web").wants("shell").wants("web").wants("shell");
    assert_eq!((answers(&scene), scene.is_over()), (vec![false; 4], false));
    scene.wants("web");
    assert_eq!((scene.outcome().verdict, scene.exit_code()), (Verdict::NeedsInput, 3));
    assert!(scene.outcome().advice.unwrap().contains("allow=web"));
    assert_eq!((scene.limits(), scene.count("take")), (vec![Limit::Permissions], 1));
}

#[test]
fn permissions_on_the_list_are_given() {
    let mut scene = Scenario::new("seamless").spec(|s| s.agents[0].allow = vec!["web".to_owned()]).start();
    scene.wants("web").wants("web").wants("web").wants("shell");
    assert_eq!((answers(&scene), scene.is_over()), (vec![true, true, true, false], false));
    let mut scene = Scenario::new("seamless").spec(|s| s.agents[0].allow = vec!["*".to_owned()]).start();
    scene.wants("web").wants("shell").wants("anything");
    assert_eq!((answers(&scene), scene.warned("permission_denied")), (vec![true; 3], 0));
}

/// A round of gates on these files.
fn round(scene: &mut Scenario, tree: &str) {
    scene.finishes();
    scene.feed(Event::GatesBegan { when: GateWhen::After, tree: Some(tree.to_owned()) });
    let names: Vec<String> =
        scene.view().spec.iter().flat_map(|s| &s.gates).map(|g| g.name.clone()).collect();
    for gate in names {
        let (when, passed, exit, tail) = (GateWhen::After, false, Some(1), String::new());
        scene.feed(Event::GateFinished(GateResult {
            gate,
            when,
            passed,
            exit,
            ms: 1,
            output: None,
            tail,
            timed_out: false,
        }));
    }
}

#[test]
fn k6_failed_rounds_count_only_when_nothing_moved() {
    let mut scene = Scenario::new("auto").gates(1).spec(|spec| spec.limits.gate_rounds = 2).start();
    let mut scene = {
        scene.usage(20_000);
        scene.hold("gates")
    };
    for tree in ["a", "b", "c", "d", "e"] {
        round(&mut scene, tree);
        assert_eq!(scene.view().outcome, None, "{tree}: the work moves");
    }
    round(&mut scene, "e");
    assert_eq!(scene.view().outcome, None, "one round without progress of two");
    round(&mut scene, "d");
    let outcome = scene.view().outcome.clone().unwrap();
    assert_eq!(
        (outcome.verdict, outcome.limit),
        (Verdict::Failed, Some(Limit::GateRounds)),
        "undone edits are none"
    );
}

#[test]
fn k6_before_a_limit_ends_a_run_the_gates_are_asked() {
    for (passes, verdict) in [(true, Verdict::Verified), (false, Verdict::Stopped)] {
        let limited = |spec: &mut crate::RunSpec| spec.limits.tokens = Some(50_000);
        let mut scene = Scenario::new("auto").gates(1).rounds(&[passes]).spec(limited).start();
        scene.usage(30_000).usage(40_000);
        let outcome = scene.view().outcome.clone().unwrap();
        assert_eq!(outcome.verdict, verdict, "{outcome:?}");
        assert_eq!(scene.view().phase, crate::Phase::Finished);
    }
}
