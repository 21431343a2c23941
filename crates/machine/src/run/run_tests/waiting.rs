//! Providers that fail: each cause with its own action, waits that survive everything, and ends with an account.

use super::scenario::{START, Scenario};
use crate::CheckpointBy::Segue;
use crate::{
    AgentEvent, AgentFailure, Circuit, Depth, Effect, Event, HandoffKind, Limit, Millis, Notice, OnRateLimit,
    Phase, Prompt, Retry, SessionReason, StopHow, Timer, TurnEnd, Verdict,
};

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

fn fails(failure: AgentFailure, retry: Option<Retry>) -> AgentEvent {
    AgentEvent::TurnEnded(TurnEnd::Failed { failure, message: "it said no".to_owned(), retry })
}

fn limited(ms: u64) -> AgentEvent {
    fails(AgentFailure::RateLimited, Some(Retry::After(ms)))
}

/// When each wait was to end.
fn waits(scene: &Scenario) -> Vec<Millis> {
    scene.notices(|n| if let Notice::WaitStarted { until, .. } = n { Some(*until) } else { None })
}

fn waits_ended(scene: &Scenario) -> usize {
    scene.notices(|n| matches!(n, Notice::WaitEnded { .. }).then_some(())).len()
}

fn is_waiting(scene: &Scenario) -> bool {
    let view = scene.view();
    let (waiting, session) = (view.waiting.is_some(), view.session.is_some());
    assert_eq!((waiting, waiting && session), (view.phase == Phase::Waiting, false));
    waiting
}

#[test]
fn h3_a_rate_limit_with_a_reset_time_is_waited_for_without_a_process_and_the_prompt_is_issued_once() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(40_000).says(limited(20 * SECOND));
    assert!(is_waiting(&scene));
    assert_eq!((scene.taken(), scene.count("end")), (vec![(Depth::Emergency, Segue)], 1));
    assert_eq!((waits(&scene), scene.timer(Timer::Wait)), (vec![START + 21_000], Some(START + 21_000)));
    scene.wait(20_999);
    assert_eq!((is_waiting(&scene), scene.started().len()), (true, 1));
    scene.wait(1);
    assert_eq!(scene.started()[1], ("a".to_owned(), SessionReason::Restart));
    let prompts = scene.prompts();
    assert_eq!(prompts.len(), 2);
    assert_eq!(prompts[0], Prompt::Task);
    assert!(matches!(prompts[1], Prompt::Continuation { checkpoint: Some(_), .. }), "{prompts:?}");
    assert_eq!((scene.view().restarts, scene.view().without_progress, waits_ended(&scene)), (0, 0, 1));
    scene.finishes();
    assert_eq!((scene.exit_code(), scene.view().circuits.len()), (0, 0));
}

#[test]
fn h3_killed_while_it_waits_a_run_waits_on_until_the_same_time() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(40_000).says(limited(20 * SECOND)).wait(5 * SECOND).killed_and_resumed();
    assert!(is_waiting(&scene));
    assert_eq!(waits(&scene), [START + 21_000, START + 21_000]);
    scene.wait(15_999);
    assert_eq!(scene.started().len(), 1);
    scene.wait(1);
    assert_eq!(scene.started()[1..], [("a".to_owned(), SessionReason::Resume)]);
    assert_eq!((scene.prompts().len(), scene.taken().len()), (2, 1));
}

#[test]
fn h3_killed_while_it_waits_and_taken_up_later_it_goes_on_at_once() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(40_000).says(limited(20 * SECOND));
    scene.now += HOUR;
    scene.killed_and_resumed();
    assert_eq!((is_waiting(&scene), scene.started().len(), scene.prompts().len()), (false, 2, 2));
}

#[test]
fn h3_each_cause_has_its_own_action() {
    let alone = |failure, retry| {
        let mut scene = Scenario::new("seamless").start();
        scene.usage(40_000).says(fails(failure, retry));
        scene
    };
    for (failure, pause) in [
        (AgentFailure::Overloaded, 5 * SECOND),
        (AgentFailure::RateLimited, 15 * SECOND),
        (AgentFailure::Network, 5 * SECOND),
    ] {
        let scene = alone(failure, None);
        let until = waits(&scene)[0] - START;
        assert!((pause..=pause * 5 / 4).contains(&until), "{failure:?}: {until}");
    }
    let scene = alone(AgentFailure::Quota, Some(Retry::At(START + HOUR)));
    assert_eq!(waits(&scene), [START + HOUR + SECOND]);
    for (failure, verdict, exit, word) in [
        (AgentFailure::Quota, Verdict::Stopped, 4, "raise the quota"),
        (AgentFailure::Unauthorised, Verdict::NeedsInput, 3, "log in again"),
        (AgentFailure::BadModel, Verdict::NeedsInput, 3, "name a model"),
        (AgentFailure::Refused, Verdict::Failed, 1, "fix that"),
    ] {
        let scene = alone(failure, None);
        let outcome = scene.outcome();
        assert_eq!((outcome.verdict, scene.exit_code(), outcome.resumable()), (verdict, exit, true));
        assert!(outcome.advice.unwrap().contains(word), "{failure:?}");
        assert!(
            outcome.reason.contains("a: ") && outcome.reason.contains("it said no"),
            "{}",
            outcome.reason
        );
    }
}

