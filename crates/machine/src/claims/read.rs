//! From an agent's text to claims: each sentence is read for files, checks and commits, and by its section.

use super::section::{Section, section};
use super::units::{Unit, units};
use super::{Claim, ClaimKind};
use crate::checkpoint::parse;

/// What an agent's text claims: a checkpoint, tagged or not, or its last words.
pub fn claims(text: &str) -> Vec<Claim> {
    let text = parse(text).text;
    let mut found: Vec<Claim> = Vec::new();
    for unit in units(&text) {
        for kind in kinds(&unit) {
            found.push(Claim { kind, text: unit.text.clone(), section: unit.section().map(str::to_owned) });
        }
    }
    found
}

// The line before a list says what the list is; a line that says nothing leaves it to the heading.
fn below(unit: &Unit) -> Section {
    let of = |title: &Option<String>| title.as_deref().map_or(Section::Other, section);
    let lead = of(&unit.lead);
    if lead == Section::Other { of(&unit.heading) } else { lead }
}

fn kinds(unit: &Unit) -> Vec<ClaimKind> {
    match below(unit) {
        Section::Done | Section::Files(_) | Section::Commits | Section::Checks => vec![ClaimKind::Done],
        Section::Remaining => vec![ClaimKind::Remaining],
        Section::Decisions => vec![ClaimKind::Decision],
        Section::Constraints => vec![ClaimKind::Constraint],
        Section::DeadEnds => vec![ClaimKind::DeadEnd],
        Section::DoNotRedo => vec![ClaimKind::DoNotRedo],
        Section::Failures => vec![ClaimKind::Failure],
        Section::Rules => vec![ClaimKind::Rule],
        Section::Talk | Section::Other => Vec::new(),
    }
}

/// Every sentence of a text that is not code or quotation, as said.
pub(crate) fn sentences(text: &str) -> Vec<String> {
    units(text).into_iter().map(|u| u.text).collect()
}
