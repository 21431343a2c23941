//! Agents that flood, stammer, fall silent, crash or never begin; odd names; no terminal.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use segue_rehearsal::script::{Fault, FaultKind, Script};
use serde_json::Value;

use crate::support::{Done, World, left_behind, small};

fn with_fault(kind: FaultKind) -> World {
    let fault = Fault { at_step: 2, session: Some(1), kind };
    World::new(4, Script { faults: vec![fault], window: 200_000, think_ms: 100, ..small() })
}

fn done(output: Output) -> Done {
    Done {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn e1_a_line_of_3_megabytes_is_taken_in() {
    let world = with_fault(FaultKind::HugeLine);
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert!(done.warnings("unrecognised").is_empty(), "{}", done.all());
}

#[test]
fn e1_a_flood_of_50_megabytes_is_taken_in() {
    let world = with_fault(FaultKind::Flood);
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
}

#[test]
fn e1_lines_that_are_no_json_are_named_and_passed_over() {
    let world = with_fault(FaultKind::BrokenJson);
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert_eq!(done.finished()["sessions"], 1, "{}", done.all());
    assert_eq!(done.warnings("unrecognised").len(), 1, "once a session: {}", done.all());
}

#[test]
fn e1_half_a_line_and_an_exit_cost_only_the_session() {
    let world = with_fault(FaultKind::HalfLineExit);
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let ends: Vec<Value> = done.of("session.ended").iter().map(|e| e["reason"].clone()).collect();
    assert_eq!(ends, ["failed", "finished"], "{}", done.all());
}

#[test]
fn e1_an_agent_that_falls_silent_is_replaced() {
    let world = with_fault(FaultKind::Silent);
    let done = world.segue(&["run", "TASK.md", "--json", "--idle-timeout", "1s"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert_eq!(done.of("session.ended")[0]["reason"], "stalled", "{}", done.all());
    assert_eq!(done.of("limit.reached")[0]["limit"], "stall", "{}", done.all());
}

#[test]
fn e1_a_silent_agent_that_does_not_hear_the_end_of_its_input_is_ended() {
    let fault = Fault { at_step: 2, session: Some(1), kind: FaultKind::Silent };
    let world = World::new(3, Script { faults: vec![fault], ignore_eof: true, ..small() });
    let done = world.segue(&["run", "TASK.md", "--json", "--idle-timeout", "1s"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert_eq!(left_behind(&done.run()), [""; 0]);
}

#[test]
fn e1_an_agent_that_never_says_a_word_is_given_up() {
    let world = World::new(1, small());
    world.configure("agents = [\"mute\"]\n[agent.mute]\nkind = \"acp\"\ncommand = [\"sleep\", \"1000\"]\n");
    let done = world.segue(&["run", "TASK.md", "--json", "--idle-timeout", "1s"]);
    done.exits(1);
    assert!(done.finished()["reason"].as_str().unwrap().contains("never became ready"), "{}", done.all());
    assert_eq!(left_behind(&done.run()), [""; 0]);
}

#[test]
fn an_agent_that_crashes_is_replaced_and_nothing_is_lost_or_done_twice() {
    let world = with_fault(FaultKind::Crash);
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let first = &done.of("session.ended")[0];
    assert_eq!((&first["reason"], &first["exit"]), (&"failed".into(), &101.into()), "{}", done.all());
    assert_eq!(done.of("session.started")[1]["reason"], "restart");
}

#[test]
fn an_agent_that_crashes_every_time_does_not_run_for_ever() {
    let fault = Fault { at_step: 1, session: None, kind: FaultKind::Crash };
    let world = World::new(3, Script { faults: vec![fault], ..small() });
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(4);
    let end = done.finished();
    assert_eq!(end["limit"], "same_error", "{}", done.all());
    assert!(end["sessions"].as_u64().unwrap() <= 4, "{end}");
}

#[test]
fn an_agent_that_exits_at_once_fails_with_its_name_and_what_to_look_at() {
    let world = World::new(2, small());
    world.configure("agents = [\"gone\"]\n[agent.gone]\nkind = \"acp\"\ncommand = [\"sh\", \"-c\", \"echo no key >&2; exit 5\"]\n");
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(1);
    let end = done.finished();
    let reason = end["reason"].as_str().unwrap();
    assert!(reason.contains("gone") && reason.contains("code 5"), "{end}");
    assert!(end["advice"].as_str().unwrap().contains("segue show --output"), "{end}");
    let shown = world.segue(&["show", "--output"]);
    assert!(shown.all().contains("no key"), "{}", shown.all());
}

#[test]
fn h4_the_next_agent_takes_over_from_one_that_never_begins() {
    let world = World::new(3, small());
    world.configure(
        "agents = [\"broken\", \"scripted\"]\n[agent.broken]\nkind = \"acp\"\ncommand = [\"false\"]\n",
    );
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let handoff = &done.of("handoff.decided")[0];
    assert_eq!(
        (&handoff["kind"], &handoff["to_agent"]),
        (&"fallback".into(), &"scripted".into()),
        "{}",
        done.all()
    );
    let started = done.of("session.started");
    assert_eq!((&started[0]["agent"], &started[0]["reason"]), (&"scripted".into(), &"fallback".into()));
}

#[test]
fn e3_every_line_is_json_whatever_the_task_and_the_path_contain() {
    let world = World::new(10, small());
    let odd = world.root().join("a \"b\" 'c' \\d\ne €😀 $HOME `id` {{ x }}");
    std::fs::rename(world.repo(), &odd).unwrap();
    let task = format!(
        "\"quoted\" 'single' \\back\\slash \u{1b}[31mred\u{7} tab\t {{{{ braces }}}} {{% raw %}} <tag> 😀 \u{202e}x\r\n{}",
        world.job.task_text()
    );
    let run = |args: &[&str]| done(world.command(args).current_dir(&odd).output().unwrap());
    let ran = run(&["run", &task, "--json"]);
    ran.exits(0);
    world.assert_each_step_once(&ran);
    assert!(ran.finished()["sessions"].as_u64().unwrap() > 1, "{}", ran.all());
    assert_eq!(ran.of("run.started")[0]["workdir"], odd.to_str().unwrap());
    assert!(
        ran.of("run.started")[0]["task"].as_str().unwrap().contains("\u{1b}[31mred\u{7} tab\t {{ braces }}")
    );
    for args in [
        &["status", "--json"][..],
        &["log", "--json"],
        &["show", "--json"],
        &["status", "--all", "--json"],
        &["replay", "--json"],
    ] {
        let shown = run(args);
        shown.exits(0);
        assert!(!shown.lines().is_empty(), "{args:?}");
    }
    let plain = run(&["log"]);
    assert!(
        !plain.out.contains('\u{1b}') && !plain.out.contains('\u{7}'),
        "nothing of it reaches a terminal raw: {:?}",
        plain.out
    );
}

#[test]
fn e5_with_and_without_a_terminal_the_verdict_and_the_sessions_are_the_same() {
    if Command::new("script").arg("--version").output().is_err() {
        println!("skipped: `script` is not here, so there is no terminal to give");
        return;
    }
    let end_of = |world: &World| {
        let status = world.segue(&["status", "--json"]);
        let status: Value = serde_json::from_str(&status.out).unwrap();
        (status["verdict"].clone(), status["sessions"].clone())
    };
    let (without, with) = (World::new(6, small()), World::new(6, small()));
    let plain = without.segue(&["run", "TASK.md"]);
    plain.exits(0);
    assert!(!plain.out.contains('\u{1b}'), "no terminal, no escapes: {:?}", plain.out);
    let mut command = Command::new("script");
    let line = format!("{} run TASK.md", env!("CARGO_BIN_EXE_segue"));
    let own = with.command(&[]);
    command.args(["-qec", &line, "/dev/null"]).current_dir(with.repo()).env_clear();
    command.envs(own.get_envs().filter_map(|(k, v)| Some((k, v?)))).env("TERM", "xterm");
    let shown = done(command.output().unwrap());
    shown.exits(0);
    with.assert_each_step_once(&shown);
    assert!(shown.out.contains('\u{1b}'), "it had a terminal: {:?}", shown.out);
    assert_eq!(end_of(&with), end_of(&without));
    assert_ne!(end_of(&with).0, Value::Null);
}

#[test]
fn e6_the_agent_gets_its_own_environment_and_the_users_files_stay_as_they_are() {
    let world = World::new(2, small());
    let wrapper = world.root().join("wrapper.sh");
    let code = format!("#!/bin/sh\nenv >{:?}\nexec \"$@\"\n", world.root().join("env"));
    std::fs::write(&wrapper, code).unwrap();
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    world.configure(&format!(
        "agents = [\"own\"]\n[agent.own]\nkind = \"acp\"\ncommand = [{wrapper:?}, {:?}, \"scripted-agent\"]\n\
         args = [\"--script\", {:?}]\n[agent.own.env]\nMY_KEY = \"a secret value\"\n",
        env!("CARGO_BIN_EXE_segue"),
        world.script_file()
    ));
    world.commit("configuration");
    let before = world.git(&["status", "--porcelain"]);
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    let env = std::fs::read_to_string(world.root().join("env")).unwrap();
    for part in
        ["MY_KEY=a secret value", "SEGUE_SOCKET=", "SEGUE_TOKEN=", &format!("SEGUE_RUN={}", done.run())]
    {
        assert!(env.contains(part), "{part}: {env}");
    }
    assert!(!done.all().contains("a secret value"));
    assert_eq!(world.git(&["status", "--porcelain"]), format!("{before}?? parts/\n"), "only the work is new");
}