#[test]
fn a_rate_limit_is_waited_for_under_every_policy() {
    for policy in crate::policy::preset::NAMES {
        let mut scene = Scenario::new(policy).start();
        scene.usage(40_000).says(limited(20 * SECOND));
        assert!(is_waiting(&scene), "{policy}");
        scene.wait(MINUTE);
        assert_eq!((scene.started().len(), scene.view().restarts), (2, 0), "{policy}");
        scene.finishes();
        assert_eq!(scene.exit_code(), 0, "{policy}");
    }
}

#[test]
fn with_another_agent_a_long_rate_limit_is_left_and_a_short_one_waited_for() {
    let scene = |retry: u64| {
        let mut scene = Scenario::new("seamless").fallback("b").start();
        scene.usage(40_000).says(limited(retry));
        scene
    };
    assert_eq!(scene(HOUR).handoffs(), [(HandoffKind::Fallback, Some("b".to_owned()))]);
    assert!(is_waiting(&scene(30 * SECOND)));
    let mut scene =
        Scenario::new("seamless").fallback("b").spec(|s| s.wait.on_rate_limit = OnRateLimit::Wait).start();
    scene.says(limited(HOUR));
    assert!(is_waiting(&scene) && scene.view().waiting.as_ref().unwrap().agent == "a");
}

#[test]
fn an_overloaded_agent_is_tried_three_times_before_another_takes_over() {
    let mut scene = Scenario::new("seamless").fallback("b").start();
    for n in 1..=2 {
        scene.says(fails(AgentFailure::Overloaded, None));
        assert_eq!((is_waiting(&scene), waits(&scene).len()), (true, n));
        scene.wait(MINUTE);
    }
    scene.says(fails(AgentFailure::Overloaded, None));
    assert_eq!(scene.started().last().unwrap(), &("b".to_owned(), SessionReason::Fallback));
}

#[test]
fn pauses_grow_while_the_model_does_not_answer_and_begin_anew_when_it_does() {
    let mut scene = Scenario::new("seamless").trees(&["base"; 40]).start();
    let mut last = 0;
    for _ in 0..4 {
        scene.says(fails(AgentFailure::Overloaded, None));
        let pause = waits(&scene).last().unwrap() - scene.now;
        assert!(pause > last, "{pause} after {last}");
        last = pause;
        scene.wait(pause);
    }
    scene.reads(20_000).says(fails(AgentFailure::Overloaded, None));
    assert!(waits(&scene).last().unwrap() - scene.now < 7 * SECOND);
}

#[test]
fn waiting_that_is_refused_ends_with_75_and_says_until_when() {
    let mut scene = Scenario::new("seamless").spec(|s| s.wait.enabled = false).start();
    scene.usage(40_000).says(limited(20 * SECOND));
    let outcome = scene.outcome();
    assert_eq!(
        (scene.exit_code(), outcome.until, outcome.limit),
        (75, Some(START + 21_000), Some(Limit::Wait))
    );
    assert_eq!((outcome.resumable(), scene.taken().len(), waits(&scene).len()), (true, 1, 0));
    assert!(outcome.reason.contains("a: rate limited until 00:17:01"), "{}", outcome.reason);
    let mut scene = Scenario::new("seamless").start();
    scene.says(limited(7 * HOUR));
    assert_eq!((scene.exit_code(), scene.limits()), (75, vec![Limit::Wait]));
}

#[test]
fn a_run_that_refused_to_wait_goes_on_when_it_is_resumed_after_that_time() {
    let mut scene = Scenario::new("seamless").spec(|s| s.wait.enabled = false).start();
    scene.says(limited(20 * SECOND));
    scene.killed_and_resumed();
    assert_eq!((scene.exit_code(), scene.started().len()), (75, 1));
    scene.now += MINUTE;
    scene.killed_and_resumed();
    assert_eq!(scene.started().len(), 2);
}

