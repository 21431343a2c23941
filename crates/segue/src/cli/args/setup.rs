//! What the commands take that set segue up, find runs and remove what it wrote.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

/// `segue init …`
#[derive(Debug, Default, ClapArgs)]
#[command(
    after_help = "Without a terminal, or with --yes, segue asks nothing: it takes your flags and, for the rest, its recommendations.\n\
It never overwrites an existing segue.toml."
)]
pub(in crate::cli) struct Init {
    /// Agents in order of preference (default: the installed ones)
    #[arg(long, value_name = "NAME[,NAME]", value_delimiter = ',')]
    pub(in crate::cli) agent: Vec<String>,
    /// A command whose exit code decides whether the work is done; may be repeated (default: found in the repository)
    #[arg(long, value_name = "COMMAND")]
    pub(in crate::cli) gate: Vec<String>,
    /// Write no gate
    #[arg(long, conflicts_with = "gate")]
    pub(in crate::cli) no_gate: bool,
    /// What agents may do without asking: deny, edit (change files here, run the gates) or bypass (everything)
    #[arg(long, value_name = "WHAT")]
    pub(in crate::cli) permissions: Option<InitPermissions>,
    /// Accept the recommendations without asking
    #[arg(short, long)]
    pub(in crate::cli) yes: bool,
    /// Print the file instead of writing it
    #[arg(long)]
    pub(in crate::cli) print: bool,
    /// Then run `segue rehearse`: your agent against a scripted model, no tokens spent
    #[arg(long, conflicts_with = "print")]
    pub(in crate::cli) rehearse: bool,
}

/// What `segue init` can write as permissions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum InitPermissions {
    /// Deny everything that the agent asks for
    Deny,
    /// Allow editing files in this directory and running the gates' commands
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
    after_help = "segue.toml is kept. Snapshots may hold the only copy of work that was never committed."
)]
pub(in crate::cli) struct Clean {
    /// Also remove your user state and that of every other repository
    #[arg(long)]
    pub(in crate::cli) all: bool,
    /// Only list what would be removed
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Do not ask for confirmation
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
