//! `segue doctor`: looks for what would go wrong, and says what to do about it.

use std::borrow::Cow;

use segue_journal::{Journal, UNREADABLE};

use super::failure::Failure;
use super::open::{Place, find_program};
use super::out;
use crate::config::{Flags, resolve};
use crate::git::Repo;
use crate::process::lock::Lock;

struct Check {
    name: Cow<'static, str>,
    fine: bool,
    text: String,
}

/// Runs every check, prints each as it is done, and exits with 1 when one of them found something.
pub(super) fn doctor(at: &Place) -> Result<u8, Failure> {
    let mut bad = 0_u32;
    let mut tell = |check: &Check| {
        bad += u32::from(!check.fine);
        print(at, check);
    };
    [git(at), repository(at), configuration(at)].iter().for_each(&mut tell);
    agents(at, &mut tell);
    permissions(at).iter().for_each(&mut tell);
    [state(at), journal(at), owner(at)].iter().for_each(&mut tell);
    notifications().iter().for_each(&mut tell);
    other_tools(at).iter().for_each(&mut tell);
    Ok(u8::from(bad > 0))
}

fn print(at: &Place, check: &Check) {
    if at.json {
        let doc = serde_json::json!({ "check": check.name, "ok": check.fine, "text": check.text });
        return out::line(&doc.to_string());
    }
    let mark = if check.fine { "ok " } else { "BAD" };
    out::labelled(&format!("{mark}  {:<16} ", check.name), &check.text);
}

fn git(at: &Place) -> Check {
    match find_program("git", &at.dir) {
        Ok(path) => Check { name: "git".into(), fine: true, text: path.display().to_string() },
        Err(why) => Check {
            name: "git".into(),
            fine: false,
            text: format!("{why}: install git, or run with --no-git"),
        },
    }
}

// Only what went wrong: `segue notify` says the rest.
fn notifications() -> Option<Check> {
    let failed = crate::notify::last_failure()?;
    let text = format!(
        "the last one, of run {} at {}, was not delivered: {}; `segue notify` tests it",
        failed.run,
        out::moment(failed.at),
        failed.why
    );
    Some(Check { name: "notifications".into(), fine: false, text })
}

// Settings of other tools are nothing bad, but they do nothing here.
fn other_tools(at: &Place) -> Option<Check> {
    let lines = crate::config::other_tools::found_settings(at.store().root());
    (!lines.is_empty()).then(|| Check { name: "other tools".into(), fine: true, text: lines.join("\n") })
}

fn repository(at: &Place) -> Check {
    match Repo::find(&at.dir) {
        Ok(repo) => Check { name: "repository".into(), fine: true, text: repo.root().display().to_string() },
        Err(error) => Check { name: "repository".into(), fine: false, text: error.to_string() },
    }
}

fn configuration(at: &Place) -> Check {
    let name: Cow<'static, str> = "configuration".into();
    let Ok(layers) = at.layers(&Flags::default()) else {
        return Check { name, fine: false, text: "invalid: `segue config check` shows where".to_owned() };
    };
    match resolve(&layers) {
        Ok(settings) => Check { name, fine: true, text: format!("policy {}", settings.preset) },
        Err(errors) if errors.only_no_agent() => {
            let found = super::agents::installed();
            let text = match found.first() {
                Some(first) => format!(
                    "no agent chosen; {first} is installed: add `--agent {first}` or run `segue init`"
                ),
                None => "no agent chosen, and no known agent is on PATH; `segue demo` needs none".to_owned(),
            };
            Check { name, fine: !found.is_empty(), text }
        }
        Err(_) => Check { name, fine: false, text: "invalid: `segue config check` shows where".to_owned() },
    }
}

// Those that would work here; when none is chosen, those that could.
fn agents(at: &Place, tell: &mut impl FnMut(&Check)) {
    super::agents::look_each(at, |look| {
        if !look.configured && look.path.is_err() {
            return;
        }
        let name = format!("agent {}", look.name).into();
        tell(&match look.trouble() {
            Some(trouble) => Check { name, fine: !look.configured, text: trouble },
            None => Check { name, fine: true, text: format!("{}, {}", look.version_words(), look.driven()) },
        });
    });
}

fn permissions(at: &Place) -> Vec<Check> {
    let check = |text| Check { name: "permissions".into(), fine: true, text };
    permission_words(at).into_iter().map(check).collect()
}

/// What the agents of a run from here may do, a sentence for each.
pub(super) fn permission_words(at: &Place) -> Vec<String> {
    let settings = at.layers(&Flags::default()).ok().and_then(|layers| resolve(&layers).ok());
    let Some(settings) = settings else { return Vec::new() };
    settings.agents.iter().map(|agent| crate::permissions::words(agent, &settings.gates)).collect()
}

fn state(at: &Place) -> Check {
    let store = at.store();
    if let Err(error) = store.refuse_link() {
        return Check { name: "state".into(), fine: false, text: error.to_string() };
    }
    let dir = store.dir();
    let there = dir.ancestors().find(|dir| dir.exists()).unwrap_or(&dir);
    let writable = tempfile::tempfile_in(there);
    match writable {
        Ok(_) => Check { name: "state".into(), fine: true, text: dir.display().to_string() },
        Err(error) => {
            Check { name: "state".into(), fine: false, text: format!("{}: {error}", dir.display()) }
        }
    }
}

fn journal(at: &Place) -> Check {
    let check = |fine, text| Check { name: "journal".into(), fine, text };
    let runs = match Journal::read(&at.store().runs()).runs() {
        Ok(runs) => runs,
        Err(error) => return check(false, error.to_string()),
    };
    let broken: Vec<&str> =
        runs.iter().filter(|row| row.status == UNREADABLE).map(|row| &*row.task).collect();
    match (runs.len(), broken.is_empty()) {
        (0, _) => check(true, "none yet".to_owned()),
        (count, true) => check(true, format!("{count} runs")),
        (count, false) => check(false, format!("{count} runs; {}", broken.join("; "))),
    }
}

fn owner(at: &Place) -> Check {
    let text = match Lock::holder(&at.store().dir()) {
        Some(holder) if holder.is_alive() => {
            format!("run {} (process {})", holder.run, holder.pid)
        }
        Some(holder) => format!("none; the last was run {}", holder.run),
        None => "none".to_owned(),
    };
    Check { name: "active run".into(), fine: true, text }
}
