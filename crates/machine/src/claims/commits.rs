//! What a sentence says about commits: which, whether all of the work, and whether it was pushed.

use super::ClaimKind;
use super::words::{Token, hedge, parts};

/// The commits that a sentence says were made. `listed`: it stands in a list of commits.
pub(super) fn commits(text: &str, tokens: &[Token], listed: bool) -> Vec<ClaimKind> {
    let low = text.to_lowercase();
    let clean = tokens_say_clean(&low);
    let said = (0..tokens.len()).filter(|at| says(tokens, *at)).collect::<Vec<_>>();
    let hash = hashes(tokens);
    let told = !said.is_empty() || clean || (listed && !hash.is_empty());
    if !told {
        return Vec::new();
    }
    if elsewhere(tokens) || (!said.is_empty() && said.iter().all(|at| doubted(tokens, *at))) {
        return Vec::new();
    }
    let pushed = tokens.iter().enumerate().any(|(at, t)| t.is(&["pushed"]) && !doubted(tokens, at));
    let all = clean || everything(tokens);
    let mut what: Vec<Option<String>> = hash.into_iter().map(Some).collect();
    if what.is_empty() {
        what.push(subject(tokens, said.first().copied().unwrap_or(0)));
    }
    what.into_iter().map(|what| ClaimKind::Committed { what, all, pushed }).collect()
}

fn says(tokens: &[Token], at: usize) -> bool {
    let next = tokens.get(at + 1);
    let before = at.checked_sub(1).map(|b| &tokens[b]);
    let made = || {
        tokens[..at]
            .iter()
            .any(|t| t.is(&["made", "created", "did", "in", "as", "with", "one", "wrote", "into", "via"]))
    };
    match tokens[at].low() {
        "committed" | "pushed" => !next.is_some_and(|t| t.is(&["back", "through", "down"])),
        "landed" => next.is_some_and(|t| t.is(&["in", "as", "on"])),
        "checked" => next.is_some_and(|t| t.is(&["in"])),
        "commit" | "commits" => {
            let other = next
                .is_some_and(|t| t.is(&["message", "messages", "hook", "hooks", "history", "style", "and"]));
            let hashed = tokens.iter().any(is_hash);
            let named =
                hashed || next.is_some_and(|t| is_hash(t) || matches!(t, Token::Mark(':') | Token::Quote(_)));
            let infinitive = before.is_some_and(|t| t.is(&["to", "not", "please", "will"]));
            let one = before.is_some_and(|t| {
                t.is(&[
                    "a", "one", "two", "three", "git", "single", "separate", "new", "local", "small",
                    "several",
                ])
            });
            !infinitive && (named || (!other && one && made()))
        }
        _ => false,
    }
}

// Hedges count from the last part of the sentence; "before" and "after" a commit say nothing about making it.
fn doubted(tokens: &[Token], at: usize) -> bool {
    for back in (0..at).rev() {
        if parts(&tokens[back]) || tokens[back].is(&["and"]) {
            return false;
        }
        if hedge(tokens, back).is_some() || tokens[back].is(&["before", "since", "until", "uncommitted"]) {
            return true;
        }
    }
    false
}

// A commit of somebody else, or of another time.
fn elsewhere(tokens: &[Token]) -> bool {
    tokens.iter().any(|t| {
        t.is(&[
            "upstream",
            "bisect",
            "bisected",
            "base",
            "parent",
            "regression",
            "introduced-by",
            "originally",
            "previous",
            "earlier",
            "existing",
            "cherry-picked",
            "checkout",
            "based",
            "initial",
            "ago",
            "yesterday",
            "blame",
            "last",
        ])
    }) || tokens.windows(2).any(|w| {
        w[0].is(&["introduced", "broken", "broke", "caused", "since", "from"])
            && w[1].is(&["in", "by", "commit"])
    })
}

fn tokens_say_clean(low: &str) -> bool {
    let tree = [
        "working tree is clean",
        "work tree is clean",
        "clean working tree",
        "tree is clean",
        "worktree is clean",
    ];
    let nothing = [
        "no uncommitted",
        "nothing uncommitted",
        "nothing left to commit",
        "nothing is uncommitted",
        "without uncommitted",
    ];
    tree.iter().chain(&nothing).any(|p| low.contains(p))
        && !["not ", "should", "will", "must", "if ", "until "].iter().any(|h| low.contains(h))
}

fn everything(tokens: &[Token]) -> bool {
    const WORK: [&str; 12] = [
        "changes",
        "work",
        "files",
        "my",
        "of",
        "the",
        "edits",
        "modifications",
        "code",
        "our",
        "progress",
        "pending",
    ];
    tokens.iter().enumerate().any(|(at, t)| {
        t.is(&["everything"])
            || (t.is(&["all", "entire", "whole"])
                && tokens.get(at + 1).is_some_and(|n| n.is(&WORK) || n.is(&["is", "committed", "was"])))
    })
}

fn is_hash(token: &Token) -> bool {
    let word = token.low();
    let hex = (7..=40).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_hexdigit());
    hex && word.bytes().any(|b| b.is_ascii_digit())
        && (word.bytes().any(|b| b.is_ascii_alphabetic()) || code(token))
}

fn code(token: &Token) -> bool {
    matches!(token, Token::Word { code: true, .. })
}

fn hashes(tokens: &[Token]) -> Vec<String> {
    tokens.iter().filter(|t| is_hash(t)).map(|t| t.low().to_owned()).collect()
}

// A quotation after the word is the commit's subject.
fn subject(tokens: &[Token], at: usize) -> Option<String> {
    tokens[at..].iter().find_map(|t| if let Token::Quote(words) = t { Some(words.clone()) } else { None })
}
