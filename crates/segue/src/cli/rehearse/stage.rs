//! The folder of a rehearsal: a repository with a job in it. The user's own files are not touched.

use std::path::{Path, PathBuf};
use std::process::Command;

use segue_rehearsal::job::Job;
use segue_rehearsal::step_log::StepLog;

use tempfile::TempDir;

use crate::cli::failure::Failure;

/// A folder with a repository in it. It goes when this is dropped, unless it is to be kept.
#[derive(Debug)]
pub(super) struct Stage {
    base: TempDir,
    pub(super) repository: PathBuf,
}

impl Stage {
    /// Makes the folder and the job's files; [`commit`](Stage::commit) makes it a repository.
    pub(super) fn build(job: Job) -> Result<Self, Failure> {
        let base = folder()?;
        let repository = base.path().canonicalize()?.join("repository");
        std::fs::create_dir_all(repository.join(".segue"))?;
        let stage = Self { base, repository };
        for (name, contents) in job.files() {
            stage.write(&name, &contents)?;
        }
        stage.write("TASK.md", &job.task_text())?;
        Ok(stage)
    }

    /// Writes a file of the work tree.
    pub(super) fn write(&self, name: &str, contents: &str) -> Result<(), Failure> {
        let path = self.repository.join(name);
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir)?;
        }
        Ok(std::fs::write(path, contents)?)
    }

    /// Makes it a repository with one commit and somebody to make more.
    pub(super) fn commit(&self) -> Result<(), Failure> {
        self.git(&["init", "--quiet"])?;
        self.git(&["config", "user.name", "segue"])?;
        self.git(&["config", "user.email", "segue@localhost"])?;
        self.git(&["config", "commit.gpgsign", "false"])?;
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--no-verify", "-m", "the job"])
    }

    /// Where the steps write down what they did: in the work tree, where an agent's sandbox lets them, and ignored.
    pub(super) fn log(&self) -> PathBuf {
        self.repository.join(".segue").join("steps.log")
    }

    /// A file beside the repository.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.base.path().join(name)
    }

    /// What the steps wrote down.
    pub(super) fn steps(&self) -> StepLog {
        StepLog::parse(&std::fs::read_to_string(self.log()).unwrap_or_default())
    }

    /// Leaves everything where it is.
    pub(super) fn keep(&mut self) {
        self.base.disable_cleanup(true);
    }

    fn git(&self, args: &[&str]) -> Result<(), Failure> {
        let mut command = Command::new("git");
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        let run = command.args(args).current_dir(&self.repository).output();
        let output = run.map_err(|error| Failure::usage(format!("git could not be run: {error}")))?;
        if output.status.success() {
            return Ok(());
        }
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Failure::failed(format!("git {}: {why}", args.join(" "))))
    }
}

// Not the temporary folder where there is another: Gemini CLI reads no settings there.
fn folder() -> Result<TempDir, Failure> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache")));
    let place = cache.filter(|dir| dir.is_absolute()).map(|dir| dir.join("segue"));
    let mut new = tempfile::Builder::new();
    new.prefix("rehearsal-");
    let made = place.and_then(|dir| std::fs::create_dir_all(&dir).and_then(|()| new.tempdir_in(&dir)).ok());
    Ok(made.map_or_else(|| new.tempdir(), Ok)?)
}
