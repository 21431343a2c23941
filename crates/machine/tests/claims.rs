//! Lies and truths in many phrasings, as list items and in prose, with the tags of a checkpoint and without.

#[path = "claims/honest_messages.rs"]
mod honest_messages;
#[path = "claims/honest_messages_later.rs"]
mod honest_messages_later;
#[path = "claims/lying_messages.rs"]
mod lying_messages;
#[path = "claims/phrasings.rs"]
mod phrasings;

use honest_messages::{MESSAGES, TREE};
use honest_messages_later::LATER;
use lying_messages::LIES;
use phrasings::{FIRST, HONEST, Phrasings, SECOND};
use segue_machine::claims::{Evidence, Finding, GateFact, Judged, claims, judge, strike};

const FILE: &str = "src/parser.rs";
const HASH: &str = "4f2a9c1";
const SUBJECT: &str = "parser: read empty input";

fn filled(phrasing: &str) -> String {
    phrasing.replace("{f}", FILE).replace("{h}", HASH).replace("{s}", SUBJECT)
}

/// The ways in which a phrasing is put into an answer.
fn answers(phrasing: &str) -> [(&'static str, String); 4] {
    let said = filled(phrasing);
    let list = format!(
        "## Goal\nMake it work\n\n## Completed Work\n- Looked around\n- {said}\n\n## Remaining Tasks\n- Say hello\n"
    );
    let stop = if said.ends_with('?') { "" } else { "." };
    let prose = format!("I looked at the code first. {said}{stop} Greetings go to the team.");
    [
        ("list", list.clone()),
        ("list, tags", format!("Here it is.\n<checkpoint>\n{list}</checkpoint>")),
        ("prose", prose.clone()),
        ("prose, tags", format!("<checkpoint>{prose}</checkpoint>")),
    ]
}

fn tree() -> Vec<String> {
    ["Cargo.toml", "src/lib.rs", "src/other.rs"].map(str::to_owned).to_vec()
}

fn gate(passed: bool) -> GateFact {
    GateFact { name: "tests".to_owned(), passed, exit: Some(i32::from(!passed)), ..GateFact::default() }
}

/// A kind of claim: its name, its phrasings, and the evidence when it is a lie and when it is true.
fn kinds(of: &Phrasings) -> [(&'static str, &'static [&'static str], Evidence, Evidence); 5] {
    let file = || vec![FILE.to_owned()];
    let there = || [tree(), file()].concat();
    let world = || Evidence {
        git: true,
        dirty: true,
        tree: tree(),
        modified: vec!["src/other.rs".to_owned()],
        ..Evidence::default()
    };
    let commits = vec![("4f2a9c1d00000000000000000000000000000000".to_owned(), SUBJECT.to_owned())];
    [
        ("created", of.created, world(), Evidence { created: file(), tree: there(), ..world() }),
        (
            "modified",
            of.modified,
            Evidence { tree: there(), ..world() },
            Evidence { modified: file(), tree: there(), ..world() },
        ),
        (
            "deleted",
            of.deleted,
            Evidence { tree: there(), ..world() },
            Evidence { deleted: file(), ..world() },
        ),
        (
            "tests",
            of.tests,
            Evidence { gates: vec![gate(false)], ..world() },
            Evidence { gates: vec![gate(true)], ..world() },
        ),
        ("commits", of.commits, world(), Evidence { commits, dirty: false, ..world() }),
    ]
}

struct Score {
    lies: usize,
    caught: usize,
    truths: usize,
    struck: usize,
    wrong: Vec<String>,
}

fn contradicted(judged: &[Judged]) -> bool {
    judged.iter().any(|j| j.finding == Finding::Contradicted)
}

fn score(of: &Phrasings) -> Score {
    let mut score = Score { lies: 0, caught: 0, truths: 0, struck: 0, wrong: Vec::new() };
    for (kind, phrasings, lie, truth) in kinds(of) {
        for phrasing in phrasings {
            for (way, answer) in answers(phrasing) {
                let judged = judge(claims(&answer), &lie);
                let passed_on = strike(&answer, &judged);
                let caught = contradicted(&judged) && !passed_on.contains(&filled(phrasing));
                score.lies += 1;
                score.caught += usize::from(caught);
                if !caught {
                    score.wrong.push(format!("missed ({kind}, {way}): {phrasing}: {judged:?}"));
                }
                let judged = judge(claims(&answer), &truth);
                let rest = strike(&answer, &judged).replace(" (unverified)", "");
                let struck = contradicted(&judged) || !rest.contains(&filled(phrasing));
                score.truths += 1;
                score.struck += usize::from(struck);
                if struck {
                    score.wrong.push(format!("struck ({kind}, {way}): {phrasing}: {judged:?}"));
                }
            }
        }
    }
    score
}

#[test]
fn c3_every_lie_is_contradicted_and_no_truth_is_struck_in_the_first_half() {
    let score = score(&FIRST);
    println!(
        "{} of {} lies contradicted, {} of {} truths struck",
        score.caught, score.lies, score.struck, score.truths
    );
    assert_eq!((score.caught, score.struck), (score.lies, 0), "{}", score.wrong.join("\n"));
}

#[test]
fn c3_every_lie_is_contradicted_and_no_truth_is_struck_in_the_second_half() {
    let score = score(&SECOND);
    println!(
        "{} of {} lies contradicted, {} of {} truths struck",
        score.caught, score.lies, score.struck, score.truths
    );
    assert_eq!((score.caught, score.struck), (score.lies, 0), "{}", score.wrong.join("\n"));
}

#[test]
fn what_is_denied_planned_asked_or_only_mentioned_is_never_contradicted() {
    let mut wrong: Vec<String> = Vec::new();
    for phrasing in HONEST {
        for (way, answer) in answers(phrasing) {
            for (kind, _, lie, _) in kinds(&FIRST) {
                let judged = judge(claims(&answer), &Evidence { gates: vec![gate(false)], ..lie });
                if contradicted(&judged) {
                    wrong.push(format!("{kind}, {way}: {phrasing}: {judged:?}"));
                }
            }
        }
    }
    println!("{} honest sentences, {} contradicted", HONEST.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn code_blocks_quotations_and_remaining_tasks_are_no_claims() {
    let answer = "## Remaining Tasks\n- Create src/parser.rs\n- All tests pass\n- src/parser.rs is created\n\
        ## Status\n```\nCreated src/parser.rs\ntest result: ok. 42 passed\n```\n> All tests pass\n> Committed everything\n";
    for (_, _, lie, _) in kinds(&FIRST) {
        let judged = judge(claims(answer), &Evidence { gates: vec![gate(false)], ..lie });
        assert!(!contradicted(&judged), "{judged:?}");
        assert_eq!(strike(answer, &judged), answer.trim());
    }
}

/// The evidence that is written in short before a message.
fn world_of(told: &str) -> Evidence {
    let mut world = Evidence {
        git: true,
        dirty: true,
        root: Some("/home/dev/project".to_owned()),
        tree: TREE.iter().map(|path| (*path).to_owned()).collect(),
        ..Evidence::default()
    };
    for word in told.split_whitespace() {
        let (sign, path) = word.split_at(1);
        match (word, sign) {
            ("green" | "red", _) => world.gates.push(gate(word == "green")),
            ("committed", _) => {
                world.dirty = false;
                world.commits.push((format!("{HASH}d00000000000000000000000000000000"), SUBJECT.to_owned()));
            }
            (_, "!") => world.ignored.push(path.to_owned()),
            (_, "+") => {
                world.created.push(path.to_owned());
                world.tree.push(path.to_owned());
            }
            (_, "~") => world.modified.push(path.to_owned()),
            (_, "-") => {
                world.deleted.push(path.to_owned());
                world.tree.retain(|there| there != path);
            }
            _ => panic!("{told}: {word}"),
        }
    }
    world
}

/// The messages of which something is contradicted.
fn wronged(messages: &[(&str, &str)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (told, message) in messages {
        let mut judged = judge(claims(message), &world_of(told));
        judged.retain(|j| j.finding == Finding::Contradicted);
        if !judged.is_empty() {
            wrong.push(format!("[{told}] {message}\n  => {judged:?}\n"));
        }
    }
    wrong
}

#[test]
fn a_lie_among_true_sentences_is_found() {
    let mut missed: Vec<String> = Vec::new();
    for (told, message) in LIES {
        let item = format!("## Completed Work\n- {message}\n");
        let ways = [(*message).to_owned(), item];
        let ways = &ways[..if message.contains('\n') { 1 } else { 2 }];
        let caught = |way: &String| contradicted(&judge(claims(way), &world_of(told)));
        missed.extend(ways.iter().filter(|way| !caught(way)).cloned());
    }
    println!("{} of {} lying messages missed", missed.len(), LIES.len());
    assert!(missed.is_empty(), "{}", missed.join("\n---\n"));
}

#[test]
fn honest_last_messages_are_never_contradicted() {
    let wrong = wronged(MESSAGES);
    println!("{} of {} honest messages contradicted", wrong.len(), MESSAGES.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), MESSAGES.len(), wrong.join("\n"));
}

#[test]
fn honest_messages_of_other_kinds_are_not_contradicted_either() {
    let wrong = wronged(LATER);
    println!("{} of {} honest messages contradicted", wrong.len(), LATER.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), LATER.len(), wrong.join("\n"));
}
