//! Names of phases: 1, 3.1, 6D, 26.2, 20a, 01-02. How they are found in words, and when two are the same.

use std::borrow::Cow;

use crate::text::{after_any, link, plain};

/// Whether two ids name the same thing: leading zeros, case and the word before the number do not matter.
pub fn same(a: &str, b: &str) -> bool {
    a == b || canonical(a) == canonical(b)
}

/// An id as it is compared.
pub fn canonical(id: &str) -> String {
    let id = id.trim().trim_matches(['"', '\'', '`', '[', ']']).to_lowercase();
    let id = id.strip_suffix(".md").unwrap_or(&id);
    let id = id.strip_suffix("-plan").unwrap_or(id);
    let id = ["phase", "plan", "task"].iter().fold(id, |id, word| {
        let rest = id.strip_prefix(word).unwrap_or(id);
        if rest.len() < id.len() { rest.trim_start_matches([' ', '-', '_', '#']) } else { id }
    });
    let mut out = String::with_capacity(id.len());
    let mut digits = false;
    let mut chars = id.chars().peekable();
    while let Some(char) = chars.next() {
        // Zeros before the first digit that counts.
        let skip = char == '0' && !digits && chars.peek().is_some_and(char::is_ascii_digit);
        digits = char.is_ascii_digit() && (digits || char != '0');
        if !skip {
            out.push(char);
        }
    }
    out
}

/// The id and the title in a heading such as `Auth Phase 6D: Sessions` or `Phase 16 Plan: Context`.
pub(crate) fn heading(title: &str) -> Option<(String, String)> {
    named(title, "phase")
}

/// The same for what others call a phase.
pub(crate) fn part(title: &str) -> Option<(String, String)> {
    let begins = |word: &&&str| {
        title.trim_start_matches(|c: char| !c.is_alphabetic()).to_lowercase().starts_with(**word)
    };
    let others = ["chunk", "milestone", "sprint", "stage", "epic", "fase"];
    heading(title).or_else(|| others.iter().find(begins).and_then(|word| named(title, word)))
}

fn named(title: &str, word: &str) -> Option<(String, String)> {
    let words = plain(title);
    let lower = words.to_ascii_lowercase();
    let mut from = 0;
    while let Some(found) = lower.get(from..)?.find(word) {
        let at = from + found;
        let starts = words[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
        let rest = words.get(at + word.len()..)?;
        let rest = rest.trim_start_matches([' ', '#', '\u{a0}']);
        if let Some((id, after)) = starts.then(|| leading(rest)).flatten() {
            return Some((id.to_owned(), title_after(after, &words[..at])));
        }
        from = at + word.len();
    }
    None
}

// What follows the id; where nothing does, what came before it.
fn title_after(after: &str, before: &str) -> String {
    let after = after.trim_start();
    let after = after.strip_prefix("Plan").filter(|rest| rest.starts_with([':', ' ', '-'])).unwrap_or(after);
    let tidy = |text: &str| text.trim().trim_matches([':', '-', '–', '—', '.', '|', ' ']).trim().to_owned();
    let title = tidy(after);
    if title.is_empty() { tidy(before) } else { title }
}

/// An id at the start of a text, and the rest.
pub(crate) fn leading(text: &str) -> Option<(&str, &str)> {
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let joins =
            char == '.' && at > 0 && chars.peek().is_some_and(|(_, next)| next.is_ascii_alphanumeric());
        if !(char.is_ascii_alphanumeric() || joins) {
            break;
        }
        end = at + char.len_utf8();
    }
    let id = text.get(..end)?;
    let numbered = id.starts_with(|c: char| c.is_ascii_digit());
    let tail = id.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let letter = id.len() == 1 && id.starts_with(|c: char| c.is_ascii_uppercase());
    ((numbered && tail.len() <= 3) || letter).then(|| (id, &text[end..]))
}

/// A number in front of an item's words: `1.2: x`, `T001 x`, `**T01: x**`, `Task 3: x`. The words come without it.
pub(crate) fn numbered(text: &str) -> Option<(&str, Cow<'_, str>)> {
    let bare = text.trim_start_matches(['*', '`']);
    let stars = text.len() - bare.len();
    let word = after_any(bare, &["Task ", "task ", "Step ", "Story "]);
    let rest = word.unwrap_or(bare);
    let end =
        rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))).unwrap_or(rest.len());
    let id = rest[..end].trim_end_matches(['.', '-']);
    let id = id.strip_suffix("-PLAN.md").unwrap_or(id);
    let after = &rest[id.len()..];
    let after = after.strip_prefix("-PLAN.md").unwrap_or(after);
    let digits = id.chars().filter(char::is_ascii_digit).count();
    let letters = id.chars().take_while(char::is_ascii_alphabetic).count();
    let shaped = id.len() <= 16
        && digits > 0
        && letters <= 5
        && id.chars().take(letters).all(|c| c.is_ascii_uppercase());
    // A bare number may also be the beginning of a sentence.
    let dotted = letters > 0 || id.contains(['.', '-']) || word.is_some();
    let ends = after.starts_with([':', '.', ')', '*', '`']) || (dotted && after.starts_with([' ', '\t']));
    if !(shaped && ends) || after.is_empty() {
        return None;
    }
    fn tidy(title: &str) -> &str {
        title.trim_start_matches([':', '.', ')', ' ', '\t', '—', '–', '-']).trim()
    }
    let title = if stars > 0 {
        let title = after.replacen("**", "", 1).replacen('`', "", usize::from(text.starts_with('`')));
        Cow::Owned(tidy(&title).to_owned())
    } else {
        Cow::Borrowed(tidy(after))
    };
    (!title.is_empty()).then_some((id, title))
}

