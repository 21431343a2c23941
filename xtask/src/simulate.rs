//! `cargo xtask simulate`: the policies in 10,000 simulated runs each, written into `docs/simulator.md` as the program prints
//! it. The seed is fixed, so the page changes only when a decision does.

use crate::{Outcome, shell};

const PAGE: &str = "docs/simulator.md";
const BEGIN: &str = "<!-- simulation -->\n";
const END: &str = "<!-- end of simulation -->";
const COMMAND: [&str; 6] = ["rehearse", "--simulate", "--runs", "10000", "--seed", "2026"];

/// Plays the comparison and writes the page.
pub(crate) fn simulate() -> Outcome {
    shell::run("cargo", &["build", "--quiet", "--release", "--package", "segue"])?;
    let program = shell::target().join("release").join("segue");
    let table = shell::read(&program.to_string_lossy(), &COMMAND)?;
    let path = shell::root().join(PAGE);
    let page = std::fs::read_to_string(&path)?;
    let missing = || format!("{PAGE} has no place for the table: {} … {END}", BEGIN.trim_end());
    let (head, rest) = page.split_once(BEGIN).ok_or_else(missing)?;
    let (_, tail) = rest.split_once(END).ok_or_else(missing)?;
    let table = format!("```\n$ segue {}\n{table}```\n", COMMAND.join(" "));
    std::fs::write(&path, format!("{head}{BEGIN}{table}{END}{tail}"))?;
    shell::say(&format!("wrote {PAGE}"));
    Ok(())
}
