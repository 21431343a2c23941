//! What a run or a plan that is taken up can be given.

use clap::Args as ClapArgs;

use super::{BesideFlags, ResultFlags};
use crate::plan::Splitting;

/// `segue resume …`
#[derive(Debug, Default, ClapArgs)]
pub(in crate::cli) struct Resume {
    /// Run or plan id, the start or end of one, or words of its task (default: the latest that can be resumed)
    pub(in crate::cli) run: Option<String>,
    /// Continue the old conversation if the agent can; otherwise start a fresh one
    #[arg(long)]
    pub(in crate::cli) same_session: bool,
    /// Answer the agent's question, in its old conversation if that can be continued
    #[arg(long, value_name = "TEXT")]
    pub(in crate::cli) answer: Option<String>,
    /// Continue from this checkpoint instead of the last: an id, its name in the run (c36), or a file
    #[arg(long, value_name = "CHECKPOINT", conflicts_with = "same_session")]
    pub(in crate::cli) at: Option<String>,
    /// Use these agents instead, in order of preference
    #[arg(long, value_name = "NAME[,NAME]")]
    pub(in crate::cli) agent: Option<String>,
    /// New deadline, counted from the start of the run
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) deadline: Option<String>,
    /// New limit on restarts
    #[arg(long, value_name = "N")]
    pub(in crate::cli) max_restarts: Option<String>,
    /// New number of times that failed gates go back to the agent
    #[arg(long, value_name = "N")]
    pub(in crate::cli) gate_rounds: Option<String>,
    /// New cost limit
    #[arg(long, value_name = "DOLLARS")]
    pub(in crate::cli) max_cost: Option<String>,
    /// New token limit
    #[arg(long, value_name = "TOKENS")]
    pub(in crate::cli) max_tokens: Option<String>,
    /// New limit on sessions
    #[arg(long, value_name = "N")]
    pub(in crate::cli) max_sessions: Option<String>,
    /// Run even if a cost limit cannot be enforced because the model's price is unknown
    #[arg(long)]
    pub(in crate::cli) allow_unknown_cost: bool,
    /// What agents may do without asking: deny, edit (change files here, run the gates), bypass, or allow=execute,edit
    #[arg(long, value_name = "WHAT")]
    pub(in crate::cli) permissions: Option<String>,
    /// Retry now instead of waiting for the provider
    #[arg(long, conflicts_with = "no_wait")]
    pub(in crate::cli) now: bool,
    /// Do not wait for a rate-limited or overloaded provider: stop with exit 75, resumable
    #[arg(long)]
    pub(in crate::cli) no_wait: bool,
    /// Resume although the journal was changed or cannot be verified
    #[arg(long)]
    pub(in crate::cli) accept_journal: bool,
    /// Allow, for this run, commands and settings that come from the repository or its plan
    #[arg(long)]
    pub(in crate::cli) trust: bool,
    /// Continue in the background: closing the terminal does not stop it; `segue attach` shows it
    #[arg(long)]
    pub(in crate::cli) detach: bool,
    /// Set by --detach for the process in the background
    #[arg(long, hide = true)]
    pub(in crate::cli) detached: bool,
    /// For a plan: what to do with a phase that is too large
    #[arg(long, value_name = "HOW")]
    pub(in crate::cli) split: Option<Splitting>,
    #[command(flatten)]
    pub(in crate::cli) beside: BesideFlags,
    #[command(flatten)]
    pub(in crate::cli) results: ResultFlags,
}

impl Resume {
    /// The flags that runs of a plan are resumed with.
    pub(in crate::cli) fn words(&self) -> Vec<String> {
        let pairs = [
            ("--agent", &self.agent),
            ("--deadline", &self.deadline),
            ("--max-restarts", &self.max_restarts),
            ("--gate-rounds", &self.gate_rounds),
            ("--max-cost", &self.max_cost),
            ("--max-tokens", &self.max_tokens),
            ("--max-sessions", &self.max_sessions),
            ("--permissions", &self.permissions),
        ];
        let given = pairs.into_iter().filter_map(|(flag, value)| Some(format!("{flag}={}", value.as_ref()?)));
        let switches = [
            ("--now", self.now),
            ("--no-wait", self.no_wait),
            ("--allow-unknown-cost", self.allow_unknown_cost),
            ("--accept-journal", self.accept_journal),
        ];
        given.chain(switches.into_iter().filter(|(_, on)| *on).map(|(flag, _)| flag.to_owned())).collect()
    }
}
