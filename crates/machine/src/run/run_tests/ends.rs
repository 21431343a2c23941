//! Ends: a person, silence, a crash, an agent that never starts, and spending.

use super::scenario::{Birth, Reply, Scenario};
use crate::CheckpointBy::{Agent, Segue};
use crate::{
    AgentEvent, AgentFailure, Depth, EndHow, EndReason, Event, HandoffKind, Limit, Reading, SessionReason,
    StopHow, Subject, TurnEnd, Verdict,
};

const MINUTE: u64 = 60_000;

fn fails(failure: AgentFailure) -> AgentEvent {
    AgentEvent::TurnEnded(TurnEnd::failed(failure, "it said no"))
}

#[test]
fn a_gentle_stop_takes_a_checkpoint_and_is_resumable() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(40_000).stop(StopHow::Gently);
    assert_eq!((scene.taken(), scene.ends()), (vec![(Depth::Full, Agent)], vec![EndHow::Gently]));
    let outcome = scene.outcome();
    assert_eq!((outcome.verdict, outcome.interrupted, outcome.resumable()), (Verdict::Stopped, true, true));
    assert_eq!(scene.exit_code(), 130);
}

#[test]
fn a_second_stop_is_at_once() {
    let mut scene = Scenario::new("seamless").reply(Reply::Silent).start();
    scene.usage(40_000).stop(StopHow::Gently);
    assert!(!scene.is_over());
    scene.stop(StopHow::Gently);
    assert_eq!((scene.ends(), scene.exit_code()), (vec![EndHow::AtOnce], 130));
    assert_eq!(scene.count("take"), 0);
}

#[test]
fn a_stop_at_once_does_not_ask() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(40_000).stop(StopHow::AtOnce);
    assert_eq!((scene.count("ask"), scene.ends(), scene.exit_code()), (0, vec![EndHow::AtOnce], 130));
}

#[test]
fn a_stop_before_the_first_session_starts_none() {
    let mut scene = Scenario::new("seamless").gates(1).hold("gates").start();
    scene.stop(StopHow::Gently).release();
    assert_eq!((scene.started().len(), scene.count("take"), scene.exit_code()), (0, 0, 130));
}

#[test]
fn a_stop_while_a_session_is_replaced_starts_no_other() {
    for held in ["ask", "take", "end"] {
        let mut scene = Scenario::new("seamless").hold(held).start();
        scene.usage(40_000).usage(91_000).stop(StopHow::Gently).release();
        assert_eq!((scene.started().len(), scene.exit_code()), (1, 130), "{held}");
        assert_eq!(scene.taken().len(), 1, "{held}");
    }
}

#[test]
fn a_stop_while_the_work_is_saved_lets_it_be_saved() {
    let mut scene = Scenario::new("seamless").gates(1).hold("save").start();
    scene.finishes().stop(StopHow::Gently).release();
    assert_eq!((scene.outcome().verdict, scene.exit_code()), (Verdict::Verified, 0));
}

#[test]
fn completion_after_a_gentle_stop_is_a_stop_all_the_same() {
    let mut scene = Scenario::new("seamless").gates(1).hold("ask").start();
    scene.stop(StopHow::Gently).finishes();
    assert_eq!((scene.exit_code(), scene.taken()), (130, vec![(Depth::Full, Segue)]));
}

#[test]
fn silence_while_the_agent_thinks_is_a_stall_and_a_fresh_session_goes_on() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(40_000).wait(9 * MINUTE).usage(41_000).wait(9 * MINUTE);
    assert_eq!(scene.limits(), []);
    scene.wait(MINUTE);
    assert_eq!((scene.limits(), scene.ended()), (vec![Limit::Stall], vec![EndReason::Stalled]));
    assert_eq!(scene.started().len(), 2);
}

#[test]
fn silence_while_a_tool_runs_is_given_more_time() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(40_000).tool_begins("build").wait(59 * MINUTE);
    assert_eq!(scene.limits(), []);
    scene.wait(MINUTE);
    assert_eq!((scene.limits(), scene.ends()), (vec![Limit::Stall], vec![EndHow::Gently]));
}

