//! Finding and ending real processes.
//!
//! A sweep takes every unknown child of the process, and so would take those of the tests that run beside it. The tests
//! of strays and of sweeping therefore run in processes of their own, started by [`alone`].

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::*;

const ALONE: &str = "SEGUE_TEST_ALONE";
const GRACE: Duration = Duration::from_secs(10);

/// Runs the named test in a process of its own; the answer is whether this is that process.
fn alone(test: &str) -> bool {
    if env::var_os(ALONE).is_some() {
        return true;
    }
    let name = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
    let mut command = Command::new(env::current_exe().unwrap());
    let output = command.args(["--exact", &name, "--test-threads=1"]).env(ALONE, "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    false
}

/// Starts a shell script and waits until it has written a line.
fn shell(script: &str, mark: &str) -> (Child, String) {
    let (key, value) = mark.split_once('=').unwrap();
    let mut child =
        Command::new("sh").args(["-c", script]).env(key, value).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().to_owned())
}

/// A mark that no other test uses.
fn mark(name: &str) -> String {
    format!("SEGUE_RUN={name}-{}", std::process::id())
}

fn named(pid: u32) -> Proc {
    Proc { pid, start: start_time(pid).unwrap() }
}

fn until(condition: impl Fn() -> bool) {
    while !condition() {
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_process_is_alive_until_it_ends_even_if_nobody_waits_for_it() {
    let (mut child, _) = shell("echo; exec sleep 60", "A=1");
    let proc = named(child.id());
    assert!(is_alive(proc.pid, proc.start));
    assert!(!is_alive(proc.pid, proc.start + 1), "another process with the same pid");
    child.kill().unwrap();
    until(|| !is_alive(proc.pid, proc.start));
    assert!(start_time(proc.pid).is_some(), "it was not waited for");
    child.wait().unwrap();
    assert_eq!(start_time(proc.pid), None);
}

#[test]
fn a_mark_is_found_only_as_a_whole() {
    let mark = mark("whole");
    let (mut child, _) = shell("echo; exec sleep 60", &mark);
    let (mut other, _) = shell("echo; exec sleep 60", &format!("{mark}9"));
    assert_eq!(marked(&mark), [named(child.id())]);
    assert_eq!(marked(&mark[..mark.len() - 1]), []);
    for child in [&mut child, &mut other] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(marked(&mark), []);
}

#[test]
fn descendants_are_found_at_every_depth() {
    let (mut child, _) = shell("sh -c 'sleep 60 & echo; wait' & wait", "A=1");
    let below = descendants(child.id());
    assert_eq!(below.len(), 2);
    assert_eq!(end(&below, GRACE), 2);
    child.wait().unwrap();
}

#[test]
fn what_ignores_the_polite_signal_is_ended_by_force() {
    let (child, _) = shell("trap '' TERM; echo; while :; do sleep 60; done", "A=1");
    let mut procs = descendants(child.id());
    procs.push(named(child.id()));
    let count = procs.len() as u32;
    assert_eq!(end(&procs, Duration::from_millis(50)), count);
    assert_eq!(start_time(child.id()), None, "a child is waited for");
    assert_eq!(end(&procs, GRACE), 0);
}

#[test]
fn a_stopped_process_can_end_in_order() {
    let (child, _) = shell("trap 'exit 0' TERM; echo; kill -STOP $$; while :; do :; done", "A=1");
    assert_eq!(end(&[named(child.id())], GRACE), 1);
}

#[test]
fn neither_this_process_nor_the_first_nor_a_stranger_is_touched() {
    let (mut child, _) = shell("echo; exec sleep 60", "A=1");
    let me = named(std::process::id());
    let earlier = Proc { start: named(child.id()).start - 1, ..named(child.id()) };
    let odd = [me, named(1), earlier, Proc { pid: 0, start: 0 }, Proc { pid: u32::MAX, start: 0 }];
    assert_eq!(end(&odd, Duration::ZERO), 0);
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn e2_a_sweep_finds_what_left_its_group_cleared_its_environment_or_lost_its_parent() {
    if !alone("e2_a_sweep_finds_what_left_its_group_cleared_its_environment_or_lost_its_parent") {
        return;
    }
    adopt().unwrap();
    let mark = mark("sweep");
    let (mut known, _) = shell("echo; exec sleep 60", &mark);
    let script = "setsid sleep 60 & env -i sleep 60 & setsid env -i sh -c 'sleep 60; :' & echo";
    let (mut child, _) = shell(script, &mark);
    child.wait().unwrap();
    // The known one, the one that kept its environment, two that cleared it, and one below.
    until(|| descendants(std::process::id()).len() == 5 && marked(&mark).len() == 2);
    assert_eq!(strays(&[known.id()]).len(), 3);
    assert_eq!(sweep(&mark, &[known.id()], GRACE), 4);
    assert_eq!(sweep(&mark, &[known.id()], GRACE), 0);
    assert!(known.try_wait().unwrap().is_none());
    known.kill().unwrap();
    known.wait().unwrap();
    assert_eq!(children(), [], "nothing is left in the table");
}

#[test]
fn a_sweep_leaves_segues_own_helpers_and_what_is_below_a_known_process() {
    if !alone("a_sweep_leaves_segues_own_helpers_and_what_is_below_a_known_process") {
        return;
    }
    adopt().unwrap();
    let mark = mark("own");
    let (mut helper, own) = own::spawn(Command::new("sleep").arg("60")).unwrap();
    let (mut known, _) = shell("sleep 60 & echo; wait", &mark);
    let below = descendants(known.id());
    assert_eq!(below.len(), 1);
    assert_eq!(sweep(&mark, &[known.id()], GRACE), 0);
    assert!(helper.try_wait().unwrap().is_none() && known.try_wait().unwrap().is_none());
    drop(own);
    assert_eq!(sweep(&mark, &[known.id()], GRACE), 1, "a helper that nobody waits for is a stray");
    assert_eq!(sweep(&mark, &[], GRACE), 2);
    assert_eq!((helper.wait().is_err(), known.wait().is_err()), (true, true));
    assert!(!is_alive(below[0].pid, below[0].start));
}

#[test]
fn a_sweep_leaves_the_strays_of_another_session_or_gate_to_theirs() {
    if !alone("a_sweep_leaves_the_strays_of_another_session_or_gate_to_theirs") {
        return;
    }
    adopt().unwrap();
    let marks = ["SEGUE_SESSION=r.1", "SEGUE_SESSION=r.2", "SEGUE_GATE=r.tests"]
        .map(|mark| format!("{mark}.{}", std::process::id()));
    for mark in &marks {
        let (mut child, _) = shell("sleep 60 & echo", mark);
        child.wait().unwrap();
    }
    until(|| strays(&[]).len() == 3);
    for mark in &marks {
        assert_eq!(sweep(mark, &[], GRACE), 1);
    }
    assert_eq!(children(), []);
}

#[test]
fn e2_a_sweep_without_adoption_finds_the_marked_orphans_of_a_dead_run() {
    if !alone("e2_a_sweep_without_adoption_finds_the_marked_orphans_of_a_dead_run") {
        return;
    }
    let mark = mark("dead");
    let (mut child, pid) = shell("setsid sh -c 'echo $$; env -i sleep 60; :' &", &mark);
    child.wait().unwrap();
    let orphan = named(pid.parse().unwrap());
    until(|| descendants(orphan.pid).len() == 1);
    assert_eq!(sweep(&mark, &[], GRACE), 2);
    assert!(!is_alive(orphan.pid, orphan.start));
}