/// The phases that a text such as `Phase 1, [Phase 2](p2.md)` or `Phases 1-3` names. What is complete is not needed.
pub(crate) fn needed(text: &str) -> Vec<Needed> {
    let mut found: Vec<Needed> = Vec::new();
    let mut rest = text.to_owned();
    while let Some((words, target)) = link(&rest).map(|(a, b)| (a.to_owned(), b.to_owned())) {
        let id = heading(&words)
            .map(|(id, _)| id)
            .or_else(|| in_file_name(&target))
            .unwrap_or_else(|| words.clone());
        found.push(Needed { id, file: Some(target) });
        let Some(end) = rest.find("](").and_then(|at| Some(at + rest[at..].find(')')? + 1)) else { break };
        rest.replace_range(..end, "");
    }
    let rest = without_remarks(&rest);
    let lower = rest.trim().to_lowercase();
    let none = ["n/a", "none", "nothing", "no ", "-", "–", "—", "null", "independent"];
    if lower.is_empty() || none.iter().any(|word| lower == word.trim() || lower.starts_with(word)) {
        return found;
    }
    found.extend(numbers(&rest).into_iter().map(|id| Needed { id, file: None }));
    found
}

/// A phase that is needed: its id, and the file it was linked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Needed {
    pub(crate) id: String,
    pub(crate) file: Option<String>,
}

// A remark in parentheses is none of the names, and what it calls complete is needed no more.
fn without_remarks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('(') {
        out.push_str(&rest[..at]);
        let Some(end) = rest[at..].find(')') else { return out };
        let remark = rest[at..at + end].to_lowercase();
        if remark.contains("complete") || remark.contains("done") || remark.contains("shipped") {
            let last = out.trim_end().rfind([',', ';', '&']).map_or(0, |at| at + 1);
            out.truncate(last);
        } else if out.to_lowercase().trim().ends_with("all") {
            out.push_str(&rest[at + 1..at + end]);
        }
        rest = &rest[at + end + 1..];
    }
    out.push_str(rest);
    out
}

// Every id in words: single ones, lists and ranges of whole numbers.
fn numbers(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let spaced = text.replace(['–', '—'], "-").replace([',', ';', '&', '+'], " ");
    let mut range = false;
    for whole in spaced.split_whitespace() {
        let whole = whole.trim_matches(['*', '`', '"', '\'', '#', '[', ']', '.', ':']);
        let lower = whole.to_ascii_lowercase();
        if matches!(lower.as_str(), "-" | "to" | "through" | "thru") {
            range = !found.is_empty();
            continue;
        }
        let named = ["phases", "phase", "plan", "task"].iter().find_map(|name| {
            let rest = lower.strip_prefix(name)?;
            whole.get(whole.len() - rest.len()..).map(|rest| rest.trim_start_matches(['-', '_']))
        });
        let word = named.unwrap_or(whole);
        if let Some((from, to)) = word.split_once('-').filter(|(a, b)| is_short(a) && is_short(b)) {
            found.extend(between(from, to));
        } else if leading(word).is_some_and(|(_, rest)| rest.is_empty()) || is_plan_id(word) {
            match (range, found.last().cloned()) {
                (true, Some(from)) => found.extend(between(&from, word).into_iter().skip(1)),
                _ => found.push(word.to_owned()),
            }
        }
        range = false;
    }
    found
}

fn is_short(text: &str) -> bool {
    (1..=2).contains(&text.len()) && text.chars().all(|c| c.is_ascii_digit()) && !text.starts_with('0')
}

fn is_plan_id(word: &str) -> bool {
    word.contains('-')
        && word
            .split('-')
            .all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

fn between(from: &str, to: &str) -> Vec<String> {
    match (from.parse::<u32>(), to.parse::<u32>()) {
        (Ok(from), Ok(to)) if from <= to && to - from <= 200 => (from..=to).map(|n| n.to_string()).collect(),
        _ => vec![from.to_owned(), to.to_owned()],
    }
}

// `context-phase-6D.md` is of phase 6D.
fn in_file_name(path: &str) -> Option<String> {
    let name = path.rsplit('/').next()?.trim_end_matches(".md");
    let at = name.to_lowercase().rfind("phase")?;
    let rest = name.get(at + 5..)?.trim_start_matches(['-', '_', ' ']);
    leading(rest).map(|(id, _)| id.to_owned())
}

#[cfg(test)]
#[path = "ids_tests.rs"]
mod tests;
