//! What a sentence says about tests, builds and other checks: that they pass, that they do not, or nothing.

use super::ClaimKind;
use super::words::{Hedge, Token, hedge};

/// What a sentence says about checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Says {
    /// They pass.
    Pass(ClaimKind),
    /// Something fails.
    Fail,
    /// Nothing.
    Nothing,
}

/// Reads a sentence. `about_checks`: its heading already says that it is about checks.
pub(super) fn checks(tokens: &[Token], about_checks: bool) -> Says {
    let Some(subject) = subject(tokens, about_checks) else { return Says::Nothing };
    if excepted(tokens) || partial(tokens) {
        return Says::Fail;
    }
    let (mut good, mut bad) = (false, false);
    for at in 0..tokens.len() {
        match sign(tokens, at) {
            Some(Sign::Good) => match mood(tokens, at) {
                None => good = true,
                Some(Hedge::Not) => bad = true,
                Some(Hedge::Later | Hedge::If) => return Says::Nothing,
            },
            Some(Sign::Bad) => match mood(tokens, at) {
                None => bad = true,
                Some(Hedge::Not) => good = true,
                Some(Hedge::Later | Hedge::If) => return Says::Nothing,
            },
            None => {}
        }
    }
    match (good, bad) {
        (_, true) => Says::Fail,
        (true, false) => Says::Pass(subject),
        (false, false) => Says::Nothing,
    }
}

enum Sign {
    Good,
    Bad,
}

const TESTS: [&str; 14] = [
    "test",
    "tests",
    "suite",
    "specs",
    "pytest",
    "jest",
    "nextest",
    "vitest",
    "rspec",
    "testsuite",
    "unittest",
    "unittests",
    "doctests",
    "ctest",
];

// What the sentence is about, and which part of it.
fn subject(tokens: &[Token], about_checks: bool) -> Option<ClaimKind> {
    let pass = |gate: Option<&str>, only| Some(ClaimKind::TestsPass { gate: gate.map(str::to_owned), only });
    let has = |words: &[&str]| tokens.iter().any(|t| t.is(words));
    if let Some(at) = tokens.iter().position(|t| t.is(&TESTS)) {
        return pass(Some("tests"), part(tokens, at));
    }
    if let Some(name) = tokens.iter().map(Token::low).find(|w| w.starts_with("test_") || w.ends_with("_test"))
    {
        return pass(Some("tests"), Some(name.to_owned()));
    }
    if tallied(tokens) {
        return pass(Some("tests"), None);
    }
    if has(&["clippy", "lint", "lints", "linter", "linting", "eslint", "ruff"]) {
        return pass(Some("lint"), None);
    }
    if has(&["fmt", "rustfmt", "formatter", "prettier"]) {
        return pass(Some("format"), None);
    }
    if has(&["typecheck", "mypy", "pyright", "typechecks"]) {
        return pass(Some("types"), None);
    }
    if has(&["build", "builds", "compiles", "compilation", "tsc"]) {
        return pass(Some("build"), None);
    }
    let whole = has(&["ci", "gates", "checks", "pipeline", "everything", "gate"]);
    let nothing = has(&["nothing"]) && has(&["fails", "failing", "red", "broken"]);
    let green = has(&["green"]) && has(&["all", "board"]);
    if whole || nothing || green || about_checks { pass(None, None) } else { None }
}

// Words before "tests" that do not name a part of them.
const WHOLE: [&str; 43] = [
    "zero",
    "all",
    "the",
    "every",
    "each",
    "full",
    "whole",
    "entire",
    "complete",
    "existing",
    "our",
    "my",
    "of",
    "its",
    "cargo",
    "npm",
    "project",
    "project's",
    "these",
    "those",
    "unit",
    "regression",
    "automated",
    "failing",
    "failed",
    "broken",
    "a",
    "no",
    "any",
    "and",
    "run",
    "yarn",
    "pnpm",
    "go",
    "make",
    "test",
    "tests",
    "now",
    "single",
    "ran",
    "that",
    "this",
    "python",
];

// Options of a test command that choose a part.
const PARTS: [&str; 8] = ["--lib", "--bin", "--test", "-p", "--package", "-k", "--filter", "--doc"];