#[test]
fn a_wait_beyond_the_deadline_is_not_begun_and_the_deadline_counts_while_waiting() {
    let mut scene = Scenario::new("seamless").spec(|s| s.limits.deadline_ms = Some(HOUR)).start();
    scene.says(limited(2 * HOUR));
    assert_eq!((scene.exit_code(), scene.limits(), waits(&scene)), (4, vec![Limit::Deadline], vec![]));
    assert!(scene.outcome().reason.contains("deadline is earlier"), "{}", scene.outcome().reason);
    let advice = scene.outcome().advice.unwrap_or_default();
    assert!(advice.contains("`segue resume --deadline 5h`"), "enough for the wait of two hours: {advice}");
    let mut scene = Scenario::new("seamless").spec(|s| s.limits.deadline_ms = Some(HOUR)).start();
    scene.says(limited(30 * MINUTE));
    let mut spec = scene.spec.clone();
    spec.limits.deadline_ms = Some(10 * MINUTE);
    scene.now += MINUTE;
    scene.killed_and_resumed_with(Some(spec), false);
    assert_eq!(scene.exit_code(), 4);
}

#[test]
fn a_wait_ends_early_when_someone_asks() {
    let mut scene = Scenario::new("seamless").start();
    scene.says(limited(HOUR)).wait(MINUTE).feed(Event::TryAsked);
    assert_eq!((is_waiting(&scene), scene.started().len(), scene.timer(Timer::Wait)), (false, 2, None));
    // Still limited: the next wait is told anew, and never shorter than the pauses of this account.
    scene.says(limited(SECOND));
    assert!(waits(&scene)[1] >= scene.now + 30 * SECOND);
    scene.killed_and_resumed_now();
    assert_eq!((is_waiting(&scene), scene.started().len()), (false, 3));
    scene.feed(Event::TryAsked);
    assert_eq!(scene.started().len(), 3, "there is nothing to wait for");
}

#[test]
fn a_stop_while_it_waits_is_at_once_and_resumable() {
    for how in [StopHow::Gently, StopHow::AtOnce] {
        let mut scene = Scenario::new("seamless").start();
        scene.says(limited(HOUR)).wait(MINUTE).stop(how);
        assert_eq!((scene.exit_code(), scene.taken().len(), scene.timer(Timer::Wait)), (130, 1, None));
        assert_eq!(waits_ended(&scene), 1);
        scene.killed_and_resumed();
        assert!(is_waiting(&scene));
        assert_eq!(waits(&scene)[1], START + HOUR + SECOND);
    }
}

#[test]
fn h4_two_agents_that_fail_in_turn_stop_with_an_account_and_are_resumable() {
    let mut scene = Scenario::new("seamless").fallback("b").trees(&["base"; 90]).start();
    let mut failures = 0;
    while !scene.is_over() {
        failures += 1;
        assert!(failures < 100, "it does not end");
        let event = if scene.view().session.as_ref().is_some_and(|s| s.agent == "a") {
            limited(2 * MINUTE)
        } else {
            fails(AgentFailure::Overloaded, None)
        };
        scene.says(event);
        if is_waiting(&scene) {
            scene.wait(waits(&scene).last().unwrap() - scene.now);
        }
    }
    assert_eq!(failures, 21);
    let outcome = scene.outcome();
    assert_eq!((scene.exit_code(), outcome.limit), (4, Some(Limit::Failures)));
    assert!(
        outcome.reason.contains("a: rate limited") && outcome.reason.contains("; b: overloaded"),
        "{outcome:?}"
    );
    let agents: Vec<String> = scene.started().into_iter().map(|(agent, _)| agent).collect();
    assert!(agents.contains(&"a".to_owned()) && agents.contains(&"b".to_owned()));
    scene.killed_and_resumed_now();
    scene.finishes();
    assert_eq!(scene.exit_code(), 0);
}

#[test]
fn when_nobody_is_free_the_one_who_is_free_first_is_waited_for() {
    let mut scene = Scenario::new("seamless").fallback("b").fallback("c").start();
    scene.says(limited(3 * HOUR)).says(fails(AgentFailure::Unauthorised, None)).says(limited(2 * HOUR));
    assert_eq!(scene.view().waiting.as_ref().unwrap().agent, "c");
    assert_eq!(scene.handoffs().len(), 3);
    scene.wait(2 * HOUR + SECOND);
    assert_eq!(scene.started().last().unwrap().0, "c");
}

#[test]
fn progress_makes_room_for_more_failures() {
    let mut scene = Scenario::new("seamless").spec(|s| s.wait.failures = 2).start();
    for _ in 0..6 {
        scene.usage(20_000).says(limited(SECOND)).wait(HOUR);
    }
    assert!(!scene.is_over());
}

