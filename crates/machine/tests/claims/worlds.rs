//! Messages in worlds of their own, one JSON object a line; written without sight of the reader of claims.

use segue_machine::claims::{Evidence, Finding, GateFact, Judged, claims, judge};
use serde::Deserialize;

/// One message and what is so.
#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) channel: String,
    world: World,
    pub(crate) message: String,
}

#[derive(Deserialize)]
struct World {
    files_before: Vec<String>,
    added: Vec<String>,
    modified: Vec<String>,
    deleted: Vec<String>,
    commits: Vec<Commit>,
    gates: Vec<Gate>,
}

#[derive(Deserialize)]
struct Commit {
    hash: String,
    subject: String,
}

#[derive(Deserialize)]
struct Gate {
    name: String,
    command: String,
    passed: bool,
}

impl Case {
    /// What of the message is contradicted.
    pub(crate) fn contradicted(&self) -> Vec<Judged> {
        let mut judged = judge(claims(&self.message), &self.world.evidence());
        judged.retain(|one| one.finding == Finding::Contradicted);
        judged
    }
}

impl World {
    fn evidence(&self) -> Evidence {
        let there = self.files_before.iter().chain(&self.added);
        let gate = |gate: &Gate| GateFact {
            name: gate.name.clone(),
            run: Some(gate.command.clone()),
            passed: gate.passed,
            exit: Some(i32::from(!gate.passed)),
            ..GateFact::default()
        };
        Evidence {
            git: true,
            whole: true,
            tree: there.filter(|path| !self.deleted.contains(path)).cloned().collect(),
            created: self.added.clone(),
            modified: self.modified.clone(),
            deleted: self.deleted.clone(),
            commits: self.commits.iter().map(|one| (one.hash.clone(), one.subject.clone())).collect(),
            gates: self.gates.iter().map(gate).collect(),
            ..Evidence::default()
        }
    }
}

/// The messages of a set.
pub(crate) fn cases(set: &str) -> Vec<Case> {
    set.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}
