//! The configuration as a run uses it: every value decided.

use std::collections::BTreeMap;

use segue_machine::ledger::Memory;
use segue_machine::policy::Policy;
use segue_machine::{AgentSpec, CommitMode, DayLimits, GateSpec, Limits, Price, RoleSpec, WaitRules};

use crate::child_env::EnvRules;
use crate::config::problem::Problem;
use crate::config::value::Permissions;
use crate::notify::NotifySettings;

/// Everything that a run needs to know.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The agents in order of preference; at least one.
    pub(crate) agents: Vec<AgentSettings>,
    /// The preset's name, also when its stages were replaced.
    pub(crate) preset: String,
    /// The policy in force.
    pub(crate) policy: Policy,
    /// The limits in force.
    pub(crate) limits: Limits,
    /// When a run waits, and how long.
    pub(crate) wait: WaitRules,
    /// The gates, in the order in which they run.
    pub(crate) gates: Vec<GateSpec>,
    /// Gates that run only where a plan names them.
    #[cfg_attr(not(test), expect(dead_code, reason = "checked for every run, used by plans"))]
    pub(crate) named_gates: BTreeMap<String, GateSpec>,
    /// A plan's own gates also run before the first session.
    pub(crate) plan_gates_first: bool,
    /// How git is used.
    pub(crate) git: GitSettings,
    /// A claim without a gate is not enough.
    pub(crate) require_verified: bool,
    /// Last words that evidence contradicts fail the run although its gates pass.
    pub(crate) strict_claims: bool,
    /// Where and how checkpoints are kept.
    pub(crate) checkpoint: CheckpointSettings,
    /// What is taken out of everything that is kept.
    pub(crate) redact: RedactSettings,
    /// What agents and gates get of the environment.
    pub(crate) env: EnvRules,
    /// Who the run works as.
    pub(crate) role: Option<RoleSpec>,
    /// Agents for a second opinion before a run is called done; none: nobody is asked.
    pub(crate) verifiers: Vec<AgentSettings>,
    /// Who does what in a plan.
    #[cfg_attr(not(test), expect(dead_code, reason = "checked for every run, used by plans"))]
    pub(crate) roles: BTreeMap<String, Role>,
    /// Files of prompt templates, by name.
    pub(crate) prompts: BTreeMap<String, String>,
    /// What may be spent beside the limits.
    pub(crate) budget: BudgetSettings,
    /// Who is told when the run needs somebody.
    pub(crate) notify: NotifySettings,
    /// What is worth saying although it stops nothing.
    pub(crate) warnings: Vec<Problem>,
}

impl Settings {
    /// Every agent that may be started, each name once.
    pub(crate) fn everyone(&self) -> Vec<AgentSettings> {
        let mut all = self.agents.clone();
        for agent in &self.verifiers {
            if !all.iter().any(|known| known.spec.name == agent.spec.name) {
                all.push(agent.clone());
            }
        }
        all
    }
}

/// What may be spent beside the limits of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BudgetSettings {
    /// What all runs of a day may spend together.
    pub(crate) day: DayLimits,
    /// Nothing is spent really: no book is kept, and no limit of the day holds.
    pub(crate) unkept: bool,
    /// A cost limit that cannot be enforced is no reason to refuse.
    pub(crate) allow_unknown_cost: bool,
    /// Money that an agent may spend in a run, by name, in millionths of a dollar.
    pub(crate) agents: BTreeMap<String, u64>,
    /// What models cost, by name.
    pub(crate) prices: BTreeMap<String, Price>,
}

impl BudgetSettings {
    /// For a run whose agent is a stand-in or talks to one.
    pub(crate) fn of_rehearsal() -> Self {
        Self { unkept: true, allow_unknown_cost: true, ..Self::default() }
    }
}

/// One agent and how it is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentSettings {
    /// What the machine knows about it.
    pub(crate) spec: AgentSpec,
    /// How segue talks to it.
    pub(crate) kind: AgentKind,
    /// The program and its first arguments; never empty.
    pub(crate) command: Vec<String>,
    /// Arguments added to the command.
    pub(crate) args: Vec<String>,
    /// How a command agent takes its prompt.
    pub(crate) prompt_by: PromptBy,
    /// What it may do without asking.
    pub(crate) permissions: Permissions,
    /// The account to use.
    pub(crate) account: Option<String>,
    /// Environment variables for it.
    pub(crate) env: BTreeMap<String, String>,
}

