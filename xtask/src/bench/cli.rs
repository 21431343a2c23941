//! Commands that only look, in a repository with runs behind it, beside `git status` there.

use std::process::{Command, Stdio};
use std::time::Instant;

use segue_rehearsal::script::Script;

use super::{Row, median, program};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Runs before the measurement, and the steps of each.
const RUNS: usize = 5;
const STEPS: u32 = 100;

/// How often each command is measured.
const TIMES: usize = 20;

pub(super) fn rows() -> Result<Vec<Row>> {
    let dir = tempfile::tempdir()?;
    let script = Script { window: 10_000_000, ..Script::default() };
    let repo = program::stage(dir.path(), STEPS, &script)?;
    let home = dir.path().join("home");
    std::fs::create_dir_all(&home)?;
    let segue = |args: &[&str]| {
        let mut command = Command::new(program::program());
        command.args(args).current_dir(&repo).env("HOME", &home).env("SEGUE_TRUST", "1");
        command.env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME").stdin(Stdio::null());
        command
    };
    for _ in 0..RUNS {
        let done = segue(&["run", "TASK.md", "--json"]).output()?;
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stdout).into());
        }
    }
    let git = || {
        let mut git = Command::new("git");
        git.arg("status").current_dir(&repo);
        git
    };
    let beside = format!("`git status` {:.1} ms", took(git)?);
    let commands: [(&'static str, &[&str]); 6] = [
        ("`segue status`", &["status"]),
        ("`segue list`", &["list"]),
        ("`segue list --all`", &["list", "--all"]),
        ("`segue log`", &["log"]),
        ("`segue show --transcript`", &["show", "--transcript"]),
        ("`segue doctor`, warm", &["doctor"]),
    ];
    let row = |(what, args): (&'static str, &[&str])| -> Result<Row> {
        let figure = format!("{:.1} ms", took(|| segue(args))?);
        Ok(Row { what, figure, beside: beside.clone(), bar: "≤ 100 ms" })
    };
    commands.into_iter().map(row).collect()
}

// The first call warms what is cached.
fn took(command: impl Fn() -> Command) -> Result<f64> {
    let run = || -> Result<f64> {
        let began = Instant::now();
        command().stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        Ok(began.elapsed().as_secs_f64() * 1e3)
    };
    run()?;
    Ok(median((0..TIMES).map(|_| run()).collect::<Result<_>>()?))
}
