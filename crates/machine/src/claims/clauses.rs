//! Where a sentence goes from one statement to the next, and whether a verb in it tells of work.
//!
//! A clause that explains ("because", "which", "where") or repeats what something says is no account of work, unless
//! the agent itself is its subject.

use super::paths::paths;
use super::roles::LIGHT;
use super::verbs::{Form, verb};
use super::words::Token;

/// What begins at a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clause {
    /// A statement of its own.
    Main,
    /// An explanation.
    Side,
}

const AGENT: [&str; 8] = ["i", "we", "they", "i've", "we've", "i'd", "agent", "session"];
const ADVERBS: [&str; 22] = [
    "also",
    "now",
    "then",
    "just",
    "not",
    "only",
    "first",
    "finally",
    "again",
    "never",
    "even",
    "both",
    "no",
    "since",
    "thus",
    "therefore",
    "newly",
    "all",
    "simply",
    "afterwards",
    "additionally",
    "once",
];
const AUXILIARIES: [&str; 14] =
    ["is", "was", "were", "are", "has", "have", "had", "been", "be", "got", "did", "it's", "being", "gets"];

/// Whether a word is the agent that speaks.
pub(super) fn is_agent(token: &Token) -> bool {
    token.is(&AGENT)
}

/// What begins at `at`, if anything does. `side`: whether an explanation is going on; `opened`: since the first word.
pub(super) fn clause(tokens: &[Token], at: usize, side: bool, opened: bool) -> Option<Clause> {
    const SIDE: [&str; 17] = [
        "where", "which", "because", "since", "whose", "who", "although", "though", "whereas", "while",
        "when", "how", "what", "why", "says", "say", "states",
    ];
    const CERTAIN: [&str; 8] =
        ["verified", "confirmed", "checked", "ensured", "sure", "is", "confirm", "certain"];
    let token = &tokens[at];
    let before = at.checked_sub(1).map(|b| &tokens[b]);
    let next = tokens.get(at + 1);
    let verbal = |t: &Token| matches!(verb(t.low()), Some((_, Form::Past)));
    if *token == Token::Mark(',') && side {
        let joined = next.is_some_and(|t| t.is(&["and", "then"]));
        let told = tokens.get(at + 2).is_some_and(|t| verbal(t) || is_agent(t) || t.is(&ADVERBS));
        return (opened || joined && told || next.is_some_and(is_agent)).then_some(Clause::Main);
    }
    match token.low() {
        _ if *token == Token::Mark(';') => Some(Clause::Main),
        _ if token.is(&["so"]) && next.is_some_and(|t| t.is(&["that"])) => Some(Clause::Side),
        _ if token.is(&["but", "however", "so", "hence", "therefore"]) => Some(Clause::Main),
        _ if token.is(&["after", "before"]) && next.is_some_and(|t| !t.low().ends_with("ing")) => {
            Some(Clause::Side)
        }
        _ if token.is(&SIDE) => Some(Clause::Side),
        _ if token.is(&["that"]) => {
            let certain = before.is_some_and(|t| t.is(&CERTAIN));
            (!certain && !next.is_some_and(is_agent)).then_some(Clause::Side)
        }
        _ if token.is(&["as"]) && before == Some(&Token::Mark(',')) => Some(Clause::Side),
        _ if is_agent(token) && side => Some(Clause::Main),
        _ => None,
    }
}

/// Whether a verb in the past tells what was done: "the helper added in a.rs" and "was added by x" do not.
pub(super) fn tells(tokens: &[Token], at: usize, start: usize) -> bool {
    let word = |n: usize| tokens.get(n).map_or("", Token::low);
    if word(at + 1) == "by" && !["me", "us"].contains(&word(at + 2)) && !word(at + 2).ends_with("ing") {
        return false;
    }
    if habitual(tokens, at) {
        return false;
    }
    if tokens.get(at + 1) == Some(&Token::Mark(':')) {
        return true;
    }
    for back in (start..at).rev() {
        let token = &tokens[back];
        if token.is(&ADVERBS) || token.low().ends_with("ly") || token.is(&["already"]) {
            continue;
        }
        return !matches!(token, Token::Word { .. })
            || token.is(&AUXILIARIES)
            || is_agent(token)
            || token.is(&["and", "or", "but", "plus", "&", "+", "✅", "✓", "✔", "☑", "done", "been"])
            || verb(token.low()).is_some()
            || !paths(token).is_empty();
    }
    true
}

// "logs are written to x" tells how a program behaves; "x is written" that it was done.
fn habitual(tokens: &[Token], at: usize) -> bool {
    const MADE: [&str; 7] = ["written", "generated", "created", "saved", "placed", "produced", "added"];
    let is = at > 0 && tokens[at - 1].is(&["is", "are", "gets", "get"]);
    let more = tokens.get(at + 1).is_some_and(|t| matches!(t, Token::Word { .. }) && !t.is(&["and", "now"]));
    is && tokens[at].is(&MADE) && more
}

