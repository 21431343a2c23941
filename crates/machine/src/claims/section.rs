//! What a heading, or the line before a list, says about what stands below it.

use super::Change;
use super::fields::{self, Field};

/// What kind of thing stands below a heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    /// Finished work.
    Done,
    /// Files that were changed in this way.
    Files(Change),
    /// Commits.
    Commits,
    /// Results of checks.
    Checks,
    /// Work that is left.
    Remaining,
    /// Decisions.
    Decisions,
    /// What must hold.
    Constraints,
    /// What was tried and does not work.
    DeadEnds,
    /// What must be left alone.
    DoNotRedo,
    /// What fails.
    Failures,
    /// A person's rules.
    Rules,
    /// The goal, a question, background: nothing that was done.
    Talk,
    /// Nothing special.
    Other,
}

// The first row that has a phrase in the title wins, so the order matters: "not done" is not "done".
const TITLES: [(Section, &str); 16] = [
    (Section::DoNotRedo, "do not redo|don't redo|not to redo|never redo|do not repeat|leave alone"),
    (
        Section::DeadEnds,
        "dead end|did not work|didn't work|does not work|doesn't work|failed approach|\
         failed attempt|abandoned|tried|do not try|don't try|pitfall|to avoid",
    ),
    (
        Section::Remaining,
        "remaining|to do|todo|to-do|next|not done|not yet|unfinished|incomplete|outstanding|\
         pending|left|plan|upcoming|future|in progress|open item|open task|open work|\
         partial state|follow-up|still|will |need to|needs to|should|backlog|planned|would|\
         to be created|to be done|going to|did not|didn't|suggest|recommend|optional|could|might|\
         i'd |offen|ausstehend|nicht |pendiente|restant|reste|à faire|残り|未完了",
    ),
    (Section::Rules, "rule|user instruction|user's instruction|user preference|guideline"),
    (Section::Constraints, "constraint|requirement|invariant|assumption|limitation"),
    (Section::Decisions, "decision|decided|design choice|rationale|choices"),
    (
        Section::Failures,
        "failing|failure|failed|error|known issue|open issue|known problem|problem|bug|blocker|\
         blocked|broken|issues|red",
    ),
    (
        Section::Talk,
        "goal|task description|objective|question|background|mission|overview of the task|\
         not changed|not touched|not modified|unchanged|untouched|unmodified|no changes|reviewed|\
         inspected|examined|consulted|files read|considered|alternative|options|how to|\
         how it works|explanation|cause|root cause|finding|observation|analysis|diagnosis|why |\
         reference|relevant",
    ),
    (Section::Files(Change::Deleted), "deleted|removed file|deletions|have been removed|i removed"),
    (Section::Files(Change::Created), "new file|created|i added|have been added|were added|i wrote"),
    (
        Section::Files(Change::Touched),
        "files changed|changed file|files touched|files updated|updated file|modified|edited|i changed|\
         i updated|were changed|have been changed|were updated|have been updated",
    ),
    (Section::Commits, "commits|commit log|git log"),
    (Section::Checks, "test result|verification|tests|checks|gates|ci status|validation"),
    (
        Section::Done,
        "completed|complete|done|accomplished|finished|implemented|achieved|progress|\
         changes made|changes|what works|delivered|what i did|what changed|what has changed|\
         i did|work so far|summary of work|erledigt|fertig|abgeschlossen|hecho|completado|terminé|fait|完了",
    ),
    (Section::Talk, "context|example|glossary"),
    (Section::Other, "status|summary|notes"),
];

/// The kind that a title speaks of.
pub(super) fn section(title: &str) -> Section {
    match fields::field(title) {
        Some(Field::Files(Some(change))) => return Section::Files(change),
        Some(Field::Commits) => return Section::Commits,
        Some(Field::Files(None) | Field::Checks | Field::Check(_)) | None => {}
    }
    let title = format!(" {} ", title.to_lowercase().replace('’', "'").replace('_', " "));
    let has = |phrase: &str| title.match_indices(phrase).any(|(at, _)| starts_word(&title, at));
    TITLES.iter().find(|(_, phrases)| phrases.split('|').any(has)).map_or(Section::Other, |(s, _)| *s)
}

fn starts_word(title: &str, at: usize) -> bool {
    !title[..at].chars().next_back().is_some_and(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_known_by_its_words_and_not_done_is_not_done() {
        for (title, kind) in [
            ("Completed Work", Section::Done),
            ("Tasks Completed", Section::Done),
            ("What is not done", Section::Remaining),
            ("Remaining Tasks", Section::Remaining),
            ("Next steps", Section::Remaining),
            ("Do Not Redo", Section::DoNotRedo),
            ("Key Decisions", Section::Decisions),
            ("Files Modified", Section::Files(Change::Touched)),
            ("I created the following files", Section::Files(Change::Created)),
            ("I still need to create", Section::Remaining),
            ("Failing tests", Section::Failures),
            ("Goal", Section::Talk),
            ("Architecture", Section::Other),
        ] {
            assert_eq!(section(title), kind, "{title}");
        }
    }
}
