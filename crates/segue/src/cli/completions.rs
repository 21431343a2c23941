//! Completions for shells: `segue completions SHELL` prints a script that asks this program, which then knows runs, agents
//! and phases besides commands and flags.

use std::ffi::OsStr;

use clap::{Command, CommandFactory};
use clap_complete::CompletionCandidate;
use clap_complete::engine::ArgValueCompleter;
use clap_complete::env::{Bash, CompleteEnv, EnvCompleter, Fish, Zsh};

use super::args::{Args, Shell};
use super::failure::Failure;
use super::find::short;
use super::open::Place;
use super::{agents, out};
use crate::plan;

/// The variable by which the scripts ask.
const VARIABLE: &str = "SEGUE_COMPLETE";
/// How many runs are offered.
const MOST_RUNS: usize = 20;

/// Answers a shell's question, if this call is one, and ends the program.
pub(super) fn answer() {
    CompleteEnv::with_factory(command).var(VARIABLE).complete();
}

/// Prints the script for a shell.
pub(super) fn script(shell: Shell) -> Result<u8, Failure> {
    let kind: &dyn EnvCompleter = match shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
    };
    let mut text = Vec::new();
    kind.write_registration(VARIABLE, "segue", "segue", "segue", &mut text)?;
    out::bytes(&text);
    Ok(0)
}

// The commands as they are typed, with what only this program knows added to their arguments.
fn command() -> Command {
    with_values(Args::command())
}

fn with_values(command: Command) -> Command {
    command
        .mut_args(|arg| match arg.get_id().as_str() {
            "run" => arg.add(ArgValueCompleter::new(runs)),
            "agent" => arg.add(ArgValueCompleter::new(agents)),
            "phase" => arg.add(ArgValueCompleter::new(phases)),
            _ => arg,
        })
        .mut_subcommands(with_values)
}

fn runs(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy().into_owned();
    let rows = Place::new(None, true).and_then(|at| at.runs()).unwrap_or_default();
    let fits = |id: &str| id.starts_with(&typed) || short(id).starts_with(&typed);
    let rows = rows.into_iter().filter(|row| fits(&row.id)).take(MOST_RUNS);
    rows.map(|row| {
        let value = if row.id.starts_with(&typed) { row.id.as_str() } else { short(&row.id) };
        CompletionCandidate::new(value).help(Some(segue_report::plain(&row.task).into()))
    })
    .collect()
}

// A list is completed at its end: `claude,co` is `claude,codex`.
fn agents(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy().into_owned();
    let (before, last) =
        typed.rsplit_once(',').map_or(("", typed.as_str()), |(b, l)| (&typed[..=b.len()], l));
    let names = agents::choices().into_iter().filter(|name| name.starts_with(last));
    names.map(|name| CompletionCandidate::new(format!("{before}{name}"))).collect()
}

fn phases(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy().into_owned();
    let Ok(at) = Place::new(None, true) else { return Vec::new() };
    let ids = plan::latest_phases(&at.store());
    let fits = |id: &String| id.starts_with(&typed) && is_plain(id);
    ids.into_iter().filter(fits).map(CompletionCandidate::new).collect()
}

// What goes to the terminal as it is, and into a command.
fn is_plain(text: &str) -> bool {
    segue_report::plain(text) == text
}
