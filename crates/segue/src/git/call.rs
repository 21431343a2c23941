//! One call of the `git` binary: a clean environment, no terminal, a time-out, and bytes in and out.
//!
//! Output goes to unnamed files and not through pipes: a background process that a hook leaves behind cannot keep the
//! caller waiting, and a flood of output cannot block git.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::GitError;
use crate::child_env;
use crate::process::own;

/// What the caller's environment may hold that would lead git to another repository or another reading of paths.
const FOREIGN: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_EXTERNAL_DIFF",
];

/// How much of git's complaint an error carries.
const WORDS: usize = 400;

/// A call of git that has not been made yet.
#[derive(Debug)]
pub(super) struct Call {
    command: Command,
    name: String,
    input: Option<Vec<u8>>,
    patience: Duration,
}

/// What a finished call left.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: ExitStatus,
    pub(super) out: Vec<u8>,
    pub(super) err: String,
    name: String,
}

impl Call {
    /// A call in `folder`; its name in errors is the first argument after `-c` settings.
    pub(super) fn new<A: AsRef<OsStr>>(folder: &Path, patience: Duration, args: &[A]) -> Self {
        let mut command = Command::new("git");
        for name in FOREIGN {
            command.env_remove(name);
        }
        command
            .current_dir(folder)
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .env("PATH", child_env::search_path())
            .args(["-c", "core.fsmonitor=false", "-c", "core.safecrlf=false", "-c", "core.quotePath=false"])
            .args(args)
            .stdin(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let words: Vec<_> = args.iter().map(|arg| arg.as_ref().to_string_lossy()).collect();
        let options = words.chunks(2).take_while(|pair| pair[0] == "-c").count() * 2;
        let name = words.get(options).map(ToString::to_string).unwrap_or_default();
        Self { command, name, input: None, patience }
    }

    /// Sets a variable of its environment.
    pub(super) fn env(mut self, key: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(key, value);
        self
    }

    /// Gives it these bytes to read.
    pub(super) fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    /// Makes the call and answers however git ended.
    pub(super) fn ask(mut self) -> Result<Answer, GitError> {
        let name = format!("git {}", self.name);
        let trouble = |error: io::Error| GitError::Io { call: name.clone(), why: error.to_string() };
        let mut out = tempfile::tempfile().map_err(trouble)?;
        let mut err = tempfile::tempfile().map_err(trouble)?;
        if let Some(bytes) = self.input.take() {
            let mut input = tempfile::tempfile().map_err(trouble)?;
            input.write_all(&bytes).and_then(|()| input.rewind()).map_err(trouble)?;
            self.command.stdin(input);
        }
        self.command.stdout(out.try_clone().map_err(trouble)?).stderr(err.try_clone().map_err(trouble)?);
        let began = Instant::now();
        let (mut child, _own) = own::spawn(&mut self.command).map_err(|error| {
            if error.kind() == io::ErrorKind::NotFound { GitError::GitMissing } else { trouble(error) }
        })?;
        let status = wait(&mut child, self.patience).map_err(trouble)?;
        log::debug!("{name}: {} ms, {}", began.elapsed().as_millis(), shown(status));
        let Some(status) = status else {
            return Err(GitError::TimedOut { call: name, after: self.patience });
        };
        let out = contents(&mut out).map_err(trouble)?;
        let err = String::from_utf8_lossy(&contents(&mut err).map_err(trouble)?).trim().to_owned();
        Ok(Answer { status, out, err, name })
    }

    /// Makes the call; anything but success is an error.
    pub(super) fn run(self) -> Result<Vec<u8>, GitError> {
        let answer = self.ask()?;
        if answer.status.success() { Ok(answer.out) } else { Err(answer.failure()) }
    }

    /// Makes the call and takes its output as one line of text.
    pub(super) fn line(self) -> Result<String, GitError> {
        self.run().map(|out| text(out.strip_suffix(b"\n").unwrap_or(&out)))
    }
}

impl Answer {
    /// The error that this answer stands for.
    pub(super) fn failure(self) -> GitError {
        let why = if self.err.is_empty() { self.status.to_string() } else { short(&self.err) };
        GitError::Failed { call: self.name, why }
    }
}

/// The parts of an output that ends each of them with a zero byte.
pub(super) fn parts(out: &[u8]) -> impl Iterator<Item = &[u8]> {
    out.split(|byte| *byte == 0).filter(|part| !part.is_empty())
}

/// Bytes as text that can be shown.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Bytes as a path of this system.
pub(super) fn path(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    let path = PathBuf::from(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes));
    #[cfg(not(unix))]
    let path = PathBuf::from(text(bytes));
    path
}

/// A complaint of git's, on one line and not too long.
pub(super) fn short(words: &str) -> String {
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(WORDS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn shown(status: Option<ExitStatus>) -> String {
    status.map_or_else(|| "it took too long".to_owned(), |status| status.to_string())
}

/// Waits for the child; one that takes too long is ended with all of its group, and `None` is the answer.
fn wait(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let taken = began.elapsed();
        if taken >= patience {
            #[cfg(unix)]
            let _ = rustix::process::kill_process_group(
                rustix::process::Pid::from_child(child),
                rustix::process::Signal::KILL,
            );
            let _ = child.kill();
            child.wait()?;
            return Ok(None);
        }
        // What takes long is looked at less often: never more than a tenth is lost by waiting.
        thread::sleep((taken / 10).clamp(Duration::from_micros(200), Duration::from_millis(5)));
    }
}

fn contents(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
