//! What happened in a rehearsal, from the run's own journal, the server's count of every request, and the steps' log.
//!
//! Facts only: whether they are good is for [`super::judge`] to say.

use segue_machine::{AgentEvent, AgentFailure, CheckpointBy, Event, HandoffKind, Source, TurnEnd, Verdict};
use segue_rehearsal::model_server::TruthLine;
use segue_rehearsal::step_log::StepLog;
use segue_report::{Line, Outer, OuterStream};
use serde::Serialize;

use crate::history::{self, Past};

/// What the model side saw.
#[derive(Debug, Default)]
pub(super) struct Truth {
    /// Main-thread calls that were answered whole: when, tokens of the request, tokens with the answer.
    pub(super) calls: Vec<(u64, u64, u64)>,
    /// Requests that were really too long.
    pub(super) overflows: usize,
    /// Requests that met the fault.
    pub(super) faults: usize,
    /// Requests that came with another key than the one of the rehearsal.
    pub(super) other_keys: usize,
}

impl Truth {
    /// From the server's own account.
    pub(super) fn of(lines: &[TruthLine]) -> Self {
        let count = |is: fn(&TruthLine) -> bool| lines.iter().filter(|line| is(line)).count();
        let readings = lines.iter().filter(|line| line.is_reading());
        Self {
            calls: readings.map(|line| (line.at_ms, line.input_tokens, line.occupancy)).collect(),
            overflows: count(|line| line.is_overflow() && line.fault.is_none()),
            faults: count(|line| line.fault.is_some()),
            other_keys: count(|line| line.other_key),
        }
    }

    /// From what the stand-in wrote down.
    pub(super) fn of_stand_in(log: &StepLog) -> Self {
        let calls = log.calls().into_iter().map(|tokens| (0, tokens, tokens)).collect();
        Self { calls, overflows: log.overflows().len(), ..Self::default() }
    }
}

/// How a run ended.
#[derive(Debug, Clone, Serialize)]
pub(super) struct End {
    /// The verdict in one word.
    pub(super) verdict: Verdict,
    /// Why, in one sentence.
    pub(super) reason: String,
}

/// A session that was replaced.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Handoff {
    /// Why.
    pub(super) reason: String,
    /// Percent of the ceiling.
    pub(super) percent: Option<f64>,
    /// Tokens in the window.
    pub(super) tokens: Option<u64>,
}

/// The gauge against the truth.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct GaugeAccount {
    /// Where its numbers come from.
    pub(super) source: Option<Source>,
    /// Readings that were compared.
    pub(super) readings: usize,
    /// The largest error, as a share of the truth.
    pub(super) worst: Option<f64>,
    /// The window as the sessions knew it.
    pub(super) window: Option<u64>,
    /// Their ceiling.
    pub(super) ceiling: Option<u64>,
}

/// Everything that happened.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Account {
    /// How each part of the run ended: the first, and the one that was resumed.
    pub(super) ends: Vec<End>,
    pub(super) sessions: u32,
    pub(super) gauge: GaugeAccount,
    pub(super) handoffs: Vec<Handoff>,
    pub(super) checkpoints_by_agent: u32,
    pub(super) checkpoints_by_segue: u32,
    pub(super) compactions: u32,
    /// What the failed turns were taken for, in order.
    pub(super) failures: Vec<String>,
    /// Turns that segue saw end for want of room.
    pub(super) overflows_seen: u32,
    /// Times that the agent was silent for too long.
    pub(super) stalls: u32,
    pub(super) warnings: Vec<String>,
    /// From the first event to the last.
    pub(super) ms: u64,
}

impl Account {
    /// Reads it from the events of a run.
    pub(super) fn of(run: &str, past: &[Past], truth: &Truth) -> Self {
        let mut account = Self::default();
        for step in past {
            account.event(&step.record.event);
        }
        let mut stream = OuterStream::new(run);
        let mut lines = Vec::new();
        history::replay(past, |step, effects, machine| {
            lines.extend(stream.take(&step.record, effects, machine.view()));
        });
        let (mut percent, mut tokens) = (None, None);
        for line in &lines {
            if let Outer::GaugeRead(read) = &line.event {
                (percent, tokens) = (read.percent, read.tokens.max(read.projected));
            }
            account.line(&line.event, percent, tokens);
        }
        account.gauge = compare(&lines, truth, account.gauge);
        let time = |step: Option<&Past>| step.map_or(0, |step| step.record.at);
        account.ms = time(past.last()).saturating_sub(time(past.first()));
        account
    }

