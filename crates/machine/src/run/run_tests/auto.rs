//! `auto`: where its lines lie, what a good moment is, and what the agent is told.

use super::scenario::Scenario;
use crate::policy::{Lines, Percent, Policy};
use crate::{AgentEvent, Capabilities, Depth, Effect, Event, GateWhen, SessionReason};

const WINDOW: u64 = 200_000;

/// A session of `calls` calls that add a thousand tokens each.
fn steady(scene: Scenario, calls: u64) -> Scenario {
    let mut scene = scene.window(WINDOW).start();
    for call in 0..calls {
        scene.usage(40_000 + call * 1_000);
    }
    scene
}

fn auto(brake: bool) -> Scenario {
    let mut scene = Scenario::new("auto");
    scene.can = Capabilities { brake, ..scene.can };
    scene
}

fn lines(scene: &Scenario) -> Option<Lines> {
    scene.run.lines
}

fn told(scene: &Scenario) -> Vec<String> {
    scene.collect(|e| if let Effect::TellAgent { text, .. } = e { Some(text.clone()) } else { None })
}

/// A tool with this title, that goes well.
fn does(scene: &mut Scenario, title: &str) {
    let (tool, title) = ("x".to_owned(), title.to_owned());
    scene.says(AgentEvent::ToolStarted { tool: tool.clone(), title: title.clone() });
    scene.says(AgentEvent::ToolEnded { tool, title, ok: true, chars: 10 });
}

#[test]
fn until_there_is_a_forecast_the_lines_are_those_of_the_policy() {
    assert_eq!(lines(&steady(auto(true), 10)), None);
    assert!(lines(&steady(auto(true), 12)).is_some());
}

#[test]
fn with_a_brake_the_lines_lie_higher_than_without_and_both_leave_room_to_ask() {
    let with = lines(&steady(auto(true), 40)).unwrap();
    let without = lines(&steady(auto(false), 40)).unwrap();
    assert!(with.hard > without.hard && with.soft > without.soft, "{with:?} {without:?}");
    for lines in [with, without] {
        assert!(lines.soft < lines.hard, "{lines:?}");
        let left = WINDOW - lines.hard.part_of(WINDOW);
        assert!(left >= Depth::Full.room(), "{left}");
    }
    assert!(with.hard >= Percent::whole(93), "{with:?}");
}

#[test]
fn t5_a_threshold_stays_the_hard_line_and_the_soft_line_lies_below_it() {
    let scene = steady(auto(true).threshold(60.0), 12);
    let lines = lines(&scene).unwrap();
    assert_eq!(lines.hard, Percent::whole(60));
    assert!(lines.soft < lines.hard, "{lines:?}");
    let both = steady(auto(true).spec(|s| s.policy.moves = moves(false, false)), 12);
    assert_eq!(both.run.lines, Some(Lines::default()));
}

fn moves(soft: bool, hard: bool) -> Option<crate::policy::Moves> {
    Some(crate::policy::Moves { soft, hard })
}

#[test]
fn a_window_that_is_small_against_one_result_still_gets_used() {
    let mut scene = auto(false).window(12_000).start();
    for call in 0..12 {
        scene.usage(2_000 + call * 100);
    }
    let lines = lines(&scene).unwrap();
    assert!(lines.soft >= Percent::whole(50) && lines.hard >= Percent::whole(60), "{lines:?}");
}

/// A run between its lines: soft 80, hard 88, of 100,000.
fn between() -> Scenario {
    let mut scene = Scenario::new("auto").gates(1).start();
    scene.usage(81_000);
    scene
}

#[test]
fn a_commit_is_a_good_moment_and_looking_at_one_is_not() {
    let mut scene = between();
    does(&mut scene, "git log -1");
    assert_eq!(scene.started().len(), 1);
    does(&mut scene, "git add -A && git commit -m 'half of it'");
    assert_eq!(scene.started().last().unwrap().1, SessionReason::Restart);
}

#[test]
fn a_gates_own_command_gone_green_is_a_good_moment() {
    let mut scene = between();
    does(&mut scene, "cargo build");
    assert_eq!(scene.started().len(), 1);
    does(&mut scene, "cd w && x");
    assert_eq!(scene.started().len(), 2);
}

