//! Who goes on: order, windows, failures for good, and circles.

use super::scenario::{Birth, Scenario};
use crate::policy::Action;
use crate::{
    AgentEvent, AgentFailure, Choice, Event, HandoffKind, Limit, Prompt, Reading, Retry, SessionReason,
    TaskPart, TurnEnd, Verdict,
};

fn fails(failure: AgentFailure, message: &str) -> AgentEvent {
    AgentEvent::TurnEnded(TurnEnd::failed(failure, message.to_owned()))
}

const MINUTES_3: u64 = 180_000;

fn limited_for_two_minutes() -> AgentEvent {
    let (failure, message) = (AgentFailure::RateLimited, "slow down".to_owned());
    AgentEvent::TurnEnded(TurnEnd::Failed { failure, message, retry: Some(Retry::After(120_000)) })
}

// Hands over to another agent at 90 %.
fn handing_over(windows: &[u64]) -> Scenario {
    let mut scene = Scenario::new("seamless").spec(|s| s.policy.stages[0].actions = vec![Action::Handoff]);
    for name in ["b", "c", "d"].iter().take(windows.len().saturating_sub(1)) {
        scene = scene.fallback(name);
    }
    scene.spec(|s| s.agents.iter_mut().zip(windows).for_each(|(a, w)| a.window = Some(*w)))
}

fn agents(scene: &Scenario) -> Vec<String> {
    scene.started().into_iter().map(|(agent, _)| agent).collect()
}

fn why(scene: &Scenario, agent: &str) -> (Choice, String) {
    let found = scene.considered().into_iter().find(|(name, ..)| name == agent);
    found.map(|(_, verdict, why)| (verdict, why)).unwrap_or_else(|| panic!("{agent} was not looked at"))
}

#[test]
fn h4_of_200k_32k_and_1m_the_32k_one_is_skipped_when_ledger_and_task_do_not_fit() {
    let long = "x ".repeat(30_000);
    let mut scene = handing_over(&[200_000, 32_000, 1_000_000]).spec(|s| s.task.text = long).start();
    scene.usage(100_000).usage(181_000);
    assert_eq!(scene.handoffs(), [(HandoffKind::Fallback, Some("c".to_owned()))]);
    let (verdict, reason) = why(&scene, "b");
    assert_eq!(verdict, Choice::Skipped);
    assert!(reason.starts_with("window 32k too small for "), "{reason}");
    assert_eq!(why(&scene, "c").0, Choice::Chosen);
    let mut scene = handing_over(&[200_000, 32_000, 1_000_000]).start();
    scene.usage(100_000).usage(181_000);
    assert_eq!(scene.handoffs(), [(HandoffKind::Fallback, Some("b".to_owned()))], "a short task fits");
}

#[test]
fn h4_an_agent_whose_window_nobody_knows_is_allowed_and_that_is_said() {
    let mut scene = handing_over(&[100_000, 1]).spec(|s| s.agents[1].window = None).start();
    scene.usage(40_000).usage(91_000);
    assert_eq!(agents(&scene), ["a", "b"]);
    assert_eq!(why(&scene, "b"), (Choice::Chosen, "window unknown, assumed large enough".to_owned()));
}

#[test]
fn h4_a_window_from_the_table_of_models_counts_where_none_is_configured() {
    let mut scene = handing_over(&[100_000, 1]).spec(|s| {
        s.agents[1].window = None;
        s.next.windows.insert("b".to_owned(), 8_000);
        s.task.text = "x ".repeat(10_000);
    });
    scene = scene.start();
    scene.usage(40_000).usage(91_000);
    assert_eq!(scene.handoffs(), [(HandoffKind::Restart, Some("a".to_owned()))]);
    assert!(why(&scene, "b").1.contains("window 8k"), "{:?}", why(&scene, "b"));
}

#[test]
fn h4_the_base_load_that_an_agent_was_seen_with_counts_too() {
    let mut scene = handing_over(&[100_000, 100_000]).start();
    scene.usage(40_000).usage(91_000);
    assert_eq!(agents(&scene), ["a", "b"]);
    scene.reads(70_000).says(limited_for_two_minutes());
    assert_eq!(agents(&scene), ["a", "b", "a"]);
    scene.reads(10_000).wait(MINUTES_3).usage(91_000);
    assert_eq!(agents(&scene), ["a", "b", "a", "a"]);
    assert!(why(&scene, "b").1.contains("base load"), "{:?}", why(&scene, "b"));
}

