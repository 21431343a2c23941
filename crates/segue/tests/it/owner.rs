//! One owner per work tree, how it is asked to stop, and what others may do meanwhile.

use std::process::Command;

use segue_rehearsal::script::{Fault, FaultKind, Refusal, Script};

use crate::support::{Done, Running, World, left_behind, small, until};

/// Steps long enough to meet a run at work.
fn slow() -> Script {
    Script { step_ms: 150, think_ms: 10, ..Script::default() }
}

/// A job whose run has finished its first step.
fn at_work(script: Script) -> (World, Running) {
    let world = World::new(8, script);
    let run = world.launch(&["run", "TASK.md", "--json"], "run");
    until("the first step", || world.steps().distinct_done().contains(&1));
    (world, run)
}

/// The run stopped as someone asked, left nothing behind, and can go on to its end without doing anything twice.
fn assert_stopped_and_resumable(world: &World, done: &Done) {
    assert_eq!(done.code, Some(130), "{}", done.all());
    let finished = &done.of("run.finished")[0];
    assert_eq!((&finished["verdict"], &finished["exit_code"]), (&"stopped".into(), &130.into()));
    let run = done.lines()[0]["run"].as_str().unwrap().to_owned();
    assert_eq!(left_behind(&run), Vec::<String>::new());
    let recorded = world.steps().distinct_done();
    assert!(recorded.len() < 8, "it was stopped on the way");
    let resumed = world.launch(&["resume", "--json"], "resume").wait();
    assert_eq!(resumed.code, Some(0), "{}", resumed.all());
    assert_eq!(resumed.of("run.finished")[0]["verdict"], "verified");
    let log = world.steps();
    assert_eq!(log.distinct_done(), (1..=8).collect());
    assert!(log.repeated().is_empty(), "{log:?}");
    assert!(log.started_twice().is_disjoint(&recorded), "{log:?}");
    assert_eq!(left_behind(&run), Vec::<String>::new());
}

#[test]
fn e2_a_second_run_is_refused_at_once_while_read_only_commands_work() {
    let (world, run) = at_work(slow());
    let id = world.run_id().unwrap();
    for args in [["run", "TASK.md"], ["resume", &id]] {
        let second = world.segue(&args);
        assert_eq!(second.code, Some(2), "{}", second.all());
        for words in [&format!("run {id}"), "segue status", "segue stop"] {
            assert!(second.err.contains(words), "{words}: {}", second.err);
        }
    }
    let status = world.segue(&["status", "--json"]);
    assert_eq!(status.code, Some(0), "{}", status.all());
    assert_eq!(status.lines()[0]["process"], run.pid());
    for args in [
        &["status"][..],
        &["status", "--all"],
        &["log"],
        &["log", "--json"],
        &["show"],
        &["show", "--gates"],
        &["show", "--output"],
        &["replay", "--json"],
    ] {
        let done = world.segue(args);
        assert!(done.code == Some(0) && !done.out.is_empty(), "{args:?}: {}", done.all());
    }
    let done = run.wait();
    assert_eq!(done.code, Some(0), "{}", done.all());
    assert_eq!(world.steps().sessions().len(), 1, "the second never came to an agent");
    let third = world.launch(&["run", "TASK.md", "--json"], "third").wait();
    assert_eq!(third.code, Some(0), "the lock is free again: {}", third.all());
}

#[test]
fn e2_the_lock_of_a_killed_owner_is_stale_at_once_and_its_agent_does_not_work_beside_the_next() {
    let (world, run) = at_work(Script { ignore_eof: true, ..slow() });
    let dead = world.run_id().unwrap();
    run.signal("KILL");
    assert_eq!(run.wait().code, None);
    assert!(!left_behind(&dead).is_empty(), "its agent is still at work");
    let status = world.segue(&["status"]);
    assert!(status.code == Some(0) && status.out.contains("crashed"), "{}", status.all());

    let next = world.launch(&["run", "TASK.md", "--json"], "next").wait();
    assert_eq!(next.code, Some(0), "{}", next.all());
    assert_eq!(left_behind(&dead), Vec::<String>::new());
    let text = std::fs::read_to_string(world.log()).unwrap();
    let second = text.match_indices("session ").nth(1).unwrap().0;
    let (first, second) = text.split_at(second);
    let started: Vec<&str> =
        first.lines().filter_map(|l| l.strip_prefix("start ")?.split(' ').nth(1)).collect();
    let late = second.lines().filter_map(|l| l.strip_prefix("end ")?.split(' ').nth(1));
    assert_eq!(late.filter(|pid| started.contains(pid)).count(), 0, "{text}");
}

