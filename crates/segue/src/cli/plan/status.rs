//! `segue plan status`: how far a plan is, from what is on disk. Disturbs nobody.

use std::path::PathBuf;

use segue_plans::Status;
use serde_json::json;

use super::{Failure, Place, out};
use crate::history;
use crate::plan::{Kept, PhaseState, Stage, Standing, State, Work, all, tree_path};
use crate::process::lock::{Holder, Lock};

/// The runs that are at work side by side, if a plan is run that way now.
pub(in crate::cli) fn at_work(at: &Place) -> Vec<String> {
    let plans = at.store().plans();
    let Some(holder) = Lock::holder(&plans).filter(Holder::is_alive) else { return Vec::new() };
    let Ok(state) = Kept::look(&plans.join(&holder.run)) else { return Vec::new() };
    let run = |phase: &PhaseState| {
        let work = phase.work.as_ref().filter(|_| phase.status == Status::InProgress)?;
        let mends = work.mend.clone().filter(|_| work.stage == Stage::Mending);
        mends.or_else(|| phase.run.clone().filter(|_| work.stage <= Stage::Working))
    };
    state.phases.values().filter_map(run).collect()
}

/// Shows a plan, or all of them in a line each.
pub(in crate::cli) fn status(at: &Place, plan: Option<&str>, every: bool) -> Result<u8, Failure> {
    let plans = at.store().plans();
    if every {
        for dir in all(&plans) {
            let state = Kept::look(&dir)?;
            show_line(at, &state);
        }
        return Ok(0);
    }
    let state = Kept::look(&choose(at, plan)?)?;
    let crashed = has_crashed(at, &state);
    if at.json {
        let mut doc = serde_json::to_value(&state)?;
        doc["at_work"] = (state.status == Standing::Running && !crashed).into();
        doc["crashed"] = crashed.into();
        if crashed {
            doc["status"] = "crashed".into();
        }
        out::line(&doc.to_string());
        return Ok(0);
    }
    show_line(at, &state);
    for (id, phase) in &state.phases {
        let status = serde_json::to_value(phase.status)?;
        let run = phase.run.as_deref().unwrap_or("");
        let cut_off = crashed && phase.status == Status::InProgress;
        let status = if cut_off { "cut off" } else { status.as_str().unwrap_or_default() };
        let why = segue_report::plain(&phase.why);
        out::line(format!("  {id:<6} {status:<12} {run}  {why}").trim_end());
        if let Some(work) = &phase.work {
            show_work(at, &state.id, id, run, work);
        }
    }
    if crashed {
        out::line("the plan crashed; `segue resume` continues it");
    }
    Ok(0)
}

// Its process is gone although it did not end.
fn has_crashed(at: &Place, state: &State) -> bool {
    let holder = Lock::holder(&at.store().plans());
    let works = holder.is_some_and(|holder| holder.run == state.id && holder.is_alive());
    state.status == Standing::Running && !works
}

fn word(at: &Place, state: &State) -> &'static str {
    if has_crashed(at, state) { "crashed" } else { state.status.word() }
}

// Where a phase beside others works, how far it is, how full its window is, and what it has claimed.
fn show_work(at: &Place, plan: &str, id: &str, run: &str, work: &Work) {
    let store = at.store();
    let place = tree_path(&store, plan, id);
    let mut words = vec![work.stage.word().to_owned()];
    let reader = at.reader().ok();
    let run = work.mend.as_deref().filter(|_| work.stage == Stage::Mending).unwrap_or(run);
    let found = reader.as_ref().and_then(|reader| history::folded(reader, run).ok());
    let session = found.as_ref().and_then(|found| found.state.machine.view().session.as_ref());
    if let Some(session) = session.filter(|_| work.stage.is_worked_on()) {
        let percent = session.gauge.percent().map_or_else(String::new, |percent| format!(" {percent}"));
        words.push(format!("session {} ({}){percent}", session.n, segue_report::plain(&session.agent)));
    }
    if place.exists() {
        words.push(store.shown(&place));
    }
    out::line(&format!("         {}", words.join(" · ")));
    if work.alone {
        out::line("         locks everything: nothing runs in parallel with it");
    } else if !work.claims.is_empty() {
        out::line(&format!("         holds {}", segue_report::plain(&work.claims.join(", "))));
    }
}

