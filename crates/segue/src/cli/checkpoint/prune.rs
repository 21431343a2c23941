//! `segue checkpoint prune`: removes what is kept no longer, or says what that would be.

use super::{Failure, Place, Shelf, out};
use crate::checkpoint::{Doomed, doomed, remove};
use crate::clock;
use crate::config::{Flags, Retention, retention};

/// Removes checkpoints by the configured rules, or by those that were typed.
pub(super) fn prune(at: &Place, dry_run: bool, days: Option<u32>, count: Option<u32>) -> Result<u8, Failure> {
    let shelf = Shelf::open(at)?;
    let configured = retention(&at.layers(&Flags::default())?);
    let keep = if days.is_some() || count.is_some() {
        Retention { days, count, until_done: false }
    } else {
        configured
    };
    let doomed = doomed(&shelf.found, &at.runs()?, keep, clock::now());
    let repo = shelf.repo();
    for one in &doomed {
        if !dry_run {
            remove(&one.found, repo.as_ref())
                .map_err(|error| Failure::failed(format!("checkpoint {}: {error}", one.found.id)))?;
        }
        tell(at, one, dry_run);
    }
    if !at.json {
        let word = if dry_run { "would be removed" } else { "removed" };
        out::line(&format!("{} {word}, {} kept", doomed.len(), shelf.found.len() - doomed.len()));
    }
    Ok(0)
}

fn tell(at: &Place, one: &Doomed, dry_run: bool) {
    if at.json {
        let doc = serde_json::json!({ "checkpoint": one.found.id, "why": one.why, "removed": !dry_run });
        out::line(&doc.to_string());
    } else {
        out::line(&format!("{}  {}", one.found.id, one.why));
    }
}
