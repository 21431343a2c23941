//! `segue run PLAN`: from what was typed to a runner.

use std::io::Write;
use std::path::{Path, PathBuf};

use segue_machine::CommitMode;
use segue_plans::{
    Circumstances, Code, Extra, Finding, Format, NoPlan, Plan, Severity, audit, counts, estimate_with,
    fill_gates,
};
use segue_report::Time;
use serde_json::json;

use super::super::args::{ResultFlags, Run};
use super::super::detach;
use super::super::open;
use super::super::run::{new_id, require_deadline, warn};
use super::super::trust;
use super::resume::{take_over, try_again};
use super::{Failure, Known, Place, beside, command_lines, commands_json, disk, out, results};
use crate::clock;
use crate::config::{Settings, trees_dir};
use crate::git::Repo;
use crate::plan::{
    Kept, Options, Runner, Setting, Shared, Standing, State, estimate_words, known_sizes, latest_of,
    select_phases,
};
use crate::process::lock::Lock;
use crate::prompt::Prompts;
use crate::store::Store;
use crate::trust::{Item, allowed, plan as trust_items};

/// The plan that was named, if it is one.
pub(in crate::cli) fn wanted(at: &Place, args: &Run) -> Result<Option<Plan>, Failure> {
    let flags = &args.plan;
    let asked = flags.phase.is_some()
        || flags.resume
        || flags.restart
        || flags.force
        || flags.quality
        || flags.split.is_some()
        || flags.no_write_back
        || flags.format.is_some()
        || flags.beside.any();
    let is_there = |typed: &&String| !typed.trim().is_empty() && at.dir.join(typed).exists();
    let Some(typed) = args.task.as_ref().filter(is_there) else {
        let say = "--phase, --resume, --restart, --force, --quality, --split, --format, --no-write-back, --parallel, \
                   --keep-going and --fail-fast are for plans: name one";
        return if asked { Err(Failure::usage(say)) } else { Ok(None) };
    };
    let format = flags.format.or_else(|| chosen_before(at, typed));
    let plan =
        disk(at).reading(format).plan(typed).map_err(|error| Failure::usage(format!("{typed}: {error}")))?;
    let sure = asked || [".json", ".toml"].iter().any(|end| typed.ends_with(end));
    match plan {
        Ok(plan) if asked || is_plan(typed, &plan) || at.dir.join(typed).is_dir() => Ok(Some(plan)),
        Ok(_) => Ok(None),
        Err(error @ (NoPlan::NoStructure(_) | NoPlan::Broken { .. })) if sure => {
            Err(Failure::usage(error.to_string()))
        }
        Err(error @ (NoPlan::Ambiguous { .. } | NoPlan::Utf16(_))) => Err(Failure::usage(error.to_string())),
        Err(_) => Ok(None),
    }
}

// A choice of format is kept with the plan.
fn chosen_before(at: &Place, typed: &str) -> Option<Format> {
    latest_of(&at.store().plans(), &at.dir.join(typed)).and_then(|(_, state)| state.options.format)
}

// A prompt is a task, whatever boxes there are in it; a list of boxes is a plan, with or without commands.
fn is_plan(typed: &str, plan: &Plan) -> bool {
    let decides = |phase: &segue_plans::Phase| {
        !phase.gates.is_empty()
            || phase.all_criteria().chain(phase.all_verify()).any(|one| !one.checks.is_empty())
    };
    let gated = !plan.gates.is_empty() || plan.phases.iter().any(decides);
    plan.format != Format::Prompt && (plan.format != Format::Checklist || gated || !is_prompt_name(typed))
}

// Names that say "the words for one task".
fn is_prompt_name(typed: &str) -> bool {
    let name = Path::new(typed).file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    ["prompt", "task", "goal", "instructions"].contains(&name.as_str()) || name.ends_with(".prompt")
}

