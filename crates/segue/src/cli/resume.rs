//! `segue resume`: replay the journal, end what the dead process left behind, and go on.

use std::io::Write;
use std::time::Duration;

use segue_journal::{Journal, Reader, RunRow};
use segue_machine::{Event, Phase, RunSpec, View};

use super::args::Resume;
use super::crashed;
use super::failure::Failure;
use super::open::{self, Place};
use super::run::{drive, known_circuits, notifying, refuse_unkept, say_permissions, warn};
use super::{detach, plan, trust, way_back};
use crate::anchor::{Anchors, Trust};
use crate::budget::{self, DayBook};
use crate::checkpoint::is_done;
use crate::clock;
use crate::config::{Flags, Settings};
use crate::driver::{Book, Driver, Face, Look};
use crate::gates::swap;
use crate::git::Repo;
use crate::history::{self, Folded};
use crate::process::lock::Lock;
use crate::process::{self, tree};
use crate::store::Store;

/// How long a tool that outlives a crash may take to finish before the run is taken up.
const LAST_TOOL: Duration = Duration::from_secs(10);

/// Takes a run up again and returns the exit code.
pub(super) fn resume(at: &Place, args: &Resume) -> Result<u8, Failure> {
    if args.detach {
        return detach::start(at, &[]);
    }
    if args.detached {
        detach::leave_terminal();
    }
    if let Some(code) = plan::resume(at, args)? {
        return Ok(code);
    }
    let code = resume_run(at, args)?;
    if let Some(run) = &args.run {
        plan::write_results(at, &args.results, run)?;
    }
    Ok(code)
}

/// The same, and never a plan.
pub(super) fn resume_run(at: &Place, args: &Resume) -> Result<u8, Failure> {
    resume_with(at, args, |spec, run| settings(at, args, spec, run))
}

/// The same with settings from elsewhere.
pub(super) fn resume_with(
    at: &Place,
    args: &Resume,
    settings: impl FnOnce(&RunSpec, &str) -> Result<Settings, Failure>,
) -> Result<u8, Failure> {
    let store = at.store();
    let back =
        args.at.as_deref().map(|typed| way_back::go_back_to(at, typed, args.run.as_deref())).transpose()?;
    let run = back.as_ref().map(|document| document.run.as_str()).or(args.run.as_deref());
    let row = choose(at, &at.reader()?, run)?;
    let lock = Lock::take(&store.lock_dir(), &row.id)?;
    let mut journal = Journal::open(&store.runs());
    check_trust(&mut journal, &row.id, args.accept_journal)?;
    let Folded { state, last } = history::folded(journal.view(), &row.id)?;
    let mut face = Face::new(if at.json { Look::Json } else { Look::Human }, &store.runs(), &row.id);
    face.go_on(state.stream);
    let machine = state.machine;
    let view = machine.view();
    let Some(spec) = view.spec.as_deref() else {
        return Err(Failure::usage(format!("run {} never started; start it again with `segue run`", row.id)));
    };
    refuse_finished(&row.id, view, args.at.as_deref())?;
    let settings = settings(spec, &row.id)?;
    open::check_agents(&settings.everyone(), store.workdir())?;
    let changed = changed_spec(args, spec, &settings);
    let repo = if spec.git.enabled {
        Some(Repo::find(store.workdir())?.leaving_out(open::own_paths(&settings)))
    } else {
        None
    };
    warn(&settings);
    if !at.json {
        say_resumed(&row, view);
        say_permissions(&settings);
    }
    let face = notifying(face, &settings, &row.task, store.workdir());
    let (verified, workdir) = (spec.require_verified, spec.workdir.clone());
    let place = open::workplace(store, &row.id, repo, &settings)?;
    if spec.task.private && !place.private.has_task() {
        let lost = store_path(&place, &row.id);
        return Err(Failure::usage(format!(
            "the task of run {} holds a secret, and the file that had it is gone ({lost}): the agent would be given the \
             task without it; start a new run with the original task and `--from-checkpoint`",
            row.id
        )));
    }
    tree::adopt()?;
    let orphans = end_orphans(&row.id, machine.view());
    let restored = undo_swap(&place.store, &row.id);
    let back = back.map(|document| way_back::prepare(document, &place, machine.view(), last)).transpose()?;
    journal.append(&row.id, &[], Some("running".into()))?;
    let reader = journal.view().clone();
    let book = Book::new(journal, &row.id, last)?;
    let (spec, answer) = (changed.map(Box::new), args.answer.clone());
    let same_session = args.same_session || (answer.is_some() && back.is_none());
    let (now, circuits) = (args.now, known_circuits(&settings));
    let first = Event::RunResumed { orphans, spec, same_session, at: back, now, circuits, answer };
    let day = DayBook::open(&row.id, &workdir, &settings, Some(&reader), clock::now())?;
    refuse_unkept(&settings, day.as_ref())?;
    let day = day.map(|day| day.knows(machine.view()));
    let make = move || {
        Ok(Driver::new(place, settings.everyone(), machine, book, face)?
            .with_budget(day, settings.budget.prices)
            .telling(restored))
    };
    let outcome = drive(make, first)?;
    drop(lock);
    Ok(outcome.exit_code(verified))
}

