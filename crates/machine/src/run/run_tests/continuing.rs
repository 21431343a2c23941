//! The same conversation after a failure: kept, resumed, or given up.

use super::scenario::{Birth, START, Scenario};
use crate::{
    AgentEvent, AgentFailure, Capabilities, Continued, Effect, Notice, Phase, Prompt, Retry, SessionReason,
    StopHow, TurnEnd,
};

const SECOND: u64 = 1_000;

fn scene(births: &[Birth]) -> Scenario {
    let mut scene = Scenario::new("seamless").births(births);
    scene.can = Capabilities { resume: true, ..scene.can };
    scene.start()
}

fn fails(failure: AgentFailure, retry: Option<Retry>) -> AgentEvent {
    AgentEvent::TurnEnded(TurnEnd::Failed { failure, message: "it said no".to_owned(), retry })
}

fn continued(scene: &Scenario) -> Vec<(u32, Continued)> {
    scene.notices(|n| {
        if let Notice::SessionContinued { session, how, .. } = n { Some((*session, *how)) } else { None }
    })
}

fn ready(scene: &mut Scenario, conversation: &str) {
    let can = scene.can;
    let conversation = conversation.to_owned();
    scene.says(AgentEvent::Ready { conversation, model: None, window: None, ceiling: None, can });
}

fn asked_for(scene: &Scenario) -> Vec<Option<String>> {
    scene.collect(|e| {
        if let Effect::StartSession { conversation, .. } = e { Some(conversation.clone()) } else { None }
    })
}

#[test]
fn h3_a_process_is_kept_through_a_short_wait_and_told_to_continue() {
    let mut scene = scene(&[]);
    scene.usage(40_000).says(fails(AgentFailure::RateLimited, Some(Retry::After(20 * SECOND))));
    assert_eq!((scene.view().phase, scene.view().session.is_some()), (Phase::Waiting, true));
    assert_eq!((scene.count("end"), scene.taken().len()), (0, 1), "the work is saved all the same");
    scene.wait(21 * SECOND);
    assert_eq!(continued(&scene), [(1, Continued::Alive)]);
    assert_eq!((scene.started().len(), scene.prompts().len()), (1, 2));
    assert!(matches!(&scene.prompts()[1], Prompt::Continue { cut, .. } if cut.is_empty()));
    scene.finishes();
    assert_eq!(scene.exit_code(), 0);
}

#[test]
fn h3_a_long_wait_ends_the_process_and_its_conversation_is_resumed_with_its_gauge() {
    let mut scene = scene(&[Birth::Ready, Birth::Silent]);
    scene.usage(40_000).says(fails(AgentFailure::RateLimited, Some(Retry::After(600 * SECOND))));
    assert_eq!((scene.view().session.is_none(), scene.count("end")), (true, 1));
    scene.wait(601 * SECOND);
    assert_eq!(asked_for(&scene)[1], Some("conversation-1".to_owned()));
    ready(&mut scene, "conversation-1");
    assert_eq!(continued(&scene), [(2, Continued::Resumed)]);
    let fill = scene.view().session.as_ref().and_then(|s| s.gauge.fill());
    assert!(fill.is_some_and(|fill| fill >= 40_000), "{fill:?}");
}

#[test]
fn h3_a_failure_of_no_known_kind_is_continued_at_once_and_only_once_without_a_call() {
    let mut scene = scene(&[]);
    scene.usage(40_000).says(fails(AgentFailure::Other, None));
    assert_eq!((continued(&scene), scene.started().len()), (vec![(1, Continued::Alive)], 1));
    scene.says(fails(AgentFailure::Other, None));
    assert_eq!(
        (continued(&scene).len(), scene.started().len()),
        (1, 2),
        "a fresh session after two in a row"
    );
}

#[test]
fn h3_a_dead_process_is_resumed_and_what_it_cut_is_named() {
    let mut scene = scene(&[Birth::Ready, Birth::Silent]);
    scene.usage(40_000).tool_begins("t1").crashes();
    ready(&mut scene, "conversation-1");
    assert_eq!(continued(&scene), [(2, Continued::Resumed)]);
    assert!(matches!(scene.prompts().last(), Some(Prompt::Continue { cut, .. }) if cut.len() == 1));
}

#[test]
fn h3_a_conversation_that_cannot_be_resumed_gives_way_to_a_fresh_session() {
    let mut scene = scene(&[Birth::Ready, Birth::ExitsFirst, Birth::Ready]);
    scene.usage(40_000).crashes();
    assert_eq!(asked_for(&scene), [None, Some("conversation-1".to_owned()), None]);
    assert!(matches!(scene.prompts().last(), Some(Prompt::Continuation { .. })));
    assert_eq!(continued(&scene), []);
}

#[test]
fn h3_past_the_soft_line_a_fresh_session_takes_over_instead() {
    for (tokens, fresh) in [(40_000, false), (84_000, true)] {
        let mut scene = Scenario::new("auto").births(&[]);
        scene.can = Capabilities { resume: true, ..scene.can };
        let mut scene = scene.start();
        scene.usage(tokens);
        assert_eq!(scene.started().len(), 1, "no good moment at {tokens} yet");
        scene.says(fails(AgentFailure::Overloaded, None)).wait(120 * SECOND);
        assert_eq!(continued(&scene).is_empty(), fresh, "{tokens}");
        assert_eq!(scene.started().len(), if fresh { 2 } else { 1 }, "{tokens}");
        assert_eq!(asked_for(&scene).last(), Some(&None));
    }
}

#[test]
fn h3_a_process_that_dies_in_the_wait_is_resumed_after_it_and_a_stop_ends_it() {
    let mut scene = scene(&[Birth::Ready, Birth::Silent]);
    scene.usage(40_000).says(fails(AgentFailure::RateLimited, Some(Retry::After(20 * SECOND))));
    scene.crashes();
    assert_eq!(scene.view().phase, Phase::Waiting);
    scene.wait(21 * SECOND);
    assert_eq!(asked_for(&scene)[1], Some("conversation-1".to_owned()));

    let mut scene = self::scene(&[]);
    scene.usage(40_000).says(fails(AgentFailure::RateLimited, Some(Retry::After(20 * SECOND))));
    scene.stop(StopHow::Gently);
    assert_eq!((scene.view().phase, scene.count("end"), scene.now), (Phase::Finished, 1, START));
}

#[test]
fn h3_after_a_crash_of_segue_the_conversation_is_resumed() {
    let mut scene = scene(&[Birth::Ready, Birth::Silent]);
    scene.usage(40_000).killed_and_resumed();
    assert_eq!(asked_for(&scene)[1], Some("conversation-1".to_owned()));
    assert_eq!(scene.started()[1].1, SessionReason::Resume);
    ready(&mut scene, "conversation-1");
    assert_eq!(continued(&scene), [(2, Continued::Resumed)]);
}

#[test]
fn v1_an_answer_for_an_agent_without_conversations_comes_with_the_task() {
    let mut scene = scene(&[Birth::Silent, Birth::Silent]);
    ready(&mut scene, "");
    let text = "STATUS: blocked – SQLite or Postgres?".to_owned();
    scene.says(AgentEvent::TurnEnded(TurnEnd::Finished { text }));
    assert_eq!(scene.exit_code(), 3);
    scene.answered("Postgres");
    ready(&mut scene, "");
    let last = scene.prompts().pop();
    assert!(matches!(&last, Some(Prompt::Continuation { answer: Some(_), .. })), "{last:?}");
}
