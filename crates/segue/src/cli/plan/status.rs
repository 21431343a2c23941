//! `segue plan status`: how far a plan is, from what is on disk. Disturbs nobody.

use std::path::PathBuf;

use serde_json::json;

use super::{Failure, Place, out};
use crate::plan::{Kept, State, all, home};
use crate::process::lock::Lock;

/// Shows a plan, or all of them in a line each.
pub(super) fn status(at: &Place, plan: Option<&str>, every: bool) -> Result<u8, Failure> {
    let plans = home(&at.store());
    if every {
        for dir in all(&plans) {
            let state = Kept::look(&dir)?;
            show_line(at, &state);
        }
        return Ok(0);
    }
    let state = Kept::look(&choose(at, plan)?)?;
    let at_work = Lock::holder(&plans).is_some_and(|holder| holder.run == state.id && holder.is_alive());
    if at.json {
        let mut doc = serde_json::to_value(&state).unwrap_or_default();
        doc["at_work"] = at_work.into();
        out::line(&doc.to_string());
        return Ok(0);
    }
    show_line(at, &state);
    for (id, phase) in &state.phases {
        let status = serde_json::to_value(phase.status).unwrap_or_default();
        let run = phase.run.as_deref().unwrap_or("");
        let why = segue_report::plain(&phase.why);
        out::line(format!("  {id:<6} {:<12} {run}  {why}", status.as_str().unwrap_or_default()).trim_end());
    }
    if state.status == crate::plan::Standing::Running && !at_work {
        out::line("its process is gone: `segue resume` goes on");
    }
    Ok(0)
}

/// A line about the plan that a run belongs to.
pub(in crate::cli) fn line_of(at: &Place, run: &str) -> Option<String> {
    let states = all(&home(&at.store())).into_iter().filter_map(|dir| Kept::look(&dir).ok());
    let state = states.into_iter().find(|state| state.owns(run))?;
    let (id, _) = state.phases.iter().find(|(_, phase)| phase.run.as_deref() == Some(run))?;
    Some(format!("phase {id} of plan {} ({}); `segue plan status` says more", state.id, state.status.word()))
}

fn show_line(at: &Place, state: &State) {
    if at.json {
        let doc =
            json!({ "plan": state.id, "file": state.plan, "title": state.title, "status": state.status });
        return out::line(&doc.to_string());
    }
    out::line(&format!(
        "{}  {:<12}  {}  {}",
        state.id,
        state.status.word(),
        state.plan,
        segue_report::plain(&state.title)
    ));
}

/// The folder of a plan, by id or the beginning of it, or the latest.
pub(super) fn choose(at: &Place, plan: Option<&str>) -> Result<PathBuf, Failure> {
    let found = all(&home(&at.store()));
    let none = || Failure::usage("no plan was run here yet; `segue run PLAN.md` starts one");
    let Some(wanted) = plan else { return found.into_iter().next().ok_or_else(none) };
    let name =
        |dir: &PathBuf| dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let fits: Vec<PathBuf> = found.into_iter().filter(|dir| name(dir).starts_with(wanted)).collect();
    match fits.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Failure::usage(format!(
            "there is no plan {wanted} here; `segue plan status --all` lists them"
        ))),
        _ => Err(Failure::usage(format!("{wanted} may be more than one plan; type more of its id"))),
    }
}
