//! What a repository's files would run or widen, and what of it the user has allowed.
//!
//! [`project`] and [`plan`] list it as [`Item`]s: what is done, not the bytes that say it. [`allowed`] remembers what the
//! user said, in the user's own state folder. Whether to ask, and where, is the command line's.

pub(crate) mod allowed;
pub(crate) mod danger;
pub(crate) mod plan;
pub(crate) mod project;

#[cfg(test)]
mod trust_tests;

use std::path::Path;

pub(crate) use crate::plan::quoted;
use crate::process::{GATE_MARK, RUN_MARK, SESSION_MARK};

/// One thing that a file of the repository would run or widen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// What it is, in a form that only changes when what is done changes.
    pub(crate) text: String,
    /// Where it stands.
    pub(crate) place: String,
    /// A command that needs a yes of its own, and what it does.
    pub(crate) own_yes: Option<(String, &'static str)>,
}

impl Item {
    /// Something that is no command.
    pub(crate) fn new(text: impl Into<String>, place: impl Into<String>) -> Self {
        Self { text: text.into(), place: place.into(), own_yes: None }
    }

    /// A command that decides as a gate or check.
    pub(crate) fn command(run: &str, place: impl Into<String>) -> Self {
        let run = run.trim();
        let own_yes = danger::reason(run).map(|why| (run.to_owned(), why));
        Self { text: command_text(run), place: place.into(), own_yes }
    }

    /// As a line for people.
    pub(crate) fn line(&self) -> String {
        let place = if self.place.is_empty() { String::new() } else { format!("  ({})", self.place) };
        let own = self
            .own_yes
            .as_ref()
            .map_or_else(String::new, |(_, why)| format!("  [{why}: needs its own yes]"));
        segue_report::plain(&format!("{}{place}{own}", self.text))
    }
}

/// How a command is remembered.
pub(crate) fn command_text(run: &str) -> String {
    format!("command: {}", run.trim())
}

/// Whether this process was started by an agent or a gate of a run.
pub(crate) fn inside_a_run() -> bool {
    [RUN_MARK, SESSION_MARK, GATE_MARK, "SEGUE_TOKEN"].iter().any(|name| std::env::var_os(name).is_some())
}

/// The words of a command as a shell would take them.
fn words(list: &[String]) -> String {
    list.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A few letters that stand for exactly this text.
fn fingerprint(text: &[u8]) -> String {
    blake3::hash(text).to_hex()[..12].to_owned()
}

/// The name under which a repository is remembered.
pub(crate) fn key_of(dir: &Path, repo: Option<&crate::git::Repo>) -> String {
    let dir = repo.map_or(dir, crate::git::Repo::common_dir);
    dir.canonicalize().unwrap_or_else(|_| dir.to_owned()).display().to_string()
}
