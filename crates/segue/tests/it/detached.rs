//! Runs that outlive their terminal: `--detach`, `attach`, `wait`, and what a terminal shows live.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

use segue_rehearsal::script::Script;

use crate::support::{World, until};

/// A program on a terminal of its own, with a person who looks and types.
struct OnTerminal {
    child: Child,
    keys: Option<ChildStdin>,
    shown: PathBuf,
}

impl OnTerminal {
    fn new(world: &World, args: &[&str], name: &str, columns: u16) -> Self {
        let inner = world.command(args);
        let line = format!(
            "stty cols {columns} rows 40; exec {} {}",
            inner.get_program().to_str().unwrap(),
            args.join(" ")
        );
        let shown = world.root().join(format!("{name}.screen"));
        let mut script = Command::new("script");
        script.args(["-qefc", &line, "/dev/null"]).env_clear();
        script.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        script.env("SHELL", "/bin/sh").env("TERM", "xterm").current_dir(world.repo());
        script.stdin(Stdio::piped()).stderr(Stdio::null());
        script.stdout(std::fs::File::create(&shown).unwrap());
        let mut child = script.spawn().unwrap();
        let keys = child.stdin.take();
        Self { child, keys, shown }
    }

    fn screen(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.shown).unwrap()).into_owned()
    }

    #[track_caller]
    fn sees(&self, what: &str) {
        until(what, || self.screen().contains(what));
    }

    fn press(&mut self, keys: &[u8]) {
        self.keys.as_mut().unwrap().write_all(keys).unwrap();
        self.keys.as_mut().unwrap().flush().unwrap();
    }

    fn ends(mut self) -> (Option<i32>, String) {
        let mut status = None;
        until("the program to end", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        (status.unwrap().code(), self.screen())
    }
}

/// A job whose steps wait until a file is there, with a gate.
fn held() -> World {
    let world = World::new(
        3,
        Script { remarks: vec!["I look at the parser first.".to_owned()], ..Script::default() },
    );
    let go = world.root().join("go");
    world.in_step(&format!("while [ ! -e {} ]; do sleep 0.05; done", go.display()));
    world
}

fn go_on(world: &World) {
    std::fs::write(world.root().join("go"), "").unwrap();
}

#[test]
fn a_run_in_the_background_survives_its_terminal_and_is_waited_for() {
    let world = held();
    let terminal = OnTerminal::new(&world, &["run", "TASK.md", "--detach"], "detach", 100);
    terminal.sees("segue stop      stop it with a checkpoint");
    let (code, screen) = terminal.ends();
    assert_eq!(code, Some(0), "{screen}");
    let run = world.run_id().unwrap();
    assert!(screen.contains(&format!("run {run} continues in the background")), "{screen}");
    until("the first step", || !world.steps().sessions().is_empty());
    let late = world.segue(&["wait", "--timeout", "100ms"]);
    late.exits(124);
    go_on(&world);
    let waited = world.segue(&["wait"]);
    waited.exits(0);
    assert_eq!(waited.out.trim(), format!("run {run}: verified: all gates pass"));
    world.assert_each_step_once(&waited);
    let log = world.read_state(&format!("runs/{run}/background.log"));
    assert!(log.contains("verified: all gates pass"), "{log}");
}

#[test]
fn what_cannot_begin_in_the_background_says_so_at_once_with_its_exit_code() {
    let world = World::new(1, Script::default());
    let refused = world.segue(&["run", "TASK.md", "--detach", "--gate", "no-such-program-here"]);
    refused.exits(2);
    assert!(refused.err.contains("no-such-program-here is not on PATH"), "{}", refused.all());
    let done = world.segue(&["run", "TASK.md", "--detach", "--json"]);
    done.exits(0);
    let run = done.lines()[0]["run"].as_str().unwrap().to_owned();
    world.segue(&["wait", &run, "--json"]).exits(0);
    assert_eq!(world.segue(&["attach", &run]).code, Some(0), "a run that is over is shown");
}

