//! Checkpoints as they lie on disk: written from the agent's words and segue's own facts, read again before use.

mod account;
mod catalog;
mod compose;
mod digest;
mod document;
mod evidence;
mod facts;
mod first_version;
mod forms;
mod gather;
mod ground;
mod handoff_file;
mod inside;
mod looped;
mod markdown;
mod prune;
mod stored;
mod take;
mod tool_calls;

pub(crate) use catalog::{Found, NotFound, choose, list};
pub(crate) use compose::{Composed, compose};
pub(crate) use document::{ClaimEntry, Document, Files, schema};
pub(crate) use evidence::{Judgement, judge_words};
pub(crate) use facts::{Situation, Workplace};
pub(crate) use handoff_file::write_handoff_file;
pub(crate) use inside::OutsideError;
pub(crate) use markdown::page;
pub(crate) use prune::{Doomed, doomed, is_done, no_longer_kept, prune_quietly, remove};
pub(crate) use stored::{CheckpointError, Stored, pack, write_whole};
pub(crate) use take::{Request, save, take};
