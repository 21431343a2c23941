//! Trigger: when a session is replaced, when it is not, and when that has to stop.

use super::scenario::{Reply, START, Scenario};
use crate::CheckpointBy::{Agent, Segue};
use crate::{Depth, EndReason, HandoffKind, Limit, Notice, Prompt, SessionReason, Verdict};

const MINUTE: u64 = 60_000;

fn reason(scene: &Scenario) -> Vec<SessionReason> {
    scene.started().into_iter().map(|(_, reason)| reason).collect()
}

#[test]
fn t1_crossing_the_line_ends_session_1_starts_session_2_and_the_task_is_finished() {
    let mut scene = Scenario::new("seamless").window(100_000).gates(1).start();
    scene.usage(40_000).usage(91_000);
    assert_eq!((scene.asked(), scene.taken()), (vec![Depth::Full], vec![(Depth::Full, Agent)]));
    assert_eq!(scene.ended(), [EndReason::Replaced]);
    assert_eq!(reason(&scene), [SessionReason::First, SessionReason::Restart]);
    assert!(matches!(
        &scene.prompts()[..],
        [Prompt::Task, Prompt::Continuation { checkpoint: Some(_), restart: 1, trim: 0, .. }]
    ));
    scene.usage(30_000).finishes();
    assert_eq!((scene.outcome().verdict, scene.exit_code()), (Verdict::Verified, 0));
}

#[test]
fn t1_the_work_is_in_a_checkpoint_before_the_session_is_ended() {
    let mut scene = Scenario::new("seamless").hold("take").start();
    scene.usage(40_000).usage(91_000);
    assert_eq!((scene.count("take"), scene.count("end"), scene.count("start")), (1, 0, 1));
    scene.release();
    assert_eq!((scene.count("end"), scene.count("start")), (1, 2));
}

#[test]
fn t3_completion_above_the_line_is_gated_and_not_replaced() {
    let mut scene = Scenario::new("seamless").gates(1).hold("ask").start();
    scene.usage(40_000).usage(95_000);
    assert_eq!(scene.count("ask"), 1, "the ask is out");
    scene.finishes();
    assert_eq!((scene.outcome().verdict, scene.started().len()), (Verdict::Verified, 1));
    assert_eq!(scene.count("save"), 1);
}

#[test]
fn t3_completion_while_the_checkpoint_is_written_is_gated_too() {
    let mut scene = Scenario::new("seamless").gates(1).hold("take").start();
    scene.usage(40_000).usage(95_000).finishes().release();
    assert_eq!((scene.outcome().verdict, scene.started().len()), (Verdict::Verified, 1));
}

#[test]
fn t4_a_limit_is_never_a_success_and_the_work_is_saved() {
    let mut scene = Scenario::new("seamless").spec(|s| s.limits.max_restarts = Some(1)).start();
    scene.usage(91_000).usage(91_000);
    let outcome = scene.outcome();
    assert_eq!((outcome.verdict, outcome.limit), (Verdict::Stopped, Some(Limit::MaxRestarts)));
    assert!(outcome.reason.contains("91 %"), "{}", outcome.reason);
    assert_eq!((scene.exit_code(), scene.taken().len()), (4, 2));
    assert_eq!(scene.limits(), [Limit::MaxRestarts]);
    assert_eq!(scene.ended(), [EndReason::Replaced, EndReason::Stopped]);
}

#[test]
fn a_handoff_goes_to_the_fallback_and_without_one_left_is_a_restart_unless_forced() {
    let mut scene = Scenario::new("seamless")
        .spec(|s| s.policy.stages[0].actions = vec![crate::policy::Action::Handoff])
        .start();
    scene.usage(40_000).usage(91_000);
    assert_eq!(scene.handoffs(), [(HandoffKind::Restart, Some("a".to_owned()))]);
    let mut scene = Scenario::new("seamless").fallback("b").spec(|s| {
        s.policy.stages[0].actions = vec![crate::policy::Action::Handoff];
        s.policy.stages[0].at = crate::policy::At::Left(20_000);
    });
    scene = scene.start();
    scene.usage(40_000).usage(79_999);
    assert_eq!(scene.handoffs(), []);
    scene.usage(80_000);
    assert_eq!(scene.handoffs(), [(HandoffKind::Fallback, Some("b".to_owned()))]);
    let mut scene = Scenario::new("staged").start();
    scene.usage(40_000).usage(98_500);
    assert_eq!(scene.handoffs(), [(HandoffKind::Forced, Some("a".to_owned()))]);
}

