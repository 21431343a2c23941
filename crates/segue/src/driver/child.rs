//! One agent process: its streams, and its end, which is also the end of everything it started.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use segue_agents::Lines;
use segue_redact::Redactor;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;

use super::Input;
use crate::child_env;
use crate::keep::{self, Found, Keeping, Kept};
use crate::process::{self, own, tree};
use crate::store::safely;

/// How long an agent may take to end by itself after its input was closed.
const CLOSE_GRACE: Duration = Duration::from_secs(3);
/// How long it may take after it was told to end.
const TERM_GRACE: Duration = Duration::from_secs(2);
/// How long the rest of its output may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What is to be started.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) command: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    /// What it does not get of this process's environment.
    pub(super) without: Vec<OsString>,
    pub(super) workdir: PathBuf,
    pub(super) output: PathBuf,
    pub(super) errors: PathBuf,
    /// How long it may take to end by itself after its input was closed.
    pub(super) grace: Option<Duration>,
    /// Files that it is started with.
    pub(super) files: Vec<(String, String)>,
    /// The session's mark in the environment of everything it starts.
    pub(super) mark: String,
    /// What takes the secrets out of what is kept.
    pub(super) redactor: Redactor,
    /// …and counts them.
    pub(super) found: Found,
}

/// What comes from a process.
#[derive(Debug)]
pub(super) enum News {
    Lines(Vec<Vec<u8>>),
    Gone { exit: Option<i32>, orphans: u32 },
}

/// What can be done to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    Close,
    Kill,
}

/// A process that runs.
#[derive(Debug)]
pub(super) struct Handle {
    pub(super) pid: u32,
    pub(super) start: u64,
    pub(super) input: mpsc::UnboundedSender<Vec<u8>>,
    pub(super) control: mpsc::UnboundedSender<Control>,
    /// What it has written so far.
    pub(super) output: Kept,
    pub(super) errors: Heard,
}

/// When something was last heard.
#[derive(Debug, Clone)]
pub(super) struct Heard(Arc<Mutex<Instant>>);

impl Heard {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    fn again(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    pub(super) fn last(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts a process in its own group; its news go to `to`.
pub(super) fn spawn(launch: Launch, session: u32, to: mpsc::Sender<Input>) -> io::Result<Handle> {
    let (program, args) = launch.command.split_first().ok_or_else(|| io::Error::other("no command"))?;
    if let Some(dir) = launch.output.parent() {
        std::fs::create_dir_all(dir)?;
    }
    for (path, text) in &launch.files {
        std::fs::write(path, text)?;
    }
    let (output, errors) = (safely::append(&launch.output)?, safely::append(&launch.errors)?);
    let mut command = Command::new(program);
    for name in &launch.without {
        command.env_remove(name);
    }
    command
        .args(args)
        .current_dir(&launch.workdir)
        .env("PATH", child_env::search_path())
        .envs(launch.env.iter().map(|(k, v)| (k, v)))
        .env(process::SESSION_MARK, &launch.mark)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let ((mut child, pid), own) = own::watch(|| {
        let child = command.spawn()?;
        let pid = child.id().ok_or_else(|| io::Error::other("it ended at once"))?;
        Ok(((child, pid), pid))
    })?;
    log::info!("s{session}: {program} started, process {pid}");
    let start = tree::start_time(pid).unwrap_or_default();
    let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
        return Err(io::Error::other("its streams cannot be reached"));
    };
    let (input, bytes) = mpsc::unbounded_channel();
    let (control, orders) = mpsc::unbounded_channel();
    tokio::spawn(write_input(stdin, bytes));
    let output = Kept::new(output, keep::MOST / 4 * 3, &launch.redactor, &launch.found);
    let reader = tokio::spawn(read_output(stdout, output.clone(), session, to.clone()));
    let (heard, kept) = (Heard::new(), Kept::new(errors, keep::MOST / 4, &launch.redactor, &launch.found));
    let errors = tokio::spawn(keep_errors(stderr, kept, heard.clone()));
    tokio::spawn(async move {
        let exit = end_of(&mut child, pid, launch.grace.unwrap_or(CLOSE_GRACE), orders).await;
        drop(own);
        // Whatever outlived the agent may hold its output open: end it before waiting for the last words.
        let entry = format!("{}={}", process::SESSION_MARK, launch.mark);
        let sweep = move || process::sweep_marked(&entry, TERM_GRACE);
        let orphans = tokio::task::spawn_blocking(sweep).await.unwrap_or_default();
        let aborts = [reader.abort_handle(), errors.abort_handle()];
        let last_words = async { (reader.await, errors.await) };
        if tokio::time::timeout(LAST_WORDS, last_words).await.is_err() {
            aborts.iter().for_each(tokio::task::AbortHandle::abort);
        }
        log::info!("s{session}: process {pid} is gone, exit {exit:?}, {orphans} of its processes ended");
        let _ = to.send(Input::Agent(session, News::Gone { exit, orphans })).await;
    });
    Ok(Handle { pid, start, input, control, output, errors: heard })
}

// The agent may not read: its input is written by a task of its own, so that the driver never waits for it.
async fn write_input(mut stdin: ChildStdin, mut bytes: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(bytes) = bytes.recv().await {
        if stdin.write_all(&bytes).await.is_err() || stdin.flush().await.is_err() {
            break;
        }
    }
}

async fn keep_errors(stderr: ChildStderr, kept: Kept, heard: Heard) {
    let mut errors = Keeping::new(stderr, kept);
    while errors.next().await.is_some() {
        heard.again();
    }
}

async fn read_output(stdout: ChildStdout, kept: Kept, session: u32, to: mpsc::Sender<Input>) {
    let mut lines = Lines::default();
    let mut output = Keeping::new(stdout, kept);
    while let Some(bytes) = output.next().await {
        let mut found = Vec::new();
        lines.push(bytes, |line| found.push(line.to_vec()));
        if to.send(Input::Agent(session, News::Lines(found))).await.is_err() {
            return;
        }
    }
    if let Some(rest) = lines.finish() {
        let _ = to.send(Input::Agent(session, News::Lines(vec![rest]))).await;
    }
}

async fn end_of(
    child: &mut Child,
    pid: u32,
    grace: Duration,
    mut orders: mpsc::UnboundedReceiver<Control>,
) -> Option<i32> {
    let order = tokio::select! {
        status = child.wait() => return status.ok().and_then(|s| s.code()),
        order = orders.recv() => order.unwrap_or(Control::Kill),
    };
    if order == Control::Close {
        let patience = tokio::time::sleep(grace);
        tokio::select! {
            status = child.wait() => return status.ok().and_then(|s| s.code()),
            Some(Control::Kill) = orders.recv() => {}
            () = patience => {
                process::signal_group(pid, Signal::TERM);
                if let Ok(status) = tokio::time::timeout(TERM_GRACE, child.wait()).await {
                    return status.ok().and_then(|s| s.code());
                }
            }
        }
    }
    process::signal_group(pid, Signal::KILL);
    child.wait().await.ok().and_then(|s| s.code())
}
