//! Resume: what was in flight is booked as lost, and the run goes on from the last durable fact.

use super::scenario::{Birth, START, Scenario};
use crate::CheckpointBy::Segue;
use crate::{
    AgentEvent, Depth, Effect, EndReason, Limit, Phase, Prompt, SessionReason, StopHow, Timer, Verdict,
};

const RESUMED: (Depth, crate::CheckpointBy) = (Depth::Full, Segue);

fn conversations(scene: &Scenario) -> Vec<(String, Option<String>)> {
    scene.collect(|e| {
        if let Effect::StartSession { agent, conversation, .. } = e {
            Some((agent.clone(), conversation.clone()))
        } else {
            None
        }
    })
}

#[test]
fn e2_a_session_at_work_is_booked_as_lost_and_a_checkpoint_is_taken_first() {
    let mut scene = Scenario::new("seamless").gates(1).start();
    scene.usage(40_000).killed_and_resumed();
    assert_eq!((scene.ended(), scene.taken()), (vec![EndReason::Lost], vec![RESUMED]));
    assert_eq!(scene.started()[1].1, SessionReason::Resume);
    scene.finishes();
    assert_eq!(scene.exit_code(), 0);
}

#[test]
fn e2_a_run_killed_at_any_effect_goes_on_and_ends_well() {
    for held in ["start", "prompt", "ask", "take", "end", "gates", "save"] {
        let mut scene = Scenario::new("seamless").gates(1).hold(held).start();
        scene.usage(40_000).usage(91_000).finishes();
        scene.killed_and_resumed();
        if !scene.is_over() {
            scene.usage(30_000).finishes();
        }
        assert_eq!((scene.outcome().verdict, scene.exit_code()), (Verdict::Verified, 0), "{held}");
    }
}

#[test]
fn e2_killed_before_the_first_session_the_gates_run_again() {
    let mut scene = Scenario::new("seamless").gates(1).hold("gates").start();
    scene.killed_and_resumed();
    assert_eq!((scene.count("gates"), scene.started()[0].1), (2, SessionReason::First));
}

#[test]
fn e2_killed_while_gating_the_gates_run_again_and_no_session_starts() {
    let mut scene = Scenario::new("seamless").gates(1).start().hold("gates");
    scene.finishes();
    assert_eq!(scene.view().phase, Phase::Gating);
    scene.killed_and_resumed();
    assert_eq!((scene.outcome().verdict, scene.started().len()), (Verdict::Verified, 1));
    assert_eq!((scene.ended(), scene.view().round), (vec![EndReason::Lost], 1));
}

#[test]
fn e2_killed_while_gating_with_red_gates_a_fresh_session_is_told_of_them() {
    let mut scene = Scenario::new("seamless").gates(1).rounds(&[false]).start().hold("gates");
    scene.finishes().killed_and_resumed_with(None, true);
    assert!(matches!(&scene.prompts()[1], Prompt::Continuation { failed, .. } if failed.len() == 1));
    assert_eq!(conversations(&scene)[1].1, None);
}

#[test]
fn e2_killed_while_gating_and_resumed_without_gates_does_not_hang() {
    let mut scene = Scenario::new("seamless").gates(1).start().hold("gates");
    let spec = crate::RunSpec { gates: Vec::new(), ..scene.spec.clone() };
    scene.finishes().killed_and_resumed_with(Some(spec), false);
    assert_eq!(scene.outcome().verdict, Verdict::Unverified);
}

#[test]
fn e2_killed_while_saving_the_work_is_saved_again() {
    let mut scene = Scenario::new("seamless").gates(1).hold("save").start();
    scene.finishes().killed_and_resumed();
    assert_eq!((scene.count("save"), scene.started().len(), scene.exit_code()), (2, 1, 0));
}

#[test]
fn e2_killed_after_the_work_was_saved_nothing_is_done_twice() {
    let mut scene = Scenario::new("seamless").gates(1).hold("end").start();
    scene.finishes().killed_and_resumed();
    assert_eq!((scene.outcome().verdict, scene.started().len()), (Verdict::Verified, 1));
    assert_eq!(scene.count("take"), 0);
}

#[test]
fn a_verified_or_unverified_run_has_nothing_to_resume() {
    for gates in [0, 1] {
        let mut scene = Scenario::new("seamless").gates(gates).start();
        scene.finishes();
        let done = scene.effects.len();
        scene.killed_and_resumed();
        assert_eq!((scene.effects.len(), scene.is_over()), (done, true));
    }
}

#[test]
fn a_stopped_run_goes_on_from_its_checkpoint_without_taking_another() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(40_000).stop(StopHow::Gently).killed_and_resumed();
    assert_eq!((scene.taken().len(), scene.started()[1].1), (1, SessionReason::Resume));
    assert!(matches!(&scene.prompts()[1], Prompt::Continuation { checkpoint: Some(_), .. }));
    scene.finishes();
    assert_eq!(scene.count("finish"), 2);
}

