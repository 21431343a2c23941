//! The prompt of a fresh session: the checkpoint, fresh facts and the task, cut to what the next window can hold.

use minijinja::context;
use segue_machine::checkpoint::cut_chars;
use segue_machine::{GateResult, Prompt};

use crate::checkpoint::{Document, Situation, Workplace};
use crate::prompt::{PromptError, failed_gates};

/// The longest checkpoint that is passed on when nothing else limits it.
const MOST: usize = 24_000;
/// The share of the window that a checkpoint may take.
const SHARE: u64 = 8;
/// How much of what failed gates said goes into a prompt.
const GATE_CHARS: usize = 6_000;

/// Makes the words of a prompt. Blocking: a continuation looks at the repository. Also returns what is worth a warning.
pub(crate) fn compose(
    place: &Workplace,
    situation: &Situation,
    prompt: &Prompt,
    window: Option<u64>,
) -> Result<(String, Option<String>), PromptError> {
    let prompts = &place.prompts;
    let task = &situation.task;
    let text = match prompt {
        Prompt::Task => prompts.fill("task", context! { task })?,
        Prompt::GoOn => prompts.fill("go_on", context! {})?,
        Prompt::GreenBefore { open } => prompts.fill("green_before", context! { open })?,
        Prompt::GatesFailed { round, of, failed } => {
            let failed = failed_gates(failed, GATE_CHARS);
            prompts.fill("gates_failed", context! { round, of, failed })?
        }
        Prompt::Continuation { checkpoint, restart, trim, failed } => {
            let room = room(situation, window, *trim);
            return continuation(place, situation, checkpoint.as_deref(), *restart, room, failed);
        }
    };
    Ok((text, None))
}

fn continuation(
    place: &Workplace,
    situation: &Situation,
    id: Option<&str>,
    restart: u32,
    room: usize,
    failed: &[GateResult],
) -> Result<(String, Option<String>), PromptError> {
    let read = id.map(|id| Document::read(&Document::file(&place.checkpoints, id)));
    let (text, warning) = match read {
        Some(Ok(document)) => (document.summary, None),
        Some(Err(error)) => {
            let reason = "the stored checkpoint could not be used";
            let text = super::words::account(situation, reason, segue_machine::Depth::Full, None);
            (text, Some(error.to_string()))
        }
        None => ("(none was written)".to_owned(), None),
    };
    let facts = place.facts(&situation.git);
    let facts = place.fact_words(situation, facts.as_ref())?;
    let failed = if failed.is_empty() { String::new() } else { failed_gates(failed, GATE_CHARS) };
    let name = place.prompts.continuation(&situation.policy.name);
    let checkpoint = cut_chars(&text, room);
    let task = &situation.task;
    let text = place.prompts.fill(&name, context! { id => id, restart, checkpoint, facts, failed, task })?;
    Ok((text, warning))
}

fn room(situation: &Situation, window: Option<u64>, trim: u32) -> usize {
    let most = situation.policy.max_chars.map_or(MOST, |m| m as usize);
    let share = window.map_or(MOST, |w| usize::try_from(w.saturating_mul(3) / SHARE).unwrap_or(MOST));
    (most.min(share) >> trim.min(16)).max(400)
}
