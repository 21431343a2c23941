//! `segue plan estimate`: what each phase is likely to cost.

use segue_plans::{Extra, OddityKind};
use serde_json::json;

use super::{Failure, Known, One, Place, disk, out, read, refused};
use crate::config::Flags;
use crate::plan::{estimate_words, known_sizes};

/// Estimates a plan.
pub(super) fn estimate(at: &Place, one: &One, extra: Extra) -> Result<u8, Failure> {
    let plan = read(at, one)?.map_err(|error| refused(&error))?;
    let (known, disk) = (Known::new(at, &Flags::default(), one.window.as_deref())?, disk(at));
    let sizes = known_sizes(at.store().workdir());
    let estimate = segue_plans::estimate_with(&plan, known.budget, &sizes, &disk, extra);
    let lost = plan.oddities.iter().filter(|odd| odd.kind == OddityKind::MissingFile);
    let missing: Vec<&str> = lost.map(|odd| odd.what.as_str()).collect();
    if at.json {
        let doc =
            json!({ "file": one.file, "format": plan.format, "estimate": estimate, "missing": missing });
        out::line(&doc.to_string());
    } else {
        out::lines(estimate_words(&estimate));
        out::lines(
            missing.iter().map(|name| format!("warning: {name} is missing: its tasks are not counted")),
        );
    }
    Ok(0)
}
