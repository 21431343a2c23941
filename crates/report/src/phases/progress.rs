//! What the lines of a phase's run tell: its session, how full that is, what it waits for, what was spent. A phase may
//! have several runs one after another; the figures of all of them count.

use std::collections::BTreeMap;

use segue_machine::{HandoffKind, Millis, Source, Totals, Verdict};

use crate::fields::{
    ForecastFields, GateFinished, GateTime, GaugeRead, RunFinished, SessionEnded, SessionStarted,
};
use crate::terminal::Fill;
use crate::{Line, Outer};

/// A phase's run as far as its lines tell.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress {
    run: String,
    pub(super) session: Option<Session>,
    pub(super) step: Step,
    pub(super) wait: Option<Wait>,
    /// When the last line was written.
    pub(super) heard_at: Option<Millis>,
    /// The gates by name, with how they ended last.
    gates: BTreeMap<String, bool>,
    here: Spent,
    past: Spent,
}

/// A session as the gauge shows it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Session {
    pub(super) n: u32,
    pub(super) agent: String,
    pub(super) fill: Fill,
    pub(super) forecast: Option<ForecastFields>,
}

/// What happens in a run besides work on the task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing was told yet.
    #[default]
    Starting,
    GatesBefore,
    Working,
    AskedForCheckpoint,
    HandingOff,
    BetweenSessions,
    Gating,
    Over(Verdict),
}

/// What is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) why: String,
    pub(super) until: Option<Millis>,
}

/// What runs took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Spent {
    pub(super) totals: Totals,
    pub(super) handoffs: u32,
}

impl Spent {
    pub(super) fn add(&mut self, other: Self) {
        self.totals.add(other.totals);
        self.handoffs = self.handoffs.saturating_add(other.handoffs);
    }
}

impl Progress {
    /// A run begins or is gone on with, after one that may be over.
    pub(super) fn begin(&mut self) {
        if matches!(self.step, Step::Over(_)) {
            self.step = Step::Starting;
        }
    }

    pub(super) fn take(&mut self, line: &Line) {
        if self.run != line.run {
            let mut past = self.past;
            past.add(self.here);
            *self = Self { run: line.run.clone(), past, ..Self::default() };
        }
        self.heard_at = Some(line.at.0);
        match &line.event {
            Outer::SessionStarted(started) => self.session_started(started),
            Outer::GaugeRead(read) => self.gauge_read(read),
            Outer::CheckpointRequested(_) => self.step = Step::AskedForCheckpoint,
            Outer::CheckpointTaken(_) | Outer::CheckpointFailed(_) => self.step = Step::Working,
            Outer::HandoffDecided(decided) => self.handoff_decided(decided.kind),
            Outer::SessionEnded(ended) => self.session_ended(ended),
            Outer::GateFinished(gate) => self.gate_finished(gate),
            Outer::WaitStarted(wait) => {
                self.wait = Some(Wait { why: wait.why.clone(), until: wait.until.map(|until| until.0) });
            }
            Outer::WaitEnded(_) => self.wait = None,
            Outer::RunFinished(finished) => self.run_finished(finished),
            Outer::RunStarted(_)
            | Outer::AgentSaid(_)
            | Outer::ItemsSeen(_)
            | Outer::PromptFailed(_)
            | Outer::SessionContinued(_)
            | Outer::StageReached(_)
            | Outer::GateChanged(_)
            | Outer::PhaseStarted(_)
            | Outer::PhaseFinished(_)
            | Outer::LimitReached(_)
            | Outer::Warning(_) => {}
        }
    }

    /// What all its runs took.
    pub(super) fn spent(&self) -> Spent {
        let mut all = self.past;
        all.add(self.here);
        all
    }

    /// How many gates passed and how many failed, as they ended last.
    pub(super) fn gates(&self) -> (usize, usize) {
        let passed = self.gates.values().filter(|passed| **passed).count();
        (passed, self.gates.len() - passed)
    }

    fn session_started(&mut self, started: &SessionStarted) {
        let fill = Fill {
            tokens: None,
            projected: None,
            window: started.window,
            ceiling: started.ceiling,
            percent: None,
            source: Source::None,
        };
        let (n, agent) = (started.n, started.agent.clone());
        self.session = Some(Session { n, agent, fill, forecast: None });
        (self.step, self.wait) = (Step::Working, None);
    }

    fn gauge_read(&mut self, read: &GaugeRead) {
        // The first line that is heard of a run may be this one.
        let n = read.session.trim_start_matches('s').parse().unwrap_or_default();
        let agent = self.session.take().filter(|session| session.n == n).map(|session| session.agent);
        self.session = Some(Session {
            n,
            agent: agent.unwrap_or_default(),
            fill: Fill {
                tokens: read.tokens,
                projected: read.projected,
                window: read.window,
                ceiling: read.ceiling,
                percent: read.percent,
                source: read.source,
            },
            forecast: read.forecast,
        });
        if self.step != Step::AskedForCheckpoint {
            self.step = Step::Working;
        }
    }

    fn handoff_decided(&mut self, kind: HandoffKind) {
        match kind {
            HandoffKind::Continue => self.step = Step::Working,
            HandoffKind::Stop => self.step = Step::HandingOff,
            HandoffKind::Restart
            | HandoffKind::Fallback
            | HandoffKind::Helper
            | HandoffKind::Forced
            | HandoffKind::Split => {
                self.step = Step::HandingOff;
                self.here.handoffs = self.here.handoffs.saturating_add(1);
            }
        }
    }

    fn session_ended(&mut self, ended: &SessionEnded) {
        self.session = None;
        self.step = Step::BetweenSessions;
        self.here.totals.add(totals(ended.tokens_in, ended.tokens_out, ended.cost_usd));
    }

    fn gate_finished(&mut self, gate: &GateFinished) {
        match gate.when {
            GateTime::Before => self.step = Step::GatesBefore,
            GateTime::After => {
                self.step = Step::Gating;
                self.gates.insert(gate.gate.clone(), gate.passed);
            }
            GateTime::Checkpoint => {
                self.gates.insert(gate.gate.clone(), gate.passed);
            }
        }
    }

    fn run_finished(&mut self, finished: &RunFinished) {
        let totals = totals(finished.tokens_in, finished.tokens_out, finished.cost_usd);
        self.here = Spent { totals, handoffs: finished.handoffs };
        (self.session, self.wait, self.step) = (None, None, Step::Over(finished.verdict));
    }
}

fn totals(tokens_in: Option<u64>, tokens_out: Option<u64>, cost_usd: Option<f64>) -> Totals {
    let mut totals = Totals { tokens_in, tokens_out, cost_musd: cost_usd.map(millionths), unpriced: 0 };
    if totals.cost_musd.is_none() {
        totals.unpriced = totals.tokens();
    }
    totals
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "below 0 is 0, too much is the most"
)]
fn millionths(usd: f64) -> u64 {
    (usd * 1_000_000.0).round() as u64
}
