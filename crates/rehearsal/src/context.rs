//! All that the scripted agent knows: prompts, its own words and tool results, and how many tokens they take.

use serde::{Deserialize, Serialize};

/// Whose text it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user's.
    Prompt,
    /// The agent's own.
    Agent,
    /// What a tool printed.
    Tool,
}

/// One piece of text in the context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Whose.
    pub role: Role,
    /// The text.
    pub text: String,
}

/// The context of one session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    entries: Vec<Entry>,
    chars: u64,
}

impl Context {
    /// Adds text.
    pub fn push(&mut self, role: Role, text: impl Into<String>) {
        let text = text.into();
        self.chars += count(&text);
        self.entries.push(Entry { role, text });
    }

    /// All text, oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Tokens of all text and of `more`, which is about to be added: 4 characters each.
    pub fn tokens_with(&self, more: &str) -> u64 {
        (self.chars + count(more)).div_ceil(4)
    }

    /// Drops all but the first prompt, and adds a summary.
    pub fn compact(&mut self, summary: String) {
        let task = self.entries.iter().find(|e| e.role == Role::Prompt).cloned();
        *self = Self::default();
        if let Some(task) = task {
            self.push(task.role, task.text);
        }
        self.push(Role::Agent, summary);
    }
}

fn count(text: &str) -> u64 {
    u64::try_from(text.chars().count()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_characters_are_a_token_whatever_their_width() {
        let mut context = Context::default();
        context.push(Role::Prompt, "äöü€");
        assert_eq!(context.tokens_with(""), 1);
        context.push(Role::Tool, "x");
        assert_eq!((context.tokens_with(""), context.tokens_with("123")), (2, 2));
    }

    #[test]
    fn compaction_keeps_the_task_and_the_summary() {
        let mut context = Context::default();
        for n in 0..3 {
            context.push(Role::Prompt, format!("prompt {n}"));
            context.push(Role::Tool, "x".repeat(400));
        }
        context.compact("short".to_owned());
        let texts: Vec<&str> = context.entries().iter().map(|e| e.text.as_str()).collect();
        assert_eq!(texts, ["prompt 0", "short"]);
        assert_eq!(context.tokens_with(""), 4);
    }
}
