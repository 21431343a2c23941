//! Puts originals in place of the agent's files for a while, and back again.
//!
//! What was there is written down durably before anything is touched: a swap that was cut off is undone by whoever takes
//! the work tree next, before anything else. A file that somebody changed meanwhile is left alone and named.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::checkpoint::write_whole;
use crate::store::safely;

/// The list's name in the run's folder.
const NAME: &str = "gate-swap.json";

/// A file's contents and whether it may be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Contents {
    pub(crate) bytes: Vec<u8>,
    pub(crate) runs: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    path: String,
    agents: Option<Contents>,
    original: Option<Contents>,
}

#[derive(Debug, Serialize, Deserialize)]
struct List {
    workdir: PathBuf,
    entries: Vec<Entry>,
}

/// Originals that are in place until this is dropped.
#[derive(Debug)]
pub(crate) struct Swap {
    file: PathBuf,
    list: List,
    over: bool,
}

impl Swap {
    /// Puts the originals of `paths` in place.
    pub(crate) fn put(
        run_dir: &Path,
        workdir: &Path,
        paths: &[String],
        original: &dyn Fn(&str) -> Option<Contents>,
    ) -> io::Result<Self> {
        let mut entries = Vec::new();
        for path in paths {
            let agents = read(&workdir.join(path))?;
            entries.push(Entry { path: path.clone(), agents, original: original(path) });
        }
        let list = List { workdir: workdir.to_owned(), entries };
        let file = run_dir.join(NAME);
        write_whole(&file, &serde_json::to_vec(&list)?)?;
        let swap = Self { file, list, over: false };
        for entry in &swap.list.entries {
            write(workdir, &entry.path, entry.original.as_ref())?;
        }
        Ok(swap)
    }

    /// Puts the agent's files back, and names those that somebody changed meanwhile.
    pub(crate) fn back(mut self) -> Vec<String> {
        self.over = true;
        undo(&self.file, &self.list)
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        if !self.over {
            undo(&self.file, &self.list);
        }
    }
}

/// Undoes a swap in this work tree that was cut off, if there is one; the files that were left alone, since somebody
/// changed them. A list that leads out of the work tree is not segue's.
pub(crate) fn undo_cut_off(run_dir: &Path, workdir: &Path) -> Option<Vec<String>> {
    let file = run_dir.join(NAME);
    let list: List = serde_json::from_slice(&safely::read(&file).ok()?).ok()?;
    let inside = |path: &str| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let same = list.workdir.canonicalize().ok()? == workdir.canonicalize().ok()?;
    if !same || !list.entries.iter().all(|entry| inside(&entry.path)) {
        return None;
    }
    Some(undo(&file, &list))
}

fn undo(file: &Path, list: &List) -> Vec<String> {
    let mut kept = Vec::new();
    for entry in &list.entries {
        let there = read(&list.workdir.join(&entry.path)).ok().flatten();
        // Cut off before this file's turn, or already undone.
        if there == entry.agents {
            continue;
        }
        if there != entry.original || write(&list.workdir, &entry.path, entry.agents.as_ref()).is_err() {
            kept.push(entry.path.clone());
        }
    }
    // What could not be put back stays written down.
    if kept.is_empty() {
        let _ = fs::remove_file(file);
    } else {
        let _ = fs::rename(file, file.with_extension("kept.json"));
    }
    kept
}

fn read(path: &Path) -> io::Result<Option<Contents>> {
    let known = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        known => known?,
    };
    if !known.is_file() {
        return Err(io::Error::other(format!("{} is not a regular file", path.display())));
    }
    Ok(Some(Contents { bytes: fs::read(path)?, runs: known.permissions().mode() & 0o111 != 0 }))
}