// What is gone on with must be what was left: the task, its gates and its limits are read from it.
fn check_trust(journal: &mut Journal, run: &str, accepted: bool) -> Result<(), Failure> {
    let anchors = Anchors::of_user();
    let found = match &anchors {
        Some(anchors) => anchors.check_to_continue(journal.view(), run)?,
        None => Trust::Unknown("there is no home directory, so no checksum was saved".to_owned()),
    };
    let warn = |text: &str| {
        let _ = writeln!(std::io::stderr().lock(), "segue: warning: run {run}: {text}");
    };
    match found {
        Trust::Whole => {
            if let Some(link) = anchors.and_then(|anchors| anchors.link(run)) {
                journal.drop_unproven_state(run, &link)?;
            }
        }
        Trust::Unknown(why) if accepted => warn(&format!("{why}; accepted")),
        Trust::Unknown(why) => warn(&format!("{why}; `--accept-journal` continues anyway")),
        Trust::Broken(why) if accepted => {
            warn(&format!("{why}; accepted as it is"));
            journal.accept(run)?;
        }
        Trust::Broken(why) => {
            return Err(Failure::usage(format!(
                "run {run} was changed outside segue: {why}. Look at it with `segue show {run}` and `segue log {run}`; \
                 `segue resume {run} --accept-journal` continues anyway"
            )));
        }
    }
    Ok(())
}

// What is about to go on, so that nobody resumes another run than they meant.
fn say_resumed(row: &RunRow, view: &View) {
    let sessions = view.sessions;
    let past = format!("{sessions} session{} so far", if sessions == 1 { "" } else { "s" });
    let task = segue_report::plain(&row.task);
    let _ = writeln!(std::io::stderr().lock(), "segue: resuming run {}: {task} ({past})", row.id);
}

fn store_path(place: &crate::checkpoint::Workplace, run: &str) -> String {
    place.store.shown(&place.store.run_dir(run).join("private.json"))
}

/// Ends what is left of a run whose process is dead: the agent itself, and everything that carries the run's mark. What the
/// agent was running is given a while to finish first, but the agent starts nothing more.
pub(super) fn end_orphans(run: &str, view: &View) -> u32 {
    let grace = Duration::from_secs(1);
    let left = crashed::left_of(run, view);
    let busy = view.session.as_ref().filter(|session| !session.tools.is_empty());
    let is_agent = |proc: &tree::Proc| busy.and_then(|s| s.pid) == Some((proc.pid, proc.start));
    let (agent, running): (Vec<tree::Proc>, Vec<tree::Proc>) = left.iter().copied().partition(is_agent);
    let mut ended = 0;
    if busy.is_some() && !running.is_empty() {
        let _ = writeln!(
            std::io::stderr().lock(),
            "segue: waiting up to {} s for what the agent of run {run} was running",
            LAST_TOOL.as_secs()
        );
        ended = tree::outwait(&agent, &running, LAST_TOOL);
    }
    ended + tree::end(&left, grace) + process::sweep_marked(&format!("{}={run}", process::RUN_MARK), grace)
}

