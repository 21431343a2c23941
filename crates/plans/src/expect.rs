//! Reading what is expected of a command from the words around it: "(returns at least 2)", "exits 0", "→ 0 errors".

use crate::command::{self, Prints, prints};
use crate::judge::Judge;
use crate::model::{Check, Criterion, Place};
use crate::text::{Span, decode, spans};

/// A criterion from its words, with the commands that decide it.
pub(crate) fn criterion(text: &str, at: Place) -> Criterion {
    let text = decode(text.trim());
    let checks = checks(&text);
    Criterion { at, text, checks }
}

/// The commands in a text and what is expected of each.
pub(crate) fn checks(text: &str) -> Vec<Check> {
    let spans = spans(text);
    let lower = text.to_ascii_lowercase();
    let announced =
        ["verified by", "verify with", "verify by", "check with", "checked by", "run:", "command:"];
    let from = announced.iter().filter_map(|words| lower.find(words)).min();
    let mut found: Vec<Check> = Vec::new();
    for (index, span) in spans.iter().enumerate() {
        let next = spans.get(index + 1);
        let after = &text[span.to..next.map_or(text.len(), |next| next.from)];
        let told = expectation(after, next, span.code);
        let is_announced = from.is_some_and(|from| span.from >= from);
        // Behind "verified by" the first span is the command, whatever it looks like; more must look like one.
        let first = is_announced && !spans[..index].iter().any(|s| from.is_some_and(|from| s.from >= from));
        let runs = command::looks_like_one(span.code) && (told.is_some() || is_announced);
        if (first && span.code.contains(' ')) || runs {
            found.push(check(span.code, told));
        }
    }
    found
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
    let quoted = quoted(&whole[..end]).or_else(|| next.map(|next| next.code.to_owned()));
    by_verb(words, command, quoted)
}

fn skip_fillers(mut words: &str) -> &str {
    const FILLERS: [&str; 13] = [
        "should ",
        "must ",
        "it ",
        "which ",
        "then ",
        "command ",
        "output ",
        "now ",
        "still ",
        "expected ",
        "to ",
        "and ",
        "also ",
    ];
    while let Some(rest) = FILLERS.iter().find_map(|filler| words.strip_prefix(filler)) {
        words = rest;
    }
    words
}

/// What begins an expectation, with bars between the words.
const TOLD: &str = "expect exit|expects exit|exit:|expect: exit";
const EXITS: &str = "exits|exit code|exit status|exit|return code|exited|returns exit code|returns exit";
const ABSENT: &str = "does not match|doesn't match|no match|no matches|not found|finds nothing";
const FINDS: &str = "matches|match|finds|found|hits";
const RETURNS: &str = "returns|return|reports|outputs|output|prints|print|gives|shows|yields|counts|equals|is|echoes|expect|expects";
const CONTAINS: &str = "contains|includes|contain|include";
const FAILS: &str = "fails|fail|errors";
const PASSES: &str = "passes|pass|passing|succeeds|succeed|success|green|works|runs|completes|compiles|builds|clean|ok|\
                      zero errors|no errors|0 errors|all pass|all tests pass|all green|ends|produces|exists|file exists|\
                      files exist";

// "returns …", "exits …", "matches …", "passes".
fn by_verb(words: &str, command: &str, quoted: Option<String>) -> Option<Judge> {
    let after = |verbs: &str| {
        let rest = verbs.split('|').filter_map(|verb| words.strip_prefix(verb));
        rest.filter(|rest| !rest.starts_with(char::is_alphanumeric)).min_by_key(|rest| rest.len())
    };
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
        let pattern = || quoted.filter(|_| is_bare(rest)).map(Judge::Matches);
        return Some(amount(rest.trim_start(), command).or_else(pattern).unwrap_or(Judge::AtLeast(1)));
    }
    if let Some(rest) = after(RETURNS) {
        let rest = skip_fillers(rest.trim_start());
        let code = || rest.strip_prefix("exit").map(exit);
        let text = || quoted.filter(|_| is_bare(rest)).map(Judge::Contains);
        return amount(rest, command).or_else(code).or_else(text).or(Some(Judge::Exit(0)));
    }
    if let Some(rest) = after(CONTAINS) {
        return Some(quoted.filter(|_| is_bare(rest)).map_or(Judge::Exit(0), Judge::Contains));
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
    let nothing = ["nothing", "empty", "no ", "none", "an empty"];
    if nothing.iter().any(|word| words.starts_with(word)) {
        return Some(Judge::Count(0));
    }
    if [
        "non-empty",
        "nonempty",
        "a match",
        "a line",
        "matches",
        "some ",
        "results",
        "hits",
        "a result",
        "content",
    ]
    .iter()
    .any(|word| words.starts_with(word))
    {
        return Some(Judge::AtLeast(1));
    }
    let least = ["at least ", "a minimum of ", "minimum "].iter().find_map(|word| words.strip_prefix(word));
    if let Some((n, _)) = least.and_then(number) {
        return Some(Judge::AtLeast(n));
    }
    if let Some((n, _)) = ["more than ", "greater than ", "over "]
        .iter()
        .find_map(|word| words.strip_prefix(word))
        .and_then(number)
    {
        return Some(Judge::AtLeast(n.saturating_add(1)));
    }
    let most = ["at most ", "no more than ", "up to "].iter().find_map(|word| words.strip_prefix(word));
    if let Some((n, _)) = most.and_then(number) {
        return Some(Judge::AtMost(n));
    }
    if let Some((n, _)) =
        ["fewer than ", "less than "].iter().find_map(|word| words.strip_prefix(word)).and_then(number)
    {
        return Some(Judge::AtMost(n.saturating_sub(1)));
    }
    let exact =
        ["exactly ", "only ", "just "].iter().find_map(|word| words.strip_prefix(word)).unwrap_or(words);
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
    if things.iter().any(|thing| rest.starts_with(thing)) || prints(command) != Prints::Other {
        return Judge::Count(n);
    }
    if ["error", "fail", "warning", "issue", "problem"].iter().any(|word| rest.starts_with(word)) {
        return if n == 0 { Judge::Exit(0) } else { Judge::Count(n) };
    }
    if n <= 1 { Judge::Exit(code(n)) } else { Judge::Count(n) }
}

// ">= 3", "== 0", "≤ 2"; longer signs first.
fn compared(words: &str, command: &str) -> Option<Judge> {
    let after = |signs: &[&str]| {
        let rest = signs.iter().find_map(|sign| words.strip_prefix(*sign))?;
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
