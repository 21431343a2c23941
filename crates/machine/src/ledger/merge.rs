//! Taking judged claims in. What a newer summary does not mention stays; only evidence or a newer word takes it back.

use super::sketch::sketch;
use super::{Category, Item, Ledger, Origin, State};
use crate::claims::{ClaimKind, Finding, Judged};

/// Something to be taken in.
pub(super) struct Entry<'a> {
    pub(super) category: Category,
    pub(super) text: &'a str,
    pub(super) weight: u8,
    pub(super) evidence: &'a str,
}

impl Ledger {
    /// Takes in what a checkpoint says, sentence by sentence. The same checkpoint a second time changes nothing.
    pub fn merge(&mut self, judged: &[Judged], from: &Origin) {
        if from.checkpoint.is_some() && self.origins.contains(from) {
            return;
        }
        self.index.catch_up(&self.items);
        let origin = self.from(from);
        self.items.reserve(judged.len());
        self.index.reserve(judged.len());
        let mut rest = judged;
        while let Some(first) = rest.first() {
            let said =
                |j: &Judged| j.claim.text == first.claim.text && j.claim.section == first.claim.section;
            let mates = rest.iter().take_while(|j| said(j)).count();
            let (sentence, after) = rest.split_at(mates);
            self.sentence(sentence, origin);
            rest = after;
        }
    }

    // A sentence may claim several things; one that is not so makes the sentence unfit to be kept.
    fn sentence(&mut self, sentence: &[Judged], origin: u32) {
        let Some(first) = sentence.first() else { return };
        let (named, text) = self.named_items(&first.claim.text);
        let text = text.as_ref();
        if let Some(lie) = sentence.iter().find(|j| j.finding == Finding::Contradicted) {
            self.contradict(text, &lie.evidence);
            return;
        }
        let proof = sentence.iter().find(|j| j.finding == Finding::Confirmed);
        let (weight, evidence) = proof.map_or((0, ""), |j| (2, j.evidence.as_str()));
        let mut kept: Option<Category> = None;
        for one in sentence {
            let Some(category) = category(&one.claim.kind) else {
                self.tests_pass(one, origin);
                continue;
            };
            if kept == Some(category) {
                continue;
            }
            kept = Some(category);
            let said = sketch(category, text);
            let meant = self.meant(&named, category, &said);
            let entry = Entry { category, text, weight, evidence };
            if category == Category::Remaining
                && let Some(at) = meant.first()
            {
                // Other words under its id are no fuller account of it.
                self.again(*at, &Entry { text: "", ..entry }, origin);
                continue;
            }
            let closed = if category == Category::Done && self.index.has_open() {
                self.close_what_is_done(&meant, &said, &entry, origin)
            } else {
                None
            };
            let at = self.take_in(&entry, origin);
            if let Some(item) = self.items.get_mut(at as usize) {
                item.closes = closed.or(item.closes);
            }
        }
    }

    /// The position of an origin, which is added when it is new.
    pub(super) fn from(&mut self, from: &Origin) -> u32 {
        let known = self.origins.iter().rposition(|o| o == from);
        let at = known.unwrap_or_else(|| {
            self.origins.push(from.clone());
            self.origins.len() - 1
        });
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    /// Adds an entry, or notes that it was said again. Gives the item's position.
    pub(super) fn take_in(&mut self, entry: &Entry<'_>, origin: u32) -> u32 {
        if let Some(at) = self.index.exactly(entry.category, entry.text) {
            self.again(at, entry, origin);
            return at;
        }
        let sketch = sketch(entry.category, entry.text);
        if let Some(at) = self.index.alike(entry.category, &sketch) {
            self.again(at, entry, origin);
            return at;
        }
        let at = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
        let rival = self.rival(entry.category, &sketch);
        self.items.push(Item {
            id: id(entry.category, sketch.key),
            category: entry.category,
            text: entry.text.to_owned(),
            origin,
            seen: origin,
            times: 1,
            weight: entry.weight,
            evidence: entry.evidence.to_owned(),
            state: State::Open,
            gate: None,
            name: None,
            closes: None,
            was: None,
        });
        self.index.add(entry.category, sketch);
        if let Some(rival) = rival {
            self.settle(at, rival, origin);
        }
        at
    }

    fn again(&mut self, at: u32, entry: &Entry<'_>, origin: u32) {
        let Some(item) = self.items.get_mut(at as usize) else { return };
        if item.seen != origin {
            item.seen = origin;
            item.times = item.times.saturating_add(1);
        }
        if entry.weight >= item.weight && !entry.evidence.is_empty() {
            item.weight = entry.weight;
            entry.evidence.clone_into(&mut item.evidence);
        }
        if entry.text.len() > item.text.len() && item.name.is_none() {
            entry.text.clone_into(&mut item.text);
        }
        match &item.state {
            State::Open => {}
            State::Contradicted { .. } if entry.weight < 2 => {}
            State::Superseded { .. } => self.settle_again(at, entry.weight, origin),
            State::Contradicted { .. } | State::SaidDone { .. } | State::Closed { .. } => {
                self.reopen(at, origin)
            }
        }
    }
}

/// The category of a claim; a passing test is none, it only closes failures.
fn category(kind: &ClaimKind) -> Option<Category> {
    match kind {
        ClaimKind::Done | ClaimKind::File { .. } | ClaimKind::Committed { .. } => Some(Category::Done),
        ClaimKind::TestsPass { .. } | ClaimKind::Count { .. } => None,
        ClaimKind::Decision => Some(Category::Decision),
        ClaimKind::Constraint => Some(Category::Constraint),
        ClaimKind::DeadEnd => Some(Category::DeadEnd),
        ClaimKind::Failure => Some(Category::Failure),
        ClaimKind::Remaining => Some(Category::Remaining),
        ClaimKind::DoNotRedo => Some(Category::DoNotRedo),
        ClaimKind::Rule => Some(Category::Rule),
    }
}

fn id(category: Category, key: u64) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let letter = match category {
        Category::Rule => 'r',
        Category::Constraint => 'c',
        Category::Decision => 'd',
        Category::Failure => 'f',
        Category::DeadEnd => 'e',
        Category::Remaining => 't',
        Category::DoNotRedo => 'n',
        Category::Done => 'w',
    };
    let mut id = String::with_capacity(13);
    id.push(letter);
    id.extend((0..12).map(|n| char::from(DIGITS[((key >> (4 * n)) & 15) as usize])));
    id
}
