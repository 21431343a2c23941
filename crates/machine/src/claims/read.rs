//! From an agent's text to claims: each sentence is read for files, checks and commits, and by its section.

use std::collections::BTreeMap;

use super::checks::{Says, checks};
use super::commits::commits;
use super::files::{Above, files};
use super::paths::paths;
use super::section::{Section, section};
use super::units::{Unit, units};
use super::words::{Hedge, Token, beside_the_point, hedge, tokens};
use super::{Claim, ClaimKind};
use crate::checkpoint::parse;

/// What an agent's text claims: a checkpoint, tagged or not, or its last words.
pub fn claims(text: &str) -> Vec<Claim> {
    let text = without_reports(&parse(text).text);
    let mut found: Vec<Claim> = Vec::new();
    let mut titles = Titles::default();
    // Where the claims of the sentence before begin.
    let (mut before, mut taken_back) = (0, Vec::new());
    for unit in units(&text) {
        let here = found.len();
        match undone(&tokens(&unit.text)) {
            Some(paths) if paths.is_empty() => keep_others(&mut found, before),
            Some(paths) => taken_back.extend(paths),
            None => {}
        }
        before = here.min(found.len());
        for kind in kinds(&unit, &mut titles) {
            found.push(Claim { kind, text: unit.text.clone(), section: unit.section().map(str::to_owned) });
        }
    }
    let gone =
        |claim: &Claim| matches!(&claim.kind, ClaimKind::File { path, .. } if taken_back.contains(path));
    found.retain(|claim| !gone(claim));
    found
}

// What was said about files from `from` on was undone afterwards.
fn keep_others(found: &mut Vec<Claim>, from: usize) {
    let mut at = 0;
    found.retain(|claim| {
        at += 1;
        at <= from || !matches!(claim.kind, ClaimKind::File { .. })
    });
}

/// The files of which a sentence says that work on them was undone; none for "I reverted that".
fn undone(tokens: &[Token]) -> Option<Vec<String>> {
    let at = tokens.iter().position(|t| t.is(&["reverted", "undid", "reverting", "undone", "discarded"]))?;
    if (0..at).any(|back| hedge(tokens, back).is_some()) {
        return None;
    }
    let named: Vec<String> = tokens[at..].iter().flat_map(paths).collect();
    let that =
        tokens[at + 1..].iter().take(1).any(|t| t.is(&["it", "that", "this", "them", "those", "both"]));
    (that || !named.is_empty()).then_some(named)
}