#[test]
fn a_run_stopped_by_a_limit_begins_that_limit_anew() {
    let mut scene = Scenario::new("seamless").spec(|s| s.limits.max_restarts = Some(1)).start();
    scene.usage(91_000).usage(91_000);
    assert_eq!(scene.exit_code(), 4);
    scene.killed_and_resumed().usage(91_000);
    assert_eq!((scene.view().restarts, scene.is_over()), (1, false));
}

#[test]
fn t8_a_resume_after_the_deadline_starts_no_session_until_it_is_raised() {
    let mut scene = Scenario::new("seamless").spec(|s| s.limits.deadline_ms = Some(60_000)).start();
    scene.usage(40_000).wait(60_000);
    assert_eq!(scene.exit_code(), 4);
    scene.killed_and_resumed();
    assert_eq!((scene.started().len(), scene.outcome().limit), (1, Some(Limit::Deadline)));
    let mut spec = scene.spec.clone();
    spec.limits.deadline_ms = Some(120_000);
    scene.killed_and_resumed_with(Some(spec), false);
    assert_eq!((scene.started().len(), scene.is_over()), (2, false));
}

#[test]
fn the_old_conversation_is_taken_up_only_when_asked_for() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(40_000).killed_and_resumed();
    assert_eq!(conversations(&scene)[1], ("a".to_owned(), None));
    scene.usage(40_000).killed_and_resumed_with(None, true);
    assert_eq!(conversations(&scene)[2], ("a".to_owned(), Some("conversation-2".to_owned())));
}

#[test]
fn h1_a_conversation_of_one_agent_is_never_given_to_another() {
    let mut scene = Scenario::new("seamless").fallback("b").births(&[Birth::Ready, Birth::NotFound]).start();
    scene.usage(40_000).killed_and_resumed_with(None, true);
    assert_eq!(conversations(&scene)[2], ("b".to_owned(), None));

    let mut scene = Scenario::new("seamless").fallback("b").start();
    let mut spec = scene.spec.clone();
    spec.agents.reverse();
    scene.usage(40_000).killed_and_resumed_with(Some(spec), true);
    assert_eq!(conversations(&scene)[1], ("b".to_owned(), None));
}

#[test]
fn a_fallback_that_was_chosen_and_then_removed_is_not_waited_for() {
    let mut scene = Scenario::new("staged").fallback("b").start();
    scene.usage(50_000).usage(95_500);
    let mut spec = scene.spec.clone();
    spec.agents.pop();
    scene.killed_and_resumed_with(Some(spec), false).crashes();
    assert_eq!(scene.started().last().unwrap(), &("a".to_owned(), SessionReason::Restart));
}

#[test]
fn a_run_killed_while_a_limit_ended_it_begins_that_limit_anew_too() {
    let mut scene = Scenario::new("seamless").trees(&["base"; 9]).start();
    scene.usage(91_000).usage(91_000);
    let mut scene = scene.hold("end");
    scene.usage(91_000);
    assert_eq!((scene.limits(), scene.is_over()), (vec![Limit::NoProgress], false));
    scene.killed_and_resumed().usage(91_000);
    assert_eq!((scene.view().without_progress, scene.is_over()), (1, false));
}

#[test]
fn a_red_gate_that_was_taken_out_of_the_spec_is_forgotten() {
    let mut scene = Scenario::new("seamless").gates(2).rounds(&[false]).start();
    scene.finishes();
    scene.spec.gates.pop();
    let spec = Some(scene.spec.clone());
    scene.killed_and_resumed_with(spec, false).finishes();
    assert_eq!((scene.outcome().verdict, scene.view().gates.len()), (Verdict::Verified, 1));
}

#[test]
fn a_run_stopped_before_its_first_session_runs_the_gates_before_it_after_all() {
    let mut scene = Scenario::new("seamless").gates(1).green_before().hold("gates").start();
    scene.stop(StopHow::Gently).killed_and_resumed();
    assert_eq!((scene.count("gates"), scene.started()[0].1), (2, SessionReason::First));
    scene.finishes();
    assert!(scene.outcome().reason.contains("passed before and after"));
}

#[test]
fn a_resumed_run_is_open_again_and_has_its_deadline() {
    let mut scene = Scenario::new("seamless").spec(|s| s.limits.deadline_ms = Some(60_000)).start();
    scene.stop(StopHow::Gently).killed_and_resumed();
    assert_eq!((scene.view().outcome.clone(), scene.view().finished_at), (None, None));
    assert_eq!(scene.timer(Timer::Deadline), Some(START + 60_000));
}

