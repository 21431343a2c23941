//! Which lines of a phase's run a person reads as they come, and keeps. The rest is in the frame or in the journal.

use segue_machine::WaitRules;

use crate::fields::{GateTime, RunFinished};
use crate::terminal::{Entry, cost_words, count, duration, plain, sentence};
use crate::{Line, Outer};

/// The line in words with the phase's id at its head; `None` when it is not worth keeping.
pub(super) fn entry(id: &str, line: &Line, rules: &WaitRules) -> Option<Entry> {
    let said = sentence(&line.event, line.at.0, rules).filter(|_| is_worth_keeping(&line.event));
    let (mut text, tint) = said?;
    if let Outer::RunFinished(finished) = &line.event {
        text = format!("{text} · {}", took(finished));
    }
    Some(Entry::new(format!("[{}] ", plain(id)), text, tint))
}

fn is_worth_keeping(event: &Outer) -> bool {
    match event {
        Outer::SessionStarted(_)
        | Outer::CheckpointTaken(_)
        | Outer::HandoffDecided(_)
        | Outer::SessionContinued(_)
        | Outer::SessionEnded(_)
        | Outer::WaitStarted(_)
        | Outer::WaitEnded(_)
        | Outer::LimitReached(_)
        | Outer::GateChanged(_)
        | Outer::Warning(_)
        | Outer::RunFinished(_) => true,
        // Gates are red before the work more often than not.
        Outer::GateFinished(gate) => !gate.passed && gate.when != GateTime::Before,
        Outer::RunStarted(_)
        | Outer::GaugeRead(_)
        | Outer::AgentSaid(_)
        | Outer::ItemsSeen(_)
        | Outer::CheckpointFailed(_)
        | Outer::PromptFailed(_)
        | Outer::StageReached(_)
        | Outer::CheckpointRequested(_)
        | Outer::PhaseStarted(_)
        | Outer::PhaseFinished(_) => false,
    }
}

fn took(finished: &RunFinished) -> String {
    let mut words = vec![count(finished.sessions, "session")];
    words.extend(Some(finished.handoffs).filter(|n| *n > 0).map(|n| count(n, "handoff")));
    words.extend(Some(finished.overflows).filter(|n| *n > 0).map(|n| count(n, "overflow")));
    words.extend([cost_words(finished.cost_usd), duration(finished.ms)]);
    words.join(" · ")
}
