//! How far a plan is: a list of small changes on disk that is the truth, and `state.json` as a view for people.
//!
//! One change is one line, a JSON merge patch, durable before anything follows from it. Half a line at the end is what a
//! dying process left behind and is dropped.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use segue_plans::Status;
use segue_plans::ids::same;
use segue_plans::split::Part;
use segue_report::Time;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use thiserror::Error;

use super::patch;
use crate::checkpoint::write_whole;
use crate::clock;

/// The flags of its phases' runs.
const FLAGS: &str = "flags.json";

/// A plan's state that cannot be used.
#[derive(Debug, Error)]
pub(crate) enum StateError {
    /// It cannot be read or written.
    #[error("{}: {source}: the plan was stopped, for what it does could not be remembered", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It says something that this version does not understand.
    #[error("{}: line {line} cannot be read ({why}); `segue run PLAN --restart` begins the plan again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// Why.
        why: String,
    },
}

/// Where a whole plan stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Standing {
    /// It is run, or its process died.
    #[default]
    Running,
    /// Every phase is completed.
    Completed,
    /// A phase failed.
    Failed,
    /// It was stopped, and can go on.
    Stopped,
    /// A person must decide something.
    NeedsPerson,
}

impl Standing {
    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::NeedsPerson => "needs_person",
        }
    }
}

/// How a plan is run, as it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Options {
    /// One more round over each phase whose gates are green.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) quality: bool,
    /// What is done about phases that are too large; by the policy when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) split: Option<Splitting>,
}

/// What is done about phases that are too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Splitting {
    /// Nothing.
    Off,
    /// A split is proposed, and a person decides.
    Propose,
    /// They are split.
    Auto,
}

/// What the runs of a phase used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Spent {
    pub(crate) sessions: u32,
    pub(crate) handoffs: u32,
    pub(crate) overflows: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) redacted: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens_in: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens_out: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost_musd: Option<u64>,
}

impl Spent {
    /// Both together.
    pub(crate) fn plus(self, other: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        Self {
            sessions: self.sessions.saturating_add(other.sessions),
            handoffs: self.handoffs.saturating_add(other.handoffs),
            overflows: self.overflows.saturating_add(other.overflows),
            redacted: self.redacted.saturating_add(other.redacted),
            tokens_in: sum(self.tokens_in, other.tokens_in),
            tokens_out: sum(self.tokens_out, other.tokens_out),
            cost_musd: sum(self.cost_musd, other.cost_musd),
        }
    }
}

/// How far one phase is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PhaseState {
    /// How far it is.
    pub(crate) status: Status,
    /// The run that works on it, or did last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<String>,
    /// That run is the round of remediation after green gates.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) quality: bool,
    /// How often a run was started for it.
    pub(crate) tries: u32,
    /// Only the agent says so: there was no gate.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) claimed: bool,
    /// Why it is as it is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) why: String,
    /// Where its report lies, from the work tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) report: Option<String>,
    /// The phase as it was when it was completed, as a digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<String>,
    /// The parts that it was split into.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<Part>,
    /// What it used.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) spent: Spent,
}

/// How far a plan is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct State {
    /// The version of this format.
    pub(crate) version: u32,
    /// The plan's own id.
    pub(crate) id: String,
    /// The file or folder, as it was typed.
    pub(crate) plan: String,
    /// Where it was typed.
    pub(crate) dir: String,
    /// What it is called.
    pub(crate) title: String,
    /// When it was begun.
    pub(crate) began: Option<Time>,
    /// Where it stands.
    pub(crate) status: Standing,
    /// How it is run.
    pub(crate) options: Options,
    /// Lines of `--json` that it has written.
    pub(crate) lines: u64,
    /// Its phases that were begun, by id.
    pub(crate) phases: BTreeMap<String, PhaseState>,
}

impl State {
    /// The version that is written.
    pub(crate) const VERSION: u32 = 1;

    /// The state of a phase, however its id is written.
    pub(crate) fn phase(&self, id: &str) -> Option<&PhaseState> {
        self.phases.iter().find(|(known, _)| same(known, id)).map(|(_, phase)| phase)
    }

    /// The same, to be changed; made when there is none.
    pub(crate) fn phase_mut(&mut self, id: &str) -> &mut PhaseState {
        let known = self.phases.keys().find(|known| same(known, id)).cloned();
        self.phases.entry(known.unwrap_or_else(|| id.to_owned())).or_default()
    }

