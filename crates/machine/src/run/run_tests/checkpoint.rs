//! Checkpoint: who writes it, and how long the agent has.

use super::scenario::{Reply, START, Scenario};
use crate::CheckpointBy::{Agent, Segue};
use crate::{AgentEvent, Depth, EndHow, Event, Limit, Prompt, Timer, TurnEnd, Verdict, View, WorkState};

#[test]
fn c2_no_answer_in_30_s_and_segue_writes_it() {
    let mut scene = Scenario::new("seamless").reply(Reply::Silent).start();
    scene.usage(40_000).usage(91_000).wait(29_999);
    assert_eq!(scene.taken(), []);
    scene.wait(1);
    assert_eq!((scene.taken(), scene.started().len()), (vec![(Depth::Full, Segue)], 2));
    assert_eq!(scene.warned("no_answer"), 1);
}

#[test]
fn c2_a_refused_request_is_written_by_segue_at_once() {
    let mut scene = Scenario::new("seamless").reply(Reply::Refuses).start();
    scene.usage(40_000).usage(91_000);
    assert_eq!((scene.taken(), scene.started().len()), (vec![(Depth::Full, Segue)], 2));
}

#[test]
fn c2_an_empty_answer_is_no_answer() {
    let mut scene = Scenario::new("seamless").hold("ask").start();
    scene.usage(40_000).usage(91_000).says(AgentEvent::Answered { text: " \n".to_owned() });
    assert_eq!(scene.taken(), [(Depth::Full, Segue)]);
}

#[test]
fn c2_words_that_are_no_checkpoint_are_no_answer() {
    for (text, by, warned) in [
        ("The booking module reads well. Step 4 is next.\n## Step 4\n- sh step.sh 4", Segue, 1),
        ("## Completed Work\n- step 3\n## Remaining Tasks\n- step 4", Agent, 0),
    ] {
        let mut scene = Scenario::new("seamless").hold("ask").start();
        scene.usage(40_000).usage(91_000).says(AgentEvent::Answered { text: text.to_owned() });
        assert_eq!((scene.taken(), scene.warned("no_answer")), (vec![(Depth::Full, by)], warned), "{text}");
    }
}

#[test]
fn c2_the_time_to_answer_counts_from_the_end_of_the_running_tool() {
    let mut scene = Scenario::new("seamless").reply(Reply::Silent).start();
    scene.usage(40_000).tool_begins("build").reads(59_000).usage(91_000);
    assert_eq!((scene.count("ask"), scene.timer(Timer::Ask)), (1, None));
    scene.wait(120_000).tool_ends("build", 10);
    assert_eq!(scene.timer(Timer::Ask), Some(START + 150_000));
    scene.wait(29_999);
    assert_eq!(scene.taken(), []);
    scene.wait(1);
    assert_eq!(scene.taken(), [(Depth::Full, Segue)]);
}

#[test]
fn c2_a_tool_that_begins_before_the_request_arrives_holds_the_time_and_later_ones_do_not() {
    let mut scene = Scenario::new("seamless").reply(Reply::Silent).start();
    scene.usage(50_000).usage(91_000);
    assert_eq!(scene.timer(Timer::Ask), Some(START + 30_000));
    scene.tool_begins("t1").wait(120_000);
    assert_eq!((scene.count("take"), scene.timer(Timer::Ask)), (0, None));
    scene.tool_ends("t1", 0);
    assert_eq!(scene.timer(Timer::Ask), Some(START + 150_000));
    scene.wait(20_000).tool_begins("t2").tool_ends("t2", 0).tool_begins("t3");
    assert_eq!(scene.timer(Timer::Ask), Some(START + 150_000));
    scene.wait(10_000);
    assert_eq!(scene.count("take"), 1);
}

#[test]
fn c2_an_agent_in_the_middle_of_its_words_is_heard_out_within_reason() {
    let mut scene = Scenario::new("seamless").reply(Reply::Silent).start();
    scene.usage(50_000).usage(91_000);
    for _ in 0..9 {
        scene.wait(29_000).says(AgentEvent::TextSaid { chars: 10 });
    }
    assert_eq!(scene.timer(Timer::Ask), Some(START + 9 * 29_000 + 30_000));
    for _ in 0..9 {
        scene.wait(29_000).says(AgentEvent::TextSaid { chars: 10 });
    }
    assert_eq!(scene.count("take"), 1, "words without end are no answer");
}

#[test]
fn c2_the_time_to_answer_never_ends_after_the_runs_deadline() {
    let mut scene =
        Scenario::new("seamless").reply(Reply::Silent).spec(|s| s.limits.deadline_ms = Some(60_000)).start();
    scene.usage(40_000).wait(50_000).usage(91_000);
    assert_eq!(scene.timer(Timer::Ask), Some(START + 60_000));
    scene.wait(10_000);
    assert_eq!((scene.taken(), scene.exit_code()), (vec![(Depth::Full, Segue)], 4));
    assert_eq!((scene.outcome().limit, scene.started().len()), (Some(Limit::Deadline), 1));
}