/// A text without the JSON objects that hold a `status`: a report is read as data by whoever asked for it.
fn without_reports(text: &str) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    while let Some(open) = rest.find('{') {
        let (before, object) = rest.split_at(open);
        kept.push_str(before);
        let mut values = serde_json::Deserializer::from_str(object).into_iter::<serde_json::Value>();
        let report = matches!(values.next(), Some(Ok(value)) if value.get("status").is_some());
        let end = if report { values.byte_offset() } else { 1 };
        let (cut, after) = object.split_at(end);
        kept.push_str(if report { "" } else { cut });
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// Every sentence of a text that is not code or quotation, as said.
pub(crate) fn sentences(text: &str) -> Vec<String> {
    units(text).into_iter().map(|u| u.text).collect()
}

/// Titles that were looked up before: the items of a list share theirs.
#[derive(Default)]
struct Titles(BTreeMap<String, Section>);

impl Titles {
    fn section(&mut self, title: Option<&str>) -> Section {
        let Some(title) = title else { return Section::Other };
        if let Some(known) = self.0.get(title) {
            return *known;
        }
        let found = section(title);
        self.0.insert(title.to_owned(), found);
        found
    }
}

fn kinds(unit: &Unit, titles: &mut Titles) -> Vec<ClaimKind> {
    let tokens = tokens(&unit.text);
    let section = below(unit, &tokens, titles);
    let answer = unit.text.rsplit_once(':').map_or(unit.text.as_str(), |(_, answer)| answer);
    if unit.text.ends_with(':') || is_none(&unit.text) || is_none(answer) {
        return Vec::new();
    }
    let mut found = match section {
        Section::Done | Section::Files(_) | Section::Commits | Section::Checks => {
            finished(unit, &tokens, section)
        }
        Section::DoNotRedo | Section::Decisions | Section::Other => checkable(unit, &tokens, section),
        Section::Remaining
        | Section::Constraints
        | Section::DeadEnds
        | Section::Failures
        | Section::Rules
        | Section::Talk => Vec::new(),
    };
    found.extend(of_section(&unit.text, &tokens, section, !found.is_empty()));
    found
}

// The words before a colon, then the line before the list, then the heading say what a sentence is part of; a box or
// a tick before it says more than any of them.
fn below(unit: &Unit, tokens: &[Token], titles: &mut Titles) -> Section {
    let label =
        unit.text.split_once(':').filter(|(l, rest)| l.split(' ').count() <= 3 && rest.starts_with(' '));
    let label = titles.section(label.map(|(l, _)| l).filter(|l| !l.contains(['.', '/', '`'])));
    let lead = titles.section(unit.lead.as_deref());
    let heading = titles.section(unit.heading.as_deref());
    let above = if lead == Section::Other { heading } else { lead };
    let ended = matches!(tokens, [.., Token::Mark(_), last] | [.., Token::Mark(_), last, Token::Mark(')')]
        if last.is(&["done", "completed", "finished", "✅", "✓"]));
    let first = tokens.first();
    match unit.ticked {
        Some(true) => return Section::Done,
        Some(false) => return Section::Remaining,
        None => {}
    }
    if first.is_some_and(|t| t.is(&["❌", "⬜", "🔲", "⏳", "🚧"])) {
        return Section::Remaining;
    }
    if first.is_some_and(|t| t.is(&["✅", "✓", "✔", "☑", "✔️", "☑️"]))
        || (above == Section::Remaining && ended)
    {
        return Section::Done;
    }
    let told = matches!(
        above,
        Section::Other | Section::Done | Section::Checks | Section::Files(_) | Section::Commits
    );
    if told && label != Section::Other { label } else { above }
}

fn is_none(text: &str) -> bool {
    let word = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    matches!(
        word.as_str(),
        "none" | "nothing" | "n/a" | "none yet" | "nothing yet" | "none so far" | "empty" | ""
    )
}

fn checkable(unit: &Unit, tokens: &[Token], section: Section) -> Vec<ClaimKind> {
    if beside_the_point(&unit.text, tokens) {
        return Vec::new();
    }
    let done = section == Section::Done || unit.ticked == Some(true);
    let listed = if let Section::Files(change) = section { Some(change) } else { None };
    let mut found = commits(&unit.text, tokens, section == Section::Commits);
    found.extend(files(tokens, Above { done: done || listed.is_some(), files: listed }));
    match checks(tokens, section == Section::Checks) {
        Says::Pass(kind) => found.push(kind),
        Says::Fail => found.push(ClaimKind::Failure),
        Says::Nothing => {}
    }
    found
}

fn finished(unit: &Unit, tokens: &[Token], section: Section) -> Vec<ClaimKind> {
    let mut found = checkable(unit, tokens, section);
    if found.is_empty() {
        let hedges: Vec<Hedge> = (0..tokens.len()).filter_map(|at| hedge(tokens, at)).collect();
        let put_off = tokens.first().is_some_and(|t| t.is(&["todo"]))
            || hedges.first() == Some(&Hedge::Later) && hedge_opens(tokens)
            || unit.text.to_lowercase().contains("not done")
            || unit.text.to_lowercase().contains("not yet");
        found.push(if put_off { ClaimKind::Remaining } else { ClaimKind::Done });
    }
    found
}

fn hedge_opens(tokens: &[Token]) -> bool {
    (0..tokens.len().min(3)).any(|at| hedge(tokens, at) == Some(Hedge::Later))
}

fn of_section(text: &str, tokens: &[Token], section: Section, told: bool) -> Option<ClaimKind> {
    let low = text.to_lowercase();
    let has = |phrases: &[&str]| phrases.iter().any(|p| low.contains(p));
    let dead = has(&[
        "dead end",
        "does not work",
        "doesn't work",
        "did not work",
        "didn't work",
        "do not try",
        "don't try",
        "ruled out",
    ]) || (has(&["tried "])
        && has(&["fail", "but ", "too slow", "broke", "no good", "in vain", "without success"]));
    match section {
        Section::Done | Section::Files(_) | Section::Commits | Section::Checks | Section::Talk => None,
        Section::Remaining => Some(ClaimKind::Remaining),
        Section::Constraints => Some(ClaimKind::Constraint),
        Section::DeadEnds => Some(ClaimKind::DeadEnd),
        Section::Failures => Some(ClaimKind::Failure),
        Section::Rules => Some(ClaimKind::Rule),
        Section::DoNotRedo if dead => Some(ClaimKind::DeadEnd),
        Section::DoNotRedo => Some(ClaimKind::DoNotRedo),
        Section::Decisions if dead => Some(ClaimKind::DeadEnd),
        Section::Decisions if binds(tokens) => Some(ClaimKind::Constraint),
        Section::Decisions => Some(ClaimKind::Decision),
        Section::Other if told || text.ends_with('?') => None,
        Section::Other if dead => Some(ClaimKind::DeadEnd),
        Section::Other
            if has(&["decided", "decision", "we chose", "i chose", "opted for", "we settled on"]) =>
        {
            Some(ClaimKind::Decision)
        }
        Section::Other
            if has(&[
                "still need",
                "still to ",
                "remains to",
                "left to do",
                "todo",
                "next step",
                "not yet ",
                "yet to be",
            ]) =>
        {
            Some(ClaimKind::Remaining)
        }
        Section::Other if has(&["constraint"]) || binds(tokens) => Some(ClaimKind::Constraint),
        Section::Other => None,
    }
}

fn binds(tokens: &[Token]) -> bool {
    tokens.iter().any(|t| t.is(&["must", "never", "always", "mustn't", "forbidden", "mandatory"]))
        || tokens.windows(2).any(|w| w[0].is(&["may", "at"]) && w[1].is(&["not", "most", "least"]))
}
