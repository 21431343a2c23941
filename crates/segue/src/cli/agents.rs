//! `segue agents`: which agents segue knows, which are here, and how exact their gauge is.

use std::path::Path;

use super::failure::Failure;
use super::open::{Place, find_program};
use super::out;
use crate::config::{AgentKind, AgentSettings, Flags, KNOWN_AGENTS};

/// The known agents whose program is on PATH.
pub(super) fn installed() -> Vec<String> {
    let here = |command: &[&str]| command.first().is_some_and(|p| find_program(p, Path::new(".")).is_ok());
    KNOWN_AGENTS.iter().filter(|b| here(b.command)).map(|b| b.name.to_owned()).collect()
}

/// Lists configured agents first, then the known ones.
pub(super) fn agents(at: &Place) -> Result<u8, Failure> {
    let workdir = at.store().workdir().to_owned();
    let configured =
        at.layers(&Flags::default()).ok().and_then(|layers| crate::config::resolve(&layers).ok());
    let configured = configured.map(|settings| settings.agents).unwrap_or_default();
    for agent in &configured {
        describe(at, &workdir, agent);
    }
    let is_configured = |name: &str| configured.iter().any(|a| a.spec.name == name);
    for known in KNOWN_AGENTS.iter().filter(|b| !is_configured(b.name)) {
        let command: Vec<String> = known.command.iter().map(|c| (*c).to_owned()).collect();
        entry(at, &workdir, known.name, known.kind, &command, "known");
    }
    Ok(0)
}

fn describe(at: &Place, workdir: &Path, agent: &AgentSettings) {
    entry(at, workdir, &agent.spec.name, agent.kind, &agent.command, "configured");
}

fn entry(at: &Place, workdir: &Path, name: &str, kind: AgentKind, command: &[String], from: &str) {
    let program = command.first().map_or("", String::as_str);
    let found = find_program(program, workdir);
    let (driven, gauge) = match kind {
        AgentKind::Acp => ("acp", "reported by the agent where it does, else estimated"),
        AgentKind::Command => ("command", "estimated from what is sent and printed"),
        AgentKind::Claude => ("stream", "exact, from each model call"),
        AgentKind::Codex => ("server", "exact, from each model call"),
    };
    if at.json {
        let doc = serde_json::json!({
            "agent": name, "from": from, "installed": found.is_ok(), "path": found.as_ref().ok(),
            "missing": found.as_ref().err(), "command": command, "driven_by": driven, "gauge": gauge,
        });
        return out::line(&doc.to_string());
    }
    let state = match &found {
        Ok(path) => path.display().to_string(),
        Err(why) => why.clone(),
    };
    let mark = if found.is_ok() { "here   " } else { "missing" };
    out::line(&format!("{mark}  {name:<10} {driven:<8} {state}\n                    gauge: {gauge}"));
}
