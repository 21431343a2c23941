//! What a heading, or the line before a list, says about what stands below it.

use crate::claims::{Change, ClaimKind};

/// What kind of thing stands below a heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heading {
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
const TITLES: [(Heading, &str); 16] = [
    (Heading::DoNotRedo, "do not redo|don't redo|not to redo|never redo|do not repeat|leave alone"),
    (
        Heading::DeadEnds,
        "dead end|did not work|didn't work|does not work|doesn't work|failed approach|\
         failed attempt|abandoned|tried|do not try|don't try|pitfall|to avoid",
    ),
    (
        Heading::Remaining,
        "remaining|to do|todo|to-do|next|not done|not yet|unfinished|incomplete|outstanding|\
         pending|left|plan|upcoming|future|in progress|open item|open task|open work|\
         partial state|follow-up|still|will |need to|needs to|should|backlog|planned|would|\
         to be created|to be done|going to|did not|didn't|suggest|recommend|optional|could|might|\
         i'd |offen|ausstehend|nicht |pendiente|restant|reste|à faire|残り|未完了",
    ),
    (Heading::Rules, "rule|user instruction|user's instruction|user preference|guideline"),
    (Heading::Constraints, "constraint|requirement|invariant|assumption|limitation"),
    (Heading::Decisions, "decision|decided|design choice|rationale|choices"),
    (
        Heading::Failures,
        "failing|failure|failed|error|known issue|open issue|known problem|problem|bug|blocker|\
         blocked|broken|issues|red",
    ),
    (
        Heading::Talk,
        "goal|task description|objective|question|background|mission|overview of the task|\
         not |unchanged|untouched|unmodified|no changes|reviewed|\
         inspected|examined|consulted|files read|considered|alternative|options|how to|\
         how it works|explanation|cause|root cause|finding|observation|analysis|diagnosis|why |\
         reference|relevant",
    ),
    (Heading::Files(Change::Deleted), "deleted|removed file|deletions|have been removed|i removed"),
    (Heading::Files(Change::Created), "new file|created|i added|have been added|were added|i wrote"),
    (
        Heading::Files(Change::Touched),
        "files changed|changed file|files touched|files updated|updated file|modified|edited|i changed|\
         i updated|were changed|have been changed|were updated|have been updated",
    ),
    (Heading::Commits, "commits|commit log|git log"),
    (Heading::Checks, "test result|verification|tests|checks|gates|ci status|validation"),
    (
        Heading::Done,
        "completed|complete|done|accomplished|finished|implemented|achieved|progress|\
         changes made|changes|what works|delivered|what i did|what changed|what has changed|\
         i did|work so far|summary of work|erledigt|fertig|abgeschlossen|hecho|completado|terminé|fait|完了",
    ),
    (Heading::Talk, "context|example|glossary"),
    (Heading::Other, "status|summary|notes"),
];

/// The kind that a title speaks of.
pub(crate) fn heading(title: &str) -> Heading {
    let title = format!(" {} ", title.to_lowercase().replace('’', "'").replace('_', " "));
    let has = |phrase: &str| title.match_indices(phrase).any(|(at, _)| starts_word(&title, at));
    TITLES.iter().find(|(_, phrases)| phrases.split('|').any(has)).map_or(Heading::Other, |(s, _)| *s)
}

fn starts_word(title: &str, at: usize) -> bool {
    !title[..at].chars().next_back().is_some_and(char::is_alphanumeric)
}

/// What an item below it is for the next session; nothing below other headings when it `told` something else already.
pub(crate) fn sorted(text: &str, heading: Heading, told: bool) -> Option<ClaimKind> {
    let low = text.to_lowercase();
    let has = |phrases: &str| phrases.split('|').any(|phrase| low.contains(phrase));
    let dead =
        has("dead end|does not work|doesn't work|did not work|didn't work|do not try|don't try|ruled out")
            || (has("tried ") && has("fail|but |too slow|broke|no good|in vain|without success"));
    match heading {
        Heading::Done | Heading::Files(_) | Heading::Commits | Heading::Checks | Heading::Talk => None,
        Heading::Remaining => Some(ClaimKind::Remaining),
        Heading::Constraints => Some(ClaimKind::Constraint),
        Heading::DeadEnds => Some(ClaimKind::DeadEnd),
        Heading::Failures => Some(ClaimKind::Failure),
        Heading::Rules => Some(ClaimKind::Rule),
        Heading::DoNotRedo | Heading::Decisions if dead => Some(ClaimKind::DeadEnd),
        Heading::DoNotRedo => Some(ClaimKind::DoNotRedo),
        Heading::Decisions if binds(text) => Some(ClaimKind::Constraint),
        Heading::Decisions => Some(ClaimKind::Decision),
        Heading::Other if told || text.ends_with('?') => None,
        Heading::Other if dead => Some(ClaimKind::DeadEnd),
        Heading::Other if has("decided|decision|we chose|i chose|opted for|we settled on") => {
            Some(ClaimKind::Decision)
        }
        Heading::Other
            if has("still need|still to |remains to|left to do|todo|next step|not yet |yet to be") =>
        {
            Some(ClaimKind::Remaining)
        }
        Heading::Other if has("constraint") || binds(text) => Some(ClaimKind::Constraint),
        Heading::Other => None,
    }
}

fn binds(text: &str) -> bool {
    let bare =
        |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'");
    let all: Vec<String> = text.split_whitespace().map(bare).collect();
    let binding = ["must", "never", "always", "mustn't", "forbidden", "mandatory"];
    all.iter().any(|word| binding.contains(&word.as_str()))
        || all.windows(2).any(|pair| {
            ["may", "at"].contains(&pair[0].as_str()) && ["not", "most", "least"].contains(&pair[1].as_str())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_known_by_its_words_and_not_done_is_not_done() {
        for (title, kind) in [
            ("Completed Work", Heading::Done),
            ("Tasks Completed", Heading::Done),
            ("What is not done", Heading::Remaining),
            ("Remaining Tasks", Heading::Remaining),
            ("Next steps", Heading::Remaining),
            ("Do Not Redo", Heading::DoNotRedo),
            ("Key Decisions", Heading::Decisions),
            ("Files Modified", Heading::Files(Change::Touched)),
            ("I created the following files", Heading::Files(Change::Created)),
            ("I still need to create", Heading::Remaining),
            ("Failing tests", Heading::Failures),
            ("Goal", Heading::Talk),
            ("Architecture", Heading::Other),
        ] {
            assert_eq!(heading(title), kind, "{title}");
        }
    }
}
