//! `segue doctor`: looks for what would go wrong, and says what to do about it.

use segue_journal::Journal;

use super::failure::Failure;
use super::open::{Place, find_program};
use super::out;
use crate::config::{Flags, resolve};
use crate::git::Repo;
use crate::process::lock::Lock;

struct Check {
    name: &'static str,
    fine: bool,
    text: String,
}

/// Runs every check; exit 1 when one of them found something.
pub(super) fn doctor(at: &Place) -> Result<u8, Failure> {
    let checks = [git(at), repository(at), configuration(at), state(at), journal(at), owner(at)];
    let bad = checks.iter().filter(|c| !c.fine).count();
    for check in &checks {
        if at.json {
            let doc = serde_json::json!({ "check": check.name, "ok": check.fine, "text": check.text });
            out::line(&doc.to_string());
        } else {
            out::line(&format!(
                "{}  {:<14} {}",
                if check.fine { "ok " } else { "BAD" },
                check.name,
                check.text
            ));
        }
    }
    Ok(u8::from(bad > 0))
}

fn git(at: &Place) -> Check {
    match find_program("git", &at.dir) {
        Ok(path) => Check { name: "git", fine: true, text: path.display().to_string() },
        Err(why) => {
            Check { name: "git", fine: false, text: format!("{why}: install git, or run with --no-git") }
        }
    }
}

fn repository(at: &Place) -> Check {
    match Repo::find(&at.dir) {
        Ok(repo) => Check { name: "repository", fine: true, text: repo.root().display().to_string() },
        Err(error) => Check { name: "repository", fine: false, text: error.to_string() },
    }
}

fn configuration(at: &Place) -> Check {
    let name = "configuration";
    let layers = match at.layers(&Flags::default()) {
        Ok(layers) => layers,
        Err(_) => {
            return Check { name, fine: false, text: "wrong: `segue config check` says where".to_owned() };
        }
    };
    match resolve(&layers) {
        Ok(settings) => {
            let missing = settings.agents.iter().find_map(|agent| {
                let program = agent.command.first().map_or("", String::as_str);
                find_program(program, at.store().workdir()).err().map(|why| (agent.spec.name.clone(), why))
            });
            match missing {
                Some((agent, why)) => Check { name, fine: false, text: format!("agent {agent}: {why}") },
                None => Check { name, fine: true, text: format!("policy {}", settings.preset) },
            }
        }
        Err(errors) if errors.only_no_agent() => {
            let found = super::agents::installed();
            let text = match found.first() {
                Some(first) => format!("no agent chosen; `--agent {first}` is here"),
                None => "no agent chosen, and none that segue knows is on PATH; `segue demo` needs none"
                    .to_owned(),
            };
            Check { name, fine: !found.is_empty(), text }
        }
        Err(_) => Check { name, fine: false, text: "wrong: `segue config check` says where".to_owned() },
    }
}

fn state(at: &Place) -> Check {
    let dir = at.store().dir();
    let writable =
        if dir.exists() { tempfile::tempfile_in(&dir) } else { tempfile::tempfile_in(at.store().workdir()) };
    match writable {
        Ok(_) => Check { name: "state", fine: true, text: dir.display().to_string() },
        Err(error) => Check { name: "state", fine: false, text: format!("{}: {error}", dir.display()) },
    }
}

fn journal(at: &Place) -> Check {
    let path = at.store().journal();
    if !path.exists() {
        return Check { name: "journal", fine: true, text: "none yet".to_owned() };
    }
    match Journal::read(&path).and_then(|reader| reader.runs()) {
        Ok(runs) => Check { name: "journal", fine: true, text: format!("{} runs", runs.len()) },
        Err(error) => Check { name: "journal", fine: false, text: error.to_string() },
    }
}

fn owner(at: &Place) -> Check {
    let text = match Lock::holder(&at.store().dir()) {
        Some(holder) if holder.is_alive() => {
            format!("run {} works here (process {})", holder.run, holder.pid)
        }
        Some(holder) => format!("nobody; the last was run {}", holder.run),
        None => "nobody".to_owned(),
    };
    Check { name: "owner", fine: true, text }
}