#[test]
fn what_a_person_was_told_before_the_resume_does_not_count_after_it() {
    let mut scene = Scenario::new("seamless").gates(1).rounds(&[false; 6]).start();
    for _ in 0..5 {
        scene.finishes();
    }
    assert_eq!((scene.exit_code(), scene.view().round), (1, 5));
    scene.killed_and_resumed().wants("web").wants("web").stop(StopHow::Gently).killed_and_resumed();
    assert_eq!((scene.view().round, scene.is_over()), (0, false));
    scene.wants("web").wants("web");
    assert!(!scene.is_over());
    let asked = scene.count("ask");
    scene.stop(StopHow::Gently);
    assert_eq!((scene.count("ask"), scene.exit_code()), (asked + 1, 130));
}

#[test]
fn a_request_that_died_with_segue_is_forgotten() {
    for held in ["ask", "take"] {
        let mut scene = Scenario::new("seamless").hold(held).start();
        scene.usage(40_000).usage(91_000).killed_and_resumed();
        assert_eq!(scene.started().len(), 2, "{held}");
        scene.usage(40_000).usage(91_000);
        assert_eq!(scene.started().len(), 3, "{held}");
    }
}

#[test]
fn a_checkpoint_is_stale_as_soon_as_the_next_session_has_its_prompt() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(40_000).stop(StopHow::Gently).killed_and_resumed();
    assert_eq!(scene.count("take"), 1);
    scene.killed_and_resumed();
    assert_eq!(scene.count("take"), 2);
}

#[test]
fn a_run_that_stopped_as_futile_is_tried_again_with_the_whole_checkpoint() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(91_000).reads(92_000).reads(92_000).reads(92_000);
    assert_eq!(scene.limits(), [Limit::Futile]);
    scene.killed_and_resumed();
    assert!(matches!(scene.prompts().last(), Some(Prompt::Continuation { trim: 0, .. })));
}

#[test]
fn an_agent_at_work_that_was_taken_out_of_the_spec_is_replaced() {
    let mut scene = Scenario::new("seamless").fallback("b").births(&[Birth::NotFound]).start();
    assert_eq!(scene.started()[1].0, "b");
    let mut spec = scene.spec.clone();
    spec.agents.pop();
    scene.killed_and_resumed_with(Some(spec), true);
    assert_eq!(conversations(&scene)[2], ("a".to_owned(), None));
}

#[test]
fn an_agent_that_took_up_its_conversation_goes_on_and_one_that_could_not_gets_the_checkpoint() {
    for (conversation, goes_on) in [("conversation-1", true), ("another", false)] {
        let mut scene = Scenario::new("seamless").births(&[Birth::Ready, Birth::Silent]).start();
        scene.usage(40_000).killed_and_resumed_with(None, true);
        let (conversation, model, window, ceiling) = (conversation.to_owned(), None, None, None);
        let can = scene.can;
        scene.says(AgentEvent::Ready { conversation, model, window, ceiling, can });
        assert_eq!(matches!(scene.prompts().last(), Some(Prompt::Continue { .. })), goes_on);
    }
}

fn continuations(scene: &Scenario) -> Vec<Option<String>> {
    scene.collect(|e| {
        if let Effect::SendPrompt { prompt: Prompt::Continuation { checkpoint, .. }, .. } = e {
            Some(checkpoint.clone())
        } else {
            None
        }
    })
}

#[test]
fn a_person_can_go_back_to_an_older_checkpoint_whatever_was_in_flight() {
    for held in ["nothing", "start", "prompt", "ask", "take", "end", "gates", "save"] {
        let mut scene = Scenario::new("seamless").gates(1).start();
        scene.usage(40_000).usage(91_000);
        let mut scene = scene.hold(held);
        scene.usage(40_000).usage(91_000);
        if held == "gates" || held == "save" {
            scene.finishes();
        }
        let taken = scene.taken().len();
        scene.killed_and_resumed_at("c-old");
        assert_eq!(continuations(&scene).last(), Some(&Some("c-old".to_owned())), "{held}");
        assert_eq!(scene.taken().len(), taken, "{held}: nothing takes the place of the one that was chosen");
        scene.usage(30_000).finishes();
        assert_eq!((scene.outcome().verdict, scene.exit_code()), (Verdict::Verified, 0), "{held}");
    }
}

#[test]
fn a_run_that_begins_from_a_checkpoint_is_given_it_with_the_task() {
    let mut scene = Scenario::new("seamless").gates(1);
    let by = crate::CheckpointBy::Agent;
    scene.spec.from = Some(crate::CheckpointRef {
        id: "c-far".to_owned(),
        path: String::new(),
        session: 0,
        by,
        ledger: None,
    });
    let mut scene = scene.start();
    assert_eq!(continuations(&scene), [Some("c-far".to_owned())]);
    assert_eq!(scene.started()[0].1, SessionReason::First);
    scene.usage(30_000).finishes();
    assert_eq!(scene.exit_code(), 0);
}
