//! The words that begin an expectation, by what is expected, and what follows them in a text.

use crate::text::{after_any, after_each};

/// The code that it printed itself.
pub(crate) const TOLD: &[&str] = &["expect exit", "expects exit", "exit:", "expect: exit"];
/// Its exit code.
pub(crate) const EXITS: &[&str] = &[
    "exits",
    "exit code",
    "exit status",
    "exit",
    "return code",
    "exited",
    "returns exit code",
    "returns exit",
];
/// That nothing is found.
pub(crate) const ABSENT: &[&str] =
    &["does not match", "doesn't match", "no match", "no matches", "not found", "finds nothing"];
/// That something is found.
pub(crate) const FINDS: &[&str] = &["matches", "match", "finds", "found", "hits"];
/// What it prints.
pub(crate) const RETURNS: &[&str] = &[
    "returns", "return", "reports", "outputs", "output", "prints", "print", "gives", "shows", "yields",
    "counts", "equals", "is", "echoes", "expect", "expects",
];
/// What is in what it prints.
pub(crate) const CONTAINS: &[&str] = &["contains", "includes", "contain", "include"];
/// That it fails.
pub(crate) const FAILS: &[&str] = &["fails", "fail", "errors"];
/// That it passes.
pub(crate) const PASSES: &[&str] = &[
    "passes",
    "pass",
    "passing",
    "succeeds",
    "succeed",
    "success",
    "green",
    "works",
    "runs",
    "completes",
    "compiles",
    "builds",
    "clean",
    "ok",
    "zero errors",
    "no errors",
    "0 errors",
    "all pass",
    "all tests pass",
    "all green",
    "ends",
    "produces",
    "exists",
    "file exists",
    "files exist",
];
/// That there is anything, whatever it is.
pub(crate) const SOME: &[&str] = &[
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
];

const FILLERS: &[&str] = &[
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

/// What follows the longest of these verbs that a text begins with. A verb is no part of a longer word.
pub(crate) fn after_verb<'w>(words: &'w str, verbs: &[&str]) -> Option<&'w str> {
    after_each(words, verbs)
        .filter(|rest| !rest.starts_with(char::is_alphanumeric))
        .min_by_key(|rest| rest.len())
}

/// The text without words at its start that say nothing about what is expected.
pub(crate) fn skip_fillers(mut words: &str) -> &str {
    while let Some(rest) = after_any(words, FILLERS) {
        words = rest;
    }
    words
}