/// Runs a plan and returns the exit code.
pub(in crate::cli) fn run(at: &Place, args: &Run, mut plan: Plan) -> Result<u8, Failure> {
    let file = args.task.clone().unwrap_or_default();
    let flags = args.settings.flags();
    let (settings, known) = (at.settings(&flags)?, Known::new(at, &flags, None)?);
    let bare = plan.clone();
    if args.ci {
        require_deadline(&settings)?;
    }
    fill_gates(&mut plan, &known.gates);
    refuse_what_is_wrong(at, &plan, &known)?;
    if args.dry_run {
        let extra = Extra { quality: args.plan.quality, force: args.plan.force };
        return dry_run(at, &file, &plan, &known, extra, &trust_items::items(&bare));
    }
    let held = trust::require(at, &flags, Some(&bare))?;
    if args.detach {
        return detach::start(at, &[]);
    }
    tell_commands(at, &bare);
    let repo = repo(at, args, &settings, &plan)?;
    let store = repo.as_ref().map_or_else(|| Store::at(&at.dir), |repo| Store::at(repo.root()));
    open::check_agents(&settings.agents, store.workdir())?;
    open::check_setup(&settings, None, store.workdir())?;
    let store = beside::place_trees(store.create()?, trees_dir(&at.layers(&flags)?).as_deref())?;
    let plans = store.plans();
    std::fs::create_dir_all(&plans)?;
    let before = latest_of(&plans, &at.dir.join(&file));
    let only = selected(args, &plan, before.as_ref().map(|(_, state)| state))?;
    let mut options = Options {
        quality: args.plan.quality,
        split: args.plan.split,
        no_write_back: args.plan.no_write_back,
        format: args.plan.format.or_else(|| before.as_ref().and_then(|(_, state)| state.options.format)),
        ..Options::default()
    };
    let (dir, old) = choose_state(&plans, before, args)?;
    let id = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let _lock = Lock::take(&plans, &id)?;
    let mut kept = if old {
        take_over(&store, &id)?;
        let mut kept = Kept::open(&dir)?;
        kept.change(|state| {
            state.options.split = options.split.or(state.options.split);
            state.options.quality |= options.quality;
            state.options.no_write_back |= options.no_write_back;
            state.options.format = options.format;
            args.plan.beside.put(&mut state.options);
            try_again(state, only.as_deref(), args.plan.force);
        })?;
        kept
    } else {
        let (dir_typed, title) =
            (at.dir.display().to_string(), open::redactor(&settings)?.text(&plan.title).text.into_owned());
        let began = Some(Time(clock::now()));
        args.plan.beside.put(&mut options);
        let state = State {
            version: State::VERSION,
            id,
            plan: file,
            dir: dir_typed,
            title,
            began,
            options,
            users: repo.as_ref().and_then(|repo| Some((repo.head()?, repo.tree().ok()?))),
            ..State::default()
        };
        Kept::begin(&dir, state)?
    };
    // Without a state folder a phase asks by itself.
    let _ = allowed::grant(&kept.state().id, held);
    let words = args.settings.words();
    if !old || !words.is_empty() {
        kept.keep_flags(&words)?;
    }
    warn(&settings);
    suggest_policy(&args.task, &settings);
    let take = Take { words: args.settings.resume(None).words(), only, force: args.plan.force };
    let setting = setting(at, store, &settings, known, take)?;
    drive(at, setting, kept, &args.results())
}

fn repo(at: &Place, args: &Run, settings: &Settings, plan: &Plan) -> Result<Option<Repo>, Failure> {
    if args.plan.beside.parallel.is_some_and(|most| most > 1) {
        beside::repo(at, settings, plan, args.settings.flags().allow_dirty)
    } else {
        open::repo(&at.dir, settings)
    }
}

// What the plan's own files will run, before anything of it does.
fn tell_commands(at: &Place, plan: &Plan) {
    if !at.json {
        let mut err = std::io::stderr().lock();
        for line in command_lines(&trust_items::items(plan)) {
            let _ = writeln!(err, "segue: {line}");
        }
    }
}

// A master plan comes from a tool whose ways are a policy here.
fn suggest_policy(file: &Option<String>, settings: &Settings) {
    let is_master = file.as_ref().is_some_and(|file| file.to_lowercase().ends_with("master_plan.md"));
    if is_master && settings.preset != "phased" {
        let _ = writeln!(
            std::io::stderr().lock(),
            "segue: `--policy phased` runs a master plan as its own tool does: a commit after each phase, a restart at 80 %"
        );
    }
}

// The phases that --phase means.
fn selected(args: &Run, plan: &Plan, before: Option<&State>) -> Result<Option<Vec<String>>, Failure> {
    let is_known = |id: &str| before.is_some_and(|state| state.phase(id).is_some());
    let select = |typed: &String| select_phases(typed, plan, is_known).map_err(Failure::usage);
    args.plan.phase.as_ref().map(select).transpose()
}

// What was run of the same file before: nothing, something that is over, or something that can go on.
fn choose_state(
    plans: &Path,
    before: Option<(PathBuf, State)>,
    args: &Run,
) -> Result<(PathBuf, bool), Failure> {
    let flags = &args.plan;
    let new = || (plans.join(format!("plan-{}", new_id())), false);
    match before {
        None if flags.resume => {
            Err(Failure::usage("this plan has not run here yet: run it without --resume"))
        }
        None => Ok(new()),
        Some(_) if flags.restart => Ok(new()),
        Some((dir, _)) if flags.resume || flags.phase.is_some() || flags.force => Ok((dir, true)),
        Some((dir, state)) if state.status == Standing::Completed => Ok((dir, true)),
        Some((_, state)) => Err(Failure::usage(format!(
            "this plan has run before and is not completed ({}, {}): --resume continues it, --restart starts over",
            state.id,
            state.status.word()
        ))),
    }
}

