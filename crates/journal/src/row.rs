//! What goes into a journal and comes out of it. Times are milliseconds since the Unix epoch, given by the caller.

use serde::{Deserialize, Serialize};

use crate::chain::Link;

/// One run, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRow {
    /// The run's id.
    pub id: String,
    /// When it was asked for.
    pub created_at: u64,
    /// A short title of the task.
    pub task: String,
    /// The agent that it began with.
    pub agent: String,
    /// The name of its policy.
    pub policy: String,
    /// Where it stands, in the caller's words.
    pub status: String,
    /// When it reached its verdict.
    pub finished_at: Option<u64>,
}

/// One event to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its number: 1 for the first of a run, then without gaps.
    pub seq: u64,
    /// When it was taken in.
    pub at: u64,
    /// The event as JSON.
    pub event: &'a str,
    /// The effects that it caused, as JSON.
    pub effects: &'a str,
}

/// One event as it was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its number within the run.
    pub seq: u64,
    /// When it was taken in.
    pub at: u64,
    /// The event as JSON.
    pub event: String,
    /// The effects that it caused, as JSON.
    pub effects: String,
}

/// What the events up to one of them led to, so that whoever wants to know need not read them all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredState {
    /// The last event that it covers.
    pub seq: u64,
    /// When that was taken in.
    pub at: u64,
    /// In the caller's bytes.
    pub state: Vec<u8>,
    /// The chain's link with it.
    pub link: Link,
}

/// Which state is looked for.
#[derive(Debug, Clone, Copy)]
pub struct WantedState<'a> {
    /// One that was written by this version of the caller.
    pub version: &'a str,
    /// It covers no event after this one.
    pub upto: u64,
    /// …and none from this time on.
    pub before: u64,
}

/// Where a run stands after the events stored with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status<'a> {
    /// In the caller's words.
    pub text: &'a str,
    /// When the run reached its verdict; `None` takes an earlier verdict back, as a resumed run does.
    pub finished_at: Option<u64>,
}

impl<'a> From<&'a str> for Status<'a> {
    fn from(text: &'a str) -> Self {
        Self { text, finished_at: None }
    }
}
