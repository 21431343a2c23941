//! What a session's processes do, as the system counts it: CPU time, bytes read and written, how many there are.
//!
//! One look reads the table of processes once and two small files for each process of the session; nothing is kept.

use std::collections::BTreeSet;

use segue_machine::Activity;

use super::{own, table, tree};

/// What the processes of a session have done so far: the agent's own, everything below it, and strays with its mark.
pub(crate) fn look(root: u32, start: u64, mark: &str) -> Activity {
    let lines = table::lines();
    let gone = !tree::is_alive(root, start);
    if lines.is_empty() {
        return Activity { gone, ..Activity::default() };
    }
    let me = std::process::id();
    let helpers: BTreeSet<u32> = own::pids().iter().copied().collect();
    let stray = |line: &&table::Line| {
        line.parent == me && !helpers.contains(&line.pid) && table::holds(line.pid, mark)
    };
    let roots = lines.iter().filter(stray).map(|line| line.pid).chain([root]).collect();
    let pids = tree::below(&lines, roots);
    let of_session = lines.iter().filter(|line| pids.contains(&line.pid));
    let (mut cpu_ms, mut io_bytes, mut procs) = (0_u64, 0_u64, 0_u32);
    for line in of_session {
        cpu_ms = cpu_ms.saturating_add(line.cpu_ms);
        io_bytes = io_bytes.saturating_add(table::moved(line.pid).unwrap_or(0));
        procs += u32::from(!line.ended);
    }
    Activity { cpu_ms: Some(cpu_ms), io_bytes: Some(io_bytes), procs: Some(procs), gone, files_ms: None }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    fn start(code: &str) -> (Child, u64) {
        let mut command = Command::new("sh");
        command.args(["-c", code]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let start = tree::start_time(child.id()).unwrap();
        (child, start)
    }

    fn until(mut is_so: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_secs(60);
        while !is_so() {
            assert!(Instant::now() < end, "waited for a minute");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn end(mut child: Child, start: u64) {
        let below = tree::descendants(child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        tree::end(&below, Duration::ZERO);
        assert!(look(child.id(), start, "NONE=1").gone);
    }

    #[test]
    fn a_loop_below_the_agent_is_seen_in_its_cpu_time() {
        let (child, start) = start("sh -c 'while :; do :; done' & wait");
        let cpu = || look(child.id(), start, "NONE=1").cpu_ms.unwrap();
        let before = cpu();
        until(|| cpu() >= before + 100);
        let seen = look(child.id(), start, "NONE=1");
        assert_eq!((seen.procs, seen.gone), (Some(2), false));
        end(child, start);
    }

    #[test]
    fn what_children_used_that_have_ended_is_still_counted() {
        let (child, start) =
            start("sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; exec sleep 100");
        until(|| look(child.id(), start, "NONE=1").cpu_ms.unwrap() >= 50);
        until(|| look(child.id(), start, "NONE=1").procs == Some(1));
        assert!(look(child.id(), start, "NONE=1").cpu_ms.unwrap() >= 50);
        end(child, start);
    }

    #[test]
    fn a_sleeping_process_uses_nothing() {
        let (child, start) = start("exec sleep 100");
        // At first it still reads its own program.
        until(|| {
            let before = look(child.id(), start, "NONE=1");
            std::thread::sleep(Duration::from_millis(300));
            before.procs == Some(1) && look(child.id(), start, "NONE=1") == before
        });
        end(child, start);
    }

    #[test]
    fn bytes_that_are_written_are_seen() {
        let (child, start) = start("head -c 3000000 /dev/zero | cat >/dev/null; exec sleep 100");
        // The shell's own count takes in what its children did once they have ended.
        until(|| look(child.id(), start, "NONE=1").io_bytes.unwrap() >= 3_000_000);
        end(child, start);
    }

    #[test]
    fn a_process_that_nobody_waited_for_is_gone() {
        let (mut child, start) = start("exit 0");
        until(|| look(child.id(), start, "NONE=1").gone);
        assert_eq!(look(child.id(), start, "NONE=1").procs, Some(0));
        child.wait().unwrap();
    }
}
