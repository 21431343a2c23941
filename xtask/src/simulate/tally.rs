//! What is counted over many runs. Only whole numbers, so that it does not matter in which order runs are added.

use serde::Serialize;

/// Counts over the runs of one policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Tally {
    /// Runs.
    pub(crate) runs: u64,
    /// Runs that did all their steps.
    pub(crate) finished: u64,
    /// Runs that a limit of their policy stopped.
    pub(crate) stopped: u64,
    /// Runs that ended otherwise.
    pub(crate) failed: u64,
    /// Runs in which the machine left everybody waiting: a fault of segue.
    pub(crate) stuck: u64,
    /// Model calls.
    pub(crate) calls: u64,
    /// Sessions replaced by fresh ones, for whatever reason.
    pub(crate) handoffs: u64,
    /// Of these, decided before the agent failed.
    pub(crate) orderly: u64,
    /// Of all, between two steps.
    pub(crate) good_moments: u64,
    /// Of all, after the brake had stopped the agent before a call.
    pub(crate) braked: u64,
    /// Hundredths of a percent of the ceiling, summed over the orderly handoffs.
    pub(crate) fill: u64,
    /// Calls that passed the ceiling.
    pub(crate) overflows: u64,
    /// Of these, followed by a fresh session.
    pub(crate) recovered: u64,
    /// Finished steps that the next session did not know of.
    pub(crate) lost: u64,
    /// Steps that were begun again in a fresh session.
    pub(crate) redone: u64,
    /// Steps that the runs had to do.
    pub(crate) steps: u64,
    /// Tokens that were read or made again because of a handoff: a fresh session's first call, and unfinished steps.
    pub(crate) respent: u64,
    /// Times that the agent compacted its own context.
    pub(crate) compactions: u64,
}

impl Tally {
    /// Adds another tally.
    pub(crate) fn add(&mut self, other: &Self) {
        let Self {
            runs,
            finished,
            stopped,
            failed,
            stuck,
            calls,
            handoffs,
            orderly,
            good_moments,
            braked,
            fill,
            overflows,
            recovered,
            lost,
            redone,
            steps,
            respent,
            compactions,
        } = other;
        self.runs += runs;
        self.finished += finished;
        self.stopped += stopped;
        self.failed += failed;
        self.stuck += stuck;
        self.calls += calls;
        self.handoffs += handoffs;
        self.orderly += orderly;
        self.good_moments += good_moments;
        self.braked += braked;
        self.fill += fill;
        self.overflows += overflows;
        self.recovered += recovered;
        self.lost += lost;
        self.redone += redone;
        self.steps += steps;
        self.respent += respent;
        self.compactions += compactions;
    }

    /// Mean context used at an orderly handoff, in percent of the ceiling.
    pub(crate) fn mean_fill(&self) -> Option<f64> {
        share(self.fill, self.orderly).map(|hundredths| hundredths / 100.0)
    }

    /// Percent of the handoffs that fell between two steps.
    pub(crate) fn at_good_moment(&self) -> Option<f64> {
        share(self.good_moments, self.handoffs).map(|share| share * 100.0)
    }

    /// Overflows in as many runs as are asked for.
    pub(crate) fn overflows_per(&self, runs: u64) -> Option<f64> {
        share(self.overflows * runs, self.runs)
    }

    /// Overflows in a thousand handoffs.
    pub(crate) fn overflows_per_handoff(&self) -> Option<f64> {
        share(self.overflows * 1_000, self.handoffs)
    }

    /// Anything of this tally for each run.
    pub(crate) fn per_run(&self, what: u64) -> Option<f64> {
        share(what, self.runs)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
