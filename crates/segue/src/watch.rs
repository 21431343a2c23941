//! What can be seen of a run at work beside its events: the gate that runs, by the output it writes, and how much of the
//! work tree differs. A thread looks, so that nobody waits for git or for the disk.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use segue_machine::{Millis, RunSpec};
use segue_report::{Beside, Changes, GateNow};

use crate::gates;
use crate::git::Repo;
use crate::store::safely;

/// How often the gates' outputs are looked at.
const LOOK: Duration = Duration::from_millis(500);

/// How often git is asked at most, and for how many times as long as it took it is left alone.
const ASK: Duration = Duration::from_secs(3);
const REST: u32 = 50;

/// How much of the end of an output is read for its last line.
const TAIL: u64 = 2_000;

/// A run that is watched.
#[derive(Debug)]
pub(crate) struct Watch(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    gate: Option<GateNow>,
    changes: Option<Changes>,
}

impl Watch {
    /// Watches a run until this is dropped.
    pub(crate) fn new(spec: &RunSpec, run_dir: PathBuf) -> Self {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let weak = Arc::downgrade(&seen);
        let names: Vec<String> =
            spec.gates.iter().filter(|gate| !gate.manual).map(|gate| gate.name.clone()).collect();
        let base = spec.git.base.clone().filter(|_| spec.git.enabled);
        let workdir = PathBuf::from(&spec.workdir);
        let look = move || {
            let repo = base.as_ref().and_then(|_| Repo::find(&workdir).ok());
            let mut ask_after = Instant::now();
            while let Some(seen) = weak.upgrade() {
                let gate = gate_now(&run_dir, &names);
                lock(&seen).gate = gate;
                if let (Some(repo), Some(base)) = (&repo, &base)
                    && Instant::now() >= ask_after
                {
                    let began = Instant::now();
                    if let Ok(changes) = repo.changes_since(base) {
                        lock(&seen).changes = Some(changes);
                    }
                    ask_after = Instant::now() + ASK.max(began.elapsed() * REST);
                }
                drop(seen);
                std::thread::sleep(LOOK);
            }
        };
        // Without the thread there is less to see.
        let _ = std::thread::Builder::new().name("segue-watch".to_owned()).spawn(look);
        Self(seen)
    }

    /// What was seen last.
    pub(crate) fn beside(&self, rows: u16, keys: &str) -> Beside {
        let seen = lock(&self.0);
        Beside { rows, gate: seen.gate.clone(), changes: seen.changes, keys: keys.to_owned() }
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The gate whose output was begun last.
pub(crate) fn gate_now(run_dir: &Path, names: &[String]) -> Option<GateNow> {
    let files = std::fs::read_dir(run_dir).ok()?.filter_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let at = names.iter().position(|gate| gates::is_output_of(&name, gate))?;
        let meta = entry.metadata().ok()?;
        let began = meta.created().or_else(|_| meta.modified()).ok()?;
        Some((began, at, entry.path()))
    });
    let (began, at, path) = files.max_by_key(|(began, ..)| *began)?;
    Some(GateNow {
        name: names[at].clone(),
        n: at + 1,
        of: names.len(),
        since: millis(began),
        last_line: last_line(&path).unwrap_or_default(),
    })
}

fn millis(time: SystemTime) -> Millis {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or_default()
}

fn last_line(path: &Path) -> Option<String> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = safely::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_that_runs_is_the_one_whose_output_was_begun_last_and_its_last_line_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let names = ["unit tests".to_owned(), "lint".to_owned()];
        assert_eq!(gate_now(dir.path(), &names), None);
        std::fs::write(dir.path().join("gate-unit_tests-1.out"), "a\nok\n").unwrap();
        std::thread::sleep(Duration::from_millis(20));
        std::fs::write(dir.path().join("gate-lint-1.2.out"), "one\nchecking x.rs\n\n").unwrap();
        std::fs::write(dir.path().join("s1.out"), "no gate").unwrap();
        let now = gate_now(dir.path(), &names).unwrap();
        assert_eq!((now.name.as_str(), now.n, now.of), ("lint", 2, 2));
        assert_eq!(now.last_line, "checking x.rs");
    }
}
