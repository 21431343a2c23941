//! When handing over pays: what the lines of [`crate::policy::Economy`] are drawn from, and how much of its predecessor's
//! reading a session did again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::next::short;
use super::{Run, limit_use::dollars};
use crate::policy::{Bound, Cause, Costs, Lines, Percent, Worth};
use crate::{Reading, SessionReason, Source};

/// What is taken for the re-reading of a handoff until it was measured, and the least that is believed.
const USUAL_REREAD: u64 = 10_000;
const LEAST_REREAD: u64 = 2_000;

/// What a session read again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reread {
    /// Its number in the run.
    pub session: u32,
    /// Its agent.
    pub agent: String,
    /// About so many tokens.
    pub tokens: u64,
    /// What it read, most tokens first; at most [`Reread::FILES`].
    pub files: Vec<String>,
}

impl Reread {
    /// Readings that are named.
    pub const FILES: usize = 12;
}

/// What is known beside the window about where the session at work should end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Thrift {
    /// Where its model begins to lose track.
    pub(super) quality: Option<u64>,
    /// The line that comes before the window's.
    bound: Option<Bound>,
    /// A call of this session was served from a cache.
    warm: bool,
    reads: Reads,
}

/// What sessions read, by what the tool call said of itself: the same words are taken for the same reading.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Reads {
    /// In the sessions before.
    before: BTreeMap<String, u64>,
    now: BTreeMap<String, u64>,
    /// What this session read again.
    again: BTreeMap<String, u64>,
}

impl Reads {
    /// Readings that are remembered of the run and of a session.
    const MOST: usize = 1_000;
    const TITLE_CHARS: usize = 300;

    fn add(&mut self, title: &str, tokens: u64) {
        let title: String = title.trim().chars().take(Self::TITLE_CHARS).collect();
        if self.before.contains_key(&title) {
            *self.again.entry(title.clone()).or_default() += tokens;
        }
        if self.now.len() < Self::MOST || self.now.contains_key(&title) {
            *self.now.entry(title).or_default() += tokens;
        }
    }

    /// The session is over: what it read again, if there was anything that it could have.
    fn close(&mut self) -> Option<(u64, Vec<String>)> {
        let measured = !self.before.is_empty() && !self.now.is_empty();
        let again = std::mem::take(&mut self.again);
        self.before.append(&mut self.now);
        while self.before.len() > Self::MOST {
            self.before.pop_first();
        }
        let tokens = again.values().fold(0_u64, |sum, tokens| sum.saturating_add(*tokens));
        let mut titles: Vec<(u64, String)> =
            again.into_iter().map(|(title, tokens)| (tokens, title)).collect();
        titles.sort_by(|a, b| b.cmp(a));
        measured.then(|| (tokens, titles.into_iter().take(Reread::FILES).map(|(_, title)| title).collect()))
    }
}

impl Run {
    /// The lines that prices and the model's own limits draw before those of the window.
    pub(super) fn thrifty(&mut self, lines: Lines) -> Lines {
        self.thrift.bound = None;
        self.view.worth = None;
        let Some(economy) = self.view.spec.as_ref().and_then(|spec| spec.policy.economy) else {
            return lines;
        };
        let Some(costs) = self.costs(lines) else { return lines };
        let (bound, worth, ceiling) = (economy.bound(&costs), costs.worth(), costs.ceiling);
        self.view.worth = worth;
        let Some(bound) = bound else { return lines };
        self.thrift.bound = Some(bound);
        let line = |tokens: u64, of_window: Percent| {
            Percent::of(tokens, ceiling).map_or(of_window, |l| l.min(of_window))
        };
        Lines { soft: line(bound.soft, lines.soft), hard: line(bound.hard, lines.hard) }
    }

