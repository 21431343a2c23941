//! The prompt of a fresh session: the checkpoint, the ledger, fresh facts and the task, cut to what the next window can
//! hold. What is cut is said; the task never is.

use minijinja::context;
use segue_machine::checkpoint::cut_chars;
use segue_machine::ledger::Memory;
use segue_machine::{CheckpointBy, Event, GateResult, Prompt, TaskPart, parts};

use crate::checkpoint::account::{account, said_since};
use crate::checkpoint::evidence::refresh_gates;
use crate::checkpoint::{Document, Situation, Workplace, ground};
use crate::prompt::{PromptError, failed_gates};

/// The longest checkpoint that is passed on when nothing else limits it.
const MOST: usize = 24_000;
/// The share of the window, in eighths of a character per token, that a checkpoint may take: about a tenth of it.
const SHARE: u64 = 8;
/// The most tokens of the ledger that are passed on.
const LEDGER_TOKENS: usize = 8_000;
/// The share of the window that the ledger may take.
const LEDGER_SHARE: u64 = 10;
/// The share of the checkpoint's room that words said after it may take.
const LATER: usize = 2;
/// What the ledger counts as a token.
pub(super) const CHARS_PER_TOKEN: usize = 4;
/// How much of what failed gates said goes into a prompt.
const GATE_CHARS: usize = 6_000;

/// The words of a prompt, and what was found while they were made.
#[derive(Debug, Default)]
pub(crate) struct Composed {
    /// What the agent is told.
    pub(crate) text: String,
    /// What is worth a warning.
    pub(crate) warning: Option<String>,
    /// What the run stands on that is not what it was, a sentence each.
    pub(crate) moved: Vec<String>,
    /// Gates that were run for it.
    pub(crate) events: Vec<Event>,
}

/// Makes the words of a prompt. Blocking: a continuation looks at the repository.
pub(crate) fn compose(
    place: &Workplace,
    situation: &Situation,
    prompt: &Prompt,
    window: Option<u64>,
) -> Result<Composed, PromptError> {
    let prompts = &place.prompts;
    let task = place.private.task(&situation.task);
    let text = match prompt {
        Prompt::Task => prompts.fill("task", context! { task })?,
        Prompt::GoOn => prompts.fill("go_on", context! {})?,
        Prompt::NotDone { left } => prompts.fill("not_done", context! { left })?,
        Prompt::AskStatus => prompts.fill("ask_status", context! {})?,
        Prompt::Answered { answer } => prompts.fill("answered", context! { answer })?,
        Prompt::Continue { after, cut } => {
            let mut situation = situation.clone();
            // The worker of a run that was killed or stopped has not seen what became of its files since.
            let crossed = situation.interrupted.is_some();
            let events = if crossed { refresh_gates(place, &mut situation) } else { Vec::new() };
            let (gates, session) =
                (if crossed { situation.gate_lines() } else { Vec::new() }, situation.session);
            let text = prompts.fill("continue", context! { after, cut, gates, session })?;
            return Ok(Composed { text: with_demand(text, &situation), events, ..Composed::default() });
        }
        Prompt::GreenBefore { open } => prompts.fill("green_before", context! { open })?,
        Prompt::ClaimsWrong { round, of, claims } => {
            let said = |j: &segue_machine::claims::Judged| {
                context! { text => j.claim.text.clone(), evidence => j.evidence.clone() }
            };
            let claims: Vec<_> = claims.iter().map(said).collect();
            prompts.fill("claims_wrong", context! { round, of, claims })?
        }
        Prompt::GatesFailed { round, of, failed } => {
            let failed = failed_gates(failed, GATE_CHARS);
            prompts.fill("gates_failed", context! { round, of, failed })?
        }
        Prompt::Verify => verification(place, situation, window)?,
        Prompt::Continuation { checkpoint, restart, trim, failed, part, missing, answer } => {
            let room = Room::new(place, situation, window, *trim);
            let (missing, answer) = (missing.as_deref(), answer.as_deref());
            let ahead = Ahead { restart: *restart, failed, part: *part, missing, answer };
            let mut situation = situation.clone();
            let events = refresh_gates(place, &mut situation);
            let failed = still_failed(failed, &situation);
            let ahead = Ahead { failed: &failed, ..ahead };
            let made = continuation(place, &situation, checkpoint.as_deref(), &room, &ahead)?;
            return Ok(Composed { events, ..made });
        }
    };
    let text = if matches!(prompt, Prompt::Verify) { text } else { with_demand(text, situation) };
    Ok(Composed { text, ..Composed::default() })
}

// After the template and outside of the task, which stays as its file has it.
fn with_demand(text: String, situation: &Situation) -> String {
    match &situation.word {
        Some(word) if !text.contains(word.as_str()) => {
            format!("{text}\n\nWhen everything is done, and only then, say {word}.")
        }
        None if situation.asks_status => {
            format!("{}\n\n{}", text.trim_end(), segue_machine::statement::DEMAND)
        }
        _ => text,
    }
}

// What failed last, by its newest result; what cannot be said of the files as they are is not said.
fn still_failed(failed: &[GateResult], situation: &Situation) -> Vec<GateResult> {
    let newest = |gate: &GateResult| situation.gates.iter().find(|known| known.gate == gate.gate);
    let known = failed.iter().filter(|gate| !situation.gates_old.contains(&gate.gate));
    known.map(|gate| newest(gate).unwrap_or(gate)).filter(|gate| !gate.passed).cloned().collect()
}

// What a continuation has to tell beside the checkpoint.
struct Ahead<'a> {
    restart: u32,
    failed: &'a [GateResult],
    part: Option<TaskPart>,
    missing: Option<&'a str>,
    answer: Option<&'a str>,
}