#[test]
fn segue_stop_takes_a_checkpoint_and_the_run_can_be_resumed() {
    let (world, run) = at_work(slow());
    let other = world.segue(&["stop", "20010101"]);
    assert_eq!(other.code, Some(2), "{}", other.all());
    let id = world.run_id().unwrap();
    let stop = world.segue(&["stop", &id]);
    assert!(stop.code == Some(0) && stop.out.contains(&id), "{}", stop.all());
    let done = run.wait();
    let taken = done.of("checkpoint.taken");
    assert_eq!((taken.len(), &taken[0]["by"]), (1, &"agent".into()), "{}", done.all());
    assert!(world.steps().half_done().is_empty(), "the running step ended");
    assert_stopped_and_resumable(&world, &done);
}

#[test]
fn segue_stop_now_does_not_wait_for_a_tool_that_hangs() {
    let hang = Fault { at_step: 2, session: Some(1), kind: FaultKind::Hang };
    let (world, run) = at_work(Script { faults: vec![hang], ..slow() });
    until("the tool", || run.so_far().matches("gauge.read").count() >= 3);
    let stop = world.segue(&["stop", "--now", "--json"]);
    assert_eq!(stop.lines()[0]["process"], run.pid());
    let done = run.wait();
    assert!(done.of("checkpoint.taken").iter().all(|line| line["by"] == "segue"), "{}", done.all());
    assert_stopped_and_resumable(&world, &done);
}

#[test]
fn the_first_interrupt_is_gentle_and_the_second_is_not() {
    let hang = Fault { at_step: 2, session: Some(1), kind: FaultKind::Hang };
    let (world, run) = at_work(Script { faults: vec![hang], ..slow() });
    until("the tool", || run.so_far().matches("gauge.read").count() >= 3);
    run.signal("INT");
    until("the request", || run.so_far().contains("checkpoint.requested"));
    run.signal("INT");
    let done = run.wait();
    assert_stopped_and_resumable(&world, &done);

    let (world, run) = at_work(slow());
    run.signal("INT");
    let done = run.wait();
    assert_eq!(done.of("checkpoint.taken").len(), 1, "{}", done.all());
    assert_stopped_and_resumable(&world, &done);
}

#[test]
fn the_polite_signals_of_the_system_take_a_checkpoint_too() {
    for signal in ["TERM", "HUP"] {
        let (world, run) = at_work(slow());
        run.signal(signal);
        let done = run.wait();
        assert_eq!(done.of("checkpoint.taken").len(), 1, "{signal}: {}", done.all());
        assert_stopped_and_resumable(&world, &done);
    }
}

#[test]
fn log_follows_a_live_run_to_its_end_in_the_same_lines() {
    let (world, run) = at_work(slow());
    let follow = world.launch(&["log", "-f", "--json"], "follow");
    let words = world.launch(&["log", "-f"], "words");
    until("a line", || follow.so_far().contains("run.started"));
    let done = run.wait();
    let (follow, words) = (follow.wait(), words.wait());
    assert_eq!((done.code, follow.code, words.code), (Some(0), Some(0), Some(0)), "{}", follow.all());
    assert_eq!(follow.out, done.out);
    assert!(words.out.contains("verified: all gates pass"), "{}", words.out);
}

#[test]
fn log_stops_following_a_run_whose_process_was_killed() {
    let (world, run) = at_work(slow());
    let follow = world.launch(&["log", "-f", "--json"], "follow");
    until("a line", || follow.so_far().contains("run.started"));
    run.signal("KILL");
    let done = run.wait();
    let follow = follow.wait();
    assert_eq!(follow.code, Some(0), "{}", follow.all());
    assert!(follow.out.starts_with(&done.out), "everything that was said is durable");
    let id = world.run_id().unwrap();
    until("the agent to end by itself", || left_behind(&id).is_empty());
}

