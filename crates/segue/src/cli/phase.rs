//! `segue phase`: the run of one phase, started by the process of its plan. It does not outlive that process.

use std::io::Read;
use std::time::Duration;

use segue_machine::{CommitMode, GateResult, GateSpec, GateWhen, LastWords, Task};

use super::args;
use super::failure::Failure;
use super::open::{self, Place};
use super::{out, resume, run, trust};
use crate::config::Flags;
use crate::driver::Look;
use crate::gates::{self, GateRoom};
use crate::keep::Found;
use crate::plan::{Job, PLAN_PROCESS};
use crate::process::lock::Lock;
use crate::process::{self, tree};

/// Runs a phase and returns the exit code of its run.
pub(super) fn phase(at: &Place, args: &args::Phase) -> Result<u8, Failure> {
    if !bound_to_plan() {
        return Ok(130);
    }
    if let Some(run) = &args.take_up {
        return resume::resume_run(at, &args.settings.resume(Some(run.clone())));
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    let job: Job = serde_json::from_slice(&bytes)
        .map_err(|error| Failure::usage(format!("the job cannot be read: {error}")))?;
    trust::require(at, &args.settings.flags(), None)?;
    if args.check {
        return check(at, &args.settings.flags(), job);
    }
    let mut flags = args.settings.flags();
    flags.agent = flags.agent.or(job.agent);
    flags.role = flags.role.or(job.role);
    flags.policy = flags.policy.or(job.policy);
    // Whether the work tree was clean was asked before the first phase; what is there since is the plan's own.
    flags.allow_dirty = true;
    let mut settings = at.settings(&flags)?;
    let mut gates = job.gates;
    gates.iter_mut().for_each(|gate| gate.after_only = !settings.plan_gates_first);
    settings.gates = all_gates(gates, std::mem::take(&mut settings.gates));
    if job.beside {
        // What is not committed cannot be merged.
        settings.git.commit = CommitMode::Branch;
    }
    let repo = open::repo(&at.dir, &settings)?;
    // The plan's file is not the task: that the plan is read again before each phase is the plan's own affair.
    let task = Task { text: job.text, open_items: job.open_items, ..Task::default() };
    let look = if at.json { Look::Json } else { Look::Human };
    let last_words = LastWords { report: !job.mend, word: None };
    // In a work tree of its own there is nothing of the user's.
    let users = job.users.filter(|_| !job.beside);
    let order = run::Order { run: job.run, last_words, users };
    Ok(run::start_as(at, &settings, task, None, repo, look, order)?.1)
}

// The gates of a job and of the configuration, each once.
fn all_gates(mut gates: Vec<GateSpec>, more: Vec<GateSpec>) -> Vec<GateSpec> {
    for gate in more {
        let known =
            |own: &GateSpec| own.name == gate.name || (own.run == gate.run && own.manual == gate.manual);
        if !gates.iter().any(known) {
            gates.push(gate);
        }
    }
    gates
}

// Runs the gates of a job in this work tree, one after the other, and writes what they said.
fn check(at: &Place, flags: &Flags, job: Job) -> Result<u8, Failure> {
    let settings = at.settings(flags)?;
    let store = at.store();
    let store = store.create()?;
    let _lock = Lock::take(&store.lock_dir(), "(the gates of a merge)")?;
    let room = GateRoom {
        workdir: store.workdir().to_owned(),
        run_dir: store.lock_dir().join("gates"),
        run: format!("merge-{}", std::process::id()),
        redactor: open::redactor(&settings)?,
        found: Found::default(),
        without: settings.env.kept_from_gates(),
    };
    tree::adopt()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let all = all_gates(job.gates, settings.gates);
    let results: Option<Vec<GateResult>> = runtime.block_on(async {
        let run = async {
            let mut results = Vec::new();
            for gate in all.iter().filter(|gate| !gate.manual) {
                results.push(gates::run(gate, &room, GateWhen::After, 0).await);
            }
            results
        };
        tokio::select! {
            results = run => Some(results),
            _ = tokio::signal::ctrl_c() => None,
        }
    });
    process::sweep_marked(&format!("{}={}", process::RUN_MARK, room.run), Duration::from_millis(500));
    let _ = std::fs::remove_dir_all(&room.run_dir);
    let Some(results) = results else { return Ok(130) };
    out::json(&results)?;
    Ok(0)
}

// The end of the plan's process is a request to stop, as Ctrl-C is. One that has ended already has nobody to work for.
fn bound_to_plan() -> bool {
    use rustix::process::{Signal, getppid};
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::INT));
    #[cfg(not(target_os = "linux"))]
    let _ = Signal::INT;
    let plan: Option<i32> = std::env::var(PLAN_PROCESS).ok().and_then(|pid| pid.parse().ok());
    let parent = getppid().map(|pid| pid.as_raw_nonzero().get());
    plan.is_none() || plan == parent
}
