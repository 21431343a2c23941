//! The brake: agents that ask before their next call are stopped before the wall, and only then.

use super::scenario::Scenario;
use crate::{AgentEvent, CheckpointBy, Depth, Effect, Event, TurnEnd};

fn asks(scene: &mut Scenario, tool: &str, chars: u64) {
    let session = scene.view().sessions;
    scene.feed(Event::BrakeAsked { session, request: "r".to_owned(), tool: tool.to_owned(), chars });
}

fn stops(scene: &Scenario) -> Vec<bool> {
    scene.collect(|e| if let Effect::AnswerBrake { stop, .. } = e { Some(*stop) } else { None })
}

#[test]
fn a_result_that_fits_is_let_through() {
    let mut scene = Scenario::new("seamless").start();
    scene.reads(40_000).tool_begins("t");
    asks(&mut scene, "t", 20_000);
    assert_eq!((stops(&scene), scene.view().sessions), (vec![false], 1));
}

#[test]
fn m8_a_result_that_would_pass_the_ceiling_stops_the_agent_and_segue_writes_the_checkpoint() {
    let mut scene = Scenario::new("seamless").start();
    scene.reads(40_000).tool_begins("t");
    asks(&mut scene, "t", 300_000);
    assert_eq!((stops(&scene), scene.taken()), (vec![true], vec![]), "first the turn has to end");
    scene.tool_ends("t", 300_000).says(AgentEvent::TurnEnded(TurnEnd::Cancelled));
    assert_eq!((scene.asked(), scene.taken()), (vec![], vec![(Depth::Full, CheckpointBy::Segue)]));
    assert_eq!(scene.view().sessions, 2);
}

#[test]
fn k1_when_the_stopped_turn_has_ended_the_agent_is_asked_for_the_largest_form_that_fits() {
    for (left, depth) in [(9_000, Depth::Full), (3_000, Depth::Brief), (800, Depth::Emergency)] {
        let mut scene = Scenario::new("auto");
        scene.can.brake = true;
        let mut scene = scene.start();
        scene.reads(60_000).tool_begins("t");
        asks(&mut scene, "t", 130_000);
        assert_eq!((stops(&scene), scene.asked()), (vec![true], vec![]), "the hook only stops");
        scene.tool_ends("t", 40_000).reads(100_000 - left).says(AgentEvent::TurnEnded(TurnEnd::Cancelled));
        assert_eq!(scene.asked(), [depth], "{left} tokens are left");
        assert_eq!(scene.taken(), [(depth, CheckpointBy::Agent)]);
        assert_eq!(scene.view().sessions, 2);
    }
}

#[test]
fn k1_a_second_hook_of_the_same_answer_does_not_withdraw_the_request() {
    let mut scene = Scenario::new("auto");
    scene.can.brake = true;
    let mut scene = scene.start();
    scene.reads(60_000).tool_begins("a").tool_begins("b");
    asks(&mut scene, "a", 130_000);
    asks(&mut scene, "b", 1_000);
    assert_eq!((stops(&scene), scene.taken()), (vec![true, true], vec![]));
    scene.tool_ends("a", 10).tool_ends("b", 10).says(AgentEvent::TurnEnded(TurnEnd::Cancelled));
    assert_eq!(scene.taken(), [(Depth::Full, CheckpointBy::Agent)]);
}

#[test]
fn parallel_results_count_together_until_they_come_through_the_stream() {
    let mut scene = Scenario::new("seamless").start();
    scene.reads(40_000).tool_begins("a").tool_begins("b").tool_begins("c");
    for tool in ["a", "b", "c"] {
        asks(&mut scene, tool, 75_000);
    }
    assert_eq!(stops(&scene), [false, false, true]);
}

#[test]
fn t10_a_policy_that_never_replaces_never_brakes() {
    let mut scene = Scenario::new("observe").start();
    scene.reads(40_000).tool_begins("t");
    asks(&mut scene, "t", 900_000);
    assert_eq!(stops(&scene), [false]);
}

#[test]
fn a_question_from_a_dead_session_is_answered_and_changes_nothing() {
    let mut scene = Scenario::new("seamless").start();
    scene.feed(Event::BrakeAsked {
        session: 7,
        request: "r".to_owned(),
        tool: "t".to_owned(),
        chars: 900_000,
    });
    assert_eq!((stops(&scene), scene.view().sessions), (vec![false], 1));
}

#[test]
fn an_agent_that_was_asked_for_a_checkpoint_makes_no_further_call_first() {
    let mut scene = Scenario::new("seamless").hold("ask").start();
    scene.reads(85_000).tool_begins("a").tool_begins("b").tool_ends("a", 20_000);
    asks(&mut scene, "b", 100);
    assert_eq!((stops(&scene), scene.taken()), (vec![true], vec![]));
}

#[test]
fn the_call_that_makes_the_checkpoint_is_let_through() {
    let mut scene = Scenario::new("seamless").hold("ask").start();
    scene.reads(85_000).tool_begins("a").tool_begins("b").tool_ends("a", 20_000).tool_ends("b", 10);
    asks(&mut scene, "model call", 0);
    let session = scene.view().sessions;
    scene.feed(Event::Agent { session, event: AgentEvent::TurnEnded(TurnEnd::Cancelled) });
    asks(&mut scene, "model call", 0);
    assert_eq!((stops(&scene), scene.taken()), (vec![true, false], vec![]));
}

#[test]
fn k1_an_agent_that_can_only_be_asked_inside_is_asked_while_there_is_room_and_works_on() {
    let mut scene = Scenario::new("auto").threshold(98.0).window(400_000);
    scene.can.brake = true;
    let mut scene = scene.start();
    let mut read = 205_000;
    while scene.asked().is_empty() && read < 400_000 {
        scene.reads(read).tool_begins("t").tool_ends("t", 60_000);
        asks(&mut scene, "model call", 0);
        if stops(&scene).last() == Some(&true) {
            scene.says(AgentEvent::TurnEnded(TurnEnd::Cancelled));
        }
        read += 10_000;
    }
    assert_eq!((scene.asked(), scene.taken()), (vec![Depth::Full], vec![(Depth::Full, CheckpointBy::Agent)]));
    assert_eq!(scene.view().sessions, 1, "the work continues in the same session");
    scene.tool_begins("t").tool_ends("t", 400_000);
    assert_eq!(scene.taken().last(), Some(&(Depth::Full, CheckpointBy::Agent)), "its earlier words are used");
    assert_eq!(scene.view().sessions, 2);
}

#[test]
fn k1_the_room_that_is_kept_for_a_request_includes_its_own_words() {
    let mut asked = 0;
    for read in (80_000..=97_000).step_by(100) {
        let mut scene = Scenario::new("auto").threshold(98.0).hold("ask");
        scene.can.brake = true;
        let mut scene = scene.start();
        scene.reads(read).tool_begins("t").tool_ends("t", 8_000);
        asks(&mut scene, "model call", 0);
        let session = scene.view().sessions;
        scene.feed(Event::Agent { session, event: AgentEvent::TurnEnded(TurnEnd::Cancelled) });
        if !scene.run.ask.as_ref().is_some_and(|ask| ask.answering) {
            continue;
        }
        asked += 1;
        scene.feed(Event::PromptSent { session, chars: 700 });
        asks(&mut scene, "model call", 0);
        assert_eq!(
            stops(&scene).last(),
            Some(&false),
            "the request itself goes through after a call of {read}"
        );
    }
    assert!(asked > 20, "{asked}");
}
