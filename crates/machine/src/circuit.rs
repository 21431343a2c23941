//! Whether an account may be used: closed until it fails, then open until a time, then one trial that closes it or opens it
//! for longer. Nothing here knows a clock; chance is drawn from the run itself, so that a replay draws the same.

use serde::{Deserialize, Serialize};

use crate::{AgentFailure, AgentSpec, Millis, Retry, WaitRules};

/// What is added to a time that a provider names: its clock is not ours.
const MARGIN_MS: u64 = 1_000;
/// A time further away than this was not meant.
const FARTHEST_MS: u64 = 40 * 86_400_000;
/// Rate limits last longer than accidents.
const RATE_LIMIT_FACTOR: u64 = 3;
/// Failures of the network in a row after which waiting for it is given up.
const NETWORK_TRIES: u32 = 8;
/// Failures in a row of an agent that may come back at any moment, after which another agent is better.
const PATIENCE: u32 = 3;
/// A limit that is over by then is waited for even if another agent is free: a handoff costs as much.
const SHORT_WAIT_MS: u64 = 60_000;
const SAID_CHARS: usize = 200;

/// An account that failed. An account without a circuit is fine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Circuit {
    /// The account, or the agent's name where it has none.
    pub account: String,
    /// The one agent that it is about, where others of the account are not concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// How it failed last.
    pub failure: AgentFailure,
    /// How often in a row it failed.
    pub failures: u32,
    /// When it may be tried again; `None` until a person has mended it.
    #[serde(default)]
    pub until: Option<Millis>,
    /// The agent's or provider's words.
    #[serde(default)]
    pub said: String,
}

/// How an agent failed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blow<'a> {
    pub(crate) failure: AgentFailure,
    pub(crate) retry: Option<Retry>,
    pub(crate) said: &'a str,
    pub(crate) now: Millis,
    /// Chance for this run.
    pub(crate) seed: u64,
}

impl Circuit {
    /// The circuit after a failure; `None` where the provider is not to blame.
    pub(crate) fn after(
        agent: &AgentSpec,
        before: Option<&Self>,
        blow: Blow<'_>,
        rules: &WaitRules,
    ) -> Option<Self> {
        let failures = before.map_or(0, |c| c.failures).saturating_add(1);
        let told = told(blow.retry, blow.now);
        let pause = pause(blow.failure, failures, rules, blow.seed ^ hash(agent.account()));
        let until = match blow.failure {
            AgentFailure::Other => return None,
            AgentFailure::Unauthorised | AgentFailure::BadModel | AgentFailure::Refused => None,
            AgentFailure::Quota => told,
            AgentFailure::Overloaded | AgentFailure::RateLimited | AgentFailure::Network => {
                // A time that did not hold is not believed alone.
                let own = blow.now.saturating_add(pause);
                Some(told.map_or(own, |told| if failures > 1 { told.max(own) } else { told }))
            }
        };
        let own = matches!(blow.failure, AgentFailure::BadModel | AgentFailure::Refused);
        Some(Self {
            account: agent.account().to_owned(),
            agent: own.then(|| agent.name.clone()),
            failure: blow.failure,
            failures,
            until,
            said: crate::checkpoint::cut_chars(blow.said.trim(), SAID_CHARS).replace('\n', " "),
        })
    }

    /// Whether it holds the agent back at this moment.
    pub fn is_open(&self, now: Millis) -> bool {
        self.until.is_none_or(|until| until > now)
    }

    /// Whether it is about this agent.
    pub(crate) fn concerns(&self, agent: &AgentSpec) -> bool {
        match &self.agent {
            Some(name) => *name == agent.name,
            None => self.account == agent.account(),
        }
    }

    /// Whether another agent, where one is free, is better than waiting for this one.
    pub(crate) fn leaves(&self, now: Millis, rules: &WaitRules) -> bool {
        match self.failure {
            AgentFailure::Overloaded | AgentFailure::Network => self.failures >= PATIENCE,
            AgentFailure::RateLimited => {
                let far = self.until.is_none_or(|until| until > now.saturating_add(SHORT_WAIT_MS));
                rules.on_rate_limit == crate::OnRateLimit::Fallback && (far || self.failures >= PATIENCE)
            }
            AgentFailure::Quota
            | AgentFailure::Unauthorised
            | AgentFailure::BadModel
            | AgentFailure::Refused
            | AgentFailure::Other => true,
        }
    }

    /// When waiting for it ends; `None` when waiting does not help.
    pub(crate) fn worth_waiting(&self) -> Option<Millis> {
        let given_up = self.failure == AgentFailure::Network && self.failures > NETWORK_TRIES;
        self.until.filter(|_| !given_up)
    }

    /// What is wrong, in words that follow the agent's name: "rate limited until 14:32".
    pub fn words(&self, now: Millis, rules: &WaitRules) -> String {
        let what = match self.failure {
            AgentFailure::Overloaded => "overloaded",
            AgentFailure::RateLimited => "rate limited",
            AgentFailure::Quota => "out of quota",
            AgentFailure::Unauthorised => "not authorised",
            AgentFailure::BadModel => "its model does not exist or may not be used",
            AgentFailure::Network => "cannot be reached",
            AgentFailure::Refused => "refuses to work on this",
            AgentFailure::Other => "failed",
        };
        match self.until.filter(|until| *until > now) {
            Some(until) => format!("{what} until {}", rules.clock(until, now)),
            None if self.said.is_empty() => what.to_owned(),
            None => format!("{what} ({})", self.said),
        }
    }
}

/// What a wait is for, in words.
pub(crate) fn awaited(agent: &str, failure: AgentFailure) -> String {
    match failure {
        AgentFailure::RateLimited => format!("{agent}'s rate limit"),
        AgentFailure::Quota => format!("{agent}'s quota"),
        AgentFailure::Network => format!("a connection for {agent}"),
        AgentFailure::Overloaded
        | AgentFailure::Unauthorised
        | AgentFailure::BadModel
        | AgentFailure::Refused
        | AgentFailure::Other => format!("{agent}, which is overloaded"),
    }
}

fn told(retry: Option<Retry>, now: Millis) -> Option<Millis> {
    let at = match retry? {
        Retry::At(at) => at,
        Retry::After(ms) => now.saturating_add(ms),
    };
    (at > now && at - now <= FARTHEST_MS).then(|| at + MARGIN_MS)
}

fn pause(failure: AgentFailure, failures: u32, rules: &WaitRules, seed: u64) -> u64 {
    let factor = if failure == AgentFailure::RateLimited { RATE_LIMIT_FACTOR } else { 1 };
    let doubled = 1_u64.checked_shl(failures.saturating_sub(1)).unwrap_or(u64::MAX);
    let base = rules.first_ms.saturating_mul(doubled).min(rules.most_ms).saturating_mul(factor);
    // Up to a quarter more, so that runs that failed together do not come back together.
    base.saturating_add((base / 4).saturating_mul(mix(seed ^ u64::from(failures)) % 1_024) / 1_024)
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
#[path = "circuit_tests.rs"]
mod tests;
