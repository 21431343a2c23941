//! The built program: start-up, memory, and what a step costs more than without it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use segue_rehearsal::job::Job;
use segue_rehearsal::script::Script;

use super::{Row, median};
use crate::shell;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

pub(super) fn rows() -> Result<Vec<Row>> {
    let (start, bare) = (start_up(&program(), &["--version"])?, start_up(Path::new("true"), &[])?);
    let memory = resident()?;
    let (with, without) = (step(true)?, step(false)?);
    let (brake, start_of_shell) = brake()?;
    Ok(vec![
        Row {
            what: "start-up (`segue --version`)",
            figure: format!("{start:.2} ms"),
            beside: format!("`true`: {bare:.2} ms ({:.1} times)", start / bare),
            bar: "≤ 10 ms",
        },
        Row {
            what: "resident memory in a run",
            figure: format!("{:.1} MB", memory / 1024.0),
            beside: "–".to_owned(),
            bar: "≤ 15 MB",
        },
        Row {
            what: "overhead per step",
            figure: format!("{:.2} ms", with - without),
            beside: format!("{with:.2} ms with segue, {without:.2} ms without ({:.2} times)", with / without),
            bar: "≤ 10 ms",
        },
        Row {
            what: "brake, per tool of an agent that asks, segue's own time",
            figure: format!("{:.2} ms", brake - start_of_shell),
            beside: format!("{brake:.2} ms with a process's start, `sh -c :` {start_of_shell:.2} ms"),
            bar: "≤ 5 ms",
        },
    ])
}

/// The release build.
pub(super) fn program() -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| shell::root().join("target"), PathBuf::from);
    target.join("release").join("segue")
}

fn start_up(program: &Path, args: &[&str]) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..40 {
        let began = Instant::now();
        Command::new(program).args(args).stdout(Stdio::null()).status()?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(median(times))
}

