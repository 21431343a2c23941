//! Sentences that say one thing and nothing else: "Created `a.rs`", "`a.rs` (new)", "All tests pass", "Committed as 4f2a9c1".
//!
//! Whatever is denied, put off or wrapped in more words is not read: evidence can wait for plain words.

use super::fields::{check, commit, is_kind, pass};
use super::words::{Word, hedged, listed, passes, words};
use super::{Change, ClaimKind};

/// Where a sentence stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a list.
    Item,
    /// In a list of finished work.
    Finished,
    /// After a ticked box.
    Ticked,
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
    if let Some(kind) = check_passes(text, &all) {
        return vec![pass(kind)];
    }
    if let Some(gate) = tests_pass(text) {
        return vec![ClaimKind::TestsPass { gate, only: None }];
    }
    let opened = opening(&all, place);
    if opened.is_empty() && place != Place::Prose { labelled(&all, place) } else { opened }
}

// "Removed" is a doubt elsewhere: what was made and removed again is not there.
fn is_deletion(all: &[Word<'_>]) -> bool {
    let rest = all.get(1..).unwrap_or_default().iter().map(|word| word.0).collect::<Vec<_>>().join(" ");
    all.first().is_some_and(|word| word.bare() == "removed") && !hedged(&rest)
}

// A verb of change, then nothing but names. Of prose only what was made is read; "created" wherever it stands.
fn opening(all: &[Word<'_>], place: Place) -> Vec<ClaimKind> {
    const BEFORE: &str = "i i've we we've have also then successfully and j'ai ai he hemos";
    const AFTER: &str = "angelegt erstellt hinzugefügt";
    let before = |word: &Word<'_>| listed(BEFORE, &word.bare());
    let first = all.iter().position(|word| !before(word));
    let mut found = Vec::new();
    for (at, word) in all.iter().enumerate() {
        let Some(change) = word.change() else {
            if first == Some(at) && ["renamed", "moved", "umbenannt"].contains(&word.bare().as_str()) {
                found.extend(renamed(all.get(at + 1..).unwrap_or_default()));
            }
            continue;
        };
        let (earlier, after) = all.split_at(at);
        let after = after.get(1..).unwrap_or_default();
        let bare = word.bare();
        let made = change == Change::Created && !["new", "neu"].contains(&bare.as_str());
        let file = bare == "new" && after.first().is_some_and(|word| word.bare() == "file");
        let leads = first == Some(at) || (made && earlier.last().is_some_and(before));
        let last = made && (listed(AFTER, &bare) || bare.ends_with("作成"));
        let passive = made && at <= 3 && earlier.iter().skip(1).all(auxiliary) && earlier.len() > 1;
        if !(bare == "created" || last || passive || file || leads && (made || place != Place::Prose)) {
            continue;
        }
        // Words that are added to a file are not the file, but the file is changed.
        let finished = matches!(place, Place::Finished | Place::Ticked);
        if let [_, .., into, path] = after
            && finished
            && leads
            && ["to", "in", "into"].contains(&into.bare().as_str())
            && let Some(path) = path.path()
        {
            found.push(ClaimKind::File { path, change: Change::Touched });
            continue;
        }
        if ["added", "wrote"].contains(&bare.as_str())
            && after.iter().take_while(|word| !word.0.starts_with('(')).any(|word| word.bare() == "to")
        {
            continue;
        }
        let mut paths = named(after);
        if paths.is_empty() && change == Change::Created {
            paths.extend(subject(earlier, last));
        }
        found.extend(paths.into_iter().map(|path| ClaimKind::File { path, change }));
    }
    found
}

// The paths that follow a verb, with a word for what they are between at most.
fn named(after: &[Word<'_>]) -> Vec<String> {
    const NOUNS: &str = "the a an new file files module old empty folder directory script test tests class component page \
                         migration document workflow fixture header helper package called named at: following";
    const FOLLOWS: &str =
        "with which that for so containing from then to as at by using based because where when accordingly";
    let is = |list: &str, word: &Word<'_>| listed(list, &word.bare());
    let Some(at) = after.iter().take(6).position(|word| word.path().is_some()) else { return Vec::new() };
    let (between, rest) = after.split_at(at);
    let stops =
        between.iter().any(|word| word.closes() || is("in into to for from by of on using and as", word));
    if stops || between.last().is_some_and(|word| !is(NOUNS, word)) {
        return Vec::new();
    }
    let (mut found, mut closed, mut over) = (Vec::new(), false, false);
    let mut rest = rest.iter().peekable();
    while let Some(path) = rest.peek().filter(|_| !over).and_then(|word| word.path()) {
        closed = rest.next().is_some_and(|word| {
            over = word.0.ends_with(';');
            word.closes()
        });
        found.push(path);
        while rest.next_if(|word| !over && ["and", ""].contains(&word.bare().as_str())).is_some() {
            closed = true;
        }
    }
    // "Created a.rs parsing helpers", "added dist/ to .gitignore": the file is not what was made.
    let ends = rest.next().is_none_or(|word| closed || word.0.starts_with('(') || is(FOLLOWS, word));
    if ends { found } else { Vec::new() }
}

// "`a.rs` has been created"; the verb is last in some languages.
fn subject(before: &[Word<'_>], last: bool) -> Option<String> {
    let path = before.iter().rev().find(|word| !auxiliary(word))?;
    before.last().filter(|word| last || auxiliary(word)).and_then(|_| path.path())
}

fn auxiliary(word: &Word<'_>) -> bool {
    listed("was has been is now neu wurde", &word.bare())
}

// "`a.rs` to `b.rs`": one is gone, the other is there.
fn renamed(after: &[Word<'_>]) -> Vec<ClaimKind> {
    let [from, to, new, rest @ ..] = after else { return Vec::new() };
    let plain = ["to", "", "in", "nach"].contains(&to.bare().as_str()) && (rest.is_empty() || new.closes());
    let Some((from, to)) = from.path().zip(new.path()).filter(|_| plain) else { return Vec::new() };
    let file = |(path, change)| ClaimKind::File { path, change };
    [(from, Change::Deleted), (to, Change::Created)].map(file).to_vec()
}

// "`a.rs`: created", "a.rs (new)"; below "Files created" or after a tick the name alone.
fn labelled(all: &[Word<'_>], place: Place) -> Vec<ClaimKind> {
    let Some(path) = all.first().and_then(|word| word.path()) else { return Vec::new() };
    let label = all.get(1..).unwrap_or_default().iter().find(|word| !word.bare().is_empty());
    let own = label.filter(|word| !["wrote", "removed"].contains(&word.bare().as_str()));
    let own = own.and_then(|word| word.change());
    let starts = |marks: &[char]| all.get(1).is_some_and(|word| word.0.starts_with(marks));
    let alone = all.len() <= 2 || all.first().is_some_and(|word| word.closes());
    let separated = starts(&['(', '-', '–', '—', ':', '|', '→']);
    let listed = match place {
        Place::Files(change) => Some(change).filter(|_| alone || separated),
        Place::Ticked => Some(Change::Touched).filter(|_| all.len() == 1 || starts(&['('])),
        Place::Item | Place::Finished | Place::Commits | Place::Prose => None,
    };
    let change = own.filter(|_| alone || separated || all.len() <= 3).or(listed);
    change.map(|change| ClaimKind::File { path, change }).into_iter().collect()
}

// "`cargo test --workspace` passes", "lint is clean".
fn check_passes(text: &str, all: &[Word<'_>]) -> Option<String> {
    const TOOLS: &str = "clippy fmt eslint prettier mypy ruff tsc ctest pytest jest vitest rspec docs";
    if let Some((command, rest)) = text.strip_prefix('`').and_then(|text| text.split_once('`')) {
        return passes(rest).then(|| command.to_lowercase());
    }
    let (name, rest) = all.split_first()?;
    let kind = check(name.0).filter(|kind| is_kind(kind) || listed(TOOLS, kind))?;
    passes(&rest.iter().map(|word| word.0).collect::<Vec<_>>().join(" ")).then_some(kind)
}

// "All 41 tests pass", "all gates pass": one is about the tests, the other about every gate.
fn tests_pass(text: &str) -> Option<Option<String>> {
    const WORDS: &str = "all the my our unit integration existing new tests test suite checks gates full whole now are is do \
        and i ran entire pass passes passed passing green";
    let text = text.split('(').next().unwrap_or_default();
    let bare: Vec<String> = words(text).into_iter().map(Word::bare).collect();
    let has = |words: &str| bare.iter().any(|word| listed(words, word));
    let known = |word: &String| word.is_empty() || listed(WORDS, word) || word.parse::<u64>().is_ok();
    let told = bare.iter().all(known) && has("pass passes passed passing green");
    match (has("tests suite"), has("checks gates")) {
        (true, _) if told => Some(Some("tests".to_owned())),
        (false, true) if told && has("all") => Some(None),
        _ => None,
    }
}

// A hash right after words that say that the commit was made.
fn committed(all: &[Word<'_>], place: Place) -> Vec<ClaimKind> {
    let bare = |at: usize| all.get(at).map(|word| word.bare()).unwrap_or_default();
    if place == Place::Commits {
        return all.first().and_then(|word| word.hash()).map(commit).into_iter().collect();
    }
    let finished = matches!(place, Place::Finished | Place::Ticked);
    let earlier = |at: usize| (0..at).any(|at| bare(at) == "committed");
    let made = |at: usize| {
        let before = (bare(at.wrapping_sub(2)), bare(at.wrapping_sub(1)));
        match (before.0.as_str(), before.1.as_str()) {
            ("committed", "with" | "hash" | "") | (_, "committed") | ("is" | "are", "in") => true,
            (_, "as" | "in" | "under") => earlier(at),
            ("is" | "as" | "in", "commit") => earlier(at) || bare(at.wrapping_sub(3)) == "is",
            (_, "commit") => at == 1 && (finished || all.len() == 2),
            // "Committed as 1f2e3d4 (a) and 5a6b7c8 (b)".
            (_, "and") => bare(0) == "committed" && bare(1) == "as",
            (_, "of" | "from" | "since" | "after" | "before" | "than" | "on") => false,
            // "Committed everything: 1f2e3d4", "committed the change (1f2e3d4)".
            _ => {
                let opened = all.get(at).is_some_and(|word| word.0.starts_with('('));
                let named = all.get(at.wrapping_sub(1)).is_some_and(|word| word.0.ends_with(':'));
                earlier(at) && (opened || named)
            }
        }
    };
    let marked = |at: usize, word: &Word<'_>| {
        let before = at.checked_sub(1).and_then(|at| all.get(at)).is_some_and(|word| word.0 == "(commit");
        finished && (at == 0 || before || (at + 1 == all.len() && word.0.starts_with('(')))
    };
    let hashes = all.iter().enumerate().filter(|(at, word)| marked(*at, word) || (*at > 0 && made(*at)));
    hashes.filter_map(|(_, word)| word.hash()).map(commit).collect()
}
