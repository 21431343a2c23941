//! Sentences that say one thing and nothing else: "Created `a.rs`", "`a.rs` (new)", "All tests pass", "Committed as 4f2a9c1".
//!
//! Whatever is denied, put off or wrapped in more words is not read: evidence can wait for plain words.

use super::fields::{check, commit, file, is_kind, pass};
use super::words::{Word, hedged, listed, passes, words};
use super::{Change, ClaimKind};

/// Where a sentence stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a list.
    Item,
    /// In a list of finished work.
    Finished,
    /// In a list of files that were changed in this way.
    Files(Change),
    /// In a list of commits.
    Commits,
    /// Anywhere else.
    Prose,
}

/// What a sentence claims that can be held against evidence.
pub(super) fn statements(text: &str, place: Place) -> Vec<ClaimKind> {
    let (text, place) =
        text.split_once("STATUS: done").map_or((text, place), |(_, detail)| (detail, Place::Finished));
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '`' | '.' | '/' | '~'));
    let all = words(text);
    if hedged(text) && !is_deletion(&all) {
        return Vec::new();
    }
    let mut found = committed(&all, place);
    match passing(text) {
        Some(kind) => found.push(kind),
        None if place == Place::Finished => found.extend(clauses(text).filter_map(passing)),
        None => {}
    }
    found.extend(changed(&all, place));
    found
}

fn clauses(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';', '–', '—', '(', ')']).flat_map(|part| part.split(" and "))
}

