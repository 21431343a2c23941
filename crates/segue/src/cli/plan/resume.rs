//! `segue resume` of a plan: which one is meant, what is left of its dead process, and what is tried again.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Parser;
use segue_plans::Status;
use segue_plans::ids::same;
use serde_json::json;

use super::super::args::{Args, Command, Resume};
use super::super::trust;
use super::run::{Take, drive, setting};
use super::status::choose;
use super::{Failure, Known, Place, out};
use crate::checkpoint::is_done;
use crate::config::Flags;
use crate::plan::{Kept, PLAN_MARK, Splitting, Stage, Standing, State, all, runs};
use crate::process::lock::{Holder, Lock};
use crate::process::{self, tree};
use crate::store::Store;
use crate::trust::allowed;

/// How long a phase that outlived its plan may take to stop.
const STOPPING: Duration = Duration::from_secs(60);

/// Takes a plan up again, if one is meant, and returns the exit code.
pub(in crate::cli) fn resume(at: &Place, args: &Resume) -> Result<Option<u8>, Failure> {
    if args.at.is_some() || args.same_session {
        return Ok(None);
    }
    let Some(dir) = meant(at, args.run.as_deref())? else { return Ok(None) };
    let state = Kept::look(&dir)?;
    if state.status == Standing::Completed {
        return Ok(Some(say_completed(at, &state)));
    }
    let store = at.store();
    let plans = store.plans();
    let id = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let _lock = Lock::take(&plans, &id)?;
    take_over(&store, &id)?;
    let mut kept = Kept::open_as(&dir, args.accept_journal)?;
    kept.change(|state| {
        state.options.split = args.split.or(state.options.split);
        args.beside.put(&mut state.options);
        if state.options.split == Some(Splitting::Auto) {
            ask_again_for_splits(state);
        }
        try_again(state, None, false);
    })?;
    let there = Place { dir: PathBuf::from(&kept.state().dir), json: at.json };
    let mut flags = flags_of(&kept.flags())?;
    flags.max_cost = args.max_cost.clone().or(flags.max_cost);
    flags.max_tokens = args.max_tokens.clone().or(flags.max_tokens);
    flags.max_sessions = args.max_sessions.clone().or(flags.max_sessions);
    flags.trust = args.trust;
    let plan = super::read_named(&there, &kept.state().plan, kept.state().options.format).ok();
    let held = trust::require_plan(&there, &flags, plan.as_ref(), &id)?;
    let _ = allowed::grant(&id, held);
    let (settings, known) = (there.settings(&flags)?, Known::new(&there, &flags, None)?);
    let take = Take { words: args.words(), only: None, force: false };
    let setting = setting(&there, store, &settings, known, take)?;
    drive(&there, setting, kept, &args.results).map(Some)
}

// A phase that waits because its split was only proposed is settled anew: its run is over, and its report asks for it.
fn ask_again_for_splits(state: &mut State) {
    for phase in state.phases.values_mut() {
        let waits = phase.status == Status::NeedsInput && phase.parts.is_empty() && phase.run.is_some();
        if waits && phase.why.contains("asks for a split") {
            phase.status = Status::InProgress;
        }
    }
}

// The flags that were typed when the plan was begun.
fn flags_of(words: &[String]) -> Result<Flags, Failure> {
    let typed = ["segue", "run", "-"].into_iter().map(str::to_owned).chain(words.iter().cloned());
    let args = Args::try_parse_from(typed).map_err(|error| Failure::usage(error.to_string()))?;
    let Command::Run(run) = args.command else { return Ok(Flags::default()) };
    Ok(run.settings.flags())
}

// Nothing is left to do, and that is no failure.
fn say_completed(at: &Place, state: &State) -> u8 {
    if at.json {
        let doc = json!({ "plan": state.id, "file": state.plan, "status": state.status });
        out::line(&doc.to_string());
        return 0;
    }
    let file = &state.plan;
    out::line(&format!("plan {} ({file}) is completed: there is nothing to resume", state.id));
    out::line(&format!("    segue run {file} --force    # runs it again"));
    0
}

