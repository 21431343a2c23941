//! What the user has allowed, by repository, and what each run and plan was started with.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde::{Deserialize, Serialize};

use super::Item;
use crate::state::State;

/// The file in the user's state folder.
const NAME: &str = "trust.json";
/// For how many runs and plans it is remembered what they were started with.
const MOST_GRANTS: usize = 1_000;

/// What is remembered of one repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Known {
    /// What is allowed.
    pub(crate) items: BTreeSet<String>,
    /// Commands that were allowed one by one.
    pub(crate) commands: BTreeSet<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct File {
    repositories: BTreeMap<String, Known>,
    // Ids begin with the time, so the oldest come first.
    started_with: BTreeMap<String, BTreeSet<String>>,
}

/// What holds here: what the user allowed in this repository, and what a run was started with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Allowed {
    pub(crate) known: Known,
    pub(crate) granted: BTreeSet<String>,
}

impl Allowed {
    /// What holds in a repository, for a run or plan that was started before.
    pub(crate) fn read(repository: &str, id: Option<&str>) -> Self {
        let file = State::of_user().map(|state| state.read::<File>(NAME)).unwrap_or_default();
        let granted = id.and_then(|id| file.started_with.get(id).cloned());
        Self {
            known: file.repositories.get(repository).cloned().unwrap_or_default(),
            granted: granted.unwrap_or_default(),
        }
    }

    /// What is not allowed yet, each once.
    pub(crate) fn missing(&self, items: &[Item]) -> Vec<Item> {
        let mut missing: Vec<Item> = Vec::new();
        for item in items {
            let known = match &item.own_yes {
                _ if self.granted.contains(&item.text) => true,
                Some((command, _)) => self.known.commands.contains(command),
                None => self.known.items.contains(&item.text),
            };
            if !known && missing.iter().all(|other| other.text != item.text) {
                missing.push(item.clone());
            }
        }
        missing
    }
}

/// Changes what is remembered of a repository.
pub(crate) fn change(repository: &str, change: impl FnOnce(&mut Known)) -> io::Result<()> {
    let state = State::of_user().ok_or_else(|| io::Error::other("set HOME or XDG_STATE_HOME"))?;
    state.update(NAME, |file: &mut File| {
        change(file.repositories.entry(repository.to_owned()).or_default());
        file.repositories.retain(|_, known| *known != Known::default());
    })
}

/// Remembers what a run or plan was started with, so that it can be resumed without being asked again.
pub(crate) fn grant(id: &str, texts: impl IntoIterator<Item = String>) -> io::Result<()> {
    let texts: BTreeSet<String> = texts.into_iter().collect();
    let Some(state) = State::of_user().filter(|_| !texts.is_empty()) else { return Ok(()) };
    state.update(NAME, |file: &mut File| {
        file.started_with.entry(id.to_owned()).or_default().extend(texts);
        while file.started_with.len() > MOST_GRANTS {
            file.started_with.pop_first();
        }
    })
}
