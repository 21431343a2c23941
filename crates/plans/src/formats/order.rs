//! What comes before what, from what phases say: numbers, ids, user stories, tasks, titles, "all", "blocking".
//!
//! A phase that says nothing comes after the one before it. What cannot be resolved stays as it is written, so that it
//! is reported as a dependency on something that is not there.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids;
use crate::model::Phase;

/// How many phases are looked at to see whether keeping the order would make a circle.
const MOST_STEPS: usize = 200_000;

/// Resolves what each phase says about what comes before it.
pub(crate) fn resolve(phases: &mut [Phase], said: &[Option<&str>]) {
    let names: Vec<Names> = phases.iter().map(Names::new).collect();
    for (at, phase) in phases.iter_mut().enumerate() {
        let mut needs: Vec<usize> = Vec::new();
        let mut unknown: Vec<String> = Vec::new();
        match said.get(at).copied().flatten() {
            None => unknown.append(&mut phase.needs),
            Some(text) if says_none(text) => {}
            Some(text) => {
                let text = without_complete(text);
                needs = named(&names, at, &text);
                unknown = not_there(&names, &text);
                unknown.extend(titles_not_there(&names, &text));
                if needs.is_empty() && unknown.is_empty() && !text.trim().is_empty() {
                    unknown = unresolved(&text);
                }
            }
        }
        // What blocks the others comes before each of them, whatever else they say.
        needs.extend((0..at).filter(|before| names[*before].blocks));
        needs.sort_unstable();
        needs.dedup();
        phase.needs = needs.into_iter().map(|need| names[need].id.clone()).chain(unknown).collect();
    }
    keep_where(phases, |at| said.get(at).copied().flatten().is_none());
}

/// Puts each phase that says nothing about its order, not even by a wave, behind the one before it, unless that one waits for it.
pub(crate) fn keep(phases: &mut [Phase]) {
    keep_where(phases, |_| true);
}

fn keep_where(phases: &mut [Phase], silent: impl Fn(usize) -> bool) {
    let index: BTreeMap<String, usize> =
        phases.iter().enumerate().rev().map(|(at, phase)| (ids::canonical(&phase.id), at)).collect();
    let place = |id: &String| index.get(&ids::canonical(id)).copied();
    let mut needs: Vec<Vec<usize>> =
        phases.iter().map(|phase| phase.needs.iter().filter_map(place).collect()).collect();
    let (mut farthest, mut steps) = (0, MOST_STEPS);
    for at in 0..phases.len() {
        let phase = &mut phases[at];
        let silent =
            silent(at) && phase.needs_at.line == 0 && phase.wave.is_none() && phase.parallel != Some(true);
        if phase.needs_at.line == 0 {
            phase.needs_at = phase.at;
        }
        if let Some(before) = at.checked_sub(1).filter(|before| silent && !needs[at].contains(before))
            && (farthest < at || !leads_to(&needs, before, at, &mut steps))
        {
            needs[at].push(before);
            let id = phases[before].id.clone();
            phases[at].needs.push(id);
        }
        farthest = needs[at].iter().copied().fold(farthest, usize::max);
    }
}

// Whether a phase needs another one, itself or by what it needs. One that takes too long to follow is taken to.
fn leads_to(needs: &[Vec<usize>], from: usize, to: usize, steps: &mut usize) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut next = vec![from];
    while let Some(at) = next.pop() {
        *steps = steps.saturating_sub(1);
        if at == to || *steps == 0 {
            return true;
        }
        next.extend(needs[at].iter().copied().filter(|need| seen.insert(*need)));
    }
    false
}

/// Whether a statement names nothing.
pub(crate) fn says_none(text: &str) -> bool {
    let lower = text.trim().trim_matches(['*', '`', '.']).to_lowercase();
    let none = ["n/a", "none", "nothing", "no ", "-", "–", "—", "null", "independent", "not applicable"];
    lower.is_empty()
        || none.iter().any(|word| lower == word.trim() || (word.len() > 1 && lower.starts_with(word)))
}

// What is complete is not needed: "Phase 1 (complete), Phase 2".
fn without_complete(text: &str) -> String {
    let is_complete = |part: &&str| {
        let lower = part.to_lowercase();
        ["(complete", "(done", "(shipped", "✅"].iter().any(|word| lower.contains(word))
    };
    text.split([',', ';']).filter(|part| !is_complete(part)).collect::<Vec<_>>().join(",")
}

// Words that are left are one dependency; numbers are one each.
fn unresolved(text: &str) -> Vec<String> {
    let numbers: Vec<String> = ids::needed(text).into_iter().map(|needed| needed.id).collect();
    if numbers.is_empty() { vec![text.trim().to_owned()] } else { numbers }
}

struct Names {
    id: String,
    canonical: String,
    titles: Vec<String>,
    story: Option<u32>,
    tasks: Vec<String>,
    blocks: bool,
}