#[test]
fn silence_before_ready_fails() {
    let mut scene = Scenario::new("seamless").births(&[Birth::Silent]).start();
    scene.wait(10 * MINUTE);
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::Stall], 1));
}

#[test]
fn a_crash_is_followed_by_a_fresh_session_with_segues_checkpoint() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(40_000).crashes();
    assert_eq!((scene.ended(), scene.taken()), (vec![EndReason::Failed], vec![(Depth::Emergency, Segue)]));
    assert_eq!(scene.started()[1], ("a".to_owned(), SessionReason::Restart));
    assert_eq!(scene.view().restarts, 0, "the window was not full");
}

#[test]
fn a_crash_that_repeats_without_progress_stops() {
    let mut scene = Scenario::new("seamless").trees(&["base"; 9]).start();
    scene.crashes().crashes().crashes();
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::SameError], 4));
    assert!(scene.outcome().reason.contains("with code 1"), "{}", scene.outcome().reason);
}

#[test]
fn a_crash_while_the_checkpoint_is_written_loses_nothing() {
    for policy in ["seamless", "staged"] {
        let mut scene = Scenario::new(policy).hold("take").start();
        scene.usage(50_000).usage(91_000).crashes().release();
        assert_eq!(scene.started().len(), 2, "{policy}");
    }
}

#[test]
fn an_agent_that_exits_before_ready_gives_way_to_the_next_one() {
    for birth in [Birth::ExitsFirst, Birth::NotFound] {
        let mut scene = Scenario::new("seamless").fallback("b").births(&[birth]).start();
        assert_eq!((scene.ended(), scene.warned("agent_failed")), (vec![EndReason::Failed], 1));
        assert_eq!(scene.handoffs(), [(HandoffKind::Fallback, Some("b".to_owned()))]);
        assert_eq!(scene.started()[1], ("b".to_owned(), SessionReason::Fallback));
        scene.finishes();
        assert_eq!(scene.exit_code(), 0);
    }
}

#[test]
fn an_agent_that_exits_before_ready_with_no_other_left_fails() {
    for birth in [Birth::ExitsFirst, Birth::NotFound] {
        let scene = Scenario::new("seamless").births(&[birth]).start();
        assert_eq!((scene.outcome().verdict, scene.exit_code()), (Verdict::Failed, 1));
        let scene = Scenario::new("seamless").fallback("b").births(&[birth, birth]).start();
        assert_eq!((scene.started().len(), scene.exit_code()), (2, 1));
    }
}

#[test]
fn an_agent_that_could_not_be_started_after_the_deadline_has_no_successor() {
    let mut scene = Scenario::new("seamless")
        .fallback("b")
        .hold("start")
        .hold("end")
        .spec(|s| s.limits.deadline_ms = Some(1_000))
        .start();
    scene.wait(1_000).feed(Event::SessionNotStarted { session: 1, why: "no such file".to_owned() });
    assert_eq!((scene.started().len(), scene.exit_code()), (1, 4));
}

#[test]
fn an_agent_that_may_not_go_on_hands_over_and_alone_stops() {
    for (failure, exit) in [
        (AgentFailure::Quota, 4),
        (AgentFailure::Unauthorised, 3),
        (AgentFailure::BadModel, 3),
        (AgentFailure::Refused, 1),
    ] {
        let mut scene = Scenario::new("seamless").fallback("b").start();
        scene.usage(40_000).says(fails(failure));
        assert_eq!(scene.handoffs(), [(HandoffKind::Fallback, Some("b".to_owned()))]);
        let mut scene = Scenario::new("seamless").start();
        scene.usage(40_000).says(fails(failure));
        assert_eq!((scene.exit_code(), scene.taken()), (exit, vec![(Depth::Emergency, Segue)]));
    }
}

