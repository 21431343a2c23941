//! `cargo xtask bench`: what segue costs, beside what the same thing costs without it.

mod beside;
mod checkpoint;
mod cli;
mod handoff;
mod ledger;
mod long;
mod machine;
mod plans;
mod program;
pub(crate) mod redact;
mod round;

use crate::{Outcome, shell};

/// One line of the table.
struct Row {
    what: &'static str,
    figure: String,
    beside: String,
    bar: &'static str,
}

/// What measures one part of it.
type Part = fn() -> Result<Vec<Row>, Box<dyn std::error::Error>>;

/// Measures everything, or one part of it, and prints one table.
pub(crate) fn bench(only: Option<&str>) -> Outcome {
    // What is measured inside this program is measured as it is released, too.
    if cfg!(debug_assertions) {
        let call = ["run", "--quiet", "--release", "--package", "xtask", "--", "bench"];
        return shell::run("cargo", &call.into_iter().chain(only).collect::<Vec<_>>());
    }
    shell::run("cargo", &["build", "--quiet", "--release", "--package", "segue"])?;
    let parts: [(&str, Part); 12] = [
        ("machine", || Ok(machine::rows())),
        ("redact", redact::rows),
        ("ledger", || Ok(ledger::rows())),
        ("plans", || Ok(plans::rows())),
        ("program", program::rows),
        ("cli", cli::rows),
        ("handoff", handoff::rows),
        ("round", round::rows),
        ("checkpoint", checkpoint::rows),
        ("beside", beside::rows),
        ("long", long::rows),
        ("longest", long::longest),
    ];
    if let Some(only) = only.filter(|only| !parts.iter().any(|(name, _)| name == only)) {
        let names: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no bench {only}; there are {}", names.join(", ")).into());
    }
    let mut rows = Vec::new();
    // The longest run is for whoever names it.
    let wanted = |name: &str| only.map_or(name != "longest", |only| only == name);
    for (_, part) in parts.iter().filter(|(name, _)| wanted(name)) {
        rows.extend(part()?);
    }
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
