//! A name for everything that the worlds must have seen.

use segue_machine::{Effect, Notice};

pub(crate) const EFFECTS: [&str; 18] = [
    "effect RunGates",
    "effect StartSession",
    "effect SendPrompt",
    "effect AskCheckpoint",
    "effect TellAgent",
    "effect AnswerPermission",
    "effect AnswerBrake",
    "effect TakeCheckpoint",
    "effect JudgeWords",
    "effect SaveWork",
    "effect WriteHandoffFile",
    "effect EndSession",
    "effect SetTimer",
    "effect ClearTimer",
    "effect Announce",
    "effect Finish",
    "effect KeepCircuit",
    "effect AskSide",
];

pub(crate) const NOTICES: [&str; 9] = [
    "notice StageReached",
    "notice CheckpointRequested",
    "notice HandoffDecided",
    "notice SessionEnded",
    "notice LimitReached",
    "notice Warned",
    "notice WaitStarted",
    "notice WaitEnded",
    "notice SessionContinued",
];

/// The names that an effect stands for: its own, and those of what it carries.
pub(crate) fn of(effect: &Effect) -> Vec<String> {
    let [
        gates,
        start,
        prompt,
        ask,
        tell,
        permission,
        brake,
        take,
        judge,
        save,
        file,
        end,
        set,
        clear,
        announce,
        finish,
        circuit,
        side,
    ] = EFFECTS.map(str::to_owned);
    match effect {
        Effect::RunGates { .. } => vec![gates],
        Effect::StartSession { reason, .. } => vec![start, format!("session {reason:?}")],
        Effect::SendPrompt { .. } => vec![prompt],
        Effect::AskCheckpoint { .. } => vec![ask],
        Effect::AskSide { .. } => vec![side],
        Effect::TellAgent { .. } => vec![tell],
        Effect::AnswerPermission { .. } => vec![permission],
        Effect::AnswerBrake { stop, .. } => vec![brake, format!("brake {stop}")],
        Effect::TakeCheckpoint { by, asked, .. } => {
            vec![take, format!("checkpoint {:?} by {by:?}", asked.depth)]
        }
        Effect::JudgeWords { .. } => vec![judge],
        Effect::SaveWork { .. } => vec![save],
        Effect::WriteHandoffFile { .. } => vec![file],
        Effect::EndSession { .. } => vec![end],
        Effect::SetTimer { .. } => vec![set],
        Effect::ClearTimer { .. } => vec![clear],
        Effect::Announce(notice) => {
            let mut names = of_notice(notice);
            names.push(announce);
            names
        }
        Effect::KeepCircuit { .. } => vec![circuit],
        Effect::Finish(outcome) => vec![finish, format!("verdict {:?}", outcome.verdict)],
    }
}

fn of_notice(notice: &Notice) -> Vec<String> {
    let [stage, requested, handoff, ended, limited, warned, waits, waited, continued] =
        NOTICES.map(str::to_owned);
    match notice {
        Notice::StageReached { .. } => vec![stage],
        Notice::CheckpointRequested { .. } => vec![requested],
        Notice::HandoffDecided { kind, .. } => vec![handoff, format!("handoff {kind:?}")],
        Notice::SessionEnded { reason, .. } => vec![ended, format!("ended {reason:?}")],
        Notice::LimitReached { limit, .. } => vec![limited, format!("limit {limit:?}")],
        Notice::SessionContinued { how, .. } => vec![continued, format!("continued {how:?}")],
        Notice::WaitStarted { failure, .. } => vec![waits, format!("wait {failure:?}")],
        Notice::WaitEnded { .. } => vec![waited],
        Notice::Warned { code, .. } => vec![warned, format!("warning {code}")],
    }
}
