//! Which agents work, and how each is started.

use std::collections::BTreeMap;

use segue_machine::AgentSpec;

use crate::config::builtin;
use crate::config::key::{KeyPath, nearest};
use crate::config::layers::{Entry, Layers, Values};
use crate::config::origin::Origin;
use crate::config::problem::{Problem, Trouble};
use crate::config::resolve::{list, text, tokens};
use crate::config::settings::{AgentKind, AgentSettings, PromptBy};
use crate::config::value::{Permissions, Value};

/// Decides who works when only one agent is configured, and gives the values that were meant for "the agent" of
/// the run (`SEGUE_MODEL`, `--window`) to the first one, permissions to all.
pub(crate) fn choose(values: &mut Values) {
    let agents = KeyPath::dotted("agents");
    if !values.contains_key(&agents)
        && let Some((name, from)) = only_configured(values)
    {
        values.insert(agents.clone(), Entry { value: Value::List(vec![name]), from });
    }
    let chosen = list(values.get(&agents)).unwrap_or_default();
    for leaf in ["model", "window", "permissions"] {
        let Some(entry) = values.remove(&KeyPath::named("agent", "*", leaf)) else { continue };
        let takes = if leaf == "permissions" { chosen.len() } else { 1 };
        for name in chosen.iter().take(takes) {
            values.insert(KeyPath::named("agent", name, leaf), entry.clone());
        }
    }
}

/// The agents of the run.
pub(crate) fn resolve(
    layers: &Layers,
    problems: &mut Vec<Problem>,
    warnings: &mut Vec<Problem>,
) -> Vec<AgentSettings> {
    let entry = layers.get("agents");
    let names = list(entry).unwrap_or_default();
    let Some(entry) = entry.filter(|_| !names.is_empty()) else {
        let what = Trouble::NoAgent { known: builtin::names() };
        problems.push(Problem { at: entry.map(|e| e.from.clone()), what: Box::new(what) });
        return Vec::new();
    };
    let mut agents: Vec<AgentSettings> = Vec::new();
    for name in &names {
        if agents.iter().any(|agent| agent.spec.name == *name) {
            warnings.push(Problem::clash(
                &entry.from,
                format!("agent {name:?} is listed twice; the second one is ignored"),
            ));
            continue;
        }
        match one(layers, name, &entry.from) {
            Ok(agent) => agents.push(agent),
            Err(problem) => problems.push(problem),
        }
        let granted = layers.values().get(&KeyPath::named("agent", name, "permissions"));
        let bypass = granted.filter(|e| e.value == Value::Permissions(Permissions::Bypass));
        if let Some(Entry { from: from @ Origin::Project(_), .. }) = bypass {
            let what = format!("the project's own segue.toml turns off the permission checks of {name:?}");
            warnings.push(Problem::clash(from, what));
        }
    }
    agents
}

/// One agent by name.
pub(crate) fn one(layers: &Layers, name: &str, from: &Origin) -> Result<AgentSettings, Problem> {
    let get = |leaf: &str| layers.values().get(&KeyPath::named("agent", name, leaf));
    let known = builtin::find(name);
    let command = list(get("command"))
        .or_else(|| known.map(|k| k.command.iter().map(ToString::to_string).collect()))
        .ok_or_else(|| unknown(layers, name, from))?;
    let kind = match text(get("kind")).as_deref() {
        Some("command") => AgentKind::Command,
        Some("claude") => AgentKind::Claude,
        Some("codex") => AgentKind::Codex,
        Some("gemini") => AgentKind::Gemini,
        Some("opencode") => AgentKind::OpenCode,
        Some("codex-exec") => AgentKind::CodexExec,
        Some(_) => AgentKind::Acp,
        None => known.map(|k| k.kind).ok_or_else(|| {
            let at = get("command").map_or(from, |entry| &entry.from);
            let table = KeyPath::dotted("agent").child(name);
            let what = format!(
                "agent {name:?} has a command but no kind; in [{table}] write kind = \"acp\" if it speaks the \
                 Agent Client Protocol, else kind = \"command\""
            );
            Problem::clash(at, what)
        })?,
    };
    let permissions = match get("permissions").map(|entry| &entry.value) {
        Some(Value::Permissions(permissions)) => permissions.clone(),
        _ => Permissions::default(),
    };
    Ok(AgentSettings {
        spec: AgentSpec {
            name: name.to_owned(),
            model: text(get("model")),
            window: tokens(get("window")),
            budget: tokens(get("budget")),
            allow: permissions.kinds(),
            edits: permissions == Permissions::Edit,
            account: text(get("account")),
        },
        kind,
        command,
        args: list(get("args")).unwrap_or_default(),
        prompt_by: if text(get("prompt")).as_deref() == Some("stdin") {
            PromptBy::Stdin
        } else {
            PromptBy::Argument
        },
        permissions,
        account: text(get("account")),
        env: env(layers, name)?,
    })
}

fn env(layers: &Layers, name: &str) -> Result<BTreeMap<String, String>, Problem> {
    let mut env = BTreeMap::new();
    for (path, entry) in layers.values() {
        let [section, agent, table, variable] = path.parts() else { continue };
        let Value::Secret(value) = &entry.value else { continue };
        if section != "agent" || agent != name || table != "env" {
            continue;
        }
        if variable.is_empty() || variable.contains(['=', '\0']) {
            return Err(Problem::clash(
                &entry.from,
                format!("{variable:?} cannot be the name of an environment variable"),
            ));
        }
        env.insert(variable.clone(), value.clone());
    }
    Ok(env)
}

/// The only name that has an `[agent.NAME]` table, with the place of its first key.
fn only_configured(values: &Values) -> Option<(String, Origin)> {
    let mut found: Option<(String, Origin)> = None;
    for (path, entry) in values {
        let [section, name, _, ..] = path.parts() else { continue };
        if section != "agent" || name == "*" {
            continue;
        }
        match &found {
            Some((first, _)) if first != name => return None,
            Some(_) => {}
            None => found = Some((name.clone(), entry.from.clone())),
        }
    }
    found
}

fn unknown(layers: &Layers, name: &str, from: &Origin) -> Problem {
    let configured = layers.values().keys().filter_map(|path| match path.parts() {
        [section, name, leaf] if section == "agent" && leaf == "command" => Some(name.as_str()),
        _ => None,
    });
    let near = nearest(name, builtin::KNOWN.iter().map(|known| known.name).chain(configured));
    let hint = near.map_or_else(String::new, |near| format!(" (did you mean {near:?}?)"));
    let quoted = KeyPath::top().child(name).to_string();
    Problem::at(from, Trouble::UnknownAgent { name: name.to_owned(), quoted, hint, known: builtin::names() })
}