// The plan that a person means: by its id, by one of its runs when it is over, or the latest thing that was begun here.
fn meant(at: &Place, typed: Option<&str>) -> Result<Option<PathBuf>, Failure> {
    if typed.is_some_and(|typed| typed.starts_with("plan-")) {
        return choose(at, typed).map(Some);
    }
    let plans = all(&at.store().plans());
    if let Some(typed) = typed {
        let owns = |dir: &&PathBuf| runs(dir).iter().any(|(_, run)| run == typed);
        let Some(dir) = plans.iter().find(owns) else { return Ok(None) };
        let over = Kept::look(dir)?.status == Standing::Completed;
        return Ok(over.then(|| dir.clone()));
    }
    let Some(dir) = plans.first() else { return Ok(None) };
    let state = Kept::look(dir)?;
    let began = state.began.map_or(0, |began| began.0);
    let own: BTreeSet<String> = plans.iter().flat_map(|dir| runs(dir)).map(|(_, run)| run).collect();
    let newer = at.reader().ok().and_then(|reader| {
        let rows = reader.runs().ok()?;
        rows.into_iter().find(|row| !is_done(row))
    });
    let other =
        newer.is_some_and(|row| row.created_at > began && !own.contains(&row.id) && !state.owns(&row.id));
    Ok((!other).then(|| dir.clone()))
}

// A phase whose plan was killed stops by itself. What is left of it after a while is ended: there is never a second agent.
pub(super) fn take_over(store: &Store, plan: &str) -> Result<(), Failure> {
    let mark = format!("{PLAN_MARK}={plan}");
    let until = Instant::now() + STOPPING;
    let mut told = false;
    while Instant::now() < until {
        let holders = lock_dirs(store, plan).into_iter().filter_map(|dir| Lock::holder(&dir));
        let alive: Vec<u32> = holders.filter(Holder::is_alive).map(|holder| holder.pid).collect();
        if alive.is_empty() || !tree::marked(&mark).iter().any(|proc| alive.contains(&proc.pid)) {
            break;
        }
        if !std::mem::replace(&mut told, true) {
            let _ = writeln!(std::io::stderr().lock(), "segue: waiting for the phase that is still stopping");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    process::sweep_marked(&mark, Duration::from_secs(1));
    Ok(())
}

// Where the phases of a plan say that they are at work: in the work tree, or each in its own.
fn lock_dirs(store: &Store, plan: &str) -> Vec<PathBuf> {
    let own = std::fs::read_dir(store.trees(plan)).into_iter().flatten().flatten();
    own.map(|entry| entry.path()).chain([store.dir()]).collect()
}

// What failed is tried again when somebody goes on; what is completed only by force.
pub(super) fn try_again(state: &mut State, only: Option<&[String]>, force: bool) {
    let parts: Vec<(String, String)> = state
        .splits()
        .into_iter()
        .flat_map(|(whole, parts)| parts.into_iter().map(move |part| (part.id, whole.clone())))
        .collect();
    let meant = |id: &str| {
        let is = |only: &String| {
            same(only, id)
                || parts.iter().any(|(part, whole)| {
                    (same(part, id) && same(whole, only)) || (same(whole, id) && same(part, only))
                })
        };
        only.is_none_or(|only| only.iter().any(is))
    };
    for (_, phase) in state.phases.iter_mut().filter(|(id, _)| meant(id)) {
        let again = phase.status == Status::Failed || (force && phase.status.is_over());
        // A person was asked to bring it together with the others.
        if phase.status == Status::NeedsInput
            && phase.work.as_ref().is_some_and(|work| (Stage::Merging..Stage::Split).contains(&work.stage))
        {
            phase.status = Status::InProgress;
        }
        if again {
            phase.status = if phase.parts.is_empty() { Status::Pending } else { Status::InProgress };
            phase.digest = None;
        }
    }
    state.status = Standing::Running;
}