impl Names {
    fn new(phase: &Phase) -> Self {
        let lower = phase.title.to_lowercase();
        let title = lower.split(['(', '—', '–', ':']).next().unwrap_or("").trim().to_owned();
        let mut titles = vec![title];
        titles.extend(story_title(&lower));
        titles.retain(|title| title.len() >= 4);
        Self {
            id: phase.id.clone(),
            canonical: ids::canonical(&phase.id),
            story: story(&lower),
            titles,
            tasks: phase.tasks.iter().map(|task| task.id.to_lowercase()).collect(),
            blocks: lower.contains("(blocking") || lower.contains("blocking prerequisite"),
        }
    }

    // By a name that no number can be taken for.
    fn has_task(&self, word: &str) -> bool {
        word.starts_with(char::is_alphabetic) && self.tasks.iter().any(|task| task == word)
    }
}

fn words(lower: &str) -> Vec<&str> {
    let part = |c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '_'));
    let words = lower.split(part).map(|word| word.trim_matches(['.', '-', '_']));
    words.filter(|word| !word.is_empty()).collect()
}

fn is_story(word: &str) -> bool {
    matches!(word, "story" | "stories")
}

// us1, us1-us3; behind the word story 1 and 1-3 as well.
fn stories(word: &str, named: bool) -> Vec<u32> {
    let number = |text: &str| text.strip_prefix("us").unwrap_or(text).parse::<u32>().ok();
    if !named && !word.starts_with("us") {
        return Vec::new();
    }
    match word.split_once('-') {
        Some((from, to)) => match (number(from), number(to)) {
            (Some(from), Some(to)) if from <= to && to - from < 100 => (from..=to).collect(),
            _ => Vec::new(),
        },
        None => number(word).into_iter().collect(),
    }
}

// What a text clearly names and the plan does not have: "US9", "Phase 9", "T099". A number among words is none.
fn not_there(names: &[Names], text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let lower = without_remarks(text).to_lowercase().replace(['–', '—'], "-").replace(" and ", ",");
    for part in lower.split([',', ';', '&', '+']) {
        let words = words(part);
        for (at, word) in words.iter().enumerate() {
            let before = at.checked_sub(1).map_or("", |before| words[before]);
            let told = stories(word, is_story(before));
            found.extend(
                told.iter()
                    .filter(|one| !names.iter().any(|other| other.story == Some(**one)))
                    .map(|story| format!("US{story}")),
            );
            let is_task =
                word.len() == 4 && word.starts_with('t') && word[1..].bytes().all(|b| b.is_ascii_digit());
            if is_task && !names.iter().any(|other| other.has_task(word)) {
                found.push(word.to_uppercase());
            }
            let is_id = matches!(before, "phase" | "phases" | "stage" | "stages") || words.len() == 1;
            if told.is_empty() && is_id && word.starts_with(|c: char| c.is_ascii_digit()) {
                let ids = ids::needed(word).into_iter().map(|needed| needed.id);
                let known = |id: &String| names.iter().any(|other| other.canonical == ids::canonical(id));
                found.extend(ids.filter(|id| !known(id)));
            }
        }
    }
    found
}

// Of a list of titles those that no phase has: "Walls, Cellar". Words in a sentence are none.
fn titles_not_there(names: &[Names], text: &str) -> Vec<String> {
    let text = without_remarks(text);
    let parts: Vec<&str> = text.split([',', ';', '&', '+']).flat_map(|part| part.split(" and ")).collect();
    let parts = parts.into_iter().map(|part| part.trim().trim_matches(['*', '`', '"', '.', ' ']));
    let is_title = |part: &&str| {
        let words = part.split_whitespace().count();
        (1..=4).contains(&words)
            && part.len() >= 4
            && part.starts_with(char::is_uppercase)
            && !part.contains(|c: char| c.is_ascii_digit())
    };
    let is_known = |part: &&str| says_none(part) || !named(names, names.len(), part).is_empty();
    parts.filter(|part| is_title(part) && !is_known(part)).map(str::to_owned).collect()
}

fn without_remarks(text: &str) -> String {
    let mut depth = 0_usize;
    let outside = |c: &char| {
        let inside = depth > 0;
        depth = match c {
            '(' => depth + 1,
            ')' => depth.saturating_sub(1),
            _ => depth,
        };
        !inside && *c != '('
    };
    text.chars().filter(outside).collect()
}

