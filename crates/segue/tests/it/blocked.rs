//! Everything outside that can stand still: a reader, a terminal, a lock, a database, a disk. The run goes on, hands over,
//! and answers Ctrl-C.

use std::fs::File;
use std::io::{PipeReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use segue_rehearsal::script::Script;
use serde_json::Value;

use crate::support::{World, small, until};

/// Ended by a second Ctrl-C within 5 s; what a busy machine may add is not the program's.
const AT_ONCE: Duration = Duration::from_secs(25);

const STEPS: u32 = 12;

/// What a pipe holds, as the system makes it.
const PIPE: usize = 64 * 1024;

/// What is in a pipe before the program writes to it, so that 4 kB of room are left.
const FILLED: usize = PIPE - 4 * 1024;

/// A pipe with something in it already.
fn filled(with: usize) -> (PipeReader, std::io::PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&vec![b'\n'; with]).unwrap();
    (reader, writer)
}

fn narrow() -> (PipeReader, std::io::PipeWriter) {
    filled(FILLED)
}

/// A world whose agent says so much that its output fits no pipe and no queue.
fn talkative(steps: u32) -> World {
    let remarks = vec!["word ".repeat(1_500)];
    World::new(steps, Script { remarks, window: 60_000, think_ms: 10, ..small() })
}

struct Program(Child);

