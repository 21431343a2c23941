//! What tasks, loops and phases take.

use clap::Args as ClapArgs;

use super::{PlanFlags, ResultFlags, Resume};
use crate::config::Flags;

/// `segue run …`
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Run {
    /// The task in words, a file that holds it (PROMPT.md), a plan (PLAN.md, a folder of them), or - for standard input
    #[arg(value_name = "TASK|FILE", required_unless_present = "from_checkpoint")]
    pub(in crate::cli) task: Option<String>,
    /// Start a new run from this checkpoint, a file or an id; without TASK its own task continues
    #[arg(long, value_name = "FILE|ID")]
    pub(in crate::cli) from_checkpoint: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) settings: RunFlags,
    #[command(flatten)]
    pub(in crate::cli) plan: PlanFlags,
    #[command(flatten)]
    pub(in crate::cli) results: ResultFlags,
    /// Print what would be done, without doing it
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Continue in the background: closing the terminal does not stop it; `segue attach` shows it
    #[arg(long, conflicts_with_all = ["dry_run", "ci"])]
    pub(in crate::cli) detach: bool,
    /// Set by --detach for the process in the background
    #[arg(long, hide = true)]
    pub(in crate::cli) detached: bool,
    /// For CI: no prompts, no colour, JUnit (segue-junit.xml) and summary files; a deadline is required
    #[arg(long)]
    pub(in crate::cli) ci: bool,
}

impl Run {
    /// Where the results of gates go: in CI always into files.
    pub(in crate::cli) fn results(&self) -> ResultFlags {
        let mut results = self.results.clone();
        if self.ci {
            results.junit.get_or_insert_with(|| "segue-junit.xml".into());
            if std::env::var_os("GITHUB_STEP_SUMMARY").is_none_or(|path| path.is_empty()) {
                results.step_summary.get_or_insert_with(|| "segue-summary.md".into());
            }
        }
        results
    }
}

/// `segue loop …`
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Like `segue run --policy loop`, but the agent must also say the completion word. Passing gates without the word, or the word with failing gates, lead to another round."
)]
pub(in crate::cli) struct Loop {
    /// The prompt: a file, words, or - for standard input
    #[arg(value_name = "PROMPT")]
    pub(in crate::cli) prompt: String,
    /// Maximum number of rounds, over all sessions
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(in crate::cli) max_iterations: u32,
    /// Word that the agent must say when everything is done
    #[arg(long, value_name = "WORD", default_value = "LOOP_COMPLETE")]
    pub(in crate::cli) completion_word: String,
    #[command(flatten)]
    pub(in crate::cli) settings: RunFlags,
    #[command(flatten)]
    pub(in crate::cli) results: ResultFlags,
}

/// `segue phase …`
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Phase {
    /// A run to resume; else the job is read from standard input
    #[arg(long, value_name = "RUN")]
    pub(in crate::cli) take_up: Option<String>,
    /// Only the gates of the job, in the work tree as it is
    #[arg(long, conflicts_with = "take_up")]
    pub(in crate::cli) check: bool,
    #[command(flatten)]
    pub(in crate::cli) settings: RunFlags,
}

/// The flags that say how a task is run.
#[derive(Debug, Default, ClapArgs)]
pub(in crate::cli) struct RunFlags {
    /// Agents in order of preference
    #[arg(long, value_name = "NAME[,NAME]")]
    agent: Option<String>,
    /// Role from the configuration: its agents, checkpoint sections and files
    #[arg(long, value_name = "NAME")]
    role: Option<String>,
    /// The model of the first agent
    #[arg(long)]
    model: Option<String>,
    /// When to replace the session: auto, seamless, observe, loop, staged, phased or native
    #[arg(long)]
    policy: Option<String>,
    /// Replace the session at this percentage of its ceiling, or at this many tokens (160k); 100 or more: never
    #[arg(long, value_name = "PERCENT|TOKENS")]
    context_threshold: Option<String>,
    /// Replace the session after this many tool calls
    #[arg(long, value_name = "N")]
    tool_call_threshold: Option<String>,
    /// Context window of the first agent, if it does not report one: 200k, 1M
    #[arg(long, value_name = "TOKENS")]
    window: Option<String>,
    /// Maximum number of fresh sessions after a full context
    #[arg(long, value_name = "N")]
    max_restarts: Option<String>,
    /// Stop after spending this much
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<String>,
    /// Stop after this time, over all sessions: 90m, 8h
    #[arg(long, value_name = "TIME")]
    deadline: Option<String>,
    /// Replace an agent that shows no sign of life for this long: 10m
    #[arg(long, value_name = "TIME")]
    idle_timeout: Option<String>,
    /// What agents may do without asking: deny, edit (change files here, run the gates), bypass, or allow=execute,edit
    #[arg(long, value_name = "WHAT")]
    permissions: Option<String>,
    /// A command whose exit code decides whether the work is done; may be repeated
    #[arg(long, value_name = "COMMAND")]
    gate: Vec<String>,
    /// How often failed gates go back to the agent before the run fails
    #[arg(long, value_name = "N")]
    gate_rounds: Option<String>,
    /// Require a gate: without one the run ends with exit 3
    #[arg(long)]
    require_verified: bool,
    /// Save a snapshot instead of committing on the branch
    #[arg(long)]
    no_auto_commit: bool,
    /// Work without git
    #[arg(long)]
    no_git: bool,
    /// Start even if there are uncommitted changes
    #[arg(long)]
    allow_dirty: bool,
    /// Do not wait for a rate-limited or overloaded provider: stop with exit 75, resumable
    #[arg(long)]
    no_wait: bool,
    /// Stop after this many tokens, sent and received, over all sessions: 500k, 5M
    #[arg(long, value_name = "TOKENS")]
    max_tokens: Option<String>,
    /// Maximum number of sessions
    #[arg(long, value_name = "N")]
    max_sessions: Option<String>,
    /// Run even if a cost limit cannot be enforced because the model's price is unknown
    #[arg(long)]
    allow_unknown_cost: bool,
    /// Do not send the agent usage hints
    #[arg(long)]
    no_tell: bool,
    /// Allow, for this run, commands and settings that come from the repository or its plan
    #[arg(long)]
    trust: bool,
}

