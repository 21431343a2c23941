//! `segue run`: from what was typed to a run that is driven to its end.

use std::io::Read;
use std::path::Path;

use segue_agents::windows;
use segue_journal::{Journal, RunRow};
use segue_machine::{
    BudgetSpec, Circuit, CommitMode, Event, GitSpec, LastWords, NextSpec, Outcome, Run as Machine, RunSpec,
    Task, WaitRules,
};
use segue_plans::read_task;

use super::args::Run;
use super::failure::Failure;
use super::open::{self, Place};
use super::resume::{end_orphans, undo_swap};
use super::way_back;
use super::{detach, out, plan, trust};
use crate::budget::{self, DayBook};
use crate::checkpoint::{Document, prune_quietly};
use crate::config::Settings;
use crate::config::other_tools::found_settings;
use crate::driver::{self, Book, Driver, Face, Look};
use crate::git::Repo;
use crate::history;
use crate::notify::Notifier;
use crate::permissions;
use crate::places;
use crate::plan::PLAN_PROCESS;
use crate::private::Private;
use crate::process::lock::Lock;
use crate::process::tree;
use crate::state::State;
use crate::store::{Store, safely};
use crate::{clean, clock, learned};

/// Runs a task to its end and returns the exit code.
pub(super) fn run(at: &Place, args: &Run) -> Result<u8, Failure> {
    if args.detached {
        detach::leave_terminal();
    }
    tell_other_settings(at);
    if let Some(plan) = plan::wanted(at, args)? {
        return plan::run(at, args, plan);
    }
    let settings = at.settings(&args.settings.flags())?;
    if args.ci {
        require_deadline(&settings)?;
    }
    let from = args.from_checkpoint.as_deref().map(|typed| way_back::begin_from(at, typed)).transpose()?;
    let task = match (&args.task, &from) {
        (Some(typed), _) => task(typed, &at.dir)?,
        (None, Some(document)) => way_back::task_of(document)?,
        (None, None) => return Err(Failure::usage("no task was given: segue run \"your task\"")),
    };
    let look = match (at.json, args.ci) {
        (true, _) => Look::Json,
        (false, true) => Look::Plain,
        (false, false) => Look::Human,
    };
    if args.dry_run {
        return dry_run(at, &settings, &task);
    }
    trust::require(at, &args.settings.flags(), None)?;
    if args.detach {
        // What came in by standard input is not there a second time.
        let piped = args.task.as_deref() == Some("-");
        return detach::start(at, if piped { task.text.as_bytes() } else { &[] });
    }
    let repo = open::repo(&at.dir, &settings)?;
    let (run, code) = start(at, &settings, task, from, repo, look)?;
    plan::write_results(at, &args.results(), &run)?;
    Ok(code)
}

/// Nobody watches a run in CI, so it must end by itself.
pub(super) fn require_deadline(settings: &Settings) -> Result<(), Failure> {
    if settings.limits.deadline_ms.is_some() {
        return Ok(());
    }
    Err(Failure::usage(
        "--ci needs a deadline: add --deadline 2h, or deadline = \"2h\" in [limits] of segue.toml",
    ))
}

/// Starts a run, drives it to its end, and returns its id and exit code.
pub(super) fn start(
    at: &Place,
    settings: &Settings,
    task: Task,
    from: Option<Document>,
    repo: Option<Repo>,
    look: Look,
) -> Result<(String, u8), Failure> {
    let order = Order { run: new_id(), last_words: LastWords::default(), users: None };
    start_as(at, settings, task, from, repo, look, order)
}

/// What is settled about a run before it begins, by whoever starts it.
#[derive(Debug)]
pub(super) struct Order {
    /// Its id.
    pub(super) run: String,
    /// What the agent's last words must hold.
    pub(super) last_words: LastWords,
    /// What the user had changed before, if not what is there now.
    pub(super) users: Option<(String, String)>,
}

