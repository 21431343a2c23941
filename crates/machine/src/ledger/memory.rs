//! Which memory crosses a handoff: the ledger, or for comparison only what the last summary says.

use serde::{Deserialize, Serialize};

use super::{Ledger, Rendered};
use crate::checkpoint::parse;

/// What the next session is told about the sessions before the last one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// Everything that was ever said and still holds.
    #[default]
    Ledger,
    /// What the last summary says, cut to the budget.
    LastSummary,
}

/// The memory as text, within a budget.
pub fn compose(memory: Memory, ledger: &Ledger, last_summary: &str, max_tokens: usize) -> Rendered {
    match memory {
        Memory::Ledger => ledger.render(max_tokens),
        Memory::LastSummary => {
            let text = parse(last_summary).text;
            let mut end = text.len().min(max_tokens.saturating_mul(4));
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            Rendered { text: text[..end].to_owned(), ..Rendered::default() }
        }
    }
}
