//! The run's memory over all its sessions: what was said once stays until evidence or a newer word takes it back.
//!
//! [`Ledger::merge`] takes judged claims in, [`Ledger::render`] writes what the next session is told, within a budget.
//! A summary that forgets something changes nothing here. The ledger never asks the world; results are handed in.

mod conflict;
mod facts;
mod index;
mod item;
mod memory;
mod merge;
mod render;
mod rules;
mod sketch;
mod table;

use serde::{Deserialize, Serialize};

pub use item::{Category, Conflict, Item, Origin, State};
pub use memory::{Memory, compose};
pub use render::Rendered;

use index::Index;

/// The run's memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ledger {
    /// Everything that was ever taken in, in the order of arrival.
    items: Vec<Item>,
    /// Where items came from; items refer to it by position.
    origins: Vec<Origin>,
    /// What contradicted each other, and how that was resolved.
    conflicts: Vec<Conflict>,
    #[serde(skip)]
    index: Index,
}

impl Ledger {
    /// Everything that was ever taken in, in the order of arrival.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// What contradicted each other, and how that was resolved.
    pub fn conflicts(&self) -> &[Conflict] {
        &self.conflicts
    }

    /// Where an item was said first.
    pub fn origin(&self, item: &Item) -> Option<&Origin> {
        self.origins.get(item.origin as usize)
    }

    /// Where an item was said last.
    pub fn seen(&self, item: &Item) -> Option<&Origin> {
        self.origins.get(item.seen as usize)
    }

    /// Whether nothing was taken in yet.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// A ledger with its index, which the order in which things were said has a part in: for the state of a run, which goes on
/// exactly as it stood.
pub(crate) mod whole {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Index, Ledger};

    pub(crate) fn serialize<S: Serializer>(ledger: &Ledger, to: S) -> Result<S::Ok, S::Error> {
        (ledger, &ledger.index).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Ledger, D::Error> {
        let (ledger, index) = <(Ledger, Index)>::deserialize(from)?;
        Ok(Ledger { index, ..ledger })
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
