//! `cargo xtask test`: everything that CI checks, in the order in which it fails fastest.

use std::path::Path;

use crate::{Outcome, agents, edges, fuzz, generate, shell};

/// Runs every check.
pub(crate) fn test() -> Outcome {
    shell::run("cargo", &["fmt", "--all", "--check"])?;
    edges::check()?;
    shell::run("cargo", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    generate::generate(true)?;
    fuzz::short()?;
    let real = agents::install()?;
    // The same inputs each time, so that what passes here passes again; `cargo test` alone draws new ones.
    let env = [("SEGUE_REAL_AGENTS", real.as_path()), ("PROPTEST_RNG_SEED", Path::new("20261116"))];
    shell::run_with(&env, "cargo", &["test", "--workspace", "--no-fail-fast"])
}
