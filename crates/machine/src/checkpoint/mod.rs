//! What the next session must know.

mod parse;
mod text;

pub use parse::{Answer, Section, complete_block, parse};
pub use text::{cut_chars, cut_list};
