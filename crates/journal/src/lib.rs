//! The durable list of events that is the truth about a run, one SQLite file for each run.
//!
//! Texts are opaque here: what an event or an effect means is the machine's business, and nothing in this crate
//! reads one. [`Journal`] writes, one for each run; [`Reader`] is any number of readers beside
//! them.

mod chain;
mod error;
mod file;
mod index;
mod reader;
mod row;
mod schema;
mod writer;

pub use chain::{Integrity, Link};
pub use error::{Error, Result};
pub use reader::{Reader, UNREADABLE};
pub use row::{Entry, RunRow, Status, StoredEvent, StoredState, WantedState};
pub use schema::VERSION;
pub use writer::Journal;
