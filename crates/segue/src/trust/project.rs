//! What a project's `segue.toml` and templates would run or widen. The user's own file, variables and flags need no question.

use std::path::Path;

use super::{Item, command_text, fingerprint, words};
use crate::config::Layers;
use crate::config::origin::Origin;
use crate::config::value::{Permissions, Value};
use crate::store::safely;

/// Limits that a user sets for money and time: a project that sets another one is asked about.
const LIMITS: [&str; 2] = ["limits", "budget"];

/// Everything that the project's files would run or widen; `root` is where its templates lie.
pub(crate) fn items(layers: &Layers, root: &Path) -> Vec<Item> {
    let mut items = Vec::new();
    for (path, entry) in layers.values() {
        let Origin::Project(spot) = &entry.from else { continue };
        let place = format!("{}:{}", file_name(&spot.file), spot.line);
        let parts: Vec<&str> = path.parts().iter().map(String::as_str).collect();
        items.extend(of_value(&parts, &entry.value, &place, root));
    }
    for (path, entry) in layers.overruled() {
        let Origin::Project(spot) = &entry.from else { continue };
        if LIMITS.contains(&path.parts().first().map_or("", String::as_str)) {
            let place = format!("{}:{}", file_name(&spot.file), spot.line);
            items.push(Item::new(format!("overrides your own limit: {path} = {}", entry.value), place));
        }
    }
    items
}

/// Whether the project's file says how an agent is started.
pub(crate) fn starts(layers: &Layers, agent: &str) -> bool {
    const SAYS: [&str; 4] = ["command", "args", "kind", "env"];
    layers.values().iter().any(|(path, entry)| {
        let [section, name, leaf, ..] = path.parts() else { return false };
        section == "agent"
            && name == agent
            && SAYS.contains(&leaf.as_str())
            && matches!(entry.from, Origin::Project(_))
    })
}

fn of_value(parts: &[&str], value: &Value, place: &str, root: &Path) -> Vec<Item> {
    let one = |text: String| vec![Item::new(text, place)];
    match (parts, value) {
        (["agent", name, "command"], Value::List(list)) => {
            one(format!("agent {name} is started as: {}", words(list)))
        }
        (["agent", name, "args"], Value::List(list)) => {
            one(format!("agent {name} is given: {}", words(list)))
        }
        (["agent", name, "kind"], Value::Text(kind)) => one(format!("agent {name} is treated as: {kind}")),
        (["agent", name, "env", variable], Value::Secret(text)) => {
            let hash = fingerprint(text.as_bytes());
            one(format!("agent {name} environment: {variable}={} [{hash}]", shown(variable, text)))
        }
        (["agent", name, "permissions"], Value::Permissions(granted)) if *granted != Permissions::Deny => {
            one(format!("agent {name} permissions: {value}"))
        }
        (["gate"], Value::Gates(gates)) => {
            let mut items = Vec::new();
            for gate in gates.iter().filter(|gate| !gate.manual) {
                items.push(Item::command(&gate.run, place));
                if gate.may_change {
                    let text = format!("the agent may change what this runs: {}", command_text(&gate.run));
                    items.push(Item::new(text, place));
                }
            }
            items
        }
        (["gates", _, "run"], Value::Text(run)) => vec![Item::command(run, place)],
        (["gates", name, "may_change"], Value::Bool(true)) => {
            one(format!("the agent may change what gate {name} runs"))
        }
        (["redact", what @ ("enabled" | "emails" | "payment")], Value::Bool(false)) => {
            one(format!("redaction: {what} = false"))
        }
        (["redact", "allow"], Value::List(list)) => {
            list.iter().map(|text| Item::new(format!("redaction ignores: {text}"), place)).collect()
        }
        (["env", "pass"], Value::List(list)) => {
            list.iter().map(|name| Item::new(format!("environment passed on: {name}"), place)).collect()
        }
        (["notify", "command"], Value::List(list)) => vec![Item::command(&words(list), place)],
        (["notify", "webhook"], Value::Secret(url)) => {
            let hash = fingerprint(url.as_bytes());
            one(format!("notifications are sent to {} [{hash}]", crate::notify::host_of(url)))
        }
        (["prompts", name], Value::Text(file)) => vec![template(name, file, place, root)],
        _ => Vec::new(),
    }
}

fn template(name: &str, file: &str, place: &str, root: &Path) -> Item {
    let text = safely::plain_text(&root.join(file)).unwrap_or_default();
    let text = text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    Item::new(format!("template {name}: {file} [{}]", fingerprint(text.trim().as_bytes())), place)
}

// What stands in a repository is no secret of the user's; what looks like one is still not printed.
fn shown(variable: &str, text: &str) -> String {
    let secret = segue_redact::secret_env(std::iter::once((variable.to_owned(), text.to_owned())));
    if secret.is_empty() { text.to_owned() } else { "(not shown)".to_owned() }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
