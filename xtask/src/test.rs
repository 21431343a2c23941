//! `cargo xtask test`: everything that CI checks, in the order in which it fails fastest.

use crate::{Outcome, edges, generate, shell};

/// Runs every check.
pub(crate) fn test() -> Outcome {
    shell::run("cargo", &["fmt", "--all", "--check"])?;
    edges::check()?;
    shell::run("cargo", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    generate::generate(true)?;
    shell::run("cargo", &["test", "--workspace"])
}
