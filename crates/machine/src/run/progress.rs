//! Whether the work moved: a work tree not seen before, a new commit, a gate newly green, an item closed.

use std::collections::BTreeSet;

use crate::WorkState;

#[derive(Debug, Clone, Default)]
pub(super) struct Progress {
    trees: BTreeSet<String>,
    heads: BTreeSet<String>,
    green: BTreeSet<String>,
    closed: u32,
    moved: bool,
}

impl Progress {
    pub(super) fn base(&mut self, tree: Option<&str>, head: Option<&str>) {
        self.trees.extend(tree.map(str::to_owned));
        self.heads.extend(head.map(str::to_owned));
    }

    pub(super) fn work(&mut self, work: &WorkState) {
        let tree = work.tree.as_ref().is_some_and(|t| self.trees.insert(t.clone()));
        let head = work.head.as_ref().is_some_and(|h| self.heads.insert(h.clone()));
        self.moved |= tree || head;
    }

    pub(super) fn gate_green(&mut self, gate: &str) {
        self.moved |= self.green.insert(gate.to_owned());
    }

    /// Whether this many closed items are more than ever before.
    pub(super) fn closed(&mut self, closed: u32) -> bool {
        let more = closed > self.closed;
        self.closed = self.closed.max(closed);
        self.moved |= more;
        more
    }

    /// Whether anything moved since the last time this was asked.
    pub(super) fn take(&mut self) -> bool {
        std::mem::take(&mut self.moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(hash: &str) -> WorkState {
        WorkState { tree: Some(hash.to_owned()), ..WorkState::default() }
    }

    #[test]
    fn t8_editing_and_reverting_is_no_progress() {
        let mut progress = Progress::default();
        progress.base(Some("a"), None);
        progress.work(&tree("b"));
        assert!(progress.take());
        for hash in ["a", "b", "a", "b"] {
            progress.work(&tree(hash));
            assert!(!progress.take(), "{hash}");
        }
    }

    #[test]
    fn an_item_reopened_and_closed_again_is_no_progress() {
        let mut progress = Progress::default();
        assert!(progress.closed(2) && progress.take());
        assert!(!progress.closed(1) && !progress.closed(2) && !progress.take());
    }
}
