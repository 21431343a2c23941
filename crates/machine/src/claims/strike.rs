//! Taking what is not so out of an agent's words, and marking what nobody could check. The rest stays as it was said.

use std::collections::BTreeMap;
use std::ops::Range;

use super::fields::is_line;
use super::{Finding, Judged};
use crate::checkpoint::{Unit, parse, units};

/// What stands behind a claim that nothing could confirm or contradict.
const MARK: &str = " (unverified)";

/// The checkpoint's text as it may be passed on: what is contradicted is taken out sentence by sentence, what is
/// checkable and was not settled is marked, everything else is verbatim.
pub fn strike(text: &str, judged: &[Judged]) -> String {
    let text = parse(text).text;
    let mut by: BTreeMap<(&str, Option<&str>), Vec<&Judged>> = BTreeMap::new();
    for one in judged {
        by.entry((one.claim.text.as_str(), one.claim.section.as_deref())).or_default().push(one);
    }
    let units = units(&text, is_line);
    let fate = |unit: &Unit| {
        let found = by.get(&(unit.text.as_str(), unit.section())).map_or(&[][..], Vec::as_slice);
        Fate::of(found)
    };
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut rest = units.as_slice();
    while let Some(first) = rest.first() {
        let mates = rest.iter().take_while(|u| u.block == first.block).count();
        let (block, after) = rest.split_at(mates);
        let fates: Vec<Fate> = block.iter().map(fate).collect();
        if fates.iter().all(|f| matches!(f, Fate::Gone)) {
            edits.push((first.block.clone(), String::new()));
        } else {
            edits.extend(block.iter().zip(fates).filter_map(|(unit, fate)| fate.edit(unit, &text)));
        }
        rest = after;
    }
    apply(&text, &edits)
}

enum Fate {
    Stays,
    Marked,
    Gone,
}

impl Fate {
    fn of(found: &[&Judged]) -> Self {
        let has = |finding| found.iter().any(|j| j.finding == finding && j.claim.kind.checkable());
        if !has(Finding::Contradicted) {
            return if has(Finding::Unknown) { Self::Marked } else { Self::Stays };
        }
        Self::Gone
    }

    fn edit(self, unit: &Unit, text: &str) -> Option<(Range<usize>, String)> {
        match self {
            Self::Stays => None,
            Self::Marked => {
                let words = &text[unit.range.clone()];
                let stop = words.trim_end_matches(['.', '!', '。']);
                let at = unit.range.start + stop.len();
                Some((at..at, MARK.to_owned()))
            }
            Self::Gone => {
                let gap = text[unit.range.end..].len()
                    - text[unit.range.end..].trim_start_matches([' ', '\t']).len();
                Some((unit.range.start..unit.range.end + gap, String::new()))
            }
        }
    }
}

fn apply(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (range, words) in edits {
        out.push_str(&text[from..range.start]);
        out.push_str(words);
        from = range.end;
    }
    out.push_str(&text[from..]);
    out
}
