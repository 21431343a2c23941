//! How far a plan and its phases are, as values. `kept.rs` has them on disk.

use std::collections::BTreeMap;

use segue_machine::View;
use segue_plans::ids::same;
use segue_plans::split::Part;
use segue_plans::{Format, Status};
use segue_report::Time;
use serde::{Deserialize, Serialize};

use super::beside::Work;

/// Where a whole plan stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Standing {
    /// It is run, or its process died.
    #[default]
    Running,
    /// Every phase is completed.
    Completed,
    /// A phase failed.
    Failed,
    /// It was stopped, and can go on.
    Stopped,
    /// A person must decide something. Older files say `needs_person`.
    #[serde(alias = "needs_person")]
    NeedsInput,
}

impl Standing {
    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::NeedsInput => "needs_input",
        }
    }
}

/// How a plan is run, as it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Options {
    /// One more round over each phase whose gates are green.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) quality: bool,
    /// What is done about phases that are too large; by the policy when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) split: Option<Splitting>,
    /// How many phases are at work at a time; one when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parallel: Option<usize>,
    /// What follows when a phase fails.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) trouble: Trouble,
    /// The plan's own files stay as they are.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) no_write_back: bool,
    /// The format that a person chose for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) format: Option<Format>,
}

impl Options {
    /// How many phases are at work at a time.
    pub(crate) fn most(&self) -> usize {
        self.parallel.unwrap_or(1).max(1)
    }

    /// Whether phases have work trees of their own.
    pub(crate) fn beside(&self) -> bool {
        self.most() > 1
    }
}

/// What follows when a phase fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Trouble {
    /// No new phase starts; running phases finish.
    #[default]
    Finish,
    /// Everything that does not depend on it continues.
    KeepGoing,
    /// Everything is stopped.
    FailFast,
}

/// What is done about phases that are too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Splitting {
    /// Nothing.
    Off,
    /// A split is proposed, and you decide.
    Propose,
    /// They are split.
    Auto,
}

/// What the runs of a phase used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Spent {
    pub(crate) sessions: u32,
    pub(crate) handoffs: u32,
    pub(crate) overflows: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) redacted: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens_in: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens_out: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost_musd: Option<u64>,
}

impl Spent {
    /// What a run has used so far.
    pub(crate) fn of(view: &View) -> Self {
        let spent = view.spent();
        Self {
            sessions: view.sessions,
            handoffs: view.handoffs,
            overflows: view.overflows,
            redacted: view.redacted,
            tokens_in: spent.tokens_in,
            tokens_out: spent.tokens_out,
            cost_musd: spent.cost_musd,
        }
    }

    /// Both together.
    pub(crate) fn plus(self, other: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        Self {
            sessions: self.sessions.saturating_add(other.sessions),
            handoffs: self.handoffs.saturating_add(other.handoffs),
            overflows: self.overflows.saturating_add(other.overflows),
            redacted: self.redacted.saturating_add(other.redacted),
            tokens_in: sum(self.tokens_in, other.tokens_in),
            tokens_out: sum(self.tokens_out, other.tokens_out),
            cost_musd: sum(self.cost_musd, other.cost_musd),
        }
    }
}

/// How far one phase is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PhaseState {
    /// How far it is.
    pub(crate) status: Status,
    /// The run that works on it, or did last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<String>,
    /// That run is the round of remediation after green gates.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) quality: bool,
    /// How often a run was started for it.
    pub(crate) tries: u32,
    /// Only the agent says so: there was no gate.
    #[serde(alias = "claimed", skip_serializing_if = "is_default")]
    pub(crate) unverified: bool,
    /// Why it is as it is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) why: String,
    /// Where its report lies, from the work tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) report: Option<String>,
    /// The phase as it was when it was completed, as a digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<String>,
    /// The parts that it was split into.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<Part>,
    /// Its parts run side by side, although the plan's phases do not.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) parts_in_parallel: bool,
    /// What it used.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) spent: Spent,
    /// The work tree that it has to itself, for as long as it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) work: Option<Work>,
    /// A person says that it is done, whatever its gates say.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) accepted: bool,
    /// What is done of it stands in the plan's files.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) written: bool,
    /// How many tasks its last try left open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) left: Option<usize>,
    /// The commit by which it came into the plan's branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) landed: Option<String>,
}

/// How far a plan is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct State {
    /// The version of this format.
    pub(crate) version: u32,
    /// The plan's own id.
    pub(crate) id: String,
    /// The file or folder, as it was typed.
    pub(crate) plan: String,
    /// Where it was typed.
    pub(crate) dir: String,
    /// What it is called.
    pub(crate) title: String,
    /// When it was begun.
    pub(crate) began: Option<Time>,
    /// Where it stands.
    pub(crate) status: Standing,
    /// How it is run.
    pub(crate) options: Options,
    /// What the user had changed before it was started: a commit, and the files on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) users: Option<(String, String)>,
    /// Lines of `--json` that it has written.
    pub(crate) lines: u64,
    /// Its phases that were begun, by id.
    pub(crate) phases: BTreeMap<String, PhaseState>,
}

impl State {
    /// The version that is written.
    pub(crate) const VERSION: u32 = 1;

    /// The state of a phase, however its id is written.
    pub(crate) fn phase(&self, id: &str) -> Option<&PhaseState> {
        self.phases.iter().find(|(known, _)| same(known, id)).map(|(_, phase)| phase)
    }

    /// The same, to be changed; made when there is none.
    pub(crate) fn phase_mut(&mut self, id: &str) -> &mut PhaseState {
        let known = self.phases.keys().find(|known| same(known, id)).cloned();
        self.phases.entry(known.unwrap_or_else(|| id.to_owned())).or_default()
    }

    /// Every split there is.
    pub(crate) fn splits(&self) -> BTreeMap<String, Vec<Part>> {
        let split = self.phases.iter().filter(|(_, phase)| !phase.parts.is_empty());
        split.map(|(id, phase)| (id.clone(), phase.parts.clone())).collect()
    }

    /// The phase whose part this is.
    pub(crate) fn whole_of(&self, id: &str) -> Option<&str> {
        let has = |phase: &PhaseState| phase.parts.iter().any(|part| same(&part.id, id));
        self.phases.iter().find(|(_, phase)| has(phase)).map(|(id, _)| id.as_str())
    }

    /// Whether the parts of a phase run side by side, although the plan's phases do not.
    pub(crate) fn has_parts_in_parallel(&self, whole: &str) -> bool {
        self.phase(whole).is_some_and(|phase| phase.parts_in_parallel)
    }

    /// The phase whose part this is, when its parts run side by side.
    pub(crate) fn parallel_whole_of(&self, id: &str) -> Option<&str> {
        self.whole_of(id).filter(|whole| self.has_parts_in_parallel(whole))
    }

    /// Whether a run is one of this plan's.
    pub(crate) fn owns(&self, run: &str) -> bool {
        let mends =
            |phase: &PhaseState| phase.work.as_ref().and_then(|work| work.mend.as_deref()) == Some(run);
        self.phases.values().any(|phase| phase.run.as_deref() == Some(run) || mends(phase))
    }
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
