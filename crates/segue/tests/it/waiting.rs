//! Providers that fail: each cause, waits that survive `kill -9` and end at the right time, and ends with an account.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

use segue_rehearsal::script::{Fault, FaultKind, Refusal, Script};
use serde_json::Value;

use crate::support::{Done, Running, World, left_behind, small, until};

const STEPS: u32 = 6;

fn provider(at_step: u32, times: Option<u32>, says: Refusal, resets_in_ms: Option<u64>) -> Fault {
    Fault { at_step, session: None, kind: FaultKind::Provider { says, resets_in_ms, times } }
}

/// A job whose agent meets this, under short pauses, with its conversations kept.
fn world(faults: Vec<Fault>) -> World {
    let world = World::new(STEPS, small());
    world.keep_conversations(Script { faults, window: 100_000, ..small() });
    world.configure("[wait]\nfirst = \"100ms\"\nmost = \"400ms\"\n");
    world
}

/// Another agent beside the first, with a script of its own.
fn with_second(world: &World, faults: Vec<Fault>, more: &str) {
    let script = Script {
        faults,
        step_log: Some(world.log()),
        state_dir: Some(world.root().join("conversations")),
        window: 100_000,
        ..small()
    };
    let path = world.root().join("second.json");
    std::fs::write(&path, serde_json::to_string(&script).unwrap()).unwrap();
    world.configure(&format!(
        "agents = [\"scripted\", \"second\"]\n{more}\n[wait]\nfirst = \"100ms\"\nmost = \"400ms\"\n\
         [agent.second]\nkind = \"acp\"\ncommand = [{:?}, \"scripted-agent\", \"--script\", {path:?}]\n",
        env!("CARGO_BIN_EXE_segue"),
    ));
}

/// How often the provider said no, and when it said it would be ready again.
fn refused(world: &World) -> (usize, Option<u64>) {
    let log = std::fs::read_to_string(world.log()).unwrap_or_default();
    let ready = log.lines().find_map(|l| l.strip_prefix("limited ")?.rsplit(' ').next()?.parse().ok());
    (log.lines().filter(|l| l.starts_with("refused ")).count(), ready)
}

fn millis(line: &Value, field: &str) -> u64 {
    let text = line[field].as_str().unwrap_or_else(|| panic!("{field} in {line}"));
    let moment: jiff::Timestamp = text.parse().unwrap();
    u64::try_from(moment.as_millisecond()).unwrap()
}

fn waits(running: &Running) -> bool {
    running.so_far().contains("\"wait.started\"")
}

/// Everything is done, nothing twice, and no session was given the task twice: a conversation that was interrupted is only
/// told to continue.
#[track_caller]
fn assert_done_with_one_prompt_each(world: &World, done: &Done) {
    done.exits(0);
    world.assert_each_step_once(done);
    for (n, prompts) in world.prompts().iter().enumerate() {
        let again: Vec<_> = prompts.iter().skip(1).filter(|p| !p.starts_with("[segue: continue]")).collect();
        assert!(again.is_empty(), "session {n}: {prompts:#?}\n{}", done.all());
    }
    assert_eq!(world.segue(&["replay"]).code, Some(0), "{}", world.segue(&["replay"]).all());
}

#[test]
fn h3_a_rate_limit_is_waited_for_until_it_is_over() {
    let world = world(vec![provider(3, None, Refusal::RateLimited, Some(2_000))]);
    let done = world.segue(&["run", "TASK.md", "--json"]);
    assert_done_with_one_prompt_each(&world, &done);
    assert_eq!(refused(&world).0, 1, "{}", done.all());
    let (started, ended) = (&done.of("wait.started")[0], &done.of("wait.ended")[0]);
    assert_eq!(
        (started["agent"].as_str(), started["failure"].as_str()),
        (Some("scripted"), Some("rate_limited"))
    );
    assert!(millis(ended, "at") >= millis(started, "until"), "{}", done.all());
    assert_eq!(started["why"], "scripted's rate limit");
    let continued = &done.of("session.continued")[0];
    assert_eq!((&continued["session"], &continued["how"]), (&"s1".into(), &"alive".into()));
    assert_eq!(done.of("session.started").len(), 1, "the conversation is kept\n{}", done.all());
}

