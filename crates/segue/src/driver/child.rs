//! One agent process: its streams, and its end, which is also the end of everything it started.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;
use segue_agents::Lines;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;

use super::Input;
use crate::process::{self, own, tree};

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
    pub(super) workdir: PathBuf,
    pub(super) output: PathBuf,
    pub(super) errors: PathBuf,
    /// How long it may take to end by itself after its input was closed.
    pub(super) grace: Option<Duration>,
    /// Files that it is started with.
    pub(super) files: Vec<(String, String)>,
    /// The session's mark in the environment of everything it starts.
    pub(super) mark: String,
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
    let output = File::options().create(true).append(true).open(&launch.output)?;
    let errors = File::options().create(true).append(true).open(&launch.errors)?;
    let mut command = Command::new(program);
    command
        .args(args)
        .current_dir(&launch.workdir)
        .envs(launch.env.iter().map(|(k, v)| (k, v)))
        .env(process::SESSION_MARK, &launch.mark)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(errors)
        .process_group(0);
    let ((mut child, pid), own) = own::watch(|| {
        let child = command.spawn()?;
        let pid = child.id().ok_or_else(|| io::Error::other("it ended at once"))?;
        Ok(((child, pid), pid))
    })?;
    let start = tree::start_time(pid).unwrap_or_default();
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("its streams cannot be reached"));
    };
    let (input, bytes) = mpsc::unbounded_channel();
    let (control, orders) = mpsc::unbounded_channel();
    tokio::spawn(write_input(stdin, bytes));
    let reader = tokio::spawn(read_output(stdout, output, session, to.clone()));
    tokio::spawn(async move {
        let exit = end_of(&mut child, pid, launch.grace.unwrap_or(CLOSE_GRACE), orders).await;
        drop(own);
        // Whatever outlived the agent may hold its output open: end it before waiting for the last words.
        let entry = format!("{}={}", process::SESSION_MARK, launch.mark);
        let sweep = move || process::sweep_marked(&entry, TERM_GRACE);
        let orphans = tokio::task::spawn_blocking(sweep).await.unwrap_or_default();
        let abort = reader.abort_handle();
        if tokio::time::timeout(LAST_WORDS, reader).await.is_err() {
            abort.abort();
        }
        let _ = to.send(Input::Agent(session, News::Gone { exit, orphans })).await;
    });
    Ok(Handle { pid, start, input, control })
}

// The agent may not read: its input is written by a task of its own, so that the driver never waits for it.
async fn write_input(mut stdin: ChildStdin, mut bytes: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(bytes) = bytes.recv().await {
        if stdin.write_all(&bytes).await.is_err() || stdin.flush().await.is_err() {
            break;
        }
    }
}

async fn read_output(mut stdout: ChildStdout, mut kept: File, session: u32, to: mpsc::Sender<Input>) {
    let mut lines = Lines::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = stdout.read(&mut buffer).await.unwrap_or(0);
        if read == 0 {
            break;
        }
        // Output that cannot be kept is no reason to stop listening.
        let _ = kept.write_all(&buffer[..read]);
        let mut found = Vec::new();
        lines.push(&buffer[..read], |line| found.push(line.to_vec()));
        let news = News::Lines(found);
        if to.send(Input::Agent(session, news)).await.is_err() {
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