/// Whether a path before the verb at `at` only labels what was done: "a.toml: removed x", "a.toml: x was removed".
pub(super) fn labels(tokens: &[Token], from: usize, at: usize) -> bool {
    let rest = &tokens[from + 1..at];
    let mark = rest.iter().position(|t| matches!(t, Token::Mark(':' | '—' | '|' | '(' | '→')));
    let ordinary = |t: &Token| {
        matches!(t, Token::Word { .. })
            && paths(t).is_empty()
            && !(t.is(&AUXILIARIES)
                || t.is(&ADVERBS)
                || t.is(&LIGHT)
                || t.is(&["and"])
                || t.low().ends_with("ly"))
    };
    let object =
        tokens.get(at + 1).is_some_and(|t| ordinary(t) || t.is(&["the", "a", "an", "unused", "old"]));
    mark.is_some_and(|mark| object || rest[mark..].iter().any(ordinary))
}

/// Whether the path at `from`, said before the verb at `at`, is what the verb is about.
pub(super) fn reaches(tokens: &[Token], from: usize, at: usize, start: usize, place: bool) -> bool {
    let opens = || {
        let first = (start..from).find(|n| matches!(tokens[*n], Token::Word { .. }));
        first.is_none_or(|n| tokens[n].is(&["in", "inside", "within", "under"]))
    };
    let between = &tokens[from + 1..at];
    let labelled = between
        .iter()
        .find(|t| paths(t).is_empty())
        .is_some_and(|t| matches!(t, Token::Mark(':' | '—' | '|' | '(' | '→')));
    if labelled || (place && opens()) {
        return true;
    }
    let was = |t: &Token| t.is(&["is", "was", "were", "came", "comes", "lies", "lay", "lives", "are"]);
    if place && tokens.get(start..from).unwrap_or_default().iter().any(was) {
        return false;
    }
    between.iter().all(|t| {
        matches!(t, Token::Mark(_) | Token::Quote(_))
            || t.is(&AUXILIARIES)
            || t.is(&ADVERBS)
            || t.is(&LIGHT)
            || t.is(&["and", "or", "&", "plus", "✅", "successfully", "already"])
            || t.low().ends_with("ly")
            || verb(t.low()).is_some()
            || !paths(t).is_empty()
    })
}

/// Whether the path at `at` is what the words after it speak of: "changed a.rs, and b.rs was deleted".
pub(super) fn is_subject(tokens: &[Token], at: usize) -> bool {
    const AFTER: [&str; 18] = [
        "is", "was", "were", "are", "has", "have", "had", "needs", "needed", "remains", "stays", "can",
        "could", "still", "does", "did", "will", "should",
    ];
    tokens.get(at + 1).is_some_and(|t| t.is(&AFTER) || t.is(&["already"]))
}

/// The paths of which "a.rs, which I patched" says with the verb at `at` that they were changed.
pub(super) fn relative(tokens: &[Token], at: usize) -> Vec<String> {
    let ends = tokens.get(at + 1).is_none_or(|t| {
        !matches!(t, Token::Word { .. }) || t.is(&["to", "so", "and", "because", "accordingly", "too"])
    });
    let near = at.saturating_sub(3)..at;
    let Some(who) = near.rev().find(|n| is_agent(&tokens[*n])) else { return Vec::new() };
    let which = who.checked_sub(1).filter(|n| ends && tokens[*n].is(&["which", "that"]));
    let before = which.and_then(|n| tokens[..n].iter().rev().find(|t| **t != Token::Mark(',')));
    before.map(paths).unwrap_or_default()
}

/// Whether the path at `at` begins an item, alone or after other paths.
pub(super) fn opens(tokens: &[Token], at: usize) -> bool {
    let light = |t: &Token| {
        !matches!(t, Token::Word { .. })
            || t.is(&LIGHT)
            || t.is(&["and", "in", "✅", "✓", "✔", "☑", "✔️", "☑️"])
            || !paths(t).is_empty()
    };
    tokens[..at].iter().all(light)
}

/// Words after which a verb before them no longer governs: what follows was looked at or left.
pub(super) fn lets_go(tokens: &[Token], at: usize) -> bool {
    const WORDS: [&str; 34] = [
        "using",
        "calling",
        "reusing",
        "following",
        "mirroring",
        "matching",
        "same",
        "caused",
        "similar",
        "based",
        "according",
        "consistent",
        "compared",
        "thanks",
        "due",
        "see",
        "match",
        "mirror",
        "follow",
        "reuse",
        "respect",
        "reflect",
        "agree",
        "left",
        "kept",
        "leaving",
        "keeping",
        "leave",
        "keep",
        "reads",
        "instead",
        "used",
        "like",
        "unaffected",
    ];
    tokens[at].is(&WORDS)
}
