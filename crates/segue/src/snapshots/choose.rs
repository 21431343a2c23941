//! Which snapshot, run or plan is meant by what was typed.

use std::collections::BTreeSet;

use thiserror::Error;

use super::{Entry, Owners};
use crate::config::nearest;
use crate::git::ref_part;

/// How many names an error lists.
const NAMED: usize = 5;

/// A snapshot that cannot be told from what was typed.
#[derive(Debug, Error)]
pub(crate) enum NoSnapshot {
    /// There is none at all.
    #[error("there are no snapshots here yet; segue takes one at each checkpoint and at the end of a run")]
    Nothing,
    /// None has that name.
    #[error("there is no snapshot {typed:?}; {}; `segue snapshot list` lists all", near(.nearest.as_deref(), .known))]
    Unknown {
        /// As it was typed.
        typed: String,
        /// What may have been meant.
        nearest: Option<String>,
        /// The newest ones.
        known: Vec<String>,
    },
    /// Several have that beginning.
    #[error("{typed:?} is ambiguous: {}; type more of it", found.join(", "))]
    Several {
        /// As it was typed.
        typed: String,
        /// Those that begin so.
        found: Vec<String>,
    },
    /// No run and no plan has that id.
    #[error("there is no run and no plan {typed:?} here; {}", near(.nearest.as_deref(), .known))]
    NoOwner {
        /// As it was typed.
        typed: String,
        /// What may have been meant.
        nearest: Option<String>,
        /// The newest ones.
        known: Vec<String>,
    },
}

fn near(nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(name) => format!("did you mean {name}?"),
        None if known.is_empty() => "there are none yet".to_owned(),
        None => format!("the newest are {}", known.join(", ")),
    }
}

/// The snapshot that is meant: `last`, its name, its reference, or the beginning of its name or of its label.
pub(crate) fn choose<'a>(entries: &'a [Entry], typed: &str) -> Result<&'a Entry, NoSnapshot> {
    let newest = entries.iter().rfind(|entry| entry.saved.back == 0).ok_or(NoSnapshot::Nothing)?;
    if typed == "last" {
        return Ok(newest);
    }
    let wanted = typed.strip_prefix("refs/segue/").unwrap_or(typed);
    let whole = |entry: &&Entry| entry.name == wanted || spelt(entry) == wanted;
    if let Some(exact) = entries.iter().find(whole) {
        return Ok(exact);
    }
    // Without its run, and of those that have a newer one of their name only when one is asked for.
    let current = |entry: &&Entry| entry.saved.back == 0 || wanted.contains('~');
    let label =
        |entry: &Entry| entry.name.split_once('/').map(|(_, label)| label.to_owned()).unwrap_or_default();
    let ways: [&dyn Fn(&Entry) -> bool; 3] =
        [&|entry| label(entry) == wanted, &|entry| entry.name.starts_with(wanted), &|entry| {
            label(entry).starts_with(wanted) || entry.saved.label.starts_with(wanted)
        }];
    for way in ways.iter().filter(|_| !wanted.is_empty()) {
        let found: Vec<&Entry> = entries.iter().filter(current).filter(|entry| way(entry)).collect();
        match found.as_slice() {
            [] => {}
            [one] => return Ok(one),
            several => {
                let found = newest_of(several.iter().map(|entry| entry.name.as_str()));
                return Err(NoSnapshot::Several { typed: typed.to_owned(), found });
            }
        }
    }
    let names = || entries.iter().map(|entry| entry.name.as_str());
    let nearest = nearest(wanted, names()).map(str::to_owned);
    Err(NoSnapshot::Unknown { typed: typed.to_owned(), nearest, known: newest_of(names()) })
}

/// The runs that are meant by the id of a run or plan, or by its beginning; and that id.
pub(crate) fn choose_owner(
    entries: &[Entry],
    owners: &Owners,
    typed: &str,
) -> Result<(String, BTreeSet<String>), NoSnapshot> {
    let wanted = ref_part(typed);
    let with_work = entries.iter().map(|entry| entry.saved.run.as_str());
    let ids: BTreeSet<&str> = with_work.chain(owners.ids()).collect();
    let fits: Vec<&str> = ids.iter().copied().filter(|id| id.starts_with(&wanted)).collect();
    match fits.as_slice() {
        _ if ids.contains(wanted.as_str()) => Ok((typed.to_owned(), owners.group(&wanted))),
        [one] => Ok(((*one).to_owned(), owners.group(one))),
        [] => {
            let nearest = nearest(&wanted, ids.iter().copied()).map(str::to_owned);
            Err(NoSnapshot::NoOwner { typed: typed.to_owned(), nearest, known: newest_of(ids.into_iter()) })
        }
        several => {
            Err(NoSnapshot::Several { typed: typed.to_owned(), found: newest_of(several.iter().copied()) })
        }
    }
}

fn spelt(entry: &Entry) -> String {
    let back = if entry.saved.back == 0 { String::new() } else { format!("~{}", entry.saved.back) };
    format!("{}/{}{back}", entry.saved.run, entry.saved.label)
}

// Ids begin with the time, so that the newest come last in either order.
fn newest_of<'a>(names: impl DoubleEndedIterator<Item = &'a str>) -> Vec<String> {
    names.rev().take(NAMED).map(str::to_owned).collect()
}
