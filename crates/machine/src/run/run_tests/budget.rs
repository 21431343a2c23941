//! Spending: what a call costs, when a limit is near or reached, and which session is not even started.

use super::scenario::{START, Scenario};
use crate::policy::preset;
use crate::{
    AgentBudget, AgentEvent, DayLimits, DaySpent, Event, HandoffKind, Limit, Notice, Opening, Price, Rates,
    Reading, RunSpec, Scope, Spent,
};

/// A millionth of a dollar for each token of fresh input.
fn price() -> Price {
    let rates = Rates {
        input: 1_000_000,
        cache_read: 100_000,
        cache_write: 1_250_000,
        cache_write_1h: 2_000_000,
        output: 5_000_000,
    };
    Price { rates, long: None, date: "2026-11-16".to_owned(), source: "test".to_owned() }
}

fn priced(policy: &str) -> Scenario {
    let mut scene = Scenario::new(policy);
    scene.price = Some(Some(price()));
    scene
}

fn read(scene: &mut Scenario, call: &str, reading: Reading) {
    scene.says(AgentEvent::UsageRead(Reading { call: Some(call.to_owned()), ..reading }));
}

fn near(scene: &Scenario) -> Vec<String> {
    scene.notices(|n| {
        let Notice::Warned { code, text } = n else { return None };
        (code == "budget").then(|| text.clone())
    })
}

fn day(name: &str, others: Spent) -> Event {
    Event::DaySpent(DaySpent { day: name.to_owned(), others, before: Spent::default(), since: START })
}

#[test]
fn a_call_is_priced_by_its_parts_and_a_side_call_counts_too() {
    let mut scene = priced("seamless").start();
    read(&mut scene, "1", Reading::exact(1_000, 20_000, 400, 100));
    assert_eq!(scene.view().spent().cost(), Some(1_000 + 2_000 + 500 + 500));
    read(&mut scene, "s", Reading { scope: Scope::Side, ..Reading::exact(3_000, 0, 0, 0) });
    assert_eq!(scene.view().spent().cost(), Some(4_000 + 3_000));
    assert_eq!(scene.view().spent().tokens(), 21_500 + 3_000);
}

#[test]
fn the_agents_own_figure_wins_and_later_calls_are_added_to_it() {
    let mut scene = priced("seamless").start();
    scene.usage(10_000);
    read(
        &mut scene,
        "own",
        Reading { scope: Scope::Side, session_cost_musd: Some(700), ..Reading::exact(0, 0, 0, 0) },
    );
    assert_eq!(scene.view().spent().cost(), Some(700));
    scene.usage(11_000);
    assert_eq!(scene.view().spent().cost(), Some(700 + 11_000));
}

#[test]
fn an_unknown_price_is_an_unknown_cost_for_the_whole_run_and_never_nothing() {
    let mut scene = priced("seamless").start();
    scene.usage(10_000);
    assert_eq!(scene.view().spent().cost(), Some(10_000));
    scene.price = Some(None);
    scene.crashes().usage(20_000);
    let spent = scene.view().spent();
    assert_eq!((spent.cost(), spent.cost_musd, spent.unpriced), (None, Some(10_000), 20_000));
    assert_eq!(scene.view().sessions, 2);
}

#[test]
fn a_call_told_twice_counts_once_with_all_of_its_answer() {
    let mut scene = priced("seamless").start();
    read(&mut scene, "1", Reading::exact(10_000, 0, 0, 1));
    read(&mut scene, "1", Reading::exact(10_000, 0, 0, 301));
    let spent = scene.view().spent();
    assert_eq!(
        (spent.tokens_in, spent.tokens_out, spent.cost()),
        (Some(10_000), Some(301), Some(10_000 + 1_505))
    );
}

#[test]
fn an_agent_that_tells_its_fill_before_and_after_a_call_made_one_call() {
    let mut scene = priced("seamless").start();
    let fill = |scene: &mut Scenario, tokens| {
        scene
            .says(AgentEvent::TextSaid { chars: 9 })
            .says(AgentEvent::UsageRead(Reading::reported(tokens, None)));
    };
    fill(&mut scene, 11_474);
    fill(&mut scene, 11_545);
    assert_eq!(scene.view().spent().tokens(), 11_545);
    scene.tool(40);
    fill(&mut scene, 12_000);
    assert_eq!((scene.view().spent().tokens(), scene.view().spent().cost()), (23_545, Some(23_545)));
}

