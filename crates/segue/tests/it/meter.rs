//! The gauge against the agent's own count of its calls, which the step log holds.

use segue_rehearsal::script::Script;
use serde_json::Value;

use crate::support::{Done, World, small};

fn finals(done: &Done) -> Vec<Value> {
    done.of("gauge.read").into_iter().filter(|g| g["final"] == true).collect()
}

fn tokens(lines: &[Value]) -> Vec<u64> {
    lines.iter().map(|g| g["tokens"].as_u64().unwrap()).collect()
}

#[test]
fn m1_every_final_reading_is_the_call_that_the_agent_made_and_replaces_the_one_before() {
    let world = World::new(6, small());
    let done = world.segue(&["run", "TASK.md", "--json", "--context-threshold", "100"]);
    done.exits(0);
    let read = finals(&done);
    assert_eq!(tokens(&read), world.steps().calls(), "{}", done.all());
    for (n, gauge) in read.iter().enumerate() {
        assert_eq!(gauge["call"], n + 1);
        let percent = gauge["tokens"].as_f64().unwrap() / 400.0;
        assert!((gauge["percent"].as_f64().unwrap() - percent).abs() < 0.02, "{gauge}");
        assert_eq!((&gauge["window"], &gauge["source"]), (&40_000.into(), &"reported".into()));
    }
}

#[test]
fn m1_over_a_handoff_only_calls_that_were_cut_short_are_missing_and_counting_starts_afresh() {
    let world = World::new(9, small());
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    let sessions = usize::try_from(done.finished()["sessions"].as_u64().unwrap()).unwrap();
    assert!(sessions > 1, "{}", done.all());
    let (read, calls) = (finals(&done), world.steps().calls());
    assert!(calls.len() - read.len() < sessions, "{calls:?}\n{}", done.all());
    let mut left = calls.iter();
    for tokens in tokens(&read) {
        assert!(left.any(|c| *c == tokens), "{tokens} is no call of {calls:?}");
    }
    for session in 1..=sessions {
        let name = Value::from(format!("s{session}"));
        let first = read.iter().find(|g| g["session"] == name).unwrap();
        assert_eq!(first["call"], 1, "{first}");
    }
}

#[test]
fn m4_a_configured_window_changes_the_percentage() {
    let last_percent = |window: &str| {
        let world = World::new(2, Script { report_usage: false, ..small() });
        let done = world.segue(&["run", "TASK.md", "--json", "--window", window]);
        done.exits(0);
        let gauge = done.of("gauge.read").pop().unwrap();
        assert_eq!(gauge["source"], "estimated", "{gauge}");
        gauge["percent"].as_f64().unwrap()
    };
    let (small, large) = (last_percent("100k"), last_percent("200k"));
    assert!(small > 1.0 && (small / large - 2.0).abs() < 0.01, "{small} {large}");
}

#[test]
fn m4_a_window_that_is_none_is_refused_with_its_line() {
    for window in ["0", "-5", "\"lots\"", "\"\"", "true"] {
        let world = World::new(1, small());
        let config = world.read("segue.toml");
        world.write(
            "segue.toml",
            &config.replace("kind = \"acp\"", &format!("kind = \"acp\"\nwindow = {window}")),
        );
        let line = world.read("segue.toml").lines().position(|l| l.starts_with("window")).unwrap() + 1;
        let done = world.segue(&["run", "TASK.md"]);
        done.exits(2);
        assert!(done.err.contains(&format!("segue.toml:{line}:")), "{window}: {}", done.err);
        assert!(done.err.contains("window"), "{window}: {}", done.err);
    }
}

#[test]
fn m5_without_usage_one_warning_is_given_and_the_run_goes_on() {
    let world = World::new(5, Script { report_usage: false, ..small() });
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let warnings = done.warnings("usage_missing");
    assert_eq!(warnings.len(), 1, "{}", done.all());
    assert!(warnings[0].contains("window"), "{warnings:?}");
    for gauge in done.of("gauge.read") {
        assert_eq!(gauge["source"], "none");
        assert!(gauge["percent"].is_null() && gauge["tokens"].is_null(), "{gauge}");
    }
}

