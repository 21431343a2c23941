//! `segue snapshot restore`: a snapshot's files in a new folder, or its commit as a new branch. Nothing is written over.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Failure, Place, Restore, Shelf, out};
use crate::secret_store::SecretStore;
use crate::snapshots::Entry;

/// What was made, and what to say about it.
struct Made {
    branch: Option<String>,
    folder: Option<PathBuf>,
    words: [String; 2],
}

/// Brings a snapshot back, beside what is there.
pub(super) fn restore(at: &Place, args: &Restore) -> Result<u8, Failure> {
    let shelf = Shelf::open(at)?;
    let entry = shelf.choose(&args.snapshot)?;
    let made = match &args.branch {
        Some(name) => branch(&shelf, entry, name)?,
        None => folder(&shelf, entry, args.to.as_ref().map(|to| at.dir.join(to)))?,
    };
    if at.json {
        let (snapshot, commit) = (shelf.clean(&entry.name), &entry.saved.commit);
        let doc =
            json!({ "snapshot": snapshot, "branch": made.branch, "folder": made.folder, "commit": commit });
        out::line(&doc.to_string());
    } else {
        out::lines(made.words);
    }
    Ok(0)
}

fn branch(shelf: &Shelf, entry: &Entry, name: &str) -> Result<Made, Failure> {
    if !shelf.repo.is_branch_name(name)? {
        return Err(Failure::usage(format!("--branch {name:?}: not a valid branch name")));
    }
    if shelf.repo.has_branch(name)? {
        return Err(Failure::usage(format!("branch {name} already exists; choose another name")));
    }
    shelf.repo.new_branch(name, &entry.saved.commit)?;
    let words = [
        format!("branch {name} is snapshot {}; nothing was checked out", shelf.plain(&entry.name)),
        format!("`git diff HEAD {name}` compares it with your last commit, `git switch {name}` goes there"),
    ];
    Ok(Made { branch: Some(name.to_owned()), folder: None, words })
}

fn folder(shelf: &Shelf, entry: &Entry, to: Option<PathBuf>) -> Result<Made, Failure> {
    let target = match to {
        Some(to) => to,
        None => {
            shelf.store.clone().create()?;
            shelf.store.restored().join(entry.name.replace('/', "-"))
        }
    };
    let shown = segue_report::plain(&target.display().to_string());
    refuse_taken(&target).map_err(|why| {
        Failure::usage(format!("{shown} {why}, and segue overwrites nothing; name another folder with --to"))
    })?;
    write(shelf, entry, &target).map_err(|why| {
        Failure::failed(format!("{shown} was not written: {}", shelf.plain(&why.to_string())))
    })?;
    let commit = &entry.saved.commit[..entry.saved.commit.len().min(12)];
    let words = [
        format!("the files of {} are in {shown}", shelf.plain(&entry.name)),
        format!(
            "copy back what you need; `git diff {commit}` shows how your tracked files have changed since"
        ),
    ];
    Ok(Made { branch: None, folder: Some(target), words })
}

fn refuse_taken(target: &Path) -> Result<(), String> {
    match fs::read_dir(target).map(Iterator::count) {
        Ok(0) => Ok(()),
        Ok(_) => Err("is not empty".to_owned()),
        // A link that leads nowhere is there as well.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::symlink_metadata(target).map_or(Ok(()), |_| Err("is a broken link".to_owned()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err("is not a folder".to_owned()),
        Err(error) => Err(format!("cannot be read ({error})")),
    }
}

// Beside the place where it will lie, and moved there when it is whole; the system refuses a folder that is not empty.
fn write(shelf: &Shelf, entry: &Entry, target: &Path) -> io::Result<()> {
    // Through a link to a folder, for only a folder can be replaced.
    let target: PathBuf = target.canonicalize().unwrap_or_else(|_| target.to_owned());
    let parent = target.parent().unwrap_or(&target);
    fs::create_dir_all(parent)?;
    let open = Permissions::from_mode(0o777);
    let made = tempfile::Builder::new().prefix(".segue-").permissions(open).tempdir_in(parent)?;
    shelf.repo.write_files(&entry.saved.commit, made.path()).map_err(io::Error::other)?;
    if let Some(store) = SecretStore::of(shelf.repo.common_dir()) {
        store.restore(&entry.saved.commit, made.path())?;
    }
    fs::rename(made.path(), &target)?;
    // It is not there any more under its first name.
    let _ = made.keep();
    Ok(())
}
