//! The local socket through which what runs inside the run can speak: a worker that leaves notes, an agent's hook that asks
//! whether it may go on.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream as StdStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use segue_machine::Event;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;
use tokio::sync::{mpsc, oneshot};

/// A socket that is younger may belong to a run that is about to listen.
const STALE: Duration = Duration::from_secs(60);

/// The longest note that is taken.
const MOST: u64 = 64 * 1024;

/// For how long a question may wait for its answer: a hook is held while the agent is asked for a checkpoint.
const LONGEST_HELD: Duration = Duration::from_secs(300);

/// What can be said.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Message {
    /// Something was done.
    Progress {
        /// The worker's words.
        text: String,
    },
    /// Everything was done.
    Done {
        /// The worker's words.
        text: String,
    },
    /// A tool has ended; may the agent go on to its next call?
    Brake {
        /// The session's number in the run.
        session: u32,
        /// The agent's id for the tool call.
        tool: String,
        /// Characters of its result.
        chars: u64,
    },
}

#[derive(Serialize, Deserialize)]
struct Letter {
    token: String,
    message: Message,
}

/// The answer to whoever said something.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Verdict {
    /// The agent has to stop.
    pub(crate) stop: bool,
    /// What it is told with its tool's result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) context: Option<String>,
}

/// Listens for one run.
#[derive(Debug)]
pub(super) struct Listener {
    path: PathBuf,
    token: String,
    heard: mpsc::Receiver<Heard>,
    asked: u64,
    waiting: BTreeMap<String, oneshot::Sender<Verdict>>,
}

/// Something that was said, with whom to answer when it was a question.
#[derive(Debug)]
struct Heard {
    message: Message,
    answer: oneshot::Sender<Verdict>,
}