#[test]
fn m5_without_usage_the_third_tool_of_three_replaces_the_session_and_the_second_does_not() {
    let world = World::new(5, Script { report_usage: false, think_ms: 200, ..small() });
    let done = world.segue(&["run", "TASK.md", "--json", "--tool-call-threshold", "3"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let lines = done.lines();
    let stage = lines.iter().position(|l| l["type"] == "stage.reached").unwrap();
    assert_eq!((&lines[stage]["stage"], &lines[stage]["session"]), (&"3 tools".into(), &"s1".into()));
    let before = lines[..stage].iter().rfind(|l| l["type"] == "gauge.read").unwrap();
    assert_eq!(before["tools"], 3, "{}", done.all());
    assert_eq!(done.finished()["sessions"], 2, "{}", done.all());
    assert_eq!(done.warnings("usage_missing").len(), 2, "once a session: {}", done.all());
}

#[test]
fn m5_without_usage_but_with_a_window_the_estimate_replaces_the_session() {
    let world = World::new(10, Script { report_usage: false, think_ms: 150, ..small() });
    let done = world.segue(&["run", "TASK.md", "--json", "--window", "12k"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert!(done.finished()["sessions"].as_u64().unwrap() > 1, "{}", done.all());
    assert!(done.of("gauge.read").iter().all(|g| g["source"] == "estimated"), "{}", done.all());
}

#[test]
fn m6_the_gauge_falls_after_a_compaction_and_a_warning_says_so() {
    let script = Script { window: 20_000, system_tokens: 2_000, compact_at_percent: Some(70), ..small() };
    let world = World::new(9, script);
    let done = world.segue(&["run", "TASK.md", "--json", "--policy", "native"]);
    done.exits(0);
    let tokens = tokens(&finals(&done));
    assert_eq!(tokens, world.steps().calls());
    assert!(tokens.windows(2).any(|w| w[1] < w[0] / 2), "{tokens:?}");
    assert_eq!(done.warnings("compacted").len(), 1, "{}", done.all());
    assert_eq!(done.finished()["sessions"], 1);
}

/// One call of exactly `fill` tokens in a window of 200,000 under stages that only warn; the stages that were reached.
fn stages_at(fill: u64, stages: &[&str]) -> Vec<String> {
    let run = |system_tokens| {
        let world = World::new(0, Script { window: 200_000, system_tokens, ..small() });
        let tables: String =
            stages.iter().map(|s| format!("[[stage]]\nat = \"{s}\"\ndo = [\"warn\"]\n")).collect();
        world.configure(&tables);
        let done = world.segue(&["run", "look around, please", "--json"]);
        done.exits(0);
        (world.steps().calls(), done)
    };
    let (calls, _) = run(1_000);
    assert_eq!(calls.len(), 1, "{calls:?}");
    let (calls, done) = run(fill - (calls[0] - 1_000));
    assert_eq!(calls, [fill]);
    done.of("stage.reached").iter().map(|s| s["stage"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn m7_140_000_of_200_000_is_70_percent_and_139_999_is_not() {
    assert_eq!(stages_at(140_000, &["70%"]), ["70%"]);
    assert_eq!(stages_at(139_999, &["70%"]), [""; 0]);
}

#[test]
fn m7_180_000_of_200_000_passes_89_and_90_and_not_91() {
    assert_eq!(stages_at(180_000, &["89%", "90%", "91%"]), ["89%", "90%"]);
}

#[test]
fn m8_one_large_tool_result_triggers_before_the_next_call() {
    let script = Script {
        window: 200_000,
        system_tokens: 20_000,
        step_output_chars: 480_000,
        think_ms: 1_500,
        ..Script::default()
    };
    let world = World::new(2, script);
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let lines = done.lines();
    let stage = lines.iter().position(|l| l["type"] == "stage.reached").unwrap();
    let gauge = lines[..stage].iter().rfind(|l| l["type"] == "gauge.read").unwrap();
    assert_eq!((&gauge["final"], &gauge["call"], &gauge["tools"]), (&false.into(), &1.into(), &1.into()));
    assert!(gauge["projected"].as_u64().unwrap() > gauge["tokens"].as_u64().unwrap() + 100_000, "{gauge}");
    assert_eq!(done.finished()["overflows"], 0);
    assert!(world.steps().overflows().is_empty());
}

#[test]
fn m9_words_about_limits_in_the_task_files_and_tool_results_trigger_nothing() {
    const WORDS: &str = "prompt is too long: 213224 tokens > 200000 maximum; rate limit 429; \
                         401 unauthorized; context_length_exceeded; insufficient_quota; usage limit reached";
    let world = World::new(4, small());
    world.write("NOTES.md", &format!("{WORDS}\n"));
    world.in_step(&format!("echo '{WORDS}'; cat NOTES.md >&2"));
    let task = format!("{}\nMind: {WORDS}\n", world.job.task_text());
    world.write("TASK.md", &task);
    let done = world.segue(&["run", "TASK.md", "--json", "--context-threshold", "95"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let end = done.finished();
    assert_eq!((&end["sessions"], &end["overflows"]), (&1.into(), &0.into()), "{}", done.all());
    assert!(done.of("warning").is_empty(), "{}", done.all());
}
