//! What a change means for a gate: whether it decides what the gate runs. Pure: files come in as text, before and after.
//!
//! A changed *script* can be put back for a second run. A changed *manifest* cannot, since it also holds what the work needs:
//! only the part that decides is compared. Tests are the agent's to write, so fewer of them are told and stop nothing.

mod ini;
mod make;
mod manifest;
mod runs;
mod tests_left;

use runs::Runs;

/// A file that differs from the start of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// From the work tree.
    pub(crate) path: String,
    /// Its text at the start; `None` when it was not there.
    pub(crate) before: Option<String>,
    /// Its text now.
    pub(crate) after: Option<String>,
}

/// What a change means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// The gate runs or reads the file as a whole: it is run once more with the original.
    Script,
    /// The change decides what the gate runs, and cannot be put back alone.
    Decides,
    /// Worth knowing beside the verdict.
    Listed,
}

/// A change that matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) path: String,
    pub(crate) what: String,
    pub(crate) weight: Weight,
}

/// A gate, as far as the rules go.
pub(crate) struct Gate<'a> {
    /// Its command.
    pub(crate) run: &'a str,
    /// Whether a path is protected by the configuration.
    pub(crate) protects: &'a dyn Fn(&str) -> bool,
    /// The text of a file at the start of the run.
    pub(crate) before: &'a dyn Fn(&str) -> Option<String>,
    /// Folders of the work tree that programs are searched in.
    pub(crate) path_dirs: &'a [String],
}

/// What of these changes matters for a gate.
pub(crate) fn find(gate: &Gate<'_>, changes: &[Change]) -> Vec<Found> {
    let runs = Runs::of(gate.run, gate.path_dirs, gate.before);
    let mut found = Vec::new();
    for change in changes {
        let path = change.path.as_str();
        if (gate.protects)(path) || (runs.is_script(path) && !manifest::is_idle(change)) {
            found.push(script(change));
        } else if let Some(what) = manifest::decides(change, &runs) {
            found.push(Found { path: path.to_owned(), what, weight: Weight::Decides });
        }
    }
    found.extend(tests_left::fewer(changes));
    found
}

fn script(change: &Change) -> Found {
    let what = match (&change.before, &change.after) {
        (None, _) => "was added",
        (_, None) => "was deleted",
        _ => "was changed",
    };
    Found { path: change.path.clone(), what: what.to_owned(), weight: Weight::Script }
}

/// The last part of a path.
fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
#[path = "../rules_tests.rs"]
mod cases;
