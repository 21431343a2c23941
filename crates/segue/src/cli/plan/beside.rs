//! What must hold before phases run side by side: a repository with a commit, and nothing that only its work tree has.

use std::path::PathBuf;

use segue_machine::CommitMode;
use segue_plans::Plan;

use super::{Failure, Place};
use crate::cli::open;
use crate::config::Settings;
use crate::git::Repo;
use crate::store::Store;

/// The repository to work in. What is not committed would be in none of the work trees.
pub(super) fn repo(
    at: &Place,
    settings: &Settings,
    plan: &Plan,
    allow_dirty: bool,
) -> Result<Option<Repo>, Failure> {
    if !settings.git.enabled {
        return Err(Failure::usage("--parallel needs git: every phase gets its own work tree"));
    }
    let repo = Repo::find(&at.dir)?.leaving_out(open::own_paths(settings));
    if settings.git.commit == CommitMode::Never {
        return Err(Failure::usage(
            "--parallel merges the phases as commits, and the configuration says git.commit = \"never\": set it to \
             \"snapshot\" or \"branch\", or leave --parallel out",
        ));
    }
    if let Some(found) = repo.cannot_merge()? {
        return Err(Failure::usage(format!("--parallel needs git 2.38 or later; this is {found}")));
    }
    if repo.head().is_none() {
        return Err(Failure::usage("--parallel needs at least one commit: `git commit`"));
    }
    // The plan is read where it lies and given to the agents; whether git knows it does not matter.
    let own: Vec<String> = plan.files.iter().map(|file| from_top(at, &repo, &file.name)).collect();
    let others = Repo::find(&at.dir)?.leaving_out(open::own_paths(settings).into_iter().chain(own));
    if others.is_dirty()? && !allow_dirty {
        return Err(Failure::usage(
            "there are uncommitted changes, and parallel phases start from the last commit: commit or stash them (`git status`), or use --allow-dirty to leave them out of the phases",
        ));
    }
    Ok(Some(repo))
}

/// The store with its work trees where `parallel.dir` says. Agents guard git's own folder, and some read no hooks below the
/// temporary one.
pub(super) fn place_trees(store: Store, named: Option<&str>) -> Result<Store, Failure> {
    let home = || std::env::var_os("HOME").map(PathBuf::from);
    let dir = named.map(|named| match named.strip_prefix("~/") {
        Some(below) => home().unwrap_or_default().join(below),
        None => PathBuf::from(named),
    });
    let refused = |why: &str| {
        let named = named.unwrap_or_default();
        Err(Failure::usage(format!(
            "parallel.dir = {named:?} {why}; name a folder of yours, such as ~/worktrees"
        )))
    };
    match &dir {
        Some(dir) if !dir.is_absolute() => return refused("is not an absolute path"),
        Some(dir) if dir.components().any(|part| part.as_os_str() == ".git") => {
            return refused("is inside git's own folder, which agents protect");
        }
        Some(dir) if dir.starts_with(std::env::temp_dir()) => {
            return refused("is in the temporary folder, where some agents load no hooks");
        }
        Some(dir) if dir.starts_with(store.workdir()) => return refused("is in the work tree"),
        _ => {}
    }
    Ok(store.place_trees(dir.as_deref())?)
}

fn from_top(at: &Place, repo: &Repo, name: &str) -> String {
    let path = at.dir.join(name);
    let path = path.canonicalize().unwrap_or(path);
    path.strip_prefix(repo.root()).unwrap_or(&path).display().to_string()
}
