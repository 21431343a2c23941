//! `segue checkpoint create`: one now, from what the journal and git know.
//!
//! Nobody is asked and no lock is taken: it works beside a run, after its end, and after a kill.

use segue_machine::{Asked, Depth, Event};

use super::super::open;
use super::{Failure, Place, out};
use crate::checkpoint::{Document, Request, Situation, take};
use crate::config::Flags;
use crate::git::Repo;
use crate::{clock, history};

/// Makes a checkpoint of a run.
pub(super) fn create(at: &Place, run: Option<&str>) -> Result<u8, Failure> {
    let reader = at.reader()?;
    let row = at.run(&reader, run)?;
    let found = history::folded(&reader, &row.id)?;
    let view = found.state.machine.view();
    let (Some(spec), Some(situation)) = (&view.spec, Situation::of(view, clock::now())) else {
        return Err(Failure::usage(format!("run {} never started; there is nothing to save", row.id)));
    };
    let agents: Vec<&str> = spec.agents.iter().map(|agent| agent.name.as_str()).collect();
    let flags = Flags {
        agent: Some(agents.join(",")),
        no_git: !spec.git.enabled,
        policy: open::preset_of(spec),
        ..Flags::default()
    };
    let settings = at.settings(&flags)?;
    let store = at.store();
    let repo = if spec.git.enabled { Some(Repo::find(store.workdir())?) } else { None };
    let repo = repo.map(|repo| repo.leaving_out(open::own_paths(&settings)));
    let place = open::workplace(store, &row.id, repo, &settings)?;
    let last = found.last;
    let mut id = format!("{}-m{last}", row.id);
    let mut again = 1;
    while Document::file(&place.checkpoints, &id).exists() {
        again += 1;
        id = format!("{}-m{last}.{again}", row.id);
    }
    let asked = Asked { depth: Depth::Full, stage: None, reason: "requested by the user".to_owned() };
    let session = view.sessions;
    let (answer, next, source) = (None, None, None);
    let request = Request { id: id.clone(), session, asked, answer, commit: false, next, source, situation };
    let last = take(&place, request).pop();
    if let Some(Event::CheckpointFailed { why, .. }) = last {
        return Err(Failure::failed(why));
    }
    let Some(Event::CheckpointTaken { path, work, ms, .. }) = last else {
        return Err(Failure::failed("no checkpoint was made"));
    };
    let stored = Document::open(&place.store.find(&path))?;
    if at.json {
        let doc = serde_json::json!({
            "checkpoint": id, "run": row.id, "path": path, "snapshot": work.snapshot, "trouble": work.trouble,
            "bytes": stored.bytes, "unpacked": stored.unpacked, "ratio": stored.ratio(), "ms": ms,
        });
        out::line(&doc.to_string());
        return Ok(0);
    }
    out::line(&format!("checkpoint {id} of run {} is in {path}", row.id));
    out::lines(work.trouble.iter().map(|trouble| format!("not complete: {}", segue_report::plain(trouble))));
    out::line("`segue checkpoint show` shows it and how to continue from it");
    Ok(0)
}