#[test]
fn h3_killed_while_it_waits_a_run_goes_on_at_the_right_time_with_the_prompt_issued_once() {
    let world = world(vec![provider(3, None, Refusal::RateLimited, Some(20_000))]);
    let run = world.launch(&["run", "TASK.md", "--json"], "run");
    until("the wait", || waits(&run));
    let id = world.run_id().unwrap();
    assert_eq!(left_behind(&id).len(), 1, "the agent's process is kept through a short wait");
    run.signal("KILL");
    let killed = run.wait();
    let planned = millis(&killed.of("wait.started")[0], "until");
    let status = world.segue(&["status", "--json"]);
    assert_eq!(status.lines()[0]["status"], "crashed", "{}", status.all());
    let resumed = world.segue(&["resume", "--json"]);
    let again = &resumed.of("wait.started")[0];
    assert_eq!(millis(again, "until"), planned, "not from anew\n{}", resumed.all());
    let started = millis(&resumed.of("session.started")[0], "at");
    let (count, ready) = refused(&world);
    assert_eq!(count, 1, "it came too early\n{}", resumed.all());
    assert!(started >= planned && planned >= ready.unwrap(), "{started} {planned} {ready:?}");
    assert_done_with_one_prompt_each(&world, &resumed);
    assert_eq!(left_behind(&id), [""; 0]);
}

/// The numbers of the events at which the provider refuses and at which the wait is over, in a run that is not killed.
fn around_the_wait(faults: &[Fault]) -> (u64, u64) {
    let world = world(faults.to_vec());
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    let events = world.events(&world.run_id().unwrap());
    let at = |part: &str| events.iter().find(|e| e.event.contains(part)).map(|e| e.seq).unwrap();
    (at("\"how\":\"failed\""), at("\"timer\":\"wait\""))
}

#[test]
fn h3_killed_after_any_event_around_a_wait_it_goes_on_at_the_right_time() {
    let faults = [provider(3, None, Refusal::RateLimited, Some(1_500))];
    let (first, last) = around_the_wait(&faults);
    let mut killed = 0;
    for seq in first..=last {
        let world = world(faults.to_vec());
        let crash = seq.to_string();
        let args = ["run", "TASK.md", "--json"];
        let run = world.launch_with(&args, "run", &[("SEGUE_CRASH_AFTER", &crash)]).wait();
        killed += u32::from(run.code.is_none());
        let done = if run.code.is_none() { world.segue(&["resume", "--json"]) } else { run };
        assert_done_with_one_prompt_each(&world, &done);
        assert_eq!(refused(&world).0, 1, "killed after event {seq}: it came too early\n{}", done.all());
    }
    assert!(killed >= 3, "{killed} of {first} to {last}");
}

#[test]
fn h3_each_cause_has_its_own_action() {
    for (says, word, pause) in [
        (Refusal::Overloaded, "overloaded until", 800),
        (Refusal::RateLimited, "rate limited until", 2_400),
        (Refusal::Network, "cannot be reached until", 800),
    ] {
        let world = world(vec![provider(3, Some(2), says, None)]);
        world.configure("[wait]\nfirst = \"800ms\"\n");
        let done = world.segue(&["run", "TASK.md", "--json"]);
        assert_done_with_one_prompt_each(&world, &done);
        assert_eq!(refused(&world).0, 2, "{says:?}\n{}", done.all());
        let told: Vec<Value> =
            done.of("warning").into_iter().filter(|w| w["code"] == "agent_failed").collect();
        let again = done.of("session.continued");
        for (n, told) in told.iter().enumerate() {
            assert!(told["text"].as_str().unwrap().contains(word), "{told}");
            let gap = millis(&again[n], "at") - millis(told, "at");
            assert!(gap >= pause << n, "{says:?}: {gap} ms before try {}\n{}", n + 2, done.all());
        }
    }
    for (says, exit, word, verdict) in [
        (Refusal::Quota, 4, "out of quota", "stopped"),
        (Refusal::Unauthorised, 3, "not authorised", "needs_input"),
        (Refusal::BadModel, 3, "its model", "needs_input"),
    ] {
        let world = world(vec![provider(3, Some(1), says, None)]);
        let done = world.segue(&["run", "TASK.md", "--json"]);
        done.exits(exit);
        let end = done.finished();
        assert_eq!((end["verdict"].as_str(), done.of("wait.started").len()), (Some(verdict), 0));
        assert!(end["reason"].as_str().unwrap().contains(word), "{end}");
        assert!(end["advice"].as_str().unwrap().contains("segue resume"), "{end}");
        let resumed = world.segue(&["resume", "--json"]);
        assert_done_with_one_prompt_each(&world, &resumed);
    }
}

