//! How a path stands to the verb that governs it: what was changed, where the change was made, or only mentioned.

use super::paths::paths;
use super::verbs::{Form, verb};
use super::words::Token;

/// How a path stands to the verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It is what was changed.
    Object,
    /// The change was made in it.
    Place,
    /// Something came out of it.
    Source,
    /// It is only mentioned.
    Mention,
}

/// Words that may stand before a path without saying anything about it.
pub(super) const LIGHT: [&str; 34] = [
    "the",
    "a",
    "an",
    "file",
    "files",
    "module",
    "script",
    "new",
    "old",
    "obsolete",
    "both",
    "also",
    "following",
    "my",
    "our",
    "its",
    "document",
    "test",
    "config",
    "unused",
    "dead",
    "entire",
    "whole",
    "existing",
    "empty",
    "missing",
    "called",
    "named",
    "folder",
    "directory",
    "page",
    "now",
    "stale",
    "tests",
];

/// What the words before the path at `at` make it. `last`: the path before it and what that was.
pub(super) fn role(tokens: &[Token], at: usize, last: Option<(usize, Role)>) -> Role {
    for back in (0..at).rev() {
        let token = &tokens[back];
        if !paths(token).is_empty() {
            return last.filter(|(last, _)| *last == back).map_or(Role::Object, |(_, role)| role);
        }
        let joins =
            token.is(&["and", "&", "plus", "or"]) || matches!(token, Token::Mark(',' | '(' | ')' | '|'));
        if joins || token.is(&LIGHT) {
            continue;
        }
        return match token.low() {
            "in" | "into" | "inside" | "within" | "to" | "at" | "on" | "under" | "onto" | "across" => {
                if refers(tokens, back) {
                    Role::Mention
                } else {
                    Role::Place
                }
            }
            "from" => Role::Source,
            "of" if tokens[..back]
                .iter()
                .any(|t| matches!(verb(t.low()), Some((_, Form::Noun))) || t.is(&["rid"])) =>
            {
                Role::Object
            }
            "for" | "with" | "by" | "via" | "using" | "per" | "of" | "like" | "than" | "against"
            | "about" | "matching" | "following" | "see" | "calls" | "call" | "uses" | "use" | "imports"
            | "import" | "based" | "not" | "without" | "except" | "unlike" | "through" | "after"
            | "before" | "between" | "read" | "reads" | "branch" | "tag" | "that" | "match" | "matches"
            | "mirrors" | "where" | "because" | "references" | "reference" | "loads" => Role::Mention,
            _ => Role::Object,
        };
    }
    Role::Object
}

// "used in a.rs", "as in a.rs", "as described in a.rs", "the pattern in a.rs": where something is, not what was changed.
fn refers(tokens: &[Token], preposition: usize) -> bool {
    const THERE: [&str; 30] = [
        "used",
        "defined",
        "declared",
        "found",
        "described",
        "shown",
        "seen",
        "listed",
        "specified",
        "located",
        "stored",
        "exported",
        "imported",
        "mentioned",
        "referenced",
        "as",
        "like",
        "pattern",
        "style",
        "convention",
        "link",
        "links",
        "points",
        "refers",
        "according",
        "similar",
        "compared",
        "identical",
        "equivalent",
        "based",
    ];
    let before = |n: usize| preposition.checked_sub(n).map(|at| &tokens[at]);
    before(1).is_some_and(|t| t.is(&THERE)) || before(2).is_some_and(|t| t.is(&["as"]))
}

/// Whether the path at `at` is what something was set to or was before: "changed it from a.js to b.js", "to a.js in b.json".
pub(super) fn is_value(tokens: &[Token], at: usize) -> bool {
    let file = |n: usize| tokens.get(n).is_some_and(|t| !paths(t).is_empty());
    let from = |n: usize| tokens.get(n).is_some_and(|t| t.is(&["from"]));
    let to = |n: usize| tokens.get(n).is_some_and(|t| t.is(&["to"]));
    let new = at >= 1 && to(at - 1);
    let set =
        new && tokens.get(at + 1).is_some_and(|t| t.is(&["in", "inside"])) && (file(at + 2) || file(at + 3));
    let changed = new && at >= 3 && file(at - 2) && from(at - 3);
    let was = at >= 1 && from(at - 1) && to(at + 1) && file(at + 2);
    set || changed || was
}

/// Whether a sentence tells of looking and not of working.
pub(super) fn looks(tokens: &[Token]) -> bool {
    const LOOKING: [&str; 30] = [
        "read",
        "reviewed",
        "ran",
        "checked",
        "analysed",
        "analyzed",
        "investigated",
        "looked",
        "studied",
        "explored",
        "understood",
        "found",
        "verified",
        "tested",
        "confirmed",
        "inspected",
        "compared",
        "opened",
        "examined",
        "searched",
        "identified",
        "discovered",
        "located",
        "run",
        "listed",
        "discussed",
        "reproduced",
        "decided",
        "traced",
        "know",
    ];
    tokens.iter().any(|t| t.is(&LOOKING))
}
