//! Which snapshots are kept no longer, by the same rules as checkpoints, and their removal.
//!
//! Only those of runs and plans that are done; what belongs to a stored checkpoint goes with the checkpoint.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use segue_journal::Journal;
use segue_machine::Millis;

use super::{Entry, Owners, entries, leftovers, remove_leftover};
use crate::checkpoint::{self, Found, no_longer_kept};
use crate::clock;
use crate::config::Retention;
use crate::git::{GitError, Repo, snapshot_ref};
use crate::secret_store::SecretStore;
use crate::store::Store;

/// The snapshots to be removed, each with the reason. Earlier ones of the same name go with them.
pub(crate) fn to_remove<'a>(
    entries: &'a [Entry],
    owners: &Owners,
    checkpoints: &[Found],
    keep: Retention,
    now: Millis,
) -> Vec<(&'a Entry, String)> {
    let theirs: BTreeSet<String> = checkpoints.iter().map(|one| snapshot_ref(&one.run, &one.id)).collect();
    let mut runs: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for one in entries.iter().filter(|one| one.saved.back == 0 && !theirs.contains(&one.saved.reference())) {
        runs.entry(&one.saved.run).or_default().push(one);
    }
    let mut gone = Vec::new();
    for (_, list) in runs.into_iter().filter(|(run, _)| owners.is_done(run)) {
        for (place, one) in list.iter().enumerate() {
            let (age, newer) = (now.saturating_sub(one.saved.at), list.len() - place - 1);
            gone.extend(no_longer_kept(keep, true, age, newer).map(|why| (*one, why)));
        }
    }
    gone
}

/// Removes the secret files that belong to no snapshot any more, and what is kept of the branches of such runs.
pub(crate) fn prune_secrets(repo: &Repo) -> Result<(), GitError> {
    let saved = repo.saved()?;
    repo.forget_branches(|run| saved.iter().any(|one| one.run == run))?;
    let commits: Vec<String> = saved.into_iter().map(|saved| saved.commit).collect();
    let Some(store) = SecretStore::of(repo.common_dir()) else { return Ok(()) };
    let call = "the secret files".to_owned();
    store.prune(&commits).map_err(|error| GitError::Io { call, why: error.to_string() })
}

/// Removes what is kept no longer, and empty folders of worktrees; what cannot be removed stays.
pub(crate) fn prune_work_quietly(store: &Store, checkpoints: &Path, keep: Retention) {
    // Without the journal and the list of checkpoints nobody knows what may go.
    let rows = Journal::read(&store.runs()).runs();
    let (Ok(rows), Ok(checkpoints)) = (rows, checkpoint::list(checkpoints)) else { return };
    let owners = Owners::look(store, rows);
    for folder in leftovers(store, &owners) {
        let _ = remove_leftover(&folder);
    }
    let Ok(repo) = Repo::find(store.workdir()) else { return };
    let list = entries(repo.saved().unwrap_or_default(), &owners);
    let gone = to_remove(&list, &owners, &checkpoints, keep, clock::now());
    if !gone.is_empty() {
        let _ = repo.forget(gone.iter().map(|(one, _)| &one.saved)).and_then(|()| prune_secrets(&repo));
    }
}
