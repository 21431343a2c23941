//! The durable list of events that is the truth about a run, in one SQLite file.
//!
//! Texts are opaque here: what an event or an effect means is the machine's business, and nothing in this crate
//! reads one. [`Journal`] is the single writer, [`Reader`] any number of readers beside it.

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