fn verification(
    place: &Workplace,
    situation: &Situation,
    window: Option<u64>,
) -> Result<String, PromptError> {
    let room = Room::new(place, situation, window, 0);
    let facts = place.facts(&situation.git);
    let facts = place.fact_words(situation, facts.as_ref())?;
    let stored =
        situation.previous.as_ref().map(|id| Document::read(&Document::file(&place.checkpoints, id)));
    let summary = stored.and_then(Result::ok).map(|document| document.summary).unwrap_or_default();
    let summary = cut_chars(&summary, room.checkpoint);
    let ledger = ledger(situation, &room, &mut Vec::new());
    let task = place.private.task(&situation.task);
    place.prompts.fill("verify", context! { task, ledger, facts, summary })
}

fn continuation(
    place: &Workplace,
    situation: &Situation,
    id: Option<&str>,
    room: &Room,
    ahead: &Ahead<'_>,
) -> Result<Composed, PromptError> {
    let read = id.map(|id| Document::read(&Document::file(&place.checkpoints, id)));
    let mut later = String::new();
    let (text, warning) = match read {
        _ if situation.unwritten => {
            (account(place, situation, "the last checkpoint could not be written"), None)
        }
        Some(Ok(document)) => {
            if document.by == CheckpointBy::Agent {
                later = said_since(place, situation, room.checkpoint / LATER);
            }
            (document.summary, None)
        }
        Some(Err(error)) => {
            let reason = "the stored checkpoint could not be used";
            (account(place, situation, reason), Some(error.to_string()))
        }
        None => ("(none was written)".to_owned(), None),
    };
    let facts = place.facts(&situation.git);
    let moved = ground::moved(place, situation, facts.as_ref());
    let facts = news(place.fact_words(situation, facts.as_ref())?, ahead, &moved, &situation.cut) + &later;
    let failed = if ahead.failed.is_empty() { String::new() } else { failed_gates(ahead.failed, GATE_CHARS) };
    let name = place.prompts.continuation(&situation.policy.name);
    let mut cuts = Vec::new();
    let checkpoint = cut_chars(&text, room.checkpoint);
    if checkpoint.len() < text.len() {
        let (whole, kept) = (text.chars().count(), checkpoint.chars().count());
        cuts.push(format!("the checkpoint is cut from {whole} to {kept} characters"));
    }
    let ledger = ledger(situation, room, &mut cuts);
    let cut = cuts.join("; ");
    let role = situation.role.as_ref().map(|role| role.name.as_str()).unwrap_or_default();
    let task = place.private.task(&situation.task);
    let task = ahead.part.map_or_else(|| task.to_owned(), |part| parts::part_of(task, part));
    let restart = ahead.restart;
    let (resumed, session) = (situation.resumed, situation.session);
    let why = situation.interrupted.as_deref().unwrap_or("the run was interrupted");
    let words = context! { id => id, restart, resumed, why, session, checkpoint, ledger, facts, failed, cut, role, task };
    let text = with_demand(place.prompts.fill(&name, words)?, situation);
    Ok(Composed { text, warning, moved, ..Composed::default() })
}

// With the facts, so that a user's own template has it too.
fn news(facts: String, ahead: &Ahead<'_>, moved: &[String], cut: &[String]) -> String {
    let mut text = facts;
    if !cut.is_empty() {
        text.push_str("\n\n## May be half done\n");
        text.push_str("These were running when the last session ended. Check what they did before you run them again:\n");
        cut.iter().for_each(|tool| text.push_str(&format!("- `{tool}`\n")));
    }
    if !moved.is_empty() {
        text.push_str("\n\n## Changed since the last session\n");
        moved.iter().for_each(|line| text.push_str(&format!("- {line}\n")));
    }
    if let Some(missing) = ahead.missing {
        text.push_str("\n\n## Not done yet, says a second opinion\n");
        text.push_str(missing);
        text.push('\n');
    }
    if let Some(answer) = ahead.answer {
        text.push_str("\n\n## The user's answer to what you asked for\n");
        text.push_str(answer);
        text.push('\n');
    }
    text
}

fn ledger(situation: &Situation, room: &Room, cuts: &mut Vec<String>) -> String {
    if situation.memory == Memory::LastSummary {
        return String::new();
    }
    let rendered = situation.ledger.render(room.ledger_tokens);
    let left_out = rendered.left_out.iter().map(|(_, items)| items).sum::<usize>();
    if left_out > 0 {
        cuts.push(format!("{left_out} items of the ledger are left out"));
    }
    rendered.text
}

/// How much of what may be passed on.
#[derive(Debug)]
pub(super) struct Room {
    /// Characters of a checkpoint.
    pub(super) checkpoint: usize,
    ledger_tokens: usize,
}

impl Room {
    pub(super) fn new(place: &Workplace, situation: &Situation, window: Option<u64>, trim: u32) -> Self {
        let most = usize::try_from(place.account_tokens).unwrap_or(MOST).saturating_mul(CHARS_PER_TOKEN);
        let most = most.max(MOST);
        let (max, trim) = (situation.policy.max_chars.map(|m| m as usize), trim.min(16));
        let of_window = |tokens: u64, most: usize| usize::try_from(tokens).unwrap_or(most).min(most);
        let share = window.map_or(most, |w| of_window(w.saturating_mul(3) / SHARE, most));
        let ledger = window.map_or(LEDGER_TOKENS, |w| of_window(w / LEDGER_SHARE, LEDGER_TOKENS));
        let ledger = max.map_or(ledger, |max| ledger.min(max / CHARS_PER_TOKEN));
        Self {
            checkpoint: (max.unwrap_or(most).min(share) >> trim).max(400),
            ledger_tokens: (ledger >> trim).max(100),
        }
    }
}