/// How segue talks to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentKind {
    /// The Agent Client Protocol over its standard streams.
    Acp,
    /// One command a session; what it prints is its answer.
    Command,
    /// Claude Code's own stream.
    Claude,
    /// Codex's app-server.
    Codex,
    /// Gemini CLI: ACP, with its chat file for the gauge.
    Gemini,
    /// OpenCode as a server, through a bridge of segue's own.
    OpenCode,
    /// Codex one prompt at a time, for versions without an app-server.
    CodexExec,
}

/// How a command agent takes its prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PromptBy {
    /// As the last argument.
    Argument,
    /// On its standard input.
    Stdin,
}

/// How git is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitSettings {
    /// Whether it is used at all.
    pub(crate) enabled: bool,
    /// What saving means.
    pub(crate) commit: CommitMode,
    /// With `branch`: commit also when the run fails.
    pub(crate) commit_on_failure: bool,
    /// The message of commits on the branch.
    pub(crate) message: String,
    /// Start even if the work tree has changes that are not committed.
    pub(crate) allow_dirty: bool,
}

/// Where and how checkpoints are kept. How long to wait for one is in [`Limits`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckpointSettings {
    /// What is written, and where.
    pub(crate) forms: Forms,
    /// How long checkpoints are kept.
    pub(crate) retention: Retention,
    /// The longest text that is passed on.
    pub(crate) max_chars: Option<u32>,
    /// The longest checkpoint that segue writes itself.
    pub(crate) account_tokens: u64,
    /// What crosses a handoff beside the checkpoint.
    pub(crate) memory: Memory,
}

/// Where the files of checkpoints lie, from the work tree; what is `None` is not written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Forms {
    /// The folder of the checkpoints.
    pub(crate) dir: Option<String>,
    /// What a person needs when the agent gave up.
    pub(crate) handoff_file: Option<String>,
    /// The last checkpoint in at most 2,000 characters.
    pub(crate) summary_file: Option<String>,
    /// The folder of the projects' pages.
    pub(crate) project_dir: Option<String>,
    /// The project's name; else that of the work tree's folder.
    pub(crate) project: Option<String>,
    /// The task's name in file names; else made from its title.
    pub(crate) task: Option<String>,
}

impl Forms {
    /// Everything that is segue's own, from the work tree.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let optional = [
            ("checkpoint.dir", &self.dir),
            ("checkpoint.handoff_file", &self.handoff_file),
            ("checkpoint.summary_file", &self.summary_file),
            ("checkpoint.project_dir", &self.project_dir),
        ];
        optional.into_iter().filter_map(|(key, path)| Some((key, path.as_deref()?)))
    }
}

/// What is taken out of everything that is stored, shown or passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RedactSettings {
    /// Whether anything is.
    pub(crate) enabled: bool,
    /// Texts that are no secrets.
    pub(crate) allow: Vec<String>,
    /// Secrets of the user's own, as regular expressions by name.
    pub(crate) patterns: BTreeMap<String, String>,
    /// E-mail addresses, too.
    pub(crate) emails: bool,
    /// Card numbers and the like, too.
    pub(crate) payment: bool,
}

/// How long checkpoints are kept. The last one of a run that is not done always stays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Retention {
    /// Older ones go.
    pub(crate) days: Option<u32>,
    /// More than this many of one run go, the oldest first.
    pub(crate) count: Option<u32>,
    /// All of a run stay until it is done, and then go.
    pub(crate) until_done: bool,
}

/// Who does a part of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Role {
    /// In order of preference.
    pub(crate) agents: Vec<AgentSettings>,
    /// Checkpoint sections that belong to it.
    pub(crate) sections: Vec<String>,
    /// Globs of the files that it looks after.
    pub(crate) track: Vec<String>,
}
