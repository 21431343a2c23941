//! What crossing the line leads to: a fresh session, the end of the run, or nothing.

use std::os::unix::fs::PermissionsExt;

use segue_machine::policy::preset;
use segue_rehearsal::script::Script;
use segue_rehearsal::sizing;
use serde_json::Value;

use crate::support::{Done, World, left_behind, meets, small, stage_after_tool};

fn sized(policy: &str, sessions: u32) -> World {
    let sized = sizing::for_policy(&preset::find(policy).unwrap().policy, sessions);
    World::new(sized.job.steps, sized.script)
}

fn stages(done: &Done, session: &str) -> Vec<String> {
    let reached = done.of("stage.reached").into_iter().filter(|s| s["session"] == session);
    reached.map(|s| s["stage"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn t1_crossing_the_line_ends_a_session_and_the_next_ones_finish_the_task_under_every_policy() {
    for policy in ["auto", "seamless", "loop", "staged", "phased"] {
        let world = sized(policy, 3);
        let done = world.segue(&["run", "TASK.md", "--json", "--policy", policy]);
        done.exits(0);
        world.assert_each_step_once(&done);
        let end = done.finished();
        assert_eq!(
            (&end["verdict"], &end["sessions"]),
            (&"verified".into(), &3.into()),
            "{policy}\n{}",
            done.all()
        );
        assert!(world.steps().overflows().is_empty(), "{policy}");
        let ends: Vec<_> = done.of("session.ended").iter().map(|e| e["reason"].clone()).collect();
        assert_eq!(ends, ["replaced", "replaced", "finished"], "{policy}");
        assert_eq!(
            world.steps().sessions().len(),
            3,
            "{policy}: no conversation is taken up again by accident"
        );
    }
}

/// A program that takes a prompt and prints a lot; what is left to do it finds on disk.
fn command_agent(by: &str, read_prompt: &str) {
    let world = World::new(4, small());
    let agent = world.root().join("agent.sh");
    let code = format!(
        "#!/bin/sh\n{read_prompt}\nprintf '%s\\n=====\\n' \"$prompt\" >>{root}/prompts\n\
         for n in 1 2; do\n  if [ ! -f parts/0$n.txt ]; then sh step.sh $n; fresh=1; fi\ndone\n\
         if [ -n \"$fresh\" ]; then head -c 20000 /dev/zero | tr '\\0' 'x' | fold -w 100; exec sleep 1000; fi\n\
         for n in 3 4; do sh step.sh $n; done\n",
        root = world.root().display()
    );
    std::fs::write(&agent, code).unwrap();
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
    world.configure(&format!(
        "agents = [\"plain\"]\n[agent.plain]\nkind = \"command\"\ncommand = [{agent:?}]\nprompt = \"{by}\"\nwindow = 8000\n"
    ));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    let end = done.finished();
    assert_eq!((&end["verdict"], &end["sessions"]), (&"verified".into(), &2.into()), "{}", done.all());
    assert!(done.of("stage.reached")[0]["percent"].as_f64().unwrap() >= 88.0, "{}", done.all());
    assert!(done.warnings("usage_missing").iter().any(|w| w.contains("estimate")), "{}", done.all());
    let prompts = std::fs::read_to_string(world.root().join("prompts")).unwrap();
    let prompts: Vec<&str> = prompts.split("\n=====\n").collect();
    assert!(prompts[0].starts_with(world.job.task_text().trim()), "{}", prompts[0]);
    assert!(
        prompts[1].contains(world.job.task_text().trim()) && prompts[1].contains("parts/01.txt"),
        "{}",
        prompts[1]
    );
    assert!(left_behind(&done.run()).is_empty());
}

#[test]
fn t1_a_plain_command_that_takes_its_prompt_as_an_argument_is_replaced_by_estimate() {
    command_agent("argument", "prompt=$1");
}

#[test]
fn t1_a_plain_command_that_reads_its_prompt_is_replaced_by_estimate() {
    command_agent("stdin", "prompt=$(cat)");
}

fn tool_runs_when_the_line_is_crossed(detach_tools: bool) {
    meets("a request while a tool runs", || met_a_running_tool(detach_tools));
}

fn met_a_running_tool(detach_tools: bool) -> bool {
    const SLOW: &str = "if [ \"$n\" = 3 ]; then sleep 2; setsid sleep 1000 >/dev/null 2>&1 & fi";
    let script = Script { detach_tools, ..small() };
    let stage = stage_after_tool(2, 4, &script, |_| {});
    let world = World::new(4, script);
    world.in_step(SLOW);
    // Less than the tool takes: the time to answer begins when it has ended.
    world.configure(&format!("{stage}[checkpoint]\nask_timeout = \"1s\"\n"));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let lines = done.lines();
    let at = |kind: &str| lines.iter().position(|l| l["type"] == kind).unwrap();
    let third = |l: &Value| l["session"] == "s1" && l["final"] == false && l["tools"] == 3;
    let Some(result) = lines.iter().position(|l| l["type"] == "gauge.read" && third(l)) else { return false };
    let (requested, taken) = (at("checkpoint.requested"), at("checkpoint.taken"));
    assert!(requested < result && result < taken, "{}", done.all());
    let first = &world.checkpoints()[0];
    assert_eq!(first["by"], "agent", "{first}");
    let text = first["summary"].as_str().unwrap();
    let completed = text.split("## Remaining").next().unwrap();
    assert!(completed.contains("step 3"), "{text}");
    assert_eq!(done.of("session.ended")[0]["reason"], "replaced");
    assert_eq!(left_behind(&done.run()), [""; 0], "nothing of the run is left");
    true
}

#[test]
fn t2_the_tool_that_runs_at_the_line_ends_and_its_result_is_kept() {
    tool_runs_when_the_line_is_crossed(false);
}

#[test]
fn t2_a_tool_in_a_session_of_its_own_ends_too_and_nothing_outlives_the_run() {
    tool_runs_when_the_line_is_crossed(true);
}

#[test]
fn t3_a_turn_that_completes_above_the_line_is_gated_and_not_replaced() {
    meets("a turn that completes as the line is crossed", completed_above_the_line);
}

fn completed_above_the_line() -> bool {
    let stage = stage_after_tool(3, 3, &small(), |_| {});
    let world = World::new(3, small());
    world.configure(&stage);
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    assert_eq!(done.of("stage.reached").len(), 1, "the line was crossed: {}", done.all());
    let end = done.finished();
    if end["handoffs"] != 0 {
        return false;
    }
    assert_eq!((&end["verdict"], &end["sessions"]), (&"verified".into(), &1.into()));
    assert!(done.of("handoff.decided").is_empty());
    assert!(!world.snapshots().is_empty(), "the work is saved");
    true
}

/// A job that does not fit one window.
fn overflowing() -> World {
    World::new(14, small())
}

#[test]
fn t4_without_restarts_an_overflow_ends_with_4_names_the_reason_and_saves_the_work() {
    for args in [["--max-restarts", "0"], ["--context-threshold", "100"]] {
        let world = overflowing();
        let done = world.segue(&["run", "TASK.md", "--json", args[0], args[1]]);
        done.exits(4);
        let end = done.finished();
        assert_eq!((&end["verdict"], &end["sessions"]), (&"stopped".into(), &1.into()), "{}", done.all());
        assert_eq!((&end["overflows"], &end["limit"]), (&1.into(), &"max_restarts".into()), "{}", done.all());
        assert!(end["reason"].as_str().unwrap().contains("overflow"), "{end}");
        assert!(end["advice"].as_str().unwrap().contains("resume"), "{end}");
        let saved = world.last_saved();
        for step in world.steps().distinct_done() {
            assert!(saved.contains(&segue_rehearsal::job::Job::part(step)), "{step} is not in {saved}");
        }
    }
}

#[test]
fn t5_a_flag_beats_the_environment_which_beats_the_file_and_an_absent_flag_keeps_the_value() {
    let stage = |file: bool, env: bool, flag: bool| {
        let mut world = World::new(5, small());
        if file {
            world.configure("policy = \"seamless\"\ncontext_threshold = 61\n");
        } else {
            world.configure("policy = \"seamless\"\n");
        }
        if env {
            world.set_env("SEGUE_CONTEXT_THRESHOLD", "62");
        }
        let mut args = vec!["run", "TASK.md", "--json"];
        args.extend(if flag { ["--context-threshold", "63"].as_slice() } else { &[] });
        let done = world.segue(&args);
        done.exits(0);
        stages(&done, "s1")
    };
    assert_eq!(stage(true, false, false), ["61%"]);
    assert_eq!(stage(true, true, false), ["62%"]);
    assert_eq!(stage(true, true, true), ["63%"]);
    assert_eq!(stage(false, false, false), [""; 0], "the preset's own line lies higher");
}

#[test]
fn t5_a_threshold_of_100_or_no_restarts_means_one_session() {
    for args in [["--context-threshold", "100"], ["--max-restarts", "0"], ["--context-threshold", "150"]] {
        let world = World::new(8, small());
        let done = world.segue(&["run", "TASK.md", "--json", args[0], args[1]]);
        done.exits(0);
        world.assert_each_step_once(&done);
        assert_eq!(done.finished()["sessions"], 1, "{args:?}");
    }
}

#[test]
fn t6_a_fourth_breach_after_three_restarts_fails_with_advice_and_the_work_is_saved() {
    let world = sized("phased", 6);
    let done = world.segue(&["run", "TASK.md", "--json", "--policy", "phased"]);
    done.exits(4);
    let end = done.finished();
    assert_eq!((&end["sessions"], &end["limit"]), (&4.into(), &"max_restarts".into()), "{}", done.all());
    assert!(end["advice"].as_str().unwrap().contains("split"), "{end}");
    let saved = world.last_saved();
    for step in world.steps().distinct_done() {
        assert!(saved.contains(&segue_rehearsal::job::Job::part(step)), "{step} is not in {saved}");
    }
    assert!(world.steps().started_twice().is_empty());
}

#[test]
fn t7_a_task_that_alone_is_above_the_line_stops_with_advice() {
    let world = World::new(3, Script { window: 22_000, ..small() });
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(4);
    let end = done.finished();
    assert_eq!((&end["sessions"], &end["limit"]), (&1.into(), &"futile".into()), "{}", done.all());
    assert!(end["advice"].as_str().unwrap().contains("split"), "{end}");
}

#[test]
fn t7_a_continuation_that_starts_above_the_line_is_trimmed_and_never_loops() {
    // The first session is just below the line with its first call; every continuation is above it.
    let script = Script { system_tokens: 27_780, ..small() };
    let world = World::new(14, script);
    let done =
        world.segue(&["run", "TASK.md", "--json", "--policy", "seamless", "--context-threshold", "70"]);
    done.exits(4);
    let end = done.finished();
    assert_eq!(end["limit"], "futile", "{}", done.all());
    assert!(end["sessions"].as_u64().unwrap() <= 4, "{}", done.all());
    assert!(!done.warnings("futile").is_empty(), "it tried a shorter checkpoint first: {}", done.all());
    assert!(world.steps().repeated().is_empty());
}

#[test]
fn t8_the_deadline_is_one_for_the_whole_run() {
    let world = World::new(60, Script { step_ms: 100, ..small() });
    let done = world.segue(&["run", "TASK.md", "--json", "--deadline", "2s"]);
    done.exits(4);
    let end = done.finished();
    assert_eq!((&end["verdict"], &end["limit"]), (&"stopped".into(), &"deadline".into()), "{}", done.all());
    assert!(end["sessions"].as_u64().unwrap() > 1, "it held over a restart: {}", done.all());
    assert!(world.steps().repeated().is_empty());
    let saved = world.last_saved();
    for step in world.steps().distinct_done() {
        assert!(saved.contains(&segue_rehearsal::job::Job::part(step)), "{step} is not in {saved}");
    }
    assert!(left_behind(&done.run()).is_empty());
}

#[test]
fn t8_three_handoffs_without_progress_stop_the_run() {
    let script = Script { window: 100_000, system_tokens: 60_000, step_output_chars: 40_000, ..small() };
    let world = World::new(3, script);
    world.write("step.sh", "echo 'looked at everything and changed nothing'\n");
    world.commit("a step that does nothing");
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(4);
    let end = done.finished();
    assert_eq!(end["limit"], "no_progress", "{}", done.all());
    // An item that the agent says it closed may count as progress once, and there are three.
    let sessions = end["sessions"].as_u64().unwrap();
    assert!((3..=6).contains(&sessions), "{}", done.all());
    assert!(end["advice"].as_str().unwrap().contains("segue show"), "{end}");
}

#[test]
fn t9_each_stage_of_staged_is_reached_once_and_does_its_part() {
    let world = sized("staged", 2);
    let done = world.segue(&["run", "TASK.md", "--json", "--policy", "staged"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert_eq!(stages(&done, "s1"), ["80%", "90%", "95%", "98%"], "{}", done.all());
    let depths: Vec<_> = done
        .of("checkpoint.taken")
        .iter()
        .filter(|c| c["session"] == "s1")
        .map(|c| c["depth"].clone())
        .collect();
    assert_eq!(depths, ["brief", "full", "emergency"], "{}", done.all());
    assert_eq!(done.of("handoff.decided")[0]["kind"], "forced");
    let texts: Vec<String> = done.of("stage.reached").iter().map(|s| s["text"].to_string()).collect();
    for words in ["[TOKEN ALERT] Task", "[CRITICAL] Task", "FORCE HANDOFF"] {
        assert!(texts.iter().any(|t| t.contains(words)), "{words}: {texts:?}");
    }
}

#[test]
fn t10_observe_warns_at_70_and_90_and_stops_nothing() {
    let world = World::new(9, small());
    let done = world.segue(&["run", "TASK.md", "--json", "--policy", "observe"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert_eq!(stages(&done, "s1"), ["70%", "90%"], "{}", done.all());
    assert_eq!(done.finished()["sessions"], 1);
    assert!(done.of("checkpoint.taken").is_empty() && done.of("handoff.decided").is_empty());
}

#[test]
fn t10_an_overflow_under_observe_fails_and_leaves_handoff_md() {
    let world = overflowing();
    let done = world.segue(&["run", "TASK.md", "--json", "--policy", "observe"]);
    done.exits(1);
    assert_eq!(done.finished()["verdict"], "failed", "{}", done.all());
    let handoff = world.read("HANDOFF.md");
    for part in [
        "Phase:",
        "Reason:",
        "Last commit:",
        "Tasks Completed",
        "Files Modified",
        "parts/01.txt",
        "segue resume",
    ] {
        assert!(handoff.contains(part), "{part}: {handoff}");
    }
}