    fn event(&mut self, event: &Event) {
        let Event::Agent { event, .. } = event else { return };
        match event {
            AgentEvent::TurnEnded(TurnEnd::Failed { failure, .. }) => self.failures.push(word(*failure)),
            AgentEvent::TurnEnded(TurnEnd::Overflow { .. }) => self.overflows_seen += 1,
            AgentEvent::Compacted => self.compactions += 1,
            AgentEvent::TurnEnded(TurnEnd::Finished { .. } | TurnEnd::Cancelled)
            | AgentEvent::Ready { .. }
            | AgentEvent::UsageRead(_)
            | AgentEvent::TextSaid { .. }
            | AgentEvent::Said { .. }
            | AgentEvent::ToolDescribed { .. }
            | AgentEvent::ToolStarted { .. }
            | AgentEvent::ToolEnded { .. }
            | AgentEvent::ItemsSeen { .. }
            | AgentEvent::AllowanceSeen { .. }
            | AgentEvent::CrossChecked { .. }
            | AgentEvent::PermissionAsked { .. }
            | AgentEvent::Answered { .. }
            | AgentEvent::NotAnswered { .. }
            | AgentEvent::SideAnswered { .. }
            | AgentEvent::SideFailed { .. }
            | AgentEvent::Retrying { .. }
            | AgentEvent::Unrecognised { .. } => {}
        }
    }

    fn line(&mut self, event: &Outer, percent: Option<f64>, tokens: Option<u64>) {
        match event {
            Outer::SessionStarted(started) => {
                self.sessions += 1;
                (self.gauge.window, self.gauge.ceiling) = (started.window, started.ceiling);
            }
            Outer::GaugeRead(read) => {
                self.gauge.source = Some(read.source);
                self.gauge.window = read.window.or(self.gauge.window);
                self.gauge.ceiling = read.ceiling.or(self.gauge.ceiling);
            }
            Outer::CheckpointTaken(taken) => match taken.by {
                CheckpointBy::Agent => self.checkpoints_by_agent += 1,
                CheckpointBy::Segue => self.checkpoints_by_segue += 1,
            },
            Outer::HandoffDecided(decided) if replaces(decided.kind) => {
                self.handoffs.push(Handoff { reason: decided.reason.clone(), percent, tokens });
            }
            Outer::LimitReached(reached) if reached.limit == segue_machine::Limit::Stall => self.stalls += 1,
            Outer::Warning(warning) => self.warnings.push(warning.text.clone()),
            Outer::RunFinished(finished) => {
                self.ends.push(End { verdict: finished.verdict, reason: finished.reason.clone() });
            }
            Outer::RunStarted(_)
            | Outer::AgentSaid(_)
            | Outer::ItemsSeen(_)
            | Outer::CheckpointFailed(_)
            | Outer::PromptFailed(_)
            | Outer::StageReached(_)
            | Outer::CheckpointRequested(_)
            | Outer::HandoffDecided(_)
            | Outer::SessionContinued(_)
            | Outer::SessionEnded(_)
            | Outer::GateFinished(_)
            | Outer::GateChanged(_)
            | Outer::PhaseStarted(_)
            | Outer::PhaseFinished(_)
            | Outer::WaitStarted(_)
            | Outer::WaitEnded(_)
            | Outer::LimitReached(_) => {}
        }
    }
}

// Whether another session takes the place of the one before.
fn replaces(kind: HandoffKind) -> bool {
    matches!(kind, HandoffKind::Restart | HandoffKind::Fallback | HandoffKind::Forced | HandoffKind::Split)
}

/// The word for a failure, as it stands in the journal.
pub(super) fn word(failure: AgentFailure) -> String {
    serde_json::to_value(failure).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

// Calls are matched in order. One or two may be passed over where the next fits better: nobody waited for their answers.
fn compare(lines: &[Line], truth: &Truth, gauge: GaugeAccount) -> GaugeAccount {
    let mut left = truth.calls.as_slice();
    let mut errors: Vec<f64> = Vec::new();
    let blind = !lines.iter().any(|line| matches!(&line.event, Outer::GaugeRead(read) if read.r#final));
    for line in lines {
        let Outer::GaugeRead(read) = &line.event else { continue };
        if read.r#final {
            let Some(tokens) = read.tokens else { continue };
            let near = left.iter().take(3).enumerate().min_by_key(|(_, call)| call.2.abs_diff(tokens));
            let Some((at, call)) = near else { continue };
            errors.push(error(tokens, call.2));
            left = &left[at + 1..];
        } else if let (true, Some(projected)) = (blind, read.projected) {
            // An estimate says what the next call will carry.
            let next = truth.calls.iter().find(|call| call.0 >= line.at.0);
            errors.extend(next.map(|call| error(projected, call.1)));
        }
    }
    GaugeAccount { readings: errors.len(), worst: errors.into_iter().max_by(f64::total_cmp), ..gauge }
}

fn error(said: u64, truth: u64) -> f64 {
    said.abs_diff(truth) as f64 / truth.max(1) as f64
}