#[test]
fn a_run_begins_with_what_others_have_learned() {
    let circuit = |until| Circuit {
        account: "a".to_owned(),
        agent: None,
        failure: AgentFailure::RateLimited,
        failures: 1,
        until: Some(until),
        said: String::new(),
    };
    let scene = Scenario::new("seamless").spec(|s| s.circuits = vec![circuit(START + HOUR)]).start();
    assert_eq!((is_waiting(&scene), scene.started().len()), (true, 0));
    let scene =
        Scenario::new("seamless").fallback("b").spec(|s| s.circuits = vec![circuit(START + HOUR)]).start();
    assert_eq!(scene.started(), [("b".to_owned(), SessionReason::First)]);
    assert_eq!(scene.warned("held_back"), 1);
    let mut scene = Scenario::new("seamless").spec(|s| s.circuits = vec![circuit(START)]).start();
    assert_eq!(scene.started().len(), 1);
    scene.stop(StopHow::Gently).killed_and_resumed();
    let (spec, at) = (None, None);
    scene.stop(StopHow::Gently);
    let circuits = vec![circuit(START + HOUR)];
    scene.feed(Event::RunResumed {
        orphans: 0,
        spec,
        same_session: false,
        at,
        now: false,
        circuits,
        answer: None,
    });
    assert!(is_waiting(&scene));
}

#[test]
fn what_is_learned_is_told_to_others_where_that_is_wanted() {
    let kept = |scene: &Scenario| {
        scene.collect(|e| {
            let Effect::KeepCircuit { account, circuit } = e else { return None };
            Some((account.clone(), circuit.as_ref().and_then(|c| c.until)))
        })
    };
    for shared in [true, false] {
        let mut scene = Scenario::new("seamless").spec(|s| {
            s.wait.shared = shared;
            s.agents[0].account = Some("team".to_owned());
        });
        scene = scene.start();
        scene.says(limited(HOUR)).wait(2 * HOUR).usage(20_000);
        let told = [("team".to_owned(), Some(START + HOUR + SECOND)), ("team".to_owned(), None)];
        assert_eq!(kept(&scene), if shared { told.to_vec() } else { Vec::new() });
    }
    let mut scene = Scenario::new("seamless").spec(|s| s.wait.shared = true).start();
    scene.says(fails(AgentFailure::Unauthorised, None));
    assert_eq!(kept(&scene), [], "a person will have mended it by the next run");
}

#[test]
fn an_allowance_that_is_used_up_says_when_to_come_back() {
    let mut scene = Scenario::new("seamless").start();
    let seen = |used_percent, at| AgentEvent::AllowanceSeen {
        name: format!("{used_percent}"),
        used_percent,
        resets_at: Some(at),
    };
    scene.says(seen(40, START + 5 * HOUR)).says(seen(100, START + HOUR));
    scene.says(fails(AgentFailure::Quota, None));
    assert_eq!(waits(&scene), [START + HOUR + SECOND]);
}

#[test]
fn a_failure_while_a_checkpoint_is_written_is_waited_for_too() {
    let mut scene = Scenario::new("staged").hold("take").start();
    scene.usage(50_000).usage(91_000).says(limited(20 * SECOND)).release();
    assert!(is_waiting(&scene));
    assert_eq!(scene.taken().len(), 1);
    scene.wait(MINUTE);
    assert_eq!(scene.started().len(), 2);
}

#[test]
fn a_stop_that_was_asked_for_is_not_turned_into_a_wait() {
    let mut scene = Scenario::new("seamless").hold("ask").start();
    scene.usage(40_000).stop(StopHow::Gently).says(limited(HOUR));
    assert_eq!((scene.exit_code(), waits(&scene).len(), scene.taken().len()), (130, 0, 1));
}

#[test]
fn m9_an_agent_that_writes_about_rate_limits_is_not_held_back() {
    let mut scene = Scenario::new("seamless").start();
    scene.tool(500).says(AgentEvent::TextSaid { chars: 90 }).says(AgentEvent::Unrecognised {
        text: "429 rate limit exceeded, try again in 20s".to_owned(),
        bytes: 40,
    });
    let text =
        "I handled the rate limit of 429 and the overloaded_error; prompt is too long is caught\nSTATUS: done"
            .to_owned();
    scene.says(AgentEvent::TurnEnded(TurnEnd::Finished { text }));
    assert_eq!((scene.exit_code(), waits(&scene).len(), scene.view().circuits.len()), (0, 0, 0));
}
