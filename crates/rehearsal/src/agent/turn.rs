//! One turn: from a prompt to its answer, one model call after the other.

use std::io;
use std::time::{Duration, Instant};

use serde_json::json;

use super::inbox::PromptCall;
use super::wire::Failure;
use super::{Agent, update};
use crate::brain::{self, Action, Belief};
use crate::context::Role;
use crate::script::{CheckpointHabit, Refusal};

/// Failures of steps in a row after which it gives up.
const PATIENCE: u32 = 3;

/// Why a turn ends early.
pub(super) enum Stop {
    Cancelled,
    Superseded,
    TooLong(u64),
    Refused,
    /// The provider refuses, for so many milliseconds where it says so.
    Provider(Refusal, Option<u64>),
    Exit(u8),
    Io(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Agent {
    /// Answers one prompt; an exit code when the agent is to end.
    pub(super) fn turn(&mut self, call: &PromptCall) -> io::Result<Option<u8>> {
        let cancelled = || json!({ "stopReason": "cancelled" });
        match self.work(call) {
            Ok(()) => self.wire.respond(&call.id, json!({ "stopReason": "end_turn" }))?,
            Err(Stop::Superseded) => self.wire.respond(&call.id, cancelled())?,
            Err(Stop::Cancelled) => {
                // A cancel means all that was asked for before it.
                self.wire.respond(&call.id, cancelled())?;
                while let Some(waiting) = self.queue.pop_front() {
                    self.wire.respond(&waiting.id, cancelled())?;
                }
            }
            Err(Stop::TooLong(tokens)) => {
                self.note(&format!("overflow {tokens}"))?;
                self.wire.fail(&call.id, Failure::too_long(tokens, self.script.window))?;
            }
            Err(Stop::Refused) => {
                self.wire.fail(&call.id, Failure::new(-32603, "a checkpoint cannot be written right now"))?;
            }
            Err(Stop::Provider(says, ms)) => self.wire.fail(&call.id, Failure::provider(says, ms))?,
            Err(Stop::Exit(code)) => return Ok(Some(code)),
            Err(Stop::Io(error)) => return Err(error),
        }
        Ok(None)
    }

    fn work(&mut self, call: &PromptCall) -> Result<(), Stop> {
        let id = call.session.as_str();
        self.remember(id, Role::Prompt, &call.text)?;
        if brain::asks_for_checkpoint(&call.text) {
            match self.script.checkpoint {
                CheckpointHabit::Answer => return self.call(id, &self.checkpoint(id, true)),
                CheckpointHabit::NoTags => return self.call(id, &self.checkpoint(id, false)),
                CheckpointHabit::RefuseError => return Err(Stop::Refused),
                CheckpointHabit::Ignore => {}
            }
        }
        let reply = self.script.replies.iter().find(|reply| call.text.contains(&reply.when));
        if let Some(say) = reply.map(|reply| reply.say.clone()) {
            return self.call(id, &say);
        }
        let mut failures = 0;
        let mut shown = false;
        loop {
            self.compact_if_due(id)?;
            let belief = self.belief(id);
            let action = belief.next();
            if let Action::Step(n) = action {
                self.refuse(id, n)?;
            }
            let said = if action == Action::Finished { self.last_words() } else { None };
            self.call(id, &said.unwrap_or_else(|| belief.sentence(action)))?;
            let Action::Step(n) = action else { return Ok(()) };
            if !shown {
                self.show_plan(id)?;
                shown = true;
            }
            self.pause(id, Instant::now())?;
            failures = if self.step(id, n)? { 0 } else { failures + 1 };
            if failures == PATIENCE {
                return self
                    .call(id, &format!("Number {n} failed {PATIENCE} times in a row, so I stop here."));
            }
        }
    }

    // What the script adds comes last, inside the tags.
    fn checkpoint(&self, id: &str, tagged: bool) -> String {
        let text = self.belief(id).checkpoint(tagged);
        let ordinal = self.sessions.get(id).map_or(0, |session| session.ordinal);
        let Some(remark) = self.script.remarks.get(ordinal.saturating_sub(1) as usize) else { return text };
        match text.strip_suffix("</checkpoint>") {
            Some(open) => format!("{open}{remark}\n</checkpoint>"),
            None => format!("{text}{remark}\n"),
        }
    }

    fn last_words(&mut self) -> Option<String> {
        let words = &self.script.last_words;
        let said = words.get(self.said).or_else(|| words.last()).cloned();
        self.said += 1;
        said
    }

    /// One model call that says `text`. It must fit into the window, its answer included.
    fn call(&mut self, id: &str, text: &str) -> Result<(), Stop> {
        let tokens = self.tokens_with(id, text);
        if tokens > self.script.window {
            return Err(Stop::TooLong(tokens));
        }
        self.note(&format!("call {tokens}"))?;
        self.pause(id, Instant::now() + Duration::from_millis(self.script.think_ms))?;
        self.say(id, text)?;
        if self.script.report_usage {
            self.wire.update(id, update::usage(tokens, self.script.window))?;
        }
        Ok(())
    }

    /// Sends text as its own words and keeps it.
    pub(super) fn say(&mut self, id: &str, text: &str) -> io::Result<()> {
        self.remember(id, Role::Agent, text)?;
        let piece = self.script.piece_chars.map_or(usize::MAX, |n| n.max(1) as usize);
        let mut rest = text;
        while let Some((end, _)) = rest.char_indices().nth(piece) {
            self.wire.update(id, update::message(&rest[..end]))?;
            rest = &rest[end..];
        }
        self.wire.update(id, update::message(rest))
    }

    pub(super) fn belief(&self, id: &str) -> Belief {
        self.sessions.get(id).map(|s| brain::believe(s.context.entries())).unwrap_or_default()
    }

    fn tokens_with(&self, id: &str, more: &str) -> u64 {
        self.script.system_tokens + self.sessions.get(id).map_or(0, |s| s.context.tokens_with(more))
    }

    fn compact_if_due(&mut self, id: &str) -> io::Result<()> {
        let Some(percent) = self.script.compact_at_percent else { return Ok(()) };
        let line = u128::from(self.script.window) * u128::from(percent);
        if u128::from(self.tokens_with(id, "")) * 100 < line {
            return Ok(());
        }
        let summary = self.belief(id).summary();
        let Some(session) = self.sessions.get_mut(id) else { return Ok(()) };
        session.context.compact(summary);
        self.keep_all(id)
    }
}
