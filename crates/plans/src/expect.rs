//! Reading what is expected of a command from the words around it: "(returns at least 2)", "exits 0", "→ 0 errors".

use std::cell::LazyCell;

use crate::command::{self, Prints, prints};
use crate::judge::Judge;
use crate::model::{Check, Criterion, Place};
use crate::text::{Span, after_any, decode, spans};
use crate::verbs::{
    ABSENT, CONTAINS, EXITS, FAILS, FINDS, PASSES, RETURNS, SOME, TOLD, after_verb, skip_fillers,
};

/// A criterion from its words, with the commands that decide it.
pub(crate) fn criterion(text: &str, at: Place) -> Criterion {
    let text = decode(text.trim());
    let checks = checks(&text);
    Criterion { at, text, checks }
}

/// The commands in a text and what is expected of each.
pub(crate) fn checks(text: &str) -> Vec<Check> {
    let spans = spans(text);
    let from = LazyCell::new(|| announced(text));
    let mut found: Vec<Check> = Vec::new();
    for (index, span) in spans.iter().enumerate() {
        let next = spans.get(index + 1);
        let after = &text[span.to..next.map_or(text.len(), |next| next.from)];
        let told = expectation(after, next, span.code);
        let is_announced = |span: &Span<'_>| from.is_some_and(|from| span.from >= from);
        let runs = (told.is_some() || is_announced(span)) && command::looks_like_one(span.code);
        // Behind "verified by" the first span is the command, whatever it looks like; more must look like one.
        let first = || is_announced(span) && !index.checked_sub(1).is_some_and(|at| is_announced(&spans[at]));
        if runs || (span.code.contains(' ') && first()) {
            found.push(check(span.code, told));
        }
    }
    found
}

// Where the words begin that say that a command follows.
fn announced(text: &str) -> Option<usize> {
    const WORDS: [&str; 7] =
        ["verified by", "verify with", "verify by", "check with", "checked by", "run:", "command:"];
    let begins = |tail: &[u8]| {
        WORDS.iter().any(|words| {
            tail.get(..words.len()).is_some_and(|head| head.eq_ignore_ascii_case(words.as_bytes()))
        })
    };
    // Two letters pass over nearly every place.
    let may = |pair: &[u8]| {
        matches!(
            pair,
            [b'v' | b'V', b'e' | b'E']
                | [b'c' | b'C', b'h' | b'H' | b'o' | b'O']
                | [b'r' | b'R', b'u' | b'U']
        )
    };
    let pairs = text.as_bytes().windows(2).enumerate();
    pairs.filter(|(_, pair)| may(pair)).map(|(at, _)| at).find(|at| begins(&text.as_bytes()[*at..]))
}

/// A command with what is expected of it; without that, that it ends with 0.
pub(crate) fn check(run: &str, told: Option<Judge>) -> Check {
    // The code of `…; echo EXIT:$?` is that of the echo.
    let told = told.unwrap_or_default();
    let judge = if let Judge::Exit(code) = told
        && command::tells_exit(run)
    {
        Judge::Told(code)
    } else {
        told
    };
    Check { run: run.trim().to_owned(), judge }
}

/// What the words behind a command expect of it. `next` is the code span that follows them.
fn expectation(after: &str, next: Option<&Span<'_>>, command: &str) -> Option<Judge> {
    let whole =
        after.trim_start().trim_start_matches(['(', '-', '–', '—', '→', ':', ',', '=', '>', ' ', '*']);
    let operator = after.trim_start().trim_start_matches(['(', ' ', '–', '—', '→', ',', ':']);
    if let Some(judge) = compared(operator.trim_start_matches("- "), command) {
        return Some(judge);
    }
    // The next sentence, and what is between the next back-ticks, say something else.
    let end = whole.find(['\n', ';']).or_else(|| whole.find(". ")).unwrap_or(whole.len());
    let lower = whole[..end].to_lowercase();
    let words = skip_fillers(&lower);
    by_verb(words, command, || quoted(&whole[..end]).or_else(|| next.map(|next| next.code.to_owned())))
}

// "returns …", "exits …", "matches …", "passes".
fn by_verb(words: &str, command: &str, quoted: impl FnOnce() -> Option<String>) -> Option<Judge> {
    let after = |verbs: &[&str]| after_verb(words, verbs);
    if let Some(rest) = after(TOLD) {
        return number(rest.trim_start_matches([':', ' '])).map(|(n, _)| Judge::Told(code(n)));
    }
    if let Some(rest) = after(EXITS) {
        return Some(exit(rest));
    }
    if after(ABSENT).is_some() {
        return Some(Judge::Count(0));
    }
    if let Some(rest) = after(FINDS) {
        let pattern = || is_bare(rest).then(quoted).flatten().map(Judge::Matches);
        return Some(amount(rest.trim_start(), command).or_else(pattern).unwrap_or(Judge::AtLeast(1)));
    }
    if let Some(rest) = after(RETURNS) {
        let rest = skip_fillers(rest.trim_start());
        let code = || rest.strip_prefix("exit").map(exit);
        let text = || is_bare(rest).then(quoted).flatten().map(Judge::Contains);
        return amount(rest, command).or_else(code).or_else(text).or(Some(Judge::Exit(0)));
    }
    if let Some(rest) = after(CONTAINS) {
        return Some(is_bare(rest).then(quoted).flatten().map_or(Judge::Exit(0), Judge::Contains));
    }
    if after(FAILS).is_some() {
        return Some(Judge::ExitNot(0));
    }
    let listed = if prints(command) == Prints::Other { None } else { amount(words, command) };
    listed.or_else(|| after(PASSES).map(|_| Judge::Exit(0)))
}

