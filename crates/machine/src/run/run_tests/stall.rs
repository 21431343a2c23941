//! Signs of life: what is told apart, what is told, and what is ended.

use super::scenario::{Birth, Scenario};
use crate::CheckpointBy::Segue;
use crate::{
    AgentEvent, AgentFailure, Depth, Effect, EndReason, Event, HandoffKind, Limit, Notice, SessionReason,
};

const MINUTE: u64 = 60_000;

fn scene() -> Scenario {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(40_000);
    scene
}

fn retry(attempt: u32, failure: AgentFailure) -> AgentEvent {
    let why = "the provider is busy".to_owned();
    AgentEvent::Retrying { attempt, of: Some(10), why, failure, delay_ms: Some(60_000), next_at: None }
}

fn told(scene: &Scenario, code: &str) -> Vec<String> {
    let text = |effect: &Effect| {
        let Effect::Announce(Notice::Warned { code: c, text }) = effect else { return None };
        (c == code).then(|| text.clone())
    };
    scene.effects.iter().filter_map(text).collect()
}

#[test]
fn a_dead_stream_is_told_at_half_its_limit_and_replaced_with_segues_checkpoint_at_the_whole() {
    let mut scene = scene();
    scene.uses_cpu(0).wait(6 * MINUTE);
    assert_eq!(told(&scene, "silent"), ["silent for 5 m: no bytes, no CPU; its session is ended at 10 m"]);
    assert_eq!(scene.limits(), []);
    scene.wait(4 * MINUTE);
    assert_eq!((scene.limits(), scene.ended()), (vec![Limit::Stall], vec![EndReason::Stalled]));
    assert_eq!(scene.taken(), [(Depth::Emergency, Segue)]);
    assert_eq!(scene.started()[1], ("a".to_owned(), SessionReason::Restart));
}

#[test]
fn an_agent_that_thinks_with_a_busy_process_is_given_longer_and_not_for_ever() {
    let mut scene = scene();
    scene.uses_cpu(200).wait(29 * MINUTE);
    assert_eq!(
        (scene.limits(), told(&scene, "silent").len(), told(&scene, "thinking_long").len()),
        (vec![], 0, 1)
    );
    scene.wait(MINUTE);
    assert_eq!((scene.limits(), scene.ended()), (vec![Limit::Stall], vec![EndReason::Stalled]));
}

#[test]
fn thinking_that_turns_into_silence_is_ended_from_the_last_sign_of_life_on() {
    let mut scene = scene();
    scene.uses_cpu(200).wait(15 * MINUTE).uses_cpu(0).wait(9 * MINUTE);
    assert_eq!(scene.limits(), []);
    scene.wait(2 * MINUTE);
    assert_eq!(scene.limits(), [Limit::Stall]);
}

#[test]
fn a_tool_without_any_sign_of_life_is_dead_and_a_busy_one_is_not() {
    let mut dead = scene();
    dead.uses_cpu(0).tool_begins("build").wait(29 * MINUTE);
    assert_eq!((dead.limits(), told(&dead, "tool_silent").len()), (vec![], 1));
    dead.wait(MINUTE);
    assert_eq!((dead.limits(), dead.ended()), (vec![Limit::Stall], vec![EndReason::Stalled]));
    let mut busy = scene();
    busy.uses_cpu(900).tool_begins("build").wait(120 * MINUTE);
    assert_eq!((busy.limits(), told(&busy, "tool_long").len()), (vec![], 1));
    assert_eq!(told(&busy, "tool_long")[0], "running `works` for 30 m, busy (0.9 cores)");
    busy.wait(120 * MINUTE);
    assert_eq!((busy.limits(), busy.ended()), (vec![Limit::Stall], vec![EndReason::Stalled]));
}

#[test]
fn a_server_in_the_background_of_an_agent_that_works_on_is_no_long_tool() {
    let mut scene = scene();
    scene.uses_cpu(300).tool_begins("server");
    for _ in 0..300 {
        scene.wait(MINUTE).says(AgentEvent::TextSaid { chars: 3 });
    }
    assert_eq!((scene.limits(), told(&scene, "tool_long").len(), scene.started().len()), (vec![], 0, 1));
}

#[test]
fn where_cpu_time_is_unknown_a_silent_tool_is_given_twice_the_time() {
    let mut scene = scene();
    scene.tool_begins("build").wait(59 * MINUTE);
    assert_eq!(scene.limits(), []);
    scene.wait(MINUTE);
    assert_eq!(scene.limits(), [Limit::Stall]);
}

