//! What an agent says about the tokens of one model call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a gauge's number comes from, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The usage of one model call, as the API answered it.
    Exact,
    /// The agent's own used/size figure.
    Reported,
    /// Characters divided by a learned ratio.
    Estimated,
    /// Nothing is known; only tool calls can be counted.
    None,
}

/// Whose call a reading belongs to. Only the main thread fills the window that segue looks after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The conversation that segue prompts.
    Main,
    /// A sub-agent, a title, a summary: costs money, fills nothing.
    Side,
}

/// The tokens of one model call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Which conversation the call belongs to.
    pub scope: Scope,
    /// How good the number is.
    pub source: Source,
    /// The agent's name for the call, if it has one: the same call read twice counts once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Uncached prompt tokens; `None` when only a total is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Prompt tokens read from a cache.
    #[serde(default)]
    pub cache_read: u64,
    /// Prompt tokens written to a cache.
    #[serde(default)]
    pub cache_write: u64,
    /// Those of them that the cache keeps for an hour.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_1h: u64,
    /// Tokens of the answer; `None` when only a total is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// The total, when the agent gives no parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// What the session has cost so far, in millionths of a dollar, if the agent says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_cost_musd: Option<u64>,
    /// The window the agent names together with this reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Where the agent itself would compact, block or fail, named together with this reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<u64>,
    /// The weight of texts that were told before this reading but came after its call, so that only the next one carries them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub chars_after: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Reading {
    /// A main-thread reading with only a total, as the agent's own used/size figure gives it.
    pub fn reported(total: u64, window: Option<u64>) -> Self {
        Self { window, total: Some(total), ..Self::blank(Source::Reported) }
    }

    /// A main-thread reading with the parts of one call's usage.
    pub fn exact(input: u64, cache_read: u64, cache_write: u64, output: u64) -> Self {
        Self {
            input: Some(input),
            cache_read,
            cache_write,
            output: Some(output),
            ..Self::blank(Source::Exact)
        }
    }

    fn blank(source: Source) -> Self {
        Self {
            scope: Scope::Main,
            source,
            call: None,
            input: None,
            cache_read: 0,
            cache_write: 0,
            cache_write_1h: 0,
            output: None,
            total: None,
            session_cost_musd: None,
            window: None,
            ceiling: None,
            chars_after: 0,
        }
    }

    /// The prompt side of the call: what was sent, cached or not.
    pub fn prompt(&self) -> Option<u64> {
        self.input.map(|input| input.saturating_add(self.cache_read).saturating_add(self.cache_write))
    }

    /// What the window holds after the call: the prompt side and the answer.
    pub fn fill(&self) -> u64 {
        match (self.total, self.prompt()) {
            (Some(total), _) => total,
            (None, Some(prompt)) => prompt.saturating_add(self.output.unwrap_or(0)),
            (None, None) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m1_cache_fields_are_part_of_the_prompt_side() {
        let reading = Reading::exact(2, 12_000, 185_000, 0);
        assert_eq!(reading.prompt(), Some(197_002));
        assert_eq!(reading.fill() * 1000 / 200_000, 985);
    }

    #[test]
    fn absurd_counts_saturate_instead_of_wrapping() {
        assert_eq!(Reading::exact(u64::MAX, u64::MAX, 1, 1).fill(), u64::MAX);
    }
}
