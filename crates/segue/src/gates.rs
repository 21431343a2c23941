//! Runs gates: commands whose exit code decides. Nothing of them outlives its time-out.

pub(crate) mod guard;
mod rules;
pub(crate) mod shell;
pub(crate) mod swap;

use std::ffi::OsString;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use segue_machine::{GateResult, GateSpec, GateWhen};
use segue_redact::Redactor;
use tokio::process::Command;

use crate::checkpoint::Workplace;
use crate::child_env;
use crate::keep::{self, Found, Kept};
use crate::process::{self, own};
use crate::store::safely;

/// How much of the end of a gate's output goes into the journal and back to the agent.
const TAIL: u64 = 6_000;

/// How long the rest of a gate's output may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Where and for whom gates run.
#[derive(Debug, Clone)]
pub(crate) struct GateRoom {
    /// The work tree.
    pub(crate) workdir: PathBuf,
    /// The run's own folder, for outputs.
    pub(crate) run_dir: PathBuf,
    /// The run's id, by which its processes can be found again.
    pub(crate) run: String,
    /// What takes the secrets out of what they say.
    pub(crate) redactor: Redactor,
    /// …and counts them.
    pub(crate) found: Found,
    /// What they do not get of this process's environment.
    pub(crate) without: Vec<OsString>,
}

impl GateRoom {
    /// The room of a run.
    pub(crate) fn of(place: &Workplace) -> Self {
        Self {
            workdir: place.store.workdir().to_owned(),
            run_dir: place.store.run_dir(&place.run),
            run: place.run.clone(),
            redactor: place.redactor.clone(),
            found: place.found.clone(),
            without: place.env.kept_from_gates(),
        }
    }
}

/// Runs one gate to its end or its time-out.
pub(crate) async fn run(gate: &GateSpec, room: &GateRoom, when: GateWhen, round: u32) -> GateResult {
    let began = Instant::now();
    let label = if when == GateWhen::Checkpoint { "checkpoint".to_owned() } else { round.to_string() };
    let output = unused(&room.run_dir, &format!("gate-{}-{label}", file_name(&gate.name)));
    let exit = attempt(gate, room, &output).await;
    let (exit, timed_out, trouble) = match exit {
        Ok(ended) => (ended.exit, ended.timed_out, None),
        Err(error) => (None, false, Some(format!("the gate could not be run: {error}"))),
    };
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    log::info!("gate {}: exit {exit:?} after {ms} ms", gate.name);
    GateResult {
        gate: gate.name.clone(),
        when,
        passed: exit == Some(0),
        exit,
        ms,
        output: Some(output.display().to_string()),
        tail: trouble.unwrap_or_else(|| tail(&output).unwrap_or_default()),
        timed_out,
    }
}

/// Whether a file of the run's folder is what this gate wrote in some round.
pub(crate) fn is_output_of(file: &str, gate: &str) -> bool {
    let rest = file.strip_prefix("gate-").and_then(|rest| rest.strip_prefix(&file_name(gate)));
    rest.is_some_and(|label| {
        let label = label.strip_prefix('-').and_then(|label| label.strip_suffix(".out"));
        label.is_some_and(|label| !label.contains('-'))
    })
}

/// How the command ended.
struct Ended {
    exit: Option<i32>,
    timed_out: bool,
}

// An output that is there is of an earlier time; it is kept, and the next one is numbered on.
fn unused(dir: &Path, name: &str) -> PathBuf {
    let numbered = |n: u32| dir.join(if n == 1 { format!("{name}.out") } else { format!("{name}.{n}.out") });
    (1..).map(numbered).find(|path| !path.exists()).unwrap_or_else(|| numbered(1))
}

async fn attempt(gate: &GateSpec, room: &GateRoom, output: &Path) -> std::io::Result<Ended> {
    std::fs::create_dir_all(&room.run_dir)?;
    let file = safely::append(output)?;
    file.set_len(0)?;
    let kept = Kept::new(file, keep::MOST, &room.redactor, &room.found);
    let (reader, writer) = std::io::pipe()?;
    let mark = format!("{}.{}", room.run, file_name(&gate.name));
    let mut command = Command::new("sh");
    for name in &room.without {
        command.env_remove(name);
    }
    command
        .arg("-c")
        .arg(&gate.run)
        .current_dir(&room.workdir)
        .env("PATH", child_env::search_path())
        .env(process::RUN_MARK, &room.run)
        .env(process::GATE_MARK, &mark)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0)
        .kill_on_drop(true);
    let (mut child, own) = own::watch(|| {
        let child = command.spawn()?;
        let pid = child.id().unwrap_or_default();
        Ok((child, pid))
    })?;
    // The command holds the other end of the pipe; while it is there, the output has no end.
    drop(command);
    let reader = tokio::task::spawn_blocking(move || keep_output(reader, kept));
    let ended = tokio::time::timeout(Duration::from_millis(gate.timeout_ms), child.wait()).await;
    let timed_out = ended.is_err();
    let exit = match ended {
        Ok(status) => status?.code(),
        Err(_) => {
            // Its whole group: the shell may have left the work to a child.
            process::signal_group(child.id().unwrap_or_default(), Signal::KILL);
            child.wait().await?.code()
        }
    };
    drop(own);
    let entry = format!("{}={mark}", process::GATE_MARK);
    let swept =
        tokio::task::spawn_blocking(move || process::sweep_marked(&entry, Duration::from_millis(500)));
    swept.await.map_err(std::io::Error::other)?;
    // Whoever still holds the pipe is no process of this gate.
    let _ = tokio::time::timeout(LAST_WORDS, reader).await;
    if timed_out {
        note_timeout(gate, output)?;
    }
    Ok(Ended { exit: exit.filter(|_| !timed_out), timed_out })
}

fn keep_output(mut reader: impl Read, kept: Kept) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read) = reader.read(&mut buffer) {
        if read == 0 {
            break;
        }
        kept.add(&buffer[..read]);
    }
}

fn note_timeout(gate: &GateSpec, output: &Path) -> std::io::Result<()> {
    use std::io::Write;
    let mut file = safely::append(output)?;
    writeln!(file, "\nsegue: the gate timed out: it did not end within {} s", gate.timeout_ms / 1_000)
}

fn tail(path: &Path) -> std::io::Result<String> {
    let mut file = safely::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn file_name(gate: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    gate.chars().take(40).map(safe).collect()
}
