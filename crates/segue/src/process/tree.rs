//! Finding and ending the processes of a run, also those that have left their group or lost their parent.
//!
//! A process is named by pid and start time together, so a pid that the system has given to someone else is never
//! touched; nor are this process and pid 1.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, waitpid};

use super::{GATE_MARK, SESSION_MARK, own, table};

/// How long ended processes are waited for after they got the signal that none survives.
const AFTERMATH: Duration = Duration::from_secs(5);

/// How often a sweep looks again for processes that were started while it was at work.
const ROUNDS: usize = 20;

/// Whether this process adopts orphans; if not, an unknown child cannot be one.
static ADOPTS: AtomicBool = AtomicBool::new(false);

/// A process, named so that no other can be meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Proc {
    /// Its number, which the system will give to others later.
    pub(crate) pid: u32,
    /// When it started, in the system's own count.
    pub(crate) start: u64,
}

impl From<table::Line> for Proc {
    fn from(line: table::Line) -> Self {
        Self { pid: line.pid, start: line.start }
    }
}

/// Makes orphans below this process its children, so that none is lost.
///
/// Children that it has already were left to it by a shell that it replaced: they are the user's, and stay alone.
pub(crate) fn adopt() -> io::Result<()> {
    if !ADOPTS.load(Ordering::Acquire) {
        let inherited = below_me().into_iter().map(|line| line.pid);
        own::pids().extend(inherited);
    }
    table::adopt()?;
    ADOPTS.store(true, Ordering::Release);
    Ok(())
}

/// When a process started; `None` when there is none.
pub(crate) fn start_time(pid: u32) -> Option<u64> {
    table::line(pid).map(|line| line.start)
}

/// Where a pid means something: which boot of which machine, and which namespace of pids.
pub(crate) fn world() -> Option<String> {
    table::world()
}

/// Whether that very process is still at work; one that has ended and was not waited for is not.
pub(crate) fn is_alive(pid: u32, start: u64) -> bool {
    table::line(pid).is_some_and(|line| line.start == start && !line.ended)
}

/// Every other process that was started with exactly this `KEY=VALUE` in its environment.
pub(crate) fn marked(mark: &str) -> Vec<Proc> {
    let found = |line: &table::Line| may_end(line.pid) && !line.ended && table::holds(line.pid, mark);
    table::lines().into_iter().filter(found).map(Proc::from).collect()
}

/// Every process below this one.
pub(crate) fn descendants(pid: u32) -> Vec<Proc> {
    let lines = table::lines();
    let below = below(&lines, BTreeSet::from([pid]));
    lines
        .into_iter()
        .filter(|line| line.pid != pid && !line.ended && below.contains(&line.pid))
        .map(Proc::from)
        .collect()
}

/// The children of this process that nobody knows: orphans that it adopted. segue's own helpers are left out.
pub(crate) fn strays(known: &[u32]) -> Vec<Proc> {
    let own = own::pids();
    children()
        .into_iter()
        .filter(|line| !line.ended && !own.contains(&line.pid) && !known.contains(&line.pid))
        .map(Proc::from)
        .collect()
}

/// Asks one process to stop, as Ctrl-C would.
pub(crate) fn interrupt(proc: Proc) {
    send(&[proc], Signal::INT);
}

/// Gives what an agent was running `grace` to finish, then ends the agent by force. Meanwhile it is held where it stands, so
/// that it starts nothing more.
pub(crate) fn outwait(agent: &[Proc], running: &[Proc], grace: Duration) -> u32 {
    send(agent, Signal::STOP);
    wait_for(&mut running.to_vec(), grace);
    send(agent, Signal::KILL);
    let mut left = agent.to_vec();
    wait_for(&mut left, AFTERMATH);
    u32::try_from(agent.len() - left.len()).unwrap_or(u32::MAX)
}

