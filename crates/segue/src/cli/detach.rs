//! `--detach`: the same command in a session of its own, so that closing the terminal does not end it.
//!
//! What asks or refuses has been done before; this process leaves once the other one's run is in the store.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use segue_journal::Journal;

use super::failure::Failure;
use super::open::Place;
use super::out;
use crate::process::lock::{Holder, Lock};
use crate::store::Store;

/// The flag that asks for it, and the one that says that it is done.
const ASKED: &str = "--detach";
const DONE: &str = "--detached";

/// What a run in the background writes beside its journal.
pub(super) const OUTPUT: &str = "background.log";

const LOOK: Duration = Duration::from_millis(20);

/// Leaves the terminal for good; for the process that was started here.
pub(super) fn leave_terminal() {
    // It fails for the first process of a session, which has left already.
    let _ = rustix::process::setsid();
}

/// Starts this command again in the background, waits until its run has begun, and says how to follow it.
pub(super) fn start(at: &Place, input: &[u8]) -> Result<u8, Failure> {
    let store = at.store().create()?;
    let mut log = tempfile::Builder::new().prefix("background-").suffix(".log").tempfile_in(store.dir())?;
    let mut child = spawn(at, log.as_file(), !input.is_empty())?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input)?;
    }
    loop {
        if let Some(run) = begun(&store, child.id()) {
            let place = run_place(&store, &run);
            show(at, log.as_file_mut())?;
            let path = place.join(OUTPUT);
            log.persist(&path).map_err(|error| error.error)?;
            say(at, &run, child.id(), &store.shown(&path));
            return Ok(0);
        }
        if let Some(status) = child.try_wait()? {
            show(at, log.as_file_mut())?;
            return Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1));
        }
        std::thread::sleep(LOOK);
    }
}

fn spawn(at: &Place, log: &File, has_input: bool) -> Result<Child, Failure> {
    let mut words: Vec<OsString> = std::env::args_os().skip(1).collect();
    // Behind `--` it would be the task.
    if let Some(asked) = words.iter().take_while(|word| *word != "--").position(|word| word == ASKED) {
        words[asked] = DONE.into();
    }
    let mut command = Command::new(std::env::current_exe()?);
    command.args(words);
    if std::env::current_dir().is_err() {
        command.current_dir(&at.dir);
    }
    let input = if has_input { Stdio::piped() } else { Stdio::null() };
    Ok(command.stdin(input).stdout(log.try_clone()?).stderr(log.try_clone()?).spawn()?)
}

// The run or plan of that process, once it can be looked at.
fn begun(store: &Store, pid: u32) -> Option<String> {
    let held =
        |dir: &Path| Lock::holder(dir).filter(|holder: &Holder| holder.is_alive() && holder.pid == pid);
    if let Some(plan) = held(&store.plans()) {
        return Some(plan.run).filter(|plan| store.plans().join(plan).exists());
    }
    let run = held(&store.lock_dir())?.run;
    let reader = Journal::read(&store.runs());
    reader.last_seq(&run).ok().filter(|last| *last > 0).map(|_| run)
}

fn run_place(store: &Store, run: &str) -> PathBuf {
    let plan = store.plans().join(run);
    if plan.exists() { plan } else { store.run_dir(run) }
}

// What was said so far: what the agent may do, and warnings; or why it did not begin.
fn show(at: &Place, log: &mut File) -> Result<(), Failure> {
    let mut text = String::new();
    log.rewind()?;
    log.read_to_string(&mut text)?;
    let mut err = std::io::stderr().lock();
    for line in text.lines().filter(|line| at.json || line.starts_with("segue: ") || line.starts_with("  ")) {
        let _ = writeln!(err, "{}", segue_report::printable(line));
    }
    Ok(())
}

fn say(at: &Place, run: &str, pid: u32, log: &str) {
    if at.json {
        return out::line(&serde_json::json!({ "run": run, "process": pid, "output": log }).to_string());
    }
    out::lines([
        format!("run {run} continues in the background"),
        "  segue attach    watch it; leaving it there does not stop it".to_owned(),
        "  segue status    where it stands".to_owned(),
        "  segue wait      wait for its end, with its exit code".to_owned(),
        "  segue stop      stop it with a checkpoint".to_owned(),
    ]);
}
