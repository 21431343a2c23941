//! Sentences that say one thing and nothing else: "Created `a.rs`", "`a.rs` (new)", "All tests pass", "Committed as 4f2a9c1".
//!
//! Whatever is denied, put off or wrapped in more words is not read: evidence can wait for plain words.

use super::fields::{commit, pass};
use super::words::{Word, hedged, words};
use super::{Change, ClaimKind};

/// Where a sentence stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a list of finished work.
    Item,
    /// In a list of files that were changed in this way.
    Files(Change),
    /// In a list of commits.
    Commits,
    /// Anywhere else.
    Prose,
}

/// What a sentence claims that can be held against evidence.
pub(super) fn statements(text: &str, place: Place) -> Vec<ClaimKind> {
    let text = text.split_once("STATUS: done").map_or(text, |(_, detail)| detail);
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '`' | '.' | '/' | '~'));
    let all = words(text);
    if hedged(text) && !is_deletion(&all) {
        return Vec::new();
    }
    let made = committed(&all, place);
    if !made.is_empty() {
        return made;
    }
    if tests_pass(&all) {
        return vec![pass("tests")];
    }
    let opened = opening(&all, place);
    if opened.is_empty() && place != Place::Prose { labelled(&all, place) } else { opened }
}

// "Removed" is a doubt elsewhere: what was made and removed again is not there.
fn is_deletion(all: &[Word<'_>]) -> bool {
    let rest = all.get(1..).unwrap_or_default().iter().map(|word| word.0).collect::<Vec<_>>().join(" ");
    all.first().is_some_and(|word| word.bare() == "removed") && !hedged(&rest)
}

// A verb of change, then nothing but names. Of prose only "created" is read, wherever it stands.
fn opening(all: &[Word<'_>], place: Place) -> Vec<ClaimKind> {
    const BEFORE: &str = "i i've we we've have also then successfully and";
    let first = all.iter().position(|word| !BEFORE.split(' ').any(|before| before == word.bare()));
    let mut found = Vec::new();
    for (at, word) in all.iter().enumerate() {
        let change = match word.bare().as_str() {
            "created" => Change::Created,
            _ if place == Place::Prose || first != Some(at) => continue,
            "added" | "wrote" | "new" => Change::Created,
            "modified" | "updated" | "edited" | "changed" => Change::Modified,
            "deleted" | "removed" => Change::Deleted,
            _ => continue,
        };
        let (before, after) = all.split_at(at);
        // Words that are added to a file are not the file.
        if word.bare() == "added" && after.iter().any(|word| word.bare() == "to") {
            continue;
        }
        let mut paths = named(after.get(1..).unwrap_or_default());
        if paths.is_empty() && change == Change::Created {
            paths.extend(subject(before));
        }
        found.extend(paths.into_iter().map(|path| ClaimKind::File { path, change }));
    }
    found
}

// The paths that follow a verb, with a word for what they are between at most.
fn named(after: &[Word<'_>]) -> Vec<String> {
    const NOUNS: &str = "the a an new file files module old empty folder script called named at: following";
    const FOLLOWS: &str =
        "with which that for so containing from then to as at by using based because where when";
    let is = |list: &str, word: &Word<'_>| list.split(' ').any(|one| one == word.bare());
    let Some(at) = after.iter().take(6).position(|word| word.path().is_some()) else { return Vec::new() };
    let (between, rest) = after.split_at(at);
    let stops =
        between.iter().any(|word| word.closes() || is("in into to for from by of on using and as", word));
    if stops || between.last().is_some_and(|word| !is(NOUNS, word)) {
        return Vec::new();
    }
    let (mut found, mut closed) = (Vec::new(), false);
    let mut rest = rest.iter().peekable();
    while let Some(path) = rest.peek().and_then(|word| word.path()) {
        closed = rest.next().is_some_and(|word| word.closes());
        found.push(path);
        while rest.next_if(|word| ["and", ""].contains(&word.bare().as_str())).is_some() {
            closed = true;
        }
    }
    // "Created a.rs parsing helpers", "added dist/ to .gitignore": the file is not what was made.
    let ends = rest.next().is_none_or(|word| closed || word.0.starts_with('(') || is(FOLLOWS, word));
    if ends { found } else { Vec::new() }
}

// "`a.rs` has been created".
fn subject(before: &[Word<'_>]) -> Option<String> {
    let auxiliary = |word: &&Word<'_>| ["was", "has", "been", "is", "now"].contains(&word.bare().as_str());
    let path = before.iter().rev().find(|word| !auxiliary(word))?;
    before.last().filter(auxiliary).and_then(|_| path.path())
}

// "`a.rs`: created", "a.rs (new)"; below "Files created" the name alone.
fn labelled(all: &[Word<'_>], place: Place) -> Vec<ClaimKind> {
    let Some(path) = all.first().and_then(|word| word.path()) else { return Vec::new() };
    let label = all.get(1..).unwrap_or_default().iter().map(|word| word.bare()).find(|word| !word.is_empty());
    let own = match label.as_deref() {
        Some("created" | "new" | "added") => Some(Change::Created),
        Some("modified" | "updated" | "changed" | "edited") => Some(Change::Modified),
        Some("deleted") => Some(Change::Deleted),
        _ => None,
    };
    let listed = if let Place::Files(change) = place { Some(change) } else { None };
    let alone = all.len() <= 2 || all.first().is_some_and(|word| word.closes());
    let separated = all.get(1).is_some_and(|word| word.0.starts_with(['(', '-', '–', '—', ':']));
    let change =
        own.filter(|_| alone || separated || all.len() <= 3).or(listed.filter(|_| alone || separated));
    change.map(|change| ClaimKind::File { path, change }).into_iter().collect()
}

fn tests_pass(all: &[Word<'_>]) -> bool {
    const WORDS: &[&str] = &[
        "all",
        "the",
        "my",
        "our",
        "unit",
        "integration",
        "existing",
        "new",
        "tests",
        "test",
        "suite",
        "full",
        "whole",
        "now",
        "are",
        "is",
        "do",
        "and",
        "✅",
        "i",
        "ran",
        "entire",
        "pass",
        "passes",
        "passed",
        "passing",
        "green",
        "",
    ];
    let bare: Vec<String> = all.iter().map(|word| word.bare()).collect();
    let has = |words: &[&str]| bare.iter().any(|word| words.contains(&word.as_str()));
    let known = |word: &String| WORDS.contains(&word.as_str()) || word.parse::<u64>().is_ok();
    let whole = bare.iter().all(known) && has(&["tests", "suite"]);
    whole && has(&["pass", "passes", "passed", "passing", "green"])
}

// A hash right after words that say that the commit was made.
fn committed(all: &[Word<'_>], place: Place) -> Vec<ClaimKind> {
    let bare = |at: usize| all.get(at).map(|word| word.bare()).unwrap_or_default();
    if place == Place::Commits {
        return all.first().and_then(|word| word.hash()).map(commit).into_iter().collect();
    }
    let made = |at: usize| {
        let before = (bare(at.wrapping_sub(2)), bare(at.wrapping_sub(1)));
        match (before.0.as_str(), before.1.as_str()) {
            ("committed", "as" | "in" | "under" | "with" | "hash" | "") | (_, "committed") => true,
            ("is" | "as" | "in", "commit") => bare(at.wrapping_sub(3)) == "committed",
            _ => false,
        }
    };
    let hashes = all.iter().enumerate().filter(|(at, _)| *at > 0 && made(*at));
    hashes.filter_map(|(_, word)| word.hash()).map(commit).collect()
}
