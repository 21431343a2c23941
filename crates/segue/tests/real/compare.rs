//! The gauge held against the server's own count, call by call.

use segue_rehearsal::model_server::TruthLine;
use segue_rehearsal::model_server::answer::Kind;
use serde_json::Value;

use crate::support::{Done, World};

/// One model call of the main thread that segue read.
#[derive(Debug)]
pub(crate) struct Call {
    /// The session, counted from 1.
    pub(crate) session: usize,
    /// Its number in the session.
    pub(crate) call: u64,
    /// What segue read after it.
    pub(crate) reading: u64,
    /// What segue expected before it, if a tool had ended since the call before.
    pub(crate) projected: Option<u64>,
    /// What it really was.
    pub(crate) truth: TruthLine,
}

/// All calls of a run.
#[derive(Debug)]
pub(crate) struct Compared {
    pub(crate) calls: Vec<Call>,
    /// Calls that the server answered and whose answer nobody waited for.
    pub(crate) unread: usize,
}

impl Compared {
    /// Finds the truth of every reading: calls are matched in order within a conversation. A call may be passed over when
    /// the next one fits better: then nobody waited for its answer.
    pub(crate) fn new(world: &World, run: &Done) -> Self {
        let all = world.truth();
        let mut left: Vec<&TruthLine> = all.iter().filter(|line| line.is_reading()).collect();
        let answered = left.len();
        let mut calls: Vec<Call> = Vec::new();
        let compactions: Vec<u64> = all.iter().filter(|l| l.kind == Kind::Compact).map(|l| l.n).collect();
        for session in 1..=run.of("session.started").len() {
            let output = world.kept_output(&run.run_id(), session);
            for (read, projected) in readings(run, session) {
                let reading = read["tokens"].as_u64().unwrap();
                // Gemini CLI names no session to the server: there its calls stand in order.
                let ours = |line: &&TruthLine| line.session.as_deref().is_none_or(|s| output.contains(s));
                let places: Vec<usize> = (0..left.len()).filter(|i| ours(&left[*i])).take(2).collect();
                let far = |at: &usize| left[*at].occupancy.abs_diff(reading);
                let at = places.iter().copied().min_by_key(far);
                let at = at.unwrap_or_else(|| panic!("s{session}: no call of {reading}\n{}", run.all()));
                let truth = left[at].clone();
                left.retain(|line| !ours(line) || line.n > truth.n);
                // What was expected before a compaction was never sent.
                let last = calls.last().map_or(0, |call: &Call| call.truth.n);
                let projected =
                    projected.filter(|_| !compactions.iter().any(|n| (last..truth.n).contains(n)));
                calls.push(Call { session, call: read["call"].as_u64().unwrap(), reading, projected, truth });
            }
        }
        Self { unread: answered - calls.len(), calls }
    }

    /// The largest error of a reading.
    pub(crate) fn worst(&self) -> f64 {
        self.calls.iter().map(|c| error(c.reading, c.truth.occupancy)).fold(0.0, f64::max)
    }

    /// The errors of the projections from the fourth call of a session on, smallest first.
    pub(crate) fn projections(&self) -> Vec<f64> {
        let late = self.calls.iter().filter(|c| c.call >= 4);
        let mut errors: Vec<f64> =
            late.filter_map(|c| Some(error(c.projected?, c.truth.input_tokens))).collect();
        errors.sort_by(f64::total_cmp);
        errors
    }

    /// Asserts what is promised of the gauge, and says it in a line.
    #[track_caller]
    pub(crate) fn assert_true(&self, run: &Done) -> String {
        let (errors, worst) = (self.projections(), self.worst());
        let (median, p95) = (share(&errors, 50), share(&errors, 95));
        assert!(worst <= 0.01, "a reading is off by {}: {:#?}", percent(worst), self.wrong());
        assert!(median <= 0.05 && p95 <= 0.10, "projections {median:.4} {p95:.4}: {errors:?}");
        let cut = run.of("handoff.decided").len() + run.of("checkpoint.taken").len();
        assert!(self.unread <= cut, "{} calls were not read\n{}", self.unread, run.all());
        format!(
            "{} calls, worst reading {}, {} projections: median {}, p95 {}, unread {}",
            self.calls.len(),
            percent(worst),
            errors.len(),
            percent(median),
            percent(p95),
            self.unread
        )
    }

    fn wrong(&self) -> Vec<&Call> {
        self.calls.iter().filter(|c| error(c.reading, c.truth.occupancy) > 0.01).collect()
    }
}

/// How far `said` is from `truth`, as a share of it.
pub(crate) fn error(said: u64, truth: u64) -> f64 {
    said.abs_diff(truth) as f64 / truth.max(1) as f64
}

/// A share in words.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// The value below which so many of a hundred lie; the values are in order.
pub(crate) fn share(sorted: &[f64], hundredths: usize) -> f64 {
    let at = (sorted.len() * hundredths / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or(0.0)
}

// Each final reading of a session with the last projection of its call before it. An agent that tells a call's usage after
// the call's tools has a projection of the next call in the same line.
fn readings(run: &Done, session: usize) -> Vec<(Value, Option<u64>)> {
    let name = format!("s{session}");
    let (mut projected, mut late) = (None, false);
    let mut found = Vec::new();
    for line in run.of("gauge.read").into_iter().filter(|line| line["session"] == name) {
        let (tokens, next) = (line["tokens"].as_u64(), line["projected"].as_u64());
        if line["final"] == true {
            late = next > tokens;
            let before = std::mem::replace(&mut projected, next.filter(|_| late));
            found.push((line, before));
        } else if !late {
            projected = next;
        }
    }
    found
}