#[test]
fn a_passing_failure_is_followed_by_the_same_agent() {
    let mut scene = Scenario::new("seamless").fallback("b").start();
    scene.usage(40_000).says(fails(AgentFailure::Overloaded));
    assert_eq!(scene.handoffs(), [(HandoffKind::Restart, Some("a".to_owned()))]);
}

#[test]
fn the_cost_limit_holds_over_all_sessions() {
    let mut scene = Scenario::new("seamless").spec(|s| s.limits.cost_musd = Some(2_000_000)).start();
    let costs = |cost| Reading { session_cost_musd: Some(cost), ..Reading::exact(41_000, 0, 0, 0) };
    scene.usage(40_000).says(AgentEvent::UsageRead(costs(900_000))).crashes().usage(40_000);
    assert!(!scene.is_over());
    scene.says(AgentEvent::UsageRead(costs(1_100_000)));
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::Cost], 4));
    assert!(scene.outcome().reason.contains("$2.00"));
}

#[test]
fn the_token_limit_counts_every_call() {
    let mut scene = Scenario::new("seamless").spec(|s| s.limits.tokens = Some(100_000)).start();
    scene.usage(30_000).usage(31_000);
    assert!(!scene.is_over());
    scene.usage(39_000);
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::Tokens], 4));
    assert_eq!((scene.count("take"), scene.started().len()), (1, 1));
}

#[test]
fn late_news_of_a_dead_session_is_ignored() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(40_000).usage(91_000);
    let (view, done) = (scene.view().clone(), scene.effects.len());
    for event in [
        AgentEvent::UsageRead(Reading::exact(99_000, 0, 0, 0)),
        AgentEvent::TurnEnded(TurnEnd::Finished { text: String::new() }),
        AgentEvent::Answered { text: "late".to_owned() },
        AgentEvent::PermissionAsked {
            request: "r".into(),
            kind: "k".into(),
            title: "t".into(),
            subject: Subject::default(),
        },
        fails(AgentFailure::Quota),
    ] {
        scene.feed(Event::Agent { session: 1, event });
    }
    scene.feed(Event::SessionExited { session: 1, exit: Some(1), orphans: 0 });
    scene.feed(Event::SessionNotStarted { session: 1, why: String::new() });
    assert_eq!((scene.effects.len(), scene.view() == &view), (done, true));
}

#[test]
fn nothing_but_a_resume_leads_out_of_the_end() {
    let mut scene = Scenario::new("seamless").start();
    scene.finishes();
    let (view, done) = (scene.view().clone(), scene.effects.len());
    scene.usage(99_000).overflows().crashes().stop(StopHow::Gently).wait(60 * MINUTE);
    let spec = Box::new(scene.spec.clone());
    scene.feed(Event::RunStarted { spec });
    assert_eq!((scene.effects.len(), scene.view() == &view), (done, true));
}

#[test]
fn a_turn_that_ended_has_no_running_tool_to_wait_for() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(40_000).tool_begins("build").overflows();
    assert_eq!((scene.ends(), scene.started().len()), (vec![EndHow::Gently], 2));
}

#[test]
fn a_failure_while_the_agent_is_asked_takes_the_place_of_the_answer() {
    for failure in [AgentFailure::Other, AgentFailure::Quota] {
        let mut scene = Scenario::new("seamless").hold("ask").start();
        scene.usage(40_000).usage(91_000).says(fails(failure)).wait(31_000);
        assert_eq!((scene.taken(), scene.warned("no_answer")), (vec![(Depth::Emergency, Segue)], 0));
    }
}

#[test]
fn a_stop_at_once_forgets_what_was_asked_and_taken() {
    for held in ["ask", "take"] {
        let mut scene = Scenario::new("seamless").hold(held).hold("end").start();
        scene.usage(40_000).usage(91_000).stop(StopHow::AtOnce).wait(31_000).release();
        assert_eq!((scene.started().len(), scene.exit_code()), (1, 130), "{held}");
        assert_eq!(scene.ends()[0], EndHow::AtOnce, "{held}");
    }
}