/// Puts the agent's files back where a crash left the originals of a gate in place.
pub(super) fn undo_swap(store: &Store, run: &str) -> Option<Event> {
    let kept = swap::undo_cut_off(&store.run_dir(run), store.workdir())?;
    let left = if kept.is_empty() {
        String::new()
    } else {
        format!("; not restored, because they changed since: {}", kept.join(", "))
    };
    let _ = writeln!(
        std::io::stderr().lock(),
        "segue: a gate was running with the originals of its files when the run crashed: the agent's files are back{left}"
    );
    Some(Event::GateRestored { gate: String::new(), kept })
}

fn choose(at: &Place, reader: &Reader, id: Option<&str>) -> Result<RunRow, Failure> {
    if id.is_some() {
        return at.run(reader, id);
    }
    let open = reader.runs()?.into_iter().find(|row| !is_done(row));
    open.ok_or_else(|| Failure::usage("nothing to resume here: every run is finished (`segue status --all`)"))
}

fn refuse_finished(id: &str, view: &View, at: Option<&str>) -> Result<(), Failure> {
    let over = view.outcome.as_ref().filter(|_| view.phase == Phase::Finished);
    match over {
        Some(outcome) if !outcome.resumable() => {
            let way = at.map_or_else(String::new, |typed| {
                format!("; `segue run --from-checkpoint {typed}` starts a new run from that checkpoint")
            });
            let why = &outcome.reason;
            Err(Failure::usage(format!("run {id} is finished ({why}); there is nothing to resume{way}")))
        }
        _ => Ok(()),
    }
}

fn settings(at: &Place, args: &Resume, spec: &RunSpec, run: &str) -> Result<Settings, Failure> {
    let before: Vec<&str> = spec.agents.iter().map(|a| a.name.as_str()).collect();
    let flags = Flags {
        agent: Some(args.agent.clone().unwrap_or_else(|| before.join(","))),
        deadline: args.deadline.clone(),
        max_restarts: args.max_restarts.clone(),
        gate_rounds: args.gate_rounds.clone(),
        max_cost: args.max_cost.clone(),
        max_tokens: args.max_tokens.clone(),
        max_sessions: args.max_sessions.clone(),
        allow_unknown_cost: args.allow_unknown_cost,
        permissions: args.permissions.clone(),
        no_git: !spec.git.enabled,
        no_wait: args.no_wait,
        policy: open::preset_of(spec),
        trust: args.trust,
        ..Flags::default()
    };
    trust::require_again(at, &at.layers(&flags)?, spec, run, args.trust)?;
    at.settings(&flags)
}

// The run keeps the rules that it began with, but for what was asked for now. A day's budget is no rule of the run.
fn changed_spec(args: &Resume, spec: &RunSpec, settings: &Settings) -> Option<RunSpec> {
    let mut changed = spec.clone();
    if args.agent.is_some() {
        changed.agents = settings.agents.iter().map(|a| a.spec.clone()).collect();
    }
    if args.permissions.is_some() {
        for agent in &mut changed.agents {
            let now = settings.agents.iter().find(|a| a.spec.name == agent.name);
            agent.allow = now.map(|a| a.spec.allow.clone()).unwrap_or_default();
            agent.edits = now.is_some_and(|a| a.spec.edits);
        }
    }
    for gate in &mut changed.gates {
        if let Some(now) = settings.gates.iter().find(|now| now.name == gate.name) {
            gate.may_change = now.may_change;
            gate.protect.clone_from(&now.protect);
        }
    }
    // Whether to wait is a matter of whoever calls, each time anew.
    changed.wait.enabled = settings.wait.enabled;
    if args.deadline.is_some() {
        changed.limits.deadline_ms = settings.limits.deadline_ms;
    }
    if args.max_restarts.is_some() {
        changed.limits.max_restarts = settings.limits.max_restarts;
        changed.policy.replacing_off = changed.limits.max_restarts == Some(0);
    }
    if args.gate_rounds.is_some() {
        changed.limits.gate_rounds = settings.limits.gate_rounds;
    }
    if args.max_cost.is_some() {
        changed.limits.cost_musd = settings.limits.cost_musd;
    }
    if args.max_tokens.is_some() {
        changed.limits.tokens = settings.limits.tokens;
    }
    if args.max_sessions.is_some() {
        changed.limits.sessions = settings.limits.sessions;
    }
    let today = changed.budget.today.take();
    changed.budget = segue_machine::BudgetSpec { today, ..budget::spec(settings) };
    (changed != *spec).then_some(changed)
}
