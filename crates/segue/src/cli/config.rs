//! `segue config`: checks, shows and edits the configuration, and lists its keys.

use super::args::Config;
use super::config_file;
use super::failure::Failure;
use super::open::Place;
use super::out;
use crate::config::{Flags, KEYS, defaults, expected, resolve, show, to_json};

/// Checks or shows the configuration of this folder.
pub(super) fn config(at: &Place, what: &Config) -> Result<u8, Failure> {
    match what {
        Config::Keys => return keys(at),
        Config::Schema => return config_file::schema(),
        Config::Set { key, value, user } => return config_file::set(at, key, value, *user),
        Config::Edit { user } => return config_file::edit(at, *user),
        Config::Get { .. } | Config::Check | Config::Show => {}
    }
    let layers = at.layers(&Flags::default())?;
    match what {
        Config::Keys | Config::Schema | Config::Set { .. } | Config::Edit { .. } => {}
        Config::Get { key } => {
            let shown = show(&layers);
            let Some(found) = shown.iter().find(|shown| shown.key == *key) else {
                return Err(config_file::unknown(key));
            };
            out::line(&if at.json {
                to_json(std::slice::from_ref(found)).to_string()
            } else {
                found.value.clone()
            });
        }
        Config::Show => {
            let shown = show(&layers);
            if at.json {
                out::line(&to_json(&shown).to_string());
            } else {
                out::lines(shown.iter().map(ToString::to_string));
            }
        }
        Config::Check => {
            let found = resolve(&layers);
            if let Err(errors) = found
                && !errors.only_no_agent()
            {
                return Err(errors.into());
            }
            let warnings: Vec<String> = layers.warnings().iter().map(ToString::to_string).collect();
            if at.json {
                out::line(&serde_json::json!({ "ok": true, "warnings": warnings }).to_string());
            } else {
                out::lines(warnings.iter().map(|w| format!("warning: {w}")));
                out::line("the configuration is valid");
            }
        }
    }
    Ok(0)
}

fn keys(at: &Place) -> Result<u8, Failure> {
    let defaults = defaults()?;
    for key in KEYS {
        let env = key.env_names();
        let default = defaults.iter().find(|shown| shown.key == key.path);
        let takes = expected(key.kind);
        if at.json {
            let doc = serde_json::json!({
                "key": key.path, "type": takes, "about": key.about, "env": env,
                "default": default.map(|shown| &shown.value), "default_from": default.map(|shown| &shown.from),
            });
            out::line(&doc.to_string());
        } else {
            let default = default.map_or_else(String::new, |shown| format!("; default {}", shown.value));
            let env = if env.is_empty() { String::new() } else { format!(" ({})", env.join(", ")) };
            out::line(&format!("{}\n    {}\n    {takes}{default}{env}", key.path, key.about));
        }
    }
    Ok(0)
}
