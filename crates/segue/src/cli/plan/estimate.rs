//! `segue plan estimate`: what each phase is likely to cost.

use serde_json::json;

use super::{Failure, Known, One, Place, disk, out, read, refused};
use crate::config::Flags;
use crate::plan::{estimate_words, known_sizes};

/// Estimates a plan.
pub(super) fn estimate(at: &Place, one: &One) -> Result<u8, Failure> {
    let plan = read(at, one)?.map_err(|error| refused(&error))?;
    let (known, disk) = (Known::new(at, &Flags::default(), one.window.as_deref())?, disk(at));
    let estimate = segue_plans::estimate(&plan, known.budget, &known_sizes(at.store().workdir()), &disk);
    if at.json {
        out::line(&json!({ "file": one.file, "format": plan.format, "estimate": estimate }).to_string());
    } else {
        out::lines(estimate_words(&estimate));
    }
    Ok(0)
}
