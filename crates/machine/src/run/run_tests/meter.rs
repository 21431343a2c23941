//! Meter: what the machine makes of readings, of results between them, and of none at all.

use super::scenario::Scenario;
use crate::{AgentEvent, Doing, Event, Reading, Scope, Source, View};

#[test]
fn m5_without_usage_there_is_one_warning_and_the_run_goes_on() {
    let mut scene = Scenario::new("seamless").no_window().start();
    scene.tools(40);
    assert_eq!(scene.warned("usage_missing"), 1);
    let session = scene.view().session.clone().unwrap();
    assert_eq!((session.doing, session.gauge.source()), (Doing::Working, Source::None));
    scene.finishes();
    assert_eq!((scene.warned("usage_missing"), scene.exit_code()), (1, 0));
}

#[test]
fn m5_the_results_of_one_answer_do_not_make_an_agent_one_that_tells_nothing() {
    let mut scene = Scenario::new("seamless").start();
    for tool in ["a", "b", "c", "d"] {
        scene.tool_begins(tool);
    }
    for tool in ["a", "b", "c", "d"] {
        scene.tool_ends(tool, 100);
    }
    assert_eq!(scene.warned("usage_missing"), 0);
    scene.tools(2);
    assert_eq!(scene.warned("usage_missing"), 1);
    let gauge = &scene.view().session.as_ref().unwrap().gauge;
    assert!(gauge.ceiling() < gauge.window(), "the line is drawn lower");
}

#[test]
fn m5_the_tool_stage_fires_at_100_tools_and_not_at_99() {
    let mut scene = Scenario::new("phased").no_window().start();
    scene.tools(99);
    assert_eq!((scene.stages().len(), scene.started().len()), (0, 1));
    scene.tools(1);
    assert_eq!((scene.stages(), scene.started().len()), (vec!["100 tools".to_owned()], 2));
}

#[test]
fn m5_every_tool_counts_also_one_that_failed_or_was_never_announced() {
    let mut scene = Scenario::new("phased").no_window().start();
    scene.tools(98).tool_ends("never seen", 1);
    assert_eq!(scene.stages().len(), 0);
    let (tool, title) = ("x".to_owned(), "x".to_owned());
    scene.says(AgentEvent::ToolEnded { tool, title, ok: false, chars: 0 });
    assert_eq!(scene.stages(), ["100 tools"]);
}

#[test]
fn m7_140000_of_200000_fires_at_70_percent_and_139999_does_not() {
    let mut scene = Scenario::new("loop").window(200_000).start();
    scene.usage(60_000).usage(139_999);
    assert_eq!(scene.asked().len(), 0);
    scene.reads(140_000);
    assert_eq!((scene.stages(), scene.asked().len()), (vec!["70%".to_owned()], 1));
}

#[test]
fn m7_around_90_percent_only_90_and_above_fire() {
    for (tokens, sessions) in [(89_000, 1), (89_999, 1), (90_000, 2), (91_000, 2)] {
        let mut scene = Scenario::new("seamless").start();
        scene.usage(40_000).usage(tokens);
        assert_eq!(scene.started().len(), sessions, "{tokens}");
    }
}

#[test]
fn m8_one_result_that_jumps_the_line_is_seen_before_the_next_call() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(35_000).tool_begins("cat").tool_ends("cat", 190_000);
    assert_eq!((scene.stages(), scene.started().len()), (vec!["90%".to_owned()], 2));
}

#[test]
fn m8_a_cumulative_figure_is_not_believed_at_once_and_ends_nothing() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(20_000).reads(1_432_262);
    assert_eq!((scene.warned("doubted"), scene.stages().len()), (1, 0));
}

#[test]
fn m6_a_side_call_costs_and_fills_nothing() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(20_000);
    let side = Reading { scope: Scope::Side, ..Reading::exact(95_000, 0, 0, 10) };
    scene.says(AgentEvent::UsageRead(side));
    assert_eq!((scene.stages().len(), scene.view().spent().tokens_in), (0, Some(115_000)));
}

#[test]
fn m6_every_compaction_is_told_and_the_gauge_starts_again() {
    let mut scene = Scenario::new("native").start();
    scene.usage(95_000).says(AgentEvent::Compacted).usage(30_000).says(AgentEvent::Compacted);
    assert_eq!((scene.warned("compacted"), scene.stages().len()), (2, 2));
    assert_eq!(scene.started().len(), 1);
}