#[test]
fn retries_are_life_up_to_their_own_limit_and_then_the_failure_that_they_are_about() {
    let mut scene = scene();
    scene.uses_cpu(0);
    for attempt in 1..=14 {
        scene.says(retry(attempt, AgentFailure::Overloaded)).wait(MINUTE);
    }
    assert_eq!((scene.limits(), told(&scene, "silent").len()), (vec![], 0));
    assert_eq!(told(&scene, "retrying").len(), 4, "1, 2, 4 and 8");
    assert_eq!(told(&scene, "retrying")[2], "retrying: attempt 4 of 10, overloaded");
    scene.wait(2 * MINUTE);
    assert_eq!((scene.limits(), scene.ended()), (vec![Limit::Stall], vec![EndReason::Failed]));
    assert!(told(&scene, "agent_failed")[0].contains("the provider is busy"));
}

#[test]
fn retries_that_no_waiting_mends_hand_over_to_another_agent() {
    let mut scene = Scenario::new("seamless").fallback("b").start();
    scene.usage(40_000).says(retry(1, AgentFailure::Unauthorised)).wait(16 * MINUTE);
    assert_eq!(scene.handoffs(), [(HandoffKind::Fallback, Some("b".to_owned()))]);
}

#[test]
fn a_retry_that_came_through_leaves_no_trace() {
    let mut scene = scene();
    scene.says(retry(1, AgentFailure::Overloaded)).wait(MINUTE).usage(41_000);
    for _ in 0..20 {
        scene.wait(MINUTE).says(AgentEvent::TextSaid { chars: 3 });
    }
    assert_eq!((scene.limits(), scene.started().len()), (vec![], 1));
}

#[test]
fn an_agent_that_does_not_go_on_without_a_permission_is_told_and_ended() {
    let mut scene = scene();
    scene.uses_cpu(0).wants("execute").wait(6 * MINUTE);
    assert_eq!(told(&scene, "permission_wait").len(), 1);
    scene.wait(4 * MINUTE);
    assert_eq!((scene.limits(), scene.ended()), (vec![Limit::Stall], vec![EndReason::Stalled]));
}

#[test]
fn a_process_that_is_gone_without_a_word_is_noticed_at_the_next_looks() {
    let mut scene = scene();
    scene.uses_cpu(0).tool_begins("build").vanishes().wait(2 * MINUTE);
    assert_eq!(told(&scene, "agent_failed")[0], "the agent's process has ended");
    assert_eq!((scene.ended()[0], scene.started().len() > 1), (EndReason::Failed, true));
}

#[test]
fn an_agent_that_is_busy_starting_is_given_longer() {
    let mut scene = Scenario::new("seamless").births(&[Birth::Silent]).start();
    scene.uses_cpu(500).wait(29 * MINUTE);
    assert_eq!(scene.limits(), []);
    scene.wait(MINUTE);
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::Stall], 1));
}

#[test]
fn looks_are_rare_and_the_same_whatever_happens() {
    let mut scene = scene();
    let before = scene.effects.len();
    scene.uses_cpu(900).tool_begins("build").wait(20 * MINUTE);
    assert_eq!(scene.effects.len() - before, 40, "one every 30 s, and nothing else");
}

#[test]
fn t8_repetition_alone_is_never_stuck() {
    let mut scene = Scenario::new("seamless").start();
    for _ in 0..500 {
        scene.tool(10).says(AgentEvent::TextSaid { chars: 20 }).wait(MINUTE);
    }
    assert_eq!((scene.limits(), scene.started().len(), scene.is_over()), (vec![], 1, false));
}

#[test]
fn t8_a_stubborn_agent_that_edits_reverts_and_claims_is_stopped() {
    let mut scene = Scenario::new("seamless")
        .trees(&["x", "base", "x", "base", "x", "base", "x", "base", "x", "base"])
        .start();
    for closed in 1..=9 {
        if scene.is_over() {
            break;
        }
        scene.says(AgentEvent::ItemsSeen { open: 9, closed, items: Vec::new() });
        scene.usage(40_000).usage(91_000);
    }
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::NoProgress], 4));
    assert_eq!(
        scene.view().handoffs,
        6,
        "one new tree, three on its word, two on nothing; the third is not made"
    );
}

#[test]
fn a_look_at_a_session_that_is_over_changes_nothing() {
    let mut scene = scene();
    scene.finishes();
    let view = scene.view().clone();
    let timer = crate::Timer::Idle;
    scene.feed(Event::TimerFired { timer, quiet_ms: u64::MAX, activity: None });
    assert_eq!(&view, scene.view());
}
