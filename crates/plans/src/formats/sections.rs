//! What the sections of a plan are about, by their titles.

use crate::text::plain;

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

/// What a title says about its section.
pub(crate) fn kind(title: &str) -> Kind {
    let title = plain(title).to_lowercase();
    let title = title.trim_start_matches(|c: char| !c.is_alphanumeric());
    // Numbers before the words are those of the section.
    let title = title.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' '));
    let begins = |names: &[&str]| names.iter().any(|name| title.starts_with(name));
    let is = |names: &[&str]| {
        let bare = title.split(['(', '[', '–', '—', ':']).next().unwrap_or(title).trim();
        names.contains(&bare)
    };
    if begins(&["process wrapper"]) {
        Kind::Wrapper
    } else if begins(&["gates", "quality gate", "phase gate", "gate "]) || is(&["gate"]) {
        Kind::Gates
    } else if begins(&["validation command", "verification command", "validation step"])
        || is(&[
            "validation",
            "validate",
            "verification",
            "verify",
            "checks",
            "quality checks",
            "feedback loops",
        ])
    {
        Kind::Validation
    } else if begins(&[
        "acceptance criteria",
        "definition of done",
        "done when",
        "exit criteria",
        "completion criteria",
    ]) || is(&["acceptance", "criteria"])
    {
        Kind::Criteria
    } else if begins(&["success criteria"]) {
        Kind::Success
    } else if is(&[
        "tasks",
        "task breakdown",
        "implementation tasks",
        "tasks / subtasks",
        "implementation plan",
        "implementation steps",
        "task list",
        "step by step tasks",
        "step-by-step tasks",
        "steps",
        "todo",
        "to do",
        "todos",
        "work items",
        "checklist",
        "implementation checklist",
        "plan",
        "development tasks",
    ]) {
        Kind::Tasks
    } else if begins(&["files to ", "files modified", "file changes", "relevant files"]) || is(&["files"]) {
        Kind::Files
    } else if is(&["overview", "goal", "goals", "objective", "summary", "description", "purpose", "problem"])
    {
        Kind::About
    } else if begins(&[
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
    ]) {
        Kind::Aside
    } else {
        Kind::Other
    }
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