fn write(workdir: &Path, path: &str, contents: Option<&Contents>) -> io::Result<()> {
    let path = safely::place_inside(workdir, path)?;
    let Some(contents) = contents else {
        return match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        };
    };
    let folder = path.parent().unwrap_or(workdir);
    fs::create_dir_all(folder)?;
    // In the place of the old one: whoever still reads that is not disturbed.
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(&contents.bytes)?;
    let mode = if contents.runs { 0o755 } else { 0o644 };
    new.as_file().set_permissions(Permissions::from_mode(mode))?;
    new.persist(path).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(text: &str) -> Contents {
        Contents { bytes: text.as_bytes().to_vec(), runs: false }
    }

    fn swap(dir: &Path) -> Swap {
        fs::write(dir.join("a.sh"), "agent").unwrap();
        fs::write(dir.join("new.sh"), "agent").unwrap();
        let original = |path: &str| (path != "new.sh").then(|| contents("original"));
        let paths = ["a.sh", "gone.sh", "new.sh"].map(str::to_owned);
        let swap = Swap::put(dir, dir, &paths, &original).unwrap();
        assert_eq!(fs::read_to_string(dir.join("a.sh")).unwrap(), "original");
        assert_eq!(fs::read_to_string(dir.join("gone.sh")).unwrap(), "original");
        assert!(!dir.join("new.sh").exists());
        swap
    }

    fn is_as_the_agent_left_it(dir: &Path) {
        assert_eq!(fs::read_to_string(dir.join("a.sh")).unwrap(), "agent");
        assert_eq!(fs::read_to_string(dir.join("new.sh")).unwrap(), "agent");
        assert!(!dir.join("gone.sh").exists() && !dir.join(NAME).exists());
    }

    #[test]
    fn truth5_the_agents_files_are_back_after_the_run_or_a_task_that_was_dropped() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(swap(dir.path()).back(), Vec::<String>::new());
        is_as_the_agent_left_it(dir.path());
        drop(swap(dir.path()));
        is_as_the_agent_left_it(dir.path());
    }

    #[test]
    fn truth5_a_swap_that_a_crash_cut_off_is_undone_and_what_somebody_changed_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        std::mem::forget(swap(dir.path()));
        assert_eq!(undo_cut_off(dir.path(), dir.path()), Some(Vec::new()));
        is_as_the_agent_left_it(dir.path());
        assert_eq!(undo_cut_off(dir.path(), dir.path()), None);

        std::mem::forget(swap(dir.path()));
        fs::write(dir.path().join("a.sh"), "somebody").unwrap();
        assert_eq!(undo_cut_off(dir.path(), dir.path()), Some(vec!["a.sh".to_owned()]));
        assert_eq!(fs::read_to_string(dir.path().join("a.sh")).unwrap(), "somebody");
        assert_eq!(fs::read_to_string(dir.path().join("new.sh")).unwrap(), "agent");
    }

    #[test]
    fn s1_nothing_is_written_through_a_link_that_somebody_put_beside_or_above_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let (tree, victim) = (dir.path().join("tree"), dir.path().join("victim"));
        fs::create_dir_all(tree.join("sub")).unwrap();
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join("file"), "precious").unwrap();
        // Whatever a new file might be called first.
        for name in ["a.segue-new", "a.new", "a.sh.segue-new"] {
            std::os::unix::fs::symlink(victim.join("file"), tree.join(name)).unwrap();
        }
        std::mem::forget(swap(&tree));
        fs::remove_dir(tree.join("sub")).unwrap();
        std::os::unix::fs::symlink(&victim, tree.join("sub")).unwrap();
        let entry = |path: &str| Entry { path: path.to_owned(), agents: Some(contents("x")), original: None };
        let entries = vec![entry("sub/new"), entry("sub/deep/new")];
        let list = List { workdir: tree.clone(), entries };
        write_whole(&tree.join(NAME), &serde_json::to_vec(&list).unwrap()).unwrap();
        assert_eq!(undo_cut_off(&tree, &tree).unwrap().len(), 2);
        assert_eq!(fs::read_dir(&victim).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(victim.join("file")).unwrap(), "precious");
    }
}
