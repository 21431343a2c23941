//! Evidence that nobody rewrote a plan's state: a hash over each change and all before it, the last one of which is put down
//! in the user's state folder whenever the plan changes. What the plan was asked for (gates and limits among its flags) is
//! covered by a hash of its own.

use std::path::Path;

use segue_journal::Link;
use serde_json::Value;

use crate::anchor::{Anchor, Anchors, ELSEWHERE, Trust};

/// What stands between a change and its link.
const LINK: &[u8] = b",\"chain\":\"";

/// The chain of one plan, up to what was read or written last.
#[derive(Debug)]
pub(super) struct Chain {
    anchors: Option<Anchors>,
    plan: String,
    anchor: Option<Anchor>,
    here: String,
    /// The place where the last change was anchored, for the next one to say.
    place: Option<String>,
    link: Link,
    /// Whether links stand beside the changes: those of older versions have none.
    linked: bool,
    /// The last change of which a later one says that it was anchored here.
    noted: u64,
    wrong: Option<String>,
}

impl Chain {
    /// Before the first change of the plan in a folder.
    pub(super) fn of(dir: &Path) -> Self {
        let plan = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        #[cfg(not(test))]
        let anchors = Anchors::of_user();
        #[cfg(test)]
        let anchors = Some(Anchors::at(&dir.join("anchors")));
        let (anchor, here) = anchors.as_ref().map(|anchors| anchors.find(&plan)).unwrap_or_default();
        let link = Link { seq: 0, hash: *blake3::hash(plan.as_bytes()).as_bytes() };
        Self { anchors, plan, anchor, here, place: None, link, linked: false, noted: 0, wrong: None }
    }

    /// Takes in a change that was read: its line, and what that says.
    pub(super) fn read(&mut self, line: &[u8], record: &Value) {
        let line = line.trim_ascii_end();
        let (change, stored) = match line.windows(LINK.len()).rposition(|part| part == LINK) {
            Some(at) => (&line[..at], line[at + LINK.len()..].strip_suffix(b"\"}")),
            None => (line.strip_suffix(b"}").unwrap_or(line), None),
        };
        let seq = record["seq"].as_u64().unwrap_or_default();
        let (expected, next) = (self.link.seq + 1, self.next(seq, change));
        let wrong = |what: &str| Some(format!("change {seq}: {what}"));
        let found = match stored {
            _ if seq != expected => wrong("an earlier change is missing"),
            Some(stored) if stored != next.hex().as_bytes() => wrong("it was changed after segue wrote it"),
            None if self.linked => wrong("it was added outside segue"),
            _ if self.anchor.as_ref().is_some_and(|anchor| anchor.seq == seq && anchor.hash != next.hash) => {
                wrong("it, or a change before it, was replaced")
            }
            _ => None,
        };
        self.wrong = self.wrong.take().or(found);
        self.linked |= stored.is_some();
        if record["anchored"].as_str().is_some_and(|place| !place.is_empty() && place == self.here) {
            self.noted = seq.saturating_sub(1);
        }
        self.link = next;
    }

    /// How the plan stands against what was put down; `flags` is the seal of its flags, which one that is over has no more.
    pub(super) fn trust(&self, flags: Option<&str>, over: bool) -> Trust {
        let Self { anchor, wrong, link, noted, .. } = self;
        if let Some(wrong) = wrong {
            return Trust::Broken(wrong.clone());
        }
        let Some(anchor) = anchor else {
            let removed = || Trust::Broken("its anchor in your state folder was removed".to_owned());
            return if *noted > 0 { removed() } else { Trust::Unknown(ELSEWHERE.to_owned()) };
        };
        if anchor.seq > link.seq {
            return Trust::Broken(format!("changes up to {} are missing at the end", anchor.seq));
        }
        if anchor.seq < *noted {
            let old = anchor.seq;
            return Trust::Broken(format!(
                "its anchor is of change {old}, and there was one of change {noted}"
            ));
        }
        let broken = |what: &str| {
            Trust::Broken(format!("the flags that it was started with (flags.json) were {what}"))
        };
        match (anchor.private.as_deref(), flags) {
            (Some(sealed), Some(flags)) if sealed != flags => broken("changed"),
            (Some(_), None) if !over => broken("removed"),
            // Flags without a seal are those of a plan that was killed before its first phase began.
            _ => Trust::Whole,
        }
    }

    /// The line of a change, with its link.
    pub(super) fn line(&mut self, seq: u64, mut record: Value) -> Vec<u8> {
        if let Some(place) = &self.place {
            record["anchored"] = place.as_str().into();
        }
        let mut line = record.to_string().into_bytes();
        line.pop();
        self.link = self.next(seq, &line);
        line.extend([LINK, self.link.hex().as_bytes(), b"\"}\n"].concat());
        line
    }

    /// Puts down how the plan stands. It goes on without: whoever resumes it is told.
    pub(super) fn anchor(&mut self, flags: Option<String>) {
        let anchor =
            Anchor { run: self.plan.clone(), seq: self.link.seq, hash: self.link.hash, private: flags };
        self.place = self.anchors.as_ref().and_then(|anchors| anchors.put(&anchor).ok());
    }

    /// The length of a text before the text: no two lists of texts are hashed alike.
    fn next(&self, seq: u64, change: &[u8]) -> Link {
        let mut hash = blake3::Hasher::new();
        hash.update(&self.link.hash).update(&seq.to_le_bytes());
        hash.update(&(change.len() as u64).to_le_bytes()).update(change);
        Link { seq, hash: *hash.finalize().as_bytes() }
    }
}
