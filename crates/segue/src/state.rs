//! What must outlive a work tree, in the user's state folder: small JSON files that several runs may change at once.
//!
//! A change is made under a lock and put in place whole, so nobody reads half a file. A file that cannot be read is set
//! aside, not written over: what it held may still be wanted.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::store::safely;

/// How long, and how often, a lock that somebody else holds is tried.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(5);

/// The bytes of a file that is written over.
const SMALL: usize = 1024;

/// The folder in which segue keeps what is not about one work tree.
#[derive(Debug, Clone)]
pub(crate) struct State {
    dir: PathBuf,
}

impl State {
    /// The user's folder; `None` where there is no home.
    pub(crate) fn of_user() -> Option<Self> {
        let base = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state"));
        Some(Self::at(real(base.or_else(home)?.join("segue"))))
    }

    /// This folder.
    pub(crate) fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// A folder in it.
    pub(crate) fn folder(&self, name: &str) -> Self {
        Self { dir: self.path(name) }
    }

    /// Puts a file in place that only one process writes.
    ///
    /// # Errors
    /// When the folder or the file cannot be written.
    pub(crate) fn write<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        self.new_file(&serde_json::to_vec(value)?)?
            .persist(self.path(name))
            .map(drop)
            .map_err(|error| error.error)
    }

    /// The same with room to be written over, and returns when it is on the disk.
    ///
    /// # Errors
    /// When the folder or the file cannot be written.
    pub(crate) fn write_durably<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        let file = self.new_file(&padded(serde_json::to_vec(value)?))?;
        file.as_file().sync_all()?;
        file.persist(self.path(name)).map_err(|error| error.error)?;
        File::open(&self.dir)?.sync_all()
    }

    /// Writes over a small file that is there, in one call: it is changed often, and a new one each time would cost more.
    ///
    /// # Errors
    /// When there is no such file, it cannot be written, or what it is to say is too long.
    pub(crate) fn overwrite<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        let text = padded(serde_json::to_vec(value)?);
        let mut file = safely::open_with(&self.path(name), OFlags::WRONLY)?;
        // Nothing is left of what it said before, and it is never seen at another length.
        if text.len() > SMALL || file.metadata()?.len() != SMALL as u64 {
            return Err(io::Error::other("it has no room to be written over"));
        }
        file.write_all(&text)
    }

    fn new_file(&self, text: &[u8]) -> io::Result<tempfile::NamedTempFile> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let mut file = tempfile::Builder::new().prefix(".new").tempfile_in(&self.dir)?;
        file.write_all(text)?;
        Ok(file)
    }

    /// What tells this folder from any other; made when it is first asked for.
    ///
    /// # Errors
    /// When the folder or the file cannot be written.
    pub(crate) fn id(&self) -> io::Result<String> {
        let known = self.known_id();
        if !known.is_empty() {
            return Ok(known);
        }
        self.update("id.json", |id: &mut String| {
            if id.is_empty() {
                *id = uuid::Uuid::new_v4().to_string();
            }
            id.clone()
        })
    }

    /// The same where somebody asked for it before, else empty.
    pub(crate) fn known_id(&self) -> String {
        self.read("id.json")
    }

    /// Where a file lies.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// What a file says; the default when there is none or it cannot be read.
    pub(crate) fn read<T: DeserializeOwned + Default>(&self, name: &str) -> T {
        safely::read(&self.path(name))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// Changes what a file says, alone, and returns what `change` returns.
    ///
    /// # Errors
    /// When the folder or the file cannot be written.
    pub(crate) fn update<T, R>(&self, name: &str, change: impl FnOnce(&mut T) -> R) -> io::Result<R>
    where
        T: DeserializeOwned + Serialize + Default,
    {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let lock = safely::append(&self.path(&format!("{name}.lock")))?;
        hold(&lock).map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
        let path = self.path(name);
        let mut value = match safely::read(&path) {
            Ok(bytes) => match serde_json::from_slice(&bytes) {
                Ok(value) => value,
                Err(_) => {
                    fs::rename(&path, self.path(&format!("{name}.damaged")))?;
                    T::default()
                }
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => T::default(),
            Err(error) => return Err(error),
        };
        let outcome = change(&mut value);
        self.write(name, &value)?;
        Ok(outcome)
    }
}

fn padded(mut text: Vec<u8>) -> Vec<u8> {
    text.resize(text.len().max(SMALL), b' ');
    text
}

// A folder that the user keeps elsewhere and links to is theirs all the same.
fn real(dir: PathBuf) -> PathBuf {
    if dir.is_symlink() { dir.canonicalize().unwrap_or(dir) } else { dir }
}

// Others change a file in a moment; who holds its lock for longer is stuck.
fn hold(lock: &File) -> io::Result<()> {
    let until = Instant::now() + PATIENCE;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(io::ErrorKind::WouldBlock, "another process holds its lock"));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_the_user_linked_to_is_used() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("kept")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("kept"), dir.path().join("segue")).unwrap();
        let state = State::at(real(dir.path().join("segue")));
        state.write("n.json", &7).unwrap();
        assert_eq!(state.read::<u32>("n.json"), 7);
    }

    #[test]
    fn what_is_written_over_says_the_new_whole_and_never_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::at(dir.path().join("segue"));
        assert!(state.overwrite("n.json", &"short").is_err(), "there is none");
        state.write_durably("n.json", &"a longer text").unwrap();
        state.overwrite("n.json", &"short").unwrap();
        assert_eq!(state.read::<String>("n.json"), "short");
        assert!(state.overwrite("n.json", &"x".repeat(SMALL)).is_err());
        fs::rename(state.path("n.json"), dir.path().join("other")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("other"), state.path("n.json")).unwrap();
        assert!(state.overwrite("n.json", &"new").is_err());
        assert!(fs::read_to_string(dir.path().join("other")).unwrap().starts_with("\"short\" "));
    }

    #[test]
    fn changes_made_side_by_side_are_all_there() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::at(dir.path().join("new"));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        state.update("n.json", |n: &mut u32| *n += 1).unwrap();
                    }
                });
            }
        });
        assert_eq!(state.read::<u32>("n.json"), 100);
    }

    #[test]
    fn a_damaged_file_is_set_aside_and_reads_as_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::at(dir.path());
        fs::write(state.path("n.json"), "{half").unwrap();
        assert_eq!(state.read::<u32>("n.json"), 0);
        assert_eq!(state.update("n.json", |n: &mut u32| *n + 7).unwrap(), 7);
        assert_eq!(fs::read_to_string(state.path("n.json.damaged")).unwrap(), "{half");
    }
}