#[test]
fn what_the_users_shell_had_started_before_is_left_alone() {
    let world = World::new(2, Script::default());
    let program = world.command(&["run", "TASK.md", "--json"]);
    let pid_file = world.root().join("pid");
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg("sleep 60 >/dev/null 2>&1 & echo $! > \"$0\"; exec \"$@\"")
        .arg(&pid_file)
        .arg(program.get_program())
        .args(program.get_args())
        .current_dir(world.repo())
        .env("XDG_RUNTIME_DIR", world.root())
        .env("SEGUE_TRUST", "1")
        .env("HOME", world.root());
    let done = shell.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    let pid = std::fs::read_to_string(pid_file).unwrap();
    let sleeps = std::fs::read(format!("/proc/{}/cmdline", pid.trim())).unwrap_or_default();
    assert!(sleeps.starts_with(b"sleep"), "the shell's own job was ended");
    assert!(Command::new("kill").arg(pid.trim()).status().unwrap().success());
}

/// What `status`, `status --json` and the line of `status --all` say.
fn told(world: &World) -> (String, serde_json::Value, String) {
    let status = world.segue(&["status"]);
    status.exits(0);
    let json = world.segue(&["status", "--json"]);
    let all = world.segue(&["status", "--all"]);
    let json = json.lines()[0].clone();
    let listed = world.segue(&["list", "--json"]).lines()[0].clone();
    assert_eq!((&listed["run"], &listed["status"]), (&json["run"], &json["status"]), "{listed}");
    let list = world.segue(&["list"]).out;
    assert!(list.contains(json["status"].as_str().unwrap()), "{list}");
    (status.out, json, all.out.lines().next().unwrap_or_default().to_owned())
}

#[test]
fn truth7_dead_is_dead_in_status_and_stop_ends_what_is_left() {
    let (world, run) = at_work(Script { ignore_eof: true, ..slow() });
    let (text, json, line) = told(&world);
    assert!(
        text.contains("working") && json["status"] == "running" && line.contains("running"),
        "{text}{json}{line}"
    );
    assert!(json["crashed"].is_null() && json["process"] == run.pid(), "{json}");
    let dead = world.run_id().unwrap();
    run.signal("KILL");
    assert_eq!(run.wait().code, None);

    let (text, json, line) = told(&world);
    assert!(text.contains("crashed") && text.contains("still alive") && !text.contains("thinking"), "{text}");
    assert!(text.contains(&format!("segue resume {dead}")), "{text}");
    assert_eq!((&json["status"], &json["process"]), (&"crashed".into(), &serde_json::Value::Null), "{json}");
    assert!(json["crashed"]["since"].is_string() && json["session"]["state"] == "lost", "{json}");
    assert!(!json["crashed"]["alive"].as_array().unwrap().is_empty(), "{json}");
    assert!(line.contains("crashed"), "{line}");

    let stop = world.segue(&["stop"]);
    stop.exits(0);
    assert!(stop.out.contains("crashed") && stop.out.contains("segue resume"), "{}", stop.out);
    assert_eq!(left_behind(&dead), Vec::<String>::new());
    let (text, json, _) = told(&world);
    assert!(text.contains("crashed") && !text.contains("still alive"), "{text}");
    assert_eq!(json["crashed"]["alive"], serde_json::json!([]), "{json}");
    world.segue(&["stop"]).exits(2);

    world.segue(&["resume"]).exits(0);
    let (text, json, line) = told(&world);
    assert!(
        text.contains("verified") && json["status"] == "verified" && line.contains("verified"),
        "{text}{json}{line}"
    );
    assert!(json["crashed"].is_null(), "{json}");
}

#[test]
fn truth7_a_stopped_run_is_stopped_and_not_crashed() {
    let (world, run) = at_work(slow());
    world.segue(&["stop"]).exits(0);
    assert_eq!(run.wait().code, Some(130));
    let (text, json, line) = told(&world);
    assert!(
        text.contains("stopped") && json["status"] == "stopped" && line.contains("stopped"),
        "{text}{json}{line}"
    );
    assert!(json["crashed"].is_null(), "{json}");
}

