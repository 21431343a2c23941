//! `segue clean`: lists everything that segue ever wrote, and removes it after a confirmation. Files of the user's stay.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::args::Clean;
use super::failure::Failure;
use super::open::Place;
use super::out;
use crate::git::Repo;
use crate::places;
use crate::process::lock::{Holder, Lock};
use crate::state::State;
use crate::store::Store;

/// Something that can be removed.
struct Found {
    what: &'static str,
    path: PathBuf,
    /// References below `refs/segue/` of the repository at `path`, instead of files.
    refs: Vec<String>,
    bytes: u64,
}

/// Lists what there is, asks, and removes it.
pub(super) fn clean(at: &Place, args: &Clean) -> Result<u8, Failure> {
    at.store().refuse_link()?;
    let own = at.store().root().to_owned();
    let others = if args.all { places::known() } else { Vec::new() };
    let mut roots = vec![own.clone()];
    roots.extend(others.into_iter().filter(|root| *root != own));
    let mut found = Vec::new();
    for root in &roots {
        refuse_active(root)?;
        found.extend(of_repository(root));
    }
    found.extend(demos());
    found.extend(cache());
    if args.all
        && let Some(state) = State::of_user().map(|state| state.path("")).filter(|path| path.is_dir())
    {
        found.push(Found::folder("your user state", state));
    }
    show(at, &found, args.dry_run);
    if found.is_empty() || args.dry_run {
        return Ok(0);
    }
    if !args.yes && !confirmed(at)? {
        out::line("nothing was removed");
        return Ok(0);
    }
    let mut failed = Vec::new();
    for one in &found {
        if let Err(why) = one.remove() {
            failed.push(format!("{}: {why}", one.path.display()));
        }
    }
    if failed.is_empty() { Ok(0) } else { Err(Failure::failed(failed.join("\n"))) }
}

impl Found {
    fn folder(what: &'static str, path: PathBuf) -> Self {
        let bytes = size(&path);
        Self { what, path, refs: Vec::new(), bytes }
    }

    fn remove(&self) -> Result<(), String> {
        if self.refs.is_empty() {
            return std::fs::remove_dir_all(&self.path).map_err(|error| error.to_string());
        }
        let repo = Repo::find(&self.path).map_err(|error| error.to_string())?;
        repo.remove_own_refs(&self.refs).map_err(|error| error.to_string())
    }
}

fn refuse_active(root: &Path) -> Result<(), Failure> {
    let store = Store::at(root);
    let dirs = [store.dir(), store.lock_dir(), store.plans()];
    let holder = dirs.iter().filter_map(|dir| Lock::holder(dir)).find(Holder::is_alive);
    holder.map_or(Ok(()), |holder| {
        let root = root.display();
        Err(Failure::usage(format!("run {} is active in {root}; `segue stop` stops it", holder.run)))
    })
}

fn of_repository(root: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    let state = Store::at(root).dir();
    if state.is_dir() {
        found.push(Found::folder("runs, checkpoints and outputs", state));
    }
    let refs = Repo::find(root).and_then(|repo| repo.own_refs()).unwrap_or_default();
    if !refs.is_empty() {
        found.push(Found { what: "snapshots (refs/segue)", path: root.to_owned(), refs, bytes: 0 });
    }
    found
}

// What demos and rehearsals leave in the folder for temporary files: by their names and what lies in them.
fn demos() -> Vec<Found> {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    let entries = std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| {
        let name = entry.file_name();
        let named =
            name.to_str().is_some_and(|n| n.starts_with("segue-demo-") || n.starts_with("rehearsal-"));
        let mine = entry.path().symlink_metadata().is_ok_and(|meta| meta.is_dir() && meta.uid() == own);
        named && mine && entry.path().join("repository").is_dir()
    });
    ours.map(|entry| Found::folder("demo or rehearsal", entry.path())).collect()
}

// Rehearsals that were kept.
fn cache() -> Option<Found> {
    let own = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let base = own.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    let path = base.join("segue");
    (base.is_absolute() && path.is_dir()).then(|| Found::folder("your cache", path))
}

fn show(at: &Place, found: &[Found], dry_run: bool) {
    if at.json {
        for one in found {
            let doc = serde_json::json!({
                "what": one.what, "path": one.path, "refs": one.refs.len(), "bytes": one.bytes, "removed": !dry_run,
            });
            out::line(&doc.to_string());
        }
        return;
    }
    if found.is_empty() {
        return out::line("nothing to remove");
    }
    let rows: Vec<[String; 3]> = found
        .iter()
        .map(|one| {
            let much =
                if one.refs.is_empty() { out::size(one.bytes) } else { format!("{} refs", one.refs.len()) };
            [one.what.to_owned(), much, one.path.display().to_string()]
        })
        .collect();
    let widths = out::widths(&rows);
    out::lines(rows.iter().map(|row| out::row(row, &widths)));
}

fn confirmed(at: &Place) -> Result<bool, Failure> {
    if at.json || !std::io::stdin().is_terminal() {
        return Err(Failure::usage(
            "`segue clean --yes` removes this without asking; --dry-run only lists it",
        ));
    }
    write!(std::io::stdout(), "Remove all of this? [no]: ")?;
    std::io::stdout().flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(["y", "yes"].contains(&line.trim().to_lowercase().as_str()))
}

fn size(path: &Path) -> u64 {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => size(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}