/// What a runner is given beside its settings.
pub(super) struct Take {
    pub(super) words: Vec<String>,
    pub(super) only: Option<Vec<String>>,
    pub(super) force: bool,
}

pub(super) fn setting(
    at: &Place,
    store: Store,
    settings: &Settings,
    known: Known,
    take: Take,
) -> Result<Setting, Failure> {
    Ok(Setting {
        prompts: Prompts::load(store.workdir(), &settings.prompts)?,
        redactor: open::redactor(settings)?,
        program: std::env::current_exe()?,
        dir: at.dir.clone(),
        json: at.json,
        gates: known.gates,
        budget: known.budget,
        agent: settings.agents.first().map(|agent| agent.spec.name.clone()),
        policy: settings.preset.clone(),
        take_up: take.words,
        only: take.only,
        force: take.force,
        left_out: open::own_paths(settings),
        keeps: (settings.checkpoint.forms.dir(&store)?, settings.checkpoint.retention),
        trust: trust::key(at),
        shared: Shared::of(&settings.limits),
        may_merge: settings.git.enabled && settings.git.commit != CommitMode::Never,
        commits: settings.git.enabled && settings.git.commit == CommitMode::Branch,
        notify: settings.notify.clone(),
        kept_from_others: settings.env.kept_from_gates(),
        new_id,
        store,
    })
}

pub(super) fn drive(at: &Place, setting: Setting, kept: Kept, flags: &ResultFlags) -> Result<u8, Failure> {
    let store = setting.store.clone();
    let runner = Runner::new(setting, kept)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (code, state) = runtime.block_on(runner.drive())?;
    results::write(at, flags, &store, &state.title, &state.runs())?;
    Ok(code)
}

// A phase that is too large can be split, and one without gates can be unverified; nothing else is let through.
fn refuse_what_is_wrong(at: &Place, plan: &Plan, known: &Known) -> Result<(), Failure> {
    let files = disk(at);
    let history = known_sizes(at.store().workdir());
    let around = Circumstances {
        named: known.gates.clone(),
        gated: known.gated,
        budget: known.budget,
        history: &history,
        files: &files,
    };
    let findings = audit(plan, &around);
    let wrong = |finding: &&Finding| {
        finding.severity == Severity::Error
            && !matches!(finding.code, Code::PhaseTooLarge | Code::MissingGates)
    };
    let lines: Vec<String> = findings
        .iter()
        .filter(wrong)
        .map(|finding| {
            format!(
                "{}:{}: [{}] {}\n    {}",
                finding.file,
                finding.line,
                finding.code.name(),
                finding.message,
                finding.fix
            )
        })
        .collect();
    if !lines.is_empty() {
        return Err(Failure::usage(format!(
            "the plan has problems that must be fixed first:\n{}",
            lines.join("\n")
        )));
    }
    for finding in findings.iter().filter(|finding| finding.code == Code::MissingGates) {
        let _ = writeln!(std::io::stderr().lock(), "segue: warning: {}", finding.message);
    }
    Ok(())
}

fn dry_run(
    at: &Place,
    file: &str,
    plan: &Plan,
    known: &Known,
    extra: Extra,
    commands: &[Item],
) -> Result<u8, Failure> {
    let graph = segue_plans::graph::Graph::new(plan);
    let order: Vec<&segue_plans::Phase> = graph.order().into_iter().map(|at| &plan.phases[at]).collect();
    let sizes = known_sizes(at.store().workdir());
    let estimate = estimate_with(plan, known.budget, &sizes, &disk(at), extra);
    if at.json {
        let ids: Vec<&str> = order.iter().map(|phase| phase.id.as_str()).collect();
        let doc = json!({ "file": file, "format": plan.format, "title": plan.title, "counts": counts(plan), "order": ids, "estimate": estimate, "commands": commands_json(commands) });
        out::line(&doc.to_string());
        return Ok(0);
    }
    out::line(&format!("would run  {file}: {}", segue_report::plain(&plan.title)));
    for phase in order {
        let gates = phase.gates.len() + plan.gates.len();
        let checks =
            phase.all_criteria().chain(phase.all_verify()).map(|one| one.checks.len()).sum::<usize>();
        let done = if phase.status.is_over() { ", already completed" } else { "" };
        let title = segue_report::plain(&phase.title);
        let tasks = phase.tasks.len();
        out::line(&format!(
            "phase {}  {title} ({tasks} tasks, {gates} gates, {checks} checks{done})",
            phase.id
        ));
    }
    out::lines(estimate_words(&estimate));
    out::lines(command_lines(commands));
    Ok(0)
}