#[test]
fn truth7_a_run_that_waits_is_waiting_until_its_process_is_gone() {
    let kind = FaultKind::Provider { says: Refusal::RateLimited, resets_in_ms: Some(600_000), times: None };
    let world = World::new(4, slow());
    world.script(Script { faults: vec![Fault { at_step: 2, session: None, kind }], ..slow() });
    let run = world.launch(&["run", "TASK.md", "--json"], "run");
    until("the wait", || run.so_far().contains("\"wait.started\""));
    let (text, json, line) = told(&world);
    assert!(text.contains("rate limited until"), "{text}");
    assert!(json["status"] == "waiting" && json["waiting"]["until"].is_string(), "{json}");
    assert!(line.contains("waiting"), "{line}");
    run.signal("KILL");
    run.wait();
    let (text, json, line) = told(&world);
    assert!(
        text.contains("crashed") && json["status"] == "crashed" && line.contains("crashed"),
        "{text}{json}{line}"
    );
}

#[test]
fn truth7_a_plan_is_at_work_crashed_or_completed_in_every_list() {
    let world = crate::plan_run::world(4, Script { step_ms: 1_500, ..slow() });
    world.write("segue.plan.toml", &crate::plan_run::native(&[("1", &[], &[1, 2, 3]), ("2", &["1"], &[4])]));
    let said = || {
        let one = world.segue(&["plan", "status", "--json"]);
        let all = world.segue(&["plan", "status", "--all"]);
        (one.lines()[0].clone(), all.out, world.segue(&["status"]).out)
    };
    let run = world.launch(&["run", "segue.plan.toml", "--json"], "run");
    until("the first step", || world.steps().distinct_done().contains(&1));
    let (json, all, status) = said();
    assert!(json["at_work"] == true && json["crashed"] == false, "{json}");
    assert!(all.contains("running") && !status.contains("crashed"), "{all}{status}");
    run.signal("KILL");
    run.wait();
    let (json, all, _) = said();
    assert!(json["at_work"] == false && json["crashed"] == true && json["status"] == "crashed", "{json}");
    let phases = world.segue(&["plan", "status"]).out;
    assert!(phases.contains("cut off") && !phases.contains("in_progress"), "{phases}");
    assert!(all.contains("crashed") && !all.contains("running"), "{all}");
    world.segue(&["resume"]).exits(0);
    let (json, all, status) = said();
    assert!(json["status"] == "completed" && json["crashed"] == false, "{json}");
    assert!(all.contains("completed") && status.contains("verified"), "{all}{status}");
}

#[test]
fn truth7_a_run_whose_disk_is_full_is_crashed_in_every_list() {
    let world = World::new(40, small());
    std::fs::create_dir(world.state_dir()).unwrap();
    let own = world.command(&[]);
    let mut command = Command::new("unshare");
    let code = "mount -t tmpfs -o size=400k tmpfs .git/segue || exit 99\n\
        \"$0\" run TASK.md >out 2>&1 && exit 98\n\
        \"$0\" status && \"$0\" status --json && \"$0\" status --all && \"$0\" list --json && \"$0\" list";
    command.args(["-m", "sh", "-c", code, env!("CARGO_BIN_EXE_segue")]).current_dir(world.repo()).env_clear();
    command.envs(own.get_envs().filter_map(|(k, v)| Some((k, v?))));
    let output = match command.output() {
        Ok(output) if output.status.code() != Some(99) && !output.stderr.starts_with(b"unshare") => output,
        _ => {
            println!("skipped: a small file system cannot be mounted here");
            return;
        }
    };
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out}\n{err}\n{}", world.read("out"));
    assert_eq!(out.matches("\"status\":\"crashed\"").count(), 2, "{out}");
    assert!(out.matches("crashed").count() >= 5, "{out}");
    let told = out.lines().filter(|line| !line.starts_with('{')).collect::<Vec<_>>().join("\n");
    for word in ["working", "thinking"] {
        assert!(!told.contains(word), "{word}: {told}");
    }
}