/// Asks them to end, waits for `grace`, ends by force what is left, and says how many have ended.
///
/// Those that are children of this process are also waited for: leave the ones that someone else waits for to them.
pub(crate) fn end(procs: &[Proc], grace: Duration) -> u32 {
    let mut left: Vec<Proc> = procs.to_vec();
    left.retain(|proc| may_end(proc.pid) && is_alive(proc.pid, proc.start));
    let count = left.len();
    for signal in [Signal::TERM, Signal::CONT] {
        send(&left, signal);
    }
    wait_for(&mut left, grace);
    send(&left, Signal::KILL);
    wait_for(&mut left, AFTERMATH);
    u32::try_from(count - left.len()).unwrap_or(u32::MAX)
}

/// Ends everything that is marked or stray, with all that is below it, until nothing is found, and says how many.
///
/// What is `known`, what is below it, segue's own helpers, and strays with the mark of another session or gate are left
/// alone.
pub(crate) fn sweep(mark: &str, known: &[u32], grace: Duration) -> u32 {
    let mut ended = 0;
    for _ in 0..ROUNDS {
        let found = found(mark, known);
        if found.is_empty() {
            break;
        }
        ended += end(&found, grace);
    }
    reap_strays(known);
    ended
}

fn found(mark: &str, known: &[u32]) -> Vec<Proc> {
    let unclaimed = strays(known).into_iter().filter(|proc| !is_claimed(proc.pid));
    let roots: Vec<Proc> = marked(mark).into_iter().chain(unclaimed).collect();
    let lines = table::lines();
    // Asked for last: whatever the looks above have met and is a helper is on the list by then.
    let kept = below(&lines, own::pids().iter().chain(known).copied().collect());
    let roots = roots.iter().map(|proc| proc.pid).filter(|pid| !kept.contains(pid)).collect();
    let doomed = below(&lines, roots);
    let is_doomed = |line: &table::Line| {
        doomed.contains(&line.pid) && !kept.contains(&line.pid) && may_end(line.pid) && !line.ended
    };
    lines.into_iter().filter(is_doomed).map(Proc::from).collect()
}

/// Whether a session or a gate has set its mark on it: such a stray is left to the sweep for that mark.
fn is_claimed(pid: u32) -> bool {
    [SESSION_MARK, GATE_MARK].iter().any(|key| table::has(pid, key))
}

/// These and everything below them.
pub(super) fn below(lines: &[table::Line], mut pids: BTreeSet<u32>) -> BTreeSet<u32> {
    loop {
        let before = pids.len();
        let more: Vec<u32> =
            lines.iter().filter(|line| pids.contains(&line.parent)).map(|line| line.pid).collect();
        pids.extend(more);
        if pids.len() == before {
            return pids;
        }
    }
}

/// The children of this process, once any of them may be an orphan.
fn children() -> Vec<table::Line> {
    if !ADOPTS.load(Ordering::Acquire) {
        return Vec::new();
    }
    below_me()
}

fn below_me() -> Vec<table::Line> {
    let me = std::process::id();
    table::lines().into_iter().filter(|line| line.parent == me).collect()
}

/// Notices the end of orphans, so that none stays in the table.
fn reap_strays(known: &[u32]) {
    let own = own::pids();
    for line in children() {
        if line.ended && !own.contains(&line.pid) && !known.contains(&line.pid) {
            reap(line.pid);
        }
    }
}

fn reap(pid: u32) {
    if let Some(pid) = as_pid(pid) {
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

fn send(procs: &[Proc], signal: Signal) {
    for proc in procs {
        if let Some(pid) = as_pid(proc.pid) {
            table::signal(pid, proc.start, signal);
        }
    }
}

/// Waits until they are gone, and keeps those that are not in the list.
fn wait_for(left: &mut Vec<Proc>, patience: Duration) {
    let end = Instant::now() + patience;
    let mut pause = Duration::from_millis(1);
    loop {
        left.retain(|proc| {
            reap_if_ended(*proc);
            is_alive(proc.pid, proc.start)
        });
        if left.is_empty() || Instant::now() >= end {
            return;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn reap_if_ended(proc: Proc) {
    let child =
        table::line(proc.pid).filter(|line| line.start == proc.start && line.parent == std::process::id());
    if child.is_some_and(|line| line.ended) {
        reap(proc.pid);
    }
}

fn may_end(pid: u32) -> bool {
    pid > 1 && pid != std::process::id() && as_pid(pid).is_some()
}

fn as_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "tree_tests.rs"]
mod tests;
