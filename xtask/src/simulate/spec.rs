//! What is compared: a preset, as it is or with its threshold moved.

use segue_machine::policy::{Policy, preset};
use segue_machine::{AgentSpec, CommitMode, GitSpec, Limits, RunSpec};
use thiserror::Error;

use super::world::World;

/// A name that is no preset, or a threshold that is none.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum UnknownPolicy {
    /// No preset of that name.
    #[error("{0:?} is no policy; one of {names}", names = preset::NAMES.join(", "))]
    Name(String),
    /// Not a threshold.
    #[error("{0}")]
    Threshold(String),
}

/// A policy with its limits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Contender {
    /// The preset's name.
    pub(crate) name: String,
    /// Where its replacing stage was moved to, in percent of the ceiling; `None` is where the preset has it.
    pub(crate) threshold: Option<f64>,
    /// The policy in force.
    pub(crate) policy: Policy,
    /// The limits in force.
    pub(crate) limits: Limits,
}

impl Contender {
    /// A preset as it is.
    ///
    /// # Errors
    /// There is no preset of that name.
    pub(crate) fn preset(name: &str) -> Result<Self, UnknownPolicy> {
        let preset = preset::find(name).ok_or_else(|| UnknownPolicy::Name(name.to_owned()))?;
        let limits = Limits { max_restarts: preset.max_restarts, ..Limits::default() };
        Ok(Self { name: name.to_owned(), threshold: None, policy: preset.policy, limits })
    }

    /// The same with another threshold, as `--context-threshold` moves it, and without a limit on restarts: a curve
    /// compares lines.
    ///
    /// # Errors
    /// The threshold is not a percentage that can be meant.
    pub(crate) fn moved(&self, percent: f64) -> Result<Self, UnknownPolicy> {
        let mut moved = self.clone();
        moved.policy.set_threshold(percent).map_err(|why| UnknownPolicy::Threshold(why.to_string()))?;
        moved.limits.max_restarts = None;
        moved.threshold = Some(percent);
        Ok(moved)
    }

    /// Whether it replaces sessions at all.
    pub(crate) fn replaces(&self) -> bool {
        self.policy.replaces()
    }

    pub(super) fn spec(&self, world: &World) -> RunSpec {
        let agent = AgentSpec {
            account: None,
            edits: false,
            name: world.growth.name.to_owned(),
            model: None,
            window: Some(world.window),
            budget: None,
            allow: Vec::new(),
        };
        RunSpec {
            limits: self.limits.clone(),
            git: GitSpec { enabled: true, commit: CommitMode::Snapshot, ..GitSpec::none() },
            workdir: "/simulated".to_owned(),
            ..RunSpec::new("the simulated work", vec![agent], self.policy.clone())
        }
    }
}
