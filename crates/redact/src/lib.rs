//! Secrets do not get through: what is stored, shown or sent is cleaned here first.
//!
//! A [`Redactor`] is made once from [`Options`] and cleans whole texts; [`Lines`] cleans an agent's output as it comes in.
//! This crate reads no file, no environment and no clock. `docs/redaction.md` says what is caught and what is not.

mod assignment;
mod command;
mod encoded;
mod files;
mod header;
mod json;
mod key_block;
mod known;
mod layout;
mod lines;
mod literals;
mod names;
mod near;
mod options;
mod personal;
mod redactor;
mod scan;
mod spelling;
mod stream;
mod tokens;
mod url;
mod values;
mod vocabulary;

pub use files::never_quoted;
pub use known::secret_env;
pub use lines::Lines;
pub use options::{Extra, Options, RedactError};
pub use redactor::{Clean, CleanBytes, Counts, Redactor};
