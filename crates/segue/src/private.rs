//! What has to be sent or run again exactly as it was typed, although it holds a secret: in one file that only its owner
//! can read, for as long as the run can go on.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use segue_machine::{GateSpec, RunSpec};
use serde::{Deserialize, Serialize};

use crate::store::safely;

/// The parts of a run's request that the journal holds without their secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Private {
    /// The task as it was typed.
    task: Option<String>,
    /// The commands of gates, by name.
    #[serde(default)]
    gates: BTreeMap<String, String>,
}

impl Private {
    /// What differs between a request and its clean form.
    pub(crate) fn between(typed: &RunSpec, clean: &RunSpec) -> Self {
        let differs = |gate: &&GateSpec| clean.gates.iter().any(|c| c.name == gate.name && c.run != gate.run);
        Self {
            task: (typed.task.text != clean.task.text).then(|| typed.task.text.clone()),
            gates: typed.gates.iter().filter(differs).map(|g| (g.name.clone(), g.run.clone())).collect(),
        }
    }

    /// The task as it was typed; `kept` is what the journal has.
    pub(crate) fn task<'a>(&'a self, kept: &'a str) -> &'a str {
        self.task.as_deref().unwrap_or(kept)
    }

    /// Whether the task as it was typed is there.
    pub(crate) fn has_task(&self) -> bool {
        self.task.is_some()
    }

    /// A gate as it was typed.
    pub(crate) fn gate(&self, gate: &GateSpec) -> GateSpec {
        let run = self.gates.get(&gate.name).unwrap_or(&gate.run);
        GateSpec { run: run.clone(), ..gate.clone() }
    }

    /// Keeps it in the run's folder; nothing is written when there is nothing to keep.
    pub(crate) fn store(&self, run_dir: &Path) -> io::Result<()> {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        if *self == Self::default() {
            return Ok(());
        }
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(run_dir)?;
        let _ = std::fs::remove_file(path(run_dir));
        let mut file =
            std::fs::File::options().create_new(true).write(true).mode(0o600).open(path(run_dir))?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.sync_all()
    }

    /// What was kept; nothing when there is no such file.
    pub(crate) fn read(run_dir: &Path) -> Self {
        let bytes = safely::read(&path(run_dir)).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// What tells the file from any other; `None` when there is none.
    pub(crate) fn seal(run_dir: &Path) -> Option<String> {
        safely::seal(&path(run_dir))
    }

    /// The run cannot go on: nothing of it is needed any more.
    pub(crate) fn remove(run_dir: &Path) {
        let _ = std::fs::remove_file(path(run_dir));
    }
}

fn path(run_dir: &Path) -> PathBuf {
    run_dir.join("private.json")
}
