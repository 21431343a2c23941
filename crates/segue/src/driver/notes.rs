//! The local socket through which a worker inside the run can leave notes.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixStream as StdStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use segue_machine::Event;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;
use tokio::sync::mpsc;

/// The longest note that is taken.
const MOST: u64 = 64 * 1024;

/// What a note means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NoteKind {
    /// Something was done.
    Progress,
    /// Everything was done.
    Done,
}

#[derive(Serialize, Deserialize)]
struct Note {
    token: String,
    kind: NoteKind,
    text: String,
}

/// Takes notes for one run.
#[derive(Debug)]
pub(super) struct Listener {
    path: PathBuf,
    token: String,
    notes: mpsc::Receiver<Event>,
}

impl Listener {
    /// Opens the socket where only this user can reach it.
    pub(super) fn open(run: &str) -> io::Result<Self> {
        let dir = folder();
        if !dir.is_dir() {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
        }
        let path = dir.join(format!("{run}.sock"));
        let _ = std::fs::remove_file(&path);
        let socket = UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        let token = uuid::Uuid::new_v4().to_string();
        let (to, notes) = mpsc::channel(16);
        tokio::spawn(serve(socket, token.clone(), to));
        Ok(Self { path, token, notes })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    pub(super) async fn next(&mut self) -> Option<Event> {
        match self.notes.recv().await {
            Some(event) => Some(event),
            None => std::future::pending().await,
        }
    }

    pub(super) fn close(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn serve(socket: UnixListener, token: String, to: mpsc::Sender<Event>) {
    while let Ok((stream, _)) = socket.accept().await {
        let (token, to) = (token.clone(), to.clone());
        tokio::spawn(async move {
            let _ = tokio::time::timeout(Duration::from_secs(5), take(stream, &token, &to)).await;
        });
    }
}

async fn take(stream: tokio::net::UnixStream, token: &str, to: &mpsc::Sender<Event>) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut line = String::new();
    tokio::io::BufReader::new(read.take(MOST)).read_line(&mut line).await?;
    let answer = match serde_json::from_str::<Note>(&line) {
        Ok(note) if note.token == token => {
            let event = match note.kind {
                NoteKind::Progress => Event::NoteLeft { text: note.text },
                NoteKind::Done => Event::DoneClaimed { text: note.text },
            };
            if to.send(event).await.is_ok() { "ok\n" } else { "the run is over\n" }
        }
        Ok(_) => "the token is not this run's\n",
        Err(_) => "the note cannot be read\n",
    };
    write.write_all(answer.as_bytes()).await
}

/// Leaves a note with the run that listens at `socket`.
pub(crate) fn send(socket: &Path, token: &str, kind: NoteKind, text: &str) -> io::Result<()> {
    let mut stream = StdStream::connect(socket)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let note = Note { token: token.to_owned(), kind, text: text.to_owned() };
    writeln!(stream, "{}", serde_json::to_string(&note)?)?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer)?;
    if answer.trim() == "ok" { Ok(()) } else { Err(io::Error::other(answer.trim().to_owned())) }
}

// Not in the work tree: the path of a socket may have only about a hundred characters.
fn folder() -> PathBuf {
    let own = format!("segue-{}", rustix::process::getuid().as_raw());
    std::env::var_os("XDG_RUNTIME_DIR").map_or_else(std::env::temp_dir, PathBuf::from).join(own)
}
