//! Signs of life of a session: what it was heard to say, and what its processes and files show from outside.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::State;
use crate::{Activity, AgentEvent, AgentFailure, Limits, Millis};

/// A share of a core, in hundredths, from which processes count as busy. An agent that only waits for its model stays
/// below: Codex uses two to four with its timers and logs.
pub(super) const BUSY: u32 = 10;
/// Bytes a second, read and written, from which they do; the same agent moves 10 to 40 kB.
const MOVING: u64 = 262_144;

/// Times that differ by no more than this many milliseconds are the same moment.
const AT_ONCE: u64 = 100;

/// What shows that a session lives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Life {
    /// When the agent last wrote a byte.
    pub heard_at: Millis,
    /// When its processes or files last showed that something goes on.
    pub stirred_at: Millis,
    /// When it began to think, or to start.
    pub since: Millis,
    /// When each running tool began, by the agent's id.
    pub tools: BTreeMap<String, Millis>,
    /// Hundredths of a core in use between the last two looks; `None` is unknown.
    pub cores: Option<u32>,
    /// Its processes at the last look.
    pub procs: Option<u32>,
    /// The agent's own retries, while they go on.
    pub retry: Option<OwnRetry>,
    /// A permission that it asked for and did not get, while nothing came after it.
    pub permission: Option<(String, Millis)>,
    /// When a call was last given its results, or something of its answer came: it may still start a tool.
    pub(super) answering_at: Option<Millis>,
    /// When somebody last looked.
    looked_at: Millis,
    /// The last look that told of CPU time: when, and what.
    seen: Option<(Millis, Activity)>,
    /// Whether the files of the work tree were looked at.
    files_known: bool,
    /// Looks in a row that did not find the agent's process.
    missing: u32,
    /// What was told and is still so.
    told: BTreeSet<String>,
}

/// An agent's own retries of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnRetry {
    /// Which retry this is, from 1.
    pub attempt: u32,
    /// Of how many.
    pub of: Option<u32>,
    /// Why, in the agent's words.
    pub why: String,
    /// What kind of failure it is.
    pub failure: AgentFailure,
    /// When the first of them was told.
    pub since: Millis,
    /// When the next try is due.
    pub next_at: Option<Millis>,
}

impl Life {
    /// A session that was asked for at this time.
    pub(super) fn new(now: Millis) -> Self {
        Self { heard_at: now, since: now, looked_at: now, ..Self::default() }
    }

    /// The agent said or did something.
    pub(super) fn hears(&mut self, event: &AgentEvent, now: Millis) {
        self.heard_at = now;
        self.told.clear();
        self.permission = None;
        self.answering_at = match event {
            AgentEvent::UsageRead(_) | AgentEvent::TextSaid { .. } | AgentEvent::ToolEnded { .. } => {
                Some(now)
            }
            AgentEvent::ItemsSeen { .. }
            | AgentEvent::Said { .. }
            | AgentEvent::ToolDescribed { .. }
            | AgentEvent::AllowanceSeen { .. }
            | AgentEvent::CrossChecked { .. }
            | AgentEvent::PermissionAsked { .. }
            | AgentEvent::Unrecognised { .. } => self.answering_at,
            AgentEvent::Ready { .. }
            | AgentEvent::ToolStarted { .. }
            | AgentEvent::Compacted
            | AgentEvent::Answered { .. }
            | AgentEvent::NotAnswered { .. }
            | AgentEvent::SideAnswered { .. }
            | AgentEvent::SideFailed { .. }
            | AgentEvent::TurnEnded(_)
            | AgentEvent::Retrying { .. } => None,
        };
        match event {
            AgentEvent::ToolStarted { tool, .. } => {
                self.tools.entry(tool.clone()).or_insert(now);
            }
            AgentEvent::ToolEnded { tool, .. } => {
                self.tools.remove(tool);
                self.since = now;
            }
            AgentEvent::TurnEnded(_) => {
                self.tools.clear();
                self.since = now;
            }
            AgentEvent::Retrying { attempt, of, why, failure, delay_ms, next_at } => {
                let since = self.retry.as_ref().map_or(now, |retry| retry.since);
                let next_at = next_at.or_else(|| delay_ms.map(|ms| now.saturating_add(ms)));
                let (attempt, of, failure) = (*attempt, *of, *failure);
                return self.retry =
                    Some(OwnRetry { attempt, of, why: why.clone(), failure, since, next_at });
            }
            // Said beside the work: no sign that the call came through.
            AgentEvent::ItemsSeen { .. }
            | AgentEvent::Said { .. }
            | AgentEvent::ToolDescribed { .. }
            | AgentEvent::AllowanceSeen { .. }
            | AgentEvent::CrossChecked { .. }
            | AgentEvent::Unrecognised { .. } => return,
            AgentEvent::Ready { .. }
            | AgentEvent::UsageRead(_)
            | AgentEvent::TextSaid { .. }
            | AgentEvent::Compacted
            | AgentEvent::PermissionAsked { .. }
            | AgentEvent::Answered { .. }
            | AgentEvent::NotAnswered { .. }
            | AgentEvent::SideAnswered { .. }
            | AgentEvent::SideFailed { .. } => {}
        }
        self.retry = None;
    }