impl Listener {
    /// Opens the socket where only this user can reach it.
    pub(super) fn open(run: &str) -> io::Result<Self> {
        let dir = folder();
        match std::fs::DirBuilder::new().mode(0o700).create(&dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => is_private(&dir)?,
        }
        remove_stale(&dir, STALE);
        let path = dir.join(format!("{run}.sock"));
        let _ = std::fs::remove_file(&path);
        let socket = UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        let token = uuid::Uuid::new_v4().to_string();
        let (to, heard) = mpsc::channel(16);
        tokio::spawn(serve(socket, token.clone(), to));
        Ok(Self { path, token, heard, asked: 0, waiting: BTreeMap::new() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// The next thing that is said, as an event.
    pub(super) async fn next(&mut self) -> Option<Event> {
        let Some(Heard { message, answer }) = self.heard.recv().await else { std::future::pending().await };
        let event = match message {
            Message::Progress { text } => Event::NoteLeft { text },
            Message::Done { text } => Event::DoneClaimed { text },
            Message::Brake { session, tool, chars } => {
                self.asked += 1;
                let request = self.asked.to_string();
                self.waiting.insert(request.clone(), answer);
                return Some(Event::BrakeAsked { session, request, tool, chars });
            }
        };
        let _ = answer.send(Verdict::default());
        Some(event)
    }

    /// Answers a question.
    pub(super) fn answer(&mut self, request: &str, verdict: Verdict) {
        if let Some(answer) = self.waiting.remove(request) {
            let _ = answer.send(verdict);
        }
    }

    pub(super) fn close(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn serve(socket: UnixListener, token: String, to: mpsc::Sender<Heard>) {
    while let Ok((stream, _)) = socket.accept().await {
        if !stream.peer_cred().is_ok_and(|peer| is_own(peer.uid())) {
            continue;
        }
        let (token, to) = (token.clone(), to.clone());
        tokio::spawn(async move {
            let _ = tokio::time::timeout(LONGEST_HELD, take(stream, &token, &to)).await;
        });
    }
}

async fn take(stream: tokio::net::UnixStream, token: &str, to: &mpsc::Sender<Heard>) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut line = String::new();
    let mut read = tokio::io::BufReader::new(read.take(MOST));
    tokio::time::timeout(Duration::from_secs(5), read.read_line(&mut line)).await??;
    let reply = match serde_json::from_str::<Letter>(&line) {
        Ok(letter) if letter.token == token => {
            let (answer, answered) = oneshot::channel();
            let sent = to.send(Heard { message: letter.message, answer }).await;
            match (sent, answered.await) {
                (Ok(()), Ok(verdict)) => serde_json::to_string(&verdict)?,
                _ => "the run is over".to_owned(),
            }
        }
        Ok(_) => "the token belongs to another run".to_owned(),
        Err(_) => "the message cannot be read".to_owned(),
    };
    write.write_all(format!("{reply}\n").as_bytes()).await
}

/// Says something to the run that listens at `socket`; returns whether the agent has to stop.
pub(crate) fn send(socket: &Path, token: &str, message: Message) -> io::Result<Verdict> {
    let mut stream = StdStream::connect(socket)?;
    let peer = rustix::net::sockopt::socket_peercred(&stream)?;
    if !is_own(peer.uid.as_raw()) {
        let who = peer.uid.as_raw();
        return Err(io::Error::other(format!("{} belongs to user {who}", socket.display())));
    }
    stream.set_read_timeout(Some(LONGEST_HELD))?;
    let letter = Letter { token: token.to_owned(), message };
    writeln!(stream, "{}", serde_json::to_string(&letter)?)?;
    let mut reply = String::new();
    BufReader::new(stream).read_line(&mut reply)?;
    serde_json::from_str(&reply).map_err(|_| io::Error::other(reply.trim().to_owned()))
}

fn is_own(uid: u32) -> bool {
    uid == rustix::process::geteuid().as_raw()
}

/// A folder that somebody else prepared, or could change, is not used.
fn is_private(dir: &Path) -> io::Result<()> {
    let found = std::fs::symlink_metadata(dir)?;
    let why = if !found.is_dir() {
        "is not a folder".to_owned()
    } else if !is_own(found.uid()) {
        format!("belongs to user {}", found.uid())
    } else if found.mode() & 0o077 != 0 {
        "can be used by other users".to_owned()
    } else {
        return Ok(());
    };
    let path = dir.display();
    let advice = format!("remove it, or set XDG_RUNTIME_DIR to a folder of your own: {path} {why}");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, advice))
}

/// Sockets of runs that died: nobody answers there. A new one may only not listen yet.
fn remove_stale(dir: &Path, older_than: Duration) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|found| found.modified()).map(|at| at.elapsed());
        let is_old = age.is_ok_and(|age| age.is_ok_and(|age| age >= older_than));
        let refused = |path: &Path| {
            StdStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
        };
        let is_socket = entry.file_type().is_ok_and(|kind| kind.is_socket());
        if is_socket && is_old && refused(&entry.path()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

// Not in the work tree: the path of a socket may have only about a hundred characters.
fn folder() -> PathBuf {
    let own = format!("segue-{}", rustix::process::geteuid().as_raw());
    std::env::var_os("XDG_RUNTIME_DIR").map_or_else(std::env::temp_dir, PathBuf::from).join(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s3_a_folder_that_others_can_use_or_that_is_a_link_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("own");
        std::fs::DirBuilder::new().mode(0o700).create(&own).unwrap();
        assert!(is_private(&own).is_ok());
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&own, &link).unwrap();
        assert!(is_private(&link).unwrap_err().to_string().contains("is not a folder"));
        std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o770)).unwrap();
        assert!(is_private(&own).unwrap_err().to_string().contains("other users"));
    }

    #[test]
    fn s3_a_dead_runs_socket_is_removed_and_a_living_ones_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let socket = |name: &str| std::os::unix::net::UnixListener::bind(dir.path().join(name)).unwrap();
        drop(socket("dead.sock"));
        let _living = socket("living.sock");
        std::fs::write(dir.path().join("note.txt"), "x").unwrap();
        remove_stale(dir.path(), STALE);
        assert!(dir.path().join("dead.sock").exists(), "it may be about to listen");
        remove_stale(dir.path(), Duration::ZERO);
        let mut left: Vec<_> =
            std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["living.sock", "note.txt"]);
    }
}
