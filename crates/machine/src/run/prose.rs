//! What the agent said and what is known of its tools, kept for a checkpoint that nobody else could write.
//!
//! Bounded: the newest words survive. Nothing here reads what they mean.

use serde::{Deserialize, Serialize};

use super::{CheckpointRef, Message, Run, ToolDone, View};
use crate::{CheckpointBy, SessionReason};

/// What is known of a tool call beside its title.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Described {
    pub(super) reads: bool,
    exit: Option<i32>,
    last_line: Option<String>,
}

impl Described {
    pub(super) fn of(self, done: ToolDone) -> ToolDone {
        ToolDone { reads: self.reads, exit: self.exit, last_line: self.last_line, ..done }
    }
}

impl Run {
    pub(super) fn keep_message(&mut self, session: u32, text: &str) {
        let helps = self.view.session.as_ref().is_some_and(|s| s.reason == SessionReason::Helper);
        if helps || text.trim().is_empty() {
            return;
        }
        self.view.messages += 1;
        self.keep_volunteered(text);
        self.prose_chars += text.chars().count();
        self.view.prose.push_back(Message { n: self.view.messages, session, text: text.to_owned() });
        while self.prose_chars > View::PROSE_KEPT {
            self.forget_oldest();
        }
    }

    pub(super) fn describe_tool(&mut self, tool: &str, reads: bool, exit: Option<i32>, last: Option<&str>) {
        let runs = self.view.session.as_ref().is_some_and(|s| s.tools.contains_key(tool));
        if runs {
            let described = Described { reads, exit, last_line: last.map(str::to_owned) };
            self.described.insert(tool.to_owned(), described);
        }
    }

    /// A checkpoint is on disk: what the agent said before it wrote it is in its own words there.
    pub(super) fn checkpoint_stands(&mut self, checkpoint: CheckpointRef) {
        if checkpoint.by == CheckpointBy::Agent {
            while self.view.prose.front().is_some_and(|message| message.n <= self.covered) {
                self.forget_oldest();
            }
            self.view.checkpoint_by_agent = Some(checkpoint.clone());
        }
        self.view.checkpoint = Some(checkpoint);
    }

    fn forget_oldest(&mut self) {
        match self.view.prose.pop_front() {
            Some(oldest) => self.prose_chars = self.prose_chars.saturating_sub(oldest.text.chars().count()),
            None => self.prose_chars = 0,
        }
    }
}