#[test]
fn t5_a_threshold_of_100_or_no_restarts_means_one_session() {
    let off = [
        Scenario::new("seamless").threshold(100.0),
        Scenario::new("seamless").threshold(140.0),
        Scenario::new("seamless").spec(|s| s.limits.max_restarts = Some(0)),
    ];
    for scene in off {
        let mut scene = scene.gates(1).start();
        scene.usage(50_000).usage(95_000).usage(101_000).usage(139_000).usage(141_000);
        assert_eq!((scene.started().len(), scene.count("take")), (1, 0));
        scene.finishes();
        assert_eq!((scene.outcome().verdict, scene.started().len()), (Verdict::Verified, 1));
    }
}

#[test]
fn t5_if_that_one_session_overflows_the_run_is_stopped_with_exit_4() {
    for scene in [
        Scenario::new("seamless").threshold(100.0),
        Scenario::new("seamless").spec(|s| s.limits.max_restarts = Some(0)),
    ] {
        let mut scene = scene.start();
        scene.usage(99_000).overflows();
        assert_eq!((scene.exit_code(), scene.started().len()), (4, 1));
        assert_eq!((scene.outcome().limit, scene.view().overflows), (Some(Limit::MaxRestarts), 1));
        assert_eq!((scene.limits(), scene.warned("overflow")), (vec![Limit::MaxRestarts], 1));
        assert_eq!(scene.taken(), [(Depth::Emergency, Segue)]);
    }
}

#[test]
fn an_overflow_where_replacing_is_allowed_is_answered_with_a_fresh_session() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(60_000).overflows();
    assert_eq!((scene.ended(), scene.view().restarts), (vec![EndReason::Overflow], 1));
    assert_eq!(scene.taken(), [(Depth::Emergency, Segue)]);
    assert_eq!(reason(&scene), [SessionReason::First, SessionReason::Restart]);
}

#[test]
fn t6_three_restarts_are_allowed_and_the_fourth_breach_stops_with_advice() {
    let mut scene = Scenario::new("phased").start();
    for _ in 0..3 {
        scene.usage(81_000);
    }
    assert_eq!((scene.started().len(), scene.is_over()), (4, false));
    scene.usage(81_000);
    assert_eq!((scene.started().len(), scene.exit_code()), (4, 4));
    assert_eq!(scene.handoffs().last().unwrap(), &(HandoffKind::Stop, None));
    assert!(scene.outcome().advice.unwrap().contains("split"));
}

#[test]
fn t7_a_fresh_session_above_the_line_is_trimmed_twice_and_then_stops() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(91_000).reads(92_000).reads(92_000);
    let trims: Vec<u32> = scene
        .prompts()
        .iter()
        .filter_map(|p| if let Prompt::Continuation { trim, .. } = p { Some(*trim) } else { None })
        .collect();
    assert_eq!((trims, scene.is_over()), (vec![0, 1, 2], false));
    scene.reads(92_000);
    assert_eq!((scene.outcome().limit, scene.exit_code()), (Some(Limit::Futile), 4));
    assert_eq!(scene.started().len(), 4);
}

#[test]
fn t7_a_first_session_above_the_line_has_nothing_to_trim_and_stops() {
    let mut scene = Scenario::new("seamless").start();
    scene.reads(92_000);
    assert_eq!((scene.limits(), scene.started().len()), (vec![Limit::Futile], 1));
    assert!(scene.outcome().advice.unwrap().contains("smaller tasks"));
}

#[test]
fn t7_a_trimmed_session_that_fits_goes_on() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(91_000).reads(92_000).reads(30_000).finishes();
    assert_eq!((scene.outcome().verdict, scene.started().len()), (Verdict::Unverified, 3));
}

