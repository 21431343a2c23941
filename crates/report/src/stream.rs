//! Turns the run's inner steps into outer lines. One stream per run, fed with every step from the first: then the
//! numbers of a replay are those of the live run. It must not look at anything but what it is given.

use std::collections::BTreeMap;

use segue_machine::gauge::Gauge;
use segue_machine::policy::Percent;
use segue_machine::{
    AgentEvent, AgentFailure, Effect, Event, Millis, Notice, Outcome, Record, RunSpec, SessionView, Source,
    View,
};
use serde::{Deserialize, Serialize};

use crate::fields::{
    AgentSaid, CheckpointFailed, CheckpointRequested, CheckpointTaken, GateFinished, GaugeRead,
    HandoffDecided, ItemsSeen, LimitReached, PromptFailed, RunFinished, RunStarted, SessionContinued,
    SessionEnded, SessionStarted, StageReached, WaitFields, Warning,
};
use crate::{Line, Outer, SCHEMA, Time, words};

/// Makes the outer lines of one run and numbers them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OuterStream {
    run: String,
    seq: u64,
    /// What the view said before this step.
    restarts: u32,
    /// Handoffs because of a full window; unlike the view's figure it does not begin anew when a run is resumed.
    context_restarts: u32,
    seen: BTreeMap<u32, Seen>,
}

/// What the stream remembers of a session, because later lines speak of it when it is gone from the view.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Seen {
    started: bool,
    calls: u32,
    percent: Option<Percent>,
    stage: Option<String>,
    asked: Option<AskedAt>,
}

/// At which stage an agent was asked for a checkpoint, if it was one.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct AskedAt {
    stage: Option<String>,
}

impl OuterStream {
    /// A stream that has written nothing.
    pub fn new(run_id: impl Into<String>) -> Self {
        Self { run: run_id.into(), seq: 0, restarts: 0, context_restarts: 0, seen: BTreeMap::new() }
    }

