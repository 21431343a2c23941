//! `segue wait`: returns when a run or a plan is over, with the exit code that it ended with.

use std::time::{Duration, Instant};

use segue_machine::{Outcome, Phase};
use segue_report::{Time, plain};

use super::failure::Failure;
use super::open::{self, Place};
use super::{crashed, out, plan};
use crate::process::lock::Lock;

const LOOK: Duration = Duration::from_millis(200);

/// The exit code of `timeout`, which people know.
const TOO_LATE: u8 = 124;

/// Waits for the end of a run.
pub(super) fn wait(at: &Place, run: Option<&str>, timeout: Option<&str>) -> Result<u8, Failure> {
    let until = timeout.map(until).transpose()?;
    if let Some(plan) = plan::meant(at, run) {
        return wait_for_plan(at, &plan, until);
    }
    let reader = at.reader()?;
    let row = match run {
        Some(_) => at.run(&reader, run)?,
        None => active_run(at).map_or_else(|| at.run(&reader, None), |run| at.run(&reader, Some(&run)))?,
    };
    loop {
        let seen = crashed::look(at, &reader, &row.id)?;
        let view = seen.machine.view();
        if let Some(outcome) = view.outcome.as_ref().filter(|_| view.phase == Phase::Finished) {
            // Its process has a moment's work left, and the next run needs the work tree.
            if open::owner(at, &row.id, view).is_none() {
                let verified = view.spec.as_ref().is_some_and(|spec| spec.require_verified);
                return Ok(say(at, &row.id, outcome, verified));
            }
        } else if seen.crash.is_some() {
            return Err(Failure::exit(
                130,
                format!("run {} crashed; `segue resume {}` continues it", row.id, row.id),
            ));
        }
        pause(until, &row.id)?;
    }
}

fn say(at: &Place, run: &str, outcome: &Outcome, verified: bool) -> u8 {
    let code = outcome.exit_code(verified);
    let (word, reason) = (outcome.verdict.word().replace('_', " "), plain(&outcome.reason));
    if at.json {
        let doc = serde_json::json!({ "run": run, "verdict": outcome.verdict, "reason": outcome.reason, "exit_code": code });
        out::line(&doc.to_string());
    } else {
        out::line(&format!("run {run}: {word}: {reason}"));
    }
    code
}

/// The run that is at work in this work tree, or the first of those of its plan.
pub(super) fn active_run(at: &Place) -> Option<String> {
    let holder = Lock::holder(&at.store().lock_dir());
    let here = holder.filter(|holder| holder.is_alive() && holder.is_known()).map(|holder| holder.run);
    // Whoever has the work tree is known a moment before there is a journal to read.
    let begun = |run: &String| at.runs().is_ok_and(|rows| rows.iter().any(|row| row.id == *run));
    here.into_iter().chain(plan::at_work(at)).find(begun)
}

fn wait_for_plan(at: &Place, plan: &str, until: Option<Instant>) -> Result<u8, Failure> {
    while plan::is_active(at, plan) {
        pause(until, plan)?;
    }
    let (code, words) = plan::ended(at, plan)?;
    if at.json {
        out::line(&serde_json::json!({ "run": plan, "reason": words, "exit_code": code, "at": Time(crate::clock::now()) }).to_string());
    } else {
        out::line(&format!("plan {plan}: {words}"));
    }
    Ok(code)
}

fn until(typed: &str) -> Result<Instant, Failure> {
    let ms = crate::config::duration_ms(typed).ok_or_else(|| {
        Failure::usage(format!("--timeout: expected a duration, found {typed:?}; for example: --timeout 2h"))
    })?;
    Ok(Instant::now() + Duration::from_millis(ms))
}

fn pause(until: Option<Instant>, run: &str) -> Result<(), Failure> {
    if until.is_some_and(|until| Instant::now() >= until) {
        return Err(Failure::exit(
            TOO_LATE,
            format!("run {run} is still active; `segue status` shows where it stands"),
        ));
    }
    std::thread::sleep(LOOK);
    Ok(())
}