#[test]
fn t8_the_deadline_is_one_for_the_run_and_not_moved_by_a_restart() {
    let mut scene = Scenario::new("seamless").spec(|s| s.limits.deadline_ms = Some(30 * MINUTE)).start();
    for _ in 0..2 {
        scene.wait(9 * MINUTE).usage(91_000);
        assert_eq!(scene.timer(crate::Timer::Deadline), Some(START + 30 * MINUTE));
    }
    scene.wait(5 * MINUTE).usage(20_000).wait(5 * MINUTE).usage(30_000);
    assert_eq!((scene.started().len(), scene.is_over()), (3, false));
    scene.wait(3 * MINUTE);
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::Deadline], 4));
    assert_eq!((scene.count("take"), scene.ended().len()), (3, 3));
}

#[test]
fn t8_editing_and_reverting_is_no_progress_and_stops_after_3_handoffs() {
    let mut scene = Scenario::new("seamless").trees(&["edited", "base", "edited", "base"]).start();
    for _ in 0..4 {
        assert!(!scene.is_over());
        scene.usage(91_000);
    }
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::NoProgress], 4));
    assert_eq!(scene.view().handoffs, 3);
}

#[test]
fn h5_three_handoffs_without_progress_stop_and_any_progress_in_between_begins_anew() {
    let mut scene = Scenario::new("seamless").trees(&["base", "base", "new", "base", "new", "base"]).start();
    for _ in 0..5 {
        scene.usage(91_000);
    }
    assert_eq!((scene.is_over(), scene.view().without_progress), (false, 2));
    scene.usage(91_000);
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::NoProgress], 4));
    assert!(scene.outcome().reason.contains("3 handoffs"));
}

#[test]
fn t8_closing_an_item_is_progress_even_when_the_tree_stays() {
    let mut scene = Scenario::new("seamless").trees(&["base"; 3]).start();
    for closed in 1..=3 {
        scene
            .says(crate::AgentEvent::ItemsSeen { open: 3 - closed, closed, items: Vec::new() })
            .usage(91_000);
    }
    assert_eq!((scene.is_over(), scene.view().without_progress, scene.started().len()), (false, 0, 4));
}

#[test]
fn t9_90_is_a_brief_dump_95_a_full_one_with_a_fallback_98_a_forced_handoff() {
    let mut scene = Scenario::new("staged").fallback("b").start();
    scene.usage(50_000).usage(81_000).usage(90_500);
    assert_eq!((scene.asked(), scene.started().len()), (vec![Depth::Brief], 1));
    scene.usage(95_500);
    assert_eq!((scene.asked(), scene.started().len()), (vec![Depth::Brief, Depth::Full], 1));
    scene.usage(98_200);
    assert_eq!(scene.asked(), [Depth::Brief, Depth::Full, Depth::Emergency]);
    assert_eq!(scene.stages(), ["80%", "90%", "95%", "98%"]);
    assert_eq!(scene.handoffs(), [(HandoffKind::Forced, Some("b".to_owned()))]);
    assert_eq!(scene.started()[1], ("b".to_owned(), SessionReason::Fallback));
}

#[test]
fn t9_each_stage_fires_once_in_a_session_and_again_in_the_next() {
    let mut scene = Scenario::new("staged").start();
    for tokens in [50_000, 91_000, 92_000, 96_000, 96_500, 97_000] {
        scene.usage(tokens);
    }
    assert_eq!(scene.stages(), ["80%", "90%", "95%"]);
    assert!(scene.prompts().iter().filter(|p| **p == Prompt::GoOn).count() == 2);
    scene.usage(98_500).usage(50_000).usage(91_000);
    assert_eq!(scene.stages(), ["80%", "90%", "95%", "98%", "80%", "90%"]);
}

#[test]
fn t9_one_jump_past_all_three_names_them_all_and_hands_over_once() {
    let mut scene = Scenario::new("staged").fallback("b").start();
    scene.usage(50_000).usage(98_500);
    assert_eq!(scene.stages(), ["80%", "90%", "95%", "98%"]);
    assert_eq!((scene.asked(), scene.taken().len()), (vec![Depth::Emergency], 1));
    assert_eq!(scene.handoffs(), [(HandoffKind::Forced, Some("b".to_owned()))]);
}