#[test]
fn h3_with_another_agent_each_cause_is_left_to_it() {
    for says in [Refusal::RateLimited, Refusal::Quota, Refusal::Unauthorised, Refusal::BadModel] {
        let world = world(vec![provider(3, None, says, Some(600_000))]);
        with_second(&world, Vec::new(), "");
        let done = world.segue(&["run", "TASK.md", "--json"]);
        assert_done_with_one_prompt_each(&world, &done);
        let handoff = &done.of("handoff.decided")[0];
        assert_eq!(
            (&handoff["kind"], &handoff["to_agent"]),
            (&"fallback".into(), &"second".into()),
            "{says:?}"
        );
        assert_eq!(done.of("wait.started").len(), 0, "{}", done.all());
    }
}

#[test]
fn h4_two_agents_that_fail_in_turn_stop_with_an_account_and_are_resumable() {
    let world = world(vec![provider(3, None, Refusal::RateLimited, None)]);
    with_second(&world, vec![provider(3, None, Refusal::Overloaded, None)], "limits.max_failures = 6");
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(4);
    let end = done.finished();
    let reason = end["reason"].as_str().unwrap();
    assert_eq!(end["limit"], "failures", "{}", done.all());
    assert!(reason.contains("scripted: rate limited") && reason.contains("second: overloaded"), "{reason}");
    let agents: Vec<Value> = done.of("session.started").iter().map(|s| s["agent"].clone()).collect();
    assert!(agents.contains(&"scripted".into()) && agents.contains(&"second".into()), "{agents:?}");
    assert_eq!(agents.len() + done.of("session.continued").len(), 7, "{}", done.all());
    world.keep_conversations(Script { window: 100_000, ..small() });
    let resumed = world.segue(&["resume", "--json", "--now"]);
    assert_done_with_one_prompt_each(&world, &resumed);
}

#[test]
fn waiting_that_is_refused_exits_75_and_goes_on_later() {
    let world = world(vec![provider(3, None, Refusal::RateLimited, Some(2_500))]);
    let done = world.segue(&["run", "TASK.md", "--json", "--no-wait"]);
    done.exits(75);
    let end = done.finished();
    assert_eq!((&end["limit"], &end["exit_code"]), (&"wait".into(), &75.into()));
    assert!(millis(&end, "until") >= refused(&world).1.unwrap(), "{end}");
    assert!(end["reason"].as_str().unwrap().contains("scripted: rate limited until "), "{end}");
    assert_eq!(done.of("wait.started").len(), 0);
    let resumed = world.segue(&["resume", "--json"]);
    assert_done_with_one_prompt_each(&world, &resumed);
    assert_eq!(refused(&world).0, 1);
    let long = self::world(vec![provider(2, None, Refusal::RateLimited, Some(8 * 3_600_000))]);
    long.segue(&["run", "TASK.md", "--json"]).exits(75);
}

#[test]
fn a_stop_while_it_waits_is_at_once_and_resume_now_does_not_wait() {
    let world = world(vec![provider(3, Some(1), Refusal::RateLimited, Some(600_000))]);
    for signal in [true, false] {
        let args: &[&str] = if signal { &["run", "TASK.md", "--json"] } else { &["resume", "--json"] };
        let run = world.launch(args, "run");
        until("the wait", || waits(&run));
        if signal {
            run.signal("INT");
        } else {
            world.segue(&["stop"]).exits(0);
        }
        let done = run.wait();
        done.exits(130);
        assert_eq!(done.of("wait.ended").len(), 1, "{}", done.all());
    }
    let shown = world.segue(&["status"]);
    assert!(shown.out.contains("rate limited until"), "{}", shown.all());
    let resumed = world.segue(&["resume", "--json", "--now"]);
    assert_done_with_one_prompt_each(&world, &resumed);
    assert_eq!(resumed.of("wait.started").len(), 0);
}

