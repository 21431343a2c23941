//! Side questions: asked beside the work, answered from the conversation, and what becomes of the answer.

use super::scenario::{BLOCK, Reply, Scenario, SideReply};
use crate::{
    AgentEvent, CheckpointBy, CheckpointHow, Depth, Effect, Event, SessionReason, StopHow, TurnEnd, Verdict,
};

/// An agent that takes side questions and asks its hook after each tool.
fn aside(policy: &str) -> Scenario {
    let mut scene = Scenario::new(policy);
    (scene.can.side, scene.can.brake) = (true, true);
    scene
}

fn hook(scene: &mut Scenario, request: &str, tool: &str, chars: u64) {
    let session = scene.view().sessions;
    let (request, tool) = (request.to_owned(), tool.to_owned());
    scene.feed(Event::BrakeAsked { session, request, tool, chars });
}

fn hooks(scene: &Scenario) -> Vec<(String, bool)> {
    scene.collect(|e| {
        let Effect::AnswerBrake { request, stop } = e else { return None };
        Some((request.clone(), *stop))
    })
}

/// Of each checkpoint whose words it holds, from which call, and how old they were.
fn sources(scene: &Scenario) -> Vec<(CheckpointHow, Option<u32>, Option<u64>)> {
    scene.collect(|e| {
        let Effect::TakeCheckpoint { source, .. } = e else { return None };
        source.map(|s| (s.how, s.from_call, s.age_ms))
    })
}

fn answers(scene: &Scenario) -> Vec<Option<String>> {
    scene.collect(|e| if let Effect::TakeCheckpoint { answer, .. } = e { Some(answer.clone()) } else { None })
}

#[test]
fn k1_at_the_soft_line_the_agents_words_are_stored_and_its_work_goes_on() {
    let mut scene = aside("auto").start();
    scene.usage(50_000).usage(82_000).usage(83_000);
    assert_eq!(scene.count("side"), 1, "once in a session");
    assert_eq!(scene.taken(), [(Depth::Full, CheckpointBy::Agent)]);
    assert_eq!(sources(&scene), [(CheckpointHow::Side, Some(2), Some(0))]);
    assert_eq!((scene.count("ask"), scene.count("prompt"), scene.count("end")), (0, 1, 0));
}

#[test]
fn k1_a_handoff_asks_beside_the_work_and_never_inside_it() {
    for policy in ["auto", "seamless", "loop", "phased"] {
        let mut scene = aside(policy).start();
        scene.usage(50_000).usage(60_000).usage(93_000);
        assert_eq!(scene.started().last().unwrap().1, SessionReason::Restart, "{policy}");
        assert_eq!(scene.count("ask"), 0, "{policy}");
        let last = answers(&scene).pop().unwrap();
        assert_eq!(last.as_deref(), Some(BLOCK), "{policy}");
        assert_eq!(sources(&scene).last().unwrap().0, CheckpointHow::Side);
    }
}

#[test]
fn k1_at_the_brake_the_hook_is_held_until_the_side_question_is_answered() {
    let mut scene = aside("auto").hold("side").start();
    scene.usage(50_000).usage(60_000).tool_begins("a").tool_begins("b");
    hook(&mut scene, "1", "a", 90_000);
    assert_eq!((scene.count("side"), hooks(&scene)), (1, vec![]), "nothing is answered yet");
    hook(&mut scene, "2", "b", 1_000);
    assert_eq!((scene.count("side"), hooks(&scene)), (1, vec![]), "both calls of the answer wait");
    scene.release();
    assert_eq!(hooks(&scene), [("1".to_owned(), true), ("2".to_owned(), true)]);
    assert_eq!(scene.taken(), [(Depth::Full, CheckpointBy::Agent)]);
    scene.tool_ends("a", 90_000).tool_ends("b", 1_000);
    assert_eq!((scene.view().sessions, scene.count("ask")), (2, 0));
    let since: Vec<&str> = scene.view().tools_since.iter().map(|t| t.title.as_str()).collect();
    assert_eq!(since, ["works", "works"], "the successor is told what ended after the words");
}

