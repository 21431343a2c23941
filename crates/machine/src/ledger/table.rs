//! A table from numbers to positions. The same entries give the same answers in every run: nothing in it is random.
//! It keeps half of each number, so whoever asks looks whether what is found is what was meant.

use serde::{Deserialize, Serialize};

const EMPTY: u32 = u32::MAX;

/// Positions by number; a number may have several.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Table {
    /// A power of two of slots, at most three of four used; an entry is in the first free slot from its number on.
    slots: Vec<(u32, u32)>,
    used: usize,
}

impl Table {
    /// Adds a position.
    pub(super) fn add(&mut self, key: u64, at: u32) {
        self.reserve(1);
        self.put(half(key), at);
    }

    /// Adds a position unless its number has that many already.
    pub(super) fn add_few(&mut self, key: u64, at: u32, most: usize) {
        if self.all(key).take(most).count() < most {
            self.add(key, at);
        }
    }

    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, more: usize) {
        let needed = ((self.used + more) * 4 / 3 + 1).next_power_of_two().max(64);
        if needed > self.slots.len() {
            let old = std::mem::replace(&mut self.slots, vec![(0, EMPTY); needed]);
            self.used = 0;
            old.into_iter().filter(|(_, at)| *at != EMPTY).for_each(|(key, at)| self.put(key, at));
        }
    }

    fn put(&mut self, key: u32, at: u32) {
        let mut slot = self.slot(key);
        while self.slots[slot].1 != EMPTY {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = (key, at);
        self.used += 1;
    }

    /// Makes a position the only one of its number.
    pub(super) fn set(&mut self, key: u64, at: u32) {
        if !self.slots.is_empty() {
            let key = half(key);
            let mut slot = self.slot(key);
            while self.slots[slot].1 != EMPTY {
                if self.slots[slot].0 == key {
                    self.slots[slot].1 = at;
                    return;
                }
                slot = (slot + 1) & (self.slots.len() - 1);
            }
        }
        self.add(key, at);
    }

    /// The positions of a number.
    pub(super) fn all(&self, key: u64) -> impl Iterator<Item = u32> {
        let key = half(key);
        let from = if self.slots.is_empty() { 0 } else { self.slot(key) };
        let around = self.slots[from..].iter().chain(&self.slots[..from]);
        around.take_while(|(_, at)| *at != EMPTY).filter(move |(k, _)| *k == key).map(|(_, at)| *at)
    }

    /// The position that a number was given last.
    pub(super) fn last(&self, key: u64) -> Option<u32> {
        self.all(key).max()
    }

    /// Whether nothing was added.
    pub(super) fn is_empty(&self) -> bool {
        self.used == 0
    }

    fn slot(&self, key: u32) -> usize {
        key as usize & (self.slots.len() - 1)
    }
}

fn half(key: u64) -> u32 {
    u32::try_from(key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_have_several_positions_or_one_that_is_set() {
        let mut table = Table::default();
        assert_eq!(table.last(7), None);
        (0..1_000).for_each(|n| table.add(u64::from(n % 10), n));
        assert_eq!(table.all(3).count(), 100);
        assert_eq!(table.last(3), Some(993));
        (0..100).for_each(|n| table.add_few(12, n, 16));
        assert_eq!(table.all(12).count(), 16);
        table.set(11, 1);
        table.set(11, 2);
        assert_eq!(table.all(11).collect::<Vec<_>>(), [2]);
    }
}