#[test]
fn t9_the_next_stage_fires_also_when_the_dump_before_it_was_refused() {
    for reply in [Reply::Refuses, Reply::Silent] {
        let mut scene = Scenario::new("staged").reply(reply).start();
        scene.usage(50_000).usage(91_000).wait(31_000).usage(95_500).wait(31_000).usage(98_500).wait(31_000);
        assert_eq!(scene.stages(), ["80%", "90%", "95%", "98%"], "{reply:?}");
        assert_eq!(scene.started().len(), 2, "{reply:?}");
    }
}

#[test]
fn t10_observe_warns_at_70_and_90_and_stops_nothing() {
    let mut scene = Scenario::new("observe").start();
    for tokens in [69_000, 70_000, 80_000, 90_000, 99_000, 110_000] {
        scene.usage(tokens);
    }
    assert_eq!(scene.stages(), ["70%", "90%"]);
    assert_eq!((scene.count("ask"), scene.count("take"), scene.count("end")), (0, 0, 0));
    scene.finishes();
    assert_eq!((scene.started().len(), scene.exit_code()), (1, 0));
}

#[test]
fn t10_an_agent_that_gives_up_under_observe_leaves_a_handoff_file() {
    let mut scene = Scenario::new("observe").start();
    scene.usage(95_000).overflows();
    assert_eq!((scene.count("handoff file"), scene.exit_code()), (1, 1));
    assert!(scene.outcome().resumable());
}

#[test]
fn h1_limits_gauges_and_counters_start_afresh_on_every_restart() {
    let mut scene = Scenario::new("phased").no_window().start();
    scene.tools(100);
    let session = scene.view().session.clone().unwrap();
    assert_eq!((session.n, session.gauge.tools(), session.gauge.calls()), (2, 0, 0));
    scene.tools(99);
    assert_eq!((scene.started().len(), scene.warned("usage_missing")), (2, 2));
    scene.crashes().tools(99);
    assert_eq!(scene.started().len(), 3);
    scene.tools(1);
    assert_eq!(scene.started().len(), 4);
}

#[test]
fn h1_a_fallback_chosen_in_one_session_is_not_chosen_in_the_next() {
    let mut scene = Scenario::new("staged").fallback("b").gates(1).rounds(&[false]);
    scene.can.follow_up = false;
    let mut scene = scene.start();
    scene.usage(50_000).usage(95_500).finishes();
    scene.usage(20_000).crashes();
    let to: Vec<_> = scene.started().into_iter().map(|(agent, _)| agent).collect();
    assert_eq!(to, ["a", "a", "a"]);
}

#[test]
fn truth11_one_decision_for_a_handoff_names_who_really_goes_on_and_the_fallback_is_told_at_95() {
    let mut scene = Scenario::new("staged").fallback("b").start();
    scene.usage(50_000).usage(91_000).usage(95_500);
    let told = |n: &Notice| {
        let Notice::StageReached { stage, fallback, .. } = n else { return None };
        Some((stage.clone(), fallback.clone()))
    };
    let (early, late) = (scene.notices(told), [("95%".to_owned(), Some("b".to_owned()))]);
    assert_eq!(early[early.len() - 1..], late);
    assert!(early[..early.len() - 1].iter().all(|(_, fallback)| fallback.is_none()), "{early:?}");
    scene.usage(98_500);
    assert_eq!(scene.handoffs(), [(HandoffKind::Forced, Some("b".to_owned()))]);
    assert_eq!(scene.started()[1].0, "b");
    // A failure and a full window each lead to one decision, and to whom it names.
    let mut scene = Scenario::new("seamless").fallback("b").start();
    scene.usage(40_000).usage(91_000).usage(40_000).crashes();
    let named: Vec<_> = scene.handoffs().into_iter().filter_map(|(_, to)| to).collect();
    let went_on: Vec<_> = scene.started().into_iter().skip(1).map(|(agent, _)| agent).collect();
    assert_eq!(named, went_on);
}
