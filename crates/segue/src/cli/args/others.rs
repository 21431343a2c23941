//! What the smaller commands take.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

/// `segue hook …`
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Hook {
    /// A tool has ended
    AfterTool,
    /// The agent is about to call its model
    BeforeModel,
    /// The agent is about to compact its context and must not
    BeforeCompaction,
    /// The agent is about to compact its context: keep what it forgets
    Archive,
}

/// `segue bridge …`
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Bridge {
    /// `opencode serve`
    Opencode {
        /// The program and its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
}

/// `segue config …`
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Config {
    /// Check the configuration for errors
    Check,
    /// Show every value in effect and where it comes from
    Show,
    /// Print the value of one key
    Get {
        /// The key, for example limits.deadline
        key: String,
    },
    /// Set a key in this repository's segue.toml; comments are kept
    Set {
        /// The key, for example limits.deadline
        key: String,
        /// The value, as a flag would take it: 2h, true, claude,codex
        value: String,
        /// Set it in your own file, for all repositories
        #[arg(long)]
        user: bool,
    },
    /// Open the segue.toml of this repository in your editor, and check it afterwards
    Edit {
        /// Edit your own file instead
        #[arg(long)]
        user: bool,
    },
    /// Print a JSON Schema of segue.toml, for editors
    Schema,
    /// List every key: meaning, type, default and environment variables
    Keys,
}

/// `segue trust …`
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "segue remembers what you allow, per repository, in your state folder. Commands that publish, push, delete, reset or deploy, or that run a download, must each be allowed with --command. docs/trust.md says more."
)]
pub(in crate::cli) struct Trust {
    /// Also allow the commands of this plan
    #[arg(value_name = "PLAN")]
    pub(in crate::cli) plan: Option<String>,
    /// Read the plan in this format instead of detecting it
    #[arg(long, value_name = "FORMAT", value_parser = super::format_named, requires = "plan")]
    pub(in crate::cli) format: Option<segue_plans::Format>,
    /// Show what is allowed
    #[arg(long, conflicts_with_all = ["plan", "revoke", "command"])]
    pub(in crate::cli) list: bool,
    /// Forget everything that was allowed for this repository
    #[arg(long, conflicts_with_all = ["plan", "command"])]
    pub(in crate::cli) revoke: bool,
    /// Allow this one command
    #[arg(long, value_name = "COMMAND", conflicts_with = "plan")]
    pub(in crate::cli) command: Option<String>,
}

/// `segue show …`
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Show {
    /// Run id, the start or end of one, `last`, or words of its task
    pub(in crate::cli) run: Option<String>,
    /// Show this checkpoint
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) checkpoint: Option<String>,
    /// Show the last output of each gate
    #[arg(long)]
    pub(in crate::cli) gates: bool,
    /// Show the agent's output, of the last session or of SESSION
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "0")]
    pub(in crate::cli) output: Option<u32>,
    /// Show what the agents said and did, in all sessions or in SESSION; one line per tool call
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "0", conflicts_with_all = ["output", "gates", "checkpoint"])]
    pub(in crate::cli) transcript: Option<u32>,
    /// With --transcript: follow the run until it ends
    #[arg(short, long, requires = "transcript")]
    pub(in crate::cli) follow: bool,
    /// With --output or --transcript: print the agent's bytes unchanged, control sequences included
    #[arg(long)]
    pub(in crate::cli) raw: bool,
}

/// `segue demo …`
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Demo {
    /// The policy to show: auto, seamless, observe, loop, staged, phased or native
    #[arg(long, default_value = "auto")]
    pub(in crate::cli) policy: String,
    /// Run the same job without segue, until it overflows and fails
    #[arg(long)]
    pub(in crate::cli) bare: bool,
    /// Skip the pauses
    #[arg(long)]
    pub(in crate::cli) fast: bool,
    /// Create the repository in DIR and keep it
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) keep: Option<PathBuf>,
}

/// `segue rehearse …`
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Your agent's own program and your segue.toml are used unchanged; only the model is replaced, by a scripted one on this machine.\nExit codes: 0 the setup works, 1 it does not, 2 usage, 130 interrupted. docs/rehearse.md says more."
)]
pub(in crate::cli) struct Rehearse {
    /// Agent to rehearse (default: the configured one); `scripted` needs no CLI
    #[arg(long, value_name = "NAME[,NAME]")]
    pub(in crate::cli) agent: Option<String>,
    /// Context window of the scripted model (default: 60k)
    #[arg(long, value_name = "TOKENS")]
    pub(in crate::cli) window: Option<String>,
    /// Policy to use instead of yours: auto, seamless, observe, loop, staged, phased or native
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) policy: Option<String>,
    /// Fault to inject: 429, 429-no-reset, 529, 401, 500, quota, cut, stall, hang or overflow
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) fault: Option<String>,
    /// When to inject it: start, middle or checkpoint
    #[arg(long, value_name = "WHEN", default_value = "middle", requires = "fault")]
    pub(in crate::cli) when: String,
    /// How often to inject it, or `always`: until the run stops; the run is then resumed without it
    #[arg(long, value_name = "N|always", requires = "fault")]
    pub(in crate::cli) times: Option<String>,
    /// Number of steps in the job; together they fill one window
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(in crate::cli) steps: u32,
    /// What the agent may do without asking, instead of your setting: deny, edit, bypass, or allow=execute,edit
    #[arg(long, value_name = "WHAT")]
    pub(in crate::cli) permissions: Option<String>,
    /// Allow, for this rehearsal, commands and settings that come from the repository
    #[arg(long)]
    pub(in crate::cli) trust: bool,
    /// Keep the repository of the rehearsal; it is always kept when something is wrong
    #[arg(long)]
    pub(in crate::cli) keep: bool,
}

impl Rehearse {
    /// The rehearsal that `segue init` offers.
    pub(in crate::cli) fn of_init() -> Self {
        Self {
            agent: None,
            window: None,
            policy: None,
            fault: None,
            when: "middle".to_owned(),
            times: None,
            steps: 20,
            permissions: None,
            trust: false,
            keep: false,
        }
    }
}