#[test]
fn h4_an_earlier_agent_may_be_next_but_never_one_that_failed_for_good() {
    for failure in [AgentFailure::Unauthorised, AgentFailure::BadModel, AgentFailure::Refused] {
        let mut scene = handing_over(&[100_000; 3]).start();
        scene.usage(40_000).says(fails(failure, "no entry"));
        scene.usage(40_000).says(limited_for_two_minutes());
        scene.usage(40_000).wait(MINUTES_3).says(fails(AgentFailure::Quota, "nothing left at c"));
        assert_eq!(agents(&scene), ["a", "b", "c", "b"], "{failure:?}");
        let (verdict, reason) = why(&scene, "a");
        assert!(verdict == Choice::Skipped && reason.ends_with("(no entry)"), "{reason}");
    }
}

#[test]
fn h4_full_windows_lead_on_along_the_list_and_stay_with_its_last_agent() {
    let mut scene = handing_over(&[100_000; 3]).start();
    for _ in 0..4 {
        scene.usage(40_000).usage(91_000);
    }
    assert_eq!(agents(&scene), ["a", "b", "c", "c", "c"]);
}

#[test]
fn h4_an_agent_that_was_left_only_for_a_passing_failure_is_gone_back_to() {
    let mut scene = handing_over(&[100_000; 3]).start();
    scene.usage(40_000).says(limited_for_two_minutes());
    scene.usage(40_000).wait(MINUTES_3).usage(91_000);
    assert_eq!(agents(&scene), ["a", "b", "a"]);
}

#[test]
fn h4_when_all_are_exhausted_the_run_stops_resumable_with_an_account_of_each() {
    let mut scene = handing_over(&[100_000; 3]).start();
    for message in ["not logged in", "no such account", "no such model"] {
        scene.usage(40_000).says(fails(AgentFailure::Unauthorised, message));
    }
    let outcome = scene.outcome();
    for part in ["a: not authorised (not logged in)", "b: not authorised (no such account)", "c: "] {
        assert!(outcome.reason.contains(part), "{}", outcome.reason);
    }
    assert_eq!((outcome.verdict, outcome.resumable(), scene.exit_code()), (Verdict::NeedsInput, true, 3));
    scene.killed_and_resumed().finishes();
    assert_eq!((agents(&scene).last().map(String::as_str), scene.exit_code()), (Some("c"), 0));
}

#[test]
fn h4_whoever_could_not_be_started_is_not_tried_again_in_this_run() {
    let mut scene = handing_over(&[100_000; 2]).births(&[Birth::Ready, Birth::NotFound]).start();
    scene.usage(40_000).usage(91_000);
    assert_eq!(agents(&scene), ["a", "b", "a"]);
    scene.usage(40_000).usage(91_000);
    assert_eq!(agents(&scene), ["a", "b", "a", "a"]);
    assert!(why(&scene, "b").1.contains("no such file"), "{:?}", why(&scene, "b"));
}

#[test]
fn every_decision_says_who_was_looked_at() {
    let mut scene = handing_over(&[100_000; 3]).start();
    scene.usage(40_000).usage(91_000);
    let found: Vec<_> = scene.considered().into_iter().map(|(agent, verdict, _)| (agent, verdict)).collect();
    let said = |agent: &str, verdict| (agent.to_owned(), verdict);
    assert_eq!(found, [said("b", Choice::Chosen), said("c", Choice::Possible), said("a", Choice::Possible)]);
    let mut scene = Scenario::new("seamless").gates(1).rounds(&[false]).start();
    scene.usage(40_000).finishes();
    assert_eq!(scene.handoffs(), [(HandoffKind::Continue, Some("a".to_owned()))]);
    assert!(why(&scene, "a").1.contains("has room"), "{:?}", why(&scene, "a"));
}

