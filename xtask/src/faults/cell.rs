//! One cell of the table: one rehearsal, with a limit of time, a home and, where possible, a network of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Instant;

use serde_json::{Value, json};

use crate::shell;

/// Longer than this is a hang.
const SECONDS: u32 = 600;
/// Steps of the job.
const STEPS: &str = "10";

/// The ways into a namespace, the best first.
const WAYS: [&[&str]; 2] = [
    &["--net", "--pid", "--fork", "--mount-proc", "--kill-child"],
    &["--map-root-user", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"],
];

/// Which agent meets which fault, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    pub(super) agent: &'static str,
    pub(super) window: &'static str,
    pub(super) fault: &'static str,
    pub(super) when: &'static str,
}

/// The program of every agent in a folder: `NAME-VERSION/NAME`.
pub(super) fn programs(dir: &Path) -> std::io::Result<BTreeMap<String, PathBuf>> {
    let mut programs = BTreeMap::new();
    for entry in dir.read_dir()? {
        let folder = entry?.path();
        let whole = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // The version begins with the first digit behind a hyphen.
        let at =
            whole.match_indices('-').find(|(i, _)| whole[i + 1..].starts_with(|c: char| c.is_ascii_digit()));
        let Some((at, _)) = at else { continue };
        let name = whole[..at].to_owned();
        let program = folder.join(&name);
        if program.is_file() {
            programs.insert(name, program.canonicalize()?);
        }
    }
    Ok(programs)
}

impl Cell {
    /// Its name in the results.
    pub(super) fn name(&self) -> String {
        format!("{} {} {}", self.fault, self.when, self.agent)
    }

    /// Runs it and returns what the rehearsal said, or what became of it.
    pub(super) fn run(&self, programs: &BTreeMap<String, PathBuf>) -> Value {
        let since = Instant::now();
        let mut result =
            self.rehearse(programs).unwrap_or_else(|error| json!({ "trouble": error.to_string() }));
        result["seconds"] = json!(since.elapsed().as_secs());
        result
    }

    fn rehearse(&self, programs: &BTreeMap<String, PathBuf>) -> Result<Value, Box<dyn std::error::Error>> {
        let base = base();
        std::fs::create_dir_all(&base)?;
        let mut world = tempfile::Builder::new().prefix("cell-").tempdir_in(base)?;
        for folder in ["home", "bin", "tmp", "work"] {
            std::fs::create_dir(world.path().join(folder))?;
        }
        for (name, program) in programs {
            std::os::unix::fs::symlink(program, world.path().join("bin").join(name))?;
        }
        let output = self.command(world.path()).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let said = text.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let said = said.into_iter().find(|line| line["type"] == "rehearsal.finished");
        let bad = said.as_ref().is_none_or(|said| said["works"] != true);
        if bad && std::env::var_os("SEGUE_KEEP").is_some() {
            world.disable_cleanup(true);
            std::fs::write(world.path().join("out.jsonl"), &output.stdout)?;
            std::fs::write(world.path().join("err.txt"), &output.stderr)?;
            shell::say(&format!("kept {}", world.path().display()));
        }
        Ok(said.unwrap_or_else(|| {
            let hang = output.status.code().is_none() || output.status.code() == Some(137);
            let err = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            let why =
                if hang { format!("no end within {SECONDS} s") } else { format!("{}: {err}", output.status) };
            json!({ "trouble": why, "hang": hang })
        }))
    }

    // Early enough that there is always room to ask the agent for a checkpoint.
    fn policy(&self) -> &'static [&'static str] {
        if self.when == "checkpoint" { &["--policy", "loop"] } else { &[] }
    }

    fn command(&self, world: &Path) -> Command {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", world.join("bin").display());
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", &SECONDS.to_string()]);
        if let Some(way) = way() {
            let first = "ip link set lo up || exit 9; \"$@\"; exit $?";
            command.arg("unshare").args(way).args(["sh", "-c", first, "sh"]);
        }
        command
            .arg(shell::target().join("debug").join("segue"))
            .args(["rehearse", "--json", "--agent", self.agent, "--window", self.window, "--steps", STEPS])
            .args(["--fault", self.fault, "--when", self.when, "--permissions", "bypass"])
            .args(self.policy())
            .current_dir(world.join("work"))
            .env_clear()
            .env("PATH", path)
            .env("HOME", world.join("home"))
            .env("TMPDIR", world.join("tmp"))
            .env("XDG_RUNTIME_DIR", world.join("tmp"))
            .env("LANG", "C.UTF-8")
            .env("TERM", "dumb")
            .env("IS_SANDBOX", "1");
        command
    }
}

// Gemini CLI trusts no settings below a folder that everybody can write to.
fn base() -> PathBuf {
    let target = shell::target().join("faults");
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match home.filter(|_| target.starts_with(std::env::temp_dir())) {
        Some(home) => home.join(".cache").join("segue").join("faults"),
        None => target,
    }
}

fn way() -> Option<&'static [&'static str]> {
    static WAY: OnceLock<Option<&'static [&'static str]>> = OnceLock::new();
    *WAY.get_or_init(|| {
        let works = |flags: &&&[&str]| {
            let tried =
                Command::new("unshare").args(**flags).args(["ip", "link", "set", "lo", "up"]).output();
            tried.is_ok_and(|output| output.status.success())
        };
        WAYS.iter().find(works).copied()
    })
}