// "Removed" is a doubt elsewhere: what was made and removed again is not there.
fn is_deletion(all: &[Word<'_>]) -> bool {
    let rest = all.get(1..).unwrap_or_default().iter().map(|word| word.0).collect::<Vec<_>>().join(" ");
    all.first().is_some_and(|word| word.bare() == "removed") && !hedged(&rest)
}

/// "`cargo test --workspace` passes", "lint is clean", "all 41 tests pass", "all gates pass", "52 examples, 0 failures".
pub(super) fn passing(text: &str) -> Option<ClaimKind> {
    const TOOLS: &str = "clippy fmt eslint prettier mypy ruff tsc ctest pytest jest vitest rspec phpunit phpstan \
                         shellcheck bats make npm cargo go mvn gradle mkdocs bundle docs";
    const OURS: &str = "the all my our and i ran are now";
    let text = text.trim().trim_end_matches('.');
    if let Some((command, rest)) = text.strip_prefix('`').and_then(|text| text.split_once('`')) {
        return passes(rest).then(|| pass(command.to_lowercase()));
    }
    let all = words(text.split('(').next().unwrap_or_default());
    if all.iter().any(|word| word.bare() == "of") {
        return None;
    }
    let counted = all.first().is_some_and(|word| word.0.parse::<u64>().is_ok());
    if counted && passes(text) && all.iter().any(|word| listed("passed examples tests", &word.bare())) {
        return Some(pass("tests"));
    }
    (1..all.len().min(6)).find_map(|at| {
        let (name, rest) = all.split_at(at);
        let number = |word: &str| word.parse::<u64>().is_ok();
        let name: Vec<String> = name.iter().map(|word| word.0.to_lowercase()).collect();
        let name: Vec<&str> =
            name.iter().map(String::as_str).filter(|word| !listed(OURS, word) && !number(word)).collect();
        let rest = rest.iter().map(|word| word.0).collect::<Vec<_>>().join(" ");
        let (first, last) = (name.first()?, name.last()?);
        if !passes(&rest) || rest.split(' ').all(|word| word.parse::<u64>().is_ok()) {
            return None;
        }
        if name.len() == 1 && ["gates", "checks"].contains(first) {
            return all
                .first()
                .is_some_and(|word| word.bare() == "all")
                .then_some(ClaimKind::TestsPass { gate: None });
        }
        let kind = check(&name.join(" "))?;
        let known = is_kind(&kind) || listed(TOOLS, first) || listed("tests specs suite check", last);
        known.then(|| pass(kind))
    })
}

// A verb of change, then nothing but names. Of prose only what was made is read.
fn changed(all: &[Word<'_>], place: Place) -> Vec<ClaimKind> {
    let first = all.iter().position(|word| !before(word));
    let mut found = Vec::new();
    for (at, word) in all.iter().enumerate() {
        let bare = word.bare();
        let (earlier, after) = (&all[..at], &all[at + 1..]);
        if first == Some(at) && ["renamed", "moved", "umbenannt"].contains(&bare.as_str()) {
            found.extend(renamed(after));
        }
        let Some(change) = word.change() else { continue };
        let made = change == Change::Created
            && (!["new", "neu"].contains(&bare.as_str()) || is_file(after) || place == Place::Finished);
        if !(made && speaks(earlier, &bare) || first == Some(at) && (made || place != Place::Prose)) {
            continue;
        }
        // Words that are added to a file are not the file, but the file is changed.
        if ["added", "wrote"].contains(&bare.as_str())
            && let Some(to) = after.iter().take_while(|word| !word.0.starts_with('(')).position(is_into)
        {
            let into = after.get(to + 1).filter(|_| place == Place::Finished && to + 2 == after.len());
            found.extend(into.and_then(|word| word.path()).map(|path| file(path, Change::Touched)));
            continue;
        }
        let mut paths = named(after);
        if paths.is_empty() && change == Change::Created {
            paths.extend(subject(earlier, &bare));
        }
        found.extend(paths.into_iter().map(|path| file(path, change)));
    }
    if found.is_empty() && place != Place::Prose { labelled(all, place) } else { found }
}

fn is_file(after: &[Word<'_>]) -> bool {
    after.first().is_some_and(|word| word.bare() == "file")
}

fn is_into(word: &Word<'_>) -> bool {
    ["to", "into"].contains(&word.bare().as_str())
}

fn before(word: &Word<'_>) -> bool {
    listed("i i've we we've have also then just newly successfully and j'ai ai he hemos", &word.bare())
}

// Whose doing it is: one's own, or, in the passive, nobody's.
fn speaks(earlier: &[Word<'_>], verb: &str) -> bool {
    let own = |word: &Word<'_>| listed("i i've we we've j'ai", &word.bare()) || word.change().is_some();
    let Some(last) = earlier.last() else { return true };
    let goes_on = last.bare() == "and" || last.closes();
    let last_verb = listed("angelegt erstellt hinzugefügt", verb) || verb.ends_with("作成");
    let passive = earlier.len() <= 3 && earlier.iter().skip(1).all(auxiliary);
    last_verb || passive || last.0.ends_with(':') || (earlier.iter().any(own) && (before(last) || goes_on))
}

// The paths that follow a verb, with a word for what they are between at most.
fn named(after: &[Word<'_>]) -> Vec<String> {
    const NOUNS: &str = "the a an new file files module old empty folder directory script test tests class component page \
                         migration document workflow fixture header helper package called named at: following hook type";
    const FOLLOWS: &str =
        "with which that for so containing from then to as at by using based because where when accordingly";
    const STOPS: &str = "in into to for from by of on using and as";
    let is = |list: &str, word: &Word<'_>| listed(list, &word.bare());
    let Some(at) = after.iter().take(6).position(|word| word.path().is_some()) else { return Vec::new() };
    let (between, rest) = after.split_at(at);
    if between.iter().any(|word| word.closes() || is(STOPS, word))
        || between.last().is_some_and(|w| !is(NOUNS, w))
    {
        return Vec::new();
    }
    let (mut found, mut closed) = (Vec::new(), false);
    let mut rest = rest.iter().peekable();
    while let Some(word) = rest.peek().copied().filter(|word| word.path().is_some()) {
        found.extend(word.path());
        rest.next();
        closed = word.closes();
        if word.0.ends_with(';') {
            break;
        }
        // A note in parentheses is about the file before it.
        if rest.peek().is_some_and(|word| word.0.starts_with('(')) {
            closed = true;
            while rest.next().is_some_and(|word| !word.0.contains(')')) {}
        }
        while rest.next_if(|word| ["and", ""].contains(&word.bare().as_str())).is_some() {
            closed = true;
        }
    }
    // "Created a.rs parsing helpers", "added dist/ to .gitignore": the file is not what was made.
    let ends = rest.next().is_none_or(|word| closed || is(FOLLOWS, word));
    if ends { found } else { Vec::new() }
}

// "`a.rs` has been created"; the verb is last in some languages.
fn subject(earlier: &[Word<'_>], verb: &str) -> Option<String> {
    let last = listed("angelegt erstellt hinzugefügt", verb) || verb.ends_with("作成");
    let path = earlier.iter().rev().find(|word| !auxiliary(word))?;
    earlier.last().filter(|word| last || auxiliary(word)).and_then(|_| path.path())
}

fn auxiliary(word: &Word<'_>) -> bool {
    listed("was has been is now neu wurde", &word.bare())
}

// "`a.rs` to `b.rs`": one is gone, the other is there.
fn renamed(after: &[Word<'_>]) -> Vec<ClaimKind> {
    let [from, to, new, rest @ ..] = after else { return Vec::new() };
    let plain = ["to", "", "in", "nach"].contains(&to.bare().as_str()) && (rest.is_empty() || new.closes());
    let Some((from, to)) = from.path().zip(new.path()).filter(|_| plain) else { return Vec::new() };
    vec![file(from, Change::Deleted), file(to, Change::Created)]
}

// "`a.rs`: created", "tests in a.rs (new)"; below "Files created" the name alone. What a list of finished work names is there.
fn labelled(all: &[Word<'_>], place: Place) -> Vec<ClaimKind> {
    const LOOKS: &str = "read reviewed ran run checked looked verified analysed analyzed inspected explored studied measured \
                         found tested confirmed deleted removed renamed moved merged dropped reverted";
    let mut found = Vec::new();
    for (at, word) in all.iter().enumerate() {
        let Some(path) = word.path() else { continue };
        let rest = &all[at + 1..];
        let label = rest.iter().find(|word| !word.bare().is_empty());
        let opens = rest.first().is_some_and(|word| word.0.starts_with(['(', '-', '–', '—', ':', '|', '→']));
        let separated = word.closes() || opens;
        let own = label.and_then(|label| {
            let alone = label.closes() || rest.len() <= 1 || label.change() == Some(Change::Created);
            let verb = ["wrote", "removed"].contains(&label.bare().as_str());
            label.change().filter(|_| (alone || separated) && !verb && (at == 0 || opens))
        });
        let listed_as = if let Place::Files(change) = place { Some(change) } else { None };
        let listed_as = listed_as.filter(|_| at == 0 && (rest.is_empty() || separated));
        let finished = place == Place::Finished && !all.iter().any(|word| listed(LOOKS, &word.bare()));
        let within = word.0.starts_with('(') || (word.0.ends_with(')') && at > 0);
        let there =
            (finished && (within || at == 0 && (separated || rest.is_empty()))).then_some(Change::There);
        found.extend(own.or(listed_as).or(there).map(|change| file(path, change)));
    }
    found
}

// A hash right after words that say that the commit was made.
fn committed(all: &[Word<'_>], place: Place) -> Vec<ClaimKind> {
    const HISTORY: &str = "of from since after before than on onto upstream by until was";
    const OLD: &str = "introduced introduces came comes bug regression since upstream";
    const DONE: &str = "done committed finished everything all saved";
    let bare = |at: usize| all.get(at).map(|word| word.bare()).unwrap_or_default();
    let finished = place == Place::Finished;
    let made = |at: usize, word: &Word<'_>| {
        let (last, one) = (bare(at.wrapping_sub(2)), bare(at.wrapping_sub(1)));
        let history =
            listed(HISTORY, &last) || listed(HISTORY, &one) || (0..at).any(|at| listed(OLD, &bare(at)));
        let told = (0..at).any(|at| bare(at) == "committed");
        let named = one == "commit" && (finished || at == 1 && all.len() == 2 || listed(DONE, &bare(0)));
        let leads = at == 0 && (finished || place == Place::Commits);
        let closes = finished && word.0.starts_with('(') && (at + 1 == all.len() || word.0.contains(')'));
        let within =
            ["as", "in", "under", "with", "hash", "commit", "committed", "and", ""].contains(&one.as_str());
        let opened =
            word.0.starts_with('(') || all.get(at.wrapping_sub(1)).is_some_and(|word| word.0.ends_with(':'));
        leads || !history && at > 0 && (named || closes || told && (within || opened))
    };
    let hashes = all.iter().enumerate().filter(|(at, word)| made(*at, word));
    hashes.filter_map(|(_, word)| word.hash()).map(commit).collect()
}
