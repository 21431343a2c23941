//! `segue plan …`: look at a plan before it is run and while it is, one file per verb; and how `segue run` runs one.

mod accept;
mod beside;
mod check;
mod estimate;
mod results;
mod resume;
mod run;
mod show;
mod status;

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use segue_machine::gauge::parse_tokens;
use segue_plans::{Budget, Extra, Format, KnownGate, NoPlan, Plan};

pub(super) use self::results::write_results;
pub(super) use self::resume::resume;
pub(super) use self::run::{run, wanted};
pub(super) use self::status::{at_work, ended, is_active, is_open_beside, line_of, meant, status};
use super::args::format_named;
use super::failure::Failure;
use super::open::Place;
use super::out;
use crate::config::value::Value;
use crate::config::{ConfigErrors, Flags, Layers, configured_gates, resolve};
use crate::plan::Disk;
use crate::trust::Item;

/// What is to be done with a plan.
#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Check a plan: what is wrong, where, and how to fix it
    #[command(after_help = "Exit codes: 0 no problems, 1 problems found, 2 the file cannot be read.")]
    Check(One),
    /// Show the dependency graph
    Show(One),
    /// Estimate the cost of each phase and propose splits
    Estimate {
        #[command(flatten)]
        one: One,
        /// Include one more review round for each phase
        #[arg(long)]
        quality: bool,
        /// Include completed phases
        #[arg(long)]
        force: bool,
    },
    /// Show the progress of the plans in this work tree
    Status {
        /// Plan id, or the start of one (default: the latest)
        plan: Option<String>,
        /// Show every plan of this work tree
        #[arg(long)]
        all: bool,
    },
    /// Mark a phase as done, regardless of its gates
    Accept {
        /// The phase
        phase: String,
        /// Plan id, or the start of one (default: the latest)
        #[arg(long, value_name = "ID")]
        plan: Option<String>,
    },
}

/// One plan.
#[derive(Debug, Args)]
pub(super) struct One {
    /// The plan: a file in any known format, or a folder
    #[arg(value_name = "FILE|FOLDER")]
    file: String,
    /// Context window to plan with, instead of the first agent's: 200k, 1M
    #[arg(long, value_name = "TOKENS")]
    window: Option<String>,
    /// Read it in this format instead of detecting it
    #[arg(long, value_name = "FORMAT", value_parser = format_named)]
    format: Option<Format>,
}

/// Does it.
pub(super) fn plan(at: &Place, verb: &Verb) -> Result<u8, Failure> {
    match verb {
        Verb::Check(one) => check::check(at, one),
        Verb::Show(one) => show::show(at, one),
        Verb::Estimate { one, quality, force } => {
            estimate::estimate(at, one, Extra { quality: *quality, force: *force })
        }
        Verb::Status { plan, all } => status(at, plan.as_deref(), *all),
        Verb::Accept { phase, plan } => accept::accept(at, plan.as_deref(), phase),
    }
}

/// Reads the plan that was named.
fn read(at: &Place, one: &One) -> Result<Result<Plan, NoPlan>, Failure> {
    disk(at)
        .reading(one.format)
        .plan(&one.file)
        .map_err(|error| Failure::usage(format!("{}: {error}", one.file)))
}

/// The files that a plan may name.
pub(super) fn disk(at: &Place) -> Disk {
    Disk::new(&at.dir, at.store().workdir())
}

/// A plan that is no plan: 1 when it says too little, 2 when it cannot be read.
fn refused(error: &NoPlan) -> Failure {
    match error {
        NoPlan::NoStructure(_) | NoPlan::Empty(_) => Failure::failed(error.to_string()),
        NoPlan::NotText(..)
        | NoPlan::Utf16(_)
        | NoPlan::TooLarge(..)
        | NoPlan::Broken { .. }
        | NoPlan::Ambiguous { .. } => Failure::usage(error.to_string()),
    }
}

/// What the configuration says that plans depend on.
struct Known {
    gates: BTreeMap<String, KnownGate>,
    gated: bool,
    budget: Option<Budget>,
}

impl Known {
    fn new(at: &Place, flags: &Flags, window: Option<&str>) -> Result<Self, Failure> {
        let layers = at.layers(flags)?;
        let listed = layers.get("gate").map(|entry| &entry.value);
        let gated = matches!(listed, Some(Value::Gates(gates)) if !gates.is_empty());
        let known = |gate: segue_machine::GateSpec| {
            let known = if gate.manual { KnownGate::Manual } else { KnownGate::Command(gate.run) };
            (gate.name, known)
        };
        let gates = configured_gates(layers.values()).into_iter().map(known).collect();
        Ok(Self { gates, gated, budget: budget(&layers, window)? })
    }
}

// What was typed, or what is known about the first agent. Unknown stays unknown.
fn budget(layers: &Layers, window: Option<&str>) -> Result<Option<Budget>, Failure> {
    if let Some(typed) = window {
        let tokens = parse_tokens(typed).filter(|tokens| *tokens > 0);
        let wrong = || Failure::usage(format!("--window {typed:?}: a number of tokens, such as 200k or 1M"));
        return tokens.map(|tokens| Some(Budget { tokens })).ok_or_else(wrong);
    }
    let settings = match resolve(layers) {
        Ok(settings) => settings,
        Err(errors) if ConfigErrors::only_no_agent(&errors) => return Ok(None),
        Err(errors) => return Err(errors.into()),
    };
    let agent = settings.agents.first().map(|agent| &agent.spec);
    let window =
        agent.and_then(|spec| spec.window.or_else(|| segue_agents::windows::window(spec.model.as_deref()?)));
    let tokens = match (window, agent.and_then(|spec| spec.budget)) {
        (Some(window), Some(budget)) => Some(window.min(budget)),
        (window, budget) => window.or(budget),
    };
    Ok(tokens.map(|tokens| Budget { tokens }))
}

/// The commands of a plan for people.
fn command_lines(commands: &[Item]) -> Vec<String> {
    let head = (!commands.is_empty()).then(|| "commands that the plan runs:".to_owned());
    head.into_iter().chain(commands.iter().map(|item| format!("  {}", item.line()))).collect()
}

/// The same for a machine reader.
fn commands_json(commands: &[Item]) -> Vec<serde_json::Value> {
    let line = |item: &Item| {
        let run = item.text.strip_prefix("command: ").unwrap_or(&item.text);
        serde_json::json!({ "run": run, "at": item.place, "own_yes": item.own_yes.as_ref().map(|(_, why)| why) })
    };
    commands.iter().map(line).collect()
}

/// The plan of that name, for whoever only wants to know what it holds.
pub(super) fn read_named(at: &Place, file: &str, format: Option<Format>) -> Result<Plan, Failure> {
    let plan =
        disk(at).reading(format).plan(file).map_err(|error| Failure::usage(format!("{file}: {error}")))?;
    plan.map_err(|error| refused(&error))
}

/// One and many.
pub(super) fn count(n: usize, one: &str) -> String {
    match (n, one) {
        (1, one) => format!("1 {one}"),
        (n, "criterion") => format!("{n} criteria"),
        (n, one) => format!("{n} {one}s"),
    }
}