    /// The number of the last line.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.seq
    }

    /// The lines of one step: the event's own line, the notices in the order of the effects, the verdict.
    /// `view` is the view after the record was handled.
    pub fn take(&mut self, record: &Record, effects: &[Effect], view: &View) -> Vec<Line> {
        if let Some(session) = &view.session {
            let seen = self.seen.entry(session.n).or_default();
            seen.percent = session.gauge.percent();
            seen.calls = seen.calls.min(session.gauge.calls());
        }
        let mut events: Vec<Outer> = self.of_event(&record.event, view).into_iter().collect();
        let mut outcome = None;
        for effect in effects {
            if let Effect::Announce(notice) = effect {
                events.push(self.of_notice(notice, view));
            } else if let Effect::TakeCheckpoint { session, asked, .. } = effect {
                self.seen.entry(*session).or_default().asked = Some(AskedAt { stage: asked.stage.clone() });
            } else if let Effect::Finish(finish) = effect {
                outcome = Some(finish);
            }
        }
        self.restarts = view.restarts;
        events.extend(outcome.map(|o| Outer::RunFinished(run_finished(o, record.at, view))));
        events.into_iter().map(|event| self.line(record.at, event)).collect()
    }

    fn line(&mut self, at: Millis, event: Outer) -> Line {
        self.seq += 1;
        Line { run: self.run.clone(), seq: self.seq, at: Time(at), event }
    }

    fn of_event(&mut self, event: &Event, view: &View) -> Option<Outer> {
        match event {
            Event::RunStarted { spec } => Some(Outer::RunStarted(run_started(spec))),
            Event::Agent { session, event } => {
                self.of_agent(event, view.session.as_ref().filter(|s| s.n == *session)?, view)
            }
            Event::GateFinished(gate) => Some(Outer::GateFinished(GateFinished {
                gate: gate.gate.clone(),
                passed: gate.passed,
                exit: gate.exit,
                ms: gate.ms,
                when: gate.when.into(),
                output: gate.output.clone(),
                timed_out: gate.timed_out,
            })),
            Event::GateChanged(change) => Some(Outer::GateChanged(change.clone())),
            Event::CheckpointTaken { checkpoint, session, by, depth, path, claims, ms, source, .. } => {
                let seen = self.seen.entry(*session).or_default();
                Some(Outer::CheckpointTaken(CheckpointTaken {
                    checkpoint: checkpoint.clone(),
                    session: name(*session),
                    by: *by,
                    depth: *depth,
                    stage: seen.asked.take().map_or_else(|| seen.stage.clone(), |asked| asked.stage),
                    percent: seen.percent.map(number),
                    path: path.clone(),
                    claims: *claims,
                    ms: *ms,
                    source: *source,
                }))
            }
            Event::CheckpointFailed { checkpoint, session, by, depth, why, .. } => {
                self.seen.entry(*session).or_default().asked = None;
                Some(Outer::CheckpointFailed(CheckpointFailed {
                    checkpoint: checkpoint.clone(),
                    session: name(*session),
                    by: *by,
                    depth: *depth,
                    why: why.clone(),
                }))
            }
            Event::PromptFailed { session, why } => {
                Some(Outer::PromptFailed(PromptFailed { session: name(*session), why: why.clone() }))
            }
            Event::RunResumed { .. }
            | Event::GatesBegan { .. }
            | Event::SessionSpawned { .. }
            | Event::SessionNotStarted { .. }
            | Event::PromptSent { .. }
            | Event::SessionExited { .. }
            | Event::SecretsRedacted { .. }
            | Event::WordsJudged { .. }
            | Event::WorkSaved { .. }
            | Event::NoteLeft { .. }
            | Event::DoneClaimed { .. }
            | Event::BrakeAsked { .. }
            | Event::TimerFired { .. }
            | Event::StopAsked { .. }
            | Event::TryAsked
            | Event::BaseMoved { .. }
            | Event::GateSwapped { .. }
            | Event::GateRestored { .. }
            | Event::ModelPriced { .. }
            | Event::DaySpent(_) => None,
        }
    }

    fn of_agent(&mut self, event: &AgentEvent, session: &SessionView, view: &View) -> Option<Outer> {
        let seen = self.seen.entry(session.n).or_default();
        match event {
            AgentEvent::Ready { .. } if !seen.started => {
                seen.started = true;
                Some(Outer::SessionStarted(session_started(session)))
            }
            AgentEvent::UsageRead(_) if session.gauge.calls() > seen.calls => {
                seen.calls = session.gauge.calls();
                Some(Outer::GaugeRead(gauge_read(session, true, view)))
            }
            AgentEvent::ToolEnded { .. } => Some(Outer::GaugeRead(gauge_read(session, false, view))),
            // An agent without tools and readings has nothing but its text to go by.
            AgentEvent::TextSaid { .. } if session.gauge.source() == Source::Estimated => {
                Some(Outer::GaugeRead(gauge_read(session, false, view)))
            }
            AgentEvent::Said { text } => {
                Some(Outer::AgentSaid(AgentSaid { session: name(session.n), text: text.clone() }))
            }
            AgentEvent::ItemsSeen { open, closed, items } => Some(Outer::ItemsSeen(ItemsSeen {
                session: name(session.n),
                open: *open,
                closed: *closed,
                items: items.clone(),
            })),
            AgentEvent::Ready { .. }
            | AgentEvent::UsageRead(_)
            | AgentEvent::TextSaid { .. }
            | AgentEvent::ToolDescribed { .. }
            | AgentEvent::ToolStarted { .. }
            | AgentEvent::AllowanceSeen { .. }
            | AgentEvent::CrossChecked { .. }
            | AgentEvent::Compacted
            | AgentEvent::PermissionAsked { .. }
            | AgentEvent::Answered { .. }
            | AgentEvent::NotAnswered { .. }
            | AgentEvent::SideAnswered { .. }
            | AgentEvent::SideFailed { .. }
            | AgentEvent::TurnEnded(_)
            | AgentEvent::Retrying { .. }
            | AgentEvent::Unrecognised { .. } => None,
        }
    }

    fn of_notice(&mut self, notice: &Notice, view: &View) -> Outer {
        match notice {
            Notice::StageReached { session, stage, actions, tokens, percent, fallback, why } => {
                let reached = StageReached {
                    session: name(*session),
                    stage: stage.clone(),
                    r#do: actions.clone(),
                    tokens: *tokens,
                    percent: percent.map(hundredths),
                    usage_pct: None,
                    text: None,
                    fallback: fallback.clone(),
                    why: why.clone(),
                };
                Outer::StageReached(self.stage_in_words(*session, reached, view))
            }
            Notice::HandoffDecided { from, from_agent, to_agent, kind, reason, checkpoint, considered } => {
                let decided = HandoffDecided {
                    from: name(*from),
                    from_agent: from_agent.clone(),
                    to_agent: to_agent.clone(),
                    kind: *kind,
                    reason: reason.clone(),
                    checkpoint: checkpoint.clone(),
                    considered: considered.clone(),
                    usage_pct: None,
                    text: None,
                };
                Outer::HandoffDecided(self.handoff_in_words(*from, decided, view))
            }
            Notice::CheckpointRequested { session, depth, deadline, side } => {
                Outer::CheckpointRequested(CheckpointRequested {
                    session: name(*session),
                    depth: *depth,
                    deadline: deadline.map(Time),
                    side: *side,
                })
            }
            Notice::SessionEnded {
                session,
                reason,
                exit,
                fill,
                tokens_in,
                tokens_out,
                cost_musd,
                orphans,
                reread,
            } => Outer::SessionEnded(SessionEnded {
                session: name(*session),
                reason: *reason,
                exit: *exit,
                fill: *fill,
                tokens_in: *tokens_in,
                tokens_out: *tokens_out,
                cost_usd: cost_musd.map(dollars),
                orphans: *orphans,
                reread_tokens: *reread,
            }),
            Notice::LimitReached { limit, value } => {
                Outer::LimitReached(LimitReached { limit: *limit, value: value.clone() })
            }
            Notice::WaitStarted { agent, failure, why, until } => {
                Outer::WaitStarted(wait_fields(agent, *failure, why, *until))
            }
            Notice::SessionContinued { session, how, after } => Outer::SessionContinued(SessionContinued {
                session: name(*session),
                how: *how,
                after: after.clone(),
            }),
            Notice::WaitEnded { agent, failure, why, until } => {
                Outer::WaitEnded(wait_fields(agent, *failure, why, *until))
            }
            Notice::Warned { code, text } => {
                Outer::Warning(Warning { code: code.clone(), text: text.clone() })
            }
        }
    }

    fn stage_in_words(&mut self, session: u32, reached: StageReached, view: &View) -> StageReached {
        let seen = self.seen.entry(session).or_default();
        seen.stage = Some(reached.stage.clone());
        let gauge = view.session.as_ref().filter(|s| s.n == session).map(|s| &s.gauge);
        let ceiling = gauge.and_then(Gauge::ceiling);
        let left = ceiling.zip(reached.tokens).map(|(ceiling, tokens)| ceiling.saturating_sub(tokens));
        let at = words::StageWords { run: &self.run, stage: &reached.stage, actions: &reached.r#do, left };
        let text = words::stage(policy(view), &at);
        StageReached { usage_pct: reached.percent.filter(|_| policy(view) == "loop"), text, ..reached }
    }

    fn handoff_in_words(&mut self, from: u32, decided: HandoffDecided, view: &View) -> HandoffDecided {
        let percent = self.seen.get(&from).and_then(|seen| seen.percent);
        let mut text = None;
        if view.restarts > self.restarts {
            self.context_restarts += 1;
            text = words::context_restart(policy(view), self.context_restarts, percent);
        }
        HandoffDecided { usage_pct: percent.map(number).filter(|_| policy(view) == "loop"), text, ..decided }
    }
}

