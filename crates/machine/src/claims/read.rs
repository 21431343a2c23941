//! From an agent's text to claims, only where they are unambiguous: fields of a report, items below headings, and plain
//! sentences. The rest is sorted by its heading for the next session and claims nothing.

use std::collections::BTreeMap;

use super::fields::{self, Field, field};
use super::report::cut_reports;
use super::statements::{Place, statements};
use super::words::Word;
use super::{Claim, ClaimKind};
use crate::checkpoint::{Heading, Unit, heading, parse, sorted, units};

/// What an agent's text claims: a checkpoint, tagged or not, or its last words. A report is cut out first and read by its
/// fields.
pub fn claims(text: &str) -> Vec<Claim> {
    let (text, mut found) = cut_reports(&parse(text).text);
    let mut titles = Titles::default();
    for unit in units(&text, fields::is_line) {
        for kind in kinds(&unit, &mut titles) {
            found.push(Claim { kind, text: unit.text.clone(), section: unit.section().map(str::to_owned) });
        }
    }
    found
}

/// Titles that were looked up before: the items of a list share theirs.
#[derive(Default)]
struct Titles(BTreeMap<String, Heading>);

impl Titles {
    fn heading(&mut self, title: Option<&str>) -> Heading {
        let Some(title) = title else { return Heading::Other };
        *self.0.entry(title.to_owned()).or_insert_with(|| match field(title) {
            Some(Field::Files(Some(change))) => Heading::Files(change),
            Some(Field::Commits) => Heading::Commits,
            Some(Field::Files(None) | Field::Checks) | None => heading(title),
        })
    }
}

fn kinds(unit: &Unit, titles: &mut Titles) -> Vec<ClaimKind> {
    if let Some(found) = fields::of_line(&unit.text).filter(|_| unit.ticked != Some(false)) {
        return found;
    }
    let heading = below(unit, titles);
    let answer = unit.text.rsplit_once(':').map_or(unit.text.as_str(), |(_, answer)| answer);
    if unit.text.ends_with(':') || is_none(&unit.text) || is_none(answer) {
        return Vec::new();
    }
    let place = match heading {
        Heading::Files(change) => Place::Files(change),
        Heading::Commits => Place::Commits,
        Heading::Done | Heading::Checks if unit.list => Place::Finished,
        Heading::Done | Heading::Checks | Heading::DoNotRedo | Heading::Decisions | Heading::Other => {
            Place::Prose
        }
        Heading::Remaining
        | Heading::Constraints
        | Heading::DeadEnds
        | Heading::Failures
        | Heading::Rules
        | Heading::Talk => return sorted(&unit.text, heading, false).into_iter().collect(),
    };
    let mut found =
        statements(&unit.text, if place == Place::Prose && unit.list { Place::Item } else { place });
    let finished = matches!(heading, Heading::Done | Heading::Files(_) | Heading::Commits | Heading::Checks);
    if found.is_empty() && finished {
        let low = unit.text.to_lowercase();
        let open = low.starts_with("todo") || low.contains("not done") || low.contains("not yet");
        found.push(if open { ClaimKind::Remaining } else { ClaimKind::Done });
    }
    let rest = sorted(&unit.text, heading, !found.is_empty());
    found.extend(rest);
    found
}

// The words before a colon, then the line before the list, then the heading say what a sentence is part of; a box or
// a tick before it says more than any of them.
fn below(unit: &Unit, titles: &mut Titles) -> Heading {
    let label =
        unit.text.split_once(':').filter(|(l, rest)| l.split(' ').count() <= 3 && rest.starts_with(' '));
    let label = titles.heading(label.map(|(l, _)| l).filter(|l| !l.contains(['.', '/', '`'])));
    let lead = titles.heading(unit.lead.as_deref());
    let heading = titles.heading(unit.heading.as_deref());
    let above = if lead == Heading::Other { heading } else { lead };
    let all: Vec<&str> = unit.text.split_whitespace().collect();
    let ended = all.last().is_some_and(|last| {
        let marked =
            all.len() > 1 && (last.starts_with('(') || all[all.len() - 2].ends_with([':', '–', '—', '-']));
        matches!(*last, "✅" | "✓")
            || marked && ["done", "completed", "finished"].contains(&Word(last).bare().as_str())
    });
    match unit.ticked {
        Some(true) => return Heading::Done,
        Some(false) => return Heading::Remaining,
        None => {}
    }
    if above == Heading::Remaining && ended {
        return Heading::Done;
    }
    let told = matches!(
        above,
        Heading::Other | Heading::Done | Heading::Checks | Heading::Files(_) | Heading::Commits
    );
    if told && label != Heading::Other { label } else { above }
}

fn is_none(text: &str) -> bool {
    let word = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    "none|nothing|n/a|none yet|nothing yet|none so far|empty|".split('|').any(|none| none == word)
}
