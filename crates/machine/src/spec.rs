//! What a run is to do and under which rules. It is part of the first event, so that a replay needs no configuration.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::forecast::Growth;
use crate::ledger::Memory;
use crate::policy::Policy;
use crate::{BudgetSpec, CheckpointRef, Circuit, Limits, Millis, WaitRules};

/// The work, in the user's words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The text that the agent is given.
    pub text: String,
    /// The file it was read from, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How many list items of it are open.
    #[serde(default)]
    pub open_items: u32,
    /// Its words hold a secret: what the agent is given is kept in a file of its owner's, and not here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
}

/// One agent that may work on the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSpec {
    /// The name in the configuration.
    pub name: String,
    /// The model asked for, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The window the user configured, in tokens. Beats a table, not the agent's own report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// A lower ceiling that the user configured, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    /// Tool kinds that may run without asking; `*` is all.
    #[serde(default)]
    pub allow: Vec<String>,
    /// It may change files in the work tree and run the gates' commands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edits: bool,
    /// The account that it works on, where several agents share one or one agent has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
}

impl AgentSpec {
    /// The account that it works on: its own name where nothing else is configured.
    pub fn account(&self) -> &str {
        self.account.as_deref().unwrap_or(&self.name)
    }
}

/// A command whose exit code decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateSpec {
    /// Its name in reports.
    pub name: String,
    /// The shell command, verbatim; empty for a manual gate.
    pub run: String,
    /// How long it may take.
    pub timeout_ms: u64,
    /// A person decides; never run.
    #[serde(default)]
    pub manual: bool,
    /// Globs of files that it runs, beside those that its command tells: changed ones are put back for a second run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protect: Vec<String>,
    /// The agent may change what it runs: that is told and stops nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_change: bool,
    /// It does not run before the first session: nobody has looked at what it does to work that is not saved yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub after_only: bool,
}

impl GateSpec {
    /// A command whose exit code decides.
    pub fn new(name: impl Into<String>, run: impl Into<String>, timeout_ms: u64) -> Self {
        let (name, run) = (name.into(), run.into());
        Self {
            name,
            run,
            timeout_ms,
            manual: false,
            protect: Vec::new(),
            may_change: false,
            after_only: false,
        }
    }
}

/// What happens to the work tree when work is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommitMode {
    /// A ref under `refs/segue/`; index and branch stay as they are.
    Snapshot,
    /// A snapshot, and a commit on the checked-out branch.
    Branch,
    /// Nothing is written to git.
    Never,
}

/// How the run uses git.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitSpec {
    /// Whether there is a repository at all.
    pub enabled: bool,
    /// What saving means.
    pub commit: CommitMode,
    /// With `branch`: commit also when the run fails.
    pub commit_on_failure: bool,
    /// Message template for commits on the branch.
    pub message: String,
    /// The commit that was checked out when the run began; `None` before the first commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The tree of the work tree when the run began, new files included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_tree: Option<String>,
    /// Stands for the secret files that were there then, which are in no tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_secrets: Option<String>,
    /// A commit, and the files as the user had left them on it: what differs is the user's and is not committed. Of a
    /// phase: those that its plan was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<(String, String)>,
}

impl GitSpec {
    /// A run that has nothing to do with git.
    pub fn none() -> Self {
        Self {
            enabled: false,
            commit: CommitMode::Never,
            commit_on_failure: false,
            message: String::new(),
            base: None,
            base_tree: None,
            base_secrets: None,
            users: None,
        }
    }
}

/// Who the run works as, as far as its checkpoints depend on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleSpec {
    /// The name in the configuration.
    pub name: String,
    /// Sections of its own in a checkpoint.
    #[serde(default)]
    pub sections: Vec<String>,
    /// Globs of the files that it looks after.
    #[serde(default)]
    pub track: Vec<String>,
}

/// Everything the decisions of a run depend on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSpec {
    /// The work.
    pub task: Task,
    /// Agents in order of preference.
    pub agents: Vec<AgentSpec>,
    /// The policy in force.
    pub policy: Policy,
    /// The limits in force.
    pub limits: Limits,
    /// The gates, in the order in which they run.
    pub gates: Vec<GateSpec>,
    /// How git is used.
    pub git: GitSpec,
    /// The work tree.
    pub workdir: String,
    /// A claim without a gate is not enough.
    pub require_verified: bool,
    /// Last words that evidence contradicts fail the run although its gates pass.
    #[serde(default)]
    pub strict_claims: bool,
    /// When the run was asked for.
    pub started_at: Millis,
    /// The checkpoint of another run that this one goes on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<CheckpointRef>,
    /// Who it works as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleSpec>,
    /// What crosses a handoff.
    #[serde(default)]
    pub memory: Memory,
    /// When it waits, and how long.
    #[serde(default)]
    pub wait: WaitRules,
    /// What other runs have learned about the accounts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub circuits: Vec<Circuit>,
    /// What is known for choosing who goes on.
    #[serde(default)]
    pub next: NextSpec,
    /// What bounds its spending beside the limits.
    #[serde(default)]
    pub budget: BudgetSpec,
    /// What calls added in earlier sessions of this repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// Tokens that a session reads again of what its predecessor had read, by agent, as measured in this repository.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rereads: BTreeMap<String, u64>,
    /// What the agent's last words must hold.
    #[serde(default)]
    pub last_words: LastWords,
}

impl RunSpec {
    /// A run without gates, git or a past, under the usual limits.
    pub fn new(task: impl Into<String>, agents: Vec<AgentSpec>, policy: Policy) -> Self {
        Self {
            task: Task { text: task.into(), ..Task::default() },
            agents,
            policy,
            limits: Limits::default(),
            gates: Vec::new(),
            git: GitSpec::none(),
            workdir: String::new(),
            require_verified: false,
            strict_claims: false,
            started_at: 0,
            from: None,
            role: None,
            memory: Memory::default(),
            wait: WaitRules::default(),
            circuits: Vec::new(),
            next: NextSpec::default(),
            budget: BudgetSpec::default(),
            growth: None,
            rereads: BTreeMap::new(),
            last_words: LastWords::default(),
        }
    }
}

/// What the agent's last words must hold before the run may be over, beside green gates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastWords {
    /// A report of a phase: a JSON object with a status. It is asked for once; a status that gives up ends the run.
    #[serde(default)]
    pub report: bool,
    /// A word that says that everything is done. Without it there is another round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<String>,
}

/// What is known for choosing who goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextSpec {
    /// Windows by agent, from the table of models, where nobody configured one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub windows: BTreeMap<String, u64>,
    /// Agents for a second opinion, in order of preference; none: nobody is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verifiers: Vec<AgentSpec>,
}
