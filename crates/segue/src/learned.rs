//! What model calls added in the sessions of each repository, and what their successors read again, in the user's state folder: a forecast for the next
//! session of that repository begins with it.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use segue_machine::forecast::Growth;
use segue_machine::{Millis, Reread};
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
    /// Tokens by agent, oldest first.
    #[serde(default)]
    rereads: BTreeMap<String, VecDeque<u64>>,
}

/// What is known about a repository.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Known {
    /// What a call adds.
    pub(crate) growth: Option<Growth>,
    /// Tokens that a successor reads again, by agent: the median of the last handoffs.
    pub(crate) rereads: BTreeMap<String, u64>,
}

/// Handoffs of an agent that are remembered.
const HANDOFFS: usize = 15;

/// The name of the repository of a work tree: all its work trees have the same.
pub(crate) fn key(repo: Option<&Repo>, workdir: &Path) -> String {
    repo.map_or(workdir, Repo::common_dir).display().to_string()
}

/// What is known about a repository.
pub(crate) fn read(state: &State, key: &str) -> Known {
    let Some(entry) = state.read::<Learned>(FILE).repositories.remove(key) else { return Known::default() };
    let median = |tokens: VecDeque<u64>| {
        let mut tokens = Vec::from(tokens);
        tokens.sort_unstable();
        tokens.get(tokens.len() / 2).copied()
    };
    let rereads = entry.rereads.into_iter().filter_map(|(agent, tokens)| Some((agent, median(tokens)?)));
    Known { rereads: rereads.collect(), growth: Some(entry.growth).filter(|growth| growth.calls() > 0) }
}

/// Adds a session.
///
/// # Errors
/// When the state folder cannot be written.
pub(crate) fn add(
    state: &State,
    key: &str,
    (grown, reread): (&Growth, Option<&Reread>),
    now: Millis,
) -> std::io::Result<()> {
    if grown.calls() == 0 {
        return Ok(());
    }
    state.update(FILE, |learned: &mut Learned| {
        let entry = learned.repositories.entry(key.to_owned()).or_default();
        entry.growth.merge(grown);
        entry.at = now;
        if let Some(reread) = reread {
            let tokens = entry.rereads.entry(reread.agent.clone()).or_default();
            tokens.push_back(reread.tokens);
            while tokens.len() > HANDOFFS {
                tokens.pop_front();
            }
        }
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
        assert_eq!(read(&state, "/a/.git"), Known::default());
        let reread = |tokens| Reread { session: 2, agent: "claude".to_owned(), tokens, files: Vec::new() };
        add(&state, "/a/.git", (&session(150), None), 1).unwrap();
        for tokens in [5_000, 90_000, 7_000] {
            add(&state, "/a/.git", (&session(20), Some(&reread(tokens))), 2).unwrap();
        }
        add(&state, "/b/.git", (&session(0), None), 3).unwrap();
        let known = read(&state, "/a/.git");
        assert_eq!(known.growth.map(|growth| growth.calls()), Some(210));
        assert_eq!(known.rereads, BTreeMap::from([("claude".to_owned(), 7_000)]));
        assert_eq!(read(&state, "/b/.git"), Known::default());
    }

    #[test]
    fn the_repository_that_was_left_longest_ago_is_forgotten_first() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::at(dir.path());
        for n in 0..=MOST {
            add(&state, &format!("/{n}"), (&session(1), None), n as u64).unwrap();
        }
        assert_eq!((read(&state, "/0").growth, read(&state, "/1").growth.is_some()), (None, true));
    }
}
