//! What can be typed: the commands here, what each takes beside it.

mod others;
mod plan;
mod resume;
mod run;
mod setup;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub(super) use others::{Bridge, Config, Demo, Hook, Rehearse, Show, Trust};
pub(super) use plan::{BesideFlags, PlanFlags, ResultFlags, format_named};
pub(super) use resume::Resume;
pub(super) use run::{Loop, Phase, Run};
pub(super) use setup::{Clean, Init, InitPermissions, Man, Shell};

/// Keeps coding agents working past their context window.
#[derive(Debug, Parser)]
#[command(name = "segue", version = env!("SEGUE_VERSION"), arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Try `segue demo`: it needs no key, no network and no agent.\n\
Exit codes: 0 verified or unverified, 1 failed, 2 usage, 3 needs input, 4 stopped by a limit, \
75 provider unavailable, retry later, 130 interrupted.\n\
SEGUE_LOG=debug, or git=debug,driver=trace: what goes into segue.log in the run's folder.")]
pub(super) struct Args {
    /// Print JSON, one object per line
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Run in this folder instead of the current one
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    pub(super) dir: Option<PathBuf>,
    /// Show on standard error what segue itself does; -vv shows more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Set up this directory: find agents and gates, write a short segue.toml
    Init(Box<Init>),
    /// Run a task or a plan until its gates pass, over as many sessions as it takes
    Run(Box<Run>),
    /// Repeat a prompt until its gates pass and the agent says that it is done
    Loop(Box<Loop>),
    /// Resume a run or a plan that was stopped or that crashed
    Resume(Box<Resume>),
    /// Watch the active run live; leaving it does not stop it
    Attach {
        /// Run id, the start or end of one, `last`, or words of its task (default: the active run)
        run: Option<String>,
    },
    /// Wait until a run or a plan is over, and exit as it did
    #[command(after_help = "Exit codes are those of the run; 124 when --timeout is over.")]
    Wait {
        /// Run or plan: its id, the start or end of one, or `last` (default: the active one)
        run: Option<String>,
        /// Wait no longer than this: 30m, 2h
        #[arg(long, value_name = "TIME")]
        timeout: Option<String>,
    },
    /// List the runs of this directory, newest first
    List {
        /// List the runs of every repository
        #[arg(long)]
        all: bool,
    },
    /// Show the latest run: state, context used, gates
    Status {
        /// Run id, the start or end of one, `last`, or words of its task
        run: Option<String>,
        /// Every run of this work tree
        #[arg(long)]
        all: bool,
    },
    /// Print what happened, event by event
    Log {
        /// Run id, the start or end of one, `last`, or words of its task
        run: Option<String>,
        /// Follow: print new events as they happen
        #[arg(short, long)]
        follow: bool,
    },
    /// Show a run's checkpoints, gates and agent output
    Show(Show),
    /// Print where segue stores the runs of this work tree, or one run
    Path {
        /// Run id, the start or end of one, `last`, or words of its task
        run: Option<String>,
        /// Print the folder of the work trees of parallel phases
        #[arg(long, conflicts_with = "run")]
        trees: bool,
    },
    /// Stop the active run, with a checkpoint
    Stop {
        /// Stop only this run: its id, or the start of it
        run: Option<String>,
        /// Stop immediately, without a checkpoint
        #[arg(long)]
        now: bool,
    },
    /// Stored checkpoints: list, show, diff, verify, create, export, prune
    Checkpoint {
        #[command(subcommand)]
        verb: super::checkpoint::Verb,
    },
    /// Snapshots of your files that runs took: list, show, restore, prune
    #[command(
        after_help = "Nothing here changes your index, your branch or your files. docs/snapshots.md says more."
    )]
    #[command(alias = "work")]
    Snapshot {
        #[command(subcommand)]
        verb: super::snapshot::Verb,
    },
    /// Plans: check, show the dependency graph, estimate cost, status
    Plan {
        #[command(subcommand)]
        verb: super::plan::Verb,
    },
    /// Replay a run's journal and compare every decision
    Replay {
        /// Run id, the start or end of one, `last`, or words of its task
        run: Option<String>,
        /// Show what this policy would have decided instead: auto, seamless, observe, loop, staged, phased or native
        #[arg(long, value_name = "NAME")]
        policy: Option<String>,
        /// With the threshold of that policy at this percentage of the ceiling
        #[arg(long, value_name = "PERCENT", requires = "policy")]
        context_threshold: Option<f64>,
    },
    /// List the agents that segue supports and which are installed
    Agents {
        /// List the context windows known by model name, with their dates
        #[arg(long)]
        windows: bool,
    },
    /// Show what was spent today and in the latest run, and what remains
    Budget {
        /// Run id, the start or end of one, `last`, or words of its task
        run: Option<String>,
        /// List the prices known by model name, with their dates
        #[arg(long)]
        prices: bool,
    },
    /// Allow commands and settings that come from this repository or a plan
    Trust(Trust),
    /// Send a test notification, as [notify] of the configuration says
    Notify,
    /// Check your setup
    Doctor,
    /// Show, check and edit the configuration
    Config {
        #[command(subcommand)]
        what: Config,
    },
    /// List everything that segue stored, and remove it
    Clean(Clean),
    /// Print a script that completes commands, flags, run ids, agents and phases in your shell
    #[command(after_help = "bash: source <(segue completions bash)\nzsh: source <(segue completions zsh)\n\
fish: segue completions fish | source")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write a page for every command
    Man(Man),
    /// Watch a demo: a scripted agent works through four sessions in a temporary repository
    Demo(Demo),
    /// Test your setup: your real agent and configuration against a scripted model, no tokens spent
    Rehearse(Box<Rehearse>),
    /// Inside a run: add a note to the next checkpoint
    Progress {
        /// What was done
        #[arg(required = true, trailing_var_arg = true)]
        text: Vec<String>,
    },
    /// Inside a run: report that everything is done
    Done {
        /// What was done
        #[arg(trailing_var_arg = true)]
        text: Vec<String>,
    },
    /// What agents' own hooks call
    #[command(hide = true)]
    Hook {
        #[command(subcommand)]
        which: Hook,
    },
    /// What segue puts between itself and an agent that is a server
    #[command(hide = true)]
    Bridge {
        #[command(subcommand)]
        which: Bridge,
    },
    /// The delivery of one notification, for the process of a run
    #[command(hide = true)]
    Deliver,
    /// The run of one phase, for the process of its plan
    #[command(hide = true)]
    Phase(Box<Phase>),
    /// Whether what a command says is as expected
    #[command(hide = true)]
    Judge {
        /// What is expected of it
        #[arg(long)]
        expect: String,
        /// The command
        command: String,
    },
    /// The model server of rehearsals and the tests
    #[command(hide = true)]
    ScriptedModel {
        /// Its script, as JSON
        #[arg(long)]
        script: PathBuf,
    },
    /// The agent of the demo and the tests
    #[command(hide = true)]
    ScriptedAgent {
        /// Its script, as JSON
        #[arg(long)]
        script: PathBuf,
    },
}