impl Program {
    fn signal(&self, signal: &str) {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &pid]).status().unwrap().success());
    }

    fn ends(&mut self) -> ExitStatus {
        let mut status = None;
        until("the program to end", || {
            status = self.0.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    fn is_over(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl World {
    fn start(&self, args: &[&str], out: impl Into<Stdio>) -> Program {
        let err = File::create(self.root().join("start.err")).unwrap();
        Program(self.command(args).stdout(out).stderr(err).spawn().unwrap())
    }

    fn noted(&self) -> String {
        std::fs::read_to_string(self.root().join("start.err")).unwrap()
    }

    fn is_finished(&self) -> bool {
        let rows = self.journal().and_then(|journal| journal.runs().ok()).unwrap_or_default();
        rows.first().is_some_and(|row| row.finished_at.is_some())
    }

    /// How many sessions ran, by the journal.
    fn sessions(&self) -> usize {
        let run = self.run_id().unwrap();
        self.events(&run).iter().filter(|stored| stored.event.contains("\"session_spawned\"")).count()
    }

    fn until_at_work(&self, steps: usize) {
        until("some steps to be done", || self.steps().distinct_done().len() >= steps);
    }

    fn journal_file(&self) -> PathBuf {
        self.journal().unwrap().file(&self.run_id().unwrap())
    }
}

/// Another program that writes to the run's journal, and takes its time.
fn holding(world: &World) -> rusqlite::Connection {
    let other = rusqlite::Connection::open(world.journal_file()).unwrap();
    other.busy_timeout(Duration::from_secs(30)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    other
}

#[test]
fn a_run_whose_json_nobody_reads_ends_and_is_told_whole_later() {
    let world = talkative(70);
    let (mut reader, writer) = narrow();
    let mut program = world.start(&["run", "TASK.md", "--json"], writer);
    until("the run to finish", || world.is_finished());
    assert!(!program.is_over(), "its last lines are not read yet");
    assert!(world.sessions() >= 2);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(program.ends().code(), Some(0), "{}", world.noted());
    assert!(text.len() > FILLED + 100 * 1024, "only {} bytes: it would have fit", text.len());
    let lines: Vec<Value> = text[FILLED..].lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (at, line) in lines.iter().enumerate() {
        assert_eq!(line["seq"], at + 1, "none is missing and none comes twice");
    }
    assert_eq!(lines.last().unwrap()["type"], "run.finished");
    let replayed = world.segue(&["replay", &world.run_id().unwrap(), "--json"]);
    assert_eq!(replayed.code, Some(0), "{}", replayed.all());
}

#[test]
fn a_run_whose_lines_nobody_reads_ends_and_its_last_ones_are_shown_later() {
    let world = talkative(40);
    // A person's lines are few: not one of them fits.
    let (mut reader, writer) = filled(PIPE);
    let mut program = world.start(&["run", "TASK.md"], writer);
    until("the run to finish", || world.is_finished());
    assert!(!program.is_over(), "its last lines are not read yet");
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(program.ends().code(), Some(0), "{}", world.noted());
    assert!(text.contains("verified"), "{text}");
}

#[test]
fn a_reader_that_is_gone_ends_nothing() {
    let world = World::new(STEPS, small());
    let (reader, writer) = narrow();
    let mut program = world.start(&["run", "TASK.md", "--json"], writer);
    world.until_at_work(2);
    drop(reader);
    assert_eq!(program.ends().code(), Some(0), "{}", world.noted());
    assert_eq!(world.steps().distinct_done().len(), STEPS as usize);
}

#[test]
fn ctrl_c_is_answered_while_nobody_reads() {
    for args in [&["run", "TASK.md", "--json"][..], &["run", "TASK.md"]] {
        let world = talkative(40);
        let (_reader, writer) = filled(PIPE);
        let mut program = world.start(args, writer);
        world.until_at_work(6);
        program.signal("INT");
        assert_eq!(program.ends().code(), Some(130), "{}", world.noted());
        assert!(world.noted().contains("stopping"), "{}", world.noted());
        assert_eq!(world.checkpoints().len(), world.sessions(), "the first Ctrl-C takes a checkpoint");
    }
}

#[test]
fn a_stopped_terminal_stops_neither_the_run_nor_ctrl_c() {
    for interrupt in [false, true] {
        let world = talkative(40);
        let inner = world.command(&["run", "TASK.md"]);
        let line = format!("exec {} run TASK.md", inner.get_program().to_str().unwrap());
        let mut script = Command::new("script");
        script.args(["-qefc", &line, "/dev/null"]).env_clear().current_dir(world.repo());
        script.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        script.env("SHELL", "/bin/sh").env("TERM", "xterm");
        let out = File::create(world.root().join("screen")).unwrap();
        let mut script = script.stdin(Stdio::piped()).stdout(out).stderr(Stdio::null()).spawn().unwrap();
        let mut keys = script.stdin.take().unwrap();
        let mut script = Program(script);
        world.until_at_work(1);
        keys.write_all(b"\x13").unwrap();
        if interrupt {
            world.until_at_work(6);
            let lock: Value = serde_json::from_str(&world.read_state("lock")).unwrap();
            let pid = lock["pid"].to_string();
            assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
            until("the run to finish", || world.is_finished());
            until("the program to end", || world.read_state("lock").is_empty());
            keys.write_all(b"\x11").unwrap();
            assert_eq!(script.ends().code(), Some(130));
        } else {
            until("the run to finish", || world.is_finished());
            assert!(world.sessions() >= 2);
            assert!(!script.is_over(), "its last lines are not shown yet");
            keys.write_all(b"\x11").unwrap();
            assert_eq!(script.ends().code(), Some(0));
            let screen = std::fs::read_to_string(world.root().join("screen")).unwrap();
            assert!(screen.contains("verified"), "{screen}");
        }
    }
}

#[test]
fn a_held_lock_in_the_state_folder_does_not_stop_a_run() {
    let world = World::new(STEPS, small());
    let run = world.launch(&["run", "TASK.md", "--json"], "run");
    let locks = || {
        let entries = std::fs::read_dir(world.user_state()).into_iter().flatten().flatten();
        entries
            .map(|e| e.path())
            .filter(|p| p.to_string_lossy().contains("budget-") && p.extension().is_some_and(|e| e == "lock"))
            .collect::<Vec<_>>()
    };
    until("the day's book", || !locks().is_empty());
    let held: Vec<File> = locks().iter().map(|path| File::open(path).unwrap()).collect();
    held.iter().for_each(|lock| lock.lock().unwrap());
    let done = run.wait();
    done.exits(0);
    world.assert_each_step_once(&done);
    assert!(done.of("session.started").len() >= 2, "{}", done.all());
    assert!(done.err.contains("the day's budget cannot be kept"), "{}", done.all());
}

#[test]
fn a_locked_journal_is_waited_for_and_nothing_is_lost() {
    let world = World::new(STEPS, small());
    let run = world.launch(&["run", "TASK.md", "--json"], "run");
    world.until_at_work(2);
    let other = holding(&world);
    std::thread::sleep(Duration::from_secs(5));
    drop(other);
    let done = run.wait();
    done.exits(0);
    world.assert_each_step_once(&done);
    assert!(done.of("session.started").len() >= 2, "{}", done.all());
}

#[test]
fn an_agent_does_not_work_past_its_line_while_the_journal_is_locked() {
    let world = World::new(40, small());
    let run = world.launch(&["run", "TASK.md", "--json", "--context-threshold", "60"], "run");
    world.until_at_work(1);
    let other = holding(&world);
    let session = |log: &str| log.matches("session ").count();
    let mut before = (0, Instant::now());
    until("the agent to stop", || {
        let now = world.steps().distinct_done().len();
        if now != before.0 {
            before = (now, Instant::now());
        }
        before.1.elapsed() > Duration::from_secs(6)
    });
    let done = world.steps().distinct_done().len();
    assert!(done < 40, "it worked on to its end");
    let log = std::fs::read_to_string(world.log()).unwrap();
    assert_eq!(session(&log), 1, "nobody was started without a note of it:\n{log}");
    drop(other);
    run.signal("INT");
    std::thread::sleep(Duration::from_millis(200));
    run.signal("INT");
    run.wait().exits(130);
}

#[test]
fn a_second_ctrl_c_ends_a_run_whose_journal_is_locked_and_it_can_be_resumed() {
    let world = World::new(STEPS, small());
    let run = world.launch(&["run", "TASK.md", "--json"], "run");
    world.until_at_work(2);
    let other = holding(&world);
    run.signal("INT");
    std::thread::sleep(Duration::from_millis(500));
    let asked = Instant::now();
    run.signal("INT");
    let done = run.wait();
    assert!(asked.elapsed() < AT_ONCE, "{:?}", asked.elapsed());
    done.exits(130);
    assert!(done.err.contains("segue resume"), "{}", done.all());
    drop(other);
    let resumed = world.segue(&["resume", "--json"]);
    resumed.exits(0);
    assert!(world.steps().lost(STEPS).is_empty());
}

#[test]
fn a_disk_that_is_full_for_a_moment_does_not_stop_a_run() {
    let world = World::new(STEPS, Script { think_ms: 300, ..small() });
    std::fs::create_dir(world.state_dir()).unwrap();
    let own = world.command(&[]);
    let code = r#"mount -t tmpfs -o size=6m tmpfs .git/segue || exit 99
"$0" run TASK.md --json &
segue=$!
for try in $(seq 600); do grep -q '^end 2' "$1" && break; sleep 0.05; done
cat /dev/zero >.git/segue/fill 2>/dev/null
sleep 4
rm .git/segue/fill
wait $segue"#;
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", code, env!("CARGO_BIN_EXE_segue")])
        .arg(world.log())
        .current_dir(world.repo())
        .env_clear()
        .envs(own.get_envs().filter_map(|(k, v)| Some((k, v?))));
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(99) || err.starts_with("unshare") {
        println!("skipped: a small file system cannot be mounted here");
        return;
    }
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{err}\n{out}");
    assert!(out.lines().last().unwrap().contains("\"verified\""), "{out}");
    assert!(out.matches("\"session.started\"").count() >= 2, "{out}");
    assert!(world.steps().lost(STEPS).is_empty());
}