// The number of "user story 3" or "us3".
fn story(text: &str) -> Option<u32> {
    let at = text.find("user story ").map(|at| at + "user story ".len());
    let at = at.or_else(|| text.strip_prefix("us").map(|_| 2))?;
    let digits: String = text.get(at..)?.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

// "user story 1 - build (priority: p1)" is also called "build".
fn story_title(lower: &str) -> Option<String> {
    let rest = lower.strip_prefix("user story ")?.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.split('(').next()?.trim_matches([' ', '-', '—', '–', ':']);
    Some(rest.to_owned())
}

// The phases that a text names, of those that are not itself.
fn named(names: &[Names], own: usize, text: &str) -> Vec<usize> {
    let lower = text.to_lowercase();
    let all = [
        "all previous",
        "all earlier",
        "all prior",
        "all phases",
        "all stories",
        "all user stories",
        "all desired",
        "all other",
        "everything",
        "all above",
    ];
    if all.iter().any(|words| lower.contains(words)) || lower.trim() == "all" {
        return (0..own).collect();
    }
    if lower.contains("previous phase") || lower.contains("prior phase") {
        return own.checked_sub(1).into_iter().collect();
    }
    let ids: Vec<String> = ids::needed(text).into_iter().map(|needed| ids::canonical(&needed.id)).collect();
    let dashes = lower.replace(['–', '—'], "-");
    let words = words(&dashes);
    let stories: Vec<u32> = words
        .iter()
        .enumerate()
        .flat_map(|(at, word)| stories(word, at > 0 && is_story(words[at - 1])))
        .collect();
    let is_named = |other: &Names| {
        ids.contains(&other.canonical)
            || other.story.is_some_and(|story| stories.contains(&story))
            || other.titles.iter().any(|title| lower.contains(title.as_str()))
            || words.iter().any(|word| other.has_task(word))
    };
    (0..names.len()).filter(|at| *at != own && is_named(&names[*at])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Place, Task};

    fn needs(phases: &[(&str, &str)], said: &[Option<&str>]) -> Vec<Vec<String>> {
        let phase = |(id, title): &(&str, &str)| {
            let task = Task { id: format!("T00{id}"), ..Task::default() };
            Phase { title: (*title).to_owned(), tasks: vec![task], ..Phase::new(*id) }
        };
        let mut phases: Vec<Phase> = phases.iter().map(phase).collect();
        resolve(&mut phases, said);
        phases.into_iter().map(|phase| phase.needs).collect()
    }

    const STORIES: [(&str, &str); 5] = [
        ("1", "Setup"),
        ("2", "Foundational (Blocking Prerequisites)"),
        ("3", "User Story 1 - Build (Priority: P1)"),
        ("4", "User Story 2 — Sign"),
        ("5", "Polish"),
    ];

    #[test]
    fn stories_titles_tasks_and_what_blocks_are_resolved() {
        let found = needs(
            &STORIES,
            &[None, None, Some("none"), Some("US1 (it must build first)"), Some("all user stories")],
        );
        assert_eq!(found[1], ["1"]);
        assert_eq!(found[2], ["2"], "what blocks comes first even so");
        assert_eq!(found[3], ["2", "3"]);
        assert_eq!(found[4], ["1", "2", "3", "4"]);
        let found =
            needs(&STORIES, &[None, None, Some("Setup"), Some("T003"), Some("Phase 3 (complete), Phase 4")]);
        assert_eq!(
            (found[2].clone(), found[3].clone(), found[4].clone()),
            (
                vec!["1".to_owned(), "2".to_owned()],
                vec!["2".to_owned(), "3".to_owned()],
                vec!["2".to_owned(), "4".to_owned()]
            )
        );
    }

    #[test]
    fn what_cannot_be_resolved_stays_and_phases_keep_their_order_without_a_word() {
        let found = needs(&STORIES[2..], &[None, None, Some("US9")]);
        assert_eq!(found, [vec![], vec!["3".to_owned()], vec!["US9".to_owned()]]);
    }

    #[test]
    fn the_order_is_kept_as_written_unless_that_would_be_a_circle() {
        let kept = |phases: &[(&str, Option<&str>, Option<u32>)]| {
            let phase = |(id, need, wave): &(&str, Option<&str>, Option<u32>)| {
                let at = Place { file: 0, line: 1 };
                let needs_at = need.map_or(Place::default(), |_| at);
                let needs = need.filter(|need| !need.is_empty()).map(str::to_owned).into_iter().collect();
                Phase { at, needs_at, needs, wave: *wave, ..Phase::new(*id) }
            };
            let mut phases: Vec<Phase> = phases.iter().map(phase).collect();
            keep(&mut phases);
            phases.into_iter().map(|phase| phase.needs.join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(kept(&[("1", None, None), ("2", Some(""), None), ("3", None, None)]), ["", "", "2"]);
        let forward = [("1", Some("4"), None), ("2", None, None), ("3", None, None), ("4", None, None)];
        assert_eq!(kept(&forward), ["4", "1", "2", ""], "4 comes first");
        assert_eq!(kept(&[("1", None, Some(1)), ("2", None, Some(1)), ("3", None, Some(2))]), ["", "", ""]);
    }

    #[test]
    fn of_several_names_none_that_is_unknown_is_lost() {
        let of = |said: &str| needs(&STORIES[2..], &[None, None, Some(said)])[2].join(" ");
        assert_eq!(of("US1, US9"), "3 US9");
        assert_eq!(of("Phase 3 and Phase 9 (the last, of course)"), "3 9");
        assert_eq!(of("T003, T099"), "3 T099");
        assert_eq!(of("User Stories 1-2"), "3 4");
        assert_eq!(of("US1–US3"), "3 4 US3");
        assert_eq!(of("User Story 1, which takes 10 days with Node 18"), "3");
        assert_eq!(of("3, 9"), "3 9");
        assert_eq!(of("Sign, Paint it (and dry)"), "4 Paint it");
        assert_eq!(of("User Story 2, Sign and Varnish"), "4 Varnish");
        assert_eq!(of("Phase 3, which is needed, since Sign needs it"), "3 4");
    }
}
