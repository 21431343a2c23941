//! Statuses and complexities in the words that plans use for them.

use crate::model::{Complexity, Status};

impl Status {
    /// Whether nothing is left to do.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Skipped)
    }

    /// A status in the words that plans use.
    pub fn read(words: &str) -> Option<Self> {
        let words = words.trim().trim_start_matches(['[', '*', '`']).to_lowercase();
        let words = words.trim();
        let begins = |names: &[&str]| names.iter().any(|name| words.starts_with(name));
        if begins(&["complete", "done", "✅", "x]", "finished", "passed", "closed", "shipped", "merged"]) {
            Some(Self::Completed)
        } else if begins(&[
            "in progress",
            "in-progress",
            "in_progress",
            "active",
            "started",
            "🚧",
            "doing",
            "wip",
            "review",
        ]) {
            Some(Self::InProgress)
        } else if begins(&["fail", "❌", "rejected"]) {
            Some(Self::Failed)
        } else if begins(&["block", "⛔", "stuck"]) {
            Some(Self::Blocked)
        } else if begins(&["skip", "cancel", "deferred", "wont", "won't", "removed"]) {
            Some(Self::Skipped)
        } else if begins(&[
            "needs_human",
            "needs human",
            "needs input",
            "needs_input",
            "needs person",
            "needs_person",
            "needs review",
        ]) {
            Some(Self::NeedsInput)
        } else if begins(&[
            "pending",
            "todo",
            "to do",
            "to-do",
            "not started",
            "open",
            "planned",
            "draft",
            "ready",
            " ]",
            "]",
            "⏳",
            "backlog",
            "new",
            "queued",
        ]) {
            Some(Self::Pending)
        } else {
            None
        }
    }
}

impl Complexity {
    /// A complexity in the words that plans use.
    pub fn read(words: &str) -> Option<Self> {
        match words.trim().to_lowercase().as_str() {
            "simple" | "low" | "small" | "s" | "xs" | "trivial" | "easy" => Some(Self::Simple),
            "medium" | "moderate" | "m" | "normal" => Some(Self::Medium),
            "complex" | "high" | "large" | "l" | "xl" | "hard" | "critical" => Some(Self::Complex),
            number => match number.parse::<u32>() {
                Ok(0..=3) => Some(Self::Simple),
                Ok(4..=7) => Some(Self::Medium),
                Ok(_) => Some(Self::Complex),
                Err(_) => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_read_in_many_words() {
        let read = |words| Status::read(words);
        assert_eq!(read("✅ Complete"), Some(Status::Completed));
        assert_eq!(read("[ ] Pending"), Some(Status::Pending));
        assert_eq!(read("[x] Done"), Some(Status::Completed));
        assert_eq!(read("**In Progress**"), Some(Status::InProgress));
        assert_eq!(read("Not started"), Some(Status::Pending));
        assert_eq!(read("whatever"), None);
    }
}