    /// Every split there is.
    pub(crate) fn splits(&self) -> BTreeMap<String, Vec<Part>> {
        let split = self.phases.iter().filter(|(_, phase)| !phase.parts.is_empty());
        split.map(|(id, phase)| (id.clone(), phase.parts.clone())).collect()
    }

    /// The phase whose part this is.
    pub(crate) fn whole_of(&self, id: &str) -> Option<&str> {
        let has = |phase: &PhaseState| phase.parts.iter().any(|part| same(&part.id, id));
        self.phases.iter().find(|(_, phase)| has(phase)).map(|(id, _)| id.as_str())
    }

    /// Whether a run is one of this plan's.
    pub(crate) fn owns(&self, run: &str) -> bool {
        self.phases.values().any(|phase| phase.run.as_deref() == Some(run))
    }
}

/// A plan's state on disk. One process changes it.
#[derive(Debug)]
pub(crate) struct Kept {
    dir: PathBuf,
    value: Value,
    state: State,
    seq: u64,
}

impl Kept {
    /// A new one, in its own folder.
    pub(crate) fn begin(dir: &Path, state: State) -> Result<Self, StateError> {
        std::fs::create_dir_all(dir).map_err(|source| StateError::File { path: dir.to_owned(), source })?;
        let mut kept = Self { dir: dir.to_owned(), value: json!({}), state: State::default(), seq: 0 };
        kept.change(|now| *now = state)?;
        Ok(kept)
    }

    /// What a folder holds, to go on with.
    pub(crate) fn open(dir: &Path) -> Result<Self, StateError> {
        let (mut kept, whole) = Self::read(dir)?;
        let path = kept.changes();
        let shorten = || OpenOptions::new().write(true).open(&path)?.set_len(whole);
        shorten().map_err(|source| StateError::File { path: path.clone(), source })?;
        kept.show()?;
        Ok(kept)
    }

    /// What a folder holds, to be looked at.
    pub(crate) fn look(dir: &Path) -> Result<State, StateError> {
        Self::read(dir).map(|(kept, _)| kept.state)
    }

    fn read(dir: &Path) -> Result<(Self, u64), StateError> {
        let mut kept = Self { dir: dir.to_owned(), value: json!({}), state: State::default(), seq: 0 };
        let path = kept.changes();
        let bytes = std::fs::read(&path).map_err(|source| StateError::File { path: path.clone(), source })?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        for (at, line) in bytes[..whole].split_inclusive(|byte| *byte == b'\n').enumerate() {
            let bad = |why: String| StateError::Damaged { path: path.clone(), line: at + 1, why };
            let record: Value = serde_json::from_slice(line).map_err(|error| bad(error.to_string()))?;
            kept.seq = record["seq"].as_u64().ok_or_else(|| bad("it has no number".to_owned()))?;
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
        let line =
            json!({ "seq": self.seq + 1, "at": Time(clock::now()), "patch": patch }).to_string() + "\n";
        let append = || {
            let new = !path.exists();
            let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
            file.write_all(line.as_bytes())?;
            file.sync_data()?;
            if new { File::open(&self.dir)?.sync_all() } else { Ok(()) }
        };
        append().map_err(failed)?;
        (self.value, self.state, self.seq) = (value, state, self.seq + 1);
        let crash = std::env::var("SEGUE_CRASH_PLAN_AFTER").ok().and_then(|n| n.parse().ok());
        if crash == Some(self.seq) {
            crate::driver::die();
        }
        self.show()
    }

    /// The flags that its phases are run with: a gate among them may hold a secret, so only their owner can read them.
    pub(crate) fn flags(&self) -> Vec<String> {
        let bytes = std::fs::read(self.dir.join(FLAGS)).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Keeps the flags for as long as the plan can go on.
    pub(crate) fn keep_flags(&self, flags: &[String]) -> Result<(), StateError> {
        use std::os::unix::fs::OpenOptionsExt;
        let path = self.dir.join(FLAGS);
        let write = || {
            let mut file =
                OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&path)?;
            file.write_all(&serde_json::to_vec(flags)?)?;
            file.sync_all()
        };
        write().map_err(|source| StateError::File { path: path.clone(), source })
    }

    /// The plan is completed: nothing of them is needed any more.
    pub(crate) fn forget_flags(&self) {
        let _ = std::fs::remove_file(self.dir.join(FLAGS));
    }

    fn changes(&self) -> PathBuf {
        self.dir.join("changes.jsonl")
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
        entries.map(|entry| entry.path()).filter(|path| path.join("changes.jsonl").exists()).collect();
    found.sort();
    found.reverse();
    found
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
