//! What the sections of a plan are about, by their titles.

use crate::text::{after_any, plain};

/// What a section holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Work.
    Tasks,
    /// Gates, each of its items one.
    Gates,
    /// Commands among words.
    Validation,
    /// What must hold.
    Criteria,
    /// What makes it a success.
    Success,
    /// How the phase is worked on: notes to read and to write.
    Wrapper,
    /// Files.
    Files,
    /// What it is for.
    About,
    /// Boxes that are no work: strategy, risks, reviews.
    Aside,
    /// Anything else.
    Other,
}

/// How titles begin.
const BEGINS: [(Kind, &[&str]); 7] = [
    (Kind::Wrapper, &["process wrapper"]),
    (Kind::Gates, &["gates", "quality gate", "phase gate", "gate check", "gate command", "gate criteria"]),
    (Kind::Validation, &["validation command", "verification command", "validation step"]),
    (
        Kind::Criteria,
        &["acceptance criteria", "definition of done", "done when", "exit criteria", "completion criteria"],
    ),
    (Kind::Success, &["success criteria"]),
    (Kind::Files, &["files to ", "files modified", "file changes", "relevant files"]),
    (
        Kind::Aside,
        &[
            "test strategy",
            "testing strategy",
            "test plan",
            "test cases",
            "risk",
            "rollback",
            "review",
            "manual ",
            "post-completion",
            "requirements checklist",
            "notes",
            "out of scope",
            "prerequisites",
            "format",
            "task notation",
            "dependencies",
            "legend",
            "progress",
            "success metrics",
            "technical details",
            "context",
            "references",
            "dev notes",
            "dev agent record",
        ],
    ),
];

/// What a title says about its section.
pub(crate) fn kind(title: &str) -> Kind {
    let title = plain(title).to_lowercase();
    let title = title.trim_start_matches(|c: char| !c.is_alphanumeric());
    // Numbers before the words are those of the section.
    let title = title.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' '));
    let bare = title.split(['(', '[', '–', '—', ':']).next().unwrap_or(title).trim();
    let begins = || BEGINS.iter().find(|(_, names)| after_any(title, names).is_some());
    whole(bare).or_else(|| begins().map(|(kind, _)| *kind)).unwrap_or(Kind::Other)
}

// What a title is, without what stands in brackets or behind a dash.
fn whole(title: &str) -> Option<Kind> {
    Some(match title {
        "gate" => Kind::Gates,
        "validation" | "validate" | "verification" | "verify" | "checks" | "quality checks"
        | "feedback loops" => Kind::Validation,
        "acceptance" | "criteria" => Kind::Criteria,
        "tasks"
        | "task breakdown"
        | "implementation tasks"
        | "tasks / subtasks"
        | "implementation plan"
        | "implementation steps"
        | "task list"
        | "step by step tasks"
        | "step-by-step tasks"
        | "steps"
        | "todo"
        | "to do"
        | "todos"
        | "work items"
        | "checklist"
        | "implementation checklist"
        | "plan"
        | "development tasks" => Kind::Tasks,
        "files" => Kind::Files,
        "overview" | "goal" | "goals" | "objective" | "summary" | "description" | "purpose" | "problem" => {
            Kind::About
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_say_what_a_section_holds() {
        assert_eq!(kind("Gates (must pass before completion)"), Kind::Gates);
        assert_eq!(kind("✅ Acceptance Criteria:"), Kind::Criteria);
        assert_eq!(kind("3. Tasks"), Kind::Tasks);
        assert_eq!(kind("Tasks Completed"), Kind::Other);
        assert_eq!(kind("Validation Commands"), Kind::Validation);
        assert_eq!(kind("Process Wrapper (MANDATORY)"), Kind::Wrapper);
        assert_eq!(kind("Success Criteria (what must be TRUE)"), Kind::Success);
        assert_eq!(kind("Files to Create/Modify"), Kind::Files);
    }
}