#[test]
fn c2_the_deadline_does_not_wait_for_the_tool_that_holds_up_an_answer() {
    let mut scene =
        Scenario::new("seamless").reply(Reply::Silent).spec(|s| s.limits.deadline_ms = Some(60_000)).start();
    scene.usage(40_000).tool_begins("build").reads(59_000).usage(91_000);
    assert_eq!((scene.count("ask"), scene.timer(Timer::Ask)), (1, None));
    scene.wait(60_000);
    assert_eq!(scene.taken(), [(Depth::Full, Segue)]);
    scene.wait(60_000);
    assert_eq!((scene.ends(), scene.exit_code()), (vec![EndHow::AtOnce], 4));
}

#[test]
fn c2_where_there_is_no_room_to_ask_segue_writes_without_asking() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(50_000).usage(99_501);
    assert_eq!((scene.asked(), scene.taken()), (vec![], vec![(Depth::Full, Segue)]));
    let mut scene = Scenario::new("seamless").start();
    scene.usage(50_000).usage(96_001);
    assert_eq!((scene.asked(), scene.taken()), (vec![Depth::Brief], vec![(Depth::Brief, Agent)]));
    let mut scene = Scenario::new("seamless").start();
    scene.usage(50_000).usage(96_000);
    assert_eq!((scene.asked(), scene.taken()), (vec![Depth::Full], vec![(Depth::Full, Agent)]));
}

#[test]
fn c2_an_agent_that_cannot_be_asked_is_not() {
    let mut scene = Scenario::new("seamless");
    scene.can.ask = false;
    let mut scene = scene.start();
    scene.usage(50_000).usage(91_000);
    assert_eq!((scene.asked(), scene.taken()), (vec![], vec![(Depth::Full, Segue)]));
}

#[test]
fn c2_a_prompt_too_long_at_the_checkpoint_makes_segue_write_it() {
    let mut scene = Scenario::new("seamless").hold("ask").start();
    scene.usage(40_000).usage(91_000).overflows();
    assert_eq!((scene.taken(), scene.started().len()), (vec![(Depth::Emergency, Segue)], 2));
}

#[test]
fn a_late_answer_to_a_dump_lets_the_agent_go_on() {
    let mut scene = Scenario::new("staged").hold("ask").start();
    scene.usage(50_000).usage(91_000).wait(30_000);
    assert_eq!((scene.taken(), scene.count("prompt")), (vec![(Depth::Brief, Segue)], 1));
    scene.says(AgentEvent::Answered { text: "late".to_owned() });
    assert_eq!((scene.prompts()[1].clone(), scene.taken().len()), (Prompt::GoOn, 1));
}

#[test]
fn a_turn_cancelled_for_an_ask_that_timed_out_is_no_failure() {
    let mut scene = Scenario::new("staged").hold("ask").start();
    scene.usage(50_000).usage(91_000).wait(30_000).says(AgentEvent::TurnEnded(TurnEnd::Cancelled));
    assert_eq!((scene.count("take"), scene.count("end")), (1, 0));
    scene.says(AgentEvent::Answered { text: "late".to_owned() });
    assert_eq!((scene.prompts()[1].clone(), scene.started().len()), (Prompt::GoOn, 1));
    scene.usage(95_500);
    assert_eq!(scene.asked(), [Depth::Brief, Depth::Full]);
}

#[test]
fn a_turn_cancelled_for_the_ask_waits_for_the_answer() {
    let mut scene = Scenario::new("seamless").hold("ask").start();
    scene.usage(50_000).usage(91_000).says(AgentEvent::TurnEnded(TurnEnd::Cancelled));
    assert_eq!(scene.count("take"), 0);
    scene.release();
    assert_eq!((scene.taken(), scene.started().len()), (vec![(Depth::Full, Agent)], 2));
}

#[test]
fn a_session_whose_tool_still_runs_is_ended_after_it_and_at_once_after_a_minute() {
    for (ends, how) in [(true, EndHow::Gently), (false, EndHow::AtOnce)] {
        let mut scene = Scenario::new("seamless").start();
        scene.can.ask = false;
        scene.usage(40_000).tool_begins("build").reads(59_000).usage(91_000);
        assert_eq!(scene.count("end"), 0);
        if ends {
            scene.tool_ends("build", 1)
        } else {
            scene.wait(60_000)
        };
        assert_eq!((scene.ends(), scene.started().len()), (vec![how], 2));
    }
}

