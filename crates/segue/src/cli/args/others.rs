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
    /// Say what is wrong with the configuration, if anything
    Check,
    /// Every value in force, and where it comes from
    Show,
    /// Print the value of one key
    Get {
        /// The key, for example limits.deadline
        key: String,
    },
    /// Set a key in the segue.toml of this repository; comments and everything else in it stay
    Set {
        /// The key, for example limits.deadline
        key: String,
        /// The value, as a flag would take it: 2h, true, claude,codex
        value: String,
        /// In your own file instead, for every repository
        #[arg(long)]
        user: bool,
    },
    /// Open the segue.toml of this repository in your editor, and check it afterwards
    Edit {
        /// Your own file instead
        #[arg(long)]
        user: bool,
    },
    /// Print a JSON Schema of segue.toml, for editors
    Schema,
    /// Every key there is: what it means, what it takes, and its environment variables
    Keys,
}

/// `segue trust …`
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "What is allowed is remembered for this repository in your own state folder. Commands that publish, push, \
delete, reset, deploy or run a download need --command each. docs/trust.md says more."
)]
pub(in crate::cli) struct Trust {
    /// A plan whose commands are allowed as well
    #[arg(value_name = "PLAN")]
    pub(in crate::cli) plan: Option<String>,
    /// Read the plan in this format instead of the one that it is recognised as
    #[arg(long, value_name = "FORMAT", value_parser = super::format_named, requires = "plan")]
    pub(in crate::cli) format: Option<segue_plans::Format>,
    /// Show what is allowed
    #[arg(long, conflicts_with_all = ["plan", "revoke", "command"])]
    pub(in crate::cli) list: bool,
    /// Allow nothing of this repository any more
    #[arg(long, conflicts_with_all = ["plan", "command"])]
    pub(in crate::cli) revoke: bool,
    /// Allow this one command
    #[arg(long, value_name = "COMMAND", conflicts_with = "plan")]
    pub(in crate::cli) command: Option<String>,
}

/// `segue show …`
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Show {
    /// A run, by id or the beginning of it
    pub(in crate::cli) run: Option<String>,
    /// A checkpoint, by id
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) checkpoint: Option<String>,
    /// What the gates said last
    #[arg(long)]
    pub(in crate::cli) gates: bool,
    /// What the agent wrote, of the last session or of this one
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "0")]
    pub(in crate::cli) output: Option<u32>,
    /// What the agents said and did, of all sessions or of this one; a tool is one line
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "0", conflicts_with_all = ["output", "gates", "checkpoint"])]
    pub(in crate::cli) transcript: Option<u32>,
    /// With --transcript: continue while the run does
    #[arg(short, long, requires = "transcript")]
    pub(in crate::cli) follow: bool,
    /// With --output or --transcript: what the agent wrote, byte for byte, control sequences included
    #[arg(long)]
    pub(in crate::cli) raw: bool,
}

/// `segue demo …`
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Demo {
    /// The policy to show: auto, seamless, observe, loop, staged, phased or native
    #[arg(long, default_value = "auto")]
    pub(in crate::cli) policy: String,
    /// The same job without segue: it overflows and fails
    #[arg(long)]
    pub(in crate::cli) bare: bool,
    /// Without pauses
    #[arg(long)]
    pub(in crate::cli) fast: bool,
    /// Make the repository here instead of in a temporary folder
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) keep: Option<PathBuf>,
}

/// `segue rehearse …`
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "The agent's own program and your segue.toml are used as they are; only the model is a stand-in \
on this machine.\nExit codes: 0 the set-up works, 1 it does not, 2 usage, 130 interrupted. docs/rehearse.md says more."
)]
pub(in crate::cli) struct Rehearse {
    /// The agent; the configured one when left out, `scripted` for a stand-in that needs no CLI
    #[arg(long, value_name = "NAME[,NAME]")]
    pub(in crate::cli) agent: Option<String>,
    /// The window of the scripted model, 60k when left out
    #[arg(long, value_name = "TOKENS")]
    pub(in crate::cli) window: Option<String>,
    /// When to hand over, instead of your policy: auto, seamless, observe, loop, staged, phased or native
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) policy: Option<String>,
    /// What goes wrong: 429, 429-no-reset, 529, 401, 500, quota, cut, stall, hang or overflow
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) fault: Option<String>,
    /// When it goes wrong: start, middle or checkpoint
    #[arg(long, value_name = "WHEN", default_value = "middle", requires = "fault")]
    pub(in crate::cli) when: String,
    /// How often it goes wrong, or `always`: until the run has stopped; then the run is resumed without it
    #[arg(long, value_name = "N|always", requires = "fault")]
    pub(in crate::cli) times: Option<String>,
    /// How many steps the job has; together they need one full window
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(in crate::cli) steps: u32,
    /// What the agent may do without asking, instead of your setting: deny, edit, bypass, or allow=execute,edit
    #[arg(long, value_name = "WHAT")]
    pub(in crate::cli) permissions: Option<String>,
    /// Allow, for this rehearsal, what the repository's settings and templates would execute or widen
    #[arg(long)]
    pub(in crate::cli) trust: bool,
    /// Keep the repository of the rehearsal; it is also kept when something is wrong
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
