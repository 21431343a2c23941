//! `segue snapshot prune`: removes what is kept no longer, or says what that would be.

use serde_json::json;

use super::super::checkpoint;
use super::{Failure, Place, Shelf, count, out};
use crate::clock;
use crate::config::{Flags, retention};
use crate::snapshots::{leftovers, prune_secrets, remove_leftover, to_remove};

/// Removes snapshots by the configured rules, and folders of worktrees that are empty.
pub(super) fn prune(at: &Place, dry_run: bool) -> Result<u8, Failure> {
    let shelf = Shelf::open(at)?;
    let checkpoints = checkpoint::Shelf::open(at)?.found;
    let keep = retention(&at.layers(&Flags::default())?);
    let gone = to_remove(&shelf.entries, &shelf.owners, &checkpoints, keep, clock::now());
    let folders = leftovers(&shelf.store, &shelf.owners);
    if !dry_run && !gone.is_empty() {
        shelf.repo.forget(gone.iter().map(|(entry, _)| &entry.saved))?;
        prune_secrets(&shelf.repo)?;
    }
    for (entry, why) in &gone {
        if at.json {
            let doc = json!({ "snapshot": shelf.clean(&entry.name), "why": why, "removed": !dry_run });
            out::line(&doc.to_string());
        } else {
            out::line(&format!("{}  {why}", shelf.plain(&entry.name)));
        }
    }
    for folder in &folders {
        if !dry_run {
            remove_leftover(folder)
                .map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
        }
        let shown = shelf.clean(&shelf.store.shown(folder));
        if at.json {
            out::line(&json!({ "folder": shown, "why": "empty", "removed": !dry_run }).to_string());
        } else {
            out::line(&format!("{}  an empty folder", segue_report::plain(&shown)));
        }
    }
    if !at.json {
        let word = if dry_run { "would be removed" } else { "removed" };
        let kept = shelf.entries.iter().filter(|entry| entry.saved.back == 0).count() - gone.len();
        out::line(&format!("{} {word}, {kept} kept", count(gone.len(), "snapshot")));
    }
    Ok(0)
}
