//! How the work of a phase comes into the plan's branch: merged beside both, checked, then the branch goes forward to it.
//!
//! Every step can be cut off anywhere and done again. Nothing here decides what follows; that is `landing.rs`.

use std::path::Path;

use segue_plans::{Format, Phase, merge_by_item};

use super::Work;
use super::trees::{Tree, TreeError, die_at};
use crate::git::{GitError, Merged, Repo};
use crate::plan::gates::quoted;

/// A phase merged with the plan's branch, in no work tree yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::plan) struct Prepared {
    /// The head of the plan's branch.
    pub(in crate::plan) onto: String,
    /// The phase's own head.
    pub(in crate::plan) own: String,
    /// Both; the phase's own head when it holds the other one already.
    pub(in crate::plan) commit: String,
    /// Files in conflict.
    pub(in crate::plan) conflicts: Vec<String>,
    /// What git says about them.
    pub(in crate::plan) words: String,
}

impl Prepared {
    /// Whether there is anything that was not checked with the phase itself.
    pub(in crate::plan) fn is_new(&self) -> bool {
        self.commit != self.own
    }
}

/// What came of bringing the branch forward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::plan) enum Landing {
    /// It is there.
    There,
    /// Somebody else brought it forward: the phase must be merged again.
    Moved,
    /// Changes that are not committed are in the way.
    Refused(String),
}

/// Files of the plan, as paths from the top of the work tree, and the format that they are written in.
pub(in crate::plan) type PlanFiles = (Vec<String>, Format);

/// Merges a phase with the plan's branch as it is now.
pub(in crate::plan) fn prepare(tree: &Tree, message: &str, plan: &PlanFiles) -> Result<Prepared, TreeError> {
    let (repo, main) = (tree.repo()?, tree.main_repo()?);
    repo.wait_for_others();
    tree.keep("done", "before it was merged")?;
    repo.commit_all(message, false)?;
    let (own, onto) = heads(&repo, &main)?;
    let none = |commit: String| Prepared {
        onto: onto.clone(),
        own: own.clone(),
        commit,
        conflicts: Vec::new(),
        words: String::new(),
    };
    if repo.leads_to(&onto, &own) == Some(true) {
        return Ok(none(own.clone()));
    }
    let Merged { tree: files, conflicts, words } = by_item(&repo, [&onto, &own], plan)?;
    let commit = repo.commit_of(&files, &[&onto, &own], message)?;
    die_at("prepared");
    Ok(Prepared { conflicts, words, ..none(commit) })
}

/// Two commits as one tree; files of the plan in which both ticked something off are merged item by item.
pub(in crate::plan) fn by_item(
    repo: &Repo,
    [onto, own]: [&str; 2],
    (files, format): &PlanFiles,
) -> Result<Merged, GitError> {
    let mut merged = repo.merged(onto, own)?;
    let Some(base) = repo.common_base(onto, own).filter(|_| !merged.conflicts.is_empty()) else {
        return Ok(merged);
    };
    let both: Vec<&String> = files.iter().filter(|path| merged.conflicts.contains(path)).collect();
    for path in both {
        let text =
            |commit: &str| repo.file_of(commit, path).and_then(|file| String::from_utf8(file.bytes).ok());
        let (Some(was), Some(ours), Some(theirs)) = (text(&base), text(onto), text(own)) else { continue };
        let lines = |texts: [&str; 3]| repo.merged_text(texts);
        if let Some(text) = merge_by_item(path, *format, &was, [&ours, &theirs], lines) {
            merged.tree = repo.with_file(&merged.tree, path, &text)?;
            merged.conflicts.retain(|other| other != path);
        }
    }
    Ok(merged)
}

fn heads(repo: &Repo, main: &Repo) -> Result<(String, String), GitError> {
    let none = |whose: &str| GitError::Failed {
        call: "git rev-parse".to_owned(),
        why: format!("{whose} has no commit: make one, then `segue resume` continues"),
    };
    let own = repo.head().ok_or_else(|| none("the phase's branch"))?;
    Ok((own, main.head().ok_or_else(|| none("the plan's branch"))?))
}

/// Brings what was merged into the work tree of the phase, to be checked or mended there.
pub(in crate::plan) fn spread(tree: &Tree, commit: &str, others: &[Phase]) -> Result<(), TreeError> {
    let repo = tree.repo()?;
    repo.wait_for_others();
    repo.forward(commit)?;
    others.iter().try_for_each(|other| tree.bring_along(other))?;
    die_at("spread");
    Ok(())
}

/// What was mended, as one merge in place of all that led to it; the files that still hold markers when it is not.
pub(in crate::plan) fn settle(
    tree: &Tree,
    work: &Work,
    message: &str,
) -> Result<Result<String, Vec<String>>, TreeError> {
    let repo = tree.repo()?;
    let marked = repo.with_markers(&work.conflicts);
    if !marked.is_empty() {
        return Ok(Err(marked));
    }
    tree.keep("mended", "after its conflicts were resolved")?;
    repo.commit_all(message, false)?;
    let (own, onto) = (work.own.as_deref().unwrap_or_default(), work.onto.as_deref().unwrap_or_default());
    let files = repo.tree_of("HEAD")?.unwrap_or_default();
    let commit = repo.commit_of(&files, &[onto, own], message)?;
    repo.rebase_same(&commit)?;
    die_at("settled");
    Ok(Ok(commit))
}

/// Brings the plan's branch forward.
pub(in crate::plan) fn land(tree: &Tree, commit: &str) -> Result<Landing, TreeError> {
    let main = tree.main_repo()?;
    main.wait_for_others();
    let head = main.head().unwrap_or_default();
    if main.leads_to(commit, &head) == Some(true) {
        return Ok(Landing::There);
    }
    if main.leads_to(&head, commit) != Some(true) {
        return Ok(Landing::Moved);
    }
    die_at("landing");
    if main.forward(commit).is_ok() {
        die_at("landed");
        return Ok(Landing::There);
    }
    // A step that was cut off has left some files as they are to be.
    tree.keep_main(&main)?;
    main.undo_half(commit)?;
    match main.forward(commit) {
        Ok(()) => Ok(Landing::There),
        Err(GitError::Failed { why, .. }) => Ok(Landing::Refused(why)),
        Err(error) => Err(error.into()),
    }
}

/// The words of a merge.
pub(in crate::plan) fn message(id: &str, title: &str, plan: &str) -> String {
    let title = if title.is_empty() { String::new() } else { format!(": {title}") };
    format!("Merge phase {id}{title}\n\nPlan: {plan}\n")
}

/// The commands by which a person finishes what no agent could.
pub(in crate::plan) fn by_hand(tree: &Tree, marked: &[String], plan: &str, shown: &Path) -> Vec<String> {
    let mut lines = vec![format!("cd {}", quoted(&shown.display().to_string()))];
    if marked.is_empty() {
        lines.push("# fix what the gates report".to_owned());
    } else {
        let files: Vec<String> = marked.iter().map(|path| quoted(path)).collect();
        lines.push(format!("# take the markers <<<<<<< and >>>>>>> out of: {}", files.join(" ")));
    }
    lines.push("git add --all && git commit -m 'Resolve the merge'".to_owned());
    lines.push(format!("cd {}", quoted(&tree.main.display().to_string())));
    lines.push(format!("segue resume {plan}"));
    lines
}
