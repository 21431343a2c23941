//! Secret files of the work tree, kept beside snapshots and not in them: owner-only, by their content, with a list for each
//! snapshot. It lies in the user's state folder; git never sees it.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::state::State;
use crate::store::safely;

/// One file of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// From the top of the work tree.
    pub(crate) path: PathBuf,
    /// What is in it.
    pub(crate) hash: String,
    /// Whether it may be run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) runs: bool,
}

/// The secret files of one repository.
#[derive(Debug, Clone)]
pub(crate) struct SecretStore {
    dir: PathBuf,
}

impl SecretStore {
    /// That of the repository with this common folder; `None` where there is no state folder.
    pub(crate) fn of(common_dir: &Path) -> Option<Self> {
        let name = blake3::hash(common_dir.as_os_str().as_encoded_bytes()).to_hex()[..16].to_owned();
        Some(Self { dir: State::of_user()?.path("secrets").join(name) })
    }

    /// Keeps these files.
    pub(crate) fn keep(&self, root: &Path, paths: &[PathBuf]) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for path in paths {
            let file = root.join(path);
            let bytes = fs::read(&file)?;
            let hash = blake3::hash(&bytes).to_hex().to_string();
            let runs = fs::metadata(&file)?.permissions().mode() & 0o111 != 0;
            self.write(&self.dir.join("objects").join(&hash), &bytes)?;
            entries.push(Entry { path: path.clone(), hash, runs });
        }
        Ok(entries)
    }

    /// Notes which files belong to a snapshot.
    pub(crate) fn note(&self, commit: &str, entries: &[Entry]) -> io::Result<()> {
        self.write(&self.list(commit), &serde_json::to_vec(entries)?)
    }

    /// The files that belong to a snapshot.
    pub(crate) fn of_snapshot(&self, commit: &str) -> Vec<Entry> {
        safely::read(&self.list(commit))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// Writes a snapshot's files below a folder, readable by their owner alone; how many.
    pub(crate) fn restore(&self, commit: &str, into: &Path) -> io::Result<usize> {
        let entries = self.of_snapshot(commit);
        for entry in &entries {
            let inside = entry.path.components().all(|part| matches!(part, Component::Normal(_)));
            if !inside || !entry.hash.chars().all(|c| c.is_ascii_hexdigit()) {
                return Err(io::Error::other(format!(
                    "{} is not a path in the work tree",
                    entry.path.display()
                )));
            }
            let to = into.join(&entry.path);
            fs::create_dir_all(to.parent().unwrap_or(into))?;
            let bytes = safely::read(&self.dir.join("objects").join(&entry.hash))?;
            let mode = if entry.runs { 0o700 } else { 0o600 };
            // What the snapshot itself wrote at this place, a link above all, is not followed.
            OpenOptions::new().create_new(true).write(true).mode(mode).open(&to)?.write_all(&bytes)?;
        }
        Ok(entries.len())
    }

    /// Removes what no snapshot needs: lists of others, and contents that no list names.
    pub(crate) fn prune(&self, commits: &[String]) -> io::Result<()> {
        let mut needed = Vec::new();
        for list in read_dir(&self.dir.join("snapshots"))? {
            let commit = list.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if commits.contains(&commit) {
                needed.extend(self.of_snapshot(&commit).into_iter().map(|entry| entry.hash));
            } else {
                fs::remove_file(list)?;
            }
        }
        for object in read_dir(&self.dir.join("objects"))? {
            let name = object.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if !needed.contains(&name) {
                fs::remove_file(object)?;
            }
        }
        Ok(())
    }

    fn list(&self, commit: &str) -> PathBuf {
        self.dir.join("snapshots").join(format!("{commit}.json"))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
            return Ok(());
        }
        let dir = path.parent().unwrap_or(&self.dir);
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let mut file = tempfile::Builder::new().prefix(".new").tempfile_in(dir)?;
        file.write_all(bytes)?;
        file.persist(path).map(drop).map_err(|error| error.error)
    }
}

/// What stands for these files as a whole; `None` for none.
pub(crate) fn digest(entries: &[Entry]) -> Option<String> {
    let bytes = serde_json::to_vec(entries).ok().filter(|_| !entries.is_empty())?;
    Some(blake3::hash(&bytes).to_hex()[..32].to_owned())
}

fn read_dir(dir: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
