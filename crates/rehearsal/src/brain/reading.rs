//! What one piece of text says about the list: which steps it names, which are done, which are missing.
//!
//! Reads by headings, bullets and fixed words, as loosely as a reader of Markdown would, and never takes what stands
//! under "Remaining" for done.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::{Entry, Role};

#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) listed: BTreeMap<u32, String>,
    pub(super) done: BTreeSet<u32>,
    pub(super) missing: BTreeSet<u32>,
    pub(super) claims: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Done,
    Remaining,
    Other,
}

pub(super) fn read(entry: &Entry) -> Found {
    let mut found = Found::default();
    let mut part = Part::Other;
    for raw in entry.text.lines() {
        let line = raw.trim_start_matches(['>', ' ', '\t']).trim_end();
        if let Some(title) = heading(line) {
            part = part_named(title);
        } else if !check_box(line, part, &mut found) && !missing(line, &mut found) {
            statement(line, entry.role, part, &mut found);
        }
    }
    found
}

fn check_box(line: &str, part: Part, found: &mut Found) -> bool {
    let item = unbulleted(line);
    let ticked = item.starts_with("[x]") || item.starts_with("[X]");
    if !ticked && !item.starts_with("[ ]") {
        return false;
    }
    let words = item[3..].trim_start();
    let words = words.strip_prefix("Task: ").unwrap_or(words);
    let Some((n, text)) = words.strip_prefix("step ").and_then(leading_number) else {
        return false;
    };
    found.listed.insert(n, text.trim_start_matches(':').trim().to_owned());
    if ticked && part != Part::Remaining {
        found.done.insert(n);
    }
    true
}

fn missing(line: &str, found: &mut Found) -> bool {
    let Some(at) = ["missing:", "wrong:"].iter().filter_map(|word| line.find(word)).min() else {
        return false;
    };
    let before = found.missing.len();
    found.missing.extend(
        numbers_after(&line[at..], "parts/").filter(|(_, rest)| rest.starts_with(".txt")).map(|(n, _)| n),
    );
    found.missing.len() > before
}

fn statement(line: &str, role: Role, part: Part, found: &mut Found) {
    if role == Role::Agent && line.starts_with("Created ") {
        found.claims.push(line.to_owned());
    }
    let lower = line.to_lowercase();
    let part = inline_part(&lower).unwrap_or(part);
    // What the run remembers of an item that somebody said to be done.
    if role == Role::Prompt && lower.contains("(said done in ") {
        found.done.extend(numbers_after(&lower, "step ").map(|(n, _)| n));
        return;
    }
    if part == Part::Remaining || says_unfinished(&lower) {
        return;
    }
    if let Some((n, " done")) = lower.strip_prefix("step ").and_then(leading_number) {
        found.done.insert(n);
    }
    let is_item =
        unbulleted(line).len() < line.len() || line.starts_with('|') || inline_part(&lower).is_some();
    if part == Part::Done && is_item {
        found.done.extend(numbers_after(&lower, "step ").map(|(n, _)| n));
    }
    if role == Role::Prompt {
        found.done.extend(numbers_after(&lower, "step.sh ").map(|(n, _)| n));
        found.done.extend(
            numbers_after(&lower, "parts/").filter(|(_, rest)| rest.starts_with(".txt")).map(|(n, _)| n),
        );
    }
}

fn heading(line: &str) -> Option<&str> {
    if let Some(title) = line.strip_prefix('#') {
        return Some(title.trim_start_matches('#'));
    }
    if line.starts_with('<') && line.ends_with('>') {
        return Some(line);
    }
    let item = unbulleted(line);
    let bold = item.strip_prefix("**").and_then(|t| t.strip_suffix("**").or_else(|| t.strip_suffix("**:")));
    let plain = item.strip_suffix(':').filter(|t| t.len() < 80 && numbers_after(t, "step ").next().is_none());
    bold.or(plain)
}

fn part_named(title: &str) -> Part {
    const REMAINING: [&str; 15] = [
        "remaining",
        "not ",
        "to do",
        "todo",
        "open",
        "next",
        "pending",
        "left to",
        "contradict",
        "struck",
        "unfinished",
        "incomplete",
        "failed",
        "missing",
        "half",
    ];
    const DONE: [&str; 7] = ["complete", "done", "redo", "finished", "confirmed", "closed", "verified"];
    let title = title.to_lowercase();
    // "Do not redo" is the one "not" that speaks of finished work.
    if title.contains("redo") {
        Part::Done
    } else if REMAINING.iter().any(|word| title.contains(word)) {
        Part::Remaining
    } else if DONE.iter().any(|word| title.contains(word)) {
        Part::Done
    } else {
        Part::Other
    }
}

// "Completed: step 1, step 2" on one line.
fn inline_part(lower: &str) -> Option<Part> {
    let (title, _) = unbulleted(lower).split_once(':')?;
    let part = part_named(title);
    (title.len() < 40 && numbers_after(title, "step ").next().is_none() && part != Part::Other)
        .then_some(part)
}

fn says_unfinished(lower: &str) -> bool {
    const WORDS: [&str; 12] = [
        "running",
        "interrupt",
        "cancel",
        "killed",
        "unfinished",
        "fail",
        "deleted",
        "contradict",
        "not done",
        "not finished",
        "did not",
        "never",
    ];
    let exit = lower.split_once("exit").map(|(_, after)| {
        let digits: String =
            after.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
        digits != "0"
    });
    WORDS.iter().any(|word| lower.contains(word)) || exit == Some(true)
}

fn unbulleted(line: &str) -> &str {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = || {
        line[digits..].strip_prefix(". ").or_else(|| line[digits..].strip_prefix(") ")).filter(|_| digits > 0)
    };
    line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).or_else(numbered).unwrap_or(line)
}

fn leading_number(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

// Every number right after `word`, with what follows it.
fn numbers_after<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = (u32, &'t str)> {
    text.match_indices(word).filter_map(move |(at, _)| leading_number(&text[at + word.len()..]))
}
