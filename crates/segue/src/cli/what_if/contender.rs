//! What a recorded run is held against: a preset, as it is or with its threshold moved.

use segue_machine::policy::{Policy, preset};

/// A policy beside the one that was recorded.
#[derive(Debug, Clone)]
pub(super) struct Contender {
    /// The preset's name.
    pub(super) name: String,
    /// Where its replacing stage was moved to, in percent of the ceiling; `None` is where the preset has it.
    pub(super) threshold: Option<f64>,
    /// The policy in force.
    pub(super) policy: Policy,
    /// The restarts that it allows; without a limit where the threshold was moved, since that compares lines.
    pub(super) max_restarts: Option<u32>,
}

impl Contender {
    /// A preset as it is, or with another threshold, as `--context-threshold` moves it.
    ///
    /// # Errors
    /// There is no such preset, or the threshold is not a percentage that can be meant.
    pub(super) fn new(name: &str, threshold: Option<f64>) -> Result<Self, String> {
        let unknown = || format!("{name:?} is no policy; one of {}", preset::NAMES.join(", "));
        let preset = preset::find(name).ok_or_else(unknown)?;
        let (mut policy, mut max_restarts) = (preset.policy, preset.max_restarts);
        if let Some(percent) = threshold {
            policy.set_threshold(percent).map_err(|why| why.to_string())?;
            max_restarts = None;
        }
        Ok(Self { name: name.to_owned(), threshold, policy, max_restarts })
    }
}
