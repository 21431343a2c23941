//! What the next session must know.

mod parse;
mod text;

pub use parse::{Answer, Section, complete_block, is_checkpoint, parse};
pub use text::{cut_chars, cut_list};