/// The same for a run that is known to somebody already.
pub(super) fn start_as(
    at: &Place,
    settings: &Settings,
    task: Task,
    from: Option<Document>,
    repo: Option<Repo>,
    look: Look,
    order: Order,
) -> Result<(String, u8), Failure> {
    let store = repo.as_ref().map_or_else(|| Store::at(&at.dir), |repo| Store::at(repo.root()));
    open::check_agents(&settings.everyone(), store.workdir())?;
    open::check_setup(settings, Some(&task), store.workdir())?;
    let store = store.create()?;
    if !settings.budget.unkept {
        places::remember(store.root());
    }
    let run = order.run;
    let _lock = Lock::take(&store.lock_dir(), &run)?;
    let mut journal = Journal::open(&store.runs());
    end_dead_runs(&journal, &store)?;
    let mut place = open::workplace(store, &run, repo, settings)?;
    let rows = journal.view().runs()?;
    prune_quietly(
        &place.checkpoints,
        &rows,
        settings.checkpoint.retention,
        place.repo.as_ref(),
        clock::now(),
    );
    let mut spec = spec(settings, task, place.repo.as_ref(), place.store.workdir(), order.users);
    let day = DayBook::open(&run, &spec.workdir, settings, None, clock::now())?;
    spec.budget = BudgetSpec { today: day.as_ref().map(DayBook::look), ..budget::spec(settings) };
    refuse_unkept(settings, day.as_ref())?;
    if let Some(repo) = place.repo.as_ref().filter(|_| settings.git.commit != CommitMode::Never) {
        repo.keep_branches(&run)?;
    }
    spec.last_words = order.last_words;
    trust::remember(at, &spec, &run);
    spec.from = from.map(|document| way_back::adopt(document, &place)).transpose()?;
    let clean = clean::spec(&place.redactor, &spec);
    place.private = Private::between(&spec, &clean);
    place.private.store(&place.store.run_dir(&run))?;
    spec.task.private = place.private.has_task();
    journal.create_run(&RunRow {
        id: run.clone(),
        created_at: spec.started_at,
        task: title(&clean.task.text),
        agent: spec.agents.first().map(|a| a.name.clone()).unwrap_or_default(),
        policy: spec.policy.name.clone(),
        status: "running".to_owned(),
        finished_at: None,
    })?;
    warn(settings);
    if look != Look::Json {
        say_permissions(settings);
    }
    let verified = spec.require_verified;
    let face = Face::new(look, &place.store.runs(), &run);
    let face = notifying(face, settings, &title(&clean.task.text), place.store.workdir());
    let book = Book::new(journal, &run, 0)?;
    let first = Event::RunStarted { spec: Box::new(spec) };
    let prices = settings.budget.prices.clone();
    let make = move || {
        let driver = Driver::new(place, settings.everyone(), Machine::default(), book, face)?;
        Ok(driver.with_budget(day, prices))
    };
    let outcome = drive(make, first)?;
    Ok((run, outcome.exit_code(verified)))
}

/// The face of a run that also tells whoever is to be told. The end of a phase is its plan's to tell; a rehearsal needs
/// nobody.
pub(super) fn notifying(face: Face, settings: &Settings, task: &str, workdir: &Path) -> Face {
    if !settings.notify.any() || settings.budget.unkept {
        return face;
    }
    let of_plan = std::env::var_os(PLAN_PROCESS).is_some();
    let without = settings.env.kept_from_gates();
    face.notifying(Notifier::new(settings.notify.clone(), task, workdir.to_owned(), without).of_plan(of_plan))
}

/// A limit of the day without a book of the day would be no limit.
pub(super) fn refuse_unkept(settings: &Settings, day: Option<&DayBook>) -> Result<(), Failure> {
    if settings.budget.day.any() && day.is_none() && !settings.budget.unkept {
        return Err(Failure::usage(
            "[budget.day] sets a limit, but there is no place to record the day's spending: set HOME or XDG_STATE_HOME",
        ));
    }
    Ok(())
}

