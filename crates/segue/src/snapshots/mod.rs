//! The snapshots of a work tree as people know them: whose they are, what they are called, and which are kept no longer.
//!
//! `git` knows the commits; here they get the runs, plans and phases that they were taken for. Nothing here prints.

mod choose;
mod leftover;
mod owners;
pub(crate) mod prune;

use std::cmp::Reverse;
use std::collections::BTreeSet;

use segue_machine::Millis;

pub(crate) use choose::{NoSnapshot, choose, choose_owner};
pub(crate) use leftover::{disk_use, leftovers, remove_leftover};
pub(crate) use owners::Owners;
pub(crate) use prune::{prune_secrets, to_remove};

use crate::git::Saved;

/// A snapshot with its name and its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// What git knows of it.
    pub(crate) saved: Saved,
    /// What a person types: `RUN/LABEL`, with `~N` behind it when N of the same name are newer.
    pub(crate) name: String,
    /// The plan that it belongs to.
    pub(crate) plan: Option<String>,
    /// The phase of that plan.
    pub(crate) phase: Option<String>,
}

/// The snapshots with their names and owners, in the order in which they were taken.
pub(crate) fn entries(saved: Vec<Saved>, owners: &Owners) -> Vec<Entry> {
    let known: BTreeSet<(String, String)> =
        saved.iter().map(|one| (one.run.clone(), one.label.clone())).collect();
    let mut list: Vec<Entry> = Vec::with_capacity(saved.len());
    for one in saved {
        // The label of a checkpoint begins with its run, which need not be typed twice.
        let short = one.label.strip_prefix(&one.run).and_then(|rest| rest.strip_prefix('-'));
        let short = short.filter(|short| !known.contains(&(one.run.clone(), (*short).to_owned())));
        let back = if one.back == 0 { String::new() } else { format!("~{}", one.back) };
        let name = format!("{}/{}{back}", one.run, short.unwrap_or(&one.label));
        let (plan, phase) = owners.of(&one);
        list.push(Entry { name, plan, phase, saved: one });
    }
    list.sort_by(|a, b| a.order().cmp(&b.order()));
    list
}

impl Entry {
    // Commits know the second; within it the numbers of labels, which are those of events, tell what came first.
    fn order(&self) -> (Millis, &str, u64, Reverse<u32>, &str) {
        let Saved { at, run, label, back, .. } = &self.saved;
        let number = label.rsplit(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default();
        (*at, run, number.parse().unwrap_or(u64::MAX), Reverse(*back), label)
    }
}

#[cfg(test)]
#[path = "snapshots_tests.rs"]
mod tests;
