//! `segue config`: what is wrong with the configuration, or what it is and where it comes from.

use super::args::Config;
use super::failure::Failure;
use super::open::Place;
use super::out;
use crate::config::{Flags, resolve, show, to_json};

/// Checks or shows the configuration of this folder.
pub(super) fn config(at: &Place, what: &Config) -> Result<u8, Failure> {
    let layers = at.layers(&Flags::default())?;
    match what {
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
