//! `segue config`: what is wrong with the configuration, or what it is and where it comes from.

use super::args::Config;
use super::config_file;
use super::failure::Failure;
use super::open::Place;
use super::out;
use crate::config::{Flags, KEYS, resolve, show, to_json};

/// Checks or shows the configuration of this folder.
pub(super) fn config(at: &Place, what: &Config) -> Result<u8, Failure> {
    match what {
        Config::Keys => return Ok(keys(at)),
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
                out::line("the configuration is fine");
            }
        }
    }
    Ok(0)
}

fn keys(at: &Place) -> u8 {
    for key in KEYS {
        let env = key.env_names();
        if at.json {
            let kind = format!("{:?}", key.kind);
            let doc = serde_json::json!({ "key": key.path, "takes": kind, "about": key.about, "env": env });
            out::line(&doc.to_string());
        } else {
            out::line(&format!(
                "{}\n    {}{}",
                key.path,
                key.about,
                if env.is_empty() { String::new() } else { format!(" ({})", env.join(", ")) }
            ));
        }
    }
    0
}
