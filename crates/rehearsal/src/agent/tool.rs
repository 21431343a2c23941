//! A command as a child process with its own pipe. It stays in the agent's process group unless it is detached.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use super::inbox::Event;
use crate::script::Script;

/// How long a command may take to end after it was told to.
const GRACE: Duration = Duration::from_millis(500);

/// A running command. Dropped before its end, it is ended, unless it is detached and outlives the agent.
pub(super) struct Tool {
    child: Child,
    detached: bool,
}

/// How a command ended.
pub(super) struct Ended {
    pub(super) output: String,
    pub(super) success: bool,
    pub(super) exit: Option<i32>,
}

impl Tool {
    pub(super) fn start(
        serial: u64,
        command: &[String],
        cwd: &Path,
        log: Option<&Path>,
        script: &Script,
        events: Sender<Event>,
    ) -> io::Result<Self> {
        let (mut reader, writer) = io::pipe()?;
        let words =
            script.detach_tools.then_some("setsid").into_iter().chain(command.iter().map(String::as_str));
        let mut words = words.collect::<Vec<_>>().into_iter();
        let mut child = Command::new(words.next().unwrap_or("true"));
        child.args(words).current_dir(cwd).env("STEP_MS", script.step_ms.to_string());
        if let Some(log) = log {
            child.env("SEGUE_STEP_LOG", log);
        }
        child.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let running = child.spawn()?;
        // The builder holds the parent's end of the pipe; as long as it lives, the output has no end.
        drop(child);
        thread::spawn(move || {
            let mut output = Vec::new();
            // What was read before a failure is still the output.
            let _ = reader.read_to_end(&mut output);
            let output = String::from_utf8_lossy(&output).into_owned();
            // Nobody is left to hear it once the agent has ended.
            let _ = events.send(Event::ToolEnded { tool: serial, output });
        });
        Ok(Self { child: running, detached: script.detach_tools })
    }

    pub(super) fn finish(mut self, output: String) -> io::Result<Ended> {
        let status = self.child.wait()?;
        Ok(Ended { output, success: status.success(), exit: status.code() })
    }

    /// Ends it: politely first, so that a step can end what it started.
    pub(super) fn stop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_some()) {
            return;
        }
        // An error here and below means that it has ended already.
        let _ = rustix::process::kill_process(
            rustix::process::Pid::from_child(&self.child),
            rustix::process::Signal::TERM,
        );
        let until = Instant::now() + GRACE;
        while Instant::now() < until {
            if self.child.try_wait().is_ok_and(|status| status.is_some()) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Tool {
    fn drop(&mut self) {
        if !self.detached {
            self.stop();
        }
    }
}