impl RunFlags {
    /// The flags as a layer of the configuration.
    pub(in crate::cli) fn flags(&self) -> Flags {
        Flags {
            agent: self.agent.clone(),
            role: self.role.clone(),
            model: self.model.clone(),
            policy: self.policy.clone(),
            context_threshold: self.context_threshold.clone(),
            tool_call_threshold: self.tool_call_threshold.clone(),
            window: self.window.clone(),
            max_restarts: self.max_restarts.clone(),
            max_cost: self.max_cost.clone(),
            deadline: self.deadline.clone(),
            idle_timeout: self.idle_timeout.clone(),
            permissions: self.permissions.clone(),
            gates: self.gate.clone(),
            gate_rounds: self.gate_rounds.clone(),
            require_verified: self.require_verified,
            no_auto_commit: self.no_auto_commit,
            no_git: self.no_git,
            allow_dirty: self.allow_dirty,
            no_wait: self.no_wait,
            max_tokens: self.max_tokens.clone(),
            max_sessions: self.max_sessions.clone(),
            allow_unknown_cost: self.allow_unknown_cost,
            no_tell: self.no_tell,
            trust: self.trust,
        }
    }
}

impl RunFlags {
    /// The flags as they would be typed again.
    pub(in crate::cli) fn words(&self) -> Vec<String> {
        let pairs = [
            ("--agent", &self.agent),
            ("--role", &self.role),
            ("--model", &self.model),
            ("--policy", &self.policy),
            ("--context-threshold", &self.context_threshold),
            ("--tool-call-threshold", &self.tool_call_threshold),
            ("--window", &self.window),
            ("--max-restarts", &self.max_restarts),
            ("--gate-rounds", &self.gate_rounds),
            ("--max-cost", &self.max_cost),
            ("--max-tokens", &self.max_tokens),
            ("--max-sessions", &self.max_sessions),
            ("--deadline", &self.deadline),
            ("--idle-timeout", &self.idle_timeout),
            ("--permissions", &self.permissions),
        ];
        let given = pairs.into_iter().filter_map(|(flag, value)| Some(format!("{flag}={}", value.as_ref()?)));
        let switches = [
            ("--require-verified", self.require_verified),
            ("--no-auto-commit", self.no_auto_commit),
            ("--no-git", self.no_git),
            ("--allow-dirty", self.allow_dirty),
            ("--no-wait", self.no_wait),
            ("--no-tell", self.no_tell),
            ("--allow-unknown-cost", self.allow_unknown_cost),
        ];
        let on = switches.into_iter().filter(|(_, on)| *on).map(|(flag, _)| flag.to_owned());
        given.chain(self.gate.iter().map(|gate| format!("--gate={gate}"))).chain(on).collect()
    }

    /// What of them a run that is resumed can be given.
    pub(in crate::cli) fn resume(&self, run: Option<String>) -> Resume {
        Resume {
            run,
            agent: self.agent.clone(),
            deadline: self.deadline.clone(),
            max_restarts: self.max_restarts.clone(),
            gate_rounds: self.gate_rounds.clone(),
            max_cost: self.max_cost.clone(),
            max_tokens: self.max_tokens.clone(),
            max_sessions: self.max_sessions.clone(),
            allow_unknown_cost: self.allow_unknown_cost,
            no_wait: self.no_wait,
            permissions: self.permissions.clone(),
            trust: self.trust,
            ..Resume::default()
        }
    }
}
