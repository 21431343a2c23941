//! What model calls added in the sessions of each repository, in the user's state folder: a forecast for the next
//! session of that repository begins with it.

use std::collections::BTreeMap;
use std::path::Path;

use segue_machine::Millis;
use segue_machine::forecast::Growth;
use serde::{Deserialize, Serialize};

use crate::git::Repo;
use crate::state::State;

const FILE: &str = "growth.json";

/// More repositories than anyone works in at a time; the one that was not worked in for longest goes first.
const MOST: usize = 200;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Learned {
    repositories: BTreeMap<String, Entry>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Entry {
    at: Millis,
    growth: Growth,
}

/// The name of the repository of a work tree: all its work trees have the same.
pub(crate) fn key(repo: Option<&Repo>, workdir: &Path) -> String {
    repo.map_or(workdir, Repo::common_dir).display().to_string()
}

/// What is known about a repository.
pub(crate) fn read(state: &State, key: &str) -> Option<Growth> {
    state.read::<Learned>(FILE).repositories.remove(key).map(|entry| entry.growth)
}

/// Adds a session.
///
/// # Errors
/// When the state folder cannot be written.
pub(crate) fn add(state: &State, key: &str, grown: &Growth, now: Millis) -> std::io::Result<()> {
    if grown.calls() == 0 {
        return Ok(());
    }
    state.update(FILE, |learned: &mut Learned| {
        let entry = learned.repositories.entry(key.to_owned()).or_default();
        entry.growth.merge(grown);
        entry.at = now;
        while learned.repositories.len() > MOST {
            let oldest = learned.repositories.iter().min_by_key(|(_, entry)| entry.at);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { break };
            learned.repositories.remove(&oldest);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(calls: u64) -> Growth {
        let mut growth = Growth::default();
        (0..calls).for_each(|n| growth.count(n * 10));
        growth
    }

    #[test]
    fn sessions_of_a_repository_add_up_and_others_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::at(dir.path());
        assert_eq!(read(&state, "/a/.git"), None);
        add(&state, "/a/.git", &session(150), 1).unwrap();
        add(&state, "/a/.git", &session(70), 2).unwrap();
        add(&state, "/b/.git", &session(0), 3).unwrap();
        assert_eq!(read(&state, "/a/.git").map(|growth| growth.calls()), Some(220));
        assert_eq!(read(&state, "/b/.git"), None);
    }

    #[test]
    fn the_repository_that_was_left_longest_ago_is_forgotten_first() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::at(dir.path());
        for n in 0..=MOST {
            add(&state, &format!("/{n}"), &session(1), n as u64).unwrap();
        }
        assert_eq!((read(&state, "/0"), read(&state, "/1").is_some()), (None, true));
    }
}
