//! The durable list of events that is the truth about a run, in one SQLite file.
//!
//! Texts are opaque here: what an event or an effect means is the machine's business, and nothing in this crate
//! reads one. [`Journal`] writes: one for each run, several runs at the same time; [`Reader`] is any number of readers beside
//! them.

mod error;
mod reader;
mod row;
mod schema;
mod writer;

pub use error::{Error, Result};
pub use reader::Reader;
pub use row::{Entry, RunRow, Status, StoredEvent};
pub use schema::VERSION;
pub use writer::Journal;