// Nothing but the quoted text follows the verb.
fn is_bare(rest: &str) -> bool {
    let rest = rest.trim().trim_end_matches(':').trim();
    rest.is_empty() || rest.starts_with(['"', '/', '\'', '“'])
}

fn exit(rest: &str) -> Judge {
    let rest = rest.trim_start_matches([':', ' ', '=']);
    let rest = ["with ", "code ", "status ", "code: ", "an exit code of "]
        .iter()
        .fold(rest, |rest, word| rest.strip_prefix(word).unwrap_or(rest));
    if rest.starts_with("non-zero")
        || rest.starts_with("nonzero")
        || rest.starts_with("not 0")
        || rest.starts_with("an error")
    {
        return Judge::ExitNot(0);
    }
    number(rest).map_or(Judge::Exit(0), |(n, _)| Judge::Exit(code(n)))
}

fn code(n: u64) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

// "at least 2", "zero matches", "exactly one line", "3".
fn amount(words: &str, command: &str) -> Option<Judge> {
    if let Some(judge) = compared(words, command) {
        return Some(judge);
    }
    if after_any(words, &["nothing", "empty", "no ", "none", "an empty"]).is_some() {
        return Some(Judge::Count(0));
    }
    if after_any(words, SOME).is_some() {
        return Some(Judge::AtLeast(1));
    }
    let named = |names: &[&str]| after_any(words, names).and_then(number).map(|(n, _)| n);
    if let Some(n) = named(&["at least ", "a minimum of ", "minimum "]) {
        return Some(Judge::AtLeast(n));
    }
    if let Some(n) = named(&["more than ", "greater than ", "over "]) {
        return Some(Judge::AtLeast(n.saturating_add(1)));
    }
    if let Some(n) = named(&["at most ", "no more than ", "up to "]) {
        return Some(Judge::AtMost(n));
    }
    if let Some(n) = named(&["fewer than ", "less than "]) {
        return Some(Judge::AtMost(n.saturating_sub(1)));
    }
    let exact = after_any(words, &["exactly ", "only ", "just "]).unwrap_or(words);
    let (n, rest) = number(exact)?;
    let rest = rest.trim_start();
    if rest.starts_with('+') || rest.starts_with("or more") {
        return Some(Judge::AtLeast(n));
    }
    Some(exactly(n, rest, command))
}

// A bare 0 or 1 is a count only from a command that counts or lists.
fn exactly(n: u64, rest: &str, command: &str) -> Judge {
    let things = ["match", "line", "result", "hit", "occurrence", "file", "item", "entr"];
    if after_any(rest, &things).is_some() || prints(command) != Prints::Other {
        return Judge::Count(n);
    }
    if after_any(rest, &["error", "fail", "warning", "issue", "problem"]).is_some() {
        return if n == 0 { Judge::Exit(0) } else { Judge::Count(n) };
    }
    if n <= 1 { Judge::Exit(code(n)) } else { Judge::Count(n) }
}

// ">= 3", "== 0", "≤ 2"; longer signs first.
fn compared(words: &str, command: &str) -> Option<Judge> {
    let after = |signs: &[&str]| {
        let rest = after_any(words, signs)?;
        number(rest.trim_start()).map(|(n, _)| n)
    };
    let least = after(&[">=", "≥"]).or_else(|| after(&[">"]).map(|n| n.saturating_add(1)));
    let most = || after(&["<=", "≤"]).or_else(|| after(&["<"]).map(|n| n.saturating_sub(1)));
    if let Some(judge) = least.map(Judge::AtLeast).or_else(|| most().map(Judge::AtMost)) {
        return Some(judge);
    }
    let rest = words
        .strip_prefix("===")
        .or_else(|| words.strip_prefix("=="))
        .or_else(|| words.strip_prefix("= "))?;
    let (n, rest) = number(rest.trim_start())?;
    Some(exactly(n, rest.trim_start(), command))
}

// A number in digits or as a word, and the rest.
fn number(words: &str) -> Option<(u64, &str)> {
    let digits = words.len() - words.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits > 0 {
        let rest = &words[digits..];
        // 1.5 and 60% are no counts.
        let ends = !rest.starts_with('%')
            && !rest.strip_prefix('.').is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()));
        return words[..digits].parse().ok().filter(|_| ends).map(|n| (n, rest));
    }
    let names = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let end = words.find(|c: char| !c.is_alphabetic()).unwrap_or(words.len());
    let n = names.iter().position(|name| *name == &words[..end])?;
    u64::try_from(n).ok().map(|n| (n, &words[end..]))
}

// The first text in quotes or between slashes.
fn quoted(text: &str) -> Option<String> {
    for (open, close) in [('"', '"'), ('“', '”'), ('/', '/')] {
        if let Some((before, rest)) = text.split_once(open)
            && (open != '/' || before.ends_with(' '))
            && let Some((inner, _)) = rest.split_once(close)
            && !inner.is_empty()
        {
            return Some(inner.to_owned());
        }
    }
    None
}

#[cfg(test)]
#[path = "expect_tests.rs"]
mod tests;
