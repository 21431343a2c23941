//! A round of an agent that is a command: from its exit to its next start, beside a bare loop of the shell with the same gate.

use std::path::Path;
use std::process::{Command, Stdio};

use super::program::program;
use super::{Row, median};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const ROUNDS: usize = 30;

// Its start and its end, in nanoseconds, and one change to a file.
const AGENT: &str =
    "date +%s%N >> ../starts\necho x >> work.txt\necho 'one more line'\ndate +%s%N >> ../ends\n";

pub(super) fn rows() -> Result<Vec<Row>> {
    let (with, bare) = (segue()?, bare()?);
    Ok(vec![Row {
        what: "a round of a command agent, its exit to its next start, one gate: over a bare shell loop",
        figure: format!("{:.1} ms", with - bare),
        beside: format!("{with:.1} ms with segue, {bare:.1} ms in the loop ({:.1} times)", with / bare),
        bar: "≤ 30 ms",
    }])
}

fn gate() -> String {
    format!("test $(wc -l < work.txt) -ge {ROUNDS}")
}

fn stage(dir: &Path) -> Result<std::path::PathBuf> {
    let repo = dir.join("repo");
    std::fs::create_dir_all(&repo)?;
    std::fs::write(repo.join("agent.sh"), AGENT)?;
    std::fs::write(repo.join("work.txt"), "")?;
    let config = format!(
        "agents = [\"c\"]\n[agent.c]\nkind = \"command\"\ncommand = [\"sh\", \"agent.sh\"]\nwindow = \"200k\"\n\
         [limits]\ngate_rounds = 1000\n[[gate]]\nname = \"g\"\nrun = {:?}\n",
        gate()
    );
    std::fs::write(repo.join("segue.toml"), config)?;
    let commit = ["-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "work"];
    for args in [&["init", "-q"][..], &["add", "-A"], &commit] {
        if !Command::new("git").args(args).current_dir(&repo).status()?.success() {
            return Err("git failed".into());
        }
    }
    Ok(repo)
}

fn segue() -> Result<f64> {
    let dir = tempfile::tempdir()?;
    let repo = stage(dir.path())?;
    let out = Command::new(program())
        .args(["run", "one line at a time", "--json"])
        .current_dir(&repo)
        .env("HOME", dir.path())
        .env("SEGUE_TRUST", "1")
        .env_remove("XDG_STATE_HOME")
        .stdin(Stdio::null())
        .output()?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stdout).into());
    }
    gaps(dir.path())
}

fn bare() -> Result<f64> {
    let dir = tempfile::tempdir()?;
    let repo = stage(dir.path())?;
    let script = format!("while ! sh -c '{}'; do sh agent.sh > ../out; done", gate());
    let ended = Command::new("sh").args(["-c", &script]).current_dir(&repo).status()?;
    if !ended.success() {
        return Err("the bare loop failed".into());
    }
    gaps(dir.path())
}

// Milliseconds between an end and the next start.
fn gaps(dir: &Path) -> Result<f64> {
    let times = |name: &str| -> Result<Vec<f64>> {
        let text = std::fs::read_to_string(dir.join(name))?;
        Ok(text.lines().filter_map(|line| line.parse::<f64>().ok()).map(|ns| ns / 1e6).collect())
    };
    let (starts, ends) = (times("starts")?, times("ends")?);
    if starts.len() < ROUNDS {
        return Err(format!("only {} rounds", starts.len()).into());
    }
    Ok(median(starts.iter().skip(1).zip(&ends).map(|(start, end)| start - end).collect()))
}
