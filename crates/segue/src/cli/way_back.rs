//! The operator's way back: going on from a checkpoint of one's choice, in the same run or in a new one.
//!
//! A checkpoint that was changed is refused here, before anything is begun.

use std::io::Write;

use segue_machine::{CheckpointRef, Task, View};
use segue_plans::read_task;

use super::checkpoint::Shelf;
use super::failure::Failure;
use super::open::Place;
use crate::checkpoint::{Document, Situation, Workplace, page, save};
use crate::clock;

/// The checkpoint that a new run goes on from: a file, or one of this work tree.
pub(super) fn begin_from(at: &Place, typed: &str) -> Result<Document, Failure> {
    let path = at.dir.join(typed);
    if path.is_file() {
        // What was typed may be a link of the user's own.
        return Document::read(&path.canonicalize().unwrap_or(path)).map_err(|error| {
            Failure::failed(format!(
                "{error}\nit is not used: export it again, or choose another (`segue checkpoint list`)"
            ))
        });
    }
    Shelf::open(at)?.read(Some(typed), None)
}

/// The task that a checkpoint holds.
pub(super) fn task_of(document: &Document) -> Result<Task, Failure> {
    if document.task.trim().is_empty() {
        return Err(Failure::usage(format!(
            "checkpoint {} does not contain its task; give it: segue run --from-checkpoint {} \"the task\"",
            document.id, document.id
        )));
    }
    if document.redacted > 0 {
        say(&format!(
            "warning: {} secrets were removed from checkpoint {}; if the task held one, give the task again",
            document.redacted, document.id
        ));
    }
    Ok(read_task(document.task.as_bytes(), None)?)
}

/// Puts a checkpoint of another run, or another work tree, among those of this run.
pub(super) fn adopt(document: Document, place: &Workplace) -> Result<CheckpointRef, Failure> {
    let here = place.repo.as_ref().zip(document.snapshot.as_ref());
    let known = here.is_some_and(|(repo, name)| repo.tree_of(name).is_ok_and(|tree| tree.is_some()));
    let adopted = Document {
        id: format!("{}-c0", place.run),
        run: place.run.clone(),
        reason: format!("started from checkpoint {}", document.id),
        from: Some(document.id.clone()),
        snapshot: document.snapshot.clone().filter(|_| known),
        tree: document.tree.clone().filter(|_| known),
        ..document
    };
    let (id, by, ledger) = (adopted.id.clone(), adopted.by, adopted.memory());
    let page = page(&adopted);
    let path = adopted.store(&place.forms.dir(&place.store)?, &page)?;
    Ok(CheckpointRef { id, path: place.store.shown(&path), session: 0, by, ledger })
}

/// The checkpoint that a run goes back to: one of this work tree, or a file of one of its runs.
pub(super) fn go_back_to(at: &Place, typed: &str, run: Option<&str>) -> Result<Document, Failure> {
    let path = at.dir.join(typed);
    let document =
        if path.is_file() { begin_from(at, typed)? } else { Shelf::open(at)?.read(Some(typed), run)? };
    if run.is_some_and(|run| !document.run.starts_with(run)) {
        return Err(Failure::usage(format!(
            "checkpoint {} is of run {}; `segue run --from-checkpoint {typed}` starts a new run from it",
            document.id, document.run
        )));
    }
    let known = at.reader()?.runs()?.iter().any(|row| row.id == document.run);
    if !known {
        return Err(Failure::usage(format!(
            "run {} is not one of this work tree; `segue run --from-checkpoint {typed}` starts a new run from it",
            document.run
        )));
    }
    Ok(document)
}

/// Saves the work as it is, so that going back loses nothing, and makes sure that the checkpoint is where the run reads it.
pub(super) fn prepare(
    document: Document,
    place: &Workplace,
    view: &View,
    last: u64,
) -> Result<CheckpointRef, Failure> {
    if let Some(situation) = Situation::of(view, clock::now()) {
        let work = save(place, &situation, &format!("before-going-back-{last}"), false, "in progress");
        if let Some(reference) = &work.snapshot {
            say(&format!("the current work is saved in {reference}"));
        }
        if let Some(trouble) = &work.trouble {
            say(&format!("warning: {trouble}"));
        }
    }
    let dir = place.forms.dir(&place.store)?;
    let (session, by, id, ledger) = (document.session, document.by, document.id.clone(), document.memory());
    let mut path = Document::file(&dir, &id);
    if Document::read(&path).ok().as_ref() != Some(&document) {
        let page = page(&document);
        path = document.store(&dir, &page)?;
    }
    Ok(CheckpointRef { id, path: place.store.shown(&path), session, by, ledger })
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "segue: {text}");
}