#[test]
fn a_reading_that_was_doubted_and_then_confirmed_is_counted() {
    let mut scene = priced("observe").start();
    scene.usage(10_000);
    read(&mut scene, "far", Reading::exact(180_000, 0, 0, 0));
    assert_eq!((scene.warned("doubted"), scene.view().spent().tokens()), (1, 10_000));
    read(&mut scene, "farther", Reading::exact(181_000, 0, 0, 0));
    assert_eq!(scene.view().spent().tokens(), 10_000 + 180_000 + 181_000);
}

#[test]
fn the_cost_limit_holds_in_every_preset_after_the_call_that_reaches_it() {
    for policy in preset::NAMES {
        let mut scene = priced(policy).spec(|s| s.limits.cost_musd = Some(30_000)).start();
        scene.usage(10_000).usage(11_000);
        assert!(!scene.is_over(), "{policy}");
        scene.usage(12_000);
        assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::Cost], 4), "{policy}");
        assert_eq!((scene.count("take"), scene.count("ask"), scene.started().len()), (1, 0, 1), "{policy}");
        let outcome = scene.outcome();
        assert!(outcome.reason.contains("cost limit of $0.03") && outcome.resumable(), "{}", outcome.reason);
        assert!(outcome.advice.unwrap_or_default().contains("segue resume --max-cost 0.06"), "{policy}");
    }
}

#[test]
fn what_is_spent_while_the_gates_run_counts_too() {
    let mut scene = priced("seamless")
        .gates(1)
        .rounds(&[false, false])
        .spec(|s| s.limits.cost_musd = Some(30_000))
        .start();
    scene.usage(10_000);
    scene = scene.hold("gates");
    scene.finishes();
    read(&mut scene, "late", Reading { scope: Scope::Side, ..Reading::exact(25_000, 0, 0, 0) });
    scene.release();
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::Cost], 4));
}

#[test]
fn four_fifths_of_a_limit_are_told_once_over_all_sessions() {
    let mut scene = priced("observe").spec(|s| s.limits.tokens = Some(100_000)).start();
    scene.usage(1_000).usage(2_000).usage(3_000).usage(30_000).usage(43_000);
    assert!(near(&scene).is_empty());
    scene.usage(2_000).usage(3_000);
    assert_eq!(near(&scene), ["81 % of the token limit is used: 81k tokens of 100k tokens"]);
    scene.killed_and_resumed().usage(2_000);
    assert_eq!((near(&scene).len(), scene.is_over()), (1, false));
}

#[test]
fn a_cost_limit_without_a_price_is_refused_before_the_agent_is_asked_anything() {
    let strict = |s: &mut RunSpec| {
        s.limits.cost_musd = Some(1_000_000);
        s.budget.strict = true;
    };
    let mut scene = Scenario::new("auto").spec(strict);
    scene.price = Some(None);
    let scene = scene.start();
    assert_eq!((scene.limits(), scene.exit_code(), scene.prompts().len()), (vec![Limit::UnknownCost], 4, 0));
    let advice = scene.outcome().advice.unwrap_or_default();
    assert!(advice.contains("[prices.\"m\"]") && advice.contains("--allow-unknown-cost"), "{advice}");
    let mut scene = Scenario::new("auto").spec(|s| s.limits.cost_musd = Some(1_000_000));
    scene.price = Some(None);
    let mut scene = scene.start();
    scene.usage(10_000).usage(11_000);
    assert_eq!((scene.warned("unknown_cost"), scene.is_over()), (1, false));
}

