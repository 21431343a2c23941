//! What the machine of real runs forecasts in a session, held against what came. The tests with real CLIs include this file.

use segue_machine::policy::preset;
use segue_machine::{AgentEvent, AgentSpec, Capabilities, Event, Record, Run, RunSpec};

/// Calls that are looked ahead.
pub(crate) const AHEAD: usize = segue_machine::forecast::AHEAD as usize;

/// What was said about the calls after one, and what they added.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Case {
    /// Said: seldom less.
    pub(crate) low: f64,
    /// Said: the middle.
    pub(crate) middle: f64,
    /// Said: seldom more.
    pub(crate) high: f64,
    /// What calls had added on average, for as many calls.
    pub(crate) mean: f64,
    /// What they did add.
    pub(crate) grown: f64,
}

/// Every forecast that a session gives occasion for: where the machine goes by it and five calls follow, made when the
/// results that the next call will carry are there.
pub(crate) fn cases(events: &[AgentEvent]) -> Vec<Case> {
    let fills = fills(events);
    let mut watch = Watch::new();
    let mut cases = Vec::new();
    let mut made = None;
    for event in events {
        let calls = watch.calls();
        watch.feed(event);
        let read = watch.calls() > calls;
        if read && let Some(case) = made.take() {
            cases.push(case);
        }
        let waits = watch.run.view().session.as_ref().is_some_and(|s| s.tools.is_empty());
        let due = read || (waits && matches!(event, AgentEvent::ToolEnded { .. }));
        if due {
            made = watch.case(&fills);
        }
    }
    cases
}

// The fill of each call, with a gap where the context was cut.
fn fills(events: &[AgentEvent]) -> Vec<Option<u64>> {
    let mut watch = Watch::new();
    let mut fills = Vec::new();
    let mut cut = false;
    for event in events {
        let calls = watch.calls();
        cut |= matches!(event, AgentEvent::Compacted);
        watch.feed(event);
        if watch.calls() > calls {
            if std::mem::take(&mut cut) {
                fills.push(None);
            }
            fills.push(watch.tokens());
        }
    }
    fills
}

/// A run that watches a session and stops nothing.
struct Watch {
    run: Run,
    seq: u64,
    /// Calls and cuts so far.
    at: usize,
    first: usize,
}

impl Watch {
    fn new() -> Self {
        let mut watch = Self { run: Run::default(), seq: 0, at: 0, first: 0 };
        watch.take(Event::RunStarted { spec: Box::new(spec()) });
        watch.take(Event::SessionSpawned { session: 1, pid: 1, pid_start: 1 });
        let can = Capabilities {
            ask: true,
            follow_up: true,
            usage: true,
            brake: false,
            tell: false,
            side: false,
            resume: false,
        };
        let (conversation, window) = ("c".to_owned(), Some(10_000_000));
        watch.agent(AgentEvent::Ready { conversation, model: None, window, ceiling: None, can });
        watch.take(Event::PromptSent { session: 1, chars: 0 });
        watch
    }

    fn feed(&mut self, event: &AgentEvent) {
        let calls = self.calls();
        let cut = matches!(event, AgentEvent::Compacted);
        if !matches!(event, AgentEvent::Ready { .. }) {
            self.agent(event.clone());
        }
        self.at += usize::from(cut);
        if cut {
            self.first = self.at;
        }
        self.at += usize::from(self.calls() > calls);
    }

    fn agent(&mut self, event: AgentEvent) {
        self.take(Event::Agent { session: 1, event });
    }

    fn take(&mut self, event: Event) {
        self.seq += 1;
        self.run.handle(&Record { seq: self.seq, at: self.seq * 1_000, event });
    }

    fn calls(&self) -> u32 {
        self.run.view().session.as_ref().map_or(0, |s| s.gauge.calls())
    }

    fn tokens(&self) -> Option<u64> {
        self.run.view().session.as_ref().and_then(|s| s.gauge.tokens())
    }

    fn case(&self, fills: &[Option<u64>]) -> Option<Case> {
        let forecast = &self.run.view().session.as_ref()?.forecast;
        let from = fills.get(self.at.checked_sub(1)?).copied().flatten()?;
        let after: Vec<u64> = fills[self.at..].iter().take(AHEAD).map_while(|fill| *fill).collect();
        let usable = after.len() == AHEAD && forecast.is_there();
        let to = after.last().copied().filter(|_| usable)?;
        let said = forecast.growth();
        let first = fills.get(self.first).copied().flatten()?;
        let before = self.at - 1 - self.first;
        let mean = if before == 0 { 0.0 } else { number(from.saturating_sub(first)) / number(before as u64) };
        Some(Case {
            low: number(said.low),
            middle: number(said.middle),
            high: number(said.high),
            mean: mean * number(AHEAD as u64),
            grown: number(to.saturating_sub(from)),
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "tokens are far below 2^52")]
fn number(tokens: u64) -> f64 {
    tokens as f64
}

fn spec() -> RunSpec {
    let policy = preset::find("observe").map(|preset| preset.policy);
    let mut policy = policy.unwrap_or_else(|| unreachable!("observe is a preset"));
    policy.stages.clear();
    RunSpec::new("is watched", vec![AgentSpec { name: "a".to_owned(), ..AgentSpec::default() }], policy)
}
