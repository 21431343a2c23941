//! Reading along in a file that an agent writes beside its output.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use segue_agents::{Lines, Tail};

/// How deep below the agent's folder the file may lie.
const DEPTH: u32 = 5;

/// How often the file is looked for.
const SEEK: Duration = Duration::from_millis(50);

/// A file that grows.
#[derive(Debug)]
pub(super) struct Along {
    root: PathBuf,
    ends_with: String,
    file: Option<File>,
    /// When it was last looked for.
    sought: Option<Instant>,
    read: u64,
    lines: Lines,
}

impl Along {
    /// Reads along in the file that `tail` names; `env` is what the agent was given beside segue's own environment.
    pub(super) fn new(tail: &Tail, env: &[(String, String)]) -> Option<Self> {
        let given =
            |name: &str| env.iter().find(|(key, _)| key == name).map(|(_, value)| PathBuf::from(value));
        let var = |name: &str| given(name).or_else(|| std::env::var_os(name).map(PathBuf::from));
        let moved = var(tail.home).map(|home| home.join(tail.below));
        let home = moved.or_else(|| Some(var("HOME")?.join(tail.fallback)))?;
        Some(Self {
            root: home.join(tail.folder),
            ends_with: tail.ends_with.clone(),
            file: None,
            sought: None,
            read: 0,
            lines: Lines::default(),
        })
    }

    /// The next look is one for the file, too, even if that was looked for a moment ago.
    pub(super) fn seek(&mut self) {
        self.sought = None;
    }

    /// The lines that have come since the last time.
    pub(super) fn news(&mut self) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        if self.file.is_none() && self.sought.is_none_or(|at| at.elapsed() >= SEEK) {
            self.sought = Some(Instant::now());
            self.file = find(&self.root, &self.ends_with, DEPTH).and_then(|path| File::open(path).ok());
        }
        let Some(file) = self.file.as_mut() else { return found };
        let mut bytes = Vec::new();
        if file.seek(SeekFrom::Start(self.read)).and_then(|_| file.read_to_end(&mut bytes)).is_ok() {
            self.read += bytes.len() as u64;
            self.lines.push(&bytes, |line| found.push(line.to_vec()));
        }
        found
    }
}

fn find(dir: &Path, ends_with: &str, depth: u32) -> Option<PathBuf> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(dir).ok()?.filter_map(|e| Some(e.ok()?.path())).collect();
    // Folders are named after dates: the newest last.
    entries.sort();
    entries.iter().rev().find_map(|path| match path.is_dir() {
        true if depth > 0 => find(path, ends_with, depth - 1),
        true => None,
        false => path.to_str().filter(|name| name.ends_with(ends_with)).map(|_| path.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn lines_are_read_once_each_as_they_come_and_a_half_one_waits() {
        let dir = tempfile::tempdir().unwrap();
        let day = dir.path().join("sessions/2026/11/15");
        std::fs::create_dir_all(&day).unwrap();
        let tail = Tail {
            home: "X_HOME",
            below: "",
            fallback: ".x",
            folder: "sessions",
            ends_with: "-t1.jsonl".to_owned(),
        };
        let env = [("X_HOME".to_owned(), dir.path().display().to_string())];
        let mut along = Along::new(&tail, &env).unwrap();
        assert!(along.news().is_empty());
        let mut file = File::create(day.join("rollout-a-t1.jsonl")).unwrap();
        file.write_all(b"one\ntw").unwrap();
        assert!(along.news().is_empty(), "it is not looked for at every line");
        std::thread::sleep(SEEK);
        assert_eq!(along.news(), [b"one"]);
        file.write_all(b"o\n").unwrap();
        assert_eq!(along.news(), [b"two"]);
        assert!(along.news().is_empty());
    }
}
