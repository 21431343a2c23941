//! What a session does at a moment, told apart, and the words for it.

use std::fmt;

use super::OwnRetry;
use super::life::BUSY;
use crate::AgentFailure;
use crate::amounts::duration;

/// What a session does, as far as it can be told apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The process starts and opens a conversation.
    Starting {
        /// For how long.
        ms: u64,
    },
    /// It waits for a prompt.
    Waiting,
    /// It was asked for a checkpoint.
    Asked,
    /// It is being ended.
    Ending,
    /// It thinks.
    Thinking {
        /// For how long.
        ms: u64,
        /// Hundredths of a core in use.
        cores: Option<u32>,
    },
    /// A tool runs.
    Tool {
        /// What it does: the one that has run longest.
        title: String,
        /// How many more run.
        others: usize,
        /// For how long.
        ms: u64,
        /// Hundredths of a core in use.
        cores: Option<u32>,
        /// For how long it has shown no sign of life, and what was looked for.
        still: Option<(u64, String)>,
    },
    /// It was not given a permission, and has not gone on.
    Permission {
        /// What for.
        title: String,
        /// For how long.
        ms: u64,
    },
    /// It tries a call again by itself.
    Retrying(OwnRetry),
    /// It shows no sign of life.
    Silent {
        /// For how long.
        ms: u64,
        /// What was looked for.
        nothing: String,
    },
    /// Its process is gone.
    Gone,
}

impl State {
    /// One word for it, stable.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Starting { .. } => "starting",
            Self::Waiting => "waiting",
            Self::Asked => "asked",
            Self::Ending => "ending",
            Self::Thinking { .. } => "thinking",
            Self::Tool { still: None, .. } => "tool",
            Self::Tool { still: Some(_), .. } => "silent_tool",
            Self::Permission { .. } => "permission",
            Self::Retrying(_) => "retrying",
            Self::Silent { .. } => "silent",
            Self::Gone => "gone",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Starting { ms } => write!(f, "starting{}", lasting(*ms)),
            Self::Waiting => f.write_str("waiting for a prompt"),
            Self::Asked => f.write_str("writing a checkpoint"),
            Self::Ending => f.write_str("ending"),
            Self::Thinking { ms, cores } => write!(f, "thinking{}{}", lasting(*ms), busy(*cores)),
            Self::Tool { title, others, ms, cores, still } => {
                write!(f, "running `{title}`{}", lasting(*ms))?;
                if *others > 0 {
                    write!(f, " and {others} more")?;
                }
                match still {
                    Some((ms, nothing)) => write!(f, ", no sign of life for {}: {nothing}", duration(*ms)),
                    None => f.write_str(&busy(*cores)),
                }
            }
            Self::Permission { title, ms } => {
                write!(f, "waiting for a permission it did not get{}: {title}", lasting(*ms))
            }
            Self::Retrying(retry) => retry.fmt(f),
            Self::Silent { ms, nothing } => write!(f, "silent for {}: {nothing}", duration(*ms)),
            Self::Gone => f.write_str("the agent's process has ended"),
        }
    }
}

impl fmt::Display for OwnRetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "retrying: attempt {}", self.attempt)?;
        if let Some(of) = self.of {
            write!(f, " of {of}")?;
        }
        let kind = match self.failure {
            AgentFailure::Overloaded => "overloaded",
            AgentFailure::RateLimited => "rate limited",
            AgentFailure::Quota => "out of quota",
            AgentFailure::Unauthorised => "not authorised",
            AgentFailure::BadModel => "bad model",
            AgentFailure::Refused => "refused",
            AgentFailure::Network => "no connection",
            AgentFailure::Other => return write!(f, ", {}", self.why),
        };
        write!(f, ", {kind}")
    }
}

fn busy(cores: Option<u32>) -> String {
    match cores {
        Some(cores) if cores >= BUSY => {
            let tenths = cores.saturating_add(5) / 10;
            format!(", busy ({}.{} cores)", tenths / 10, tenths % 10)
        }
        _ => String::new(),
    }
}

fn lasting(ms: u64) -> String {
    if ms < 1_000 { String::new() } else { format!(" for {}", duration(ms)) }
}