#[test]
fn a_terminal_attaches_leaves_comes_back_and_stops() {
    let world = held();
    world.segue(&["run", "TASK.md", "--detach"]).exits(0);
    let mut first = OnTerminal::new(&world, &["attach"], "first", 100);
    first.sees("“Next is number 1 of 3. I run its command.”");
    first.sees("of 3 done");
    first.sees("d or Ctrl-C leaves, the run continues");
    first.press(b"d");
    let (code, screen) = first.ends();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("`segue attach` shows it again"), "{screen}");
    let mut second = OnTerminal::new(&world, &["attach"], "second", 60);
    second.sees("Ctrl-C leaves");
    second.press(b"\x03");
    assert_eq!(second.ends().0, Some(0));
    let mut third = OnTerminal::new(&world, &["attach"], "third", 120);
    third.sees("s stops it");
    third.press(b"s");
    third.sees("is stopping with a checkpoint");
    // The running tool finishes first.
    go_on(&world);
    let (code, screen) = third.ends();
    assert_eq!(code, Some(130), "{screen}");
    world.segue(&["resume", "--detach"]).exits(0);
    let waited = world.segue(&["wait"]);
    waited.exits(0);
}

#[test]
fn a_live_terminal_shows_the_agent_at_work_and_ctrl_c_counts_down() {
    let world = held();
    let mut terminal = OnTerminal::new(&world, &["run", "TASK.md"], "live", 100);
    terminal.sees("“Next is number 1 of 3. I run its command.”");
    terminal.sees("running `");
    terminal.sees("Ctrl-C stops with a checkpoint");
    terminal.press(b"\x03");
    terminal.sees("stopping");
    go_on(&world);
    let (code, screen) = terminal.ends();
    assert_eq!(code, Some(130), "{screen}");
    assert!(!world.snapshots().is_empty(), "{screen}");
    world.segue(&["resume"]).exits(0);
}

#[test]
fn ctrl_c_twice_ends_at_once_and_still_keeps_the_files() {
    let world = held();
    let mut terminal = OnTerminal::new(&world, &["run", "TASK.md"], "twice", 80);
    terminal.sees("running `");
    world.write("half-done.txt", "not committed");
    terminal.press(b"\x03");
    terminal.sees("stopping");
    terminal.press(b"\x03");
    let (code, screen) = terminal.ends();
    assert_eq!(code, Some(130), "{screen}");
    assert!(!world.snapshots().is_empty(), "{screen}");
    assert!(world.last_saved().contains("half-done.txt"), "{screen}");
}

#[test]
fn while_a_gate_runs_its_name_clock_and_last_line_are_shown() {
    let world = World::new(1, Script::default());
    let go = world.root().join("go");
    let gate = format!(
        "echo compiling the parser; until [ -e {} ]; do sleep 0.05; done; {}",
        go.display(),
        world.job.gate()
    );
    world.write(
        "segue.toml",
        &world
            .read("segue.toml")
            .replace(&format!("run = {:?}", world.job.gate()), &format!("run = {gate:?}")),
    );
    let terminal = OnTerminal::new(&world, &["run", "TASK.md"], "gate", 80);
    terminal.sees("gate check 00:0");
    terminal.sees("· compiling the parser");
    let status = world.segue(&["status"]);
    assert!(status.out.contains("gate now    check, "), "{}", status.all());
    go_on(&world);
    let (code, screen) = terminal.ends();
    assert_eq!(code, Some(0), "{screen}");
}

#[test]
fn a_plan_in_the_background_is_watched_phase_by_phase_and_waited_for() {
    let world = held();
    let step = |n| format!("## Phase {n}: number {n}\n\n- [ ] step {n}: write it\n\nGate: `true`\n\n");
    world.write("PLAN.md", &format!("# A plan\n\n{}{}", step(1), step(2)));
    world.commit("a plan");
    let started = world.segue(&["run", "PLAN.md", "--detach"]);
    started.exits(0);
    assert!(started.out.starts_with("run plan-"), "{}", started.all());
    let terminal = OnTerminal::new(&world, &["attach"], "plan", 100);
    // The first phase does not end before it was seen.
    terminal.sees("Next is number 1 of 1");
    go_on(&world);
    let waited = world.segue(&["wait"]);
    assert!(waited.out.starts_with("plan plan-"), "{}", waited.all());
    let (_, screen) = terminal.ends();
    assert!(screen.contains("Phase 1 - number 1"), "{screen}");
}
