//! Reads the `SEGUE_*` environment variables.
//!
//! Variables that segue sets for its own workers are no configuration and are passed over.

use std::collections::BTreeMap;

use toml::de::DeValue;

use crate::config::key::{KEYS, Key, KeyPath, nearest};
use crate::config::layers::Entry;
use crate::config::origin::Origin;
use crate::config::problem::{Problem, Trouble};
use crate::config::read::{Written, read};

/// Set by segue for its workers, its tests and its demonstration, and by whoever looks for a fault.
const NOT_SETTINGS: [&str; 8] = [
    "SEGUE_LOG",
    "SEGUE_RUN",
    "SEGUE_TOKEN",
    "SEGUE_SOCKET",
    "SEGUE_SESSION",
    "SEGUE_GATE",
    "SEGUE_STEP_LOG",
    "SEGUE_TRUST",
];
const NOT_SETTINGS_BEGIN: [&str; 3] = ["SEGUE_CRASH", "SEGUE_DEMO", "SEGUE_PLAN"];

/// What the environment says.
#[derive(Debug, Default)]
pub(crate) struct FromEnv {
    pub(crate) values: Vec<(KeyPath, Entry)>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Problem>,
}

/// Reads the variables that are settings; an empty one counts as not set.
pub(crate) fn parse(env: impl IntoIterator<Item = (String, String)>) -> FromEnv {
    let mut vars: BTreeMap<String, String> = env
        .into_iter()
        .filter(|(name, value)| name.starts_with("SEGUE_") && !value.trim().is_empty())
        .collect();
    let mut out = FromEnv::default();
    for key in KEYS {
        let mut set = key.env_names().into_iter().filter_map(|name| vars.remove_entry(&name));
        let Some((name, text)) = set.next() else { continue };
        if let Some((other, _)) = set.next().filter(|(_, value)| *value != text) {
            let what = format!("it differs from {name}, which takes precedence");
            out.warnings.push(Problem::clash(&Origin::Env(other), what));
        }
        match read(key, &DeValue::String(text.into()), Written::Plain) {
            Ok(value) => out.values.push((path(key), Entry { value, from: Origin::Env(name) })),
            Err(why) => {
                let what = Trouble::BadValue { key: path(key).to_string(), why };
                out.problems.push(Problem::at(&Origin::Env(name), what));
            }
        }
    }
    out.warnings.extend(vars.into_keys().filter(|name| !is_ours(name)).map(unknown));
    out
}

/// `agent` is another word for `agents`; a `*` stays and is filled with the chosen agent later.
fn path(key: &Key) -> KeyPath {
    KeyPath::dotted(if key.path == "agent" { "agents" } else { key.path })
}

fn is_ours(name: &str) -> bool {
    NOT_SETTINGS.contains(&name) || NOT_SETTINGS_BEGIN.iter().any(|begin| name.starts_with(begin))
}

fn unknown(name: String) -> Problem {
    let known: Vec<String> = KEYS.iter().flat_map(Key::env_names).collect();
    let hint = nearest(&name, known.iter().map(String::as_str));
    let hint = hint.map_or_else(String::new, |near| format!("; did you mean {near}?"));
    Problem::nowhere(Trouble::UnknownVariable { name, hint })
}
