//! Runs of many events that were killed: what looking at one costs, taking it up, and starting the next beside it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use segue_journal::{Journal, Reader};

use super::program::program;
use super::{Row, median};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const AGENT: &str = include_str!("../../../crates/segue/tests/it/many_tools.sh");

/// The run beside which the long one is measured.
const SHORT: u64 = 1_000;

/// So many events at the beginning and at the end of a run tell what one costs there.
const WINDOW: u64 = 20_000;

/// A run of 100,000 events.
pub(super) fn rows() -> Result<Vec<Row>> {
    of(100_000)
}

/// A run of a million events: minutes.
pub(super) fn longest() -> Result<Vec<Row>> {
    of(1_000_000)
}

fn of(events: u64) -> Result<Vec<Row>> {
    let (short, long) = (Measured::of(SHORT)?, Measured::of(events)?);
    let row = |what, figure: &dyn Fn(&Measured) -> f64, unit: &str, bar| Row {
        what,
        figure: format!("{:.0} {unit}", figure(&long)),
        beside: format!(
            "a run of {SHORT}: {:.0} {unit} ({:.2} times; {} events)",
            figure(&short),
            figure(&long) / figure(&short),
            long.events
        ),
        bar,
    };
    Ok(vec![
        row("`status` of a long run", &|m| m.status_ms, "ms", "≤ 100 ms"),
        row("its memory", &|m| m.status_kb / 1024.0, "MB", "≤ 50 MB"),
        row("the head of its `log`", &|m| m.log_ms, "ms", "–"),
        row("first line of a new run beside it", &|m| m.new_ms, "ms", "≤ 200 ms"),
        row("first line of its `resume`", &|m| m.resume_ms, "ms", "≤ 1,000 ms"),
        Row {
            what: "an event at the end of a long run",
            figure: format!("{:.1} µs", long.last_us),
            beside: format!(
                "at its beginning: {:.1} µs ({:.2} times)",
                long.first_us,
                long.last_us / long.first_us
            ),
            bar: "≤ 1.2 times",
        },
    ])
}

struct Measured {
    events: u64,
    status_ms: f64,
    status_kb: f64,
    log_ms: f64,
    new_ms: f64,
    resume_ms: f64,
    first_us: f64,
    last_us: f64,
}

impl Measured {
    fn of(events: u64) -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let (repo, run, reader) = killed(dir.path(), events / 3 + 1)?;
        let events = reader.last_seq(&run)?;
        let mut status: Vec<(f64, f64)> = Vec::new();
        for _ in 0..7 {
            status.push(whole(&repo, &["status", "--json"])?);
        }
        let log_ms = first_line(&repo, &["log", &run, "--json"])?;
        let new_ms = first_line(&repo, &["run", "another task", "--json"])?;
        let resume_ms = first_line(&repo, &["resume", &run, "--json"])?;
        let window = WINDOW.min(events / 3);
        Ok(Self {
            events,
            status_ms: median(status.iter().map(|(ms, _)| *ms).collect()),
            status_kb: median(status.iter().map(|(_, kb)| *kb).collect()),
            log_ms,
            new_ms,
            resume_ms,
            first_us: each(&reader, &run, window / 2, window)?,
            last_us: each(&reader, &run, events - window - 10, window)?,
        })
    }
}

fn segue(repo: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(args).current_dir(repo).env("HOME", repo.parent().unwrap_or(repo)).env("SEGUE_TRUST", "1");
    command.env_remove("XDG_STATE_HOME").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

// A run whose agent called so many tools and hangs, killed.
fn killed(dir: &Path, tools: u64) -> Result<(PathBuf, String, Reader)> {
    let repo = super::program::stage(dir, 1, &segue_rehearsal::script::Script::default())?;
    std::fs::write(repo.join("agent.sh"), AGENT)?;
    let config = format!(
        "agents = [\"many\"]\n[agent.many]\nkind = \"acp\"\ncommand = [\"sh\", \"agent.sh\", \"{tools}\"]\nwindow = \"1M\"\n\
         [[gate]]\nname = \"done\"\nrun = \"test -f done\"\n"
    );
    std::fs::write(repo.join("segue.toml"), config)?;
    let mut child = segue(&repo, &["run", "TASK.md"]).spawn()?;
    let reader = Journal::read(&repo.join(".git/segue/runs"));
    let stored = || {
        let run = reader.runs().ok()?.into_iter().next()?.id;
        let last = reader.last_seq(&run).ok()?;
        (last > tools * 3).then_some(run)
    };
    let run = loop {
        if let Some(run) = stored() {
            break run;
        }
        if let Some(status) = child.try_wait()? {
            return Err(format!("the run ended by itself: {status}").into());
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    // What was stored last is anchored by now.
    std::thread::sleep(Duration::from_millis(300));
    end(child)?;
    Ok((repo, run, reader))
}

fn end(mut child: Child) -> Result<()> {
    child.kill()?;
    child.wait()?;
    Ok(())
}

// Milliseconds to the end of a command, and the most kilobytes that it had in memory.
fn whole(repo: &Path, args: &[&str]) -> Result<(f64, f64)> {
    let began = Instant::now();
    let mut child = segue(repo, args).stdout(Stdio::null()).spawn()?;
    let mut most: f64 = 0.0;
    while child.try_wait()?.is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        most = most.max(line.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0.0));
        std::thread::sleep(Duration::from_micros(300));
    }
    Ok((began.elapsed().as_secs_f64() * 1e3, most))
}

// Milliseconds until a command writes its first line; then it is ended.
fn first_line(repo: &Path, args: &[&str]) -> Result<f64> {
    let began = Instant::now();
    let mut child = segue(repo, args).spawn()?;
    let output = child.stdout.take().ok_or("no output")?;
    let line = BufReader::new(output).lines().next().ok_or("it wrote nothing")??;
    let ms = began.elapsed().as_secs_f64() * 1e3;
    if !line.starts_with('{') {
        return Err(line.into());
    }
    end(child)?;
    Ok(ms)
}

// Microseconds for each of `count` events after one.
fn each(reader: &Reader, run: &str, after: u64, count: u64) -> Result<f64> {
    let at = |seq: u64| -> Result<u64> {
        let found = reader.events(run, seq, 1)?;
        Ok(found.first().ok_or("there is no such event")?.at)
    };
    #[expect(clippy::cast_precision_loss, reason = "a count of milliseconds is far below 2^52")]
    let us = (at(after + count)? - at(after)?) as f64 * 1e3 / count as f64;
    Ok(us)
}
