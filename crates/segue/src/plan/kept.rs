//! A plan's state on disk: a list of small changes that is the truth, and `state.json` as a view for people.
//!
//! One change is one line, a JSON merge patch, durable before anything follows from it. Half a line at the end is what a
//! dying process left behind and is dropped.

use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use segue_report::Time;
use serde_json::{Value, json};
use thiserror::Error;

use super::chain::Chain;
use super::patch;
use super::state::{Standing, State};
use crate::anchor::Trust;
use crate::checkpoint::write_whole;
use crate::clock;
use crate::crash;
use crate::store::safely;

/// The changes, one a line.
const CHANGES: &str = "changes.jsonl";

/// The flags of its phases' runs.
const FLAGS: &str = "flags.json";

/// A plan's state that cannot be used.
#[derive(Debug, Error)]
pub(crate) enum StateError {
    /// It cannot be read or written.
    #[error("{}: {source}: the plan was stopped because its state could not be stored", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It says something that this version does not understand.
    #[error("{}: line {line} cannot be read ({why}); `segue run PLAN --restart` starts the plan over", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// Why.
        why: String,
    },
    /// Somebody else changed it.
    #[error(
        "plan {plan} was changed outside segue: {why}. Look at it with `segue plan status {plan}`; `segue resume {plan} \
             --accept-journal` continues anyway, `segue run PLAN --restart` starts it over"
    )]
    Changed {
        /// The plan.
        plan: String,
        /// What.
        why: String,
    },
}

/// A plan's state on disk. One process changes it.
#[derive(Debug)]
pub(crate) struct Kept {
    dir: PathBuf,
    value: Value,
    state: State,
    seq: u64,
    chain: Chain,
}