#[test]
fn h1_a_conversation_of_one_agent_is_never_given_to_another() {
    let mut scene = handing_over(&[100_000; 2]).start();
    scene.usage(40_000).usage(91_000).killed_and_resumed_with(None, true);
    let given = scene.collect(|e| {
        if let crate::Effect::StartSession { agent, conversation, .. } = e {
            Some((agent.clone(), conversation.clone()))
        } else {
            None
        }
    });
    let last = ("b".to_owned(), Some("conversation-2".to_owned()));
    assert_eq!(given, [("a".to_owned(), None), ("b".to_owned(), None), last]);
}

#[test]
fn h1_what_was_learned_of_one_agents_tokens_is_not_taken_for_anothers() {
    let mut scene = handing_over(&[100_000; 2]).start();
    let read = |call: &str, tokens| Reading { call: Some(call.into()), ..Reading::exact(tokens, 0, 0, 0) };
    scene.says(AgentEvent::UsageRead(read("x", 10_000))).tool(40_000);
    scene.says(AgentEvent::UsageRead(read("y", 20_000))).usage(91_000);
    assert_eq!(agents(&scene), ["a", "b"]);
    let ratio = scene.view().session.as_ref().map(|s| s.gauge.ratio());
    assert_eq!(ratio, Some(crate::gauge::Ratio::default()));
}

#[test]
fn h2_a_base_that_moved_is_told() {
    let mut scene = Scenario::new("seamless").start();
    scene.feed(Event::BaseMoved { session: 1, text: "the checked-out commit was 1 and is 2".to_owned() });
    assert_eq!((scene.warned("base_moved"), scene.is_over()), (1, false));
}

#[test]
fn the_same_failure_three_times_in_a_row_without_progress_stops_with_its_message() {
    let mut scene = Scenario::new("seamless")
        .trees(&["base"; 9])
        .spec(|s| s.limits.max_handoffs_without_progress = 9)
        .start();
    for request in ["req_0001aaaa", "req_0002bbbb", "req_0003cccc"] {
        assert!(!scene.is_over());
        scene.usage(40_000).says(fails(AgentFailure::Other, &format!("the tool broke ({request})")));
    }
    let outcome = scene.outcome();
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::SameError], 4));
    assert!(outcome.reason.contains("3 times") && outcome.reason.contains("req_0003"), "{}", outcome.reason);
    assert_eq!(scene.handoffs().last(), Some(&(HandoffKind::Stop, None)));
}

#[test]
fn the_same_failure_with_progress_in_between_or_another_failure_begins_anew() {
    let mut scene = Scenario::new("seamless").start();
    for _ in 0..6 {
        scene.usage(40_000).says(fails(AgentFailure::Other, "the tool broke"));
    }
    assert_eq!((scene.limits(), scene.is_over()), (vec![], false), "the tree is new each time");
    let mut scene = Scenario::new("seamless")
        .trees(&["base"; 9])
        .spec(|s| s.limits.max_handoffs_without_progress = 9)
        .start();
    for message in ["one", "one", "two", "one", "one"] {
        scene.usage(40_000).says(fails(AgentFailure::Other, message));
    }
    assert_eq!((scene.limits(), scene.is_over()), (vec![], false));
}

#[test]
fn two_agents_that_fail_in_turn_are_stopped_with_an_account_of_both() {
    let mut scene = handing_over(&[100_000; 2])
        .trees(&["base"; 9])
        .spec(|s| s.limits.max_handoffs_without_progress = 9)
        .start();
    for message in ["a breaks", "a is broken", "b breaks", "b is broken", "a breaks", "a is still broken"] {
        assert!(!scene.is_over(), "{message}");
        scene.usage(40_000).says(fails(AgentFailure::Other, message));
    }
    assert_eq!(agents(&scene), ["a", "a", "b", "b", "a", "a"]);
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::Oscillation], 4));
    let outcome = scene.outcome();
    assert!(outcome.reason.contains("a: a is still broken"), "{}", outcome.reason);
    assert!(outcome.reason.contains("b: b is broken") && outcome.resumable(), "{}", outcome.reason);
}

