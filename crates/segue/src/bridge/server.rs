//! The server behind a bridge: started with a password of its own, asked for its address, ended with everything in its
//! group.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpgrp, getpid, kill_process, kill_process_group};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::BridgeError;
use super::http::Peer;

/// How long a server may take until it says where it listens.
const START: Duration = Duration::from_secs(90);
/// How long it may take to end after it was told to.
const TERM: Duration = Duration::from_millis(1_500);
/// The user's name that the server asks for.
const USER: &str = "opencode";

/// A server that runs.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    output: Option<Lines<BufReader<ChildStdout>>>,
    password: String,
}

impl Server {
    /// Starts it in the bridge's own process group, so that whoever ends the bridge by force ends it too.
    pub(super) fn start(command: &[String]) -> Result<Self, BridgeError> {
        let (program, args) = command.split_first().ok_or(BridgeError::NoCommand)?;
        let password = uuid::Uuid::new_v4().simple().to_string();
        let mut child = Command::new(program)
            .args(args)
            .env("OPENCODE_SERVER_USERNAME", USER)
            .env("OPENCODE_SERVER_PASSWORD", &password)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| BridgeError::NotStarted { program: program.clone(), source })?;
        let output = child.stdout.take().map(|out| BufReader::new(out).lines());
        Ok(Self { child, output, password })
    }

    /// Waits until the server says where it listens.
    pub(super) async fn address(&mut self) -> Result<Peer, BridgeError> {
        let Some(mut output) = self.output.take() else {
            return Err(BridgeError::NoAddress { how: String::new() });
        };
        let found = tokio::time::timeout(START, async {
            while let Ok(Some(line)) = output.next_line().await {
                if let Some(address) = address_in(&line) {
                    return Some(address);
                }
                aside(&line);
            }
            None
        });
        let address = match found.await {
            Ok(Some(address)) => address,
            Ok(None) => {
                let status = self.child.wait().await.map(|s| s.to_string()).unwrap_or_default();
                return Err(BridgeError::NoAddress { how: format!(", it ended ({status})") });
            }
            Err(_) => {
                return Err(BridgeError::NoAddress { how: format!(" within {} s", START.as_secs()) });
            }
        };
        tokio::spawn(async move {
            while let Ok(Some(line)) = output.next_line().await {
                aside(&line);
            }
        });
        Ok(Peer::new(address, USER, &self.password))
    }

    /// Waits for its end and says with which code.
    pub(super) async fn ended(&mut self) -> u8 {
        let status = self.child.wait().await;
        status.ok().and_then(|s| s.code()).and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
    }

    /// Ends it: politely with everything in the group, then by force.
    pub(super) async fn end(&mut self) {
        let Some(pid) = self.child.id() else { return };
        let server = i32::try_from(pid).ok().and_then(Pid::from_raw);
        if getpgrp() == getpid() {
            let _ = kill_process_group(getpgrp(), Signal::TERM);
        } else if let Some(server) = server {
            let _ = kill_process(server, Signal::TERM);
        }
        if tokio::time::timeout(TERM, self.child.wait()).await.is_err() {
            let _ = self.child.kill().await;
        }
    }
}

// Whatever else the server prints is kept with the bridge's own errors.
fn aside(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// The loopback address in a line, if there is one.
fn address_in(line: &str) -> Option<String> {
    let at = line.find("http://")? + "http://".len();
    let rest = &line[at..];
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || ".:-[]".contains(c))).unwrap_or(rest.len());
    let address = &rest[..end];
    let (_, port) = address.rsplit_once(':')?;
    port.parse::<u16>().ok().map(|_| address.to_owned())
}

#[cfg(test)]
mod tests {
    use super::address_in;

    #[test]
    fn the_address_is_found_wherever_it_stands() {
        let found = |line| address_in(line);
        let listening = "opencode server listening on http://127.0.0.1:4096";
        assert_eq!(found(listening).as_deref(), Some("127.0.0.1:4096"));
        assert_eq!(found("http://localhost:80/doc and more").as_deref(), Some("localhost:80"));
        for line in ["", "Warning: no password", "http://", "http://127.0.0.1", "http://127.0.0.1:70000"] {
            assert_eq!(found(line), None, "{line}");
        }
    }
}
