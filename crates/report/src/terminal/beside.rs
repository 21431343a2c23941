//! What a view knows of a run at work beside its events: read from the files of its run and from the work tree.

use std::fmt;

use segue_machine::{Millis, Phase, View};

/// What is known beside the events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beside {
    /// The rows of the terminal; 0 when unknown.
    pub rows: u16,
    /// The gate that runs.
    pub gate: Option<GateNow>,
    /// How much differs from the commit that the run began on.
    pub changes: Option<Changes>,
    /// What can be pressed, in words.
    pub keys: String,
}

/// A gate while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateNow {
    /// Its name.
    pub name: String,
    /// Its place in the order in which they run, from 1.
    pub n: usize,
    /// How many there are.
    pub of: usize,
    /// When it began.
    pub since: Millis,
    /// The last line that it wrote.
    pub last_line: String,
}

impl GateNow {
    /// Whether it still runs: what was written before its last result is of an earlier round.
    pub fn runs(&self, view: &View) -> bool {
        let gating = matches!(view.phase, Phase::GatesBefore | Phase::Gating);
        gating && view.gates_at.get(&self.name).is_none_or(|at| self.since > *at)
    }
}

/// The size of a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes {
    /// Files that git knows and that differ.
    pub files: u64,
    /// Lines added in them.
    pub added: u64,
    /// Lines removed from them.
    pub removed: u64,
    /// Files that git does not know yet.
    pub new: u64,
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, added, removed, new } = self;
        let s = if *files == 1 { "" } else { "s" };
        match (files, new) {
            (0, 0) => f.write_str("no changes"),
            (0, 1) => f.write_str("1 new file"),
            (0, new) => write!(f, "{new} new files"),
            (_, 0) => write!(f, "{files} file{s} +{added} −{removed}"),
            (_, new) => write!(f, "{files} file{s} +{added} −{removed}, {new} new"),
        }
    }
}