// The part of the tests that is meant, when it is not all of them.
fn part(tokens: &[Token], at: usize) -> Option<String> {
    let named =
        |t: &Token| matches!(t, Token::Word { low, .. } if low.contains("::") || low.starts_with("test_"));
    if let Some(Token::Word { low, .. }) = tokens.iter().find(|t| named(t)) {
        return Some(low.clone());
    }
    let single = tokens[at].is(&["test"])
        && tokens.get(at + 1).is_some_and(|t| matches!(t, Token::Word { code: true, .. }));
    let option = |t: &&Token| {
        t.low().len() > 2 && t.low().starts_with('-') && matches!(t, Token::Word { code: true, .. })
    };
    if let Some(part) = tokens[at..].iter().filter(option).find(|t| t.is(&PARTS)) {
        return Some(part.low().to_owned());
    }
    if single && !tokens.get(at + 1).is_some_and(|t| t.low().starts_with('-')) {
        let command = matches!(&tokens[at], Token::Word { code: true, .. });
        return if command { None } else { tokens.get(at + 1).map(|t| t.low().to_owned()) };
    }
    let before = at.checked_sub(1).map(|b| tokens[b].low()).unwrap_or_default();
    let counted = before.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '/' | '.'));
    let free = before.is_empty() || counted || WHOLE.contains(&before) || before.len() < 2;
    let known_verb = before.ends_with("ed") || super::verbs::verb(before).is_some() || before == "that";
    if !free && !known_verb && !hedge_word(before) {
        return Some(before.to_owned());
    }
    let after = tokens.get(at + 1).map_or("", Token::low);
    let of =
        matches!(after, "for" | "in" | "of" | "under").then(|| tokens.get(at + 2).map_or("", Token::low));
    let far = |n: usize| tokens.get(at + n).map_or("", Token::low);
    if matches!(after, "i" | "we") || (after == "that" && matches!(far(2), "i" | "we")) {
        return Some("added".to_owned());
    }
    if of == Some("the")
        && !["project", "repository", "suite", "workspace", "repo", "codebase", ""].contains(&far(3))
    {
        return Some(far(3).to_owned());
    }
    of.filter(|o| !o.is_empty() && !["the", "this", "total", "all"].contains(o)).map(str::to_owned)
}

fn hedge_word(word: &str) -> bool {
    let token = Token::Word { raw: word.to_owned(), low: word.to_owned(), code: false, span: false };
    hedge(&[token], 0).is_some()
        || ["with", "so", "and", "then", "via", "but", "while", "where", "since", "have"].contains(&word)
}

fn number(token: &Token) -> Option<u64> {
    token.low().parse().ok()
}

// "42 passed, 0 failed" is about tests whether it says so or not.
fn tallied(tokens: &[Token]) -> bool {
    tokens
        .windows(2)
        .any(|w| number(&w[0]).is_some() && w[1].is(&["passed", "failed", "failures", "passing", "failing"]))
}

fn excepted(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().any(|(at, t)| {
        let next = tokens.get(at + 1).map_or("", Token::low);
        t.is(&["except", "excluding", "besides"])
            || (t.is(&["apart", "aside"]) && next == "from")
            || (t.is(&["other"]) && next == "than")
            || (t.is(&["all", "every"]) && next == "but")
            || (t.is(&["but"])
                && (["one", "two", "three", "a"].contains(&next) || next.parse::<u64>().is_ok()))
            || (t.is(&["not"]) && next == "all")
            || (t.is(&["most", "some", "half", "many"])
                && !tokens[..at].iter().any(|t| t.is(&["for", "fixed"])))
    })
}

// "12 of 14 tests pass", "12/14".
fn partial(tokens: &[Token]) -> bool {
    let split = |t: &Token| {
        let (a, b) = t.low().split_once('/')?;
        Some((a.parse::<u64>().ok()?, b.parse::<u64>().ok()?))
    };
    let slashed = tokens.iter().filter_map(split).any(|(a, b)| a < b);
    let spelt = tokens.windows(4).any(|w| {
        let total = number(&w[2]).or_else(|| number(&w[3]));
        w[1].is(&["of", "out"]) && number(&w[0]).zip(total).is_some_and(|(a, b)| a < b)
    });
    slashed || spelt
}