// Whoever holds the lock knows that every other run here is dead; an agent of theirs must not work beside ours.
fn end_dead_runs(journal: &Journal, store: &Store) -> Result<(), Failure> {
    for row in journal.view().runs()?.iter().filter(|row| row.status == "running") {
        // A journal that another version wrote is no reason to refuse; its mark still finds its processes.
        let found = history::folded(journal.view(), &row.id);
        let machine = found.map_or_else(|_| Machine::default(), |found| found.state.machine);
        // Another work tree's run is another's to end.
        let elsewhere = |spec: &RunSpec| Path::new(&spec.workdir) != store.workdir();
        if !machine.view().spec.as_deref().is_some_and(elsewhere) {
            end_orphans(&row.id, machine.view());
            // Its journal is another run's; it was said on the terminal.
            let _ = undo_swap(store, &row.id);
        }
    }
    Ok(())
}

/// Drives a run on this thread until it is over.
pub(super) fn drive(
    make: impl FnOnce() -> Result<Driver, driver::DriverError>,
    first: Event,
) -> Result<Outcome, Failure> {
    tree::adopt()?;
    let driven = driver::on_loop(|| async { make()?.drive(first).await })?;
    Ok(driven?)
}

// Settings of another tool in a project that has none of segue's: they are not applied, and nobody should think so.
fn tell_other_settings(at: &Place) {
    use std::io::Write;
    let root = at.store().root().to_owned();
    if !root.join("segue.toml").exists() {
        for line in found_settings(&root) {
            let _ = writeln!(std::io::stderr().lock(), "segue: {line}");
        }
    }
}

/// Says what is worth saying although it stops nothing.
pub(super) fn warn(settings: &Settings) {
    use std::io::Write;
    for warning in &settings.warnings {
        let _ = writeln!(std::io::stderr().lock(), "segue: warning: {warning}");
    }
}

/// Says before the first token what each agent may do and what it will be denied.
pub(super) fn say_permissions(settings: &Settings) {
    use std::io::Write;
    for agent in &settings.agents {
        let words = permissions::words(agent, &settings.gates);
        let _ = writeln!(std::io::stderr().lock(), "segue: {words}");
    }
}

/// The first line of a task, short enough for a list.
pub(super) fn title(text: &str) -> String {
    let line = text.lines().map(|l| l.trim_start_matches(['#', ' '])).find(|l| !l.trim().is_empty());
    segue_machine::checkpoint::cut_chars(line.unwrap_or_default(), 80).replace('\n', " ")
}

pub(super) fn task(typed: &str, dir: &Path) -> Result<Task, Failure> {
    if typed == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(read_task(&bytes, None)?);
    }
    let path = dir.join(typed);
    let root = dir.ancestors().find(|up| up.join(".git").exists()).unwrap_or(dir);
    safely::refuse_link_out(root, &path).map_err(|error| Failure::usage(format!("{typed}: {error}")))?;
    if path.is_dir() && !typed.trim().is_empty() {
        return Err(Failure::usage(format!(
            "{typed} is a folder: name a file in it, or give the task as text"
        )));
    }
    if path.is_file() {
        let bytes = std::fs::read(&path).map_err(|error| Failure::usage(format!("{typed}: {error}")))?;
        return Ok(read_task(&bytes, Some(typed))?);
    }
    if looks_like_a_file(typed) {
        return Err(Failure::usage(format!(
            "{typed}: no such file; a task given as text has more than one word"
        )));
    }
    Ok(read_task(typed.as_bytes(), None)?)
}

fn looks_like_a_file(typed: &str) -> bool {
    let ending = Path::new(typed).extension().and_then(|e| e.to_str()).unwrap_or_default();
    let named = ["md", "txt", "json", "toml", "markdown"].contains(&ending.to_lowercase().as_str());
    !typed.contains(char::is_whitespace) && (named || typed.contains('/'))
}

/// What other runs have learned about the accounts of this one.
pub(super) fn known_circuits(settings: &Settings) -> Vec<Circuit> {
    let agents: Vec<_> = settings.agents.iter().map(|a| a.spec.clone()).collect();
    if settings.wait.shared { driver::known_circuits(&agents, clock::now()) } else { Vec::new() }
}