/// A repository with a job and a configured scripted agent.
pub(super) fn stage(dir: &Path, steps: u32, script: &Script) -> Result<PathBuf> {
    let repo = dir.join("repo");
    std::fs::create_dir_all(&repo)?;
    let job = Job { steps };
    for (name, contents) in job.files() {
        std::fs::write(repo.join(name), contents)?;
    }
    std::fs::write(repo.join("TASK.md"), job.task_text())?;
    let file = dir.join("script.json");
    std::fs::write(&file, serde_json::to_string(script)?)?;
    let config = format!(
        "agents = [\"scripted\"]\n[agent.scripted]\nkind = \"acp\"\ncommand = [{:?}, \"scripted-agent\", \"--script\", {:?}]\n\
         [[gate]]\nname = \"check\"\nrun = {:?}\n",
        program(),
        file,
        job.gate()
    );
    std::fs::write(repo.join("segue.toml"), config)?;
    let commit = ["-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "job"];
    for args in [&["init", "-q"][..], &["add", "-A"], &commit] {
        if !Command::new("git").args(args).current_dir(&repo).status()?.success() {
            return Err("git failed".into());
        }
    }
    Ok(repo)
}

// Resident kilobytes of the process in the middle of a run of many steps.
fn resident() -> Result<f64> {
    let dir = tempfile::tempdir()?;
    let script = Script { window: 10_000_000, step_output_chars: 4_000, step_ms: 5, ..Script::default() };
    let repo = stage(dir.path(), 200, &script)?;
    let mut child =
        Command::new(program()).args(["run", "TASK.md"]).current_dir(&repo).stdout(Stdio::null()).spawn()?;
    let mut most: f64 = 0.0;
    for _ in 0..600 {
        if child.try_wait()?.is_some() {
            break;
        }
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap_or_default();
        most = most.max(line.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0.0));
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait()?;
    Ok(most)
}

// Milliseconds per step of a job in one window, with segue or with the agent alone.
fn step(with_segue: bool) -> Result<f64> {
    const STEPS: u32 = 200;
    let mut times = Vec::new();
    for _ in 0..3 {
        let dir = tempfile::tempdir()?;
        let script = Script { window: 10_000_000, ..Script::default() };
        let repo = stage(dir.path(), STEPS, &script)?;
        let began = Instant::now();
        if with_segue {
            let run =
                Command::new(program()).args(["run", "TASK.md", "--json"]).current_dir(&repo).output()?;
            if !run.status.success() {
                return Err(String::from_utf8_lossy(&run.stdout).into());
            }
        } else {
            alone(&dir.path().join("script.json"), &repo)?;
        }
        times.push(began.elapsed().as_secs_f64() * 1e3 / f64::from(STEPS));
    }
    Ok(median(times))
}

/// The same agent and task, with somebody who only reads along.
pub(super) fn alone(script: &Path, repo: &Path) -> Result<()> {
    use std::io::{BufRead, BufReader, Write};
    let task = std::fs::read_to_string(repo.join("TASK.md"))?;
    let mut agent = Command::new(program())
        .args(["scripted-agent", "--script"])
        .arg(script)
        .current_dir(repo)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (Some(mut input), Some(output)) = (agent.stdin.take(), agent.stdout.take()) else {
        return Err("no streams".into());
    };
    let call = |id: u32, method: &str, params: serde_json::Value| serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    writeln!(input, "{}", call(1, "initialize", serde_json::json!({ "protocolVersion": 1 })))?;
    writeln!(input, "{}", call(2, "session/new", serde_json::json!({ "cwd": repo, "mcpServers": [] })))?;
    for line in BufReader::new(output).lines() {
        let message: serde_json::Value = serde_json::from_str(&line?)?;
        if message["id"] == 2 {
            let prompt = serde_json::json!([{ "type": "text", "text": task }]);
            let params = serde_json::json!({ "sessionId": message["result"]["sessionId"], "prompt": prompt });
            writeln!(input, "{}", call(3, "session/prompt", params))?;
        } else if message["id"] == 3 {
            break;
        }
    }
    drop(input);
    agent.wait()?;
    Ok(())
}

// A command agent that asks the brake many times: milliseconds per question, and per start of a shell.
fn brake() -> Result<(f64, f64)> {
    const TIMES: u32 = 100;
    let dir = tempfile::tempdir()?;
    let repo = stage(dir.path(), 1, &Script::default())?;
    let ask = format!(
        "i=0; s=$(date +%s%N); while [ $i -lt {TIMES} ]; do \
         echo '{{\"tool_use_id\":\"t'$i'\",\"tool_name\":\"Bash\",\"tool_response\":{{\"stdout\":\"ok\"}}}}' | {program:?} hook after-tool; \
         i=$((i+1)); done; e=$(date +%s%N); \
         i=0; while [ $i -lt {TIMES} ]; do echo x | sh -c :; i=$((i+1)); done; f=$(date +%s%N); \
         echo $((e-s)) $((f-e)) > {out:?}; sh step.sh 1",
        program = program(),
        out = dir.path().join("times"),
    );
    std::fs::write(repo.join("ask.sh"), ask)?;
    let config = "agents = [\"asker\"]\n[agent.asker]\nkind = \"command\"\ncommand = [\"sh\", \"ask.sh\"]\nwindow = \"200k\"\n";
    std::fs::write(repo.join("segue.toml"), config)?;
    let run = Command::new(program()).args(["run", "TASK.md", "--json"]).current_dir(&repo).output()?;
    let times = std::fs::read_to_string(dir.path().join("times"));
    let times = times.map_err(|_| String::from_utf8_lossy(&run.stdout).into_owned())?;
    let mut each =
        times.split_whitespace().filter_map(|n| n.parse::<f64>().ok()).map(|ns| ns / 1e6 / f64::from(TIMES));
    Ok((each.next().unwrap_or(f64::NAN), each.next().unwrap_or(f64::NAN)))
}