fn sign(tokens: &[Token], at: usize) -> Option<Sign> {
    let token = &tokens[at];
    let next = tokens.get(at + 1);
    let before = at.checked_sub(1).map(|b| &tokens[b]);
    let count = before.and_then(number);
    let free = next.is_none_or(|t| {
        matches!(t, Token::Mark(_))
            || t.is(&[
                "and",
                "now",
                "again",
                "on",
                "in",
                "with",
                "locally",
                "too",
                "successfully",
                "as",
                "after",
                "for",
                "both",
                "under",
                "at",
                "without",
                "but",
                "cleanly",
                "then",
                "so",
                "when",
                "here",
                "there",
                "by",
                "✅",
                "because",
                "since",
                "while",
                "tests",
                "test",
                "across",
                "every",
                "all",
                "any",
                "out",
                "of",
                "or",
                "to",
                "is",
                "are",
                "if",
            ])
    });
    match token.low() {
        "pass" | "passes" | "passing" | "succeed" | "succeeds" | "succeeded" if free => Some(Sign::Good),
        "passed" if free => (count != Some(0)).then_some(Sign::Good),
        "green" | "✅" | "✓" | "✔" | "ok" | "successful" | "successfully" | "compiles" | "error-free" => {
            Some(Sign::Good)
        }
        "clean" | "cleanly" if !next.is_some_and(|t| t.is(&["up", "the"])) => Some(Sign::Good),
        "fixed" | "verified" => fixed(tokens, at),
        "exit" | "exits" | "exited"
            if next.and_then(number).or_else(|| tokens.get(at + 2).and_then(number)) == Some(0) =>
        {
            Some(Sign::Good)
        }
        "fail" | "fails" | "failing" | "failed" | "failure" | "failures" | "errors" | "red" | "broken"
        | "✗" | "❌" => match count {
            Some(0) => Some(Sign::Good),
            _ if adjective(tokens, at) => None,
            _ => Some(Sign::Bad),
        },
        _ => None,
    }
}

// "fixed the failing tests", "verified with `cargo test`": the checks are what was fixed or asked.
fn fixed(tokens: &[Token], at: usize) -> Option<Sign> {
    let after = &tokens[at + 1..];
    let near = after.iter().take(5).any(|t| t.is(&TESTS));
    if tokens[at].is(&["verified"]) {
        let with = after.first().is_some_and(|t| t.is(&["with", "by", "using"]));
        return (with && near && !after.iter().any(|t| t.is(&["that"]))).then_some(Sign::Good);
    }
    let failing = tokens.iter().any(|t| t.is(&["failing", "failed", "broken"]));
    (failing && near).then_some(Sign::Good)
}

// "the failing tests were fixed": the word only tells which tests.
fn adjective(tokens: &[Token], at: usize) -> bool {
    let before_noun =
        tokens.get(at + 1).is_some_and(|t| t.is(&TESTS)) && tokens[at].is(&["failing", "failed", "broken"]);
    let better =
        |t: &Token| t.is(&["fixed", "pass", "passes", "passed", "passing", "green", "succeed", "now"]);
    before_noun && tokens.iter().any(better)
}

// What the words before a sign do to it: within the clause, a denial may stand far before it.
fn mood(tokens: &[Token], at: usize) -> Option<Hedge> {
    let got = |t: &Token| t.is(&["got", "made", "getting", "gets"]);
    let mut found = None;
    for back in (0..at).rev() {
        let token = &tokens[back];
        if matches!(token, Token::Mark(';' | ',' | '(' | '—' | ':'))
            || token.is(&["but", "however", "while", "and", "because"])
        {
            if matches!(found, Some(Hedge::Not)) || !joined(tokens, back) {
                break;
            }
            continue;
        }
        if token.is(&["to"]) && back + 1 == at && !tokens[..back].iter().any(got) {
            return Some(Hedge::Later);
        }
        if token.is(&["zero"]) || (token.is(&["longer", "more"]) && back > 0 && tokens[back - 1].is(&["no"]))
        {
            return Some(Hedge::Not);
        }
        if token.is(&["make", "check", "verify", "ensure", "see", "confirm"]) && back == 0 {
            return Some(Hedge::Later);
        }
        match hedge(tokens, back) {
            Some(Hedge::Not) => found = if found == Some(Hedge::Not) { None } else { Some(Hedge::Not) },
            Some(other) => return Some(other),
            None => {}
        }
    }
    found
}

// An "and" between two names does not end a clause: "no unit and integration tests fail".
fn joined(tokens: &[Token], at: usize) -> bool {
    tokens[at].is(&["and"]) && tokens.get(at + 2).is_some_and(|t| t.is(&TESTS))
}
