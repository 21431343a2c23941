//! Every value in force and where it came from, for `segue config show`.

use std::fmt;

use serde_json::json;

use crate::config::flags::Flags;
use crate::config::key::{KEYS, KeyPath};
use crate::config::layers::Layers;
use crate::config::policy;
use crate::config::problem::ConfigErrors;
use crate::config::value::Value;

/// One value in force.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shown {
    /// The key, as a path.
    pub(crate) key: String,
    /// The value as a person may write it.
    pub(crate) value: String,
    /// The value for a machine reader.
    pub(crate) json: serde_json::Value,
    /// Where it came from.
    pub(crate) from: String,
    /// What the key means.
    pub(crate) about: &'static str,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} (from {})", self.key, self.value, self.from)
    }
}

/// Every value in force, in the order of the table of keys. Stages are shown as thresholds left them.
pub(crate) fn show(layers: &Layers) -> Vec<Shown> {
    let mut shown = Vec::new();
    for key in KEYS.iter().filter(|key| key.path != "agent") {
        if key.path.contains('*') {
            let own = |path: &&KeyPath| path.key().is_some_and(|k| k.path == key.path);
            shown.extend(layers.values().keys().filter(own).filter_map(|path| line(layers, path, key.about)));
        } else if key.path == "stage" {
            shown.push(stages(layers, key.about));
        } else {
            let path = KeyPath::dotted(key.path);
            shown.push(line(layers, &path, key.about).unwrap_or_else(|| Shown {
                key: key.path.to_owned(),
                value: "not set".to_owned(),
                json: serde_json::Value::Null,
                from: "default".to_owned(),
                about: key.about,
            }));
        }
    }
    shown
}

/// What holds for each key that no name of the user's is part of, when nobody sets anything.
pub(crate) fn defaults() -> Result<Vec<Shown>, ConfigErrors> {
    let layers = Layers::from_sources(Ok(None), Ok(None), [], &Flags::default())?;
    Ok(show(&layers).into_iter().filter(|shown| shown.value != "not set").collect())
}

/// The same for a machine reader: a list of objects with `key`, `value`, `from` and `about`.
pub(crate) fn to_json(shown: &[Shown]) -> serde_json::Value {
    shown.iter().map(|s| json!({ "key": s.key, "value": s.json, "from": s.from, "about": s.about })).collect()
}

fn line(layers: &Layers, path: &KeyPath, about: &'static str) -> Option<Shown> {
    let entry = layers.values().get(path)?;
    Some(Shown {
        key: path.to_string(),
        value: entry.value.to_string(),
        json: entry.value.json(),
        from: entry.from.to_string(),
        about,
    })
}

fn stages(layers: &Layers, about: &'static str) -> Shown {
    let policy = policy::build(layers, &mut Vec::new(), &mut Vec::new());
    let written = layers.get("stage");
    let mut from = written.map_or_else(String::new, |entry| entry.from.to_string());
    let value = Value::Stages(policy.stages);
    if written.is_some_and(|entry| entry.value != value) {
        for key in ["context_threshold", "tool_call_threshold"] {
            if let Some(entry) = layers.get(key) {
                from.push_str(&format!(", changed by {key} from {}", entry.from));
            }
        }
    }
    let off = if policy.replacing_off { " (replacing is off)" } else { "" };
    Shown { key: "stage".to_owned(), value: format!("{value}{off}"), json: value.json(), from, about }
}
