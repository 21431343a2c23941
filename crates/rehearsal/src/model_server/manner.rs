//! What sorts of worker there are, by how they answer a request for a checkpoint.

use super::conversation::{Conversation, Turn};
use super::facts;
use super::script::{Manner, PersonaOptions};
use crate::brain::{Action, Belief};
use crate::job::Job;
use crate::script::CheckpointHabit;

/// What a worker says to a request for a checkpoint; `None` when it does not answer and goes on with its work.
pub(super) fn checkpoint(
    conversation: &Conversation,
    options: &PersonaOptions,
    belief: &Belief,
) -> Option<String> {
    match (options.manner, options.checkpoint) {
        (Manner::ToolAnswering, _) if conversation.forked => return None,
        // Beside the conversation there is nothing to go on with.
        (Manner::Silent, _) if conversation.forked => {
            return Some("I would rather go on with the work.".to_owned());
        }
        (Manner::Silent, _) | (_, CheckpointHabit::Ignore) => return None,
        (_, CheckpointHabit::RefuseError) => return Some("I cannot write a checkpoint now.".to_owned()),
        (_, CheckpointHabit::Answer | CheckpointHabit::NoTags) => {}
    }
    Some(block(conversation, options, belief))
}

/// Whether the newest words that came in make an eager worker write its checkpoint unasked.
pub(super) fn is_alarmed(turns: &[Turn]) -> bool {
    let mut alarmed = false;
    for turn in turns.iter().rev() {
        match turn {
            Turn::Agent(_) | Turn::Call(..) => return alarmed,
            Turn::User(text) => alarmed |= mentions(text, &["context", "window", "checkpoint"]),
            // CLIs speak of context in reminders of their own.
            Turn::System(text) => alarmed |= mentions(text, &["context window", "checkpoint"]),
            Turn::Result(_) => {}
        }
    }
    // Nothing was said yet: the first prompt of a conversation is the task.
    false
}

fn mentions(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    words.iter().any(|word| text.contains(word))
}

/// The checkpoint, with every fact that the worker can see.
pub(super) fn block(conversation: &Conversation, options: &PersonaOptions, belief: &Belief) -> String {
    let mut belief = belief.clone();
    if let (Manner::Lying, Action::Step(next)) = (options.manner, belief.next()) {
        belief.done.insert(next);
        belief.claims.push(format!("Created {}", Job::part(next)));
    }
    let mut text = belief.checkpoint(false);
    if options.manner == Manner::Paraphrasing {
        text = paraphrased(&text, &ids_seen(&conversation.turns));
    }
    if let (Manner::BelievesInterruption, Some(step)) = (options.manner, in_flight(&conversation.turns)) {
        text += &format!("- The command `sh step.sh {step}` was interrupted and has to be run again.\n");
    }
    for fact in known(conversation, options) {
        text += &format!("- {fact}\n");
    }
    if options.checkpoint == CheckpointHabit::NoTags {
        text
    } else {
        format!("<checkpoint>\n{text}</checkpoint>")
    }
}

fn known<'o>(conversation: &Conversation, options: &'o PersonaOptions) -> Vec<&'o str> {
    let all: Vec<&str> = options.facts.values().flatten().map(String::as_str).collect();
    if all.is_empty() {
        return all;
    }
    let texts = conversation.turns.iter().filter_map(|turn| match turn {
        Turn::User(text) | Turn::Agent(text) | Turn::System(text) => Some(text.as_str()),
        Turn::Call(..) | Turn::Result(_) => None,
    });
    facts::held_by(all, &texts.collect::<Vec<_>>().join("\n"))
}

/// The step whose command was called last and has not ended.
fn in_flight(turns: &[Turn]) -> Option<u32> {
    let called =
        turns.iter().rposition(|turn| matches!(turn, Turn::Call(_, input) if input.contains("step.sh ")))?;
    let Turn::Call(_, input) = &turns[called] else { return None };
    let (_, after) = input.split_once("step.sh ")?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    let step: u32 = digits.parse().ok()?;
    let done = format!("step {step} done");
    let ended = |turn: &Turn| matches!(turn, Turn::Result(text) if text.contains(&done));
    (!turns[called..].iter().any(ended)).then_some(step)
}

// The names that segue gave to items: "[R3]".
fn ids_seen(turns: &[Turn]) -> Vec<String> {
    let mut ids = Vec::new();
    for turn in turns {
        let Turn::User(text) = turn else { continue };
        for (at, _) in text.match_indices("[R") {
            let digits: String = text[at + 2..].chars().take_while(char::is_ascii_digit).collect();
            let closed = text[at + 2 + digits.len()..].starts_with(']');
            let id = format!("[R{digits}]");
            if closed && !digits.is_empty() && !ids.contains(&id) {
                ids.push(id);
            }
        }
    }
    ids
}

// Says each item in other words; of the ids it keeps some, drops some, swaps some and uses some twice.
fn paraphrased(text: &str, ids: &[String]) -> String {
    let mut lines = String::new();
    for line in text.lines() {
        let item = line.strip_prefix("- step ").and_then(|rest| rest.split_once(": "));
        let Some((number, what)) = item else {
            lines += &format!("{line}\n");
            continue;
        };
        let n: usize = number.parse().unwrap_or(0);
        let id = |at: usize| ids.get(at % ids.len().max(1)).map_or_else(String::new, |id| format!("{id} "));
        let id = match n % 4 {
            0 => String::new(),
            1 => id(n.saturating_sub(1)),
            2 => id(n),
            _ => id(0),
        };
        let words = match n % 3 {
            0 => format!("the work called \"{what}\" (step {number})"),
            1 => format!("step {number}, that is, {what}"),
            _ => format!("{what}, which is step {number} of the list"),
        };
        lines += &format!("- {id}{words}\n");
    }
    lines
}

/// Whether the request for a checkpoint came through a question beside the conversation, as Claude Code words it.
pub(super) fn is_side_question(turns: &[Turn]) -> bool {
    let newest = turns.iter().rev().take_while(|turn| !matches!(turn, Turn::Agent(_) | Turn::Call(..)));
    newest.into_iter().any(|turn| matches!(turn, Turn::System(text) if text.starts_with("This is a side question from the user")))
}