#[test]
fn k1_an_early_question_that_is_under_way_serves_the_brake_too() {
    let mut scene = aside("auto").hold("side").start();
    scene.usage(50_000).usage(82_000).tool_begins("a");
    hook(&mut scene, "1", "a", 60_000);
    assert_eq!((scene.count("side"), hooks(&scene)), (1, vec![]));
    scene.release().tool_ends("a", 60_000);
    assert_eq!((hooks(&scene), scene.view().sessions), (vec![("1".to_owned(), true)], 2));
}

#[test]
fn k1_a_hook_that_comes_while_early_words_are_stored_is_judged_afterwards() {
    for (chars, stop) in [(100, false), (60_000, true)] {
        let mut scene = aside("auto").hold("take").start();
        scene.usage(50_000).usage(82_000).tool_begins("a");
        hook(&mut scene, "1", "a", chars);
        let waits: Vec<(String, bool)> = if stop { vec![] } else { vec![("1".to_owned(), false)] };
        assert_eq!(hooks(&scene), waits);
        scene.release();
        assert_eq!(hooks(&scene), [("1".to_owned(), stop)]);
    }
}

#[test]
fn k1_an_answer_without_a_complete_block_is_asked_once_more_and_then_inside_the_conversation() {
    let mut scene = aside("seamless");
    scene.side_reply = SideReply::Says("I am at step three.");
    let mut scene = scene.start();
    scene.usage(50_000).usage(91_000);
    assert_eq!((scene.count("side"), scene.asked()), (2, vec![Depth::Full]));
    assert_eq!(sources(&scene).last().unwrap().0, CheckpointHow::InBand);
    assert_eq!(scene.view().sessions, 2);
}

#[test]
fn k1_an_agent_without_a_brake_is_not_asked_again_where_its_next_call_may_not_fit() {
    for (read, asked) in [(98_000, 0), (60_000, 1)] {
        let mut scene = aside("seamless").threshold(if asked == 0 { 95.0 } else { 55.0 });
        (scene.can.brake, scene.side_reply) = (false, SideReply::Says("I am at step three."));
        let mut scene = scene.start();
        scene.usage(50_000).usage(read);
        assert_eq!((scene.count("side"), scene.count("ask")), (1 + asked, asked), "{read}");
        assert_eq!(scene.view().sessions, 2);
    }
}

#[test]
fn k1_at_the_brake_a_failed_question_leads_to_a_stop_and_the_request_after_it() {
    let mut scene = aside("auto");
    scene.side_reply = SideReply::Fails;
    let mut scene = scene.start();
    scene.usage(50_000).usage(60_000).tool_begins("a");
    hook(&mut scene, "1", "a", 90_000);
    assert_eq!((hooks(&scene), scene.count("ask")), (vec![("1".to_owned(), true)], 0));
    scene.tool_ends("a", 10).says(AgentEvent::TurnEnded(TurnEnd::Cancelled));
    assert_eq!((scene.asked(), scene.view().sessions), (vec![Depth::Full], 2));
}

#[test]
fn k1_an_agent_that_is_stopped_before_it_compacts_hands_over_and_has_not_failed() {
    for (held, early) in [("take", true), ("side", false)] {
        let mut scene = aside("auto").hold(held);
        scene.can.brake = false;
        let mut scene = scene.start();
        scene.usage(50_000).usage(82_000);
        scene.reads(99_900).says(AgentEvent::TurnEnded(TurnEnd::Cancelled)).release();
        assert_eq!((scene.view().sessions, scene.count("ask")), (2, 0));
        assert_eq!(scene.count("prompt"), 2, "the full session is not told to go on");
        assert_eq!(answers(&scene).pop().unwrap().as_deref(), Some(BLOCK), "early words: {early}");
        let ends = scene.collect(|e| {
            let Effect::Announce(crate::Notice::SessionEnded { reason, .. }) = e else { return None };
            Some(*reason)
        });
        assert_eq!((ends, scene.view().failures), (vec![crate::EndReason::Replaced], 0));
    }
}

#[test]
fn k1_when_nobody_answers_at_the_handoff_the_early_words_are_used_with_their_age() {
    let mut scene = aside("auto").reply(Reply::Refuses).start();
    scene.usage(50_000).usage(82_000).wait(5_000);
    scene.side_reply = SideReply::Fails;
    scene.usage(83_000).usage(93_000);
    assert_eq!(scene.view().sessions, 2);
    assert_eq!(sources(&scene).last(), Some(&(CheckpointHow::Side, Some(2), Some(5_000))));
    assert_eq!(answers(&scene).pop().unwrap().as_deref(), Some(BLOCK));
    assert_eq!(scene.view().tools_since.len(), 2, "what happened since the words is told");
}

