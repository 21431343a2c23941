//! What the next session must know.

mod heading;
mod parse;
mod text;
mod units;

pub(crate) use heading::{Heading, heading, sorted};
pub use parse::{Answer, Section, complete_block, is_checkpoint, parse};
pub use text::{cut_chars, cut_list};
pub(crate) use units::{Unit, plain, sentences, units};
