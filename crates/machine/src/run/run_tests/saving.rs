//! Saving: what goes to the branch, what is left behind, and what counts as progress.

use super::scenario::{Reply, START, Scenario};
use crate::{AgentEvent, Effect, Event, GateResult, GateWhen, Notice, StopHow, Timer, Verdict, WorkState};

fn commits(scene: &Scenario) -> Vec<bool> {
    scene.collect(|e| match e {
        Effect::TakeCheckpoint { commit, .. } | Effect::SaveWork { commit, .. } => Some(*commit),
        Effect::RunGates { .. }
        | Effect::StartSession { .. }
        | Effect::SendPrompt { .. }
        | Effect::AskCheckpoint { .. }
        | Effect::AskSide { .. }
        | Effect::TellAgent { .. }
        | Effect::JudgeWords { .. }
        | Effect::AnswerPermission { .. }
        | Effect::AnswerBrake { .. }
        | Effect::WriteHandoffFile { .. }
        | Effect::EndSession { .. }
        | Effect::SetTimer { .. }
        | Effect::ClearTimer { .. }
        | Effect::KeepCircuit { .. }
        | Effect::Announce(_)
        | Effect::Finish(_) => None,
    })
}

#[test]
fn finished_work_is_committed_and_failed_work_only_where_that_is_wanted() {
    let mut scene = Scenario::new("seamless").gates(1).start();
    scene.finishes();
    assert_eq!(commits(&scene), [true]);
    for wanted in [true, false] {
        let mut scene = Scenario::new("seamless").gates(1).rounds(&[false]).spec(|s| {
            s.limits.gate_rounds = 1;
            s.git.commit_on_failure = wanted;
        });
        scene = scene.start();
        scene.finishes();
        assert_eq!((scene.outcome().verdict, commits(&scene)), (Verdict::Failed, vec![wanted]));
    }
}

#[test]
fn a_handoff_is_committed_a_dump_is_not_and_a_stop_where_that_is_wanted() {
    let mut scene = Scenario::new("staged").start();
    scene.usage(50_000).usage(91_000).usage(98_500);
    assert_eq!(commits(&scene), [false, true]);
    for wanted in [true, false] {
        let mut scene = Scenario::new("seamless").spec(|s| s.git.commit_on_failure = wanted).start();
        scene.stop(StopHow::Gently);
        assert_eq!(commits(&scene), [wanted]);
    }
}

#[test]
fn a_handoff_file_is_written_where_it_is_promised_and_the_work_is_not_done() {
    for (policy, finishes, files) in [("observe", false, 1), ("observe", true, 0), ("seamless", false, 0)] {
        let mut scene = Scenario::new(policy).start();
        if finishes {
            scene.finishes()
        } else {
            scene.stop(StopHow::Gently)
        };
        assert_eq!((scene.count("handoff file"), scene.is_over()), (files, true), "{policy}");
    }
}

#[test]
fn trouble_with_git_is_told_and_stops_nothing() {
    let work = WorkState { trouble: Some("git hangs".to_owned()), ..WorkState::default() };
    let mut scene = Scenario::new("seamless").gates(1).hold("save").start();
    scene.finishes().feed(Event::WorkSaved { work });
    assert_eq!((scene.warned("git"), scene.exit_code()), (1, 0));
}

#[test]
fn the_same_save_told_twice_ends_the_session_once() {
    let mut scene = Scenario::new("seamless").gates(1).hold("end").start();
    scene.finishes().feed(Event::WorkSaved { work: WorkState::default() });
    assert_eq!(scene.count("end"), 1);
}

#[test]
fn when_a_run_is_over_its_view_says_so_and_no_timer_is_left() {
    let mut scene = Scenario::new("seamless").spec(|s| s.limits.deadline_ms = Some(600_000)).start();
    scene.wait(5_000).finishes();
    assert_eq!(
        (scene.view().outcome.clone(), scene.view().finished_at),
        (Some(scene.outcome()), Some(START + 5_000))
    );
    for timer in [Timer::Deadline, Timer::Ask, Timer::Idle, Timer::End] {
        assert_eq!(scene.timer(timer), None, "{timer:?}");
    }
}

#[test]
fn the_time_to_answer_is_forgotten_with_the_answer() {
    let mut scene = Scenario::new("staged").start();
    scene.usage(50_000).usage(91_000);
    assert_eq!((scene.timer(Timer::Ask), scene.warned("no_answer")), (None, 0));
}

#[test]
fn an_answer_nobody_asked_for_changes_nothing() {
    let mut scene = Scenario::new("seamless").start();
    let done = scene.effects.len();
    scene.says(AgentEvent::Answered { text: "hm".to_owned() });
    scene.says(AgentEvent::NotAnswered { why: "hm".to_owned() });
    assert_eq!(scene.effects.len(), done);
    scene.usage(50_000).usage(91_000);
    assert_eq!(scene.started().len(), 2);
}

#[test]
fn a_stop_while_gating_does_not_wait_for_the_gates() {
    let mut scene = Scenario::new("seamless").gates(1).start().hold("gates").hold("take");
    scene.finishes().stop(StopHow::Gently);
    assert_eq!((scene.count("ask"), scene.count("take")), (0, 1));
    scene.release();
    assert_eq!((scene.exit_code(), scene.count("save")), (130, 0));
}

#[test]
fn t8_a_gate_newly_green_is_progress_and_one_that_was_green_before_is_not() {
    for (green_before, without_progress) in [(false, 0), (true, 1)] {
        let mut scene = Scenario::new("seamless").gates(2).trees(&["base"; 9]).hold("gates").start();
        gate(&mut scene, "g1", GateWhen::Before, green_before);
        gate(&mut scene, "g2", GateWhen::Before, false);
        scene.finishes();
        gate(&mut scene, "g1", GateWhen::After, true);
        gate(&mut scene, "g2", GateWhen::After, false);
        scene.usage(91_000);
        assert_eq!((scene.started().len(), scene.view().without_progress), (2, without_progress));
    }
}

fn gate(scene: &mut Scenario, gate: &str, when: GateWhen, passed: bool) {
    let (gate, tail) = (gate.to_owned(), String::new());
    scene.feed(Event::GateFinished(GateResult {
        gate,
        when,
        passed,
        exit: None,
        ms: 1,
        output: None,
        tail,
        timed_out: false,
    }));
}

#[test]
fn a_request_tells_until_when_segue_waits() {
    let mut scene = Scenario::new("seamless").reply(Reply::Silent).start();
    scene.usage(40_000).usage(91_000);
    let until = scene.notices(|n| {
        if let Notice::CheckpointRequested { deadline, .. } = n { Some(*deadline) } else { None }
    });
    assert_eq!(until, [Some(START + 30_000)]);
}

#[test]
fn c6_what_a_tool_did_after_the_last_checkpoint_is_saved_before_the_run_ends() {
    for (works_on, saves) in [(true, 1), (false, 0)] {
        let mut scene = Scenario::new("seamless").spec(|s| s.limits.deadline_ms = Some(60_000)).start();
        scene.usage(50_000);
        if works_on {
            scene.tool_begins("t1");
        }
        scene.wait(60_000);
        if works_on {
            assert_eq!((scene.count("take"), scene.count("save")), (1, 0));
            scene.tool_ends("t1", 0);
        }
        assert_eq!((scene.outcome().verdict, scene.count("save")), (Verdict::Stopped, saves));
    }
}
