//! One phase's process: this program again, with a run of its own. What it writes as JSON is passed on line by line.
//!
//! It is in a process group of its own, so that a person's Ctrl-C reaches it only through the plan, once for each time.

use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::sync::mpsc;

use super::job::Job;

/// The environment variable that marks every process of a plan.
pub(crate) const PLAN_MARK: &str = "SEGUE_PLAN";
/// The environment variable by which a phase knows the process of its plan.
pub(crate) const PLAN_PROCESS: &str = "SEGUE_PLAN_PROCESS";

/// What is to be started.
#[derive(Debug)]
pub(super) enum What {
    /// A new run.
    New(Box<Job>),
    /// A run that was stopped, or whose process died.
    TakeUp(String, Vec<String>),
    /// No run: only its gates.
    Check(Box<Job>),
}

/// A line of JSON that a phase wrote, and the phase.
pub(super) type Heard = (String, Vec<u8>);

/// How it is started.
#[derive(Debug, Clone)]
pub(super) struct How {
    pub(super) program: PathBuf,
    pub(super) dir: PathBuf,
    pub(super) plan: String,
    pub(super) json: bool,
    /// Others are at work at the same time, so what it writes must be told apart.
    pub(super) beside: bool,
    pub(super) flags: Vec<String>,
}

/// A phase at work.
#[derive(Debug)]
pub(super) struct Child {
    process: tokio::process::Child,
    pid: u32,
    job: Option<Vec<u8>>,
}

impl Child {
    /// Starts it.
    pub(super) fn start(how: &How, what: &What) -> io::Result<Self> {
        let mut command = Command::new(&how.program);
        command.arg("-C").arg(&how.dir);
        let piped = how.json || how.beside || matches!(what, What::Check(_));
        if piped {
            command.arg("--json");
        }
        command.arg("phase");
        let job = match what {
            What::New(job) => {
                command.args(&how.flags).stdin(Stdio::piped());
                Some(serde_json::to_vec(job)?)
            }
            What::Check(job) => {
                command.arg("--check").args(&how.flags).stdin(Stdio::piped());
                Some(serde_json::to_vec(job)?)
            }
            What::TakeUp(run, flags) => {
                command.args(["--take-up", run]).args(flags).stdin(Stdio::null());
                None
            }
        };
        command
            .env(PLAN_MARK, &how.plan)
            .env(PLAN_PROCESS, std::process::id().to_string())
            .stderr(if how.beside { Stdio::piped() } else { Stdio::inherit() })
            .stdout(if piped { Stdio::piped() } else { Stdio::inherit() })
            .process_group(0);
        let process = command.spawn()?;
        let pid = process.id().unwrap_or_default();
        Ok(Self { process, pid, job })
    }

    /// Its process.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    async fn give_job(&mut self) {
        if let (Some(job), Some(mut stdin)) = (self.job.take(), self.process.stdin.take()) {
            // One that does not read its job says so with its exit code.
            let _ = stdin.write_all(&job).await;
        }
    }

    /// Gives it its job and takes all that it writes.
    pub(super) async fn answer(mut self) -> io::Result<Vec<u8>> {
        self.give_job().await;
        let mut all = Vec::new();
        if let Some(mut out) = self.process.stdout.take() {
            out.read_to_end(&mut all).await?;
        }
        self.process.wait().await.map(|_| all)
    }

    /// Gives it its job, passes on what it writes, and waits for its end.
    pub(super) async fn attend(
        mut self,
        id: &str,
        heard: mpsc::UnboundedSender<Heard>,
    ) -> io::Result<ExitStatus> {
        self.give_job().await;
        let (out, err) = (self.process.stdout.take(), self.process.stderr.take());
        let (out, err) = tokio::join!(listen(id, out, &heard), listen(id, err, &heard));
        out.and(err)?;
        self.process.wait().await
    }
}

// What it writes, line by line. Whoever does not hear it has ended, or is about to.
async fn listen(
    id: &str,
    stream: Option<impl AsyncRead + Unpin>,
    heard: &mpsc::UnboundedSender<Heard>,
) -> io::Result<()> {
    let Some(stream) = stream else { return Ok(()) };
    let mut lines = BufReader::new(stream);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).await? > 0 {
        let _ = heard.send((id.to_owned(), std::mem::take(&mut line)));
    }
    Ok(())
}

/// Tells a phase to stop, as Ctrl-C would.
pub(super) fn interrupt(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::INT);
    }
}

/// Writes a line that a phase wrote.
pub(super) fn pass_on(line: &[u8]) {
    use std::io::Write;
    let mut out = io::stdout().lock();
    // Whoever read this has gone away; the run goes on.
    let _ = out.write_all(line).and_then(|()| out.flush());
}
