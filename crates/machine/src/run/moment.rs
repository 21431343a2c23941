//! When a handoff disturbs least: nothing runs, and something was just completed — a list item closed, a note left,
//! a commit made, a gate's command passed. The end of a turn that leaves work to do is one too, and is looked at there.

use super::{Run, Then};
use crate::{Effect, WorkState};

impl Run {
    /// Whether this is a good moment for a handoff.
    pub(super) fn is_good_moment(&self) -> bool {
        self.completed && self.view.session.as_ref().is_some_and(|s| s.tools.is_empty())
    }

    /// Whether a tool with this title, gone well, completes something.
    pub(super) fn completes(&self, title: &str) -> bool {
        let Some(spec) = self.view.spec.as_ref().filter(|spec| spec.policy.moves.is_some()) else {
            return false;
        };
        let gate = |run: &str| !run.trim().is_empty() && title.contains(run.trim());
        is_commit(title) || spec.gates.iter().any(|g| !g.manual && gate(&g.run))
    }

    /// A gate passed: that completes something if it did not pass before.
    pub(super) fn seen_green(&mut self, gate: &str) {
        let moves = self.view.spec.as_ref().is_some_and(|spec| spec.policy.moves.is_some());
        self.completed |= moves && self.view.gates.get(gate).is_some_and(|before| !before.passed);
    }

    /// A commit that was not there before completes something.
    pub(super) fn seen_in_git(&mut self, work: &WorkState, out: &mut Vec<Effect>) {
        self.branches_changed(work, out);
        let new = |head: &String| self.view.head.as_ref().is_some_and(|before| before != head);
        let moves = self.view.spec.as_ref().is_some_and(|spec| spec.policy.moves.is_some());
        self.completed |= moves && work.head.as_ref().is_some_and(new);
        // Before a resumed session has its prompt, the commit that its run left is still to be held against this one.
        let resumes = matches!(self.taking, Some(Then::Start(_)));
        if work.head.is_some() && !resumes {
            self.view.head.clone_from(&work.head);
        }
    }

    /// What happened to branches is told, and stays in the verdict.
    pub(super) fn branches_changed(&mut self, work: &WorkState, out: &mut Vec<Effect>) {
        for change in &work.branches {
            Self::warn("branch", change.clone(), out);
            self.view.branch_changes.push(change.clone());
        }
    }
}

/// Whether a command line makes a commit: `git commit` as one of its commands, options before the word left out.
fn is_commit(title: &str) -> bool {
    title.split(['&', ';', '|', '\n', '(', ')', '`', '"', '\'']).any(|command| {
        let mut words = command.split_whitespace().skip_while(|word| !is_git(word)).skip(1);
        while let Some(word) = words.next() {
            match word {
                "-C" | "-c" | "--git-dir" | "--work-tree" => {
                    words.next();
                }
                "commit" => return !words.any(|word| matches!(word, "--dry-run" | "--help" | "-h")),
                option if option.starts_with('-') => {}
                _ => return false,
            }
        }
        false
    })
}

fn is_git(word: &str) -> bool {
    word == "git" || word.ends_with("/git")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_told_from_other_uses_of_the_word() {
        for title in [
            "git commit -m 'step 3'",
            "cd api && git add -A && git commit -m \"wip; more\"",
            "Bash: git -C /w -c user.name=x commit --amend",
            "/usr/bin/git commit",
        ] {
            assert!(is_commit(title), "{title}");
        }
        for title in [
            "git log --grep commit",
            "git show commit",
            "commit",
            "git commit --dry-run",
            "git",
            "echo git; commit",
        ] {
            assert!(!is_commit(title), "{title}");
        }
    }
}
