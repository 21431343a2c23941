//! Finding an item of the ledger by its words, without looking at the others. Made from the items; never stored.

use serde::{Deserialize, Serialize};

use super::sketch::{Sketch, key, mix, sketch};
use super::table::Table;
use super::{Category, Item};

// Words that many items share tell little: no more than this many items are filed under one word.
const LOOK_AT: usize = 16;

/// Where items are, by their words.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Index {
    sketches: Vec<Sketch>,
    exact: Table,
    /// Under the words that a wording of the same thing must share, with its numbers and names.
    filed: Table,
    /// Remaining items and failures, under each of their words.
    open: Table,
    bare: Table,
    shapes: Table,
}

// Two ledgers are equal when their items are; the index follows from them.
impl PartialEq for Index {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Index {}

impl Index {
    /// Takes in the items that it does not know yet.
    pub(super) fn catch_up(&mut self, items: &[Item]) {
        for item in items.iter().skip(self.sketches.len()) {
            let said = item.name.as_deref().unwrap_or(&item.text);
            self.add(item.category, sketch(item.category, said));
        }
    }

    /// Takes in the next item.
    pub(super) fn add(&mut self, category: Category, sketch: Sketch) {
        let at = u32::try_from(self.sketches.len()).unwrap_or(u32::MAX);
        self.exact.add(sketch.key, at);
        for word in sketch.filed() {
            self.filed.add_few(filing(category, &sketch, *word), at, LOOK_AT);
        }
        for word in sketch.tokens.iter().filter(|_| can_be_closed(category)) {
            self.open.add_few(mix(category as u64, *word), at, LOOK_AT);
        }
        self.sketches.push(sketch);
        if matches!(category, Category::Rule | Category::Constraint | Category::Decision) {
            self.stands(at);
        }
    }

    /// The item that says exactly this.
    pub(super) fn exactly(&self, category: Category, text: &str) -> Option<u32> {
        self.by_key(key(category, text))
    }

    /// The item that surely says the same in other words.
    pub(super) fn alike(&self, category: Category, wanted: &Sketch) -> Option<u32> {
        wanted.filed().iter().find_map(|word| {
            let mut close = self.filed.all(filing(category, wanted, *word));
            close.find(|at| self.sketch(*at).is_some_and(|s| s.same(wanted)))
        })
    }

    /// The item that says the same: in the same words, or surely the same in others.
    pub(super) fn same(&self, category: Category, wanted: &Sketch) -> Option<u32> {
        self.by_key(wanted.key).or_else(|| self.alike(category, wanted))
    }

    /// Whether there is anything that finished work could close.
    pub(super) fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Items of a category of which `wanted` says every word.
    pub(super) fn within(&self, category: Category, wanted: &Sketch) -> Vec<u32> {
        let mut found = self.near(category, wanted);
        found.retain(|at| self.sketch(*at).is_some_and(|s| s.within(wanted)));
        found
    }

    /// The one of these items that is most like `wanted`, if no other is as much.
    pub(super) fn likest(&self, items: impl Iterator<Item = u32>, wanted: &Sketch) -> Option<u32> {
        let likeness = |at: u32| (self.sketch(at).map_or(0, |sketch| sketch.likeness(wanted)), at);
        let (mut best, mut next) = ((0, 0), 0);
        for found in items.map(likeness) {
            if found.0 > best.0 {
                (next, best) = (best.0, found);
            } else {
                next = next.max(found.0);
            }
        }
        (best.0 > next).then_some(best.1)
    }

    /// Items of a category that share a word with `wanted`.
    pub(super) fn near(&self, category: Category, wanted: &Sketch) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        for word in &wanted.tokens {
            found.extend(self.open.all(mix(category as u64, *word)));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether an item may be what is meant: neither names what the other does not.
    pub(super) fn may_be(&self, at: u32, wanted: &Sketch) -> bool {
        self.sketch(at).is_some_and(|sketch| !sketch.disagrees(wanted))
    }

    /// The item that says the opposite.
    pub(super) fn opposite(&self, wanted: &Sketch) -> Option<u32> {
        let at = self.bare.last(wanted.bare)?;
        let other = self.sketch(at)?;
        (other.negated != wanted.negated && other.tokens == wanted.tokens).then_some(at)
    }

    /// The item that gives the same name another value.
    pub(super) fn other_value(&self, wanted: &Sketch) -> Option<u32> {
        let at = self.shapes.last(wanted.shape?)?;
        let other = self.sketch(at)?;
        let same_name = other.shape == wanted.shape && other.negated == wanted.negated;
        (same_name && other.key != wanted.key).then_some(at)
    }

    /// Makes the item the one that is found by its bare words and its shape.
    pub(super) fn stands(&mut self, at: u32) {
        let Some(sketch) = self.sketches.get(at as usize) else { return };
        self.bare.set(sketch.bare, at);
        if let Some(shape) = sketch.shape {
            self.shapes.set(shape, at);
        }
    }

    /// Makes room for so many more items.
    pub(super) fn reserve(&mut self, more: usize) {
        self.sketches.reserve(more);
        self.exact.reserve(more);
        self.filed.reserve(more * 2);
    }

    fn by_key(&self, key: u64) -> Option<u32> {
        self.exact.all(key).find(|at| self.sketch(*at).is_some_and(|s| s.key == key))
    }

    fn sketch(&self, at: u32) -> Option<&Sketch> {
        self.sketches.get(at as usize)
    }
}

const fn can_be_closed(category: Category) -> bool {
    matches!(category, Category::Remaining | Category::Failure)
}

fn filing(category: Category, sketch: &Sketch, word: u64) -> u64 {
    mix(mix(category as u64, sketch.hard), word)
}
