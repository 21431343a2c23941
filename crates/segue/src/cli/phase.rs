//! `segue phase`: the run of one phase, started by the process of its plan. It does not outlive that process.

use std::io::Read;

use segue_machine::{LastWords, Task};

use super::args;
use super::failure::Failure;
use super::open::{self, Place};
use super::{resume, run};
use crate::driver::Look;
use crate::plan::{Job, PLAN_PROCESS};

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
    let mut flags = args.settings.flags();
    flags.agent = flags.agent.or(job.agent);
    flags.role = flags.role.or(job.role);
    flags.policy = flags.policy.or(job.policy);
    // Whether the work tree was clean was asked before the first phase; what is there since is the plan's own.
    flags.allow_dirty = true;
    let mut settings = at.settings(&flags)?;
    let mut gates = job.gates;
    for gate in std::mem::take(&mut settings.gates) {
        if !gates
            .iter()
            .any(|own| own.name == gate.name || (own.run == gate.run && own.manual == gate.manual))
        {
            gates.push(gate);
        }
    }
    settings.gates = gates;
    let repo = open::repo(&at.dir, &settings)?;
    let task = Task { text: job.text, source: job.source, open_items: job.open_items };
    let look = if at.json { Look::Json } else { Look::Human };
    let order = run::Order { run: job.run, last_words: LastWords { report: true, word: None } };
    Ok(run::start_as(at, &settings, task, None, repo, look, order)?.1)
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