#[test]
fn an_agent_that_tells_its_cost_needs_no_price_until_it_keeps_silent() {
    let spec = |s: &mut RunSpec| {
        s.limits.cost_musd = Some(1_000_000);
        s.budget.strict = true;
        s.budget.agents.insert("a".to_owned(), AgentBudget { tells_cost: true, ..AgentBudget::default() });
    };
    let mut scene = Scenario::new("auto").spec(spec);
    scene.price = Some(None);
    let mut scene = scene.start();
    read(&mut scene, "1", Reading { session_cost_musd: Some(5), ..Reading::exact(10_000, 0, 0, 0) });
    assert_eq!((scene.view().spent().cost(), scene.is_over()), (Some(5), false));
    read(&mut scene, "2", Reading::exact(10_100, 0, 0, 0));
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::UnknownCost], 4));
}

#[test]
fn an_agent_that_tells_no_usage_is_not_trusted_with_a_limit() {
    for (money, tokens, refused) in [(Some(1), None, true), (None, Some(1_000), true), (None, None, false)] {
        let mut scene = priced("auto").spec(|s| {
            (s.limits.cost_musd, s.limits.tokens) = (money, tokens);
            s.budget.strict = true;
        });
        scene.can.usage = false;
        let scene = scene.start();
        assert_eq!((scene.is_over(), scene.prompts().is_empty()), (refused, refused));
    }
    let mut scene = priced("auto").spec(|s| {
        s.limits.tokens = Some(1_000_000);
        s.budget.strict = true;
    });
    scene = scene.start();
    scene.tools(3);
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::UnknownCost], 4));
}

#[test]
fn no_more_sessions_are_started_than_allowed() {
    let mut scene = priced("seamless").spec(|s| s.limits.sessions = Some(2)).start();
    scene.usage(40_000).usage(91_000).usage(40_000).usage(91_000);
    assert_eq!((scene.limits(), scene.started().len(), scene.exit_code()), (vec![Limit::Sessions], 2, 4));
    assert_eq!(scene.handoffs().last().map(|h| h.0), Some(HandoffKind::Stop));
    let spec = RunSpec {
        limits: crate::Limits { sessions: Some(9), ..scene.spec.limits.clone() },
        ..scene.spec.clone()
    };
    scene.killed_and_resumed_with(Some(spec), false);
    assert_eq!((scene.started().len(), scene.is_over()), (3, false));
}

#[test]
fn a_session_that_could_not_even_begin_is_not_started() {
    let mut scene = priced("seamless").spec(|s| s.limits.tokens = Some(300_000)).start();
    scene.usage(40_000).usage(60_000).usage(91_000);
    assert_eq!((scene.limits(), scene.started().len()), (vec![Limit::Tokens], 1));
    let outcome = scene.outcome();
    assert_eq!(outcome.exit_code(false), 4);
    assert!(outcome.reason.contains("leaves 109k tokens"), "{}", outcome.reason);
    assert!(
        outcome.reason.contains("needs about 191k tokens to start: it was not started"),
        "{}",
        outcome.reason
    );
}

#[test]
fn the_first_session_is_measured_by_what_sessions_usually_take() {
    let with = |usual: Option<Opening>| {
        let scene = priced("auto").spec(|s| {
            s.limits.cost_musd = Some(50_000);
            s.budget.agents.insert("a".to_owned(), AgentBudget { usual, ..AgentBudget::default() });
        });
        scene.start()
    };
    let scene = with(Some(Opening { tokens: 9, cost_musd: Some(50_001) }));
    assert_eq!((scene.started().len(), scene.exit_code(), scene.limits()), (0, 4, vec![Limit::Cost]));
    for usual in [Some(Opening { tokens: 9, cost_musd: Some(50_000) }), Some(Opening::default()), None] {
        assert_eq!(with(usual).started().len(), 1, "{usual:?}");
    }
}

#[test]
fn what_others_spend_in_the_day_counts_as_soon_as_it_is_told() {
    let limits = DayLimits { cost_musd: Some(100_000), ..DayLimits::default() };
    let mut scene = priced("observe").spec(|s| s.budget.day = limits).start();
    scene.usage(20_000).feed(day("d1", Spent { cost_musd: 65_000, ..Spent::default() }));
    assert_eq!((near(&scene).len(), scene.is_over()), (1, false));
    scene.feed(day("d2", Spent::default())).usage(21_000);
    assert_eq!((near(&scene).len(), scene.is_over()), (1, false));
    scene.feed(day("d2", Spent { cost_musd: 59_000, ..Spent::default() }));
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::DayCost], 4));
    assert!(scene.outcome().advice.unwrap_or_default().contains("cost_usd in [budget.day]"));
}