#[test]
fn while_a_checkpoint_is_under_way_no_other_is_begun_and_what_was_passed_is_caught_up_with() {
    for held in ["ask", "take"] {
        let mut scene = Scenario::new("staged").hold(held).start();
        scene.usage(50_000).usage(91_000).usage(96_000).usage(98_500);
        assert_eq!((scene.count("ask"), scene.stages().len()), (1, 2), "{held}");
        scene.release();
        assert_eq!(scene.started().len(), 1, "{held}");
        scene.usage(98_600);
        assert_eq!((scene.stages().len(), scene.started().len()), (4, 2), "{held}");
    }
}

#[test]
fn a_session_that_is_being_ended_passes_no_stage() {
    let mut scene = Scenario::new("phased").hold("end").start();
    scene.usage(50_000).usage(81_000).tools(120);
    assert_eq!((scene.stages().len(), scene.count("take"), scene.count("end")), (1, 1, 1));
}

#[test]
fn t9_the_fallback_chosen_at_95_takes_over_when_the_session_dies_before_98() {
    let mut scene = Scenario::new("staged").fallback("b").start();
    scene.usage(50_000).usage(95_500).crashes();
    assert_eq!(scene.started()[1].0, "b");
}

#[test]
fn t2_an_answer_that_is_coming_in_is_heard_out_and_a_tool_that_it_starts_is_let_finish() {
    for starts in [true, false] {
        let mut scene = Scenario::new("seamless").hold("moment");
        scene.can.ask = false;
        let mut scene = scene.start();
        scene.usage(40_000).usage(88_000).reads(91_000);
        assert_eq!((scene.taken().len(), scene.count("end")), (1, 0), "its answer may still start a tool");
        if starts {
            scene.tool_begins("build").wait(20_000);
            assert_eq!(scene.count("end"), 0, "and that is let finish");
            scene.tool_ends("build", 1);
        } else {
            scene.wait(1_500);
        }
        assert_eq!((scene.ends(), scene.started().len()), (vec![EndHow::Gently], 2), "{starts}");
    }
}

#[test]
fn c9_words_are_kept_until_the_agents_own_checkpoint_stands_for_them_and_within_a_bound() {
    let mut scene = Scenario::new("seamless").hold("ask").hold("take").start();
    let said = |text: &str| AgentEvent::Said { text: text.to_owned() };
    scene.usage(40_000).says(said("before")).usage(91_000);
    scene
        .says(AgentEvent::Answered { text: "## Goal\nx\n## Remaining Tasks\n- y".to_owned() })
        .says(said("meanwhile"));
    assert_eq!(scene.view().prose.len(), 2, "nothing is forgotten before the checkpoint is on disk");
    scene.release();
    assert_eq!(scene.view().prose.iter().map(|m| m.text.as_str()).collect::<Vec<_>>(), ["meanwhile"]);
    for _ in 0..100 {
        scene.says(said(&"x".repeat(8_000)));
    }
    let chars: usize = scene.view().prose.iter().map(|m| m.text.chars().count()).sum();
    assert!(chars <= View::PROSE_KEPT && chars > View::PROSE_KEPT - 9_000, "{chars}");
}

#[test]
fn truth9_a_checkpoint_that_could_not_be_written_is_no_checkpoint_and_loses_nothing() {
    let mut scene = Scenario::new("staged").hold("ask").hold("take").start();
    scene
        .usage(40_000)
        .usage(91_000)
        .says(AgentEvent::Answered { text: "## Goal\nfirst\n## Remaining Tasks\n- y".to_owned() })
        .release();
    let good = scene.view().checkpoint.clone();
    assert!(good.is_some() && scene.view().prose.is_empty());
    let mut scene = scene.hold("ask").hold("take");
    scene
        .usage(95_500)
        .says(AgentEvent::Answered { text: "## Goal\nsecond\n## Remaining Tasks\n- y".to_owned() });
    let (session, work) = (1, WorkState { tree: Some("t".to_owned()), ..WorkState::default() });
    let (checkpoint, why) = ("c-x".to_owned(), "no space left".to_owned());
    scene.feed(Event::CheckpointFailed { checkpoint, session, by: Agent, depth: Depth::Brief, why, work });
    assert_eq!(scene.view().checkpoint, good, "the earlier one stands");
    assert!(scene.view().prose.iter().any(|message| message.text.contains("second")), "its words are kept");
    assert_eq!((scene.view().checkpoint_failed, scene.warned("checkpoint_failed")), (true, 1));
    assert!(scene.view().session.is_some(), "what was to follow follows");
}

#[test]
fn truth9_a_prompt_that_cannot_be_made_is_not_called_the_agents_refusal() {
    let mut scene = Scenario::new("auto").hold("prompt").start();
    scene.feed(Event::PromptFailed { session: 1, why: "undefined value".to_owned() });
    let outcome = scene.view().outcome.clone().unwrap();
    assert_eq!(outcome.verdict, Verdict::Failed);
    assert!(outcome.reason.contains("undefined value") && outcome.resumable(), "{outcome:?}");
}
