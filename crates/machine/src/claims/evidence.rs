//! What is known about the work without asking the agent. It is gathered elsewhere and only held here.

use serde::{Deserialize, Serialize};

/// What is known about the work. Paths are relative to the work tree, with `/`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// Files that are new since the run began, committed or not.
    pub created: Vec<String>,
    /// Files that are different since the run began, committed or not.
    pub modified: Vec<String>,
    /// Files that are gone since the run began, committed or not.
    pub deleted: Vec<String>,
    /// Every file that is there and not ignored, changed or not (`git ls-files --cached --others --exclude-standard`).
    pub tree: Vec<String>,
    /// Paths or folders that git ignores, as far as they were asked for (see [`paths`](Self::paths)).
    pub ignored: Vec<String>,
    /// Where the work tree is, so that absolute paths can be understood.
    pub root: Option<String>,
    /// Whether everything since the run began was done by the agent whose words these are.
    pub whole: bool,
    /// Hash and subject of each commit since the run began.
    pub commits: Vec<(String, String)>,
    /// The last result of each gate.
    pub gates: Vec<GateFact>,
    /// Whether there is a repository to ask. Without one nothing can be said about files and commits.
    pub git: bool,
}

/// The last result of a gate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GateFact {
    /// Its name.
    pub name: String,
    /// What it runs.
    pub run: Option<String>,
    /// Whether it passed.
    pub passed: bool,
    /// Its exit code.
    pub exit: Option<i32>,
    /// Whether files changed since it ran.
    pub stale: bool,
}

impl Evidence {
    /// The paths that claims speak of, each once: what to ask git's ignore rules about.
    pub fn paths(claims: &[super::Claim]) -> Vec<String> {
        let mut paths: Vec<String> = claims.iter().filter_map(path_of).map(str::to_owned).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }
}

fn path_of(claim: &super::Claim) -> Option<&str> {
    if let super::ClaimKind::File { path, .. } = &claim.kind { Some(path) } else { None }
}
