//! `cargo xtask test`: everything that CI checks, in the order in which it fails fastest.

use crate::{Outcome, agents, edges, fuzz, generate, shell};

/// Runs every check.
pub(crate) fn test() -> Outcome {
    shell::run("cargo", &["fmt", "--all", "--check"])?;
    edges::check()?;
    shell::run("cargo", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    generate::generate(true)?;
    fuzz::short()?;
    let real = agents::install()?;
    shell::run_with(&[("SEGUE_REAL_AGENTS", &real)], "cargo", &["test", "--workspace", "--no-fail-fast"])
}