fn run_started(spec: &RunSpec) -> RunStarted {
    RunStarted {
        schema: SCHEMA,
        task: spec.task.text.clone(),
        agent: spec.agents.first().map(|a| a.name.clone()),
        policy: spec.policy.name.clone(),
        workdir: spec.workdir.clone(),
    }
}

fn session_started(session: &SessionView) -> SessionStarted {
    SessionStarted {
        session: name(session.n),
        n: session.n,
        agent: session.agent.clone(),
        model: session.model.clone(),
        window: session.gauge.window(),
        ceiling: session.gauge.ceiling(),
        reason: session.reason,
    }
}

fn gauge_read(session: &SessionView, r#final: bool, view: &View) -> GaugeRead {
    let gauge = &session.gauge;
    let percent = gauge.percent().map(number);
    GaugeRead {
        session: name(session.n),
        call: gauge.calls(),
        r#final,
        tokens: gauge.tokens(),
        projected: gauge.projected(),
        window: gauge.window(),
        ceiling: gauge.ceiling(),
        percent,
        source: gauge.source(),
        tools: gauge.tools(),
        forecast: session.outlook().map(Into::into),
        usage_pct: percent.filter(|_| policy(view) == "loop"),
    }
}

fn run_finished(outcome: &Outcome, at: Millis, view: &View) -> RunFinished {
    let spent = view.spent();
    RunFinished {
        verdict: outcome.verdict,
        reason: outcome.reason.clone(),
        sessions: view.sessions,
        handoffs: view.handoffs,
        overflows: view.overflows,
        redacted: view.redacted,
        tokens_in: spent.tokens_in,
        tokens_out: spent.tokens_out,
        cost_usd: spent.cost().map(dollars),
        ms: at.saturating_sub(view.started_at),
        advice: outcome.advice.clone(),
        limit: outcome.limit,
        exit_code: outcome.exit_code(view.spec.as_ref().is_some_and(|s| s.require_verified)),
        until: outcome.until.map(Time),
        gate_changes: view.gate_changes.clone(),
        branch_changes: view.branch_changes.clone(),
        last_message: view.last_message.clone(),
    }
}

fn wait_fields(agent: &str, failure: AgentFailure, why: &str, until: Millis) -> WaitFields {
    WaitFields {
        why: why.to_owned(),
        until: Some(Time(until)),
        agent: Some(agent.to_owned()),
        failure: Some(failure),
    }
}

fn policy(view: &View) -> &str {
    view.spec.as_ref().map_or("", |spec| spec.policy.name.as_str())
}

fn name(session: u32) -> String {
    format!("s{session}")
}

pub(crate) fn number(percent: Percent) -> f64 {
    hundredths(percent.hundredths())
}

fn hundredths(of_percent: u32) -> f64 {
    f64::from(of_percent) / 100.0
}

pub(crate) fn dollars(musd: u64) -> f64 {
    musd as f64 / 1_000_000.0
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
