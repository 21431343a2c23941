//! `segue notify`: a test of `[notify]`; and the process that delivers for a run.

use std::io::{Read, Write};

use segue_report::Time;

use super::failure::Failure;
use super::open::Place;
use super::{out, trust};
use crate::clock;
use crate::config::Flags;
use crate::notify::{self, Attempt, Kind, Notification, Order};

/// Sends a notification as a run would, waits, and says how it went.
pub(super) fn test(at: &Place) -> Result<u8, Failure> {
    let flags = Flags::default();
    let layers = at.layers(&flags)?;
    trust::require(at, &flags, None)?;
    let to = crate::config::notify_settings(&layers)?;
    if to.command.is_none() && to.webhook.is_none() {
        return Err(Failure::usage(
            "nobody is notified: `segue config edit --user`, and write below [notify] what notifies you, for example \
             webhook = \"https://ntfy.sh/NAME\" and format = \"ntfy\"",
        ));
    }
    let notification = Notification {
        schema: notify::SCHEMA,
        event: Kind::Done,
        run: "test".to_owned(),
        at: Time(clock::now()),
        task: "A test of your notifications".to_owned(),
        workdir: at.store().workdir().display().to_string(),
        text: "this is what the end of a run looks like".to_owned(),
        verdict: None,
        next: None,
        held_back: 0,
    };
    let attempts = notify::deliver(Order { to, notification });
    for Attempt { to, trouble } in &attempts {
        if at.json {
            out::line(
                &serde_json::json!({ "to": to, "ok": trouble.is_none(), "error": trouble }).to_string(),
            );
        } else {
            out::line(&match trouble {
                None => format!("{to}: delivered"),
                Some(why) => format!("{to}: failed: {why}"),
            });
        }
    }
    Ok(u8::from(attempts.iter().any(|attempt| attempt.trouble.is_some())))
}

/// Delivers what a run wants delivered, which it gives on standard input.
pub(super) fn deliver() -> Result<u8, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    let order = serde_json::from_slice(&bytes).map_err(|error| Failure::usage(error.to_string()))?;
    let troubles: Vec<String> = notify::deliver(order)
        .into_iter()
        .filter_map(|attempt| Some(format!("{}: {}", attempt.to, attempt.trouble?)))
        .collect();
    if troubles.is_empty() {
        return Ok(0);
    }
    let _ = writeln!(std::io::stderr().lock(), "{}", troubles.join("; "));
    Ok(1)
}
