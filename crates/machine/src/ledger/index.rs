//! Finding an item of the ledger by its words, without looking at the others. Made from the items; never stored.

use std::collections::BTreeMap;

use super::sketch::{Sketch, sketch};
use super::{Category, Item};

// Words that many items share tell little: no more than this many items are compared under one word.
const LOOK_AT: usize = 16;

/// Where items are, by their words.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    sketches: Vec<Sketch>,
    exact: BTreeMap<u64, u32>,
    filed: BTreeMap<(Category, u64), Vec<u32>>,
    bare: BTreeMap<u64, u32>,
    shapes: BTreeMap<u64, u32>,
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
            self.add(item.category, sketch(item.category, &item.text));
        }
    }

    /// Takes in the next item.
    pub(super) fn add(&mut self, category: Category, sketch: Sketch) {
        let at = u32::try_from(self.sketches.len()).unwrap_or(u32::MAX);
        self.exact.insert(sketch.key, at);
        for word in sketch.filed() {
            self.filed.entry((category, *word)).or_default().push(at);
        }
        if matches!(category, Category::Rule | Category::Constraint | Category::Decision) {
            self.bare.insert(sketch.bare, at);
            if let Some(shape) = sketch.shape {
                self.shapes.insert(shape, at);
            }
        }
        self.sketches.push(sketch);
    }

    pub(super) fn sketch(&self, at: u32) -> Option<&Sketch> {
        self.sketches.get(at as usize)
    }

    /// The item that says the same: in the same words, or surely the same in others.
    pub(super) fn same(&self, category: Category, wanted: &Sketch) -> Option<u32> {
        if let Some(at) = self.exact.get(&wanted.key) {
            return Some(*at);
        }
        let mut close = wanted.filed().iter().filter_map(|word| self.filed.get(&(category, *word)));
        close.find_map(|found| {
            found
                .iter()
                .rev()
                .take(LOOK_AT)
                .copied()
                .find(|at| self.sketch(*at).is_some_and(|s| s.same(wanted)))
        })
    }

    /// Items of a category of which `wanted` says every word.
    pub(super) fn within(&self, category: Category, wanted: &Sketch) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        for word in &wanted.tokens {
            let Some(filed) = self.filed.get(&(category, *word)) else { continue };
            let fits = |at: &u32| {
                self.sketch(*at).is_some_and(|s| s.tokens.first() == Some(word) && s.within(wanted))
            };
            found.extend(filed.iter().rev().take(LOOK_AT).copied().filter(fits));
        }
        found
    }

    /// The item that says the opposite.
    pub(super) fn opposite(&self, wanted: &Sketch) -> Option<u32> {
        let at = *self.bare.get(&wanted.bare)?;
        let other = self.sketch(at)?;
        (other.negated != wanted.negated && other.tokens == wanted.tokens).then_some(at)
    }

    /// The item that gives the same name another value.
    pub(super) fn other_value(&self, wanted: &Sketch) -> Option<u32> {
        let at = *self.shapes.get(&wanted.shape?)?;
        let other = self.sketch(at)?;
        (other.negated == wanted.negated && other.key != wanted.key).then_some(at)
    }

    /// Makes the item the one that is found by its bare words and its shape.
    pub(super) fn stands(&mut self, at: u32) {
        let Some(sketch) = self.sketches.get(at as usize) else { return };
        self.bare.insert(sketch.bare, at);
        if let Some(shape) = sketch.shape {
            self.shapes.insert(shape, at);
        }
    }
}
