//! What the commands take that set segue up, find runs and remove what it wrote.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

/// `segue init …`
#[derive(Debug, Default, ClapArgs)]
#[command(
    after_help = "Without a terminal, or with --yes, nothing is asked: flags decide, and what they leave open is as recommended.\n\
An existing segue.toml is never overwritten."
)]
pub(in crate::cli) struct Init {
    /// Agents in order of preference; the installed ones when left out
    #[arg(long, value_name = "NAME[,NAME]", value_delimiter = ',')]
    pub(in crate::cli) agent: Vec<String>,
    /// A command whose exit code decides whether the work is done; may be repeated; found in the repository when left out
    #[arg(long, value_name = "COMMAND")]
    pub(in crate::cli) gate: Vec<String>,
    /// No gate
    #[arg(long, conflicts_with = "gate")]
    pub(in crate::cli) no_gate: bool,
    /// What agents may do without asking: deny, edit (change files here, run the gates) or bypass (everything)
    #[arg(long, value_name = "WHAT")]
    pub(in crate::cli) permissions: Option<InitPermissions>,
    /// Take what is recommended and ask nothing
    #[arg(short, long)]
    pub(in crate::cli) yes: bool,
    /// Print the file instead of writing it
    #[arg(long)]
    pub(in crate::cli) print: bool,
    /// Rehearse afterwards: the agent against a scripted model, without a token spent
    #[arg(long, conflicts_with = "print")]
    pub(in crate::cli) rehearse: bool,
}

/// What `segue init` can write as permissions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum InitPermissions {
    /// Nothing that it asks for.
    Deny,
    /// Files here and the gates' commands.
    #[default]
    Edit,
    /// Everything.
    Bypass,
}

impl InitPermissions {
    /// The word in the configuration.
    pub(in crate::cli) fn word(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Edit => "edit",
            Self::Bypass => "bypass",
        }
    }
}

/// `segue clean …`
#[derive(Debug, Clone, Copy, ClapArgs)]
#[command(
    after_help = "segue.toml is yours and stays. Snapshots may hold the only copy of work that was never committed."
)]
pub(in crate::cli) struct Clean {
    /// Also the state of your account and of every other repository that segue was used in
    #[arg(long)]
    pub(in crate::cli) all: bool,
    /// List what would be removed, and remove nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Remove it without asking
    #[arg(short, long)]
    pub(in crate::cli) yes: bool,
}

/// `segue man …`
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Man {
    /// Write a page for every command into this directory instead of printing the first one
    #[arg(value_name = "DIR")]
    pub(in crate::cli) into: Option<PathBuf>,
}

/// A shell with completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Shell {
    /// bash
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
}
