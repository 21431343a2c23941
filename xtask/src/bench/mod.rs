//! `cargo xtask bench`: what segue costs, beside what the same thing costs without it.

mod checkpoint;
mod handoff;
mod ledger;
mod machine;
mod plans;
mod program;
mod redact;

use crate::{Outcome, shell};

/// One line of the table.
struct Row {
    what: &'static str,
    figure: String,
    beside: String,
    bar: &'static str,
}

/// Measures everything and prints one table.
pub(crate) fn bench() -> Outcome {
    // What is measured inside this program is measured as it is released, too.
    if cfg!(debug_assertions) {
        return shell::run("cargo", &["run", "--quiet", "--release", "--package", "xtask", "--", "bench"]);
    }
    shell::run("cargo", &["build", "--quiet", "--release", "--package", "segue"])?;
    let mut rows = machine::rows();
    rows.extend(redact::rows()?);
    rows.extend(ledger::rows());
    rows.extend(plans::rows());
    rows.extend(program::rows()?);
    rows.extend(handoff::rows()?);
    rows.extend(checkpoint::rows()?);
    shell::say("| what | figure | beside | bar |\n|---|---|---|---|");
    for row in rows {
        shell::say(&format!("| {} | {} | {} | {} |", row.what, row.figure, row.beside, row.bar));
    }
    Ok(())
}

/// The middle of several measurements.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
