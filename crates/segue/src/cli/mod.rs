//! The command line: what was typed, what it means, and how it ends.

mod agents;
mod agents_cache;
mod args;
mod attach;
mod bare;
mod bridge;
mod budget;
mod checkpoint;
mod clean;
mod completions;
mod config;
mod config_file;
mod crashed;
mod demo;
mod detach;
mod doctor;
mod failure;
mod find;
mod hook;
mod init;
mod judge;
mod known;
mod list;
mod log;
mod looping;
mod man;
mod note;
mod notify;
mod open;
mod out;
mod path;
mod phase;
mod plan;
mod rehearse;
mod replay;
mod resume;
mod run;
mod scripted;
mod show;
mod snapshot;
mod status;
mod stop;
mod transcript;
mod trust;
mod version;
mod wait;
mod way_back;
mod what_if;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use failure::Failure;

use crate::config::other_tools;
use crate::driver::Message;
use crate::trace;

/// Runs the program and says how it ended.
pub(crate) fn main() -> ExitCode {
    completions::answer();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let _ = error.print();
            tell_old_flag(&error);
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let json = args.json;
    let done = trace::begin(args.verbose).map_err(Failure::usage).and_then(|()| dispatch(args));
    trace::finish();
    match done {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            failure.print(json);
            ExitCode::from(failure.exit)
        }
    }
}

// A flag of another tool is answered with what means the same here.
fn tell_old_flag(error: &clap::Error) {
    use std::io::Write;
    let Some(clap::error::ContextValue::String(typed)) = error.get(clap::error::ContextKind::InvalidArg)
    else {
        return;
    };
    if let Some(answer) = other_tools::flag(typed) {
        let _ = writeln!(std::io::stderr().lock(), "\n{typed} {answer}");
    }
}

fn dispatch(args: Args) -> Result<u8, Failure> {
    let at = open::Place::new(args.dir.as_deref(), args.json)?;
    match args.command {
        Command::Init(args) => init::init(&at, &args),
        Command::List { all } => list::list(&at, all),
        Command::Clean(args) => clean::clean(&at, &args),
        Command::Completions { shell } => completions::script(shell),
        Command::Man(args) => man::man(&at, &args),
        Command::Run(run) => run::run(&at, &run),
        Command::Loop(looping) => looping::looping(&at, &looping),
        Command::Phase(phase) => phase::phase(&at, &phase),
        Command::Judge { expect, command } => judge::judge(&at, &expect, &command),
        Command::Resume(resume) => resume::resume(&at, &resume),
        Command::Status { run, all } => status::status(&at, run.as_deref(), all),
        Command::Log { run, follow } => log::log(&at, run.as_deref(), follow),
        Command::Show(show) => show::show(&at, &show),
        Command::Path { run, trees } => path::path(&at, run.as_deref(), trees),
        Command::Stop { run, now } => stop::stop(&at, run.as_deref(), now),
        Command::Checkpoint { verb } => checkpoint::checkpoint(&at, &verb),
        Command::Snapshot { verb } => snapshot::snapshot(&at, &verb),
        Command::Replay { run, policy, context_threshold } => match policy {
            Some(policy) => what_if::what_if(&at, run.as_deref(), &policy, context_threshold),
            None => replay::replay(&at, run.as_deref()),
        },
        Command::Agents { windows } => agents::agents(&at, windows),
        Command::Budget { run, prices } => budget::budget(&at, run.as_deref(), prices),
        Command::Trust(trust) => trust::trust(&at, &trust),
        Command::Doctor => doctor::doctor(&at),
        Command::Config { what } => config::config(&at, &what),
        Command::Demo(demo) => demo::demo(&at, &demo),
        Command::Rehearse(rehearse) => rehearse::rehearse(&at, &rehearse),
        Command::Progress { text } => note::note(|text| Message::Progress { text }, &text),
        Command::Done { text } => note::note(|text| Message::Done { text }, &text),
        Command::Hook { which } => hook::hook(&at, &which),
        Command::Bridge { which } => bridge::bridge(&which),
        Command::Notify => notify::test(&at),
        Command::Deliver => notify::deliver(),
        Command::Attach { run } => attach::attach(&at, run.as_deref()),
        Command::Wait { run, timeout } => wait::wait(&at, run.as_deref(), timeout.as_deref()),
        Command::Plan { verb } => plan::plan(&at, &verb),
        Command::ScriptedModel { script } => scripted::model(&script),
        Command::ScriptedAgent { script } => scripted::agent(&script),
    }
}
