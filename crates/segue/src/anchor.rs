//! Evidence that nobody rewrote a run: the last link of its journal's chain, put down in the user's state folder.
//!
//! What was asked for, gates and limits are in the journal's first event, so the link covers them; what the journal may
//! not hold (`private.rs`) is covered by a hash of its own. `plan/chain.rs` does the same for plans. An agent that runs as the same user can forge this, too, if it
//! knows of it: evidence, not protection.

use std::io;

use segue_journal::{Integrity, Journal, Link, Reader};
use segue_machine::Millis;
use serde::{Deserialize, Serialize};

use crate::private::Private;
use crate::run_state;
use crate::state::State;

/// Where the anchors lie in the user's state folder.
const FOLDER: &str = "anchors";

/// A run with more events than this is long: to look at all of them would be felt.
const LONG: u64 = 20_000;

/// What is said of a run or plan that has no anchor here.
pub(crate) const ELSEWHERE: &str = "it was started elsewhere, so segue cannot check whether it was changed";

/// How a run's journal or a plan's changes stood.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Anchor {
    pub(crate) run: String,
    pub(crate) seq: u64,
    pub(crate) hash: [u8; 32],
    /// The seal of what may be in no journal.
    pub(crate) private: Option<String>,
}

/// What is known of a run that somebody wants to go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trust {
    /// It is as it was left, but for what was added at its end.
    Whole,
    /// It fits together, and nothing here says how it was left.
    Unknown(String),
    /// It is not as it was left.
    Broken(String),
}

/// The anchors of a user.
#[derive(Debug, Clone)]
pub(crate) struct Anchors {
    state: State,
}

impl Anchors {
    /// In the user's state folder; `None` where there is no home.
    pub(crate) fn of_user() -> Option<Self> {
        State::of_user().map(|state| Self { state })
    }

    #[cfg(test)]
    pub(crate) fn at(dir: &std::path::Path) -> Self {
        Self { state: State::at(dir) }
    }

    /// Puts down how the run stands, for good. The journal is told afterwards, so it never knows of an anchor that is not
    /// there, not even after the power failed.
    pub(crate) fn set(&self, journal: &mut Journal, run: &str) -> io::Result<()> {
        let anchor = stands(journal, run)?;
        let place = self.put(&anchor)?;
        journal.set_anchored(run, anchor.seq, &place).map_err(io::Error::other)
    }

    /// Puts down how the run stands until the next time, where there is an anchor. Nothing waits for the disk: what a power
    /// failure takes of it was never relied on, because the journal is not told.
    pub(crate) fn follow(&self, journal: &mut Journal, run: &str) -> io::Result<()> {
        self.state.folder(FOLDER).overwrite(&name(run), &stands(journal, run)?)
    }

    /// Whether there is an anchor of the run.
    pub(crate) fn has(&self, run: &str) -> bool {
        self.state.folder(FOLDER).path(&name(run)).exists()
    }

    /// Puts down how a run or plan stands, for good, and returns what tells this place from others.
    pub(crate) fn put(&self, anchor: &Anchor) -> io::Result<String> {
        self.state.folder(FOLDER).write_durably(&name(&anchor.run), anchor)?;
        self.state.id()
    }

    /// The anchor of a run or plan, and what tells this place from others; nothing where none was put down.
    pub(crate) fn find(&self, run: &str) -> (Option<Anchor>, String) {
        let anchor = Some(self.state.folder(FOLDER).read::<Anchor>(&name(run))).filter(|a| a.run == run);
        (anchor, self.state.known_id())
    }

    /// The link that was put down of a run.
    pub(crate) fn link(&self, run: &str) -> Option<Link> {
        self.find(run).0.map(|anchor| Link { seq: anchor.seq, hash: anchor.hash })
    }

    /// Holds a run that is to continue against its anchor: all of it, or of a long one what follows its newest proven state.
    pub(crate) fn check_to_continue(&self, reader: &Reader, run: &str) -> segue_journal::Result<Trust> {
        if reader.last_seq(run)? > LONG
            && let Some(link) = self.link(run)
            && run_state::proven(reader, run, Some(&link), Millis::MAX)?.is_some()
        {
            return self.check_rest(reader, run);
        }
        self.check(reader, run)
    }

    /// Holds all of a run against its anchor.
    pub(crate) fn check(&self, reader: &Reader, run: &str) -> segue_journal::Result<Trust> {
        let link = self.link(run);
        if let Integrity::Broken { seq, what } = reader.verify(run, link.as_ref())? {
            return Ok(Trust::Broken(format!("event {seq}: {what}")));
        }
        self.check_rest(reader, run)
    }

    // The anchor itself, and what is in no journal.
    fn check_rest(&self, reader: &Reader, run: &str) -> segue_journal::Result<Trust> {
        let broken = |what: String| Ok(Trust::Broken(what));
        let (anchor, here) = self.find(run);
        let noted = reader.anchored(run)?;
        let Some(anchor) = anchor else {
            if noted.is_some_and(|(_, place)| place == here) {
                let folder = self.state.path(FOLDER);
                return broken(format!("its anchor was removed from {}", folder.display()));
            }
            return Ok(Trust::Unknown(ELSEWHERE.to_owned()));
        };
        if let Some((seq, _)) = noted.filter(|(seq, _)| *seq > anchor.seq) {
            let old = anchor.seq;
            return broken(format!(
                "its anchor is of event {old}, but there was one of event {seq}: it was replaced by an old one"
            ));
        }
        let private = reader.file(run).parent().and_then(Private::seal);
        if private.is_some() && private != anchor.private {
            return broken("private.json (the unredacted prompt) was changed".to_owned());
        }
        Ok(Trust::Whole)
    }
}

fn stands(journal: &mut Journal, run: &str) -> io::Result<Anchor> {
    let Link { seq, hash } = journal.link(run).map_err(io::Error::other)?;
    let private = journal.view().file(run).parent().and_then(Private::seal);
    Ok(Anchor { run: run.to_owned(), seq, hash, private })
}

fn name(run: &str) -> String {
    format!("{run}.json")
}

#[cfg(test)]
#[path = "anchor_tests.rs"]
mod tests;