#[test]
fn what_one_run_learned_holds_back_the_next_until_it_is_over() {
    let world = world(vec![provider(3, Some(1), Refusal::RateLimited, Some(600_000))]);
    world.segue(&["run", "TASK.md", "--json", "--no-wait"]).exits(75);
    let other = world.segue(&["run", "TASK.md", "--json", "--no-wait"]);
    other.exits(75);
    assert_eq!(other.of("session.started").len(), 0, "{}", other.all());
    let file = world.root().join(".local/state/segue/circuits.json");
    assert!(std::fs::read_to_string(&file).unwrap().contains("\"scripted\""));
    let done = world.segue(&["resume", "--json", "--now"]);
    done.exits(0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{}");
}

#[test]
fn m9_an_agent_that_reads_and_writes_about_limits_is_not_held_back() {
    let world = World::new(STEPS, small());
    let words = "429 Too Many Requests: rate limit exceeded, retry-after: 600; 529 overloaded_error; \
                 prompt is too long: 213224 tokens > 200000 maximum; insufficient_quota; connection refused";
    world.script(Script {
        step_output: Some(words.to_owned()),
        last_words: vec![format!("done; the notes say: {words}")],
        window: 100_000,
        ..small()
    });
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert_eq!((done.of("wait.started").len(), done.of("session.started").len()), (0, 1), "{}", done.all());
    assert_eq!(done.finished()["overflows"], 0);
}

#[test]
fn people_are_told_what_is_waited_for_and_until_when_in_one_line() {
    let world = world(vec![provider(3, None, Refusal::RateLimited, Some(1_500))]);
    let done = world.segue(&["run", "TASK.md"]);
    done.exits(0);
    let told: Vec<&str> =
        done.out.lines().filter(|l| l.contains("waiting for scripted's rate limit until")).collect();
    assert_eq!(told.len(), 1, "{}", done.all());
    assert!(done.out.lines().any(|l| l.contains("no longer waiting for scripted's rate limit")));
}

/// The program on a terminal of its own, with keys to be pressed.
struct Typist {
    child: Child,
    keys: Option<ChildStdin>,
    out: PathBuf,
}

impl Typist {
    fn run(world: &World, args: &[&str]) -> Self {
        let inner = world.command(args);
        let line = format!("exec {} {}", inner.get_program().to_str().unwrap(), args.join(" "));
        let out = world.root().join("terminal.out");
        let mut script = Command::new("script");
        script
            .args(["-qefc", &line, "/dev/null"])
            .env_clear()
            .env("SEGUE_TRUST", "1")
            .env("SHELL", "/bin/sh")
            .env("TERM", "xterm");
        script.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        script.current_dir(world.repo()).stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = script.stdout(std::fs::File::create(&out).unwrap()).spawn().unwrap();
        Self { keys: child.stdin.take(), child, out }
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.out).unwrap()).into_owned()
    }

    fn press_enter(&mut self) {
        self.keys.as_mut().unwrap().write_all(b"\n").unwrap();
    }

    fn wait(mut self) -> (Option<i32>, String) {
        let mut status = None;
        until("the program to end", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        (status.and_then(|s| s.code()), self.shown())
    }
}

impl Drop for Typist {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn enter_ends_a_wait_that_counts_down_in_one_place() {
    let world = world(vec![provider(3, Some(1), Refusal::RateLimited, Some(600_000))]);
    let mut typist = Typist::run(&world, &["run", "TASK.md"]);
    until("the time that is left to change", || {
        typist.shown().matches("· press Enter to retry now").count() >= 3
    });
    typist.press_enter();
    let (code, shown) = typist.wait();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("Ctrl-C to stop (resumable)"), "{shown}");
    assert!(shown.contains("no longer waiting for scripted's rate limit"), "{shown}");
    // The terminal itself goes to a new line when Enter is pressed.
    let lines = shown.lines().filter(|line| line.contains("· press Enter to retry now")).count();
    assert_eq!(lines, 1, "the countdown is redrawn, not added\n{shown}");
    assert!(world.steps().lost(STEPS).is_empty() && world.steps().started_twice().is_empty());
    assert_eq!(refused(&world).0, 1);
}