#[test]
fn two_agents_that_take_turns_and_get_on_are_not_stopped() {
    let mut scene = handing_over(&[100_000; 2]).start();
    for n in 0..6 {
        scene.usage(40_000).says(fails(AgentFailure::Other, &format!("failure {}", ["x", "y"][n % 2])));
    }
    assert_eq!((scene.limits(), scene.is_over()), (vec![], false));
    let mut scene = handing_over(&[100_000; 2]).trees(&["base", "base", "new"]).start();
    for _ in 0..3 {
        scene.usage(40_000).usage(91_000);
    }
    assert_eq!((scene.limits(), agents(&scene).len()), (vec![], 4), "full windows are no failures");
}

const LIST: &str = "Do:\n- [ ] one\n- [ ] two\n- [ ] three\n- [ ] four\n- [ ] five";

fn parts(scene: &Scenario) -> Vec<Option<(u32, u32)>> {
    let of = |prompt: &Prompt| {
        let Prompt::Continuation { part, .. } = prompt else { return None };
        Some(part.map(|TaskPart { first, last, .. }| (first, last)))
    };
    scene.prompts().iter().filter_map(of).collect()
}

#[test]
fn t7_what_trimming_does_not_help_is_split_and_each_part_follows_when_the_one_before_is_done() {
    let mut scene =
        Scenario::new("seamless").gates(1).spec(|s| s.task.text = LIST.to_owned()).prompts_of(60_000).start();
    scene.usage(91_000).reads(92_000).reads(92_000).reads(92_000);
    assert_eq!(parts(&scene), [None, None, None, Some((1, 3))]);
    let split = (HandoffKind::Split, Some("a".to_owned()));
    assert_eq!(scene.handoffs().last(), Some(&split));
    assert_eq!(scene.started().last(), Some(&("a".to_owned(), SessionReason::Split)));
    scene.usage(50_000).finishes();
    assert_eq!((parts(&scene).last(), scene.count("gates")), (Some(&Some((4, 5))), 1), "no gate for a part");
    scene.usage(50_000).finishes();
    assert_eq!((scene.outcome().verdict, scene.count("gates")), (Verdict::Verified, 2));
}

#[test]
fn t7_parts_are_halved_until_they_fit_and_one_item_that_does_not_fit_stops() {
    let mut scene =
        Scenario::new("seamless").spec(|s| s.task.text = LIST.to_owned()).prompts_of(60_000).start();
    scene.reads(92_000);
    assert_eq!((parts(&scene), scene.taken().len()), (vec![Some((1, 3))], 1), "a first session is split too");
    scene.reads(92_000).reads(92_000).reads(92_000).reads(92_000);
    assert_eq!(parts(&scene).last(), Some(&Some((1, 1))));
    scene.reads(92_000);
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::Futile], 4));
    assert_eq!(scene.handoffs().last(), Some(&(HandoffKind::Stop, None)));
}

#[test]
fn t7_a_window_that_fills_in_the_middle_of_a_part_goes_on_with_that_part() {
    let mut scene =
        Scenario::new("seamless").spec(|s| s.task.text = LIST.to_owned()).prompts_of(60_000).start();
    scene.reads(92_000).usage(40_000).usage(91_000);
    assert_eq!(parts(&scene), [Some((1, 3)), Some((1, 3))]);
    scene.usage(40_000).killed_and_resumed();
    assert_eq!(parts(&scene).last(), Some(&Some((1, 3))));
}

#[test]
fn t7_an_agent_whose_own_base_load_fills_the_window_is_not_split_for() {
    let mut scene =
        Scenario::new("seamless").spec(|s| s.task.text = LIST.to_owned()).prompts_of(1_000).start();
    scene.reads(92_000);
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::Futile], 4));
    assert_eq!(scene.started().len(), 1);
}

#[test]
fn t7_a_first_prompt_that_overflows_is_made_smaller_and_not_sent_again() {
    let mut scene =
        Scenario::new("seamless").spec(|s| s.task.text = LIST.to_owned()).prompts_of(60_000).start();
    scene.overflows();
    assert_eq!(parts(&scene), [Some((1, 3))]);
    let mut scene = Scenario::new("seamless").prompts_of(60_000).start();
    scene.overflows();
    assert_eq!((scene.limits(), scene.started().len()), (vec![Limit::Futile], 1));
}