#[test]
fn k1_a_session_that_is_lost_leaves_its_early_words() {
    let mut scene = aside("auto").start();
    scene.usage(50_000).usage(82_000).crashes();
    assert_eq!(scene.taken().last(), Some(&(Depth::Emergency, CheckpointBy::Agent)));
    assert_eq!(answers(&scene).pop().unwrap().as_deref(), Some(BLOCK));
}

#[test]
fn k1_a_side_question_that_is_never_answered_gives_way_in_time() {
    let mut scene = aside("seamless").hold("side").start();
    scene.usage(50_000).usage(91_000).wait(29_000);
    assert_eq!(scene.count("ask"), 0);
    scene.wait(2_000);
    assert_eq!((scene.asked(), scene.view().sessions), (vec![Depth::Full], 2));
}

#[test]
fn no_side_question_is_put_while_the_provider_refuses_or_an_allowance_is_nearly_used() {
    let used = AgentEvent::AllowanceSeen { name: "5 h".to_owned(), used_percent: 91, resets_at: None };
    let retries = AgentEvent::Retrying {
        attempt: 1,
        of: None,
        why: "529".to_owned(),
        failure: crate::AgentFailure::Overloaded,
        delay_ms: None,
        next_at: None,
    };
    for event in [used, retries] {
        let mut scene = aside("auto").start();
        scene.usage(50_000).usage(79_000).says(event).feed(Event::PromptSent { session: 1, chars: 9_000 });
        scene.says(AgentEvent::ItemsSeen { open: 1, closed: 0, items: Vec::new() });
        assert_eq!(scene.count("side"), 0);
    }
}

#[test]
fn t3_work_that_completes_while_a_handoff_asks_is_gated_and_not_replaced() {
    let mut scene = aside("seamless").gates(1).hold("side").start();
    scene.usage(50_000).usage(91_000).finishes();
    assert_eq!(scene.outcome().verdict, Verdict::Verified);
    assert_eq!(scene.view().sessions, 1);
}

#[test]
fn k3_a_turn_that_ends_above_the_soft_line_while_a_gate_fails_is_handed_over_there() {
    let mut scene = aside("auto").gates(1).rounds(&[false, true]).start();
    scene.usage(50_000).usage(82_000).finishes();
    assert_eq!(scene.view().sessions, 2);
    assert_eq!(answers(&scene).pop().unwrap().as_deref(), Some(BLOCK));
    let mut below = aside("auto").gates(1).rounds(&[false, true]).start();
    below.usage(50_000).usage(70_000).finishes();
    assert_eq!(below.view().sessions, 1);
}

#[test]
fn a_person_who_stops_the_run_gets_the_agents_words_without_an_interruption() {
    let mut scene = aside("auto").start();
    scene.usage(50_000).stop(StopHow::Gently);
    assert_eq!((scene.count("side"), scene.count("ask")), (1, 0));
    assert_eq!(scene.taken(), [(Depth::Full, CheckpointBy::Agent)]);
}

#[test]
fn k3_a_checkpoint_that_nobody_asked_for_is_used_where_the_turn_ends_above_the_soft_line() {
    for gates in [0, 1] {
        let mut scene = Scenario::new("auto").gates(gates).rounds(&[false, true]).start();
        scene.usage(50_000).usage(82_000);
        scene.says(AgentEvent::TurnEnded(TurnEnd::Finished { text: format!("I stop here.\n{BLOCK}") }));
        assert_eq!((scene.view().sessions, scene.count("ask")), (2, 0), "{gates} gates");
        assert_eq!(sources(&scene).last().unwrap().0, CheckpointHow::Volunteered);
        assert_eq!(answers(&scene).pop().unwrap().as_deref(), Some(BLOCK));
    }
}

#[test]
fn t3_work_that_passes_its_gates_is_done_whatever_checkpoint_its_agent_wrote() {
    let mut scene = Scenario::new("auto").gates(1).start();
    scene.usage(50_000).usage(82_000);
    scene.says(AgentEvent::TurnEnded(TurnEnd::Finished { text: BLOCK.to_owned() }));
    assert_eq!((scene.outcome().verdict, scene.view().sessions), (Verdict::Verified, 1));
}
