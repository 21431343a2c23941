//! The system's table of processes, as Linux shows it under `/proc`. Reading only; what is done about it is decided
//! in `tree`.

use std::fs;
use std::io;

use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open, pidfd_send_signal, set_child_subreaper,
};

/// What the system counts CPU time in, for programs: the same on every machine that Rust runs on.
const TICK_MS: u64 = 10;

/// One line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) pid: u32,
    pub(super) parent: u32,
    /// When it started, in ticks since the machine did: with the pid it names a process for good.
    pub(super) start: u64,
    /// Whether it has ended and only waits for its parent to notice.
    pub(super) ended: bool,
    /// CPU time that it has used, and its children that it has waited for.
    pub(super) cpu_ms: u64,
}

/// The line of one process.
pub(super) fn line(pid: u32) -> Option<Line> {
    parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// All lines that could be read.
pub(super) fn lines() -> Vec<Line> {
    let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
    folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(line).collect()
}

/// Whether the environment that a process was started with holds exactly this `KEY=VALUE`.
pub(super) fn holds(pid: u32, mark: &str) -> bool {
    any_entry(pid, |entry| entry == mark.as_bytes())
}

/// Whether the environment that a process was started with holds this key.
pub(super) fn has(pid: u32, key: &str) -> bool {
    any_entry(pid, |entry| entry.strip_prefix(key.as_bytes()).is_some_and(|rest| rest.starts_with(b"=")))
}

fn any_entry(pid: u32, fits: impl Fn(&[u8]) -> bool) -> bool {
    fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environ| environ.split(|byte| *byte == 0).any(fits))
}

/// Bytes that a process has read and written, and its children that it has waited for.
pub(super) fn moved(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    let count =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    Some(count("rchar:")?.saturating_add(count("wchar:")?))
}

/// Which boot of which machine this is, and which namespace of pids.
pub(super) fn world() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), namespace.display()))
}

/// Makes orphans below this process its children.
pub(super) fn adopt() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Sends a signal to the process that had this pid at this time, and to no later one.
pub(super) fn signal(pid: Pid, start: u64, signal: Signal) {
    let same = || line(pid.as_raw_nonzero().get().unsigned_abs()).is_some_and(|line| line.start == start);
    // The handle is taken before the look, so the process looked at is the one that gets the signal.
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(handle) if same() => drop(pidfd_send_signal(handle, signal)),
        Err(error) if error != rustix::io::Errno::SRCH && same() => drop(kill_process(pid, signal)),
        _ => {}
    }
}

/// Reads a line: `pid (name) state parent … start …`, where the name may hold anything.
fn parse(pid: u32, stat: &[u8]) -> Option<Line> {
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&stat[name_end + 1..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let ended = matches!(fields.next()?, "Z" | "X" | "x");
    let parent = fields.next()?.parse().ok()?;
    // Fields 14 to 17 of the line; field 5 is the next one here.
    let mut ticks: u64 = fields.nth(9)?.parse().ok()?;
    for field in fields.by_ref().take(3) {
        ticks = ticks.saturating_add(field.parse().ok()?);
    }
    // Field 22.
    let start = fields.nth(4)?.parse().ok()?;
    Some(Line { pid, parent, start, ended, cpu_ms: ticks.saturating_mul(TICK_MS) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_is_no_obstacle() {
        let stat = b"42 (a) S 1 (b) c) Z 7 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 99 1\n";
        assert_eq!(
            parse(42, stat),
            Some(Line { pid: 42, parent: 7, start: 12345, ended: true, cpu_ms: 260 })
        );
    }

    #[test]
    fn a_broken_line_is_no_process() {
        for stat in
            [&b""[..], b"42", b"42 (x)", b"42 (x) S", b"42 (x) S 1 2 3", b"42 (x) S a b c", b"\xff) \xff"]
        {
            assert_eq!(parse(42, stat), None);
        }
    }
}