impl Kept {
    /// A new one, in its own folder.
    pub(crate) fn begin(dir: &Path, state: State) -> Result<Self, StateError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
        made.map_err(|source| StateError::File { path: dir.to_owned(), source })?;
        let mut kept = Self::none(dir);
        kept.change(|now| *now = state)?;
        Ok(kept)
    }

    /// What a folder holds, to go on with; refused when somebody else changed it.
    pub(crate) fn open(dir: &Path) -> Result<Self, StateError> {
        Self::open_as(dir, false)
    }

    /// The same; `accepted` takes it as it is, whoever changed it.
    pub(crate) fn open_as(dir: &Path, accepted: bool) -> Result<Self, StateError> {
        let (mut kept, whole) = Self::read(dir)?;
        let plan = kept.state.id.clone();
        let warn = |why: &str| {
            let _ = writeln!(io::stderr().lock(), "segue: warning: plan {plan}: {why}");
        };
        match kept.chain.trust(kept.seal().as_deref(), kept.state.status == Standing::Completed) {
            Trust::Whole => {}
            Trust::Unknown(why) if accepted => warn(&format!("{why}; accepted")),
            Trust::Unknown(why) => warn(&format!("{why}; `--accept-journal` continues anyway")),
            Trust::Broken(why) if accepted => warn(&format!("{why}; accepted as it is")),
            Trust::Broken(why) => return Err(StateError::Changed { plan, why }),
        }
        kept.chain.anchor(kept.seal());
        let path = kept.changes();
        let shorten = || safely::append(&path)?.set_len(whole);
        shorten().map_err(|source| StateError::File { path: path.clone(), source })?;
        kept.show()?;
        Ok(kept)
    }

    /// What a folder holds, to be looked at.
    pub(crate) fn look(dir: &Path) -> Result<State, StateError> {
        Self::read(dir).map(|(kept, _)| kept.state)
    }

    fn none(dir: &Path) -> Self {
        let (value, state, chain) = (json!({}), State::default(), Chain::of(dir));
        Self { dir: dir.to_owned(), value, state, seq: 0, chain }
    }

    fn read(dir: &Path) -> Result<(Self, u64), StateError> {
        let mut kept = Self::none(dir);
        let path = kept.changes();
        let bytes = safely::read(&path).map_err(|source| StateError::File { path: path.clone(), source })?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        for (at, line) in bytes[..whole].split_inclusive(|byte| *byte == b'\n').enumerate() {
            let bad = |why: String| StateError::Damaged { path: path.clone(), line: at + 1, why };
            let record: Value = serde_json::from_slice(line).map_err(|error| bad(error.to_string()))?;
            kept.seq = record["seq"].as_u64().ok_or_else(|| bad("it has no number".to_owned()))?;
            kept.chain.read(line, &record);
            patch::apply(&mut kept.value, &record["patch"]);
        }
        let bad = |why: serde_json::Error| StateError::Damaged {
            path: path.clone(),
            line: 0,
            why: why.to_string(),
        };
        kept.state = serde_json::from_value(kept.value.clone()).map_err(bad)?;
        Ok((kept, whole as u64))
    }

    /// How far the plan is.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// The folder of one of its phases.
    pub(crate) fn phase_dir(&self, id: &str) -> PathBuf {
        phase_dir(&self.dir, id)
    }

    /// Changes it, durably.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut State)) -> Result<(), StateError> {
        let mut state = self.state.clone();
        change(&mut state);
        let path = self.changes();
        let failed = |source: io::Error| StateError::File { path: path.clone(), source };
        let value = serde_json::to_value(&state).map_err(|error| failed(error.into()))?;
        let Some(patch) = patch::between(&self.value, &value) else { return Ok(()) };
        let seq = self.seq + 1;
        let line = self.chain.line(seq, json!({ "seq": seq, "at": Time(clock::now()), "patch": patch }));
        let append = || {
            let new = !path.exists();
            let mut file = safely::append(&path)?;
            file.write_all(&line)?;
            file.sync_data()?;
            if new { File::open(&self.dir)?.sync_all() } else { Ok(()) }
        };
        append().map_err(failed)?;
        (self.value, self.state, self.seq) = (value, state, seq);
        self.chain.anchor(self.seal());
        let crash = crash::hook("SEGUE_CRASH_PLAN_AFTER").and_then(|n| n.parse().ok());
        if crash == Some(self.seq) {
            crash::die();
        }
        self.show()
    }

    /// The flags that its phases are run with: a gate among them may hold a secret, so only their owner can read them.
    pub(crate) fn flags(&self) -> Vec<String> {
        let bytes = safely::read(&self.dir.join(FLAGS)).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Keeps the flags for as long as the plan can go on.
    pub(crate) fn keep_flags(&mut self, flags: &[String]) -> Result<(), StateError> {
        let path = self.dir.join(FLAGS);
        let text = serde_json::to_vec(flags).map_err(io::Error::from);
        let written = text.and_then(|text| write_whole(&path, &text));
        written.map_err(|source| StateError::File { path: path.clone(), source })?;
        self.chain.anchor(self.seal());
        Ok(())
    }

    /// The plan is completed: nothing of them is needed any more.
    pub(crate) fn forget_flags(&self) {
        let _ = std::fs::remove_file(self.dir.join(FLAGS));
    }

    fn seal(&self) -> Option<String> {
        safely::seal(&self.dir.join(FLAGS))
    }

    fn changes(&self) -> PathBuf {
        self.dir.join(CHANGES)
    }

    fn show(&mut self) -> Result<(), StateError> {
        let path = self.dir.join("state.json");
        let text = serde_json::to_vec_pretty(&self.state).map_err(io::Error::from);
        text.and_then(|text| write_whole(&path, &text)).map_err(|source| StateError::File { path, source })
    }
}

/// The folder of a phase below the folder of its plan.
pub(crate) fn phase_dir(dir: &Path, id: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' || c == '-' { c } else { '_' };
    let name: String = id.chars().take(60).map(plain).collect();
    dir.join("phases").join(if name.trim_matches('.').is_empty() { "_".to_owned() } else { name })
}

/// The plans of a work tree, the latest first.
pub(crate) fn all(plans: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(plans).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.join(CHANGES).exists()).collect();
    found.sort();
    found.reverse();
    found
}

/// Every run that ever worked on a phase of the plan in a folder, with the phase, in the order of their beginning.
pub(crate) fn runs(dir: &Path) -> Vec<(String, String)> {
    let text = safely::read_text(&dir.join(CHANGES)).unwrap_or_default();
    let patches = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut found = Vec::new();
    for record in patches {
        for (phase, change) in record["patch"]["phases"].as_object().into_iter().flatten() {
            found.extend(change["run"].as_str().map(|run| (phase.clone(), run.to_owned())));
        }
    }
    found
}

#[cfg(test)]
#[path = "kept_tests.rs"]
mod tests;