#[test]
fn what_the_run_spent_before_the_day_began_is_not_of_the_day() {
    let limits = DayLimits { tokens: Some(50_000), ..DayLimits::default() };
    let mut scene = priced("observe").spec(|s| s.budget.day = limits).start();
    scene.usage(45_000);
    let before = Spent { tokens: 45_000, sessions: 1, ..Spent::default() };
    scene.feed(Event::DaySpent(DaySpent {
        day: "d2".to_owned(),
        others: Spent::default(),
        before,
        since: START,
    }));
    scene.usage(46_000);
    assert!(!scene.is_over());
    assert_eq!(scene.view().today(START).map(|t| (t.tokens, t.sessions)), Some((46_000, 0)));
    scene.usage(47_000);
    assert_eq!(scene.limits(), [Limit::DayTokens]);
}

#[test]
fn the_days_time_and_sessions_are_limits_like_any_other() {
    let limits = DayLimits { wall_ms: Some(60_000), sessions: Some(3), ..DayLimits::default() };
    let today = |others| DaySpent { day: "d".to_owned(), others, before: Spent::default(), since: START };
    let with = |others: Spent| {
        priced("observe").spec(|s| {
            s.budget.day = limits;
            s.budget.today = Some(today(others));
        })
    };
    let mut scene = with(Spent { wall_ms: 30_000, ..Spent::default() }).start();
    scene.usage(10_000).wait(29_000).usage(11_000);
    assert!(!scene.is_over());
    scene.wait(1_000).usage(12_000);
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::DayTime], 4));
    let scene = with(Spent { sessions: 3, ..Spent::default() }).start();
    assert_eq!((scene.limits(), scene.exit_code(), scene.started().len()), (vec![Limit::DaySessions], 4, 0));
}

#[test]
fn a_resume_counts_what_was_spent_once_and_starts_nothing_while_the_limit_stands() {
    let mut scene = priced("seamless").spec(|s| s.limits.cost_musd = Some(30_000)).start();
    scene.usage(10_000).killed_and_resumed();
    assert_eq!(scene.view().spent().cost(), Some(10_000));
    scene.usage(20_000);
    assert_eq!((scene.exit_code(), scene.started().len()), (4, 2));
    scene.killed_and_resumed();
    assert_eq!((scene.is_over(), scene.started().len(), scene.limits()), (true, 2, vec![Limit::Cost; 2]));
    let mut more = scene.spec.clone();
    more.limits.cost_musd = Some(90_000);
    scene.killed_and_resumed_with(Some(more), false);
    assert_eq!(
        (scene.is_over(), scene.started().len(), scene.view().spent().cost()),
        (false, 3, Some(30_000))
    );
}

#[test]
fn an_agent_that_has_spent_its_budget_hands_over_to_the_next_or_stops() {
    let cap = |s: &mut RunSpec| {
        let budget = AgentBudget { cost_musd: Some(30_000), ..AgentBudget::default() };
        s.budget.agents.insert("a".to_owned(), budget);
    };
    let mut scene = priced("observe").fallback("b").spec(cap).start();
    assert_eq!(scene.run.budget_left_permille(0), Some(1_000));
    scene.usage(10_000);
    assert_eq!((scene.run.budget_left_permille(0), scene.run.budget_left_permille(1)), (Some(666), None));
    scene.usage(21_000);
    assert_eq!(scene.handoffs(), [(HandoffKind::Fallback, Some("b".to_owned()))]);
    assert_eq!((scene.run.budget_left_permille(0), scene.is_over()), (Some(0), false));
    let mut scene = priced("observe").spec(cap).start();
    scene.usage(10_000).usage(21_000);
    assert_eq!((scene.limits(), scene.exit_code()), (vec![Limit::AgentCost], 4));
}