#[test]
fn auto_waits_for_a_good_moment_between_its_lines_and_not_beyond() {
    let mut scene = Scenario::new("auto").start();
    scene.usage(81_000);
    assert_eq!(scene.started().len(), 1);
    scene.says(AgentEvent::ItemsSeen { open: 1, closed: 1, items: Vec::new() });
    assert_eq!(scene.started().len(), 2);
    scene.usage(81_000).usage(87_999);
    assert_eq!(scene.started().len(), 2);
    scene.usage(88_000);
    assert_eq!(scene.started().len(), 3);
}

#[test]
fn a_stage_that_tells_tells_the_agent() {
    let mut scene = Scenario::new("observe")
        .spec(|s| s.policy.stages[0].actions.push(crate::policy::Action::Tell))
        .start();
    scene.usage(71_000);
    assert_eq!(scene.count("tell"), 1);
}

#[test]
fn m8_text_and_prompts_count_before_the_next_call() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(60_000);
    scene.feed(Event::PromptSent { session: 1, chars: 50_000 });
    assert_eq!(scene.started().len(), 1);
    scene.says(AgentEvent::TextSaid { chars: 50_000 });
    assert_eq!((scene.stages(), scene.started().len()), (vec!["90%".to_owned()], 2));
}

#[test]
fn a_note_is_kept_and_is_a_good_moment() {
    let mut scene = Scenario::new("auto").start();
    scene.usage(81_000).feed(Event::NoteLeft { text: "half done".to_owned() });
    assert_eq!((scene.view().notes[0].text.as_str(), scene.view().notes[0].session), ("half done", 1));
    scene.says(AgentEvent::TextSaid { chars: 1 });
    assert_eq!(scene.started().len(), 2);
}

#[test]
fn a_closed_item_is_no_good_moment_any_more_once_the_next_tool_runs() {
    let mut scene = Scenario::new("auto").start();
    scene.usage(60_000).says(AgentEvent::ItemsSeen { open: 1, closed: 1, items: Vec::new() }).usage(75_000);
    assert_eq!(scene.started().len(), 1);
}

#[test]
fn m4_the_agents_own_window_and_wall_beat_the_configured_window() {
    for (window, ceiling, sessions) in
        [(None, None, 2), (Some(200_000), None, 1), (Some(200_000), Some(100_000), 2)]
    {
        let mut scene = Scenario::new("seamless").hold("start").start();
        let (conversation, model, can) = ("c".to_owned(), Some("m".to_owned()), scene.can);
        scene.says(AgentEvent::Ready { conversation, model, window, ceiling, can });
        assert_eq!(scene.view().session.as_ref().and_then(|s| s.model.as_deref()), Some("m"));
        scene.usage(40_000).usage(91_000);
        assert_eq!(scene.started().len(), sessions, "{window:?} {ceiling:?}");
    }
}

#[test]
fn m6_a_fall_that_nobody_announced_is_a_compaction() {
    let mut scene = Scenario::new("seamless").start();
    scene.usage(80_000).usage(20_000);
    assert_eq!((scene.warned("fell"), scene.warned("compacted")), (1, 1));
}

#[test]
fn the_last_200_tools_are_remembered_and_usage_that_comes_is_not_missed() {
    let mut scene = Scenario::new("observe").start();
    scene.reads(1_000).tools(220);
    let done = &scene.view().tools_done;
    assert_eq!((done.len(), done[0].title.as_str(), done[0].ok), (View::TOOLS_KEPT, "works", true));
    assert_eq!(scene.warned("usage_missing"), 0);
}

#[test]
fn an_allowance_that_is_nearly_used_is_told_once_with_its_reset() {
    let mut scene = Scenario::new("auto").start();
    for used_percent in [50, 91, 95] {
        let (name, resets_at) = ("five hour".to_owned(), Some(u64::MAX));
        scene.says(AgentEvent::AllowanceSeen { name, used_percent, resets_at });
    }
    assert_eq!(scene.warned("allowance"), 1);
    assert_eq!(scene.view().allowances["five hour"].used_percent, 95);
}