    /// The agent was given something to do.
    pub(super) fn prompted(&mut self, now: Millis) {
        (self.since, self.heard_at) = (now, now);
        self.told.clear();
    }

    /// Somebody looked from outside; `quiet_ms` is how long no byte had come.
    pub(super) fn looked(&mut self, quiet_ms: u64, activity: Option<&Activity>, now: Millis) {
        let heard = now.saturating_sub(quiet_ms);
        let before = std::mem::replace(&mut self.looked_at, now);
        let spoke = quiet_ms < now.saturating_sub(before);
        if spoke {
            self.heard_at = heard;
            self.told.clear();
            self.permission =
                self.permission.take().filter(|(_, asked)| heard <= asked.saturating_add(AT_ONCE));
        } else {
            self.heard_at = self.heard_at.min(heard);
        }
        let Some(activity) = activity else {
            (self.missing, self.cores) = (0, None);
            return;
        };
        self.missing = if activity.gone { self.missing + 1 } else { 0 };
        self.procs = activity.procs;
        self.files_known |= activity.files_ms.is_some();
        if let Some(ms) = activity.files_ms {
            self.stirs(now.saturating_sub(ms), before);
        }
        if activity.cpu_ms.is_none() {
            self.cores = None;
            return;
        }
        if let Some((then, past)) = self.seen.replace((now, *activity))
            && self.is_busy(activity, &past, now.saturating_sub(then))
        {
            self.stirs(now, before);
        }
    }

    fn is_busy(&mut self, activity: &Activity, before: &Activity, ms: u64) -> bool {
        let grown = |now: Option<u64>, then: Option<u64>| match (now, then) {
            (Some(now), Some(then)) => now.saturating_sub(then),
            _ => 0,
        };
        let hundredths = grown(activity.cpu_ms, before.cpu_ms).saturating_mul(100) / ms.max(1);
        let rate = grown(activity.io_bytes, before.io_bytes).saturating_mul(1_000) / ms.max(1);
        self.cores = Some(u32::try_from(hundredths).unwrap_or(u32::MAX));
        hundredths >= u64::from(BUSY) || rate >= MOVING
    }

    // The age of a file is told a little late, so one old change seems to move: only what came after the look before is news.
    fn stirs(&mut self, at: Millis, before: Millis) {
        self.stirred_at = self.stirred_at.max(at);
        if at > before {
            self.told.remove("silent");
            self.told.remove("tool_silent");
        }
    }

    /// Twice in a row: its end may be known and on its way when it is missed for the first time.
    pub(super) fn is_gone(&self) -> bool {
        self.missing > 1
    }

    /// Whether this is news.
    pub(super) fn tell(&mut self, code: &'static str) -> bool {
        self.told.insert(code.to_owned())
    }

    /// Whether the system tells of CPU time at all.
    pub fn knows_cpu(&self) -> bool {
        self.seen.is_some()
    }

    /// How long there has been no sign of life of any kind.
    pub fn still_ms(&self, now: Millis) -> u64 {
        now.saturating_sub(self.heard_at.max(self.stirred_at))
    }

    /// How long the agent has not written a byte.
    pub fn quiet_ms(&self, now: Millis) -> u64 {
        now.saturating_sub(self.heard_at)
    }

    /// The tool that has run for the longest time: its id, and for how long.
    pub fn oldest_tool(&self, now: Millis) -> Option<(&str, u64)> {
        let (tool, began) = self.tools.iter().min_by_key(|(_, began)| **began)?;
        Some((tool, now.saturating_sub(*began)))
    }

    /// What a tool without any sign of life is given. Where CPU time is unknown, silence says less.
    pub(super) fn dead_tool_ms(&self, limits: &Limits) -> u64 {
        if self.knows_cpu() {
            limits.tool_idle_ms.min(limits.tool_ms)
        } else {
            limits.tool_idle_ms.saturating_mul(2).min(limits.tool_ms)
        }
    }

    /// What was looked for and not found, in words.
    fn nothing(&self, output: &str) -> String {
        let mut missing = vec![format!("no {output}")];
        missing.extend(self.knows_cpu().then(|| "no CPU".to_owned()));
        missing.extend(self.files_known.then(|| "no file changes".to_owned()));
        missing.join(", ")
    }

    /// What it does while it works on a prompt. `title` names a tool.
    pub(super) fn working(&self, limits: &Limits, now: Millis, title: impl Fn(&str) -> String) -> State {
        if self.is_gone() {
            return State::Gone;
        }
        if let Some(retry) = &self.retry {
            return State::Retrying(retry.clone());
        }
        let still = self.still_ms(now);
        if let Some((title, asked)) = &self.permission {
            return State::Permission { title: title.clone(), ms: now.saturating_sub(*asked) };
        }
        let Some((tool, ms)) = self.oldest_tool(now) else {
            if still >= limits.idle_ms / 2 {
                return State::Silent { ms: still, nothing: self.nothing("bytes") };
            }
            return State::Thinking { ms: now.saturating_sub(self.since), cores: self.cores };
        };
        let silent = still >= self.dead_tool_ms(limits) / 2;
        State::Tool {
            title: title(tool),
            others: self.tools.len() - 1,
            ms,
            cores: self.cores,
            still: silent.then(|| (still, self.nothing("output"))),
        }
    }
}

#[cfg(test)]
#[path = "life_tests.rs"]
mod tests;
