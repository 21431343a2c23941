//! Reads the work that people write down. Pure: text in, a [`Task`](segue_machine::Task) out, with what is wrong.
//!
//! One task is all there is so far: a sentence, or a Markdown file with or without a check list.

mod task;

pub use task::{BadTask, read_task};