    fn costs(&self, lines: Lines) -> Option<Costs<'_>> {
        let session = self.view.session.as_ref()?;
        let (ceiling, fill) = (session.gauge.ceiling()?, session.gauge.tokens()?);
        Some(Costs {
            price: self.spending.price.as_ref(),
            quality: self.thrift.quality,
            window: session.gauge.window().unwrap_or(ceiling),
            ends: lines.hard.part_of(ceiling),
            ceiling,
            fill,
            first: session.forecast.first().unwrap_or(fill),
            growth: session.forecast.mean(),
            reread: self.usual_reread(&session.agent),
            to_go: self.calls_to_go(),
        })
    }

    // The median of what this run measured of the agent, else what is known of the repository.
    fn usual_reread(&self, agent: &str) -> u64 {
        let mut measured: Vec<u64> = self
            .view
            .rereads
            .iter()
            .filter(|reread| reread.agent == agent)
            .map(|reread| reread.tokens)
            .collect();
        measured.sort_unstable();
        let of_run = measured.get(measured.len() / 2).copied();
        let known = || self.view.spec.as_ref()?.rereads.get(agent).copied();
        of_run.or_else(known).unwrap_or(USUAL_REREAD).max(LEAST_REREAD)
    }

    // By the agent's own list, once some of it is done.
    fn calls_to_go(&self) -> Option<u64> {
        const ENOUGH: u32 = 3;
        let (open, closed) = self.view.items.filter(|(_, closed)| *closed >= ENOUGH)?;
        let calls = self.calls_before.saturating_add(u64::from(self.view.session.as_ref()?.gauge.calls()));
        Some(u64::from(open) * calls / u64::from(closed))
    }

    /// Something was read.
    pub(super) fn count_reading(&mut self, title: &str, tokens: u64) {
        if self.view.session.as_ref().is_some_and(|s| s.reason != SessionReason::Helper) {
            self.thrift.reads.add(title, tokens);
            let again = &self.thrift.reads.again;
            if again.len() > self.view.read_again.len() && self.view.read_again.len() < Reread::FILES {
                self.view.read_again = again.keys().cloned().collect();
            }
        }
    }

    /// A session of a worker is over.
    pub(super) fn close_readings(&mut self, session: u32, agent: &str) -> Option<u64> {
        (self.thrift.bound, self.thrift.warm, self.thrift.quality, self.view.worth) =
            (None, false, None, None);
        self.view.read_again.clear();
        let (tokens, files) = self.thrift.reads.close()?;
        self.view.rereads.push(Reread { session, agent: agent.to_owned(), tokens, files });
        Some(tokens)
    }

    /// A provider's cache that has forgotten the conversation has made this call as dear as a fresh session's first: nothing
    /// speaks for staying.
    pub(super) fn look_at_cache(&mut self, reading: &Reading) {
        const LEAST: u64 = 20_000;
        let Some(prompt) = reading.prompt().filter(|_| reading.source == Source::Exact) else { return };
        let read = reading.cache_read;
        if read >= prompt / 2 {
            self.thrift.warm = true;
        } else if self.thrift.warm && prompt >= LEAST && read < prompt / 10 {
            self.completed = true;
        }
    }

    /// Why the session is left, where that is not its window.
    pub(super) fn thrift_words(&self) -> Option<String> {
        let (bound, session) = (self.thrift.bound?, self.view.session.as_ref()?);
        let fill = session.gauge.fill().filter(|fill| *fill >= bound.soft)?;
        let ceiling = session.gauge.ceiling()?;
        Some(match bound.cause {
            Cause::Quality => {
                format!("{} used: beyond {} the model loses track", short(fill), short(bound.hard))
            }
            Cause::Set => format!("{} used: the line is set to {}", short(fill), short(bound.hard)),
            Cause::Price | Cause::Step => {
                let worth = self.view.worth.map(|worth| format!(": {}", worth_words(worth)));
                let step =
                    if bound.cause == Cause::Step { ", longer prompts cost more per token" } else { "" };
                format!("{} of {} used{step}{}", short(fill), short(ceiling), worth.unwrap_or_default())
            }
        })
    }
}

/// What a handoff is worth, in words.
pub fn worth_words(worth: Worth) -> String {
    let calls = if worth.pays_back == 1 { "1 call".to_owned() } else { format!("{} calls", worth.pays_back) };
    format!(
        "this call {}, in a fresh session {}, pays back in {calls}",
        dollars(worth.call_musd),
        dollars(worth.fresh_musd)
    )
}
