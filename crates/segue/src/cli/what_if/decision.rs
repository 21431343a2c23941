//! What was decided about a window, where on the gauge, in words that both sides of a comparison share.

use segue_machine::{CheckpointBy, Effect, HandoffKind, Millis, NextKind, Notice, Run};
use serde::Serialize;

/// One decision and its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Decision {
    /// What.
    pub(super) what: What,
    /// In words.
    pub(super) text: String,
    /// Model calls of the session so far.
    pub(super) call: u32,
    /// Tokens, projected ones included.
    pub(super) tokens: Option<u64>,
    /// Hundredths of a percent of the ceiling.
    pub(super) percent: Option<u32>,
    /// When the event came in that it was decided upon.
    pub(super) at: Millis,
}

/// Kinds of decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum What {
    /// A stage was reached.
    Stage,
    /// The agent was told how full its window is.
    Told,
    /// The agent was stopped before its next call.
    Braked,
    /// A checkpoint was asked for or written.
    Checkpoint,
    /// The session was to be replaced.
    Handoff,
    /// The run was to end.
    Stop,
}

impl Decision {
    /// Whether the session is over with it.
    pub(super) fn ends(&self) -> bool {
        matches!(self.what, What::Handoff | What::Stop)
    }

    /// Whether two sides decided the same in the same place.
    pub(super) fn same(&self, other: &Self) -> bool {
        (self.what, &self.text, self.call, self.at) == (other.what, &other.text, other.call, other.at)
    }
}

/// The decisions among these effects, with the place where the machine stands.
pub(super) fn decisions(effects: &[Effect], at: Millis, machine: &Run) -> Vec<Decision> {
    let place = place(at, machine);
    effects.iter().filter_map(read).map(|(what, text)| Decision { what, text, ..place.clone() }).collect()
}

fn place(at: Millis, machine: &Run) -> Decision {
    let gauge = machine.view().session.as_ref().map(|session| &session.gauge);
    Decision {
        what: What::Stage,
        text: String::new(),
        call: gauge.map_or(0, |gauge| gauge.calls()),
        tokens: gauge.and_then(|gauge| gauge.fill()),
        percent: gauge.and_then(|gauge| gauge.percent()).map(|percent| percent.hundredths()),
        at,
    }
}

fn read(effect: &Effect) -> Option<(What, String)> {
    match effect {
        Effect::Announce(Notice::StageReached { stage, actions, .. }) => {
            Some((What::Stage, format!("stage {stage}: {}", actions.join(", "))))
        }
        Effect::Announce(Notice::HandoffDecided { kind, to_agent, .. }) => Some(match (kind, to_agent) {
            (HandoffKind::Stop, _) => (What::Stop, "no fresh session: the run ends".to_owned()),
            (_, Some(agent)) => (What::Handoff, format!("handoff ({}) to {agent}", kind_words(*kind))),
            (_, None) => (What::Handoff, format!("handoff ({})", kind_words(*kind))),
        }),
        Effect::TellAgent { .. } => Some((What::Told, "the agent gets a usage hint".to_owned())),
        Effect::AnswerBrake { stop: true, .. } => {
            Some((What::Braked, "the agent is stopped before its next call".to_owned()))
        }
        Effect::TakeCheckpoint { asked, by, next, .. } => {
            let by = match by {
                CheckpointBy::Agent => "the agent",
                CheckpointBy::Segue => "segue",
            };
            let depth = serde_json::to_value(asked.depth).ok();
            let depth = match depth.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default() {
                "full" => "complete",
                depth => depth,
            };
            let (what, then) = match next.as_ref().map(|next| next.kind) {
                Some(NextKind::Continue) => (What::Checkpoint, ", then on"),
                Some(NextKind::Stop) => (What::Stop, ", then the run ends"),
                _ => (What::Checkpoint, ""),
            };
            Some((what, format!("checkpoint ({depth}) by {by}{then}")))
        }
        Effect::Announce(_)
        | Effect::AnswerBrake { stop: false, .. }
        | Effect::RunGates { .. }
        | Effect::StartSession { .. }
        | Effect::SendPrompt { .. }
        | Effect::AskCheckpoint { .. }
        | Effect::AskSide { .. }
        | Effect::AnswerPermission { .. }
        | Effect::JudgeWords { .. }
        | Effect::SaveWork { .. }
        | Effect::WriteHandoffFile { .. }
        | Effect::EndSession { .. }
        | Effect::SetTimer { .. }
        | Effect::ClearTimer { .. }
        | Effect::KeepCircuit { .. }
        | Effect::Finish(_) => None,
    }
}

fn kind_words(kind: HandoffKind) -> &'static str {
    match kind {
        HandoffKind::Continue => "continue",
        HandoffKind::Restart => "restart",
        HandoffKind::Fallback => "fallback",
        HandoffKind::Helper => "helper",
        HandoffKind::Forced => "forced",
        HandoffKind::Split => "split",
        HandoffKind::Stop => "stop",
    }
}
