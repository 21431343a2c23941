//! From an agent's text to claims, only where they are unambiguous: fields of a report, items below headings, and plain
//! sentences. The rest is sorted by its heading for the next session and claims nothing.

use std::collections::BTreeMap;

use super::fields;
use super::section::{Section, section};
use super::statements::{Place, statements};
use super::units::{Unit, units};
use super::words::{Word, words};
use super::{Claim, ClaimKind};
use crate::checkpoint::parse;

/// What an agent's text claims: a checkpoint, tagged or not, or its last words. A report is cut out first and read by its
/// fields.
pub fn claims(text: &str) -> Vec<Claim> {
    let (text, mut found) = fields::cut_reports(&parse(text).text);
    let mut titles = Titles::default();
    for unit in units(&text) {
        for kind in kinds(&unit, &mut titles) {
            found.push(Claim { kind, text: unit.text.clone(), section: unit.section().map(str::to_owned) });
        }
    }
    found
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
    if let Some(found) = fields::of_line(&unit.text).filter(|_| unit.ticked != Some(false)) {
        return found;
    }
    let section = below(unit, titles);
    let answer = unit.text.rsplit_once(':').map_or(unit.text.as_str(), |(_, answer)| answer);
    if unit.text.ends_with(':') || is_none(&unit.text) || is_none(answer) {
        return Vec::new();
    }
    let place = match section {
        Section::Files(change) => Place::Files(change),
        Section::Commits => Place::Commits,
        Section::Done | Section::Checks if unit.ticked == Some(true) => Place::Ticked,
        Section::Done | Section::Checks if unit.list => Place::Finished,
        Section::Done | Section::Checks | Section::DoNotRedo | Section::Decisions | Section::Other => {
            Place::Prose
        }
        Section::Remaining
        | Section::Constraints
        | Section::DeadEnds
        | Section::Failures
        | Section::Rules
        | Section::Talk => return of_section(&unit.text, section, false).into_iter().collect(),
    };
    let mut found =
        statements(&unit.text, if place == Place::Prose && unit.list { Place::Item } else { place });
    let finished = matches!(section, Section::Done | Section::Files(_) | Section::Commits | Section::Checks);
    if found.is_empty() && finished {
        let low = unit.text.to_lowercase();
        let open = low.starts_with("todo") || low.contains("not done") || low.contains("not yet");
        found.push(if open { ClaimKind::Remaining } else { ClaimKind::Done });
    }
    let sorted = of_section(&unit.text, section, !found.is_empty());
    found.extend(sorted);
    found
}

// The words before a colon, then the line before the list, then the heading say what a sentence is part of; a box or
// a tick before it says more than any of them.
fn below(unit: &Unit, titles: &mut Titles) -> Section {
    let label =
        unit.text.split_once(':').filter(|(l, rest)| l.split(' ').count() <= 3 && rest.starts_with(' '));
    let label = titles.section(label.map(|(l, _)| l).filter(|l| !l.contains(['.', '/', '`'])));
    let lead = titles.section(unit.lead.as_deref());
    let heading = titles.section(unit.heading.as_deref());
    let above = if lead == Section::Other { heading } else { lead };
    let all: Vec<&str> = unit.text.split_whitespace().collect();
    let ended = all.last().is_some_and(|last| {
        let marked =
            all.len() > 1 && (last.starts_with('(') || all[all.len() - 2].ends_with([':', '–', '—', '-']));
        matches!(*last, "✅" | "✓")
            || marked && ["done", "completed", "finished"].contains(&Word(last).bare().as_str())
    });
    let first = |marks: &[&str]| all.first().is_some_and(|first| marks.contains(first));
    match unit.ticked {
        Some(true) => return Section::Done,
        Some(false) => return Section::Remaining,
        None => {}
    }
    if first(&["❌", "⬜", "🔲", "⏳", "🚧"]) {
        return Section::Remaining;
    }
    if first(&["✅", "✓", "✔", "☑", "✔️", "☑️"]) || (above == Section::Remaining && ended) {
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
    "none|nothing|n/a|none yet|nothing yet|none so far|empty|".split('|').any(|none| none == word)
}

fn of_section(text: &str, section: Section, told: bool) -> Option<ClaimKind> {
    let low = text.to_lowercase();
    let has = |phrases: &str| phrases.split('|').any(|phrase| low.contains(phrase));
    let dead =
        has("dead end|does not work|doesn't work|did not work|didn't work|do not try|don't try|ruled out")
            || (has("tried ") && has("fail|but |too slow|broke|no good|in vain|without success"));
    match section {
        Section::Done | Section::Files(_) | Section::Commits | Section::Checks | Section::Talk => None,
        Section::Remaining => Some(ClaimKind::Remaining),
        Section::Constraints => Some(ClaimKind::Constraint),
        Section::DeadEnds => Some(ClaimKind::DeadEnd),
        Section::Failures => Some(ClaimKind::Failure),
        Section::Rules => Some(ClaimKind::Rule),
        Section::DoNotRedo | Section::Decisions if dead => Some(ClaimKind::DeadEnd),
        Section::DoNotRedo => Some(ClaimKind::DoNotRedo),
        Section::Decisions if binds(text) => Some(ClaimKind::Constraint),
        Section::Decisions => Some(ClaimKind::Decision),
        Section::Other if told || text.ends_with('?') => None,
        Section::Other if dead => Some(ClaimKind::DeadEnd),
        Section::Other if has("decided|decision|we chose|i chose|opted for|we settled on") => {
            Some(ClaimKind::Decision)
        }
        Section::Other
            if has("still need|still to |remains to|left to do|todo|next step|not yet |yet to be") =>
        {
            Some(ClaimKind::Remaining)
        }
        Section::Other if has("constraint") || binds(text) => Some(ClaimKind::Constraint),
        Section::Other => None,
    }
}

fn binds(text: &str) -> bool {
    let all: Vec<String> = words(text).into_iter().map(Word::bare).collect();
    let binding = ["must", "never", "always", "mustn't", "forbidden", "mandatory"];
    all.iter().any(|word| binding.contains(&word.as_str()))
        || all.windows(2).any(|pair| {
            ["may", "at"].contains(&pair[0].as_str()) && ["not", "most", "least"].contains(&pair[1].as_str())
        })
}