#[test]
fn nothing_is_a_good_moment_while_a_tool_runs() {
    let mut scene = between();
    scene.tool_begins("a").tool_begins("b");
    scene.says(AgentEvent::ItemsSeen { open: 1, closed: 1, items: Vec::new() }).tool_ends("a", 10);
    assert_eq!(scene.started().len(), 1);
    scene.tool_ends("b", 10);
    assert_eq!(scene.started().len(), 2);
}

#[test]
fn below_the_soft_line_no_moment_is_good_enough() {
    let mut scene = Scenario::new("auto").start();
    scene.usage(79_000);
    does(&mut scene, "git commit -m x");
    assert_eq!(scene.started().len(), 1);
}

#[test]
fn a_gate_that_is_green_for_the_first_time_is_a_good_moment_for_the_rest_of_the_work() {
    let mut scene = Scenario::new("auto").gates(2).hold("gates").start();
    let says = |scene: &mut Scenario, gate: &str, when, passed: bool| {
        let exit = Some(i32::from(!passed));
        let (gate, tail) = (gate.to_owned(), String::new());
        let result =
            crate::GateResult { gate, when, passed, exit, ms: 1, output: None, tail, timed_out: false };
        scene.feed(Event::GateFinished(result));
    };
    says(&mut scene, "g1", GateWhen::Before, false);
    says(&mut scene, "g2", GateWhen::Before, false);
    scene.usage(81_000).finishes();
    says(&mut scene, "g1", GateWhen::After, true);
    says(&mut scene, "g2", GateWhen::After, false);
    assert_eq!(scene.started().len(), 2, "what is left is done in a fresh window");
}

#[test]
fn t3_completion_between_the_lines_is_completion() {
    let mut scene = between();
    scene.finishes();
    assert_eq!((scene.started().len(), scene.exit_code()), (1, 0));
}

#[test]
fn the_agent_is_told_once_at_the_soft_line_and_only_facts() {
    let mut scene = between();
    scene.usage(82_000).usage(83_000);
    assert_eq!(told(&scene), ["Context window: 81 % used."]);
    scene.usage(90_000);
    assert_eq!((scene.started().len(), told(&scene).len()), (2, 1));
    scene.usage(81_000);
    assert_eq!(told(&scene).len(), 2, "once in each session");
}

#[test]
fn with_a_forecast_it_is_told_how_many_calls_are_left() {
    let mut scene = steady(auto(true), 60);
    let soft = lines(&scene).unwrap().soft.part_of(WINDOW);
    scene.usage(soft + 1_000);
    let told = told(&scene);
    assert!(told.len() == 1 && told[0].ends_with(" calls left."), "{told:?}");
}

#[test]
fn nobody_is_told_who_cannot_be_told_or_when_that_is_switched_off() {
    let mut scene = Scenario::new("auto");
    scene.can.tell = false;
    let mut deaf = scene.start();
    deaf.usage(81_000);
    let mut off = Scenario::new("auto").spec(|s| s.policy.tell = false).start();
    off.usage(81_000);
    let mut one = Scenario::new("auto").threshold(100.0).start();
    one.usage(90_000);
    for scene in [deaf, off, one] {
        assert_eq!(told(&scene), [""; 0]);
    }
}

#[test]
fn m8_with_a_brake_a_result_that_might_not_fit_stops_the_agent_before_it_is_sent() {
    let mut scene = steady(auto(true), 12);
    scene.usage(150_000).tool_begins("t");
    let asks = |scene: &mut Scenario, chars: u64| {
        let (request, tool) = ("r".to_owned(), "t".to_owned());
        scene.feed(Event::BrakeAsked { session: 1, request, tool, chars });
    };
    asks(&mut scene, 20_000);
    assert_eq!(scene.count("take"), 0);
    asks(&mut scene, 90_000);
    assert_eq!((scene.count("take"), scene.count("ask")), (0, 0), "it is asked when its turn has ended");
}

#[test]
fn a_run_from_before_there_was_a_forecast_decides_as_it_did() {
    let old: Policy = {
        let mut policy = serde_json::to_value(&Scenario::new("auto").spec.policy).unwrap();
        policy.as_object_mut().unwrap().remove("moves");
        policy.as_object_mut().unwrap().remove("tell");
        serde_json::from_value(policy).unwrap()
    };
    assert!(old.tell && old.moves.is_none());
    let scene = steady(auto(true).spec(|s| s.policy = old), 40);
    assert_eq!(lines(&scene), Some(Lines::default()));
    let mut scene = scene;
    scene.usage(150_000);
    does(&mut scene, "git commit -m x");
    assert_eq!(scene.started().len(), 1);
}
