//! `segue checkpoint verify`: whether checkpoints are as they were written. Exit 1 when one is not.

use serde_json::json;

use super::{Failure, One, Place, Shelf, out, way_on};
use crate::checkpoint::{Document, Found, Stored};
use crate::git::Repo;

/// Checks one checkpoint, those of a run, or all.
pub(super) fn verify(at: &Place, one: &One, all: bool) -> Result<u8, Failure> {
    let shelf = Shelf::open(at)?;
    let chosen: Vec<&Found> = if all {
        shelf.found.iter().collect()
    } else if one.id.is_none() {
        let run = shelf.choose(None, one.run.as_deref())?.run.clone();
        shelf.found.iter().filter(|f| f.run == run).collect()
    } else {
        vec![shelf.choose(one.id.as_deref(), one.run.as_deref())?]
    };
    let repo = shelf.repo();
    let mut bad = 0_usize;
    for found in &chosen {
        let opened = Document::open(&found.path);
        let faults = match &opened {
            Ok(stored) => faults(found, stored, repo.as_ref()),
            Err(error) => vec![format!("{error}; {}", way_on(found))],
        };
        bad += usize::from(!faults.is_empty());
        tell(at, found, opened.as_ref().ok(), &faults);
    }
    if !at.json {
        out::line(&match (chosen.len(), bad) {
            (0, _) => "no checkpoints here yet".to_owned(),
            (n, 0) => format!("{n} checked, all intact"),
            (n, bad) => format!("{n} checked, {bad} damaged"),
        });
    }
    Ok(u8::from(bad > 0))
}

fn faults(found: &Found, stored: &Stored, repo: Option<&Repo>) -> Vec<String> {
    let document = &stored.document;
    let mut faults = Vec::new();
    if document.id != found.id {
        let name = found.path.file_name().unwrap_or_default().to_string_lossy();
        faults.push(format!("the file {name} holds checkpoint {}; rename it to match", document.id));
    }
    let Some((reference, repo)) = document.snapshot.as_ref().zip(repo) else { return faults };
    match repo.tree_of(reference) {
        Ok(None) => faults.push(format!(
            "its snapshot {reference} is no longer in git: the text can be used, the files of that moment are lost"
        )),
        Ok(tree) if document.tree.is_some() && tree != document.tree => faults.push(format!(
            "its snapshot {reference} was moved to other files; `git restore --source={} --worktree -- :/` restores those of that moment",
            document.tree.as_deref().unwrap_or_default()
        )),
        Ok(_) => {}
        Err(error) => faults.push(format!("its snapshot {reference} cannot be read: {error}")),
    }
    faults
}

fn tell(at: &Place, found: &Found, stored: Option<&Stored>, faults: &[String]) {
    if at.json {
        let doc = json!({
            "checkpoint": found.id, "ok": faults.is_empty(), "version": stored.map(|s| s.document.version),
            "bytes": stored.map(|s| s.bytes), "ratio": stored.map(Stored::ratio), "faults": faults,
        });
        return out::line(&doc.to_string());
    }
    if let (Some(stored), []) = (stored, faults) {
        return out::line(&format!("ok     {}  {}", found.id, out::size(stored.bytes)));
    }
    for fault in faults {
        out::line(&format!("FAULT  {}  {}", found.id, segue_report::plain(fault)));
    }
}
