//! Whether the work moved: a work tree not seen before, a new commit, a gate newly green, an item closed.
//!
//! Items are closed by the agent's word alone. Where there are files to judge by, that word carries a run over only so
//! many handoffs in a row; then one of the others must show.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::WorkState;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Progress {
    trees: BTreeSet<String>,
    secrets: BTreeSet<String>,
    heads: BTreeSet<String>,
    /// Trees that a commit was seen with.
    committed: BTreeSet<String>,
    green: BTreeSet<String>,
    closed: u32,
    /// Something moved that does not depend on anybody's word.
    moved: bool,
    /// The agent closed an item.
    claimed: bool,
    /// Work was saved with the hash of its files.
    sees_files: bool,
    /// Handoffs in a row for which nothing but closed items speaks.
    on_claims: u32,
}

impl Progress {
    pub(super) fn base(&mut self, tree: Option<&str>, secrets: Option<&str>, head: Option<&str>) {
        self.secrets.extend(secrets.map(str::to_owned));
        self.trees.extend(tree.map(str::to_owned));
        self.heads.extend(head.map(str::to_owned));
        self.committed.extend(tree.filter(|_| head.is_some()).map(str::to_owned));
    }

    /// Whether the files or the history are such as were not seen before.
    pub(super) fn work(&mut self, work: &WorkState) -> bool {
        // A commit that segue itself made says no more than the tree in it.
        self.heads.extend(work.commit.clone());
        self.sees_files |= work.tree.is_some();
        let tree = work.tree.as_ref().is_some_and(|t| self.trees.insert(t.clone()));
        let secret = work.secrets.as_ref().is_some_and(|secrets| self.secrets.insert(secrets.clone()));
        let tree = tree || secret;
        let head = work.head.as_ref().is_some_and(|h| self.heads.insert(h.clone()));
        // Committing an edit and then its undoing is as little as editing and reverting.
        let commit = head && work.tree.as_ref().is_none_or(|tree| self.committed.insert(tree.clone()));
        self.moved |= tree || commit;
        tree || commit
    }

    /// Whether it is green for the first time.
    pub(super) fn gate_green(&mut self, gate: &str) -> bool {
        let first = self.green.insert(gate.to_owned());
        self.moved |= first;
        first
    }

    /// Whether this many closed items are more than ever before.
    pub(super) fn closed(&mut self, closed: u32) -> bool {
        let more = closed > self.closed;
        self.closed = self.closed.max(closed);
        self.claimed |= more;
        more
    }

    /// Whether anything moved since the last time this was asked; closed items alone count `most` times in a row.
    pub(super) fn take(&mut self, most: u32) -> bool {
        let (moved, claimed) = (std::mem::take(&mut self.moved), std::mem::take(&mut self.claimed));
        if moved {
            self.on_claims = 0;
            return true;
        }
        // Without the files there is nothing else to judge by.
        if !claimed || !self.sees_files {
            return claimed;
        }
        self.on_claims += 1;
        self.on_claims <= most
    }

    /// What has moved so far is where the run begins.
    pub(super) fn settle(&mut self) {
        (self.moved, self.claimed) = (false, false);
    }

    /// Somebody has looked: the agent's word counts anew.
    pub(super) fn trust(&mut self) {
        self.on_claims = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = 3;

    fn tree(hash: &str) -> WorkState {
        WorkState { tree: Some(hash.to_owned()), ..WorkState::default() }
    }

    fn with_head(hash: &str, head: &str) -> WorkState {
        WorkState { head: Some(head.to_owned()), ..tree(hash) }
    }

    #[test]
    fn t8_editing_and_reverting_is_no_progress() {
        let mut progress = Progress::default();
        progress.base(Some("a"), None, None);
        progress.work(&tree("b"));
        assert!(progress.take(MOST));
        for hash in ["a", "b", "a", "b"] {
            progress.work(&tree(hash));
            assert!(!progress.take(MOST), "{hash}");
        }
    }

    #[test]
    fn t8_committing_an_edit_and_its_undoing_is_progress_once() {
        let mut progress = Progress::default();
        progress.base(Some("a"), None, Some("h0"));
        for (hash, head, moved) in
            [("b", "h0", true), ("b", "h1", true), ("a", "h2", false), ("b", "h3", false), ("c", "h4", true)]
        {
            progress.work(&with_head(hash, head));
            assert_eq!(progress.take(MOST), moved, "{head}");
        }
    }

    #[test]
    fn s4_a_secret_file_that_changed_is_progress_once() {
        let mut progress = Progress::default();
        progress.base(Some("a"), Some("s0"), None);
        let seen = ["s0", "s1", "s1", "s0"]
            .map(|secrets| progress.work(&WorkState { secrets: Some(secrets.to_owned()), ..tree("a") }));
        assert_eq!(seen, [false, true, false, false]);
    }

    #[test]
    fn a_commit_of_segues_own_is_no_progress_beside_its_tree() {
        let mut progress = Progress::default();
        progress.base(Some("a"), None, Some("h0"));
        for (hash, head, moved) in [("b", "ours1", true), ("a", "ours2", false), ("b", "ours3", false)] {
            progress.work(&WorkState { commit: Some(head.to_owned()), ..with_head(hash, head) });
            assert_eq!(progress.take(MOST), moved, "{head}");
        }
    }

    #[test]
    fn an_item_reopened_and_closed_again_is_no_progress() {
        let mut progress = Progress::default();
        assert!(progress.closed(2) && progress.take(MOST));
        assert!(!progress.closed(1) && !progress.closed(2) && !progress.take(MOST));
    }

    #[test]
    fn items_that_are_only_claimed_count_for_so_many_handoffs_in_a_row() {
        let mut progress = Progress::default();
        progress.base(Some("a"), None, None);
        let mut counts = (1..=5).map(|closed| {
            progress.closed(closed);
            progress.work(&tree("a"));
            progress.take(MOST)
        });
        assert_eq!(counts.by_ref().collect::<Vec<_>>(), [true, true, true, false, false]);
        progress.work(&tree("b"));
        assert!(
            progress.take(MOST) && progress.closed(6) && progress.take(MOST),
            "a new tree gives them weight again"
        );
    }

    #[test]
    fn without_a_repository_closed_items_are_all_there_is() {
        let mut progress = Progress::default();
        assert!((1..=9).all(|closed| progress.closed(closed) && progress.take(MOST)));
    }
}