fn spec(
    settings: &Settings,
    task: Task,
    repo: Option<&Repo>,
    workdir: &Path,
    users: Option<(String, String)>,
) -> RunSpec {
    let git = &settings.git;
    let keeps = git.commit != CommitMode::Never;
    let start = repo.filter(|_| keeps).and_then(|repo| repo.tree_and_secrets().ok());
    let (base_tree, base_secrets) = start.map_or((None, None), |(tree, secrets)| (Some(tree), secrets));
    let user = State::of_user().filter(|_| !settings.budget.unkept);
    let known = user.map(|state| learned::read(&state, &learned::key(repo, workdir))).unwrap_or_default();
    RunSpec {
        task,
        agents: settings.agents.iter().map(|a| a.spec.clone()).collect(),
        policy: settings.policy.clone(),
        limits: settings.limits.clone(),
        gates: settings.gates.clone(),
        git: GitSpec {
            enabled: repo.is_some(),
            commit: git.commit,
            commit_on_failure: git.commit_on_failure,
            message: git.message.clone(),
            base: repo.and_then(Repo::head),
            users: users.or_else(|| repo.and_then(Repo::head).zip(base_tree.clone())),
            base_tree,
            base_secrets,
        },
        workdir: workdir.display().to_string(),
        require_verified: settings.require_verified,
        strict_claims: settings.strict_claims,
        started_at: clock::now(),
        from: None,
        role: settings.role.clone(),
        memory: settings.checkpoint.memory,
        wait: WaitRules { utc_offset_s: clock::utc_offset_s(), ..settings.wait.clone() },
        circuits: known_circuits(settings),
        next: next(settings),
        budget: BudgetSpec::default(),
        growth: known.growth,
        rereads: known.rereads,
        last_words: LastWords::default(),
    }
}

// What is known of the agents for choosing between them.
fn next(settings: &Settings) -> NextSpec {
    let listed = settings.agents.iter().filter(|a| a.spec.window.is_none()).filter_map(|agent| {
        let window = agent.spec.model.as_deref().and_then(windows::window)?;
        Some((agent.spec.name.clone(), window))
    });
    NextSpec {
        windows: listed.collect(),
        verifiers: settings.verifiers.iter().map(|a| a.spec.clone()).collect(),
    }
}

/// Ids sort by time and can be typed: the date, the time, and a little chance.
pub(super) fn new_id() -> String {
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    let chance = uuid::Uuid::new_v4().simple().to_string();
    format!("{}-{}", now.strftime("%Y%m%d-%H%M%S"), &chance[..4])
}

fn dry_run(at: &Place, settings: &Settings, task: &Task) -> Result<u8, Failure> {
    let repo = open::repo(&at.dir, settings)?;
    let workdir = repo.as_ref().map_or(at.dir.as_path(), Repo::root);
    open::check_agents(&settings.everyone(), workdir)?;
    open::check_setup(settings, Some(task), workdir)?;
    let stages: Vec<String> = settings.policy.stages.iter().map(|s| s.at.to_string()).collect();
    let agents: Vec<&str> = settings.agents.iter().map(|a| a.spec.name.as_str()).collect();
    let gates: Vec<&str> = settings.gates.iter().map(|g| g.run.as_str()).collect();
    if at.json {
        let doc = serde_json::json!({
            "task": title(&task.text), "open_items": task.open_items, "workdir": workdir, "agents": agents,
            "policy": settings.policy, "limits": settings.limits, "gates": gates,
        });
        out::line(&doc.to_string());
        return Ok(0);
    }
    let none = |list: &[&str]| {
        if list.is_empty() { "none: the verdict is at most unverified".to_owned() } else { list.join(", ") }
    };
    out::lines([
        format!("would run  {}", title(&task.text)),
        format!("in         {}", workdir.display()),
        format!("agents     {}", agents.join(", ")),
        format!("policy     {} (stages at {})", settings.policy.name, stages.join(", ")),
        format!("gates      {}", none(&gates)),
    ]);
    Ok(0)
}
