//! Checkpoints as they lie on disk: written from the agent's words and segue's own facts, read again before use.

mod compose;
mod document;
mod facts;
mod first_version;
mod gather;
mod handoff_file;
mod markdown;
mod stored;
mod take;
mod words;

pub(crate) use compose::compose;
pub(crate) use document::{Document, schema};
pub(crate) use facts::{Situation, Workplace};
pub(crate) use handoff_file::write_handoff_file;
pub(crate) use stored::CheckpointError;
pub(crate) use take::{Request, save, take};