/// Whether a run belongs to a plan that runs phases side by side and is not completed: then there is more to see than it.
pub(in crate::cli) fn is_open_beside(at: &Place, run: &str) -> bool {
    let state = plan_of(at, run);
    state.is_some_and(|state| state.options.beside() && state.status != Standing::Completed)
}

/// The plan that a command is about: the one that was typed, the active one, or that of the latest run.
pub(in crate::cli) fn meant(at: &Place, typed: Option<&str>) -> Option<String> {
    let plans = at.store().plans();
    let active = Lock::holder(&plans).filter(Holder::is_alive).map(|holder| holder.run);
    match typed {
        Some(typed) => {
            let dir = choose(at, Some(typed)).ok()?;
            Some(dir.file_name()?.to_string_lossy().into_owned())
        }
        None => active.or_else(|| Some(plan_of(at, &at.runs().ok()?.first()?.id)?.id)),
    }
}

/// Whether its process is at work.
pub(in crate::cli) fn is_active(at: &Place, plan: &str) -> bool {
    Lock::holder(&at.store().plans()).is_some_and(|holder| holder.is_alive() && holder.run == plan)
}

/// How a plan ended: the exit code, and words for it.
pub(in crate::cli) fn ended(at: &Place, plan: &str) -> Result<(u8, String), Failure> {
    let state = Kept::look(&choose(at, Some(plan))?)?;
    let done = state.phases.values().filter(|phase| phase.status == Status::Completed).count();
    let phases = if done == 1 { "phase" } else { "phases" };
    let of = format!("{}, {done} {phases} completed", word(at, &state).replace('_', " "));
    let code = match state.status {
        Standing::Completed => 0,
        Standing::Failed => 1,
        Standing::NeedsInput => 3,
        Standing::Stopped | Standing::Running => 130,
    };
    Ok((code, of))
}

fn plan_of(at: &Place, run: &str) -> Option<State> {
    let states = all(&at.store().plans()).into_iter().filter_map(|dir| Kept::look(&dir).ok());
    states.into_iter().find(|state| state.owns(run))
}

/// A line about the plan that a run belongs to.
pub(in crate::cli) fn line_of(at: &Place, run: &str) -> Option<String> {
    let state = plan_of(at, run)?;
    let (id, _) = state.phases.iter().find(|(_, phase)| phase.run.as_deref() == Some(run))?;
    Some(format!("phase {id} of plan {} ({}); `segue plan status` shows more", state.id, word(at, &state)))
}

fn show_line(at: &Place, state: &State) {
    if at.json {
        let crashed = has_crashed(at, state);
        let status = if crashed { json!("crashed") } else { json!(state.status) };
        let doc = json!({ "plan": state.id, "file": state.plan, "title": state.title, "status": status,
            "crashed": crashed });
        return out::line(&doc.to_string());
    }
    out::line(&format!(
        "{}  {:<12}  {}  {}",
        state.id,
        word(at, state),
        state.plan,
        segue_report::plain(&state.title)
    ));
}

/// The folder of a plan, by id or the beginning of it, or the latest.
pub(super) fn choose(at: &Place, plan: Option<&str>) -> Result<PathBuf, Failure> {
    let found = all(&at.store().plans());
    let none = || Failure::usage("no plan has run here yet; `segue run PLAN.md` starts one");
    let Some(wanted) = plan else { return found.into_iter().next().ok_or_else(none) };
    let name =
        |dir: &PathBuf| dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let fits: Vec<PathBuf> = found.into_iter().filter(|dir| name(dir).starts_with(wanted)).collect();
    match fits.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Failure::usage(format!("no plan {wanted} here; `segue plan status --all` lists them"))),
        _ => Err(Failure::usage(format!("{wanted} matches several plans; type more of the id"))),
    }
}
