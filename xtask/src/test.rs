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
    // All but the tests with real agents, which wait for most of their time: more of those run side by side.
    let own = ["test", "--workspace", "--no-fail-fast", "--lib", "--bins", "--test", "[!r]*"];
    let own = shell::run_with(&env, "cargo", &own);
    let threads = std::thread::available_parallelism().map_or(1, usize::from) + 1;
    let threads = format!("--test-threads={threads}");
    let real = ["test", "--workspace", "--no-fail-fast", "--test", "real", "--", &threads];
    own.and(shell::run_with(&env, "cargo", &real))
}
